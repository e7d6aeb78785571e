// SQL of closing a week. Writers: close-week.ts, lost-weeks.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';
import { deleteLinkNotices } from '../jobs/jobs.sql.ts';
import { deleteWeeksOfRemoved } from '../rounds/schedules.sql.ts';

/**
 * Closes a week and deletes who was asked and what was answered (P1, P9). AnswerKeys.forget deletes the week's key. The links are deleted
 * once more at the end: those that were being created meanwhile have locked their participants (insertLinks), so they are there then.
 */
export async function endWeek(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  const deleteLinks = () => tx`delete from links where account_id = ${accountId} and week = ${week}`;
  // Sent together. PostgreSQL runs them one after another, in this order.
  await Promise.all([
    tx`delete from answers where account_id = ${accountId} and week = ${week}`,
    tx`delete from assignments where account_id = ${accountId} and week = ${week}`,
    deleteLinks(),
    tx`delete from messages where account_id = ${accountId} and week = ${week}`,
    tx`delete from participants where account_id = ${accountId} and week = ${week}`,
    deleteLinks(),
    deleteLinkNotices(tx, accountId, { week }),
    tx`
      update weeks set closed_at = now(), shown_at = null, statistics_at = null, kpi_weeks = null
      where  account_id = ${accountId} and week = ${week}`,
    deleteWeeksOfRemoved(tx, accountId),
  ]);
}

/**
 * Returns which of these accounts have more than `people` assignments in these weeks, all together: a person who is asked in two rounds counts
 * twice.
 */
export async function selectLargeClosing(
  db: Db,
  weeks: readonly { accountId: AccountId; week: Week }[],
  people: number,
): Promise<Set<AccountId>> {
  const rows = await db<{ accountId: AccountId }[]>`
    select account_id as "accountId"
    from   assignments
    where  account_id = any(${[...new Set(weeks.map(({ accountId }) => accountId))]})
      and  week = any(${[...new Set(weeks.map(({ week }) => week))]}::date[])
    group  by account_id
    having count(*) > ${people}`;
  return new Set(rows.map(({ accountId }) => accountId));
}

/** Deletes links of closed weeks: one that was being made while an older version of the program, or Citus, closed the week is left. */
export async function deleteLeftLinks(db: Db): Promise<void> {
  await db`
    delete from links l
    using  weeks w
    where  w.account_id = l.account_id and w.week = l.week and w.closed_at > now() - interval '1 day'`;
}

/** Records that the digests of a closed week are to be queued. `now`: when it closed, in ms since 1970. */
export async function insertDigestWeek(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  now: number,
): Promise<void> {
  await tx`
    insert into digest_weeks (account_id, week, closed_at)
    values (${accountId}, ${week}, to_timestamp(${now / 1000}::double precision))
    on conflict do nothing`;
}

/**
 * Vacuums the tables of closed weeks, for all accounts. Otherwise deleted rows would stay in the database files until the next
 * vacuum, which might never come. Those that name people are analyzed as well (left-statistics.sql.ts). A vacuum leaves rows that another
 * transaction may still read, and pages that PostgreSQL is just writing to disk (vacuumAgain).
 */
export async function vacuumDeleted(pool: Pool): Promise<void> {
  await pool`vacuum answers, assignments, week_keys, weeks`;
  await pool`vacuum (analyze) links, messages, participants`;
}

/** Vacuums these tables once more if a week has closed within a day, because the vacuum after closing may have left rows or been interrupted. */
export async function vacuumAgain(pool: Pool): Promise<void> {
  const [row] = await pool<{ hasClosed: boolean }[]>`
    select exists (select account_id from weeks where closed_at > now() - interval '1 day') as "hasClosed"`;
  if (row?.hasClosed) await vacuumDeleted(pool);
}
