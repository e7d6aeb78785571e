// Which changes and differences are clear: controls the false discovery rate over everything that is looked at together
// (Benjamini and Hochberg 1995), with weights (Genovese, Roeder and Wasserman 2006). Pure.
import type { Comparison } from '@soundings/contract/comparisons.ts';

/** What is tested: changes since the questions were last asked, and differences from each kind of comparison. */
export type Tested = 'change' | Exclude<Comparison, 'none'>;

/** The share of false ones among all marks that is accepted. */
const falseDiscoveries = 0.04;
/** The share of the weight that is distributed equally. The rest is distributed by the number of answers. */
const equalShare = 0.2;
/** More answers than this bring no more weight: large groups find changes anyway. */
const largest = 300;

/** The result of a test: the probability of a movement at least as large without any change, and the number of answers behind it. */
export type Test = { probability: number; answers: number };

/**
 * The result for everything that is tested together. A test is clear if its probability is at most `level`, times its weight. So
 * each verdict can be recomputed alone. `answers`: the mean number of answers, by which weights are computed.
 */
export type Cutoff = { level: number; answers: number };
export type Cutoffs = Partial<Record<Tested, Cutoff>>;

const weightOf = (answers: number, mean: number) =>
  equalShare + ((1 - equalShare) * Math.min(answers, largest)) / mean;

/** Returns the cutoff of tests that are looked at together. The level is 0 if none of them is clear. */
export function cutoffOf(tests: readonly Test[]): Cutoff | undefined {
  if (tests.length === 0) return undefined;
  const mean = tests.reduce((sum, { answers }) => sum + Math.min(answers, largest), 0) / tests.length;
  const weighted = Float64Array.from(
    tests,
    ({ probability, answers }) => probability / weightOf(answers, mean),
  ).toSorted();
  for (let count = weighted.length; count > 0; count--) {
    const level = (falseDiscoveries * count) / weighted.length;
    if ((weighted[count - 1] as number) <= level) return { level, answers: mean };
  }
  return { level: 0, answers: mean };
}

/** Returns whether a test is clear. Without a cutoff, nothing is. */
export const isClear = ({ probability, answers }: Test, cutoff: Cutoff | undefined): boolean =>
  cutoff !== undefined && cutoff.level > 0 && probability / weightOf(answers, cutoff.answers) <= cutoff.level;
