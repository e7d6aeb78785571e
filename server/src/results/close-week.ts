// Closes weeks. Closing a week computes and publishes its figures once, and deletes its answers and who gave them, all in one
// transaction (rules.md P1).
import { addWeeks, dayIn, type Week, weekOf } from '@soundings/contract/weeks.ts';
import { accountById } from '../accounts/accounts.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { recordEvent } from '../events/events.ts';
import { runForAccounts } from '../jobs/accounts-in-turn.ts';
import { lockSurvey, tryLockSurvey } from '../rounds/rounds.sql.ts';
import { weekNotFound, weeksToClose } from '../rounds/rounds.ts';
import type { AnswerKeys } from '../sealing/answer-keys.ts';
import type { WeekKey } from '../sealing/week-key.ts';
import {
  deleteLeftLinks,
  endWeek,
  insertDigestWeek,
  selectLargeClosing,
  vacuumAgain,
  vacuumDeleted,
} from './close-week.sql.ts';
import { deleteLeftStatistics } from './left-statistics.sql.ts';
import { computeFigures, openWeekKey, writeFigures } from './published-figures.ts';
import { selectWeek } from './published-figures.sql.ts';

type WeekOfAccount = { accountId: AccountId; week: Week };

/**
 * Publishes a week's figures and closes it. Returns how many question figures were published; undefined if the week was already
 * closed, possibly by another process just now. Throws a Fault if nothing was asked in that week or this server lacks its key.
 * `key`: the key of the week, if the caller knows it. If that key is stored, the caller must forget it later in the transaction. The caller must
 * call `deleteClosedData` after the transaction has committed.
 */
export async function closeWeek(
  tx: Transaction,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week,
  key?: WeekKey,
): Promise<number | undefined> {
  await lockSurvey(tx, accountId);
  return closeLocked(tx, keys, { accountId, week }, key);
}

/** The same for a caller who has locked the survey of the account. */
async function closeLocked(
  tx: Transaction,
  keys: AnswerKeys,
  { accountId, week }: WeekOfAccount,
  known?: WeekKey,
): Promise<number | undefined> {
  const state = await selectWeek(tx, accountId, week, true);
  if (!state) {
    throw weekNotFound(week);
  }
  if (state.isClosed) return undefined;
  const key = known ?? (await openWeekKey(tx, keys, accountId, week));
  const open = { week, state, key };
  const computed = await computeFigures(tx, keys, accountId, open, { isLast: true });
  const published = await writeFigures(tx, accountId, open, computed);
  await endWeek(tx, accountId, week);
  if (!known) await keys.forget(tx, accountId, week);
  return published;
}

/**
 * Destroys the keys of closed weeks by ending their epoch, so that remaining copies of their data can't be decrypted, vacuums
 * the tables, and deletes what PostgreSQL knows about their former rows. Call it after weeks have closed. If it is interrupted, the next call
 * finishes it, or the service does so within a minute (EpochChain.advance).
 */
export async function deleteClosedData(pool: Pool, keys: AnswerKeys): Promise<void> {
  await keys.chain.advance();
  await deleteLeftLinks(pool);
  await vacuumDeleted(pool);
  await deleteLeftStatistics(pool);
}

/** Deletes what other transactions made PostgreSQL keep of weeks that closed within a day. Runs every hour. */
export async function deleteLeftData(pool: Pool): Promise<void> {
  try {
    await vacuumAgain(pool);
  } finally {
    await deleteLeftStatistics(pool);
  }
}

/**
 * Closes a week of an account, by default the last one that has ended. Returns the week and how many figures were published: 0 if
 * it was already closed.
 */
export async function closeWeekNow(
  pool: Pool,
  keys: AnswerKeys,
  accountId: AccountId,
  week: Week | undefined,
  now: number,
): Promise<{ week: Week; published: number }> {
  const { timezone } = await accountById(pool, accountId);
  const wanted = week ?? addWeeks(weekOf(dayIn(timezone, now)), -1);
  const published = await inTransaction(pool, async (tx) => {
    await lockSurvey(tx, accountId);
    return closeWithDigest(tx, keys, { accountId, week: wanted }, now);
  });
  if (published !== undefined) await deleteClosedData(pool, keys);
  return { week: wanted, published: published ?? 0 };
}

/**
 * Closes a week, and in the same transaction queues its digests, so that none is lost (digests/digests.ts), and records its events. Imported
 * weeks have neither. The events are the same no matter who has answered. The caller has locked the survey of the account.
 */
async function closeWithDigest(
  tx: Transaction,
  keys: AnswerKeys,
  { accountId, week }: WeekOfAccount,
  now: number,
): Promise<number | undefined> {
  const published = await closeLocked(tx, keys, { accountId, week });
  if (published === undefined) return undefined;
  // Sent together. PostgreSQL runs them one after another, in this order.
  await Promise.all([
    insertDigestWeek(tx, accountId, week, now),
    recordEvent(tx, accountId, 'week.closed', week, { week }),
    recordEvent(tx, accountId, 'week.published', week, { week }),
  ]);
  return published;
}

/** Returns whether any week has ended at `now` (ms since 1970) and is still to be closed. */
export async function hasEndedWeeks(pool: Pool, now: number): Promise<boolean> {
  return (await weeksToClose(pool, now)).length > 0;
}

/**
 * Closes every week that has ended, including those that ended while the service was stopped: the weeks of an account one after another, and
 * two accounts at a time unless they are large. If a week can't be closed, the others still are, and the first error is thrown at the end.
 */
export async function closeEndedWeeks(pool: Pool, keys: AnswerKeys, now: number): Promise<void> {
  const ended = await weeksToClose(pool, now);
  if (ended.length === 0) return;
  try {
    await runForAccounts(
      pool,
      ended,
      (_, people) => selectLargeClosing(pool, ended, people),
      async (tx, one) => {
        // Don't wait for an import into the account, or for a large push, which can take minutes: the next call comes sooner.
        if (await tryLockSurvey(tx, one.accountId)) await closeWithDigest(tx, keys, one, now);
      },
    );
  } finally {
    await deleteClosedData(pool, keys);
  }
}
