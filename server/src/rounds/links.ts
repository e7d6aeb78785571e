// Personal links: by which a person answers in a week. Unguessable, and kept as a digest only; dead when the week closes,
// the person is inactive or removed, or the link is replaced.
import { type Week, weekName } from '@soundings/contract/weeks.ts';
import { Fault } from '../base/errors.ts';
import { randomText, tokenHash } from '../base/secrets.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { deleteLinks, insertLinks, type LinkedPerson, selectLinked } from './links.sql.ts';

/** 27 base-62 characters: 160 bits. */
const length = 27;
const form = new RegExp(`^[0-9A-Za-z]{${length}}$`);

/** Whether a text can be a link at all. */
export const isLinkShaped = (text: string): boolean => form.test(text);

/** The address at which a link is answered. `publicUrl` has no slash at its end. */
export const addressOf = (link: string, publicUrl: string): string => `${publicUrl}/a/${link}`;

/**
 * New links for people, one for each, in their order. Earlier ones go on working. `isExported`: somebody else than the
 * person sees them, so they show nothing of what was answered.
 */
export async function newLinks(
  db: Db,
  people: { accountId: AccountId; userId: number; week: Week }[],
  isExported = false,
): Promise<string[]> {
  const links = people.map(() => randomText(length));
  await insertLinks(
    db,
    people.map(({ accountId, userId, week }, i) => ({
      accountId,
      userId,
      week,
      hash: tokenHash(links[i] as string),
    })),
    isExported,
  );
  return links;
}

/** A person of an open week and the person's link, for other channels than e-mail. */
export type ExportedLink = LinkedPerson & { link: string };

/**
 * A new link for each active person asked in an open week; by default in the last one that is open. `replacing`: all
 * earlier links of the week are dead from now on. Throws a Fault when nobody is asked.
 */
export async function exportLinks(
  tx: Transaction,
  accountId: AccountId,
  publicUrl: string,
  { week, isReplacing = false }: { week?: Week | undefined; isReplacing?: boolean } = {},
): Promise<{ week: Week; links: ExportedLink[] }> {
  const people = await selectLinked(tx, accountId, week);
  const asked = people[0]?.week;
  if (asked === undefined) {
    const message = week
      ? `Nobody is asked in the week ${weekName(week)}, or it has closed.`
      : 'No week is open in which anybody is asked.';
    throw new Fault('not_found', 'week not found', message);
  }
  if (isReplacing) await deleteLinks(tx, accountId, asked);
  const links = await newLinks(
    tx,
    people.map(({ userId }) => ({ accountId, userId, week: asked })),
    true,
  );
  return {
    week: asked,
    links: people.map(({ week: _week, ...person }, i) => ({
      ...person,
      link: addressOf(links[i] as string, publicUrl),
    })),
  };
}
