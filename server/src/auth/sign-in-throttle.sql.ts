// SQL for failed sign-ins. Writer: sign-in-throttle.ts. Failures belong to addresses and networks, not to accounts (account_id).
import type { Attempts, Backoff } from '../base/throttle.ts';
import type { Db } from '../db/db.ts';

/** A limit that upsertFailure can apply: it computes the wait in SQL, as base/throttle.ts does. */
export type SignInLimit = Backoff & { growth: 'doubles' };

export type Failures = Attempts & { kind: string };

/** Returns the failures of the given keys, of any account (account_id). */
export async function selectFailures(db: Db, keys: [kind: string, key: Buffer][]): Promise<Failures[]> {
  const rows = await db<{ kind: string; count: number; lastAt: Date }[]>`
    select f.kind as "kind", f.count as "count", f.last_at as "lastAt"
    from   unnest(${keys.map(([kind]) => kind)}::text[], ${keys.map(([, key]) => key.toString('hex'))}::text[])
             as wanted (kind, key)
    join   sign_in_failures f on f.kind = wanted.kind and f.key = decode(wanted.key, 'hex')`;
  return rows.map(({ kind, count, lastAt }) => ({ kind, count, at: lastAt.getTime() }));
}

/**
 * Counts a failure, of any account (account_id). If it is too early for an attempt, counts nothing and returns false. It is one
 * statement, so that parallel attempts can't get around the limit.
 */
export async function upsertFailure(
  db: Db,
  kind: string,
  key: Buffer,
  { free, firstWaitMs, longestMs, memoryMs }: SignInLimit,
  at: Date,
): Promise<boolean> {
  const rows = await db`
    insert into sign_in_failures as f (kind, key, count, last_at)
    values (${kind}, ${key}, 1, ${at})
    on conflict (kind, key) do update
    set    count = case when f.last_at < ${at}::timestamptz - ${memoryMs} * interval '1 ms' then 1 else f.count + 1 end,
           last_at = ${at}
    where  f.last_at < ${at}::timestamptz - ${memoryMs} * interval '1 ms'
       or  f.count < ${free}
       or  least(f.last_at, ${at}::timestamptz)
             + least(${longestMs}, ${firstWaitMs} * power(2, least(f.count - ${free}, 30))) * interval '1 ms' <= ${at}
    returning 1`;
  return rows.length > 0;
}

/** Undoes one counted failure, of any account (account_id). */
export async function takeBackFailure(db: Db, kind: string, key: Buffer): Promise<void> {
  await db`update sign_in_failures set count = greatest(0, count - 1) where kind = ${kind} and key = ${key}`;
}

/** Deletes the failures of a key, of any account (account_id). */
export async function deleteFailures(db: Db, kind: string, key: Buffer): Promise<void> {
  await db`delete from sign_in_failures where kind = ${kind} and key = ${key}`;
}

/** Deletes the failures that no longer count, of all accounts (account_id). */
export async function deleteOldFailures(db: Db, knownBefore: Date, otherBefore: Date): Promise<void> {
  await db`
    delete from sign_in_failures
    where  last_at < case kind when 'known' then ${knownBefore}::timestamptz else ${otherBefore}::timestamptz end`;
}
