// A process for tests whose connection PostgreSQL ends in the middle of an operation. It prints the resulting error, then runs a
// statement on the same pool and prints "alive". Arguments: the database's address and the operation.
import { inFetches } from './fetches.ts';
import {
  asFault,
  inBatches,
  inTransaction,
  openPool,
  type Pool,
  retryLostConnections,
  type Transaction,
} from './db.ts';

const [url = '', operation = ''] = process.argv.slice(2);
const [pool, other] = [openPool(url, 1), openPool(url, 2)];
retryLostConnections(() => {});

const endBackend = (pid: number) => other`select pg_terminate_backend(${pid}, 5000)`;

async function pidOf(sql: Pool | Transaction): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`;
  return row?.pid as number;
}

const operations: Record<string, () => Promise<unknown>> = {
  /** A statement of the transaction waits for a lock. */
  'a waiting transaction': () =>
    other.begin(async (holding) => {
      await holding`select pg_advisory_xact_lock(7)`;
      await inTransaction(pool, async (tx) => {
        const pid = await pidOf(tx);
        const ended = untilWaiting(pid).then(() => endBackend(pid));
        await tx`select pg_advisory_xact_lock(7)`;
        await ended;
      });
    }),
  /** The process does something else while the connection is ended, and then continues the transaction. */
  'a computing transaction': () =>
    inTransaction(pool, async (tx) => {
      await endBackend(await pidOf(tx));
      await tx`select 1`;
    }),
  /** The process does something else until the connection is known to be lost, and then ends the transaction. */
  'a transaction without another statement': () =>
    inTransaction(pool, async (tx) => {
      const pid = await pidOf(tx);
      await endBackend(pid);
      await untilGone(pid);
      await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    }),
  /** The connection is ended in a part of the transaction that can be undone alone. */
  'a savepoint of a transaction': () =>
    inTransaction(pool, async (tx) => {
      const pid = await pidOf(tx);
      await tx.savepoint(async (inner) => {
        await endBackend(pid);
        await inner`select 1`;
      });
    }),
  /** The process ignores that a statement of the savepoint failed, and goes on. */
  'a savepoint whose error is ignored': () =>
    inTransaction(pool, async (tx) => {
      const pid = await pidOf(tx);
      await tx
        .savepoint(async (inner) => {
          await endBackend(pid);
          await inner`select 1`.catch(() => {});
          await inner`select 2`;
        })
        .catch(() => {});
      await tx`select 3`;
    }),
  /** The process continues when it has used up the rows it already has. */
  'a cursor': async () => {
    const rows = pool<{ pid: number }[]>`select pg_backend_pid() as pid from generate_series(1, 100000)`;
    for await (const [row] of inBatches(rows, 10)) await endBackend(row?.pid as number);
  },
  /** The same with a cursor in a transaction. */
  'a cursor of a transaction': () =>
    inTransaction(pool, async (tx) => {
      const rows = tx<{ pid: number }[]>`select pg_backend_pid() as pid from generate_series(1, 100000)`;
      for await (const [row] of inBatches(rows, 10)) await endBackend(row?.pid as number);
    }),
  /** The connection is lost while no statement runs, as between two batches for a slow reader. */
  'a fetch of a transaction': () =>
    inTransaction(pool, async (tx) => {
      const rows = tx<{ pid: number }[]>`select pg_backend_pid() as pid from generate_series(1, 100000)`;
      for await (const [row] of inFetches(tx, rows, 10)) {
        await endBackend(row?.pid as number);
        await untilGone(row?.pid as number);
      }
    }),
};

async function untilGone(pid: number): Promise<void> {
  const rows = await other`select from pg_stat_activity where pid = ${pid}`;
  if (rows.length > 0) await untilGone(pid);
}

async function untilWaiting(pid: number): Promise<void> {
  const rows = await other`select from pg_stat_activity where pid = ${pid} and wait_event_type = 'Lock'`;
  if (rows.length === 0) await untilWaiting(pid);
}

const outcome = await (operations[operation] as () => Promise<unknown>)().then(
  () => 'nothing',
  (error: unknown) => asFault(error),
);
process.stdout.write(`${String(outcome)}\n`);
// The driver may also fail the next statement with the same error.
await pool`select 1`.catch(() => pool`select 1`);
process.stdout.write('alive\n');
await Promise.all([pool.end({ timeout: 1 }), other.end({ timeout: 1 })]);
