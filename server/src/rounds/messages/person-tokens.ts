// Tokens that stand for a person in emails: in addresses for opting out, and in Message-IDs for recognizing bounces. They are not stored:
// each contains the ids of its person and a signature that only this service can create. So the database does not reveal who got an email.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccountId, Db } from '../../db/db.ts';
import { takeOptOutKey } from './opt-outs.sql.ts';

/** What a token is for. A token for one purpose is invalid for the others. */
export type TokenPurpose = 'reminders' | 'digests' | 'bounces';

/** What the signature of each purpose begins with. */
const prefixes: Record<TokenPurpose, string> = { reminders: '', digests: 'digests ', bounces: 'bounces ' };

export type PersonKey = { accountId: AccountId; userId: number };

/** Two ids of four bytes and a signature of 128 bits, in base64url. */
const form = /^[\w-]{32}$/;
const idBytes = 8;
/** Stands in for texts that don't have the form of a token. It belongs to no one. */
const noToken = 'A'.repeat(32);

/** Returns a token of 32 letters, digits, - and _ for each person, in their order. The same person always gets the same token. */
export async function personTokensFor(db: Db, purpose: TokenPurpose, people: PersonKey[]): Promise<string[]> {
  if (people.length === 0) return [];
  const key = await takeOptOutKey(db, randomBytes(32));
  return people.map((person) => tokenOf(purpose, person, key));
}

/** Returns a function that returns the token of a person for one purpose. It reads the key once. */
export function openPersonTokens(
  purpose: TokenPurpose,
  pool: Promise<Db>,
): (person: PersonKey) => Promise<string> {
  let key: Promise<Buffer> | undefined;
  const read = async () => takeOptOutKey(await pool, randomBytes(32));
  return async (person) => {
    key ??= read();
    key.catch(() => (key = undefined));
    return tokenOf(purpose, person, await key);
  };
}

function tokenOf(purpose: TokenPurpose, { accountId, userId }: PersonKey, key: Buffer): string {
  const ids = Buffer.alloc(idBytes);
  ids.writeInt32BE(accountId, 0);
  ids.writeInt32BE(userId, 4);
  return Buffer.concat([ids, signatureOf(purpose, ids, key)]).toString('base64url');
}

/** A token as received: the person that it names, and whether one of these keys has signed it. */
export type ReceivedToken = PersonKey & { isSignedBy(keys: readonly Buffer[]): boolean };

/** Reads a token. Any text is accepted; one that is not a token is not signed by any key. */
export function readPersonToken(purpose: TokenPurpose, token: string): ReceivedToken {
  const bytes = Buffer.from(form.test(token) ? token : noToken, 'base64url');
  const [ids, signature] = [bytes.subarray(0, idBytes), bytes.subarray(idBytes)];
  return {
    accountId: ids.readInt32BE(0),
    userId: ids.readInt32BE(4),
    // All keys are compared, so that the time reveals nothing.
    isSignedBy: (keys) =>
      keys.filter((key) => timingSafeEqual(signatureOf(purpose, ids, key), signature)).length > 0,
  };
}

const signatureOf = (purpose: TokenPurpose, ids: Buffer, key: Buffer) =>
  createHmac('sha256', key).update(prefixes[purpose]).update(ids).digest().subarray(0, 16);
