// SQL of what people change of themselves. Writers: profile.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Null: the account's. */
export type Own = { language: string | null; timezone: string | null };

export async function selectOwn(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<(Own & { managed: boolean }) | undefined> {
  const [row] = await db<(Own & { managed: boolean })[]>`
    select language as "language", timezone as "timezone", managed as "managed"
    from   users
    where  account_id = ${accountId} and user_id = ${userId}`;
  return row;
}

/** What was last sent is forgotten: the next push compares the person anew, as one may force the language. */
export async function updateOwn(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  { language, timezone }: Own,
): Promise<void> {
  await tx`
    update users
    set    language = ${language}, timezone = ${timezone}, fingerprint = null
    where  account_id = ${accountId} and user_id = ${userId}`;
}
