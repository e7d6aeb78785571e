// What the feed adds to published figures: rolling values, standard errors and changes.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Measured } from '../statistics/measures.ts';
import { isShown, type Readings } from '../statistics/readings.ts';
import { kpiChange, latestOf, newestOf, questionChange, rollingOf, valueOf } from '../statistics/rolling.ts';
import { type Statistics, verdictOf } from './statistics-shown.ts';

/**
 * What the feed adds to a figure. `isClear`: whether the change is clear. `changeHandedOut`: whether one of the figures it compares is
 * marked (P14). Both are null if there is no change, and `isClear` also until the statistics of the figure's week are computed.
 */
export type FeedMeasures = {
  rolling: number | null;
  standardError: number | null;
  change: number | null;
  isClear: boolean | null;
  changeHandedOut: boolean | null;
};

export const noMeasures: FeedMeasures = {
  rolling: null,
  standardError: null,
  change: null,
  isClear: null,
  changeHandedOut: null,
};

const errorIn = ({ variance }: Measured): number | null => (variance > 0 ? Math.sqrt(variance) : null);

/** Returns what the feed adds to a KPI value: the rolling value with its standard error, and its change. */
export function kpiFeedMeasures(
  kpiId: string,
  week: Week,
  readings: Readings,
  statistics: Statistics,
): FeedMeasures {
  const latest = latestOf(readings, statistics.questionsOf(kpiId, week), statistics.windowOf(week));
  if (latest.length === 0) return noMeasures;
  const newest = newestOf(latest);
  const { factor, cutoffOf } = statistics.kpiAt(kpiId, newest);
  const { variationOf, asked } = statistics;
  const change = kpiChange(latest, readings, asked, { variationOf, factor });
  return {
    rolling: valueOf(latest),
    standardError: errorIn(rollingOf(latest, variationOf, factor)),
    change: change?.by ?? null,
    isClear:
      change && statistics.isComputed(newest) ? verdictOf(change, cutoffOf('change')) !== 'unclear' : null,
    changeHandedOut: change?.handedOut ?? null,
  };
}

/** Returns what the feed adds to the figure of a question: its standard error, and its change. */
export function questionFeedMeasures(
  questionId: number,
  week: Week,
  readings: Readings,
  { variationOf, asked, isComputed, questionCutoff }: Statistics,
): FeedMeasures {
  const reading = readings.get(questionId)?.find((one) => one.week === week);
  if (!reading || !isShown(reading)) return noMeasures;
  const latest = { questionId, reading };
  const change = questionChange(latest, readings, asked, variationOf);
  return {
    rolling: null,
    standardError: errorIn(rollingOf([latest], variationOf, 1)),
    change: change?.by ?? null,
    isClear:
      change && isComputed(week)
        ? verdictOf(change, questionCutoff(questionId, week, 'change')) !== 'unclear'
        : null,
    changeHandedOut: change?.handedOut ?? null,
  };
}
