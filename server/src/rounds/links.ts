// Personal links, with which people answer in a week. They can't be guessed, and only their hashes are stored. A link stops working
// when the week closes, the person becomes inactive or is removed, or the link is replaced.
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import type { Channels } from '../base/messages/channels.ts';
import { Fault } from '../base/errors.ts';
import { randomText, tokenHash } from '../base/crypto/secrets.ts';
import { lockAccount } from '../accounts/accounts.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { lockSurvey } from './rounds.sql.ts';
import { deleteByHash, deleteHandedOut, insertLinks, type LinkedPerson, selectLinked } from './links.sql.ts';

/** 27 base-62 characters: 160 bits. */
const length = 27;
const form = new RegExp(`^[0-9A-Za-z]{${length}}$`);

/** Returns whether a text has the form of a link. */
export const isLinkShaped = (text: string): boolean => form.test(text);

/** Returns the address of the answering page of a link. `publicUrl` must not end with a slash. */
export const answeringAddressOf = (link: string, publicUrl: string): string => `${publicUrl}/a/${link}`;

/**
 * Creates a link for each person and returns them in order. Earlier links continue to work. `sentTo`: the email address
 * or phone number that a link is sent to. `handedOut`: the employer hands the links out; `by`: the user who exports them for that, if
 * known.
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

/** Deletes a link that reached no one. */
export const deleteUnsentLink = (db: Db, accountId: AccountId, link: string): Promise<void> =>
  deleteByHash(db, accountId, tokenHash(link));

/**
 * Creates a link for each active person asked in an open week, as if it had been emailed, and returns the secret parts of
 * the links. For simulations.
 */
export async function linksOfAll(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ userId: number; link: string }[]> {
  const people = await selectLinked(db, accountId, week, { mail: false, sms: false });
  const links = await newLinks(
    db,
    people.map(({ userId }) => ({ accountId, userId, week })),
  );
  return people.map(({ userId }, i) => ({ userId, link: links[i] as string }));
}

/** A person asked in an open week, with a link that the employer hands out. */
export type ExportedLink = LinkedPerson & { link: string };

export type ExportOptions = {
  week?: Week | undefined;
  /** Whether links that were handed out to these people earlier stop working. */
  isReplacing?: boolean;
  channels: Channels;
  /** The user who hands them out; null for the soundings command. */
  by: number | null;
};

/**
 * Creates a link for each active person who was asked in an open week and can't get messages (P14): people who have no address on any
 * of the channels, or want no survey messages. The default is the latest open week. Throws a Fault if there is no such person.
 */
export async function exportLinks(
  tx: Transaction,
  accountId: AccountId,
  publicUrl: string,
  { week, isReplacing = false, channels, by }: ExportOptions,
): Promise<{ week: Week; links: ExportedLink[] }> {
  // As those do who delete participants: the closing of a week, and what removes people.
  await lockSurvey(tx, accountId);
  await lockAccount(tx, accountId);
  const asked = await selectLinked(tx, accountId, week, channels);
  const askedIn = asked[0]?.week;
  if (askedIn === undefined) {
    const message = week
      ? `No one is asked in week ${weekName(week)}, or the week has closed.`
      : 'No one is being asked in any open week.';
    throw new Fault('not_found', 'no open week', message);
  }
  const people = asked.filter(({ isWrittenTo }) => !isWrittenTo);
  if (people.length === 0) {
    throw new Fault(
      'conflict',
      'no links to hand out',
      'Everyone who is asked gets a personal link by email or text message. You can hand out links only to people who can’t get either or want no survey messages.',
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
      link: answeringAddressOf(links[i] as string, publicUrl),
    })),
  };
}
