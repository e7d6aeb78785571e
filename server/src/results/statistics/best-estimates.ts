// Best estimates of small groups: their figures moved towards those of their parent groups (docs/administrators/statistics.md). Pure.
import { quantile95 } from './normal.ts';
import { latestIn, type Readings } from './readings.ts';
import { kpiDifference, type Latest, rollingOf, type VariationOf, valueOf } from './rolling.ts';

/** Figures with fewer answers than this get a best estimate. */
const smallGroup = 50;

type How = { variationOf: VariationOf; factor: number };

/**
 * Returns the best estimate of a question or a rolling KPI value; null if the group is not small, or if its parent group or its variance
 * is not known. `groupVariance`: how much small groups differ from their parent groups.
 */
export function bestEstimate(
  latest: readonly Latest[],
  parent: Readings,
  how: How,
  groupVariance: number | null,
) {
  const apart = fromParent(latest, parent, how);
  return apart && groupVariance !== null ? shrunk({ value: valueOf(latest), ...apart }, groupVariance) : null;
}

/** How far a small group's figure is from its parent group's. `above`: the variance of the parent's figure. `error`: of the difference. */
export type Apart = { by: number; above: number; error: number; freedom: number };

/**
 * Returns how far a small group's figure is from its parent group's; undefined if the group is not small, or if nothing is known. The error
 * of the group's figure is part of that of its parent group. So the variance of their difference is the difference of their variances.
 */
export function fromParent(latest: readonly Latest[], parent: Readings, how: How): Apart | undefined {
  const difference = isSmall(latest) ? kpiDifference(latest, parent, how.variationOf) : undefined;
  if (!difference) return undefined;
  const { variance, freedom } = rollingOf(latest, how.variationOf, how.factor);
  const ofParent = rollingOf(sameIn(parent, latest), how.variationOf, how.factor);
  if (!(variance > 0) || !(ofParent.variance > 0)) return undefined;
  const above = Math.min(ofParent.variance, mostAbove * variance);
  return { by: difference.by, above, error: variance - above, freedom };
}

/** The variance of the parent's figure is at most this share of the group's. */
const mostAbove = 0.98;

/** Returns whether one of the figures of a question or KPI has so few answers that the question or KPI gets a best estimate. */
const isSmall = (latest: readonly Latest[]): boolean =>
  latest.some(({ reading }) => reading.answers < smallGroup);

/** Returns another group's figures of the same questions and weeks. */
const sameIn = (other: Readings, latest: readonly Latest[]): Latest[] =>
  latest.flatMap(({ questionId, reading: { week } }) => {
    const reading = latestIn(other.get(questionId), week, week);
    return reading ? [{ questionId, reading }] : [];
  });

/** Returns a figure moved towards its parent group's figure (Efron and Morris 1975). The interval also contains the error of the latter. */
export function shrunk(
  { value, by, above, error, freedom }: Apart & { value: number },
  groupVariance: number,
) {
  const weight = groupVariance + error > 0 ? groupVariance / (groupVariance + error) : 0;
  return {
    value: value - (1 - weight) * by,
    margin: quantile95(freedom) * Math.sqrt(above + weight * error),
    weight,
  };
}

/** The minimum number of groups for estimating how much groups differ. */
const enoughGroups = 10;

/** The largest possible variance of values from 0 to 1. */
const mostVariance = 0.25;
/** How far below its maximum the logarithm is still looked at. */
const farBelow = 40;

/**
 * Returns how much small groups differ from their parent group, beyond their errors: the mean of all possible variances, each weighted with
 * itself and with how likely it makes the differences that were seen (Morris and Tang 2011). The most likely variance alone is often 0 or
 * too small, which makes intervals too narrow. Null if there are too few groups.
 */
export function varianceBetween(groups: readonly Pick<Apart, 'by' | 'error'>[]): number | null {
  if (groups.length < enoughGroups) return null;
  // Steps are smaller for small variances. Their size brings three of the seven powers, and the variance itself four.
  const varianceAt = (place: number) => mostVariance * place ** 4;
  const logAt = (place: number) => 7 * Math.log(place) + logLikelihood(groups, varianceAt(place));
  let [low, high] = [0, 1];
  for (let width = Infinity; high - low < width / 2;) {
    width = high - low;
    [low, high] = likelyPlaces(logAt, low, high);
  }
  const places = placesIn(low, high, 400);
  const logs = places.map(logAt);
  const best = Math.max(...logs);
  let [sum, weights] = [0, 0];
  for (const [i, place] of places.entries()) {
    // Simpson's rule.
    const step = i === 0 || i === places.length - 1 ? 1 : 2 + 2 * (i % 2);
    const weight = step * Math.exp((logs[i] as number) - best);
    sum += weight * varianceAt(place);
    weights += weight;
  }
  return sum / weights;
}

const logLikelihood = (groups: readonly Pick<Apart, 'by' | 'error'>[], variance: number): number =>
  groups.reduce((sum, { by, error }) => sum - Math.log(variance + error) - by ** 2 / (variance + error), 0) /
  2;

const placesIn = (low: number, high: number, steps: number) =>
  Array.from({ length: steps + 1 }, (_, i) => low + ((high - low) * i) / steps);

/** Returns the part of a range outside of which a function with this logarithm is negligible. */
function likelyPlaces(logAt: (place: number) => number, low: number, high: number): [number, number] {
  const places = placesIn(low, high, 40);
  const logs = places.map(logAt);
  const limit = Math.max(...logs) - farBelow;
  const first = logs.findIndex((one) => one >= limit);
  const last = logs.findLastIndex((one) => one >= limit);
  return [places[Math.max(first - 1, 0)] as number, places[Math.min(last + 1, 40)] as number];
}
