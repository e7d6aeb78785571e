// SQL of weeks whose key is lost. Writers: lost-weeks.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';

/** Records that a week was closed without results. */
export async function updateLost(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`update weeks set is_lost = true where account_id = ${accountId} and week = ${week}`;
}
