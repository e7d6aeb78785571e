// SQL for the accounts of sandboxes. Writers: sandbox-accounts.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** Creates the account of a sandbox with the settings of the template, without digests, and returns its id. */
export async function insertSandboxAccount(
  tx: Transaction,
  templateId: AccountId,
  name: string,
): Promise<AccountId> {
  const [row] = await tx<{ id: AccountId }[]>`
    insert into accounts (kind, name, timezone, language, threshold, library_languages, digest)
    select 'sandbox', ${name}, timezone, language, threshold, library_languages, false
    from   accounts
    where  account_id = ${templateId}
    returning account_id as id`;
  return row!.id;
}

/**
 * Ends sandbox accounts: their tokens and SFTP user names stop working, and they are deleted later. Companies and accounts that have already
 * ended stay as they are.
 */
export async function updateEnded(tx: Transaction, accountIds: AccountId[]): Promise<void> {
  const ended = await tx<{ id: AccountId }[]>`
    update accounts set ended_at = statement_timestamp()
    where  account_id = any(${accountIds}) and kind <> 'company' and ended_at is null
    returning account_id as id`;
  const ids = ended.map(({ id }) => id);
  await updateTokensRevoked(tx, ids);
  await tx`delete from sftp_usernames where account_id = any(${ids})`;
}

/** Revokes all tokens of sandbox accounts. */
export async function updateTokensRevoked(tx: Transaction, accountIds: AccountId[]): Promise<void> {
  await tx`delete from token_hashes where account_id = any(${accountIds})`;
  await tx`update tokens set revoked_at = now() where account_id = any(${accountIds}) and revoked_at is null`;
}

/** Returns the accounts that ended more than `seconds` ago, and locks them until the transaction ends. */
export async function lockEnded(tx: Transaction, seconds: number, limit: number): Promise<AccountId[]> {
  const rows = await tx<{ id: AccountId }[]>`
    select account_id as id from accounts
    where  kind <> 'company' and ended_at <= clock_timestamp() - make_interval(secs => ${seconds})
    order  by ended_at
    limit  ${limit}
    for    update`;
  return rows.map(({ id }) => id);
}

/** Returns the accounts of sandboxes that no one has, and of templates other than `templateId`, that have not ended. */
export async function selectOrphans(db: Db, templateId: AccountId | null): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select account_id as id from accounts a
    where  a.kind <> 'company' and a.ended_at is null and a.account_id is distinct from ${templateId}::integer
      and  not exists (select 1 from sandboxes s where s.sandbox_id = a.account_id)
    order  by account_id`;
  return rows.map(({ id }) => id);
}
