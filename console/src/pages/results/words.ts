// What pages of results say of figures and of what is not shown.
import type { ResultWeek } from '@soundings/contract/console.results.ts';
import { useMemo } from 'react';
import { useAnswer } from '../../plumbing/answers.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import type { Point } from '../../ui/charts/scale.ts';

/** A difference with its sign, the minus as long as the plus: "+3", "−5", "±0". */
export function useSigned(): (value: number) => string {
  const { signed } = useFormat();
  return (value) => (value === 0 ? '±0' : signed(value).replace('-', '−'));
}

/** Words for a value of a chart, of what is hidden, and of what was not asked. */
export function usePointWords(): (point: Point) => string {
  const t = useText();
  const { number } = useFormat();
  return (point) => {
    if (point === null) return t('results.hiddenShort');
    return point === undefined ? t('results.notAskedShort') : number(Math.round(point));
  };
}

/** Notes for a chart: of each week, whether its figure rests on links that the employer handed out. */
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
 * Why a figure is not shown. What is stored says only that it is withheld; where the group has fewer people than must answer,
 * that is why. How many it had in earlier weeks is not known.
 */
export function useHiddenWords() {
  const t = useText();
  const language = useLanguage();
  const newest = useAnswer('GET /results', { query: { language } }).data?.weeks[0]?.week;
  return useMemo(
    () => ({
      figure(week: ResultWeek | null, people: number): string {
        const least = week?.thresholds?.figures;
        return least !== undefined && people < least && week?.week === newest
          ? t('results.hiddenFew', { least })
          : t('results.hiddenEither');
      },
      /** Of a distribution, where the mean is shown: it rests on `answers`. */
      spread(week: ResultWeek | null, answers: number | null): string {
        const least = week?.thresholds?.spread;
        if (least === undefined || answers === null) return t('results.hiddenEither');
        return answers < least ? t('results.hiddenFew', { least }) : t('results.hiddenNeighbour');
      },
    }),
    [t, newest],
  );
}
