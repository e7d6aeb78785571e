// Fails when an update of the `postgres` driver changes the internals that we use. docs/decisions/0021-postgres-internals.md says
// what to do then.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { copyInto, copyOut, inBatches, inTransaction, openPool, type Pool, type Transaction } from './db.ts';
import { isOfStatement, onFailure } from './postgres-internals.ts';

const see =
  'postgres has changed what we use of its internals: see docs/decisions/0021-postgres-internals.md';
let database: TestDatabase;
let pool: Pool;

beforeAll(async () => {
  database = await openTestDatabase();
  pool = openPool(database.url, 1);
  await database.pool`create table numbers (number integer primary key)`;
});
afterAll(async () => {
  await pool.end({ timeout: 1 });
  await database.close();
});

/** Returns the error of `work`, or what happened instead. */
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  Promise.race([
    work.then(
      () => 'it succeeded',
      (error: unknown) => error,
    ),
    sleep(40_000, 'it still waits'),
  ]);

/**
 * Ends the connection of `pool` as soon as it waits for lock 9, which another transaction keeps during that time. Returns the error
 * of `work`.
 */
const errorWhenLost = (work: () => Promise<unknown>): Promise<unknown> =>
  database.pool.begin(async (holding) => {
    await holding`select pg_advisory_xact_lock(9)`;
    const error = errorOf(work());
    for (;;) {
      const ended = await holding`
        select pg_terminate_backend(pid) from pg_locks
        where  locktype = 'advisory' and not granted
          and  database = (select oid from pg_database where datname = current_database())`;
      if (ended.length > 0) return error;
    }
  });

test('after a statement that failed in the middle of its rows, the next statement returns only its own rows', async () => {
  const failing = () => pool`select 1 / (5 - n) as n from generate_series(1, 10) n`;
  const two = () => pool<{ n: number }[]>`select n from generate_series(1, 2) n`;
  expect(await errorOf(failing())).toMatchObject({ code: '22012' });
  expect([...(await two())], see).toEqual([{ n: 1 }, { n: 2 }]);
  await errorOf(failing());
  const batches: unknown[] = [];
  for await (const rows of inBatches(two(), 10)) batches.push([...rows]);
  expect(batches, see).toEqual([[{ n: 1 }, { n: 2 }]]);
  await errorOf(failing());
  expect(await pool.begin(async (tx) => (await tx`select 1 as n`).length), see).toBe(1);
});

test('a COPY that the server rejects after its last row fails', async () => {
  const rows = [[1], [2], [1]];
  const error = await errorOf(pool.begin((tx) => copyInto(tx`copy numbers from stdin`, rows)));
  expect(error, see).toMatchObject({ code: '23505' });
});

test('a COPY whose connection is lost after its last row fails', async () => {
  // The trigger lets the server wait for a lock after the last row.
  await database.pool.unsafe(`
    create function wait() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(9); return null; end';
    create trigger wait after insert on numbers for each statement execute function wait();`);
  const error = await errorWhenLost(() => copyInto(pool`copy numbers from stdin`, [[3]]));
  expect(error, see).toMatchObject({ code: expect.stringMatching(/^(57P01|CONNECTION_CLOSED)$/) });
});

test('an error of a statement contains the statement, even if the connection was lost', async () => {
  const rejected = await errorOf(pool`select 1 / 0`);
  expect(isOfStatement(rejected as object), see).toBe(true);
  const lost = await errorWhenLost(() => pool`select pg_advisory_xact_lock(9)`);
  expect(isOfStatement(lost as object), see).toBe(true);
});

test('after a COPY whose last rows arrive while its reader is busy, the connection can be used', async () => {
  const one = openPool(database.url, 1);
  // Which sizes fill the stream with their last rows depends on how they arrive, so there are many.
  for (let rows = 200; rows <= 6000; rows += 100) {
    const copied = one.begin(async (tx) => {
      let bytes = 0;
      const source = `select repeat('x', 99) from generate_series(1, ${rows})`;
      for await (const chunk of copyOut(tx.unsafe(`copy (${source}) to stdout`))) {
        bytes += chunk.length;
        for (let turn = 0; turn < 20; turn++) await setImmediate();
      }
      await tx`select 1`;
      return bytes;
    });
    expect(await Promise.race([copied, sleep(20_000, 'it still waits')]), see).toBe(rows * 100);
  }
  await one.end({ timeout: 1 });
});

test('a transaction whose connection is lost fails, and refuses later statements', async () => {
  const own = openPool(database.url, 1);
  let lost: Transaction | undefined;
  const error = await errorWhenLost(() =>
    inTransaction(own, async (tx) => {
      lost = tx;
      await tx`select pg_advisory_xact_lock(9)`;
    }),
  );
  expect(error, see).toMatchObject({ code: 'unavailable' });
  expect(() => lost!`select 1`, see).toThrow('The connection of the transaction was lost.');
  await own.end({ timeout: 1 });
});

test('a statement that is sent after its transaction or savepoint has ended is refused', async () => {
  const own = openPool(database.url, 1);
  const late: Promise<unknown>[] = [];
  /** Fails while another promise of the same work still has a statement to send. */
  const failing = (within: Transaction, number: number) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    late.push(promise.then(() => within`insert into numbers (number) values (${number})`).catch(String));
    return within`select 1 / 0`.then(
      () => undefined,
      (error: unknown) => {
        setImmediate().then(resolve, resolve);
        throw error;
      },
    );
  };
  expect(await errorOf(inTransaction(own, (tx) => failing(tx, 101)))).toMatchObject({ code: '22012' });
  await inTransaction(own, async (tx) => {
    await tx.savepoint((inner) => failing(inner, 102)).catch(() => {});
    await Promise.all(late);
  });
  expect(await Promise.all(late)).toEqual(
    late.map(() => 'Error: A statement was sent after its transaction had ended.'),
  );
  expect([...(await own`select number from numbers where number > 100`)]).toEqual([]);
  await own.end({ timeout: 1 });
});

test('a driver whose statements have no "reject" is refused with an error that names the decision', () => {
  expect(() => onFailure({} as never, () => {})).toThrow('docs/decisions/0021-postgres-internals.md');
});

test('a statement that is not prepared is sent without asking for the types of its parameters, if they are known', async () => {
  const unprepared = openPool(database.url, 1, { prepare: false });
  type Described = { statement: { types: number[] } | null; describeFirst: unknown };
  const send = (tx: Transaction, number: number) =>
    tx`select ${number}::integer + 1 as n, ${[number, 2]}::integer[] as list, ${null}::text as nothing`;
  const seen: unknown[] = [];
  for (const number of [4, 5]) {
    await inTransaction(unprepared, async (tx) => {
      const query = send(tx, number).execute();
      const described = query as unknown as Described;
      await setImmediate();
      seen.push([Boolean(described.describeFirst), described.statement?.types.every((type) => type > 0)]);
      expect([...(await query)], see).toEqual([{ n: number + 1, list: [number, 2], nothing: null }]);
    });
  }
  // The answer to the first one may already be there.
  expect(seen[1], see).toEqual([false, true]);
  await unprepared.end({ timeout: 1 });
});
