// Noise for accounts that want it (privacy.md P19), by cell keys: each person has a random number, those of a set of people
// are added up, and the sum decides the error. The same people always get the same error for the same words, in every
// week, so asking again averages nothing out; and who is one person more or fewer gets another. Each question has errors of
// its own: with one error for all of a set's questions, ten questions of two weeks tell that error, and so do answers that
// the reader knows. Pure.
import { keyedHash } from '../base/keyed.ts';
import { type Distribution, isScaled, type QuestionType, scaleOf } from '../questions/types.ts';

/** How far a published sum may be off, in steps of the scale; 0: not at all. */
export type NoiseLevel = 0 | 1 | 2;

export type Noise = {
  level: NoiseLevel;
  /** The key of a set of people, in whatever order they come. */
  keyOf: (respondents: Iterable<string>) => bigint;
  /** The error of a cell of a set: a whole number from −level to level, each as likely as the others. */
  errorOf: (set: bigint, cell: string) => number;
  /** A number from 0 up to, not including, `count`. */
  pick: (set: bigint, cell: string, count: number) => number;
  /** The noise of a question. `words`: its words as they are compared (P17); the same words have the same errors. */
  ofQuestion: (words: string) => Noise;
};

/**
 * Undefined: no noise. `personOf`: what a respondent is called in every week alike; only if it stays the same for a person
 * does the noise of a set.
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
  const ofQuestion = (words: string): Noise => {
    const pick = (set: bigint, cell: string, count: number) =>
      keyedHash(accountKey, 'cell', words, String(set), cell).readUIntBE(0, 6) % count;
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

/** The sum of `count` answers with its error, within what `count` answers can sum up to. */
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

/** A distribution with errors; where answers have a sum, it is off by as much as that of the same set (noisySum). */
export function noisyDistribution(
  type: QuestionType,
  { distribution, count }: { distribution: Distribution; count: number },
  noise: Noise,
  set: bigint,
): Distribution {
  if (isScaled(type)) return withSteps(type, distribution, noise, set);
  return type === 6 ? withErrors(distribution, count, noise, set) : withMoves(distribution, noise, set);
}

/** Moves single answers one step up or down the scale. */
function withSteps(type: QuestionType, distribution: Distribution, noise: Noise, set: bigint): Distribution {
  const counts = new Map(Object.entries(distribution));
  const steps = type === 4 ? ['no', 'yes'] : [...counts.keys()];
  const error = noise.errorOf(set, 'sum');
  for (let move = 1; move <= Math.abs(error); move++) {
    const movable = (i: number) => steps[i + Math.sign(error)] !== undefined && countIn(counts, steps[i]) > 0;
    const from = nextFrom(noise.pick(set, `step ${move}`, steps.length), steps.length, movable);
    if (from === undefined) break;
    moveOne(counts, steps[from] as string, steps[from + Math.sign(error)] as string);
  }
  return Object.fromEntries(counts);
}

/** Moves single answers from an option to another. */
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

/** Options of which people choose several: each count has an error of its own. */
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

/** The first place from `start` on, round and round, that is right. */
function nextFrom(start: number, count: number, isRight: (place: number) => boolean): number | undefined {
  for (let i = 0; i < count; i++) if (isRight((start + i) % count)) return (start + i) % count;
  return undefined;
}
