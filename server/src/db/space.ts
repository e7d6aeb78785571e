// Whether the database has room to write. A full disk refuses what is to be kept and still answers what is asked, so a look into a
// table does not show it.
import type { Log } from '../base/log.ts';
import { inTransaction, type Pool } from './db.ts';

/** How long a finding is good for, in ms: that there is room, and that there is none. */
const [goodFor, badFor] = [5_000, 1_000];

/**
 * Returns a function that says whether there is room, as of at most five seconds ago, and logs when that changes. It writes 4 MB
 * into a file of PostgreSQL's own for large results, which is in the same place as the tables, and is gone at once.
 */
export function watchSpace(pool: Promise<Pool>, log: Log): () => Promise<boolean> {
  let found = { until: 0, hasSpace: Promise.resolve(true) };
  let hadSpace = true;

  async function look(): Promise<boolean> {
    const cause = await spaceFault(await pool);
    const hasSpace = cause === undefined;
    if (!hasSpace && hadSpace) {
      log.error(
        { cause },
        'The database is out of disk space: what is to be kept is refused, and the service is not ready',
      );
    }
    if (hasSpace && !hadSpace) log.info('The database has disk space again');
    hadSpace = hasSpace;
    found.until = performance.now() + (hasSpace ? goodFor : badFor);
    return hasSpace;
  }

  return async () => {
    if (performance.now() >= found.until) {
      found = { until: Infinity, hasSpace: look() };
      found.hasSpace.catch(() => (found.until = 0)); // it could not be asked
    }
    return found.hasSpace;
  };
}

/** Why nothing can be written, or undefined. */
async function spaceFault(pool: Pool): Promise<unknown> {
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
