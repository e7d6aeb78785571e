// Whether the clock of this machine can be trusted with what can't be undone: it is compared with the database's.
import type { Log } from '../base/log.ts';
import type { Pool } from './db.ts';

/** As much may they differ, in ms. */
const tolerance = 5 * 60_000;

/** The database's clock, in ms. */
export async function databaseTime(pool: Pool): Promise<number> {
  const [row] = await pool<{ ms: number }[]>`
    select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"`;
  return row!.ms;
}

/**
 * Returns a function that says whether this machine's clock (`now`) and the database's (`then`) agree, and warns if not: one of the
 * two is wrong. Where both are on one machine they are one clock, and always do.
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
      'Weeks are neither opened nor closed: the clock of this machine and that of the database differ by more than 5 minutes. Correct the clock that is wrong (NTP).',
    );
    return false;
  };
}
