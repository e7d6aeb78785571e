// The addresses by which people stop reminders, in every reminder. They outlive the week, and none is kept: each says whom
// it is for, under a signature that only this service can make. So nothing tells who has had a reminder.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccountId, Db } from '../db/db.ts';
import { selectStop, setReminders, takeStopKey } from './stops.sql.ts';

export { setReminders };

/** Two ids of four bytes and a signature of 128 bits, in base64url. */
const form = /^[\w-]{32}$/;
const idBytes = 8;
/** Of nobody, for what cannot be a token at all. */
const noToken = 'A'.repeat(32);

/** The last part of /r/TOKEN for each person, in their order; always the same for the same one. */
export async function stopTokensFor(
  db: Db,
  people: { accountId: AccountId; userId: number }[],
): Promise<string[]> {
  if (people.length === 0) return [];
  const key = await takeStopKey(db, randomBytes(32));
  return people.map(({ accountId, userId }) => {
    const ids = Buffer.alloc(idBytes);
    ids.writeInt32BE(accountId, 0);
    ids.writeInt32BE(userId, 4);
    return Buffer.concat([ids, signatureOf(ids, key)]).toString('base64url');
  });
}

/** Whom a token is for. */
export type Stop = {
  accountId: AccountId;
  userId: number;
  /** The account's name. */
  company: string;
  /** ISO 639-1: the person's, else the account's. */
  language: string;
  isStopped: boolean;
};

/**
 * Undefined when the token is wrong, or its person removed. One look-up for every token, also for one that cannot be: time
 * tells nothing.
 */
export async function openStop(db: Db, token: string): Promise<Stop | undefined> {
  const bytes = Buffer.from(form.test(token) ? token : noToken, 'base64url');
  const [ids, signature] = [bytes.subarray(0, idBytes), bytes.subarray(idBytes)];
  const [accountId, userId] = [ids.readInt32BE(0), ids.readInt32BE(4)];
  const { keys, person } = await selectStop(db, accountId, userId);
  const isOurs = keys.filter((key) => timingSafeEqual(signatureOf(ids, key), signature)).length > 0;
  return isOurs && person ? { accountId, userId, ...person } : undefined;
}

const signatureOf = (ids: Buffer, key: Buffer) =>
  createHmac('sha256', key).update(ids).digest().subarray(0, 16);
