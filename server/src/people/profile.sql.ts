// SQL for the settings that people change for themselves. Writers: profile.ts.
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** A person's own settings. Null means the account's setting. */
export type OwnProfile = { language: string | null; timezone: string | null };

export async function selectOwnProfile(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<(OwnProfile & { managed: boolean }) | undefined> {
  const [row] = await db<(OwnProfile & { managed: boolean })[]>`
    select language as "language", timezone as "timezone", managed as "managed"
    from   users
    where  account_id = ${accountId} and user_id = ${userId}`;
  return row;
}

/** Clears the fingerprint, so that the next push compares the person again: it may force the language. */
export async function updateOwnProfile(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  { language, timezone }: OwnProfile,
): Promise<void> {
  await tx`
    update users
    set    language = ${language}, timezone = ${timezone}, fingerprint = null
    where  account_id = ${accountId} and user_id = ${userId}`;
}
