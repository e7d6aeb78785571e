// Closing the weeks of several accounts at the same time: each is published as if it had been closed alone, even if another one is busy or
// fails, if the process is killed, or if several processes close the same weeks.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { changeAccount, lockAccount } from '../accounts/accounts.ts';
import { inTransaction, openPool } from '../db/db.ts';
import { openDueRounds } from '../rounds/opening.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { type EpochKey, unwrap } from '../sealing/epoch-keys.ts';
import { readKeyFile } from '../sealing/key-file.ts';
import { contextOf } from '../sealing/week-key.ts';
import { noon, planAsking } from '../testing/asking.ts';
import { otherProcess } from '../testing/database.ts';
import { untilWaiting } from '../testing/keep-open.ts';
import { importLines } from '../testing/surveys.ts';
import { tablesOf } from '../testing/tables.ts';
import { until } from '../testing/until.ts';
import { closeEndedWeeks } from './close-week.ts';
import {
  close,
  commentsOf,
  type Company,
  company,
  database,
  everyone,
  figuresOf,
  meanwhile,
  openCompany,
  openTransaction,
  over,
  pool,
  ratesOf,
  survey,
  useDatabase,
  W,
  week,
} from './close-week.fixture.ts';
import { selectLargeClosing } from './close-week.sql.ts';

useDatabase();

async function companies(count: number): Promise<Company[]> {
  const all: Company[] = [];
  for (let i = 0; i < count; i++) all.push(await openCompany());
  return all;
}

const publishedOf = async (acme: Company) => [
  await figuresOf(acme),
  await figuresOf(acme, 'ten'),
  await ratesOf(acme),
  await commentsOf(acme),
];

const openOf = async (all: Company[]) => {
  const rows = await pool<{ id: number }[]>`
    select account_id as id from weeks
    where  account_id = any(${all.map(({ id }) => id)}) and closed_at is null order by 1`;
  return rows.map(({ id }) => id);
};

/** Expects that each was published like a week that was closed alone, once, and that nothing is left of its answers. */
async function expectPublished(all: Company[]): Promise<void> {
  const alone = await openCompany();
  await close(alone);
  const expected = await publishedOf(alone);
  for (const acme of all) {
    expect(await publishedOf(acme)).toEqual(expected);
    const [left] = await pool`
      select (select count(*)::integer from answers where account_id = ${acme.id})      as answers,
             (select count(*)::integer from assignments where account_id = ${acme.id})  as assignments,
             (select count(*)::integer from week_keys where account_id = ${acme.id})    as keys,
             (select count(*)::integer from digest_weeks where account_id = ${acme.id}) as digests`;
    expect(left).toEqual({ answers: 0, assignments: 0, keys: 0, digests: 1 });
  }
}

/** Returns the rows of these accounts in all tables, except keys of open weeks, which others wrap again when they close weeks. */
const rowsOf = async (all: Company[]) =>
  (await tablesOf(pool)).filter(
    (row) => all.some(({ id }) => row.includes(`"account_id": ${id},`)) && !row.startsWith('week_keys '),
  );

test('an account that is busy delays only its own week', async () => {
  const all = await companies(4);
  const release = await openTransaction((tx) => lockAccount(tx, (all[0] as Company).id));
  const closing = closeEndedWeeks(pool, database.keys, over);
  await until(async () => (await openOf(all)).length === 1);
  expect(await openOf(all)).toEqual([all[0]?.id]);
  await release();
  await closing;
  expect([...(await pool`select is_spent from answer_keys`)]).toEqual([{ is_spent: false }]);
  await expectPublished(all);
});

test('accounts that fail leave all others published, and the first one in order is reported', async () => {
  const all = await companies(4);
  const [first, second, ...others] = all as [Company, Company, ...Company[]];
  await pool.unsafe(`
    create function fail() returns trigger language plpgsql as $$ begin raise 'broken %', new.account_id; end $$;
    create trigger fail before insert on response_rates for each row
    when (new.account_id in (${first.id}, ${second.id})) execute function fail();`);
  const drop = () => pool.unsafe('drop function if exists fail cascade');
  onTestFinished(async () => void (await drop()));
  const before = await rowsOf([first, second]);
  const release = await openTransaction((tx) => lockAccount(tx, first.id));
  const closing = closeEndedWeeks(pool, database.keys, over).catch((error: unknown) => error);
  await until(async () => (await openOf(others)).length === 0); // the second one has failed before
  await release();
  expect(await closing).toMatchObject({ message: `broken ${first.id}` });
  expect(await rowsOf([first, second])).toEqual(before);
  await drop();
  await closeEndedWeeks(pool, database.keys, over);
  await expectPublished(all);
});

test('a process that is killed with two weeks half written leaves both as they were, and the next one closes them', async () => {
  const all = await companies(2);
  const { pool: own, keys } = otherProcess(database, 3);
  await keys.chain.prepare();
  const before = await rowsOf(all);
  // Both have written their figures, and wait to delete their answers.
  const release = await openTransaction(
    (tx) => tx`select 1 from answers where account_id = any(${all.map(({ id }) => id)}) for update`,
  );
  const closing = closeEndedWeeks(own, keys, over).catch((error: unknown) => error);
  const backends = await untilWaiting(pool, 2);
  await pool`select pg_terminate_backend(pid) from unnest(${backends}::integer[]) as pid`;
  expect(await closing).toMatchObject({ code: 'unavailable' });
  await release();
  expect(await rowsOf(all)).toEqual(before);
  await closeEndedWeeks(pool, database.keys, over);
  await expectPublished(all);
});

test('a week whose figures are written waits for the answer key longer than for an account', async () => {
  const all = await companies(1);
  const own = openPool(database.url, 3, { settings: { lock_timeout: '200ms' } });
  onTestFinished(() => own.end());
  const keys = new AnswerKeys(own, database.keyPlace);
  await keys.chain.prepare();
  const release = await openTransaction((tx) => tx`update answer_keys set tried = tried`);
  const closing = closeEndedWeeks(own, keys, over).catch((error: unknown) => error);
  await untilWaiting(pool);
  await setTimeout(400);
  await release('rollback');
  expect(await closing).toBeUndefined();
  await expectPublished(all);
});

test('weeks of other accounts close, and the key that wrapped theirs is destroyed, while a large account is asked', async () => {
  const [acme] = (await companies(1)) as [Company];
  const { id } = await company();
  await planAsking(pool, id);
  // Its people are being written for as long as someone has this lock.
  const lock = 4711;
  await pool.unsafe(`
    create function wait() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(${lock}); return new; end $$;
    create trigger wait before insert on assignments for each row when (new.account_id = ${id}) execute function wait();`);
  onTestFinished(async () => void (await pool.unsafe('drop function if exists wait cascade')));
  const release = await openTransaction((tx) => tx`select pg_advisory_xact_lock(${lock})`);
  onTestFinished(() => release());
  const opening = openDueRounds(pool, database.keys, noon, { accountId: id });
  await untilWaiting(pool, 1);
  const [sealed] = await pool<{ wrapped: Buffer }[]>`
    select wrapped from week_keys where account_id = ${acme.id} and week = ${week}`;
  const opensSealed = () => {
    const key = readKeyFile(join(database.keyPlace.directory, 'answers')) as EpochKey;
    return unwrap(key, contextOf(acme.id, week), sealed!.wrapped) !== undefined;
  };
  expect(opensSealed()).toBe(true);
  const { pool: own, keys } = otherProcess(database, 3);
  await closeEndedWeeks(own, keys, over);
  await expectPublished([acme]);
  expect(opensSealed()).toBe(false);
  await release();
  expect(await opening).toMatchObject([{ outcome: 'opened' }]);
  expect(await keys.lostWeeks()).toEqual([]);
  const [opened] = await pool<{ week: Week }[]>`select week from weeks where account_id = ${id}`;
  expect(await keys.of(pool, id, opened!.week)).toBeDefined();
});

test('several processes that close the same weeks publish each once', async () => {
  const all = await companies(6);
  const processes = [otherProcess(database, 3), otherProcess(database, 3), otherProcess(database, 2)];
  await Promise.all(processes.map(({ pool: own, keys }) => closeEndedWeeks(own, keys, over)));
  expect(await openOf(all)).toEqual([]);
  await expectPublished(all);
});

test('weeks of one account are closed in their order while another account is closed', async () => {
  const all = await Promise.all([company(), company()]);
  const names = ['2024-W45', '2024-W46', W];
  for (const { id } of all) {
    const lines = [...survey(names[0]), ...names.slice(1).flatMap((name) => survey(name).slice(4))];
    await importLines(database, id, lines, Date.parse('2024-10-30T00:00:00Z'));
  }
  await closeEndedWeeks(pool, database.keys, over);
  for (const { id } of all) {
    const rows = await pool<{ week: string }[]>`
      select week from weeks where account_id = ${id} and closed_at is not null order by closed_at`;
    expect(rows.map((row) => row.week)).toEqual([addWeeks(week, -2), addWeeks(week, -1), week]);
  }
});

test.each([2, 3])('accounts whose noise needs a key end on a pool of %i connections', async (max) => {
  const all = await Promise.all([company(), company(), company()]);
  for (const { id } of all) {
    await inTransaction(pool, (tx) => changeAccount(tx, id, { noise: 1 }));
    await importLines(database, id, survey(), meanwhile);
  }
  const { pool: own, keys } = otherProcess(database, max);
  await closeEndedWeeks(own, keys, over);
  expect(await openOf(all)).toEqual([]);
  for (const acme of all) expect((await figuresOf(acme))['top']).toMatchObject({ answers: 18 });
});

test('an account is large if more people are asked in its weeks than the limit', async () => {
  const [acme, other] = (await companies(2)) as [Company, Company];
  await importLines(database, acme.id, survey('2024-W46').slice(4), Date.parse('2024-11-13T12:00:00Z'));
  const weeks = [acme, other].map(({ id }) => ({ accountId: id, week }));
  const both = [...weeks, { accountId: acme.id, week: addWeeks(week, -1) }];
  const people = everyone.length;
  expect(await selectLargeClosing(pool, weeks, people - 1)).toEqual(new Set([acme.id, other.id]));
  expect(await selectLargeClosing(pool, weeks, people)).toEqual(new Set());
  expect(await selectLargeClosing(pool, both, people)).toEqual(new Set([acme.id]));
});
