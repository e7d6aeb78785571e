// The thread of weeks: opens the rounds of schedules that are due, closes weeks that have ended, or shows the open ones of
// accounts whose publication is live.
import { workerData } from 'node:worker_threads';
import { openPool, surviveLostConnections } from './db/db.ts';
import { closeEndedWeeks, showLiveWeeks } from './results/publish.ts';
import { openDueRounds } from './rounds/opening.ts';

/** `now`: the time, in ms, by which schedules are due and weeks have ended. */
export type WeeksWork = { databaseUrl: string; work: 'open' | 'close' | 'show'; now: number };

const { databaseUrl, work, now } = workerData as WeeksWork;
surviveLostConnections(() => {});
const pool = openPool(databaseUrl, 1);
try {
  if (work === 'open') await openDueRounds(pool, now);
  else await (work === 'close' ? closeEndedWeeks(pool, now) : showLiveWeeks(pool));
} finally {
  await pool.end({ timeout: 5 });
}
