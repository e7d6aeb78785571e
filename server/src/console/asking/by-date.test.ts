// Schedules that choose people by a date, in the console: how many people each of the next rounds asks or waits for, that waiting is not
// missing a week, and that none of it names anyone.
import type { Rounds, Schedules, ScheduleView } from '@soundings/contract/console/asking.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { defineAttribute } from '../../people/attributes.changes.ts';
import { openDueRounds } from '../../rounds/opening.ts';
import { addDays } from '../../rounds/send-times.ts';
import { askedWeek, noon, planAsking } from '../../testing/asking.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { openWorld, type World } from '../../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => noon);
});
afterAll(() => world?.close());

const started = 'start date';
/** Asks each Monday, 30 to 43 days after the start, if at least six people are due. */
const rule = { attribute: started, side: 'after', fromDays: 30, untilDays: 43, minPeople: 6 } as const;

/** An account in which `days[i]` days have passed on Monday of the current week since the ith person started. */
async function company(days: number[]) {
  const { pool, keys } = world;
  const { id } = await world.account();
  await inTransaction(pool, (tx) => defineAttribute(tx, id, { name: started, allowedValues: null }));
  const planned = await planAsking(pool, id, { count: days.length, byDate: rule });
  await startedBefore(id, planned.userIds, days);
  const { request } = await signInNew(world, id, 'Administrator');
  return {
    ...planned,
    open: () => openDueRounds(pool, keys, noon, { accountId: id }),
    rounds: async () => (await request<Rounds>('GET /rounds')).body,
    schedule: async () => (await request<Schedules>('GET /schedules')).body.schedules[0] as ScheduleView,
  };
}

const startedBefore = async (accountId: number, userIds: number[], days: number[]) => {
  for (const [i, userId] of userIds.entries())
    await world.pool`
      update users set attributes = jsonb_build_object(${started}::text, ${addDays(askedWeek, -(days[i] as number))}::text)
      where  account_id = ${accountId} and user_id = ${userId}`;
};

test('this week shows how many each round asks, or how many wait for how many more', async () => {
  // On Monday four are due. Next Monday two more are, and one is no longer.
  const acme = await company([30, 31, 31, 43, 23, 24, 23, 10]);
  const { coming } = await acme.rounds();
  expect(coming.map(({ day, people, waits }) => ({ day, people, waits }))).toEqual([
    // It is late, so it goes by today, two days later: one person is too late.
    { day: askedWeek, people: 0, waits: { people: 3, minimum: 6 } },
    { day: addDays(askedWeek, 7), people: 6, waits: null },
  ]);
  expect(JSON.stringify(coming)).not.toMatch(/Person|example/);
});

test('a week with too few people was not missed: the schedule says how many wait, until there are enough', async () => {
  const acme = await company([30, 31, 31, 10, 10, 10, 10]);
  const { accountId, userIds } = acme;
  expect(await acme.open()).toMatchObject([{ outcome: 'missed', reason: 'tooFewDue' }]);
  expect(await acme.schedule()).toMatchObject({
    last: { outcome: 'missed', reason: 'tooFewDue' },
    waits: { people: 3, minimum: 6 },
    audience: { people: 3 },
  });
  expect((await acme.rounds()).coming).toMatchObject([{ people: 0, waits: { people: 3, minimum: 6 } }]);
  await startedBefore(accountId, userIds, [30, 31, 31, 23, 23, 24, 10]);
  expect(await acme.schedule()).toMatchObject({ waits: null });
  expect((await acme.rounds()).coming).toMatchObject([{ people: 6, waits: null }]);
});

test('the minimum is never below the account’s threshold, and neither a pause nor a schedule for everyone waits', async () => {
  const acme = await company([30, 31, 31, 31, 32, 32, 33]);
  const { accountId, scheduleId } = acme;
  expect((await acme.rounds()).coming[0]).toMatchObject({ people: 7, waits: null });
  await world.pool`update accounts set threshold = 8 where account_id = ${accountId}`;
  expect((await acme.rounds()).coming[0]).toMatchObject({ people: 0, waits: { people: 7, minimum: 8 } });
  expect(await acme.schedule()).toMatchObject({ waits: { people: 7, minimum: 8 } });
  await world.pool`update schedules set paused_at = now() where account_id = ${accountId}`;
  expect(await acme.schedule()).toMatchObject({ waits: null });
  expect((await acme.rounds()).coming).toEqual([]);
  const { id } = await world.account();
  await planAsking(world.pool, id, { count: 1 });
  const { request } = await signInNew(world, id, 'Administrator');
  const { schedules } = (await request<Schedules>('GET /schedules')).body;
  expect(schedules.map(({ waits }) => waits)).toEqual([null]);
  expect(scheduleId).toBeGreaterThan(0);
});

test('people who were asked, left or are excluded do not wait', async () => {
  const acme = await company([30, 31, 31, 31, 32, 32, 33]);
  const { accountId, userIds } = acme;
  expect(await acme.open()).toMatchObject([{ outcome: 'opened', people: 7 }]);
  expect(await acme.schedule()).toMatchObject({ waits: { people: 0, minimum: 6 }, audience: { people: 0 } });
  await world.pool`delete from asked_by_date where account_id = ${accountId}`;
  await world.pool`update users set active = false where account_id = ${accountId} and user_id = any(${userIds.slice(0, 3)})`;
  expect(await acme.schedule()).toMatchObject({ waits: { people: 4, minimum: 6 } });
});
