// Checks whether the database has disk space. On a full disk, writes fail but reads still work, so reading a table doesn't reveal
// that the disk is full.
import type { Log } from '../base/log.ts';
import { inTransaction, type Pool } from './db.ts';

/** How long a result is cached, in milliseconds: if there is disk space, and if there is none. */
const [cachedWithSpace, cachedWithout] = [5_000, 1_000];

/**
 * Returns a function that returns whether there is disk space, as of at most five seconds ago, and logs changes. It makes
 * PostgreSQL write 4 MB to a temporary file on the same disk as the tables, which is removed immediately.
 */
export function watchSpace(pool: Promise<Pool>, log: Log): () => Promise<boolean> {
  let found = { until: 0, hasSpace: Promise.resolve(true) };
  let hadSpace = true;

  async function check(): Promise<boolean> {
    const cause = await spaceFault(await pool);
    const hasSpace = cause === undefined;
    if (!hasSpace && hadSpace) {
      log.error(
        { cause },
        'The database is out of disk space. Writes fail and the service is not ready. Free up space on the database disk',
      );
    }
    if (hasSpace && !hadSpace) log.info('The database has disk space again');
    hadSpace = hasSpace;
    found.until = performance.now() + (hasSpace ? cachedWithSpace : cachedWithout);
    return hasSpace;
  }

  return async () => {
    if (performance.now() >= found.until) {
      found = { until: Infinity, hasSpace: check() };
      found.hasSpace.catch(() => (found.until = 0)); // the database could not be reached
    }
    return found.hasSpace;
  };
}

/** Returns the error if writing fails because the disk is full, otherwise undefined. */
export async function spaceFault(pool: Pool): Promise<unknown> {
  try {
    await inTransaction(pool, async (tx) => {
      await tx`select set_config('work_mem', '64kB', true)`;
      await tx`select count(*) from generate_series(1, 200000)`;
    });
    return undefined;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    if (cause?.code === '53100') return cause;
    throw error;
  }
}
