// Key drivers: which KPIs go along with an outcome, over published figures of groups. Relative weights with bootstrap intervals, whose
// random numbers come from the data, so the same figures always have the same result. docs/administrators/drivers.md explains the method.
// Pure.
import { minimumDriverGroups } from '@soundings/contract/limits.ts';
import { type DriverInput, type LeftOut, readingsOf } from './driver-groups.ts';
import {
  correlationsOf,
  type Moments,
  momentsOf,
  type Orthogonal,
  orthogonalOf,
  relativeWeights,
  type Table,
} from './relative-weights.ts';

/** `weight`: the share of the outcome's variance between groups that goes along with the KPI, 0 to 1. */
export type Driver = {
  kpiId: string;
  weight: number;
  /** The ends of the 95% interval of the weight. */
  low: number;
  high: number;
  /** The correlation with the outcome by itself, -1 to 1. */
  correlation: number;
  /** Whether its weight is larger than chance alone would explain. */
  isClear: boolean;
};

/** `few`: too few groups; `noKpis`: enough groups, but no KPI to compare with; `same`: all groups have the same outcome. */
export type DriverState = 'computed' | 'few' | 'noKpis' | 'same';

export type DriverResult = {
  state: DriverState;
  groupIds: number[];
  treeId: number | null;
  /** The share of variance that all KPIs together explain (R²); null unless computed. */
  explained: number | null;
  /** Largest weight first. */
  drivers: Driver[];
  leftOut: LeftOut[];
};

/** How often groups are drawn for the intervals, and how often outcomes are shuffled for the test. */
const [draws, shuffles] = [500, 1_000];
/** The largest expected share of false ones among the KPIs marked as clear. */
const falseShare = 0.04;

/** Returns the drivers of an outcome. Takes half a second with 2,000 groups and 20 KPIs, so run it on a thread. */
export function computeDrivers(input: DriverInput): DriverResult {
  const { groupIds, kpiIds, values, weights, leftOut, treeId } = readingsOf(input);
  const columns = kpiIds.length + 1;
  const table = { rows: groupIds.length, columns, values, weights };
  const state = stateOf(table);
  if (state !== 'computed') return { state, groupIds, treeId, explained: null, drivers: [], leftOut };

  const moments = momentsOf(table);
  const { among, withOutcome } = correlationsOf(moments);
  const orthogonal = orthogonalOf(among, kpiIds.length);
  const own = relativeWeights(orthogonal, withOutcome);
  const random = randomFrom(seedOf(table));
  const drawn = drawnWeights(moments, random);
  const isClear = clearOf(shuffledAbove(table, orthogonal, own, random), shuffles);
  const drivers = kpiIds.map((kpiId, column): Driver => {
    const [low, high] = percentiles(drawn[column]!);
    const weight = own[column]!;
    return {
      kpiId,
      weight,
      low: Math.min(low, weight),
      high: Math.max(high, weight),
      correlation: withOutcome[column]!,
      isClear: isClear[column]!,
    };
  });
  return {
    state,
    groupIds,
    treeId,
    explained: own.reduce((sum, weight) => sum + weight, 0),
    drivers: drivers.toSorted((a, b) => b.weight - a.weight || (a.kpiId < b.kpiId ? -1 : 1)),
    leftOut,
  };
}

function stateOf({ rows, columns, values }: Table): DriverState {
  if (rows < minimumDriverGroups) return 'few';
  const outcome = (row: number) => values[row * columns + columns - 1]!;
  const isSame = Array.from({ length: rows }, (_, row) => outcome(row)).every(
    (value) => Math.abs(value - outcome(0)) < 1e-9,
  );
  return isSame ? 'same' : columns === 1 ? 'noKpis' : 'computed';
}

/** Draws as many groups as there are, with replacement, and returns the weights of each KPI in each draw. */
function drawnWeights(moments: Moments, random: () => number): Float64Array[] {
  const { rows, columns } = moments;
  const weights = Array.from({ length: columns - 1 }, () => new Float64Array(draws));
  const times = new Uint16Array(rows);
  for (let draw = 0; draw < draws; draw++) {
    times.fill(0);
    for (let i = 0; i < rows; i++) times[Math.floor(random() * rows)]!++;
    const { among, withOutcome } = correlationsOf(moments, times);
    const own = relativeWeights(orthogonalOf(among, columns - 1), withOutcome);
    for (const [column, weight] of own.entries()) weights[column]![draw] = weight;
  }
  return weights;
}

/**
 * Deals the outcomes to the groups in a random order, again and again, which leaves no relation but chance. Returns how often each
 * KPI then weighed as much as it does.
 */
function shuffledAbove(
  { rows, columns, values, weights }: Table,
  orthogonal: Orthogonal,
  own: Float64Array,
  random: () => number,
): number[] {
  const kpis = columns - 1;
  const outcomes = Float64Array.from({ length: rows }, (_, row) => values[row * columns + kpis]!);
  const standard = standardized({ rows, columns, values, weights });
  const above = Array.from({ length: kpis }, () => 0);
  const withOutcome = new Float64Array(kpis);
  for (let shuffle = 0; shuffle < shuffles; shuffle++) {
    for (let i = rows - 1; i > 0; i--) {
      const other = Math.floor(random() * (i + 1));
      const outcome = outcomes[i]!;
      outcomes[i] = outcomes[other]!;
      outcomes[other] = outcome;
    }
    withOutcome.fill(0);
    let sum = 0;
    let squares = 0;
    for (let row = 0; row < rows; row++) {
      const outcome = outcomes[row]!;
      sum += weights[row]! * outcome;
      squares += weights[row]! * outcome * outcome;
      for (let column = 0; column < kpis; column++) {
        withOutcome[column]! += standard.values[row * kpis + column]! * outcome;
      }
    }
    const deviation = Math.sqrt(squares / standard.total - (sum / standard.total) ** 2);
    for (let column = 0; column < kpis; column++) withOutcome[column]! /= deviation;
    const shuffled = relativeWeights(orthogonal, withOutcome);
    for (let column = 0; column < kpis; column++) {
      if (shuffled[column]! >= own[column]!) above[column]!++;
    }
  }
  return above;
}

/** Returns the KPIs with mean 0 and deviation 1, times the weight of each row among all weights. */
function standardized({ rows, columns, values, weights }: Table): { values: Float64Array; total: number } {
  const kpis = columns - 1;
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const result = new Float64Array(rows * kpis);
  for (let column = 0; column < kpis; column++) {
    let [mean, variance] = [0, 0];
    for (let row = 0; row < rows; row++) mean += (weights[row]! / total) * values[row * columns + column]!;
    for (let row = 0; row < rows; row++) {
      variance += (weights[row]! / total) * (values[row * columns + column]! - mean) ** 2;
    }
    const scale = 1 / (Math.sqrt(variance) * total);
    for (let row = 0; row < rows; row++) {
      result[row * kpis + column] = (values[row * columns + column]! - mean) * scale * weights[row]!;
    }
  }
  return { values: result, total };
}

/** Returns the 2.5th and the 97.5th percentile. */
function percentiles(values: Float64Array): [low: number, high: number] {
  const sorted = values.toSorted();
  const at = (share: number) => {
    const place = share * (sorted.length - 1);
    const below = Math.floor(place);
    return sorted[below]! + (place - below) * (sorted[Math.ceil(place)]! - sorted[below]!);
  };
  return [at(0.025), at(0.975)];
}

/** Returns which KPIs are clear by Benjamini and Hochberg (1995). `above`: see shuffledAbove, among `of` draws. */
export function clearOf(above: readonly number[], of: number): boolean[] {
  const shares = above.map((count) => (count + 1) / (of + 1));
  const cutoff = shares
    .toSorted((a, b) => a - b)
    .findLast((share, i) => share <= (falseShare * (i + 1)) / shares.length);
  return shares.map((share) => cutoff !== undefined && share <= cutoff);
}

/** Returns a hash of all values and weights (FNV-1a over their bytes). */
function seedOf({ values, weights }: Table): number {
  let hash = 0x811c9dc5;
  for (const { buffer } of [values, weights]) {
    for (const byte of new Uint8Array(buffer)) hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return hash;
}

/** Returns a generator of random numbers from 0 up to 1 (Mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
