// Creates the printed cards with which people answer who have no email address. A card stays valid over the weeks. Only a
// digest of its code is stored, so a card can't be printed again: a lost one is replaced.
import { randomInt } from 'node:crypto';
import type { AccountId, Transaction } from '../db/db.ts';
import { newCode } from './card-code.ts';
import type { CardKey } from './card-key.ts';
import { upsertCards } from './cards.sql.ts';

/** Creates a card for each person and returns the codes in order. An earlier card of a person stops working. `by`: who prints them. */
export async function createCards(
  tx: Transaction,
  key: CardKey,
  { accountId, by }: { accountId: AccountId; by: number | null },
  userIds: number[],
): Promise<string[]> {
  const codes = userIds.map(() => newCode(randomInt));
  const cards = codes.map((code, i) => ({ userId: userIds[i] as number, digest: key.digestOf(code) }));
  await upsertCards(tx, accountId, cards, by);
  return codes;
}
