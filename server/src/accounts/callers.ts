// Identifies the caller of a request: from the Authorization header to the account (§5, decision E2). For files, it also checks
// the sender's address (§5.4).
import { sandboxLimits } from '@soundings/contract/limits.ts';
import type { Scope } from '@soundings/contract/operation.ts';
import { Fault } from '../base/errors.ts';
import { isTokenShaped, tokenHash } from '../base/crypto/secrets.ts';
import type { Pool } from '../db/db.ts';
import type { Caller } from '../http/fastify.ts';
import { isAllowed } from './allowlist.ts';
import { selectValidToken, type TokenInUse, updateTokenUsed } from './tokens.sql.ts';

/**
 * Returns the account and token of an Authorization header, which is the token itself or `Bearer` and the token. The result
 * includes what every response of the data interface depends on, so that responses need no extra statement for it. Throws a Fault:
 * unauthenticated, with the same message for every reason, or forbidden if the token lacks the scope. `address`: the sender's IP
 * address, which is stored as the address of the token's last use.
 */
export async function callerOf(
  pool: Pool,
  authorization: string | undefined,
  scope: Scope,
  address: string | null = null,
): Promise<Caller> {
  return withScope(await validToken(pool, authorization, address), scope);
}

/** Like `callerOf`, for the files scope. Also throws an unauthenticated Fault if the IP allowlist doesn't include the address. */
export async function senderOf(
  pool: Pool,
  authorization: string | undefined,
  address: string,
): Promise<Caller> {
  const found = await validToken(pool, authorization, address);
  if (!isAllowed(found.allow, address)) {
    const message = `This account does not accept files from the IP address ${address}. Ask an administrator to add it to the allowlist.`;
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
      'The API token is missing, unknown, expired or revoked. Send a valid token in the Authorization header.',
    );
  }
  if (found.isFull) {
    const message = `This sandbox has more than ${sandboxLimits.bytes / 1_000_000} MB of data. Reset it in the console, under Sandbox.`;
    throw new Fault('forbidden', 'sandbox full', message);
  }
  if (found.stale) await updateTokenUsed(pool, found.accountId, found.tokenId, address).catch(() => {});
  return found;
}

function withScope(
  { scopes, accountId, tokenId, numbers, timezone, version }: TokenInUse,
  scope: Scope,
): Caller {
  if (!scopes.includes(scope)) {
    throw new Fault(
      'forbidden',
      'missing scope',
      `The API token does not have the ${scope} scope. Use a token that has it.`,
    );
  }
  return { accountId, tokenId, numbers, timezone, version };
}
