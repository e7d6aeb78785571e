// Personal links: by which a person answers in a week. Unguessable, and kept as a digest only; dead when the week closes,
// the person is inactive or removed, or the link is replaced.
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { randomText, tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { canWriteTo, deleteHandedOut, insertLinks, type LinkedPerson, selectLinked } from './links.sql.ts';

export { canWriteTo };

/** 27 base-62 characters: 160 bits. */
const length = 27;
const form = new RegExp(`^[0-9A-Za-z]{${length}}$`);

/** Whether a text can be a link at all. */
export const isLinkShaped = (text: string): boolean => form.test(text);

/** The address at which a link is answered. `publicUrl` has no slash at its end. */
export const addressOf = (link: string, publicUrl: string): string => `${publicUrl}/a/${link}`;

/**
 * New links for people, one for each, in their order. Earlier ones go on working. `sentTo`: the address that a link is sent to.
 * `handedOut`: the employer hands them out; by which user, where that is known.
 */
export async function newLinks(
  db: Db,
  people: { accountId: AccountId; userId: number; week: Week; sentTo?: string | null }[],
  handedOut?: { by: number | null },
): Promise<string[]> {
  const links = people.map(() => randomText(length));
  await insertLinks(
    db,
    people.map(({ accountId, userId, week, sentTo = null }, i) => ({
      accountId,
      userId,
      week,
      sentTo,
      hash: tokenHash(links[i] as string),
    })),
    handedOut,
  );
  return links;
}

/** The secret part of a new link for each active person asked in an open week, as if it were sent: for simulations. */
export async function linksOfAll(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ userId: number; link: string }[]> {
  const people = await selectLinked(db, accountId, week, false);
  const links = await newLinks(
    db,
    people.map(({ userId }) => ({ accountId, userId, week })),
  );
  return people.map(({ userId }, i) => ({ userId, link: links[i] as string }));
}

/** A person of an open week and the person's link, for other channels than e-mail. */
export type ExportedLink = LinkedPerson & { link: string };

export type ExportOptions = {
  week?: Week | undefined;
  /** Links that were handed out to these people before are dead from now on. */
  isReplacing?: boolean;
  /** Whether a mail server is set. */
  canMail: boolean;
  /** The user who hands them out; null: the soundings command. */
  by: number | null;
};

/**
 * A new link for each active person asked in an open week to whom the service cannot write (P14): who has no e-mail address,
 * or everyone where no mail server is set. By default in the last week that is open. Throws a Fault when there is no such
 * person.
 */
export async function exportLinks(
  tx: Transaction,
  accountId: AccountId,
  publicUrl: string,
  { week, isReplacing = false, canMail, by }: ExportOptions,
): Promise<{ week: Week; links: ExportedLink[] }> {
  const asked = await selectLinked(tx, accountId, week, canMail);
  const askedIn = asked[0]?.week;
  if (askedIn === undefined) {
    const message = week
      ? `No one is asked in the week ${weekName(week)}, or it has closed.`
      : 'No week is open in which anyone is asked.';
    throw new Fault('not_found', 'week not found', message);
  }
  const people = asked.filter(({ isWrittenTo }) => !isWrittenTo);
  if (people.length === 0) {
    throw new Fault(
      'conflict',
      'no links to hand out',
      'Everyone who is asked gets a personal link by e-mail. Links are handed out only to people without an e-mail address.',
    );
  }
  const userIds = people.map(({ userId }) => userId);
  if (isReplacing) await deleteHandedOut(tx, accountId, askedIn, userIds);
  const links = await newLinks(
    tx,
    userIds.map((userId) => ({ accountId, userId, week: askedIn })),
    { by },
  );
  return {
    week: askedIn,
    links: people.map(({ week: _week, isWrittenTo: _isWrittenTo, ...person }, i) => ({
      ...person,
      link: addressOf(links[i] as string, publicUrl),
    })),
  };
}
