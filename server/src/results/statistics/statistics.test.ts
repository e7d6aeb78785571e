// Computing the statistics of weeks: in the order of weeks, by one process at a time, and finished by the next run if it is killed. They
// depend on nothing but published figures.
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { openPool } from '../../db/db.ts';
import { randomFrom } from '../../simulation/random.ts';
import { keepOpen } from '../../testing/keep-open.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { areStatisticsDue, computeAllStatistics, computeStatistics } from './statistics.ts';

const now = Date.parse('2026-11-18T12:00:00Z');
const firstWeek = '2026-08-31';
const leaves = Array.from({ length: 12 }, (_, i) => `team${i}`);

let world: World;
beforeAll(async () => {
  // Without recurring jobs, which compute statistics, too.
  world = await openWorld(undefined, { role: 'web' }, () => now);
});
afterAll(() => world?.close());

async function newAccount(): Promise<TestAccount> {
  const account = await world.account();
  await world.pool`update accounts set threshold = 3 where account_id = ${account.id}`;
  await apply(account, { groups: [unit('all'), ...leaves.map((name) => unit(name, { parent: 'all' }))] });
  return account;
}

const people = Object.fromEntries(
  leaves.flatMap((team) => Array.from({ length: 8 }, (_, i) => [`${team}-${i}`, [team]])),
);

/** The history lines of a week: its answers are the same in every account. */
function linesOf(number: number): object[] {
  const week = weekName(addWeeks(firstWeek, number));
  const random = randomFrom(number, 'answers');
  const questions = number % 2 === 0 ? ['a', 'b'] : ['a', 'c'];
  return [
    round(week, 'all', questions, people),
    ...Object.keys(people).flatMap((name) =>
      questions.map((key) => answerLine(week, 'all', name, key, 1 + Math.floor(random.next() * 5))),
    ),
  ];
}

const definitions = [question('a', 1), question('b', 2), question('c', 3), kpi('both', ['b', 'c'])];

/** Imports weeks, one file for each list of numbers. */
async function imported(...files: number[][]): Promise<TestAccount> {
  const account = await newAccount();
  for (const numbers of files) {
    await importLines(world, account.id, [...definitions, ...numbers.flatMap(linesOf)], now);
  }
  return account;
}

/** Returns all statistics of an account, with names instead of ids. */
async function statisticsOf({ id }: TestAccount) {
  const { pool } = world;
  const weeks = await pool`
    select week, kpi_weeks, statistics_at is not null as done from weeks where account_id = ${id} order by week`;
  const variances = await pool`
    select v.week, q.key, v.squares, v.freedom, v.answers, v.cells
    from   question_variances v join questions q using (account_id, question_id)
    where  account_id = ${id} order by 1, 2`;
  const questions = await pool`
    select s.week, q.key, s.variance, s.steady_share, s.present_share, s.shared_movement, s.group_variance, s.cutoffs
    from   question_statistics s join questions q using (account_id, question_id)
    where  account_id = ${id} order by 1, 2`;
  const kpis = await pool`
    select week, kpi_id, factor, ratio, pairs, group_variance, cutoffs
    from   kpi_statistics where account_id = ${id} order by 1, 2`;
  return { weeks: [...weeks], variances: [...variances], questions: [...questions], kpis: [...kpis] };
}

const all = [0, 1, 2, 3, 4, 5];

describe('computing statistics', () => {
  test('gives each published week its parameters, without a row per group', async () => {
    const statistics = await statisticsOf(await imported(all));
    expect(statistics.weeks.map(({ done }) => done as boolean)).toEqual(all.map(() => true));
    expect(statistics.questions).toHaveLength(12);
    expect(statistics.kpis).toHaveLength(6);
    expect(statistics.questions.at(-1)?.['cutoffs']).toMatchObject({
      change: { level: expect.any(Number) as number },
      company: { level: expect.any(Number) as number },
    });
    expect(statistics.questions[0]?.['cutoffs']).not.toHaveProperty('change');
  });

  test('a week imported after later ones changes these too: the result is the same in any order', async () => {
    const expected = await statisticsOf(await imported(all));
    expect(await statisticsOf(await imported([4, 5], [0], [1, 3], [2]))).toEqual(expected);
    expect(await statisticsOf(await imported([0], [1], [2], [3], [4], [5]))).toEqual(expected);
  });

  test('by several processes at once, every call ends and the result is the same', async () => {
    const account = await imported(all);
    const expected = await statisticsOf(account);
    await world.pool`update weeks set statistics_at = null where account_id = ${account.id}`;
    await Promise.all([1, 2, 3].map(() => computeStatistics(world.pool, account.id)));
    expect(await statisticsOf(account)).toEqual(expected);
  });

  test('if it ends between two weeks, the weeks so far stay, and the recurring job computes the others', async () => {
    const { pool } = world;
    const account = await imported(all);
    const expected = await statisticsOf(account);
    await pool`update weeks set statistics_at = null where account_id = ${account.id}`;
    const stop = addWeeks(firstWeek, 3);
    await pool.unsafe(`
      create function stop_here() returns trigger language plpgsql as $$
      begin
        if new.account_id = ${account.id} and new.week = '${stop}' then raise exception 'stopped'; end if;
        return new;
      end $$;
      create trigger stop_here before insert on question_statistics for each row execute function stop_here()`);
    await expect(computeStatistics(pool, account.id)).rejects.toThrow('stopped');
    const between = await statisticsOf(account);
    expect(between.weeks.map(({ done }) => done as boolean)).toEqual([true, true, true, false, false, false]);
    expect(await areStatisticsDue(pool)).toBe(true);
    await pool.unsafe('drop trigger stop_here on question_statistics; drop function stop_here()');
    await computeAllStatistics(pool);
    expect(await statisticsOf(account)).toEqual(expected);
    expect(await areStatisticsDue(pool)).toBe(false);
  });

  test('an account that others keep locked is left for the next call, and is not a failure', async () => {
    const [locked, free] = [await imported(all), await imported(all)];
    const expected = await statisticsOf(locked);
    await world.pool`update weeks set statistics_at = null where account_id in (${locked.id}, ${free.id})`;
    const pool = openPool(world.databaseUrl, 2, { settings: { lock_timeout: '50ms' } });
    onTestFinished(() => pool.end());
    const release = await keepOpen(world.pool, (tx) => lockAccount(tx as never, locked.id));
    await computeAllStatistics(pool);
    await release();
    const isDone = async (account: TestAccount) =>
      (await statisticsOf(account)).weeks.every(({ done }) => done as boolean);
    expect([await isDone(locked), await isDone(free)]).toEqual([false, true]);
    await computeAllStatistics(pool);
    expect(await statisticsOf(locked)).toEqual(expected);
  });

  test('depends on published figures only: not on who is in a group now, and on nothing while they stay', async () => {
    const { pool } = world;
    const account = await imported(all);
    const expected = await statisticsOf(account);
    const again = async () => {
      await pool`update weeks set statistics_at = null where account_id = ${account.id}`;
      await computeStatistics(pool, account.id);
      return statisticsOf(account);
    };
    await pool`delete from memberships where account_id = ${account.id}`;
    await pool`update users set active = false where account_id = ${account.id}`;
    await pool`delete from comments where account_id = ${account.id}`;
    expect(await again()).toEqual(expected);
    await pool`
      update results set value = 1 - value
      where  account_id = ${account.id} and week = ${addWeeks(firstWeek, 5)}
        and  group_id = (select group_id from groups where account_id = ${account.id} and external_id = 'team3')`;
    expect((await again()).questions).not.toEqual(expected.questions);
  });

  test('the window is that of the account when the statistics are computed', async () => {
    const account = await imported([0, 1]);
    const windows = async () =>
      (await statisticsOf(account)).weeks.map((week) => week['kpi_weeks'] as number);
    expect(await windows()).toEqual([13, 13]);
    await world.pool`update accounts set kpi_weeks = 3 where account_id = ${account.id}`;
    await importLines(world, account.id, [...definitions, ...linesOf(2)], now);
    expect(await windows()).toEqual([13, 13, 3]);
  });
});
