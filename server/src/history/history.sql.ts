// SQL that only the import of past surveys needs. Writers: none.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';

/**
 * Returns the groups of the account. Turns off sequential scans for the rest of the transaction: the import itself writes
 * millions of rows that the planner has no statistics for.
 */
export async function selectImportGroups(
  tx: Transaction,
  accountId: AccountId,
): Promise<{ id: number; externalId: string | null; parentId: number | null }[]> {
  await tx`set local enable_seqscan = off`;
  return tx<{ id: number; externalId: string | null; parentId: number | null }[]>`
    select group_id as "id", external_id as "externalId", parent_id as "parentId"
    from   groups
    where  account_id = ${accountId}
    order  by group_id`;
}

/** Returns the users of the account by externalId. */
export async function selectUserIds(tx: Transaction, accountId: AccountId): Promise<Map<string, number>> {
  const rows = await tx<{ userId: number; externalId: string }[]>`
    select user_id as "userId", external_id as "externalId"
    from   users
    where  account_id = ${accountId} and external_id is not null`;
  return new Map(rows.map(({ userId, externalId }) => [externalId, userId]));
}

/** Returns the open weeks that have rounds of a schedule. */
export async function selectScheduledWeeks(tx: Transaction, accountId: AccountId): Promise<Set<Week>> {
  const rows = await tx<{ week: Week }[]>`
    select distinct r.week as "week"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week
    where  r.account_id = ${accountId} and r.schedule_id is not null and w.closed_at is null`;
  return new Set(rows.map(({ week }) => week));
}
