// Texts of the results pages for figures and for withheld figures.
import { pointsOf } from '@soundings/contract/console/results/points.ts';
import type {
  ChosenComparison,
  FigureChange,
  ResultWeek,
  RollingFigure,
} from '@soundings/contract/console/results/results.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { useMemo } from 'react';
import { useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import type { Point } from '../../ui/charts/scale.ts';
import { intervalOf, score } from './figures.ts';

/** Returns a difference with its sign, using a typographic minus: "+3", "−5", and "0", because "±0" would look like a margin. */
export function useSigned(): (value: number) => string {
  const { signed } = useFormat();
  return (value) => signed(value).replace('-', '−');
}

/** Returns texts for weeks that may be outside the span of the page, by their Mondays. `than`: the newest week of the page. */
export function useWeekNames(than: { year: number; number: number } | undefined) {
  const t = useText();
  const { label, sentence } = useWeekText();
  const named = (week: string) => ({ name: weekName(week) });
  const numberOf = (week: string) => Number(weekName(week).slice(6));
  const yearOf = (week: string) => weekName(week).slice(0, 4);
  return {
    /** "W38", with the year if it is not the year of `than`. */
    short: (week: string) => label(named(week), than),
    /** "week 38", for sentences. */
    sentence: (week: string) => sentence(named(week), than ?? named(week)),
    /** "weeks 34 to 38". */
    span(first: string, last: string): string {
      if (yearOf(first) !== yearOf(last))
        return t('results.weeksAcross', { first: sentence(named(first)), last: sentence(named(last)) });
      return first === last
        ? sentence(named(first), named(first))
        : t('results.weeksFromTo', { first: String(numberOf(first)), last: String(numberOf(last)) });
    },
  };
}

/** Returns "since week 38", or where no single week's value consists of the earlier figures, the weeks that they are from. */
export function useSince(
  than: { year: number; number: number } | undefined,
): (change: FigureChange) => string {
  const t = useText();
  const { sentence, span } = useWeekNames(than);
  return ({ since, firstSince }) =>
    firstSince === undefined
      ? t('results.since', { week: sentence(since) })
      : t('results.sinceAsked', { weeks: span(firstSince, since) });
}

/** Returns the name of what is compared with: a group, or "half a year ago"; undefined if nothing is. */
export function useComparisonName(): (comparison: ChosenComparison) => string | undefined {
  const t = useText();
  return ({ kind, group }) => {
    if (kind === 'none') return undefined;
    if (kind === 'halfYear') return t('results.halfYearAgo');
    return group?.name ?? t(`compare.${kind}`);
  };
}

/** Returns "± 3" for half the width of an interval. */
export function useMargin(): (margin: number) => string {
  const { number } = useFormat();
  return (margin) => `± ${number(pointsOf(margin, true))}`;
}

/** Returns "65 to 71" for the interval of a figure; undefined if it is not known. */
export function useInterval() {
  const t = useText();
  const { number } = useFormat();
  return (figure: Parameters<typeof intervalOf>[0]): string | undefined => {
    const range = intervalOf(figure);
    const textOf = (bound: number) => number(Math.round(bound));
    return range && t('results.intervalFromTo', { low: textOf(range.low), high: textOf(range.high) });
  };
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

/** Returns "405 of 506", how many of the people asked answered; undefined if it is not known. */
export function useAnsweredOf(): (
  rate: { asked?: number | null; answered?: number | null } | undefined,
) => string | undefined {
  const t = useText();
  return ({ asked = null, answered = null } = {}) =>
    asked === null || answered === null ? undefined : t('results.answeredOf', { answered, asked });
}

/** Returns a note for each week of a chart of response rates: how many of the people asked answered. */
export function useRateNotes() {
  const t = useText();
  const answeredOf = useAnsweredOf();
  return (
    weeks: readonly ResultWeek[],
    rates: readonly { week: string; handedOut: boolean; asked?: number | null; answered?: number | null }[],
  ): (string | undefined)[] => {
    const byWeek = new Map(rates.map((rate) => [rate.week, rate]));
    return weeks.map(({ week }) => {
      const rate = byWeek.get(week);
      const parts = [answeredOf(rate), rate?.handedOut && t('results.handedOutShort')];
      return parts.filter(Boolean).join(' · ') || undefined;
    });
  };
}

/** Returns a note for each week of a chart: the margin of the rolling value, and the value of the week alone. */
export function useRollingNotes() {
  const t = useText();
  const margin = useMargin();
  return (
    weeks: readonly ResultWeek[],
    values: readonly { week: string; value: number | null; handedOut: boolean }[],
    rolling: readonly RollingFigure[],
  ): (string | undefined)[] => {
    const [own, byWeek] = [values, rolling].map((all) => new Map(all.map((one) => [one.week, one]))) as [
      Map<string, (typeof values)[number]>,
      Map<string, RollingFigure>,
    ];
    return weeks.map(({ week }) => {
      const [alone, figure] = [own.get(week), byWeek.get(week)];
      const parts = [
        typeof figure?.margin === 'number' && margin(figure.margin),
        typeof alone?.value === 'number' && t('results.thatWeek', { value: String(score(alone.value)) }),
        (alone?.handedOut || figure?.handedOut) && t('results.handedOutShort'),
      ];
      return parts.filter(Boolean).join(' · ') || undefined;
    });
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
          ? t('results.withheldFew', { minimum: threshold })
          : t('results.withheldEither');
      },
      /** Why a distribution is withheld although the mean is shown; `answers`: the number of answers behind the mean. */
      distribution(week: ResultWeek | null, answers: number | null): string {
        const threshold = week?.thresholds?.distribution;
        if (threshold === undefined || answers === null) return t('results.withheldEither');
        return answers < threshold
          ? t('results.withheldFew', { minimum: threshold })
          : t('results.withheldNeighbour');
      },
    }),
    [t, newest],
  );
}

/** Returns a function that writes how many people chose "not applicable", as a share and in numbers. */
export function useNotApplicable() {
  const t = useText();
  return ({ count, of }: { count: number; of: number }) =>
    t('results.notApplicableOf', { percent: Math.round((100 * count) / of), count, of });
}
