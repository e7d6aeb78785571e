// SQL of passwords. Writers: signin.ts.
import type { AccountId, Transaction } from '../db/db.ts';

/** Setting a password again replaces it. */
export async function upsertPassword(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  hash: string,
): Promise<void> {
  await tx`
    insert into passwords (account_id, user_id, hash)
    values (${accountId}, ${userId}, ${hash})
    on conflict (account_id, user_id) do update set hash = excluded.hash, set_at = now()`;
}
