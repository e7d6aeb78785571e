// What the code of a printed card opens: the person's answering page of the current week, by a link that counts as handed out by the
// employer (P14). The link is derived from the card and the week, so entering the code again opens the same page. It shows neither
// answers nor whether there are any, and the first answer to a question stays.
//
// When the first card of a week is used, the links of all cards are stored. If only that of the used card were stored, the database and
// its log would show who has used a card.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Channels } from '../base/messages/channels.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { codeIn } from '../cards/card-code.ts';
import { type CardKey, cardKeyOf } from '../cards/card-key.ts';
import { createCards } from '../cards/cards.ts';
import { deleteCards, selectCardOwner } from '../cards/cards.sql.ts';
import type { Kiosk } from '../cards/kiosks.sql.ts';
import type { AccountId, Db, Pool, Transaction } from '../db/db.ts';
import {
  deleteCardLinks,
  insertCardLinks,
  selectCardsWithoutLink,
  selectHasLink,
  selectWeekForCard,
} from './card-links.sql.ts';

/**
 * What a code opens: a personal link, or null if the card is valid and its owner isn't asked anything now. `language`: the person's, or
 * the account's if they have none.
 */
export type OpenedCard = { link: string | null; language: string };

/**
 * Returns what the code in a text opens. Undefined, for the same reason to the caller: there is no such code, the card was replaced or
 * removed, its owner is inactive or can be written to, or doesn't belong to the kiosk. `kiosk`: where the code was entered, if at one.
 */
export async function openCard(
  pool: Pool,
  secrets: Sealer,
  text: string,
  { channels, kiosk }: { channels: Channels; kiosk?: Kiosk },
): Promise<OpenedCard | undefined> {
  const key = await cardKeyOf(pool, secrets);
  // The same query for every text, so that the time reveals nothing about a code that could be one.
  const code = codeIn(text);
  const owner = await selectCardOwner(pool, key.digestOf(code ?? ''));
  if (!owner || (kiosk && kiosk.accountId !== owner.accountId)) return undefined;
  const { accountId, userId, digest, language } = owner;
  const week = await selectWeekForCard(pool, accountId, userId, {
    channels,
    groupId: kiosk?.groupId ?? null,
  });
  if (week === undefined) return undefined;
  if (week === null) return { link: null, language };
  const link = key.linkOf(digest, week);
  if (!(await selectHasLink(pool, accountId, tokenHash(link)))) await storeLinks(pool, key, accountId, week);
  return { link, language };
}

/** How many links are derived before other requests have their turn. */
const atOnce = 500;

/** Stores the links of all cards of a week that are not stored yet. */
async function storeLinks(db: Db, key: CardKey, accountId: AccountId, week: Week): Promise<void> {
  const cards = await selectCardsWithoutLink(db, accountId, week);
  const links: Parameters<typeof insertCardLinks>[3] = [];
  for (const card of cards) {
    links.push({ ...card, hash: tokenHash(key.linkOf(card.digest, week)) });
    if (links.length % atOnce === 0) await nextTurn();
  }
  await insertCardLinks(db, accountId, week, links);
}

/** Creates a card for each person, which replaces an earlier one with all its links, and returns the codes in order. */
export async function issueCards(
  tx: Transaction,
  key: CardKey,
  { accountId, by }: { accountId: AccountId; by: number },
  userIds: number[],
): Promise<string[]> {
  const codes = await createCards(tx, key, { accountId, by }, userIds);
  await deleteCardLinks(tx, accountId, userIds); // last, because insertCardLinks locks the cards
  return codes;
}

/** Removes the cards of people with all their links. Returns how many cards there were. */
export async function withdrawCards(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<number> {
  const count = await deleteCards(tx, accountId, userIds);
  await deleteCardLinks(tx, accountId, userIds);
  return count;
}
