// SQL for API tokens. Writers: tokens.ts, callers.ts (the time of last use), sandbox-accounts.ts.
import type { Numbers, Scope } from '@soundings/contract/operation.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { findUsable, isInUse } from './sandboxes/sandbox-use.sql.ts';

export type TokenRow = {
  id: number;
  name: string;
  scopes: Scope[];
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  lastUsedFrom: string | null;
  createdBy: number | null;
  numbers: Numbers;
};

export async function insertToken(
  tx: Transaction,
  accountId: AccountId,
  token: {
    name: string;
    scopes: Scope[];
    expiresAt: Date | null;
    numbers: Numbers;
    createdBy: number | null;
    hash: Buffer;
  },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into tokens (account_id, name, scopes, expires_at, numbers, created_by)
    values (${accountId}, ${token.name}, ${token.scopes}, ${token.expiresAt}, ${token.numbers}, ${token.createdBy})
    returning token_id as id`;
  await tx`
    insert into token_hashes (hash, account_id, token_id) values (${token.hash}, ${accountId}, ${row!.id})`;
  return row!.id;
}

export async function selectTokens(db: Db, accountId: AccountId): Promise<TokenRow[]> {
  return db<TokenRow[]>`
    select token_id     as "id",
           name         as "name",
           scopes       as "scopes",
           created_at   as "createdAt",
           expires_at   as "expiresAt",
           revoked_at   as "revokedAt",
           last_used_at as "lastUsedAt",
           last_used_from as "lastUsedFrom",
           created_by   as "createdBy",
           numbers      as "numbers"
    from   tokens
    where  account_id = ${accountId}
    order  by token_id`;
}

/**
 * Revokes a token. Returns false if it was already revoked (the time of the first revocation is kept), and undefined if it doesn't
 * exist.
 */
export async function updateTokenRevoked(
  db: Db,
  accountId: AccountId,
  tokenId: number,
): Promise<boolean | undefined> {
  const revoked = await db`
    update tokens set revoked_at = now()
    where  account_id = ${accountId} and token_id = ${tokenId} and revoked_at is null
    returning 1`;
  if (revoked.length > 0) return true;
  const found = await db`select 1 from tokens where account_id = ${accountId} and token_id = ${tokenId}`;
  return found.length > 0 ? false : undefined;
}

export type TokenInUse = {
  accountId: AccountId;
  tokenId: number;
  scopes: Scope[];
  stale: boolean;
  numbers: Numbers;
  timezone: string;
  version: string;
  allow: string[];
  /** Whether the token is that of a sandbox that is too large. */
  isFull: boolean;
};

/** Returns the valid token with this hash, and its account. `stale`: its time of last use is more than a minute old. */
export async function selectValidToken(db: Db, hash: Buffer): Promise<TokenInUse | undefined> {
  return findUsable(db, async () => {
    const [row] = await db<(Omit<TokenInUse, 'isFull'> & { isSandbox: boolean })[]>`
      select t.account_id as "accountId",
             t.token_id   as "tokenId",
             t.scopes     as "scopes",
             t.numbers    as "numbers",
             coalesce(t.last_used_at < now() - interval '1 minute', true) as "stale",
             a.timezone   as "timezone",
             a.version    as "version",
             a.allowed_addresses as "allow",
             a.kind <> 'company' as "isSandbox"
      from   token_hashes h
      join   tokens t on t.account_id = h.account_id and t.token_id = h.token_id
      join   accounts a on a.account_id = h.account_id
      where  h.hash = ${hash}
        and  ${isInUse(db)}
        and  t.revoked_at is null
        and  (t.expires_at is null or t.expires_at > now())`;
    return row;
  });
}

export async function updateTokenUsed(
  db: Db,
  accountId: AccountId,
  tokenId: number,
  address: string | null,
): Promise<void> {
  await db`
    update tokens
    set    last_used_at = now(), last_used_from = ${address}
    where  account_id = ${accountId} and token_id = ${tokenId}
      and  (last_used_at is null or last_used_at < now() - interval '1 minute')`;
}
