// Noise in what is published: from the week that opens after it was switched on, recorded with each figure.
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { apply, unit } from '../testing/organizations.ts';
import { answer, importLines, kpi, question, round } from '../testing/surveys.ts';
import { openWorld, type World } from '../testing/world.ts';
import { closeWeekNow } from './publish.ts';

const thisWeek = '2026-11-16';
const now = Date.parse('2026-11-18T12:00:00Z');

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => now);
});
afterAll(() => world.close());

test('a week is published with the noise of the account when it opened, whatever is changed in mid-week', async () => {
  const account = await world.account();
  await apply(account, { groups: [unit('all')] });
  const people = Array.from({ length: 12 }, (_, i) => `p${i}`);
  const definitions = [question('q', 1), kpi('k', ['q'])];
  const weekOf = (week: string) => [
    round(weekName(week), 'all', ['q'], Object.fromEntries(people.map((name) => [name, ['all']]))),
    ...people.map((name) => answer(weekName(week), 'all', name, 'q', 3)),
  ];
  const set = (noise: 0 | 1 | 2) =>
    inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { noise }));
  const published = async (week: string) => {
    const [row] = await world.pool<{ value: number; noise: number; spread: string }[]>`
      select value, noise, spread from results where account_id = ${account.id} and week = ${week}`;
    return row as { value: number; noise: number; spread: string };
  };
  const keyOf = async () =>
    (
      await world.pool<{ key: Buffer | null }[]>`
      select noise_key as key from accounts where account_id = ${account.id}`
    )[0]?.key ?? null;

  await importLines(world, account.id, [...definitions, ...weekOf(thisWeek)], now);
  expect(await keyOf()).toBeNull();
  await set(2);
  const key = await keyOf();
  expect(key).toHaveLength(32);
  await closeWeekNow(world.pool, world.keys, account.id, thisWeek, now);
  expect(await published(thisWeek)).toMatchObject({ value: 0.5, noise: 0 });

  const [sixth, seventh] = [addWeeks(thisWeek, -2), addWeeks(thisWeek, -1)];
  await importLines(world, account.id, [...definitions, ...weekOf(sixth)], now);
  const noisy = await published(sixth);
  expect(noisy.noise).toBe(2);
  expect(Math.abs(noisy.value - 0.5)).toBeLessThanOrEqual(2 / 48 + 1e-9);
  const counts = Object.entries(JSON.parse(noisy.spread) as Record<string, number>);
  const sum = counts.reduce((total, [value, times]) => total + Number(value) * times, 0);
  expect(noisy.value).toBeCloseTo((sum - 12) / 48);

  // Off and on again, the key stays: the same people would else get other errors.
  await set(0);
  await importLines(world, account.id, [...definitions, ...weekOf(seventh)], now);
  expect(await published(seventh)).toMatchObject({ value: 0.5, noise: 0 });
  await set(1);
  expect((await keyOf())?.equals(key as Buffer)).toBe(true);
});

test('noise is 0, 1 or 2', async () => {
  const account = await world.account();
  const changing = inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { noise: 3 as 2 }));
  await expect(changing).rejects.toMatchObject({ code: 'invalid value', details: [{ path: '/noise' }] });
});
