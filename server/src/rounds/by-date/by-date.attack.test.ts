// Attacks on schedules that choose people by a date. The attacker knows when each person started, changes dates as an administrator can, and
// wants a round that asks few enough people to know whose answers its figures are, or two rounds that differ by one person.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { saveAnswers } from '../../answers/answering.ts';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { changeUser } from '../../people/users.ts';
import { closeWeekNow } from '../../results/close-week.ts';
import { askedWeek, noon, planAsking } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { cases } from '../../testing/house/cases.ts';
import { askNow } from '../ask-now.ts';
import { newLinks } from '../links.ts';
import { missLostWeek, openDueRounds } from '../opening.ts';
import { selectScheduleWeeks } from '../schedules.sql.ts';
import { addDays } from '../send-times.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const threshold = 5;
const week = 7 * 86_400_000;
/** People are asked 30 to 43 days after they started. */
const rule = {
  attribute: 'started',
  side: 'after',
  fromDays: 30,
  untilDays: 43,
  minPeople: threshold,
} as const;
const origin = { origin: 'command' } as const;

/** An account that asks people by the date on which they started, and no one has a date yet. */
async function company(count: number) {
  const { pool } = database;
  const { id } = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Acme' });
    await defineAttribute(tx, account.id, { name: rule.attribute, allowedValues: null });
    return account;
  });
  return planAsking(pool, id, { count, byDate: rule });
}

type Company = Awaited<ReturnType<typeof company>>;

const setDate = ({ accountId, userIds }: Company, person: number, value: string | null) =>
  inTransaction(database.pool, (tx) =>
    changeUser(tx, accountId, userIds[person] as number, { attributes: { [rule.attribute]: value } }, 0),
  );

const open = async ({ accountId }: Company, weeks: number) => {
  const [opened] = await openDueRounds(database.pool, database.keys, noon + weeks * week, { accountId });
  return opened;
};

const askedIn = async ({ accountId, userIds }: Company, asked: Week) => {
  const rows = await database.pool<{ userId: number }[]>`
    select user_id as "userId" from participants where account_id = ${accountId} and week = ${asked} order by 1`;
  return rows.map(({ userId }) => userIds.indexOf(userId));
};

test('someone who started alone is asked only together with enough others, and nothing separates them', async () => {
  const acme = await company(12);
  const started = addDays(askedWeek, -30);
  await setDate(acme, 0, started);
  expect(await open(acme, 0)).toMatchObject({ outcome: 'missed', reason: 'tooFewDue', people: 0 });
  // Not even at the administrator's request.
  const request = { accountId: acme.accountId, scheduleId: acme.scheduleId, by: origin };
  await expect(askNow(database.pool, database.keys, request, noon)).rejects.toMatchObject({
    code: 'not asked',
  });
  for (const person of [1, 2, 3, 4]) await setDate(acme, person, addDays(started, 7));
  expect(await open(acme, 1)).toMatchObject({ outcome: 'opened', people: 5 });
  const second = addWeeks(askedWeek, 1);
  expect(await askedIn(acme, second)).toEqual([0, 1, 2, 3, 4]);
  const { accountId, questionIds } = acme;
  const question = questionIds.get('workload-amount') as number;
  const asked = acme.userIds.slice(0, 5).map((userId) => ({ accountId, userId, week: second }));
  const links = await newLinks(database.pool, asked);
  for (const link of links.slice(1))
    await saveAnswers(database.pool, database.keys, { link, visit: null }, [
      { questionId: question, value: 4 },
    ]);
  await closeWeekNow(database.pool, database.keys, accountId, second, noon + week);
  // Four of the five have answered, so the fifth is not given away by a mean or a KPI.
  const shown = await database.pool`
    select 1 from results where account_id = ${accountId} and (value is not null or answers is not null)`;
  expect(shown).toHaveLength(0);
  expect(await database.pool`select 1 from results where account_id = ${accountId}`).not.toHaveLength(0);
  // The next person who starts alone does not bring the earlier ones back for comparison.
  await setDate(acme, 5, addDays(started, 14));
  expect(await open(acme, 2)).toMatchObject({ outcome: 'missed', reason: 'tooFewDue' });
});

test('people of a week whose answers were lost can be asked again', async () => {
  const acme = await company(5);
  for (const person of [0, 1, 2, 3, 4]) await setDate(acme, person, addDays(askedWeek, -30));
  expect(await open(acme, 0)).toMatchObject({ outcome: 'opened', people: 5 });
  await inTransaction(database.pool, (tx) => missLostWeek(tx, acme.accountId, askedWeek));
  expect(await open(acme, 1)).toMatchObject({ outcome: 'opened', people: 5 });
});

type Step =
  | { kind: 'date'; person: number; days: number }
  | { kind: 'noDate'; person: number; value: string | null }
  | { kind: 'active'; person: number; isActive: boolean }
  | { kind: 'now' }
  | { kind: 'week' };

const person = fc.nat(13);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('date'), person, days: fc.integer({ min: 5, max: 60 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('noDate'),
      person,
      value: fc.constantFrom(null, '1.3.2026', '2026-13-01', 'soon'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('active'), person, isActive: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('now') }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('week') }) },
) as fc.Arbitrary<Step>;

test('whatever dates change and when, no round asks fewer people than the threshold, and no person is in two rounds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 45 }), async (steps) => {
      const acme = await company(14);
      const dates = new Map<number, string>();
      const inactive = new Set<number>();
      const seen = new Set<number>();
      let weeks = 0;
      const check = async () => {
        const monday = addWeeks(askedWeek, weeks);
        const asked = await askedIn(acme, monday);
        expect(asked.length === 0 || asked.length >= threshold).toBe(true);
        const fresh = asked.filter((one) => !seen.has(one));
        for (const one of asked) {
          // Asking now takes the day of the request, two days after the Monday of the schedule.
          const date = dates.get(one) as string;
          expect(date >= addDays(monday, -43) && date <= addDays(monday, 2 - 30)).toBe(true);
          expect(inactive.has(one)).toBe(false);
          seen.add(one);
        }
        expect(fresh).toEqual(asked);
      };
      for (const one of [...steps, { kind: 'week' } as const]) {
        if (one.kind === 'week') {
          await open(acme, weeks);
          await check();
          weeks++;
        } else if (one.kind === 'now') {
          const what = { accountId: acme.accountId, scheduleId: acme.scheduleId, by: origin };
          const now = noon + weeks * week;
          const isAsked = await askNow(database.pool, database.keys, what, now).then(
            () => true,
            () => false,
          );
          if (!isAsked) continue;
          await check();
          weeks++;
        } else if (one.kind === 'active') {
          inactive[one.isActive ? 'delete' : 'add'](one.person);
          await database.pool`
            update users set active = ${one.isActive}
            where  account_id = ${acme.accountId} and user_id = ${acme.userIds[one.person] as number}`;
        } else {
          const value = one.kind === 'date' ? addDays(addWeeks(askedWeek, weeks), -one.days) : one.value;
          await setDate(acme, one.person, value);
          if (one.kind === 'date') dates.set(one.person, value as string);
          else dates.delete(one.person);
        }
      }
    }),
    cases(3),
  );
});

test('two processes that open at the same time ask each person once', async () => {
  const acme = await company(6);
  for (let one = 0; one < 6; one++) await setDate(acme, one, addDays(askedWeek, -31));
  await Promise.all([open(acme, 0), open(acme, 0), open(acme, 0)]);
  const [weekOf] = await selectScheduleWeeks(database.pool, acme.accountId, acme.scheduleId);
  expect(weekOf).toMatchObject({ outcome: 'opened', people: 6 });
  expect(await askedIn(acme, askedWeek)).toHaveLength(6);
});
