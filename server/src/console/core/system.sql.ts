// SQL of warnings and facts about the installation: reading only.
import type { AccountId, Db } from '../../db/db.ts';

/**
 * Returns when the account's longest-waiting file arrived, and when its first waiting invitation was due. Reminders are left out,
 * because a waiting reminder would reveal that someone has not answered.
 */
export async function selectOldestWaiting(
  db: Db,
  accountId: AccountId,
): Promise<{ file: Date | null; message: Date | null }> {
  const [row] = await db<{ file: Date | null; message: Date | null }[]>`
    select (select min(arrived_at) from files
            where  account_id = ${accountId} and arrival is not null and processed_at is null)     as "file",
           (select min(coalesce(late_since, due_at)) from messages
            where  account_id = ${accountId} and state = 'waiting' and kind = 'invitation')        as "message"`;
  return row!;
}

/** Returns whether the installation has exactly one account, apart from sandboxes. */
export async function hasSingleAccount(db: Db): Promise<boolean> {
  const accounts = await db`select account_id from accounts where kind = 'company' limit 2`;
  return accounts.length === 1;
}
