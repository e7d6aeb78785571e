// The addresses in survey emails and digests with which people turn that kind of email off. They stay valid after the week and are not
// stored: each contains the ids of its person and a signature that only this service can create. So the database does not reveal who
// got a reminder.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccountId, Db } from '../../db/db.ts';
import { selectOptOut, takeOptOutKey, type WantedEmails } from './opt-outs.sql.ts';

/** Two ids of four bytes and a signature of 128 bits, in base64url. */
const form = /^[\w-]{32}$/;
const idBytes = 8;
/** Stands in for texts that don't have the form of a token. It belongs to no one. */
const noToken = 'A'.repeat(32);

/** The kinds of email that people can turn off. `reminders` includes invitations. */
export type OptOutKind = 'reminders' | 'digests';

/** What the signature of each kind begins with, so that a token of one kind is invalid for the other. */
const purposes: Record<OptOutKind, string> = { reminders: '', digests: 'digests ' };

/**
 * Returns a token for each person, in their order: of /r/TOKEN for reminders, and of /d/TOKEN for digests. The same person always gets
 * the same token.
 */
export async function optOutTokensFor(
  db: Db,
  kind: OptOutKind,
  people: { accountId: AccountId; userId: number }[],
): Promise<string[]> {
  if (people.length === 0) return [];
  const key = await takeOptOutKey(db, randomBytes(32));
  return people.map(({ accountId, userId }) => {
    const ids = Buffer.alloc(idBytes);
    ids.writeInt32BE(accountId, 0);
    ids.writeInt32BE(userId, 4);
    return Buffer.concat([ids, signatureOf(kind, ids, key)]).toString('base64url');
  });
}

/** The person that a token belongs to. */
export type OptOut = {
  accountId: AccountId;
  userId: number;
  /** The account's name. */
  company: string;
  /** ISO 639-1. The person's language, or the account's if the person has none. */
  language: string;
  wanted: WantedEmails;
};

/**
 * Returns the person of a token; undefined if the token is wrong or the person was removed. Makes the same query for every text,
 * even a malformed one, so that the response time reveals nothing.
 */
export async function openOptOut(db: Db, kind: OptOutKind, token: string): Promise<OptOut | undefined> {
  const bytes = Buffer.from(form.test(token) ? token : noToken, 'base64url');
  const [ids, signature] = [bytes.subarray(0, idBytes), bytes.subarray(idBytes)];
  const [accountId, userId] = [ids.readInt32BE(0), ids.readInt32BE(4)];
  const { keys, person } = await selectOptOut(db, kind, { accountId, userId });
  const isOurs = keys.filter((key) => timingSafeEqual(signatureOf(kind, ids, key), signature)).length > 0;
  return isOurs && person ? { accountId, userId, ...person } : undefined;
}

const signatureOf = (kind: OptOutKind, ids: Buffer, key: Buffer) =>
  createHmac('sha256', key).update(purposes[kind]).update(ids).digest().subarray(0, 16);
