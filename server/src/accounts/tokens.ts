// API tokens of an account (decision 3).
import { maxNameLength } from '@soundings/contract/limits.ts';
import { numberForms, type Numbers, type Scope, scopes as allScopes } from '@soundings/contract/operation.ts';
import { Fault } from '../base/errors.ts';
import { newToken, tokenHash } from '../base/secrets.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../db/db.ts';
import { notifyAdministrators } from './account-notices.ts';
import { accountById } from './accounts.ts';
import { type Actor, audit } from './audit.ts';
import { insertToken, selectTokens, type TokenRow, updateTokenRevoked } from './tokens.sql.ts';

/** Creates a token. Its text is in the answer and nowhere else: only its SHA-256 is kept. `canMail`: administrators are notified. */
export async function createToken(
  pool: Pool,
  accountId: AccountId,
  wanted: { name: string; scopes: string[]; expires?: string; numbers?: string },
  actor: Actor = { origin: 'command' },
  canMail = false,
): Promise<{ id: number; token: string; scopes: Scope[] }> {
  const scopes = allScopes.filter((scope) => wanted.scopes.includes(scope));
  const unknown = wanted.scopes.find((scope) => !allScopes.includes(scope as Scope));
  if (unknown !== undefined || scopes.length === 0) {
    throw invalid(
      '/scopes',
      `A token has one or more of the scopes ${allScopes.join(', ')}${unknown ? `, not "${unknown}"` : ''}.`,
    );
  }
  if (wanted.name.trim() === '' || wanted.name.length > maxNameLength) {
    throw invalid('/name', `The name of a token must have 1 to ${maxNameLength} characters.`);
  }
  const numbers = wanted.numbers ?? 'plain';
  if (!numberForms.includes(numbers as Numbers)) {
    throw invalid('/numbers', `Numbers are written ${numberForms.join(' or ')}, not "${numbers}".`);
  }
  const expiresAt = wanted.expires === undefined ? null : expiry(wanted.expires);
  const token = newToken();
  const id = await inTransaction(pool, async (tx) => {
    await accountById(tx, accountId);
    const createdBy = actor.origin === 'console' ? actor.userId : null;
    const form = { numbers: numbers as Numbers };
    const made = { name: wanted.name, scopes, expiresAt, ...form, createdBy, hash: tokenHash(token) };
    const tokenId = await insertToken(tx, accountId, made);
    await audit(tx, accountId, actor, 'token created', {
      subject: tokenId,
      details: { name: wanted.name, scopes, expires: expiresAt, ...(numbers !== 'plain' && form) },
    });
    if (canMail) await notifyAdministrators(tx, accountId, { change: 'token created', about: wanted.name });
    return tokenId;
  });
  return { id, token, scopes };
}

/** All tokens of the account, also those expired or revoked, in the order they were made. */
export async function listTokens(db: Db, accountId: AccountId): Promise<TokenRow[]> {
  await accountById(db, accountId);
  return selectTokens(db, accountId);
}

/** From now on the token opens nothing. */
export async function revokeToken(
  pool: Pool,
  accountId: AccountId,
  tokenId: number,
  actor: Actor = { origin: 'command' },
): Promise<void> {
  const isNew = await inTransaction(pool, async (tx) => {
    const came = await updateTokenRevoked(tx, accountId, tokenId);
    if (came) await audit(tx, accountId, actor, 'token revoked', { subject: tokenId });
    return came;
  });
  if (isNew !== undefined) return;
  throw new Fault('not_found', 'token not found', `Account ${accountId} has no token ${tokenId}.`);
}

/** A day means to its end, in UTC; else a moment (RFC 3339). */
function expiry(text: string): Date {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const moment = new Date(day ? `${text}T23:59:59.999Z` : text);
  const real = !Number.isNaN(moment.getTime()) && (!day || moment.toISOString().startsWith(text));
  if (!real || !(day || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text))) {
    throw invalid(
      '/expires',
      `"${text}" is not a day such as 2027-12-31, or a moment such as 2027-12-31T12:00:00Z.`,
    );
  }
  return moment;
}

const invalid = (path: string, message: string) =>
  new Fault('invalid', 'invalid value', message, { details: [{ type: 'invalid value', message, path }] });
