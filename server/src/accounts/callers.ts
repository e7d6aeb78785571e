// Who asks: from the Authorization header to the account (§5, decision 2).
import type { Scope } from '@soundings/contract/operation.ts';
import { Fault } from '../base/errors.ts';
import { isTokenShaped, tokenHash } from '../base/secrets.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { selectValidToken, updateTokenUsed } from './tokens.sql.ts';

/** Who asks; the account's time zone, and its version, which is raised by every write. */
export type Caller = { accountId: AccountId; tokenId: number; timezone: string; version: string };

/**
 * The account and token behind an Authorization header: the token itself, or `Bearer` and the token. With it what every
 * answer of the data interface depends on: read here, it costs no statement of its own. Throws a Fault:
 * unauthenticated in the same words for every reason, forbidden when the token lacks the scope.
 */
export async function callerOf(pool: Pool, authorization: string | undefined, scope: Scope): Promise<Caller> {
  const token = authorization?.replace(/^bearer +/i, '').trim() ?? '';
  const found = isTokenShaped(token) ? await selectValidToken(pool, tokenHash(token)) : undefined;
  if (!found) {
    throw new Fault(
      'unauthenticated',
      'invalid token',
      'The token is missing, unknown, expired or revoked. Send a valid one in the Authorization header.',
    );
  }
  if (found.stale) await updateTokenUsed(pool, found.accountId, found.tokenId).catch(() => {});
  if (!found.scopes.includes(scope)) {
    throw new Fault('forbidden', 'missing scope', `The token lacks the scope ${scope}. Use one that has it.`);
  }
  const { accountId, tokenId, timezone, version } = found;
  return { accountId, tokenId, timezone, version };
}
