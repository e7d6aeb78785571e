// Opening weeks and rounds: who is asked, by which respondent number, and when a week ends.
import { type Week, weekNamed } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction } from '../db/db.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { WeekKey } from '../sealing/week-key.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { openEmptyWeek } from '../testing/asking.ts';
import { ancestorsOf } from '../people/tree.ts';
import {
  descendantsOf,
  hasEnded,
  peopleOfRound,
  addRounds,
  openWeek,
  respondentOf,
  weeksToClose,
} from './rounds.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const week = weekNamed('2024-W47') as Week;
const newAccount = (timezone = 'UTC') =>
  inTransaction(database.pool, async (tx) => (await createAccount(tx, { name: 'Acme', timezone })).id);

// 1 > (2 > 3, 4), and a separate tree: 5.
const parents = new Map([
  [1, null],
  [2, 1],
  [3, 2],
  [4, 1],
  [5, null],
]);

test('ancestors end at the top group, and descendants are the groups that have it among their ancestors', () => {
  expect([ancestorsOf(3, parents), ancestorsOf(1, parents)]).toEqual([[3, 2, 1], [1]]);
  expect([descendantsOf(1, parents), descendantsOf(2, parents), descendantsOf(5, parents)]).toEqual([
    [1, 2, 3, 4],
    [2, 3],
    [5],
  ]);
});

describe('the respondent number', () => {
  const keyOf = (byte: number) => new WeekKey(1, week, Buffer.alloc(32, byte));

  test("is the same in all rounds of a week, and reveals nothing without the week's key", () => {
    const one = { userId: 1 };
    expect(respondentOf(keyOf(7), one)).toBe(respondentOf(keyOf(7), { userId: 1 }));
    expect(respondentOf(keyOf(7), one)).not.toBe(respondentOf(keyOf(8), one));
    expect(respondentOf(keyOf(7), one)).not.toBe(respondentOf(keyOf(7), { userId: 2 }));
  });

  test('of a user never equals that of a person from a file, whatever externalId the file uses', () => {
    const own = respondentOf(keyOf(7), { userId: 1 });
    for (const stranger of ['1', 'user 1', 'user:1', 'e1']) {
      expect(respondentOf(keyOf(7), { stranger })).not.toBe(own);
    }
    expect(respondentOf(keyOf(7), { stranger: 'e1' })).not.toBe(respondentOf(keyOf(7), { stranger: 'E1' }));
  });

  test('is a UUID that uses all 128 bits', () => {
    const numbers = Array.from({ length: 10_000 }, (_, i) => respondentOf(keyOf(7), { userId: i }));
    expect(numbers.every((one) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(one))).toBe(true);
    expect(new Set(numbers).size).toBe(10_000);
    const bits = numbers.map((one) => BigInt(`0x${one.replaceAll('-', '')}`));
    for (let bit = 0n; bit < 128n; bit++) {
      const set = bits.filter((one) => ((one >> bit) & 1n) === 1n).length;
      expect(Math.abs(set - 5_000)).toBeLessThan(300);
    }
  });
});

describe('openWeek', () => {
  const open = (accountId: number, of = week) =>
    inTransaction(database.pool, (tx) => openEmptyWeek(tx, database.keys, accountId, of));

  test('opens a week once even when called twice at the same time, and both get the same key', async () => {
    const id = await newAccount();
    const keys = await Promise.all([1, 2, 3].map(() => open(id)));
    const secrets = keys.map(({ secret }) => Buffer.from(secret).toString('hex'));
    expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(new Set(secrets).size).toBe(1);
  });

  test('gives each week of each account its own key', async () => {
    const [one, other] = [await newAccount(), await newAccount()];
    const keys = [await open(one), await open(one, '2024-11-25'), await open(other)];
    expect(new Set(keys.map(({ secret }) => Buffer.from(secret).toString('hex'))).size).toBe(3);
  });

  test('refuses a week that has closed, and does not open it again', async () => {
    const id = await newAccount();
    await open(id);
    await closeWeekNow(database.pool, database.keys, id, week, 0);
    await expect(open(id)).rejects.toMatchObject({ kind: 'conflict', code: 'week closed' });
    expect(await database.pool`select from week_keys where account_id = ${id}`).toHaveLength(0);
  });
});

test('combines what the rounds of a week ask a group and the groups above it', async () => {
  const id = await newAccount();
  await inTransaction(database.pool, async (tx) => {
    const { key } = await openWeek(tx, database.keys, id, week);
    const asked = [{ person: { userId: 1 }, memberOf: [3, 2] }];
    for (const [groupId, questionIds] of [
      [2, [7, 9]],
      [1, [3, 9]],
    ] as const) {
      const { rows } = await peopleOfRound(key, { asked, parents });
      await addRounds(tx, id, { week, questionIds: [...questionIds], parents }, new Map([[groupId, rows]]));
    }
  });
  const rows = await database.pool`
    select group_id as "groupId", question_ids as "questionIds" from asked where account_id = ${id} order by 1`;
  expect([...rows]).toEqual([
    { groupId: 1, questionIds: [3, 9] },
    { groupId: 2, questionIds: [3, 7, 9] },
    { groupId: 3, questionIds: [3, 7, 9] },
    { groupId: 4, questionIds: [3, 9] },
  ]);
  const assigned = await database.pool<{ respondent: string; groupIds: number[] }[]>`
    select respondent, group_ids as "groupIds" from assignments where account_id = ${id}`;
  expect(assigned.map(({ groupIds }) => groupIds.toSorted())).toEqual([
    [1, 2, 3],
    [1, 2, 3],
  ]);
  expect(new Set(assigned.map(({ respondent }) => respondent)).size).toBe(1);
  const rounds =
    await database.pool`select group_id, above_ids from rounds where account_id = ${id} order by 1`;
  expect([...rounds]).toEqual([
    { group_id: 1, above_ids: [] },
    { group_id: 2, above_ids: [1] },
  ]);
});

describe('the end of a week', () => {
  // The first millisecond after its Sunday. Apia had no 30 December 2011, and Stockholm's clocks went back on 27 October 2024.
  const ends: [string, Week, string][] = [
    ['UTC', '2024-11-18', '2024-11-25T00:00:00Z'],
    ['Europe/Stockholm', '2024-11-18', '2024-11-24T23:00:00Z'],
    ['Pacific/Kiritimati', '2024-11-18', '2024-11-24T10:00:00Z'],
    ['Pacific/Pago_Pago', '2024-11-18', '2024-11-25T11:00:00Z'],
    ['Asia/Kathmandu', '2024-11-18', '2024-11-24T18:15:00Z'],
    ['Europe/Stockholm', '2024-10-21', '2024-10-27T23:00:00Z'],
    ['Pacific/Apia', '2011-12-26', '2012-01-01T10:00:00Z'],
    ['UTC', '2026-12-28', '2027-01-04T00:00:00Z'],
  ];

  test.each(ends)('in %s, the week of %s ends at %s exactly', async (timezone, monday, end) => {
    const time = Date.parse(end);
    expect([hasEnded(monday, timezone, time - 1), hasEnded(monday, timezone, time)]).toEqual([false, true]);
    const id = await newAccount(timezone);
    await inTransaction(database.pool, (tx) => openEmptyWeek(tx, database.keys, id, monday));
    const due = async (now: number) =>
      (await weeksToClose(database.pool, now)).filter(({ accountId }) => accountId === id);
    expect(await due(time - 1)).toEqual([]);
    expect(await due(time)).toMatchObject([{ accountId: id, week: monday }]);
  });
});
