// Simulated weeks: their results, that they are repeatable, and that they change nothing else.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAccount } from '../accounts/accounts.ts';
import { startAnswering } from '../app.ts';
import { Fault } from '../base/errors.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { defineLibrary } from '../questions/questions.ts';
import { selectQuestions } from '../questions/questions.sql.ts';
import { closeEndedWeeks } from '../results/close-week.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { openSender } from '../rounds/messages/messages.ts';
import { weeksToClose } from '../rounds/rounds.ts';
import { createSchedule, pauseSchedule } from '../rounds/schedules.ts';
import { selectSchedules } from '../rounds/schedules.sql.ts';
import { askedWeek, mondays, noon } from '../testing/asking.ts';
import { cases } from '../testing/house/cases.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { type Said, scriptsOf } from './script.ts';
import { type ServeAnswering, simulate, type Simulation } from './simulation.ts';
import { anyCompany } from './any-company.ts';

const log = openLog('error');
const serve: ServeAnswering = (pool, keys, now) => startAnswering({ pool, keys, now }, log);
const simulation: Simulation = { weeks: 1, seed: 1, rate: 0.7, now: noon, serve };

/** Monday of the current week, before the weekly pulse is due: a job of the service opens no round when the minute changes. */
const early = Date.parse('2026-11-16T00:30:00Z');

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => early);
});
afterAll(() => world.close());

/** Creates an account with people in two teams under one group, by push. */
async function company(count: number, settings = {}): Promise<TestAccount> {
  const account = await world.account(settings);
  const teams = ['north', 'south'];
  const { status } = await account.push({
    settings: { validateOnly: false, maxUsersCreated: 1000, maxGroupsCreated: 100 },
    data: {
      groups: [
        { externalId: 'all', name: 'All', parent: null },
        ...teams.map((externalId) => ({ externalId, name: externalId, parent: 'all' })),
      ],
      users: Array.from({ length: count }, (_, i) => ({
        externalId: `p${i}`,
        firstName: `P${i}`,
        lastName: 'Person',
        email: `p${i}@a${account.id}.example`,
        language: ['en', 'sv', 'de'][i % 3],
        ...(i % 4 === 0 && { timezone: 'America/Los_Angeles' }),
        accessInfo: { memberOf: [teams[i % 2]] },
      })),
    },
  });
  expect(status).toBe(200);
  return account;
}

/** Returns all figures of an account, with the names of groups and questions. */
async function figuresOf(account: TestAccount) {
  const { id } = account;
  const { pool } = world;
  return {
    results: await pool`
      select r.week, coalesce(g.external_id, g.name) as "group", q.key, r.value, r.answers, r.distribution
      from   results r
      join   groups g using (account_id, group_id)
      join   questions q using (account_id, question_id)
      where  account_id = ${id}
      order  by 1, 2, 3`,
    rates: await pool`
      select r.week, coalesce(g.external_id, g.name) as "group", r.value
      from   response_rates r
      join   groups g using (account_id, group_id)
      where  account_id = ${id}
      order  by 1, 2`,
    comments: await pool`select week, text from comments where account_id = ${id} order by 1, 2`,
  };
}

async function countOf(table: string, accountId: number): Promise<number> {
  const [row] = await world.pool`
    select count(*)::integer as count from ${world.pool(table)} where account_id = ${accountId}`;
  return row!['count'] as number;
}

describe('a week', () => {
  test('has exactly the figures that follow from the answers', async () => {
    const account = await company(60);
    const given: { person: string; answers: Said[] }[] = [];
    const { weeks, pulse } = await simulate(world.pool, world.keys, account.id, {
      ...simulation,
      onAnswers: (_, answers) => given.push(...answers),
    });
    expect(pulse).toMatchObject({ perWeek: 5, hasNewLibrary: true });
    expect(weeks).toEqual([
      { week: addWeeks(askedWeek, -1), asked: 60, answered: given.length, published: 15 },
    ]);
    const types = new Map((await selectQuestions(world.pool, account.id)).map((one) => [one.key, one]));
    const teamOf = (person: string) => (Number(person.slice(1)) % 2 === 0 ? 'north' : 'south');
    const { results, rates } = await figuresOf(account);
    expect(results).toHaveLength(15);
    for (const { group, key, value, answers } of results) {
      const { id, type } = types.get(key as string)!;
      const values = given
        .filter(({ person }) => group === 'all' || teamOf(person) === group)
        .flatMap((one) => one.answers.filter(({ questionId }) => questionId === id))
        .flatMap((one) => (one.value === undefined ? [] : [Number(one.value)]));
      const [low, high] = { 1: [1, 5], 2: [1, 10], 3: [0, 10], 4: [0, 1] }[type as 1] as [number, number];
      const mean = values.reduce((sum, one) => sum + (one - low) / (high - low), 0) / values.length;
      expect(answers).toBe(values.length);
      expect(value).toBeCloseTo(mean, 10);
    }
    expect(rates).toHaveLength(3);
    for (const { group, value } of rates) {
      const members = group === 'all' ? 60 : 30;
      const done = given
        .filter(({ person }) => group === 'all' || teamOf(person) === group)
        .flatMap((one) => one.answers);
      expect(value).toBeCloseTo(done.length / (5 * members), 10);
    }
  });

  test('the same seed gives the same figures in another account, and another seed gives others', async () => {
    const wanted = { ...simulation, weeks: 2 };
    const [one, same, other] = await Promise.all([company(40), company(40), company(40)]);
    await simulate(world.pool, world.keys, one.id, wanted);
    await simulate(world.pool, world.keys, same.id, wanted);
    await simulate(world.pool, world.keys, other.id, { ...wanted, seed: 2 });
    const figures = await figuresOf(one);
    expect(figures.results.length).toBeGreaterThan(0);
    expect(await figuresOf(same)).toEqual(figures);
    expect(await figuresOf(other)).not.toEqual(figures);
  });

  test('the weeks before the current one are simulated, questions get their turn, and the weekly pulse continues', async () => {
    const account = await company(12);
    const { weeks, pulse } = await simulate(world.pool, world.keys, account.id, {
      ...simulation,
      weeks: 9,
      rate: 1,
    });
    expect(weeks.map(({ week }) => week)).toEqual(
      Array.from({ length: 9 }, (_, i) => addWeeks(askedWeek, i - 9)),
    );
    expect(weeks.every(({ asked, answered }) => asked === 12 && answered === 12)).toBe(true);
    const asked = await world.pool<{ ids: number[] }[]>`
      select question_ids as ids from schedule_weeks where account_id = ${account.id} order by week`;
    expect(new Set(asked.slice(0, 8).flatMap(({ ids }) => ids)).size).toBe(40);
    expect(asked[8]?.ids).toEqual(asked[0]?.ids);
    // Every minute the service does the same: then it is the one that opens the round, or it has the lock for a moment.
    const [opened] = await until(async () => {
      await openDueRounds(world.pool, world.keys, noon, { accountId: account.id });
      const rows = await world.pool`
        select schedule_id as "scheduleId", outcome from schedule_weeks
        where  account_id = ${account.id} and week = ${askedWeek}`;
      return rows.length > 0 && rows;
    });
    expect(opened).toEqual({ scheduleId: pulse?.scheduleId, outcome: 'opened' });
  });

  test('a schedule of the account is asked as it is, without excluded people', async () => {
    const account = await company(24);
    const groups = new Map((await account.groups()).map(({ name, id }) => [name, id]));
    const key = 'anything-else';
    const scheduleId = await inTransaction(world.pool, async (tx) => {
      await lockAccount(tx, account.id);
      await defineLibrary(tx, account.id, 'en');
      const question = (await selectQuestions(tx, account.id)).find((one) => one.key === key);
      return createSchedule(
        tx,
        account.id,
        mondays({
          groupIds: [groups.get('All') as number],
          withoutGroupIds: [groups.get('south') as number],
          questionIds: [question?.id as number],
          repeatWeeks: 2,
          fromDay: addWeeks(askedWeek, -2),
        }),
      );
    });
    const { weeks, pulse } = await simulate(world.pool, world.keys, account.id, {
      ...simulation,
      weeks: 2,
      rate: 1,
    });
    expect(pulse).toBeUndefined();
    expect(weeks).toMatchObject([
      { asked: 12, answered: 12 },
      { asked: 0, answered: 0, published: 0 },
    ]);
    expect((await selectSchedules(world.pool, account.id)).map(({ id }) => id)).toEqual([scheduleId]);
  });
});

describe('next to a running service', () => {
  test('its jobs neither close a simulated week nor send messages, and nothing temporary remains', async () => {
    const account = await company(20);
    const sent: string[] = [];
    const mailer = {
      send: async ({ to }: { to: string }) => void sent.push(to),
      close: () => {},
    } as unknown as Parameters<typeof openSender>[0]['mailer'];
    const sendDue = openSender({
      pool: world.pool,
      keys: world.keys,
      mailer,
      publicUrl: 'http://localhost',
      log,
    });
    const running = { isOver: false };
    let [jobsInWeeks, messages] = [0, 0];
    const wanted = { ...simulation, weeks: 3, rate: 1 };
    const simulating = simulate(world.pool, world.keys, account.id, wanted).finally(
      () => (running.isOver = true),
    );
    while (!running.isOver) {
      const open = await weeksToClose(world.pool, noon);
      if (open.some(({ accountId }) => accountId === account.id)) jobsInWeeks++;
      messages += await countOf('messages', account.id);
      await closeEndedWeeks(world.pool, world.keys, noon);
      await sendDue(noon);
    }
    const { weeks } = await simulating;
    expect(jobsInWeeks).toBeGreaterThan(0);
    expect(weeks).toHaveLength(3);
    expect(weeks.every((one) => one.asked === 20 && one.answered === 20 && one.published > 0)).toBe(true);
    expect(messages).toBe(0);
    expect(sent.filter((address) => address.endsWith(`@a${account.id}.example`))).toEqual([]);
    for (const table of ['answers', 'assignments', 'links', 'messages', 'participants']) {
      expect(await countOf(table, account.id)).toBe(0);
    }
  });

  test('when stopped during a week, completed weeks stay, and the service closes that week', async () => {
    const account = await company(20);
    const [first, second] = [addWeeks(askedWeek, -2), addWeeks(askedWeek, -1)];
    const wanted = { ...simulation, weeks: 2, rate: 1 };
    let pages: { close(): Promise<void> };
    const stopping = simulate(world.pool, world.keys, account.id, {
      ...wanted,
      serve: async (...means) => (pages = await serve(...means)) as Awaited<ReturnType<ServeAnswering>>,
      before: async (week) => {
        if (week === second) await pages.close();
      },
    });
    await expect(stopping).rejects.toThrow('The answering page cannot be reached.');
    expect(await weeksToClose(world.pool, noon)).toEqual([
      { accountId: account.id, week: second, timezone: 'UTC' },
    ]);
    await closeEndedWeeks(world.pool, world.keys, noon);
    expect(await weeksToClose(world.pool, noon)).toEqual([]);
    const { results, rates } = await figuresOf(account);
    expect(new Set(results.map(({ week }) => week as Week))).toEqual(new Set([first, second]));
    expect(rates.filter(({ week }) => week === first).map(({ value }) => (value as number) > 0.9)).toEqual(
      Array(3).fill(true),
    );
    expect(rates.filter(({ week }) => week === second).map(({ value }) => value as number)).toEqual([
      0, 0, 0,
    ]);
  });
});

describe('refusals', () => {
  const refused = async (accountId: number, more: Partial<Simulation> = {}) =>
    simulate(world.pool, world.keys, accountId, { ...simulation, ...more }).then(
      () => 'done',
      (error: unknown) => (error instanceof Fault ? error.message : error),
    );

  test('weeks that were already asked, with the number of free weeks', async () => {
    const account = await company(6);
    await simulate(world.pool, world.keys, account.id, { ...simulation, now: noon - 14 * 86_400_000 });
    expect(await refused(account.id, { weeks: 4 })).toBe(
      'Questions were already asked in week 2026-W44. Simulate only the weeks after it (--weeks 2), or use another account.',
    );
    expect(
      (await simulate(world.pool, world.keys, account.id, { ...simulation, weeks: 2 })).weeks,
    ).toHaveLength(2);
    expect(await refused(account.id)).toBe(
      'Questions were already asked in week 2026-W46. Use another account.',
    );
  });

  test('an account without people in groups, and an unknown account', async () => {
    const account = await world.account();
    expect(await refused(account.id)).toMatch(/there is no one to ask/);
    expect(await selectSchedules(world.pool, account.id)).toEqual([]);
    expect(await refused(999_999)).toBe('Account 999999 does not exist.');
  });

  test('schedules of which none is due', async () => {
    const account = await company(6);
    const { pulse } = await simulate(world.pool, world.keys, account.id, {
      ...simulation,
      now: noon - 14 * 86_400_000,
    });
    await inTransaction(world.pool, (tx) => pauseSchedule(tx, account.id, pulse!.scheduleId, true));
    expect(await refused(account.id)).toMatch(/^No schedule of the account is due/);
  });

  test('impossible numbers', async () => {
    const account = await company(6);
    for (const wrong of [
      { weeks: 0 },
      { weeks: 521 },
      { weeks: 1.5 },
      { seed: 0.5 },
      { rate: 1.01 },
      { rate: NaN },
    ]) {
      expect(await refused(account.id, wrong)).toMatch(/weeks|whole number|rate/);
    }
  });
});

test('about as many people answer as the rate says, and each is asked once', () => {
  const people = Array.from({ length: 300 }, (_, i) => ({
    person: `p${i}`,
    language: 'en',
    groups: [[`team ${i % 20}`, 'all']],
    questions: [{ id: 1, key: 'one', type: 1 as const, options: [], topic: 'kpi' }],
  }));
  const rates = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer(), rates, (seed, rate) => {
      const scripts = scriptsOf({ seed, rate, character: anyCompany }, askedWeek, people);
      const answered = scripts.filter((visits) => visits.length > 0).length;
      expect(Math.abs(answered / 300 - rate)).toBeLessThan(0.2);
    }),
    cases(30),
  );
});
