// SQL that an import needs besides that of the parts that it goes through.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';

/**
 * The groups of the account. For the rest of the transaction nothing is read by whole tables: what the import itself has
 * written is millions of rows that the planner knows nothing of.
 */
export async function selectGroupNames(
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

/** The users of the account by externalId. */
export async function selectUserIds(tx: Transaction, accountId: AccountId): Promise<Map<string, number>> {
  const rows = await tx<{ userId: number; externalId: string }[]>`
    select user_id as "userId", external_id as "externalId"
    from   users
    where  account_id = ${accountId} and external_id is not null`;
  return new Map(rows.map(({ userId, externalId }) => [externalId, userId]));
}

/** The open weeks in which a schedule asks. */
export async function selectScheduledWeeks(tx: Transaction, accountId: AccountId): Promise<Set<Week>> {
  const rows = await tx<{ week: Week }[]>`
    select distinct r.week as "week"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week
    where  r.account_id = ${accountId} and r.schedule_id is not null and w.closed_at is null`;
  return new Set(rows.map(({ week }) => week));
}
