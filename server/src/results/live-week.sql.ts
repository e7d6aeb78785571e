// SQL of updating live weeks. Writers: live-week.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Records that figures of an open week are shown. */
export async function updateShown(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`
    update weeks set shown_at = now(), statistics_at = null where account_id = ${accountId} and week = ${week}`;
}

/** Returns the open live weeks of all accounts. */
export async function selectLiveWeeks(db: Db): Promise<{ accountId: AccountId; week: Week }[]> {
  return db<{ accountId: AccountId; week: Week }[]>`
    select account_id as "accountId", week as "week"
    from   weeks
    where  closed_at is null and is_live
    order  by week, account_id`;
}

export type SealedRow = { respondent: string; importBatch: number; sealed: Buffer };

/** Returns the sealed answers of these respondents in a week. */
export async function selectSealedOf(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  respondents: string[],
): Promise<SealedRow[]> {
  return tx<SealedRow[]>`
    select respondent as "respondent", import_batch as "importBatch", sealed as "sealed"
    from   answers
    where  account_id = ${accountId} and week = ${week} and respondent = any(${respondents}::uuid[])`;
}

/** Replaces sealed answers. */
export async function updateSealed(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  rows: SealedRow[],
): Promise<void> {
  const texts = rows.map((row) => ({ ...row, sealed: row.sealed.toString('hex') }));
  await tx`
    update answers a
    set    sealed = decode(n.sealed, 'hex')
    from   jsonb_to_recordset(${tx.json(texts)}) as n(respondent uuid, "importBatch" integer, sealed text)
    where  a.account_id = ${accountId} and a.week = ${week} and a.respondent = n.respondent
      and  a.import_batch = n."importBatch"`;
}
