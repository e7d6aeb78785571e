// What noise protects and what it costs (rules.md P19), measured on many random teams: the answers of someone who leaves a
// small team can't be read from the difference of two sums, and the figures are as far off as the settings say.
import { expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { type Noise, noiseOf, noisySum } from './noise.ts';

const accountKey = new Uint8Array(32).fill(7);
const noiseWith = (level: 1 | 2) => noiseOf(accountKey, level, (one) => one) as Noise;
const names = (count: number, from = 0) => Array.from({ length: count }, (_, i) => `p${from + i}`);

/**
 * Attack 9: reads the answer of someone who leaves a team of eight from the two sums. Colleagues repeat their answers with a
 * probability of 0.95. The attacker guesses the nearest answer, or, knowing how answers and errors are distributed, the
 * likeliest.
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

test('the difference reveals the answer of someone who leaves a team of eight without noise, and hardly more than guessing with it', () => {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  const measured = ([undefined, noiseWith(1), noiseWith(2)] as const).map((used) => {
    const shares = leavers(used, 4_000);
    process.stdout.write(
      `A leaver of eight, noise ${used?.level ?? 0}: nearest ${percent(shares.nearest)}, ` +
        `likeliest ${percent(shares.likeliest)}, commonest answer ${percent(shares.commonest)}\n`,
    );
    return shares;
  });
  const [without, one, two] = measured as [(typeof measured)[0], (typeof measured)[0], (typeof measured)[0]];
  expect(without.nearest).toBeGreaterThan(0.7);
  expect(one.nearest).toBeLessThan(one.commonest + 0.03);
  expect(two.nearest).toBeLessThan(one.nearest);
  expect(one.likeliest).toBeLessThan(one.commonest + 0.1);
});

test('noise costs what the settings say: eight people on a scale of 1 to 5', () => {
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
