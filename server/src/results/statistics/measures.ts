// Changes, differences and intervals with their standard errors (docs/administrators/statistics.md). Everything is computed from published
// figures and the account's parameters of the question. Pure.
import type { Week } from '@soundings/contract/weeks.ts';
import { quantile95, twoSidedT } from './normal.ts';
import type { Test } from './marks.ts';
import type { ShownReading } from './readings.ts';

/** What the account knows about a question in a week. */
export type Variation = {
  /** The variance of individual answers within groups. */
  variance: number;
  /** The share of the variance that is the same when the question is asked again: 0 to 1. */
  steadyShare: number;
  /** The same over the shortest time that is known, which says most about what people think now. */
  presentShare: number;
  /** The variance of changes that all groups share, such as those of a season, in units of `variance`. */
  sharedMovement: number;
};

/** A quantity with its variance, and the degrees of freedom of its test. */
export type Measured = { by: number; variance: number; freedom: number; answers: number };

/** Returns the degrees of freedom for `answers` answers on a scale with few steps. Simulated: see docs/benchmarks.md. */
const freedomOf = (answers: number) => 4 * answers;

/**
 * Returns the variance of the mean of a reading around that of the people asked, for answers of variance 1. The steady part of an
 * attitude varies only with who of the people asked has answered (finite population correction).
 */
export const meanVariance = (
  { answers, asked }: Pick<ShownReading, 'answers' | 'asked'>,
  steadyShare: number,
) => 1 / answers - (asked === null ? 0 : steadyShare / Math.max(asked, answers));

/** Returns half the width of the 95% interval of a mean. */
export function marginOf(reading: ShownReading, { variance, presentShare }: Variation): number {
  return quantile95(freedomOf(reading.answers)) * Math.sqrt(variance * meanVariance(reading, presentShare));
}

/** Returns the harmonic mean of the numbers of answers of two readings. */
const answersOfBoth = (one: ShownReading, other: ShownReading) => 2 / (1 / one.answers + 1 / other.answers);

/** Returns the change of a question from one reading of a group to another. `variationBefore`: the variance at the earlier one. */
export function changeOf(
  now: ShownReading,
  before: ShownReading,
  variation: Variation,
  variationBefore: Pick<Variation, 'variance'> = variation,
): Measured {
  const { variance, steadyShare, sharedMovement } = variation;
  return {
    by: now.value - before.value,
    variance:
      variance * (meanVariance(now, steadyShare) + sharedMovement) +
      variationBefore.variance * meanVariance(before, steadyShare),
    freedom: freedomOf(Math.min(now.answers, before.answers)),
    answers: answersOfBoth(now, before),
  };
}

/** Returns the change over half a year. How steady attitudes are over so long is not known, so that nothing is deducted for it. */
export const changeOverHalfYear = (now: ShownReading, before: ShownReading, variation: Variation): Measured =>
  changeOf(now, before, { ...variation, steadyShare: 0 });

/**
 * Returns the difference of a group from a larger group that contains it, in the same week. Its variance is that of a group of the same
 * size whose people are drawn at random from the larger one.
 */
export function differenceOf(own: ShownReading, whole: ShownReading, { variance }: Variation): Measured {
  const outside = Math.max(1 / own.answers - 1 / whole.answers, 0.02 / own.answers);
  return {
    by: own.value - whole.value,
    variance: variance * outside,
    freedom: freedomOf(own.answers),
    answers: own.answers,
  };
}

/**
 * Returns the mean of quantities of several questions. Within a week, the same people give all answers, so their errors are taken to
 * be fully correlated; those of different weeks are independent. `factor`: how much larger the variance is than this assumption gives.
 */
export function meanOf(measured: readonly (Measured & { week: Week })[], factor = 1): Measured {
  const errors = new Map<Week, number>();
  let [by, freedom, answers] = [0, 0, 0];
  for (const one of measured) {
    by += one.by;
    freedom += one.freedom;
    answers += one.answers;
    errors.set(one.week, (errors.get(one.week) ?? 0) + Math.sqrt(one.variance));
  }
  const count = measured.length;
  let sum = 0;
  for (const error of errors.values()) sum += error * error;
  return { by: by / count, variance: (factor * sum) / (count * count), freedom, answers: answers / count };
}

/** Like `meanOf`, with all errors fully correlated: attitudes of the same people, which last over weeks. */
export const meanOfSteady = (measured: readonly Measured[]): Measured =>
  meanOf(measured.map((one) => ({ ...one, week: '' })));

/** Returns the test of whether a quantity differs from 0. A quantity smaller than its standard error never does. */
export function testOf({ by, variance, freedom, answers }: Measured): Test {
  const t = variance > 0 ? by / Math.sqrt(variance) : 0;
  return { probability: Math.abs(t) < 1 ? 1 : twoSidedT(t, freedom), answers };
}

/** Returns half the width of the 95% interval of a quantity. */
export const marginOfMeasured = ({ variance, freedom }: Measured): number =>
  quantile95(freedom) * Math.sqrt(variance);
