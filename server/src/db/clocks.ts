// Compares the clock of this machine with that of the database, before actions that can't be undone rely on it.
import type { Log } from '../base/log.ts';
import type { Pool } from './db.ts';

/** The maximum difference, in milliseconds. */
const tolerance = 5 * 60_000;

/** Returns the time of the database's clock, in milliseconds. */
export async function databaseTime(pool: Pool): Promise<number> {
  const [row] = await pool<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"`;
  return row!.ms;
}

/**
 * Returns a function that checks whether this machine's clock (`now`) and the database's (`then`) agree, and logs a warning if they
 * don't, because one of the two is wrong.
 */
export function compareClocks(
  now: () => number,
  then: () => Promise<number>,
  log: Log,
): () => Promise<boolean> {
  return async () => {
    const ahead = now() - (await then());
    if (Math.abs(ahead) <= tolerance) return true;
    log.warn(
      { secondsAhead: Math.round(ahead / 1000) },
      'Weeks are not opened or closed, because the clocks of this machine and of the database differ by more than 5 minutes. Correct the wrong clock (for example, with NTP).',
    );
    return false;
  };
}
