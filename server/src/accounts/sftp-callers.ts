// SFTP authentication: by user name and API token (§5.3) from an allowed address (§5.4), and how long a session stays valid.
import { tokenHash } from '../base/crypto/secrets.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { isAllowed } from './allowlist.ts';
import { selectOpenTokens, selectSftpCaller } from './sftp-callers.sql.ts';
import { updateTokenUsed } from './tokens.sql.ts';

/** The account and token of an SFTP session, and the addresses from which the account accepts files. */
export type SftpCaller = { accountId: AccountId; tokenId: number; allow: string[] };

/**
 * Returns the account of a user name and a token with the files scope, otherwise undefined. Every failure looks the same and
 * takes the same single statement, so that neither the result nor the time reveals whether the user name exists. Only a valid token of a
 * sandbox takes another one.
 */
export async function callerBySftp(
  pool: Pool,
  username: string,
  token: string,
  address: string | null = null,
): Promise<SftpCaller | undefined> {
  // PostgreSQL texts can't contain U+0000. No user name contains it either.
  const found = await selectSftpCaller(pool, username.replaceAll('\0', '\uFFFD'), tokenHash(token.trim()));
  if (!found) return undefined;
  const { accountId, tokenId, allow, stale } = found;
  if (stale) await updateTokenUsed(pool, accountId, tokenId, address).catch(() => {});
  return { accountId, tokenId, allow };
}

/**
 * Returns for each open session, in order, why it must end: its token was revoked, has expired or lacks the scope (`token`), or its
 * address is no longer allowed (`address`). Undefined: the session can continue. Uses one statement for all sessions, and another if any are of sandboxes.
 */
export async function stillValid(
  pool: Pool,
  sessions: { accountId: AccountId; tokenId: number; address: string }[],
): Promise<('token' | 'address' | undefined)[]> {
  const keyOf = (one: { accountId: AccountId; tokenId: number }) => `${one.accountId}/${one.tokenId}`;
  const distinct = new Map(sessions.map((session) => [keyOf(session), session]));
  const open = await selectOpenTokens(pool, [...distinct.values()]);
  const allowed = new Map(open.map((token) => [keyOf(token), token.allow]));
  return sessions.map((session) => {
    const allow = allowed.get(keyOf(session));
    if (!allow) return 'token';
    return isAllowed(allow, session.address) ? undefined : 'address';
  });
}
