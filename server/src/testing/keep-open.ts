// A transaction that stays open, to test what others do in the meantime.
import type { Pool } from '../db/db.ts';
import { until } from './until.ts';

/** Runs statements in a transaction and keeps it open until it is released. Then it is rolled back. */
export async function keepOpen(
  pool: Pool,
  work: (tx: Pool) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const [ready, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = pool
    .begin(async (tx) => {
      await work(tx as unknown as Pool);
      ready.resolve();
      await end.promise;
      throw new Error('rolled back');
    })
    .catch((error: unknown) => ready.reject(error));
  await ready.promise;
  return async () => {
    end.resolve();
    await done;
  };
}

/** Returns the IDs of the backends of the database that wait for a lock. */
async function waitingIn(pool: Pool): Promise<number[]> {
  const rows = await pool<{ pid: number }[]>`
    select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return rows.map(({ pid }) => pid);
}

/** Waits until `count` backends of the database wait for a lock, and returns their IDs. */
export async function untilWaiting(pool: Pool, count = 1): Promise<number[]> {
  return until(async () => {
    const pids = await waitingIn(pool);
    return pids.length === count && pids;
  });
}

/** Waits until `work` has ended, whatever its outcome, or `count` backends of the database wait for a lock. */
async function untilEndedOrWaiting(work: Promise<unknown>, pool: Pool, count: number): Promise<void> {
  let isEnded = false;
  const end = () => (isEnded = true);
  work.then(end, end);
  await until(async () => isEnded || (await waitingIn(pool)).length === count);
}

/**
 * Begins `second` while `first` is in its middle: it waits for a row that `lock` has locked, which is released afterwards. Returns how both ended.
 */
export async function endsOfBoth(
  pool: Pool,
  lock: (tx: Pool) => Promise<unknown>,
  first: () => Promise<unknown>,
  second: () => Promise<unknown>,
): Promise<PromiseSettledResult<unknown>[]> {
  const release = await keepOpen(pool, lock);
  const begun = first();
  await untilWaiting(pool, 1);
  const met = second();
  await untilEndedOrWaiting(met, pool, 2);
  await release();
  return Promise.allSettled([begun, met]);
}
