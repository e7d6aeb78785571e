// The thread of weeks: closes those that have ended, or shows the open ones of accounts whose publication is live.
import { workerData } from 'node:worker_threads';
import { openPool, surviveLostConnections } from './db/db.ts';
import { closeEndedWeeks, showLiveWeeks } from './results/publish.ts';

/** `now`: the time, in ms, by which weeks have ended. */
export type WeeksWork = { databaseUrl: string; work: 'close' | 'show'; now: number };

const { databaseUrl, work, now } = workerData as WeeksWork;
surviveLostConnections(() => {});
const pool = openPool(databaseUrl, 1);
try {
  await (work === 'close' ? closeEndedWeeks(pool, now) : showLiveWeeks(pool));
} finally {
  await pool.end({ timeout: 5 });
}
