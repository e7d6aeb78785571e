// A transaction that is held open, to look at what others do meanwhile.
import type { Pool } from '../db/db.ts';

/** Does something in a transaction and leaves it open until it is released; then it is rolled back. */
export async function heldOpen(
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
