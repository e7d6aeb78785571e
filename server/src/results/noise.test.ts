// Noise (privacy.md P19): the same for the same people, unbiased, the same in a mean and its distribution, and enough to hide
// who leaves a small team.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { distributionOf, individualsOf, type QuestionType, scaledMean, scaleOf } from '../questions/types.ts';
import { randomFrom } from '../simulation/random.ts';
import { sumOf } from '../testing/attacker.ts';
import { questionFigures, turnoutOf, type WeekAnswer, type WeekData } from './figures.ts';
import { type Noise, noiseOf, noisyDistribution, noisySum } from './noise.ts';

const accountKey = new Uint8Array(32).fill(7);
const noiseWith = (level: 1 | 2) => noiseOf(accountKey, level, (one) => one) as Noise;
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `p${from + i}`);
const level = fc.constantFrom(1 as const, 2 as const);
const random = fc.nat().map((seed) => randomFrom(seed, 'people'));

describe('the error of a set', () => {
  test('is the same for the same people in any order, whatever they are called in a week', () => {
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
    for (let i = 0; i < 5_000; i++) {
      const error = noise.errorOf(noise.keyOf(names(8, i)), 'sum');
      times.set(error, (times.get(error) ?? 0) + 1);
    }
    const errors = [...times.keys()].toSorted((a, b) => a - b);
    expect(errors).toEqual(Array.from({ length: 2 * steps + 1 }, (_, i) => i - steps));
    for (const count of times.values()) expect(count / 5_000).toBeCloseTo(1 / errors.length, 1);
  });

  test('is another with another key of the account, and with one person more', () => {
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

  test('of options: none is lost, each count is off by at most the level, and from 0 to the number of people', () => {
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

  test('are the same for the same people in other weeks and to other questions; decisions are as without noise', () => {
    const data: WeekData = {
      thresholds: { figures: 5, spread: 10, comments: 10 },
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

/**
 * Attack 9: who leaves a team of eight, read from the two sums. Colleagues repeat their answers with a probability of 0.95.
 * The attacker guesses the nearest answer, or, knowing how answers and errors are distributed, the likeliest.
 */
function leavers(used: Noise | undefined, tries: number) {
  const shares = [0.05, 0.1, 0.2, 0.4, 0.25];
  const errors = new Map<number, number>();
  const steps = used?.level ?? 0;
  for (let a = -steps; a <= steps; a++) {
    for (let b = -steps; b <= steps; b++) errors.set(a - b, (errors.get(a - b) ?? 0) + 1);
  }
  const chance = randomFrom(9, 'leavers');
  const draw = () => {
    let left = chance.next();
    return 1 + shares.findIndex((share) => (left -= share) < 0 || share === 0.25);
  };
  let [nearest, likeliest, commonest] = [0, 0, 0];
  for (let i = 0; i < tries; i++) {
    const team = names(8, 8 * i);
    const before = team.map(draw);
    const after = before.slice(1).map((value) => (chance.chance(0.95) ? value : draw()));
    const shown = (people: string[], values: number[]) => {
      const exact = { sum: values.reduce((total, value) => total + value, 0), count: values.length };
      return used ? noisySum(1, exact, used, used.keyOf(people)) : exact.sum;
    };
    const difference = shown(team, before) - shown(team.slice(1), after);
    const odds = shares.map((share, at) => share * (errors.get(difference - at - 1) ?? 0));
    const best = odds.some((one) => one > 0) ? 1 + odds.indexOf(Math.max(...odds)) : 4;
    if (Math.min(5, Math.max(1, difference)) === before[0]) nearest++;
    if (best === before[0]) likeliest++;
    if (before[0] === 4) commonest++;
  }
  return { nearest: nearest / tries, likeliest: likeliest / tries, commonest: commonest / tries };
}

test('who leaves a team of eight is read from the difference without noise, and hardly better than guessed with it', () => {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const told = ([undefined, noiseWith(1), noiseWith(2)] as const).map((used) => {
    const shares = leavers(used, 4_000);
    process.stdout.write(
      `A leaver of eight, noise ${used?.level ?? 0}: nearest ${percent(shares.nearest)}, ` +
        `likeliest ${percent(shares.likeliest)}, commonest answer ${percent(shares.commonest)}\n`,
    );
    return shares;
  });
  const [without, one, two] = told as [(typeof told)[0], (typeof told)[0], (typeof told)[0]];
  expect(without.nearest).toBeGreaterThan(0.7);
  expect(one.nearest).toBeLessThan(one.commonest + 0.03);
  expect(two.nearest).toBeLessThan(one.nearest);
  expect(one.likeliest).toBeLessThan(one.commonest + 0.1);
});

test('what noise costs is what the settings say: eight people on a scale of 1 to 5', () => {
  for (const [steps, cost] of [
    [1, 0.08],
    [2, 0.15],
  ] as const) {
    const noise = noiseWith(steps);
    const tries = 20_000;
    let total = 0;
    for (let i = 0; i < tries; i++) total += Math.abs(noise.errorOf(noise.keyOf(names(8, i)), 'sum')) / 8;
    expect(Math.round((100 * total) / tries) / 100).toBe(cost);
  }
});

test('sums are those that an attacker reads back from a mean', () => {
  const noise = noiseWith(1);
  const sum = noisySum(1, { sum: 30, count: 8 }, noise, noise.keyOf(names(8)));
  expect(sumOf(1, scaledMean(1, sum, 8) as number, 8)).toBe(sum);
});
