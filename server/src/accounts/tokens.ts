// API tokens of an account (decision E3).
import { numberForms, type Numbers, type Scope, scopes } from '@soundings/contract/operation.ts';
import { newToken, tokenHash } from '../base/crypto/secrets.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { dayFault, nameFault, refuseField } from '../base/field-faults.ts';
import { type AccountId, type Db, inTransaction, type Pool } from '../db/db.ts';
import { notifyAdministrators } from './account-notices.ts';
import { accountById } from './accounts.ts';
import { type Actor, audit } from './audit.ts';
import { insertToken, selectTokens, type TokenRow, updateTokenRevoked } from './tokens.sql.ts';

/** Creates a token. Only its SHA-256 hash is stored, so this is the only time its text is returned. `canMail`: notify the administrators. */
export async function createToken(
  pool: Pool,
  accountId: AccountId,
  wanted: { name: string; scopes: string[]; expires?: string; numbers?: string },
  actor: Actor = { origin: 'command' },
  canMail = false,
): Promise<{ id: number; token: string; scopes: Scope[] }> {
  const granted = scopes.filter((scope) => wanted.scopes.includes(scope));
  const unknown = wanted.scopes.find((scope) => !scopes.includes(scope as Scope));
  if (unknown !== undefined || granted.length === 0) {
    throw invalid(
      '/scopes',
      unknown === undefined
        ? `A token needs at least one scope. Available scopes: ${scopes.join(', ')}.`
        : `Unknown scope "${unknown}". Available scopes: ${scopes.join(', ')}.`,
    );
  }
  refuseField('/name', nameFault('name', wanted.name));
  const numbers = wanted.numbers ?? 'plain';
  if (!numberForms.includes(numbers as Numbers)) {
    throw invalid('/numbers', `Invalid number format "${numbers}". Use ${numberForms.join(' or ')}.`);
  }
  const expiresAt = wanted.expires === undefined ? null : expiry(wanted.expires);
  const token = newToken();
  const id = await inTransaction(pool, async (tx) => {
    await accountById(tx, accountId);
    const createdBy = actor.origin === 'console' ? actor.userId : null;
    const form = { numbers: numbers as Numbers };
    const created = {
      name: wanted.name,
      scopes: granted,
      expiresAt,
      ...form,
      createdBy,
      hash: tokenHash(token),
    };
    const tokenId = await insertToken(tx, accountId, created);
    await audit(tx, accountId, actor, 'token created', {
      subject: tokenId,
      details: { name: wanted.name, scopes: granted, expires: expiresAt, ...(numbers !== 'plain' && form) },
    });
    if (canMail) await notifyAdministrators(tx, accountId, { change: 'token created', about: wanted.name });
    return tokenId;
  });
  return { id, token, scopes: granted };
}

/** Returns all tokens of the account in order of creation, including expired and revoked ones. */
export async function listTokens(db: Db, accountId: AccountId): Promise<TokenRow[]> {
  await accountById(db, accountId);
  return selectTokens(db, accountId);
}

/** Revokes a token, which stops working immediately. */
export async function revokeToken(
  pool: Pool,
  accountId: AccountId,
  tokenId: number,
  actor: Actor = { origin: 'command' },
): Promise<void> {
  const isNew = await inTransaction(pool, async (tx) => {
    const isRevoked = await updateTokenRevoked(tx, accountId, tokenId);
    if (isRevoked) await audit(tx, accountId, actor, 'token revoked', { subject: tokenId });
    return isRevoked;
  });
  if (isNew !== undefined) return;
  throw new Fault('not_found', 'token not found', `Token ${tokenId} does not exist in account ${accountId}.`);
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;

/** Parses an expiry: a date, which means the end of that day in UTC, or a time (RFC 3339). */
function expiry(text: string): Date {
  if (rfc3339.test(text) && !Number.isNaN(Date.parse(text))) return new Date(text);
  const fault = dayFault(text);
  if (!fault) return new Date(`${text}T23:59:59.999Z`);
  const message = `${fault.message} A time such as 2027-12-31T12:00:00Z is valid too.`;
  throw faultAtField('invalid', fault.type, '/expires', message);
}

const invalid = (path: string, message: string) => faultAtField('invalid', 'invalid value', path, message);
