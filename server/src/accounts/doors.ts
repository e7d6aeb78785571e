// Who may come in by SFTP: a user name and a token (§5.3), an allowed address (§5.4), and for how long.
import { tokenHash } from '../base/secrets.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { isAllowed } from './allowlist.ts';
import { selectOpenTokens, selectSftpCaller } from './doors.sql.ts';
import { updateTokenUsed } from './tokens.sql.ts';

/** Whose session it is, and from which addresses the account takes files. */
export type SftpCaller = { accountId: AccountId; tokenId: number; allow: string[] };

/**
 * The account of a user name and a token with the scope files. Undefined for every reason alike, and after the same one
 * statement: whether the user name is known cannot be told, neither by words nor by time.
 */
export async function callerBySftp(
  pool: Pool,
  username: string,
  token: string,
  address: string | null = null,
): Promise<SftpCaller | undefined> {
  // PostgreSQL knows no text with U+0000, and none is a user name.
  const found = await selectSftpCaller(pool, username.replaceAll('\0', '\uFFFD'), tokenHash(token.trim()));
  if (!found) return undefined;
  const { accountId, tokenId, allow, stale } = found;
  if (stale) await updateTokenUsed(pool, accountId, tokenId, address).catch(() => {});
  return { accountId, tokenId, allow };
}

/**
 * For each open session, in their order, why it must end: its token is revoked, expired or without the scope (`token`), or
 * its address is no longer an allowed one (`address`). Undefined: it may go on. One statement for all.
 */
export async function stillValid(
  pool: Pool,
  sessions: { accountId: AccountId; tokenId: number; address: string }[],
): Promise<('token' | 'address' | undefined)[]> {
  const keyOf = (one: { accountId: AccountId; tokenId: number }) => `${one.accountId}/${one.tokenId}`;
  const asked = new Map(sessions.map((session) => [keyOf(session), session]));
  const open = await selectOpenTokens(pool, [...asked.values()]);
  const allowed = new Map(open.map((token) => [keyOf(token), token.allow]));
  return sessions.map((session) => {
    const allow = allowed.get(keyOf(session));
    if (!allow) return 'token';
    return isAllowed(allow, session.address) ? undefined : 'address';
  });
}
