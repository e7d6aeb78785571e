// Facts about waiting work for operators, for all accounts together: files and invitations. jobs.sql.ts has those about jobs.
import type { Channels } from '../base/messages/channels.ts';
import type { Db, Pool } from '../db/db.ts';
import { countWaiting } from '../files/store.sql.ts';
import { selectDue } from '../rounds/messages/message-counts.sql.ts';
import { weeksToClose } from '../rounds/rounds.ts';

/** How many items are waiting, and how long the oldest has waited; both 0 if there are none. */
export type Waiting = { count: number; oldestSeconds: number };

/** Uploaded files, and invitations that are due by channel. */
export type WaitingWork = { files: Waiting; messages: Waiting; 'text messages': Waiting };

/** Returns what is waiting. `now`: ms since 1970. */
export async function waitingWork(db: Db, channels: Channels, now: number): Promise<WaitingWork> {
  const due = await selectDue(db, channels, now);
  return { files: await countWaiting(db), messages: due.mail, 'text messages': due.sms };
}

/** How late, in ms, a week may be closed before it counts as overdue. */
const maxWeekDelay = 60 * 60_000;

/** Returns how many weeks ended more than an hour before `now` and are not closed. */
export const overdueWeeks = async (pool: Pool, now: number): Promise<number> =>
  (await weeksToClose(pool, now - maxWeekDelay)).length;
