// Who asks: from the Authorization header to the account (§5, decision 2), and for files from where (§5.4).
import type { Numbers, Scope } from '@soundings/contract/operation.ts';
import { Fault } from '../base/errors.ts';
import { isTokenShaped, tokenHash } from '../base/secrets.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { isAllowed } from './allowlist.ts';
import { selectValidToken, type TokenInUse, updateTokenUsed } from './tokens.sql.ts';

/** Who asks; the account's time zone, and its version, which is raised by whatever changes an answer. */
export type Caller = {
  accountId: AccountId;
  tokenId: number;
  numbers: Numbers;
  timezone: string;
  version: string;
};

/**
 * The account and token behind an Authorization header: the token itself, or `Bearer` and the token. With it what every
 * answer of the data interface depends on: read here, it costs no statement of its own. Throws a Fault:
 * unauthenticated in the same words for every reason, forbidden when the token lacks the scope. `address`: where the
 * request comes from, kept as that of the last use.
 */
export async function callerOf(
  pool: Pool,
  authorization: string | undefined,
  scope: Scope,
  address: string | null = null,
): Promise<Caller> {
  return withScope(await validToken(pool, authorization, address), scope);
}

/** The same for who sends files, from an address. Throws also a Fault, unauthenticated, when it is not an allowed one. */
export async function senderOf(
  pool: Pool,
  authorization: string | undefined,
  address: string,
): Promise<Caller> {
  const found = await validToken(pool, authorization, address);
  if (!isAllowed(found.allow, address)) {
    const message = `The account takes no files from the address ${address}.`;
    throw new Fault('unauthenticated', 'invalid token', message);
  }
  return withScope(found, 'files');
}

async function validToken(
  pool: Pool,
  authorization: string | undefined,
  address: string | null,
): Promise<TokenInUse> {
  const token = authorization?.replace(/^bearer +/i, '').trim() ?? '';
  const found = isTokenShaped(token) ? await selectValidToken(pool, tokenHash(token)) : undefined;
  if (!found) {
    throw new Fault(
      'unauthenticated',
      'invalid token',
      'The token is missing, unknown, expired or revoked. Send a valid one in the Authorization header.',
    );
  }
  if (found.stale) await updateTokenUsed(pool, found.accountId, found.tokenId, address).catch(() => {});
  return found;
}

function withScope(
  { scopes, accountId, tokenId, numbers, timezone, version }: TokenInUse,
  scope: Scope,
): Caller {
  if (!scopes.includes(scope)) {
    throw new Fault('forbidden', 'missing scope', `The token lacks the scope ${scope}. Use one that has it.`);
  }
  return { accountId, tokenId, numbers, timezone, version };
}
