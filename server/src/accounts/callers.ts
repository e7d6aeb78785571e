// Who asks: from the Authorization header to the account (§5, decision 2).
import type { Scope } from '@soundings/contract/operation.ts';
import { Fault } from '../base/errors.ts';
import { isTokenShaped, tokenHash } from '../base/secrets.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { selectValidToken, updateTokenUsed } from './tokens.sql.ts';

/**
 * The account and token behind an Authorization header: the token itself, or `Bearer` and the token. Throws a Fault:
 * unauthenticated in the same words for every reason, forbidden when the token lacks the scope.
 */
export async function callerOf(
  pool: Pool,
  authorization: string | undefined,
  scope: Scope,
): Promise<{ accountId: AccountId; tokenId: number }> {
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
  return { accountId: found.accountId, tokenId: found.tokenId };
}
