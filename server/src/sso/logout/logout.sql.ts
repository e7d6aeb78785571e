// SQL for signing out at a provider. Writers: logout.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** Notes that a logout token was used. Returns false if it was used before. */
export async function insertLogoutToken(
  tx: Transaction,
  accountId: AccountId,
  { providerId, jtiHash, expiresAt }: { providerId: number; jtiHash: Buffer; expiresAt: Date },
): Promise<boolean> {
  const rows = await tx`
    insert into logout_tokens (account_id, provider_id, jti_hash, expires_at)
    values (${accountId}, ${providerId}, ${jtiHash}, ${expiresAt})
    on conflict do nothing
    returning account_id`;
  return rows.length > 0;
}

/** Deletes the expired logout tokens of all accounts (account_id). */
export async function deleteExpiredLogoutTokens(db: Db, now: Date): Promise<void> {
  await db`delete from logout_tokens where expires_at <= ${now} -- account_id: of all accounts`;
}

export type ProviderSession = { providerId: number; subject: string | null; idToken: Buffer | null };

/** Returns how a session began, if it began with a provider. */
export async function selectProviderSession(
  db: Db,
  accountId: AccountId,
  sessionId: number,
): Promise<ProviderSession | undefined> {
  const [row] = await db<ProviderSession[]>`
    select provider_id as "providerId", subject as "subject", id_token as "idToken"
    from   sessions
    where  account_id = ${accountId} and session_id = ${sessionId} and provider_id is not null`;
  return row;
}
