// The addresses in survey emails and digests with which people turn that kind of email off. They stay valid after the week and are not
// stored (person-tokens.ts). So the database does not reveal who got a reminder.
import type { AccountId, Db } from '../../db/db.ts';
import { selectOptOut, type WantedEmails } from './opt-outs.sql.ts';
import { readPersonToken } from './person-tokens.ts';

/** The kinds of email that people can turn off, with a token of that purpose: /r/TOKEN for `reminders` and invitations, /d/TOKEN for `digests`. */
export type OptOutKind = 'reminders' | 'digests';

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
  const { accountId, userId, isSignedBy } = readPersonToken(kind, token);
  const { keys, person } = await selectOptOut(db, kind, { accountId, userId });
  return isSignedBy(keys) && person ? { accountId, userId, ...person } : undefined;
}
