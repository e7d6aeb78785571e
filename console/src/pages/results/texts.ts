// Texts of the results pages for figures and for withheld figures.
import type { ResultWeek } from '@soundings/contract/console/results.ts';
import { useMemo } from 'react';
import { useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import type { Point } from '../../ui/charts/scale.ts';

/** Returns a difference with its sign, using a typographic minus: "+3", "−5", "±0". */
export function useSigned(): (value: number) => string {
  const { signed } = useFormat();
  return (value) => (value === 0 ? '±0' : signed(value).replace('-', '−'));
}

/** Returns the text for a value in a chart, also for withheld values and questions that were not asked. */
export function usePointText(): (point: Point) => string {
  const t = useText();
  const { number } = useFormat();
  return (point) => {
    if (point === null) return t('results.withheldShort');
    return point === undefined ? t('results.notAskedShort') : number(Math.round(point));
  };
}

/** Returns a note for each week of a chart whose figure is partly based on links that the employer handed out. */
export function useHandedOutNotes() {
  const t = useText();
  return (
    weeks: readonly ResultWeek[],
    figures: readonly { week: string; handedOut: boolean }[],
  ): (string | undefined)[] => {
    const marked = new Set(figures.filter(({ handedOut }) => handedOut).map(({ week }) => week));
    return weeks.map(({ week }) => (marked.has(week) ? t('results.handedOutShort') : undefined));
  };
}

/**
 * Returns texts for why a figure is withheld. The stored data does not contain the reason. If the group now has fewer people than
 * the threshold, that is the reason; its size in earlier weeks is unknown.
 */
export function useWithheldText() {
  const t = useText();
  const language = useLanguage();
  const newest = useData('GET /results', { query: { language } }).data?.weeks[0]?.week;
  return useMemo(
    () => ({
      figure(week: ResultWeek | null, people: number): string {
        const threshold = week?.thresholds?.figures;
        return threshold !== undefined && people < threshold && week?.week === newest
          ? t('results.withheldFew', { least: threshold })
          : t('results.withheldEither');
      },
      /** Why a distribution is withheld although the mean is shown; `answers`: the number of answers behind the mean. */
      distribution(week: ResultWeek | null, answers: number | null): string {
        const threshold = week?.thresholds?.distribution;
        if (threshold === undefined || answers === null) return t('results.withheldEither');
        return answers < threshold
          ? t('results.withheldFew', { least: threshold })
          : t('results.withheldNeighbour');
      },
    }),
    [t, newest],
  );
}
