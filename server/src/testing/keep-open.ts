// A transaction that stays open, to test what others do in the meantime.
import type { Pool } from '../db/db.ts';

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
