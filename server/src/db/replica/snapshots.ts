// Transactions that read one state of the database, or an account in exactly one version.
import { setTimeout as sleep } from 'node:timers/promises';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db.ts';
import { latestVersion } from '../migrate.ts';

/** An account as the primary server has it. `version`: raised by every change of what is read. */
export type AtVersion = { accountId: AccountId; version: string };

/** A transaction that reads. Call `end` in any case. */
export type Snapshot = { db: Transaction; end(): void };

/** Opens a snapshot of an account. Undefined: the server has another version of it, is not what it should be, or is not migrated. */
export function openSnapshot(
  pool: Pool,
  account: AtVersion,
  server: 'replica' | 'primary',
): Promise<Snapshot | undefined> {
  return openIf(pool, (tx) => isAt(tx, account, server));
}

/** Opens a snapshot of the database as it is when its first statement begins. */
export const openCurrentSnapshot = async (pool: Pool): Promise<Snapshot> =>
  (await openIf(pool, async () => true)) as Snapshot;

/** Opens a snapshot. Undefined if `isRight`, its first statement, returns false. */
function openIf(pool: Pool, isRight: (tx: Transaction) => Promise<boolean>): Promise<Snapshot | undefined> {
  const opened = Promise.withResolvers<Snapshot | undefined>();
  const ended = Promise.withResolvers<void>();
  inTransaction(pool, async (tx) => {
    const begun = tx.unsafe('set transaction isolation level repeatable read, read only').execute();
    const [, found] = await Promise.all([begun, isRight(tx)]);
    if (!found) return opened.resolve(undefined);
    opened.resolve({ db: tx, end: ended.resolve });
    return ended.promise;
  }).catch(opened.reject); // Once it is open, its statements report a lost connection.
  return opened.promise;
}

/**
 * Returns whether a server has exactly this version of an account. A higher one would be no better: versions come from the clock, so that
 * two servers with the same version have the same data, even after one of them has taken over from the other.
 */
async function isAt(
  tx: Transaction,
  { accountId, version }: AtVersion,
  server: 'replica' | 'primary',
): Promise<boolean> {
  const [row] = await tx<{ isRight: boolean }[]>`
    select version = ${version}::bigint and pg_is_in_recovery() = ${server === 'replica'}
           and exists (select 1 from migrations where version = ${latestVersion()}) as "isRight"
    from   accounts where account_id = ${accountId}`;
  return row?.isRight === true;
}

/** What `inTime` returns when it is too late. */
export const late = Symbol('late');

/** Waits at most `ms` milliseconds. */
export async function inTime<T>(work: Promise<T>, ms: number): Promise<T | typeof late> {
  const end = new AbortController();
  const limit = sleep(ms, late, { signal: end.signal });
  limit.catch(() => {}); // ended
  try {
    return await Promise.race([work, limit]);
  } finally {
    end.abort();
    work.catch(() => {}); // it may fail when no one waits for it any more
  }
}
