// The rolling value of a KPI, and what it is compared with: the mean of its questions' latest shown figures in a window of weeks.
// The same functions serve the statistics of a week, and every reader of results. Pure.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import {
  changeOf,
  changeOverHalfYear,
  differenceOf,
  type Measured,
  meanOf,
  meanOfSteady,
  meanVariance,
  type Variation,
} from './measures.ts';
import {
  type AskedWeeks,
  isShown,
  latestIn,
  previousOf,
  readingOf,
  type Readings,
  type ShownReading,
} from './readings.ts';

/** How many weeks earlier a group is compared with itself. */
export const halfYear = 26;

/** The first and the last week of a window. */
export type KpiWindow = { first: Week; last: Week };

/** Returns the window of `weeks` weeks that ends with a week. */
export const windowEnding = (last: Week, weeks: number): KpiWindow => ({
  first: addWeeks(last, 1 - weeks),
  last,
});

/** The latest shown reading of a question. */
export type Latest = { questionId: number; reading: ShownReading };

/** Returns the variance of a question in a week; undefined if it is not known. */
export type VariationOf = (questionId: number, week: Week) => Variation | undefined;

/** Returns the latest shown readings of a KPI's questions in a window, in the order of their ids. */
export function latestOf(readings: Readings, questionIds: readonly number[], window: KpiWindow): Latest[] {
  const latest: Latest[] = [];
  for (const questionId of questionIds) {
    const reading = latestIn(readings.get(questionId), window.first, window.last);
    if (reading) latest.push({ questionId, reading });
  }
  return latest;
}

/** Returns whether one of the questions was asked in a window, with a figure or withheld. */
export const isAskedIn = (readings: Readings, questionIds: readonly number[], { first, last }: KpiWindow) =>
  questionIds.some((id) => readings.get(id)?.some(({ week }) => week >= first && week <= last) ?? false);

/** Returns the week of the newest of the readings. */
export const newestOf = (latest: readonly Latest[]): Week =>
  latest.reduce((newest, { reading: { week } }) => (week > newest ? week : newest), '' as Week);

/** Returns the mean of the latest readings. */
export const valueOf = (latest: readonly Latest[]): number =>
  latest.reduce((sum, { reading }) => sum + reading.value, 0) / latest.length;

/** A quantity that is not tested, because the variance of its question is not known. */
const untested = (by: number, answers: number): Measured => ({
  by,
  variance: Number.NaN,
  freedom: Number.NaN,
  answers,
});

/** Returns the rolling value with its variance. `factor`: see KpiParameters. */
export function rollingOf(latest: readonly Latest[], variationOf: VariationOf, factor: number): Measured {
  const measured = latest.map(({ questionId, reading }) => {
    const variation = variationOf(questionId, reading.week);
    const { value: by, answers, week } = reading;
    if (!variation) return { ...untested(by, answers), week };
    const variance = variation.variance * meanVariance(reading, variation.presentShare);
    return { by, variance, freedom: 4 * answers, answers, week };
  });
  return meanOf(measured, factor);
}

/**
 * `since` and `firstSince`: the latest and the earliest of the earlier weeks. `questions`: how many were compared. `handedOut`: whether
 * one of the compared figures, now or earlier, is marked (P14).
 */
export type Compared = Measured & { since: Week; firstSince: Week; questions: number; handedOut: boolean };

/** Returns the change of a question; undefined if there is nothing to compare. */
export function questionChange(
  { questionId, reading }: Latest,
  readings: Readings,
  asked: AskedWeeks,
  variationOf: VariationOf,
): Compared | undefined {
  const before = previousOf(readings.get(questionId), reading, asked.get(questionId));
  if (!before) return undefined;
  const variation = variationOf(questionId, reading.week);
  const measured = variation
    ? changeOf(reading, before, variation, variationOf(questionId, before.week))
    : untested(reading.value - before.value, reading.answers);
  const handedOut = reading.handedOut || before.handedOut;
  return { ...measured, since: before.week, firstSince: before.week, questions: 1, handedOut };
}

/** Returns the change of a KPI over the questions that were also shown before; undefined if there are none. */
export function kpiChange(
  latest: readonly Latest[],
  readings: Readings,
  asked: AskedWeeks,
  { variationOf, factor }: { variationOf: VariationOf; factor: number },
): Compared | undefined {
  const changes: (Compared & { week: Week })[] = [];
  for (const one of latest) {
    const change = questionChange(one, readings, asked, variationOf);
    if (change) changes.push({ ...change, week: one.reading.week });
  }
  return comparedOf(changes, meanOf(changes, factor));
}

function comparedOf(
  changes: readonly Pick<Compared, 'since' | 'handedOut'>[],
  mean: Measured,
): Compared | undefined {
  const [one] = changes;
  if (!one) return undefined;
  let [firstSince, since] = [one.since, one.since];
  for (const change of changes) {
    if (change.since < firstSince) firstSince = change.since;
    if (change.since > since) since = change.since;
  }
  return { ...mean, since, firstSince, questions: changes.length, handedOut: isOneHandedOut(changes) };
}

/**
 * Returns whether the change of a KPI is its rolling value minus that of one earlier week. Otherwise its questions were last asked in
 * weeks so different, or are so different themselves, that no week's value consists of their earlier figures. `questionIds` and
 * `window`: of the earlier week.
 */
export function isBetweenWeeks(
  latest: readonly Latest[],
  readings: Readings,
  asked: AskedWeeks,
  { questionIds, window }: { questionIds: readonly number[]; window: KpiWindow },
): boolean {
  const then = new Map(
    latestOf(readings, questionIds, window).map(({ questionId, reading }) => [questionId, reading.week]),
  );
  const isBefore = ({ questionId, reading }: Latest) => {
    const before = previousOf(readings.get(questionId), reading, asked.get(questionId));
    return before !== undefined && before.week === then.get(questionId);
  };
  return then.size === latest.length && latest.every(isBefore);
}

const isOneHandedOut = (compared: readonly { handedOut: boolean }[]) =>
  compared.some(({ handedOut }) => handedOut);

/**
 * A difference from a comparison. `value`: the comparison's figure over the questions that both have. `handedOut`: whether one of
 * the figures, here or in the comparison, is marked (P14).
 */
export type Differing = Measured & { value: number; handedOut: boolean };

/** Returns the difference of readings from those of a group that contains this one, over figures of the same weeks. */
export function kpiDifference(
  latest: readonly Latest[],
  whole: Readings,
  variationOf: VariationOf,
): Differing | undefined {
  const differences: Differing[] = [];
  for (const { questionId, reading } of latest) {
    const other = readingOf(whole.get(questionId), reading.week);
    if (!other || !isShown(other)) continue;
    const variation = variationOf(questionId, reading.week);
    const measured = variation
      ? differenceOf(reading, other, variation)
      : untested(reading.value - other.value, reading.answers);
    const handedOut = reading.handedOut || other.handedOut;
    differences.push({ ...measured, value: other.value, handedOut });
  }
  return differingOf(differences, meanOfSteady(differences));
}

/** Returns the difference of readings from those of the same group half a year earlier. */
export function kpiSinceHalfYear(
  latest: readonly Latest[],
  earlier: readonly Latest[],
  variationOf: VariationOf,
): Differing | undefined {
  const byQuestion = new Map(earlier.map(({ questionId, reading }) => [questionId, reading]));
  const differences = latest.flatMap(({ questionId, reading }) => {
    const before = byQuestion.get(questionId);
    if (!before || before.week >= reading.week) return [];
    const variation = variationOf(questionId, reading.week);
    const measured = variation
      ? changeOverHalfYear(reading, before, variation)
      : untested(reading.value - before.value, reading.answers);
    return [{ ...measured, value: before.value, handedOut: reading.handedOut || before.handedOut }];
  });
  return differingOf(differences, meanOfSteady(differences));
}

function differingOf(
  differences: readonly Pick<Differing, 'value' | 'handedOut'>[],
  mean: Measured,
): Differing | undefined {
  if (differences.length === 0) return undefined;
  const value = differences.reduce((sum, one) => sum + one.value, 0) / differences.length;
  return { ...mean, value, handedOut: isOneHandedOut(differences) };
}
