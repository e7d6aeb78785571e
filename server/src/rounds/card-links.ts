// What the code of a printed card opens: the person's answering page of the current week, by a link that counts as handed out by the
// employer (P14). The link is derived from the card and the week, so entering the code again opens the same page. It shows neither
// answers nor whether there are any, and the first answer to a question stays.
//
// Using a card stores nothing, so that neither the database and its log nor the time of the response show who has used one: the links of all
// cards are stored when cards are created, and within a minute after people are asked. Until then a card opens nothing.
import type { Week } from '@soundings/contract/weeks.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { lockAccount } from '../accounts/accounts.ts';
import type { Channels } from '../base/messages/channels.ts';
import { tokenHash } from '../base/crypto/secrets.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { codeIn } from '../cards/card-code.ts';
import { type CardKey, cardKeyOf } from '../cards/card-key.ts';
import { createCards } from '../cards/cards.ts';
import { deleteCards, selectCardOwner } from '../cards/cards.sql.ts';
import type { Kiosk } from '../cards/kiosks.sql.ts';
import { type AccountId, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { runOneByOne } from '../jobs/accounts-in-turn.ts';
import {
  endCardLinks,
  insertCardLinks,
  selectCardsWithoutLink,
  selectHasLink,
  selectWeekForCard,
  selectWeeksWithoutCardLinks,
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
  return { link: (await selectHasLink(pool, accountId, tokenHash(link))) ? link : null, language };
}

/**
 * Stores the links of all cards in open weeks that are not stored yet, because their owners were asked after the cards were created. Runs every
 * minute, and must not run because someone uses a card. An account that others keep locked is left for the next minute.
 */
export async function storeCardLinks(pool: Pool, secrets: Sealer): Promise<void> {
  const due = await selectWeeksWithoutCardLinks(pool);
  if (due.length === 0) return;
  const key = await cardKeyOf(pool, secrets);
  await runOneByOne(due, ({ accountId, week }) =>
    inTransaction(pool, async (tx) => {
      await lockAccount(tx, accountId); // as those do who create or remove cards
      await storeLinks(tx, key, accountId, week);
    }),
  );
}

/** How many links are derived before other requests have their turn. */
const atOnce = 500;

/** Stores the links of all cards of a week that are not stored yet. */
async function storeLinks(tx: Transaction, key: CardKey, accountId: AccountId, week: Week): Promise<void> {
  const cards = await selectCardsWithoutLink(tx, accountId, week);
  const links: Parameters<typeof insertCardLinks>[3] = [];
  for (const card of cards) {
    links.push({ ...card, hash: tokenHash(key.linkOf(card.digest, week)) });
    if (links.length % atOnce === 0) await nextTurn();
  }
  await insertCardLinks(tx, accountId, week, links);
}

/**
 * Creates a card for each person, which replaces an earlier one with all its links, and returns the codes in order. The links of open weeks are stored
 * immediately.
 */
export async function issueCards(
  tx: Transaction,
  key: CardKey,
  { accountId, by }: { accountId: AccountId; by: number },
  userIds: number[],
): Promise<string[]> {
  const codes = await createCards(tx, key, { accountId, by }, userIds);
  await endCardLinks(tx, accountId, userIds); // after the cards, because insertCardLinks locks them
  for (const { week } of await selectWeeksWithoutCardLinks(tx, accountId))
    await storeLinks(tx, key, accountId, week);
  return codes;
}

/** Removes the cards of people, whose links open nothing any more. Returns how many cards there were. */
export async function withdrawCards(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<number> {
  const count = await deleteCards(tx, accountId, userIds);
  await endCardLinks(tx, accountId, userIds);
  return count;
}
