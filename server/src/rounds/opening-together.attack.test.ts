// Opening the rounds of several accounts at the same time: each as if it were alone, even if another one is busy or fails, if the process is
// killed, or if several processes open the same rounds. And how many statements it takes.
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount, lockAccount } from '../accounts/accounts.ts';
import { recordSpans, asPartOf, type Span } from '../base/tracing/spans.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { mondays, noon, planAsking } from '../testing/asking.ts';
import { openTestDatabase, otherProcess, type TestDatabase } from '../testing/database.ts';
import { keepOpen, untilWaiting } from '../testing/keep-open.ts';
import { tablesOf } from '../testing/tables.ts';
import { until } from '../testing/until.ts';
import { largeAccount } from '../jobs/accounts-in-turn.ts';
import { openDueRounds } from './opening.ts';
import { selectLargeOpening } from './opening.sql.ts';
import { createSchedule } from './schedules.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await openTestDatabase();
  pool = database.pool;
});
afterAll(() => database.close());

/** Creates accounts with six people and a schedule that is due. Returns their ids. */
async function scheduled(count: number): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < count; i++) {
    const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
    await planAsking(pool, id);
    ids.push(id);
  }
  return ids;
}

/** Returns those of the accounts that have an open week. */
async function openIn(ids: number[]): Promise<number[]> {
  const rows = await pool<{ id: number }[]>`
    select account_id as id from weeks where account_id = any(${ids}) order by 1`;
  return rows.map(({ id }) => id);
}

/** Expects that everyone in these accounts was asked, and gets a message, once. */
async function expectOpened(ids: number[]): Promise<void> {
  for (const id of ids) {
    const [row] = await pool`
      select (select count(*)::integer from rounds where account_id = ${id})       as rounds,
             (select count(*)::integer from week_keys where account_id = ${id})    as keys,
             (select count(*)::integer from participants where account_id = ${id}) as participants,
             (select count(*)::integer from assignments where account_id = ${id})  as assignments,
             (select count(*)::integer from messages where account_id = ${id} and kind = 'invitation') as invitations,
             (select count(*)::integer from schedule_weeks where account_id = ${id} and outcome = 'opened') as opened`;
    expect(row).toEqual({
      rounds: 1,
      keys: 1,
      participants: 6,
      assignments: 6,
      invitations: 6,
      opened: 1,
    });
  }
}

test('an account that is busy delays only its own round, and outcomes are in the order of the accounts', async () => {
  const ids = await scheduled(4);
  const release = await keepOpen(pool, (tx) => lockAccount(tx as never, ids[0] as number));
  const opening = openDueRounds(pool, database.keys, noon);
  await until(async () => (await openIn(ids)).length === 3);
  expect(await openIn(ids)).toEqual(ids.slice(1));
  await release();
  expect((await opening).map(({ accountId }) => accountId)).toEqual(ids);
  await expectOpened(ids);
});

test('an account that fails leaves all others opened, and itself as it was', async () => {
  const ids = await scheduled(3);
  await pool.unsafe(`
    create function fail() returns trigger language plpgsql as $$ begin raise 'broken'; end $$;
    create trigger fail before insert on assignments for each row
    when (new.account_id = ${ids[1]}) execute function fail();`);
  onTestFinished(async () => void (await pool.unsafe('drop function if exists fail cascade')));
  await expect(openDueRounds(pool, database.keys, noon)).rejects.toThrow('broken');
  expect(await openIn(ids)).toEqual([ids[0], ids[2]]);
  await pool.unsafe('drop function fail cascade');
  await openDueRounds(pool, database.keys, noon);
  await expectOpened(ids);
});

test('a process that is killed with two rounds half written leaves nothing, and the next one opens them', async () => {
  const ids = await scheduled(2);
  const { pool: own, keys } = otherProcess(database, 3);
  await keys.chain.prepare();
  const before = await tablesOf(pool);
  // Both have written their participants, and wait to write the assignments.
  const release = await keepOpen(pool, (tx) => tx`lock table assignments in exclusive mode`);
  const opening = openDueRounds(own, keys, noon).catch((error: unknown) => error);
  const backends = await untilWaiting(pool, 2);
  await pool`select pg_terminate_backend(pid) from unnest(${backends}::integer[]) as pid`;
  expect(await opening).toMatchObject({ code: 'unavailable' });
  await release();
  expect(await tablesOf(pool)).toEqual(before);
  await openDueRounds(pool, database.keys, noon);
  await expectOpened(ids);
});

test('a process without the answer key opens nothing, and one that has it does', async () => {
  const ids = await scheduled(2);
  await openDueRounds(pool, database.keys, noon, { accountId: ids[0] as number });
  const [id] = ids.slice(1) as [number];
  const own = otherProcess(database, 3).pool;
  const lacking = new AnswerKeys(own, {
    place: 'file',
    directory: join(database.keyPlace.directory, 'none'),
  });
  const before = await tablesOf(pool);
  // It ends before people are written, which would wait.
  const release = await keepOpen(pool, (tx) => tx`lock table participants in exclusive mode`);
  onTestFinished(release);
  const opening = openDueRounds(own, lacking, noon, { accountId: id });
  await expect(opening).rejects.toMatchObject({ code: 'answer key missing' });
  await release();
  expect(await tablesOf(pool)).toEqual(before);
  await openDueRounds(pool, database.keys, noon);
  await expectOpened(ids);
});

test('a connection that is lost while the answer key is read fails the round, which another process then opens', async () => {
  const [id] = (await scheduled(1)) as [number];
  const { pool: own, keys } = otherProcess(database, 2);
  // For as long as the table is locked, the key can't be read, which another connection than that of the transaction does.
  const release = await keepOpen(pool, (tx) => tx`lock table answer_keys in access exclusive mode`);
  onTestFinished(release);
  const opening = openDueRounds(own, keys, noon).catch((error: unknown) => error);
  const [backend] = await untilWaiting(pool, 1);
  await pool`select pg_terminate_backend(${backend as number})`;
  expect(await opening).toMatchObject({ code: 'unavailable' });
  await release();
  await openDueRounds(pool, database.keys, noon);
  await expectOpened([id]);
});

test('a round that is ready waits for the answer key longer than for an account, instead of being opened again from the start', async () => {
  const ids = await scheduled(1);
  const own = openPool(database.url, 3, { settings: { lock_timeout: '200ms' } });
  onTestFinished(() => own.end());
  const keys = new AnswerKeys(own, database.keyPlace);
  await keys.chain.prepare();
  const release = await keepOpen(pool, (tx) => tx`update answer_keys set tried = tried`);
  const opening = openDueRounds(own, keys, noon);
  await untilWaiting(pool);
  await setTimeout(400);
  await release();
  expect((await opening).map(({ accountId }) => accountId)).toEqual(ids);
  await expectOpened(ids);
});

test('several processes, of which none has read the key yet, open each round once', async () => {
  const ids = await scheduled(6);
  const processes = [otherProcess(database, 3), otherProcess(database, 2), otherProcess(database, 3)];
  const all = await Promise.all(processes.map(({ pool: own, keys }) => openDueRounds(own, keys, noon)));
  expect(
    all
      .flat()
      .map(({ accountId }) => accountId)
      .toSorted((a, b) => a - b),
  ).toEqual(ids);
  await expectOpened(ids);
});

test('the number of statements does not grow with the groups of a schedule', async () => {
  const statementsWith = async (groups: number) => {
    const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Acme' }));
    const { groupId, questionIds, scheduleId } = await planAsking(pool, id);
    await pool`update schedules set paused_at = now() where account_id = ${id} and schedule_id = ${scheduleId}`;
    await inTransaction(pool, async (tx) => {
      await lockAccount(tx, id);
      const groupIds = [groupId];
      for (let i = 1; i < groups; i++) groupIds.push(await createGroup(tx, id, { name: `Group ${i}` }));
      const [question] = questionIds.values();
      await createSchedule(tx, id, mondays({ groupIds, questionIds: [question as number] }));
    });
    const names: string[] = [];
    const span: Span = {
      traceId: '',
      now: () => performance.now(),
      begin: ({ attributes }) => (names.push(attributes?.['db.query.summary'] ?? ''), span),
      end() {},
    };
    const end = recordSpans(() => undefined);
    onTestFinished(end);
    await asPartOf(span, () => openDueRounds(pool, database.keys, noon, { accountId: id }));
    end();
    const rounds = await pool`select 1 from rounds where account_id = ${id}`;
    expect(rounds).toHaveLength(groups);
    return names;
  };
  expect(await statementsWith(5)).toEqual(await statementsWith(1));
});

test('a large account is opened after all others', async () => {
  const ids = await scheduled(3);
  const [large = 0, busy = 0] = ids;
  await pool`
    insert into users (account_id, first_name, last_name, managed, active, role)
    select ${large}, 'Eva', 'Ek', false, true, 'User' from generate_series(1, ${largeAccount})`;
  const release = await keepOpen(pool, (tx) => lockAccount(tx as never, busy));
  const opening = openDueRounds(pool, database.keys, noon);
  await until(async () => (await openIn(ids)).length > 0);
  expect(await openIn(ids)).toEqual(ids.slice(2));
  await release();
  await opening;
  await expectOpened(ids);
});

test('an account is large if it has more active people than the limit', async () => {
  const [id, other] = (await scheduled(2)) as [number, number];
  await pool`update users set active = false where account_id = ${other} and email = 'p1@example.org'`;
  expect(await selectLargeOpening(pool, [id, other], 4)).toEqual(new Set([id, other]));
  expect(await selectLargeOpening(pool, [id, other], 5)).toEqual(new Set([id]));
  expect(await selectLargeOpening(pool, [id, other], 6)).toEqual(new Set());
});
