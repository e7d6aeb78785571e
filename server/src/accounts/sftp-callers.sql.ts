// SQL for SFTP authentication. Writers: none.
import type { AccountId, Db } from '../db/db.ts';
import { findUsable, isInUse, selectSandboxUse } from './sandboxes/sandbox-use.sql.ts';

export type SftpCallerRow = { accountId: AccountId; tokenId: number; allow: string[]; stale: boolean };

/** Returns the valid token with this hash and the files scope, if it belongs to the account with this user name. */
export async function selectSftpCaller(
  db: Db,
  username: string,
  hash: Buffer,
): Promise<SftpCallerRow | undefined> {
  const token = await findUsable(db, async () => {
    const [row] = await db<(SftpCallerRow & { isSandbox: boolean })[]>`
      select t.account_id as "accountId",
             t.token_id   as "tokenId",
             a.allowed_addresses as "allow",
             coalesce(t.last_used_at < now() - interval '1 minute', true) as "stale",
             a.kind <> 'company' as "isSandbox"
      from   token_hashes h
      join   sftp_usernames s on s.account_id = h.account_id
      join   tokens t on t.account_id = h.account_id and t.token_id = h.token_id
      join   accounts a on a.account_id = h.account_id
      where  h.hash = ${hash}
        and  ${isInUse(db)}
        and  s.username = ${username}
        and  t.revoked_at is null
        and  (t.expires_at is null or t.expires_at > now())
        and  'files' = any (t.scopes)`;
    return row;
  });
  return token?.isFull ? undefined : token;
}

export type OpenToken = { accountId: AccountId; tokenId: number; allow: string[] };

/** Returns the given tokens, of any account, that are still valid and have the files scope. */
export async function selectOpenTokens(
  db: Db,
  tokens: { accountId: AccountId; tokenId: number }[],
): Promise<OpenToken[]> {
  const accountIds = tokens.map(({ accountId }) => accountId);
  const tokenIds = tokens.map(({ tokenId }) => tokenId);
  const rows = await db<(OpenToken & { isSandbox: boolean })[]>`
    select t.account_id as "accountId", t.token_id as "tokenId", a.allowed_addresses as "allow",
           a.kind <> 'company' as "isSandbox"
    from   unnest(${accountIds}::integer[], ${tokenIds}::integer[]) as open (account_id, token_id)
    join   tokens t using (account_id, token_id)
    join   accounts a using (account_id)
    where  t.revoked_at is null
      and  ${isInUse(db)}
      and  (t.expires_at is null or t.expires_at > now())
      and  'files' = any (t.scopes)`;
  const ids = rows.filter(({ isSandbox }) => isSandbox).map(({ accountId }) => accountId);
  const uses = ids.length > 0 ? await selectSandboxUse(db, ids) : undefined;
  return rows.filter(({ accountId, isSandbox }) => !isSandbox || uses?.get(accountId)?.isFull === false);
}
