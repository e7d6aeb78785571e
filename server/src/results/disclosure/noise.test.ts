// Noise (rules.md P19): the same for the same people, unbiased, and the same in a mean and its distribution.
// noise.attack.test.ts measures what it protects and what it costs.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type QuestionType, scaleOf } from '@soundings/contract/question-types.ts';
import { distributionOf, individualsOf, scaledMean } from '../../questions/types.ts';
import { randomFrom } from '../../simulation/random.ts';
import { sumOf } from '../../testing/attacks/attacker.ts';
import { cases } from '../../testing/house/cases.ts';
import { questionFigures } from '../figures.ts';
import { turnoutOf, type WeekAnswer, type WeekData } from '../turnout.ts';
import { type Noise, noiseOf, noisyDistribution, noisySum } from './noise.ts';

const accountKey = new Uint8Array(32).fill(7);
const noiseWith = (level: 1 | 2) => noiseOf(accountKey, level, (one) => one) as Noise;
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `p${from + i}`);
const level = fc.constantFrom(1 as const, 2 as const);
const random = fc.nat().map((seed) => randomFrom(seed, 'people'));

describe('the error of a set of people', () => {
  test('is the same for the same people in any order, whatever their respondent numbers in a week are', () => {
    fc.assert(
      fc.property(level, random, fc.integer({ min: 1, max: 30 }), (steps, chance, count) => {
        const one = noiseWith(steps);
        const other = noiseOf(accountKey, steps, (respondent) => respondent.replace('later ', '')) as Noise;
        const key = one.keyOf(names(count));
        expect(other.keyOf(chance.shuffled(names(count)).map((name) => `later ${name}`))).toBe(key);
        expect(other.errorOf(key, 'sum')).toBe(one.errorOf(key, 'sum'));
      }),
    );
  });

  test.each([1, 2] as const)('is each whole number up to %i equally often over different sets', (steps) => {
    const noise = noiseWith(steps);
    const times = new Map<number, number>();
    const sets = cases(8_000).numRuns;
    for (let i = 0; i < sets; i++) {
      const error = noise.errorOf(noise.keyOf(names(8, i)), 'sum');
      times.set(error, (times.get(error) ?? 0) + 1);
    }
    const errors = [...times.keys()].toSorted((a, b) => a - b);
    expect(errors).toEqual(Array.from({ length: 2 * steps + 1 }, (_, i) => i - steps));
    for (const count of times.values()) expect(count / sets).toBeCloseTo(1 / errors.length, 1);
  });

  test('differs with another account key, and with one more person', () => {
    const other = noiseOf(new Uint8Array(32).fill(8), 2, (one) => one) as Noise;
    const noise = noiseWith(2);
    const errors = (one: Noise, size: number) =>
      Array.from({ length: 60 }, (_, i) => one.errorOf(one.keyOf(names(size, i)), 'sum'));
    expect(errors(noise, 8)).not.toEqual(errors(other, 8));
    expect(errors(noise, 8)).not.toEqual(errors(noise, 9));
  });
});

const scaled = fc.constantFrom<QuestionType>(1, 2, 3, 4);
const valuesOf = (type: QuestionType) => {
  const { low, high } = scaleOf(type) as { low: number; high: number };
  return fc.array(fc.integer({ min: low, max: high }), { minLength: 1, maxLength: 40 });
};
const answersOf = (values: (number | null)[], choices: string[][] = []) =>
  values.map((value, i): WeekAnswer => ({
    respondent: `p${i}`,
    value,
    choices: choices[i] ?? null,
    comment: null,
    skipped: false,
    handedOut: false,
    counted: false,
  }));

describe('a mean and its distribution', () => {
  test('agree, are off by at most the level, and stay on the scale', () => {
    fc.assert(
      fc.property(
        scaled.chain((type) => fc.tuple(fc.constant(type), valuesOf(type))),
        level,
        ([type, values], steps) => {
          const noise = noiseWith(steps);
          const set = noise.keyOf(names(values.length));
          const count = values.length;
          const sum = values.reduce((total, value) => total + value, 0);
          const shown = noisySum(type, { sum, count }, noise, set);
          const exact = distributionOf(type, [], answersOf(values));
          const noisy = noisyDistribution(type, { distribution: exact, count }, noise, set);
          const given = individualsOf(type, noisy);
          expect(given).toHaveLength(count);
          expect(given.reduce((total, value) => total + value, 0)).toBe(shown);
          expect(Math.abs(shown - sum)).toBeLessThanOrEqual(steps);
          const mean = scaledMean(type, shown, count) as number;
          expect(mean).toBeGreaterThanOrEqual(0);
          expect(mean).toBeLessThanOrEqual(1);
        },
      ),
    );
  });

  test('of a choice question list all options, each count off by at most the level and between 0 and the number of people', () => {
    const choices = fc.array(fc.subarray(['a', 'b', 'c', 'd']), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(fc.constantFrom<QuestionType>(5, 6), level, choices, (type, steps, chosen) => {
        const noise = noiseWith(steps);
        const own = type === 5 ? chosen.map((some) => [some[0] ?? 'a']) : chosen;
        const count = own.length;
        const exact = distributionOf(
          type,
          ['a', 'b', 'c', 'd'],
          answersOf(
            own.map(() => null),
            own,
          ),
        );
        const noisy = noisyDistribution(
          type,
          { distribution: exact, count },
          noise,
          noise.keyOf(names(count)),
        );
        expect(Object.keys(noisy)).toEqual(Object.keys(exact));
        for (const [option, times] of Object.entries(noisy)) {
          expect(Math.abs(times - (exact[option] as number))).toBeLessThanOrEqual(steps);
          expect(times).toBeGreaterThanOrEqual(0);
          expect(times).toBeLessThanOrEqual(count);
        }
        const total = (counts: object) =>
          Object.values(counts).reduce((sum: number, one: number) => sum + one, 0);
        expect(type === 5 ? total(noisy) : total(exact)).toBe(total(exact));
      }),
    );
  });

  test('are the same for the same people in other weeks and for other questions, and disclosure decisions ignore the noise', () => {
    const data: WeekData = {
      thresholds: { figures: 5, distribution: 10, comments: 10 },
      rounds: [{ id: 1, groupId: 1, questionIds: [1, 2], aboveIds: [] }],
      assignments: names(12).map((respondent) => ({ respondent, roundId: 1, groupIds: [1] })),
      asked: [{ groupId: 1, questionIds: [1, 2] }],
    };
    const noise = noiseWith(2);
    const result = (id: number, values: number[], used?: Noise) =>
      questionFigures({ id, type: 1, options: [] }, answersOf(values), turnoutOf(data), used).results[0];
    const threes = Array.from({ length: 12 }, () => 3);
    const twos = Array.from({ length: 12 }, () => 2);
    const error = noise.errorOf(noise.keyOf(names(12)), 'sum');
    expect(result(1, threes, noise)?.value).toBeCloseTo((36 + error - 12) / 48);
    expect(result(2, twos, noise)?.value).toBeCloseTo((24 + error - 12) / 48);
    expect(result(1, threes, noise)).toMatchObject({ answers: 12, noise: 2 });
    expect(result(1, threes)).toMatchObject({ answers: 12, value: 0.5, noise: 0 });
    expect(result(1, [3, 3, 3, 3], noise)).toMatchObject({ value: null, answers: null, noise: 0 });
  });
});

test('sums equal those that an attacker calculates from a mean', () => {
  const noise = noiseWith(1);
  const sum = noisySum(1, { sum: 30, count: 8 }, noise, noise.keyOf(names(8)));
  expect(sumOf(1, scaledMean(1, sum, 8) as number, 8)).toBe(sum);
});
