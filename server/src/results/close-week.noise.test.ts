// Noise in published figures: it applies from the next week that opens after it is switched on, and is recorded with each figure.
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { newLinks } from '../rounds/links.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { createSchedule } from '../rounds/schedules.ts';
import { apply, unit } from '../testing/organizations.ts';
import { mondays } from '../testing/asking.ts';
import { giveAnswer } from '../testing/attacks/forgetting.ts';
import { answerLine, importLines, kpi, question, round } from '../testing/surveys.ts';
import { openWorld, type World } from '../testing/world.ts';
import { closeWeekNow } from './close-week.ts';

const thisWeek = '2026-11-16';
const now = Date.parse('2026-11-18T12:00:00Z');

let world: World;
let clock = now;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => clock);
});
beforeEach(() => {
  clock = now;
});
afterAll(() => world.close());

test('a week is published with the noise of the account when it opened, whatever changes during the week', async () => {
  const account = await world.account();
  await apply(account, { groups: [unit('all')] });
  const people = Array.from({ length: 12 }, (_, i) => `p${i}`);
  const definitions = [question('q', 1), kpi('k', ['q'])];
  const weekOf = (week: string) => [
    round(weekName(week), 'all', ['q'], Object.fromEntries(people.map((name) => [name, ['all']]))),
    ...people.map((name) => answerLine(weekName(week), 'all', name, 'q', 3)),
  ];
  const set = (noise: 0 | 1 | 2) =>
    inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { noise }));
  const published = async (week: string) => {
    const [row] = await world.pool<{ value: number; noise: number; distribution: string }[]>`
      select value, noise, distribution from results where account_id = ${account.id} and week = ${week}`;
    return row as { value: number; noise: number; distribution: string };
  };
  const keyOf = async () => {
    const [row] = await world.pool<{ sealed: Buffer }[]>`
      select secret as sealed from noise_keys where account_id = ${account.id}`;
    return row && world.keys.secrets.open(`noise ${account.id}`, row.sealed);
  };

  await importLines(world, account.id, [...definitions, ...weekOf(thisWeek)], now);
  await set(2);
  await closeWeekNow(world.pool, world.keys, account.id, thisWeek, now);
  expect(await published(thisWeek)).toMatchObject({ value: 0.5, noise: 0 });
  expect(await keyOf()).toBeUndefined();

  const [sixth, seventh] = [addWeeks(thisWeek, -2), addWeeks(thisWeek, -1)];
  await importLines(world, account.id, [...definitions, ...weekOf(sixth)], now);
  const key = await keyOf();
  expect(key).toHaveLength(32);
  const noisy = await published(sixth);
  expect(noisy.noise).toBe(2);
  expect(Math.abs(noisy.value - 0.5)).toBeLessThanOrEqual(2 / 48 + 1e-9);
  const counts = Object.entries(JSON.parse(noisy.distribution) as Record<string, number>);
  const sum = counts.reduce((total, [value, times]) => total + Number(value) * times, 0);
  expect(noisy.value).toBeCloseTo((sum - 12) / 48);

  // After switching off and on again the key stays. Otherwise the same people would get other errors.
  await set(0);
  await importLines(world, account.id, [...definitions, ...weekOf(seventh)], now);
  expect(await published(seventh)).toMatchObject({ value: 0.5, noise: 0 });
  await set(1);
  await importLines(world, account.id, [...definitions, ...weekOf(addWeeks(thisWeek, -3))], now);
  expect((await published(addWeeks(thisWeek, -3))).noise).toBe(1);
  expect((await keyOf())?.equals(key as Buffer)).toBe(true);
});

test('questions with the same wording get the same errors for the same people, whatever other questions exist', async () => {
  const account = await world.account();
  await apply(account, {
    groups: [unit('all')],
    users: Array.from({ length: 6 }, (_, i) => ({
      externalId: `p${i}`,
      firstName: 'P',
      lastName: `${i}`,
      email: `p${i}@example.org`,
      accessInfo: { memberOf: ['all'] },
    })),
  });
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { noise: 2 }));
  const eight = [...'abcdefgh'];
  await importLines(world, account.id, [
    ...eight.map((name) => question(`bridge ${name}`, 1, { text: `Something else ${name}` })),
    ...eight.map((name) => question(`main ${name}`, 1, { text: `Are you well, ${name}?` })),
    ...eight.map((name) => question(`copy ${name}`, 1, { text: `ARE YOU WELL ${name}` })),
    ...eight.map((name) => question(`other ${name}`, 1, { text: `Are you really well, ${name}?` })),
  ]);
  const ids = await world.pool<{ id: number; key: string }[]>`
    select question_id as id, key from questions where account_id = ${account.id} order by question_id`;
  const [group] = await world.pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${account.id} and external_id = 'all'`;
  const users = await world.pool<{ userId: number }[]>`
    select user_id as "userId" from users where account_id = ${account.id} and external_id like 'p%'`;

  /** Returns what is published if everyone answers 3 to the eight questions of a kind, `later` weeks from now. */
  const askedIn = async (later: number, kind: string) => {
    const week = addWeeks(thisWeek, later);
    clock = now + later * 7 * 86_400_000;
    const questionIds = ids.filter(({ key }) => key.startsWith(kind)).map(({ id }) => id);
    const wanted = mondays({
      groupIds: [group?.id as number],
      questionIds,
      fromDay: week,
      untilDay: week,
      reminderDays: null,
      reminderHour: null,
    });
    await inTransaction(world.pool, (tx) => createSchedule(tx, account.id, wanted));
    await openDueRounds(world.pool, world.keys, clock);
    const people = users.map(({ userId }) => ({ accountId: account.id, userId, week }));
    const links = await newLinks(world.pool, people);
    for (const link of links) {
      for (const questionId of questionIds) {
        await giveAnswer(world.address, link, { question: questionId, value: 3 });
      }
    }
    await closeWeekNow(world.pool, world.keys, account.id, week, clock);
    const rows = await world.pool<{ value: number }[]>`
      select value from results where account_id = ${account.id} and week = ${week} order by question_id`;
    return rows.map(({ value }) => value);
  };

  const first = await askedIn(0, 'main');
  expect(first).toHaveLength(8);
  expect(new Set(first).size).toBeGreaterThan(1);
  // Translations join each of them with an earlier question.
  await world.pool`
    update questions set translations = jsonb_build_object('sv', 'Are you well, ' || right(key, 1) || '?')
    where  account_id = ${account.id} and key like 'bridge%'`;
  expect(await askedIn(1, 'main')).toEqual(first);
  expect(await askedIn(2, 'copy')).toEqual(first);
  expect(await askedIn(3, 'other')).not.toEqual(first);
});

test('noise is 0, 1 or 2', async () => {
  const account = await world.account();
  const changing = inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { noise: 3 as 2 }));
  await expect(changing).rejects.toMatchObject({ code: 'invalid value', details: [{ path: '/noise' }] });
});
