// SQL that an import needs besides that of the parts that it goes through.
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
