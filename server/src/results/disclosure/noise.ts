// Optional noise for published figures (rules.md P19), by the cell key method: each person has a random number, and the sum of
// these numbers over a set of people determines the set's error. The same people always get the same error for the same question
// text, in every week, so repeating a question does not average the error out. A set with one person more or fewer gets a
// different error. Each question has its own errors. If a set had one error for all questions, ten questions in two weeks, or answers that
// the reader already knows, would reveal it. Pure.
import type { NoiseLevel } from '@soundings/contract/console/privacy.ts';
import { answerKindOf, type QuestionType, scaleOf, yesNo } from '@soundings/contract/question-types.ts';
import { keyedHash } from '../../base/crypto/keyed.ts';
import type { Distribution } from '../../questions/types.ts';

export type Noise = {
  level: NoiseLevel;
  /** The key of a set of people, regardless of their order. */
  keyOf: (respondents: Iterable<string>) => bigint;
  /** The error of a cell of a set: a whole number from −level to level, uniformly distributed. */
  errorOf: (set: bigint, cell: string) => number;
  /** A number from 0 to `count` − 1. */
  pick: (set: bigint, cell: string, count: number) => number;
  /** The noise of a question. `text`: its text in comparable form (P17); the same text has the same errors. */
  ofQuestion: (text: string) => Noise;
};

/**
 * Returns the noise of an account; undefined if its level is 0. `personOf` returns a name for a respondent that is the same in
 * every week; otherwise the noise of a set would change from week to week.
 */
export function noiseOf(
  accountKey: Uint8Array,
  level: NoiseLevel,
  personOf: (respondent: string) => string,
): Noise | undefined {
  if (level === 0) return undefined;
  const keys = new Map<string, bigint>();
  const keyOfOne = (respondent: string) => {
    const known = keys.get(respondent);
    if (known !== undefined) return known;
    const key = keyedHash(accountKey, 'person', personOf(respondent)).readBigUInt64BE();
    keys.set(respondent, key);
    return key;
  };
  const keyOf = (respondents: Iterable<string>) => {
    let sum = 0n;
    for (const one of respondents) sum += keyOfOne(one);
    return BigInt.asUintN(64, sum);
  };
  const ofQuestion = (text: string): Noise => {
    const pick = (set: bigint, cell: string, count: number) =>
      keyedHash(accountKey, 'cell', text, String(set), cell).readUIntBE(0, 6) % count;
    return {
      level,
      keyOf,
      errorOf: (set, cell) => pick(set, cell, 2 * level + 1) - level,
      pick,
      ofQuestion,
    };
  };
  return ofQuestion('');
}

/** Returns the sum of `count` answers with its error, limited to sums that `count` answers can have. */
export function noisySum(
  type: QuestionType,
  { sum, count }: { sum: number; count: number },
  noise: Noise,
  set: bigint,
): number {
  const scale = scaleOf(type);
  if (!scale) return sum;
  return Math.min(scale.high * count, Math.max(scale.low * count, sum + noise.errorOf(set, 'sum')));
}

/** Returns a distribution with errors. If the answers have a sum, its error is the same as that of noisySum for the same set. */
export function noisyDistribution(
  type: QuestionType,
  { distribution, count }: { distribution: Distribution; count: number },
  noise: Noise,
  set: bigint,
): Distribution {
  switch (answerKindOf(type)) {
    case 'number':
    case 'yesNo':
      return withSteps(type, distribution, noise, set);
    case 'option':
      return withMoves(distribution, noise, set);
    case 'options':
      return withErrors(distribution, count, noise, set);
    case 'comment':
      return distribution;
  }
}

/** Moves individual answers one step up or down the scale. */
function withSteps(type: QuestionType, distribution: Distribution, noise: Noise, set: bigint): Distribution {
  const counts = new Map(Object.entries(distribution));
  const steps = type === yesNo ? ['no', 'yes'] : [...counts.keys()];
  const error = noise.errorOf(set, 'sum');
  for (let move = 1; move <= Math.abs(error); move++) {
    const movable = (i: number) => steps[i + Math.sign(error)] !== undefined && countIn(counts, steps[i]) > 0;
    const from = nextFrom(noise.pick(set, `step ${move}`, steps.length), steps.length, movable);
    if (from === undefined) break;
    moveOne(counts, steps[from] as string, steps[from + Math.sign(error)] as string);
  }
  return Object.fromEntries(counts);
}

/** Moves individual answers from one option to another. */
function withMoves(distribution: Distribution, noise: Noise, set: bigint): Distribution {
  const counts = new Map(Object.entries(distribution));
  const options = [...counts.keys()];
  if (options.length < 2) return distribution;
  for (let move = 1; move <= Math.abs(noise.errorOf(set, 'choice')); move++) {
    const start = noise.pick(set, `from ${move}`, options.length);
    const from = nextFrom(start, options.length, (i) => countIn(counts, options[i]) > 0);
    if (from === undefined) break;
    const others = options.filter((_, i) => i !== from);
    moveOne(counts, options[from] as string, others[noise.pick(set, `to ${move}`, others.length)] as string);
  }
  return Object.fromEntries(counts);
}

/** For questions with several choices: each option's count has its own error. */
function withErrors(distribution: Distribution, count: number, noise: Noise, set: bigint): Distribution {
  const noisy = Object.entries(distribution).map(([option, times]): [string, number] => [
    option,
    Math.min(count, Math.max(0, times + noise.errorOf(set, `option ${option}`))),
  ]);
  return Object.fromEntries(noisy);
}

const countIn = (counts: ReadonlyMap<string, number>, name: string | undefined) =>
  counts.get(name ?? '') ?? 0;

function moveOne(counts: Map<string, number>, from: string, to: string): void {
  counts.set(from, countIn(counts, from) - 1);
  counts.set(to, countIn(counts, to) + 1);
}

/** Returns the first index from `start` on, wrapping around, for which `matches` is true. */
function nextFrom(start: number, count: number, matches: (index: number) => boolean): number | undefined {
  for (let i = 0; i < count; i++) if (matches((start + i) % count)) return (start + i) % count;
  return undefined;
}
