// The console: printing cards for people who get no messages, and setting up the kiosks on which they answer. Codes and the addresses of
// kiosks are in the response that creates them, and nowhere else.
import type { CardPlan, Cards, PrintedCard } from '@soundings/contract/console/cards.ts';
import type { Chosen } from '@soundings/contract/console/people.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { localeOf } from '@soundings/contract/texts.ts';
import { accountById, lockAccount } from '../../accounts/accounts.ts';
import { audit } from '../../accounts/audit.ts';
import type { Channels } from '../../base/messages/channels.ts';
import type { Sealer } from '../../base/crypto/sealer.ts';
import { Fault } from '../../base/errors.ts';
import { type CardKey, cardKeyOf } from '../../cards/card-key.ts';
import { printedCode } from '../../cards/card-code.ts';
import { cardTextsIn } from '../../cards/card-texts.ts';
import { answeringLanguages } from '../../languages/languages.ts';
import { createKiosk } from '../../cards/kiosks.ts';
import { deleteKiosk } from '../../cards/kiosks.sql.ts';
import { qrPathOf } from '../../cards/qr.ts';
import { inTransaction, type Pool, type Transaction } from '../../db/db.ts';
import { groupNotFound } from '../../people/faults.ts';
import { issueCards, withdrawCards } from '../../rounds/card-links.ts';
import { actorOf, type Console, requireProof, type Who } from '../core/console.ts';
import { idIn, rangesOf } from '../core/ids.ts';
import { type CardPerson, selectCardCounts, selectCardPeople, selectKiosks } from './cards.sql.ts';
import { selectFoundIds } from './people.sql.ts';

/** How many cards can be created at a time: 100 sheets of paper. */
const mostCards = 1000;

type CardsDependencies = {
  pool: Promise<Pool>;
  secrets: Promise<Sealer>;
  publicUrl: string;
  /** What is configured. */
  channels: Channels;
};

export function serveCards(console: Console, dependencies: CardsDependencies): void {
  const { pool, secrets, publicUrl, channels } = dependencies;
  console.serve('GET /cards', async (who) => cardsView(await pool, who, channels));
  console.serve('POST /cards', async (who, { body: { chosen, isReplacing, isPreview } }) => {
    if (!isPreview) requireProof(who);
    const key = isPreview ? undefined : await cardKeyOf(await pool, await secrets);
    const { plan, cards } = await inTransaction(await pool, async (tx) => {
      if (key) await lockAccount(tx, who.accountId);
      const people = await selectCardPeople(tx, who.accountId, await idsOf(tx, who, chosen), channels);
      const wanted = planOf(people, isReplacing);
      const created = key && (await createFor(tx, who, key, { people: wanted.creating, isReplacing }));
      return { plan: wanted, cards: created };
    });
    const sheet = cards
      ? await sheetOf(plan.creating, cards.codes, { company: cards.company, publicUrl })
      : null;
    return { ...plan, creating: plan.creating.length, most: mostCards, sheet };
  });
  console.serve('POST /cards/removal', async (who, { body: { chosen, isPreview } }) =>
    inTransaction(await pool, async (tx) => {
      if (!isPreview) await lockAccount(tx, who.accountId);
      const people = await selectCardPeople(tx, who.accountId, await idsOf(tx, who, chosen), channels);
      const ids = people.filter(({ hasCard }) => hasCard).map(({ userId }) => userId);
      if (isPreview || ids.length === 0) return { count: ids.length };
      const count = await withdrawCards(tx, who.accountId, ids);
      await audit(tx, who.accountId, actorOf(who), 'cards removed', {
        details: { count, ids: rangesOf(ids) },
      });
      return { count };
    }),
  );
  console.serve('POST /kiosks', async (who, { body }) =>
    inTransaction(await pool, async (tx) => {
      const name = body.name.trim();
      const values = { name, groupId: body.groupId, by: who.userId };
      const kiosk = await createKiosk(tx, who.accountId, values, publicUrl);
      if (!kiosk) throw groupNotFound();
      await audit(tx, who.accountId, actorOf(who), 'kiosk created', { subject: name });
      return kiosk;
    }),
  );
  console.serve('DELETE /kiosks/{kioskId}', async (who, { params }) => {
    await inTransaction(await pool, async (tx) => {
      const name = await deleteKiosk(tx, who.accountId, idIn(params.kioskId));
      if (name === undefined) throw kioskNotFound();
      await audit(tx, who.accountId, actorOf(who), 'kiosk turned off', { subject: name });
    });
  });
}

const kioskNotFound = () =>
  new Fault(
    'not_found',
    'kiosk not found',
    'This kiosk does not exist. It may have been turned off already.',
  );

const idsOf = (tx: Transaction, { accountId }: Who, chosen: Chosen): Promise<number[]> | number[] =>
  'ids' in chosen ? chosen.ids : selectFoundIds(tx, accountId, chosen.filters);

async function cardsView(pool: Pool, { accountId }: Who, channels: Channels): Promise<Cards> {
  const [counts, kiosks] = await Promise.all([
    selectCardCounts(pool, accountId, channels),
    selectKiosks(pool, accountId),
  ]);
  return {
    ...counts,
    hasMail: channels.mail || channels.sms,
    kiosks: kiosks.map(({ id, name, groupId, group, createdAt, createdBy }) => ({
      id,
      name,
      group: groupId === null ? null : { id: groupId, name: group ?? '' },
      createdAt: createdAt.toISOString(),
      createdBy,
    })),
  };
}

type Plan = Omit<CardPlan, 'creating' | 'most' | 'sheet'> & { creating: CardPerson[] };

/** Returns who gets a card, in the order in which cards are printed: by group, then by name. */
function planOf(people: CardPerson[], isReplacing: boolean): Plan {
  const able = people.filter(({ isActive, isReachable }) => isActive && !isReachable);
  const withCard = able.filter(({ hasCard }) => hasCard).length;
  return {
    creating: sorted(able.filter(({ hasCard }) => isReplacing || !hasCard)),
    replacing: isReplacing ? withCard : 0,
    withCard,
    reachable: people.filter(({ isActive, isReachable }) => isActive && isReachable).length,
    inactive: people.filter(({ isActive }) => !isActive).length,
  };
}

/** Sorts people by group and name. People without a group are last. */
function sorted(people: CardPerson[]): CardPerson[] {
  const { compare } = new Intl.Collator(localeOf(people[0]?.language ?? 'en'), { numeric: true });
  const byGroup = (one: CardPerson, other: CardPerson) =>
    one.group === null || other.group === null
      ? Number(one.group === null) - Number(other.group === null)
      : compare(one.group, other.group);
  return people.toSorted(
    (one, other) =>
      byGroup(one, other) ||
      compare(one.lastName, other.lastName) ||
      compare(one.firstName, other.firstName) ||
      one.userId - other.userId,
  );
}

/** Creates a card for each person, and records that. Throws a Fault if there are too many or none. */
async function createFor(
  tx: Transaction,
  who: Who,
  key: CardKey,
  { people, isReplacing }: { people: CardPerson[]; isReplacing: boolean },
): Promise<{ company: string; codes: string[] }> {
  if (people.length === 0 || people.length > mostCards) {
    const message =
      people.length === 0
        ? 'None of these people needs a card: they have one, get email or text messages, or are inactive.'
        : `${people.length} cards are too many to create at a time. Choose at most ${mostCards} people, for example one group.`;
    throw new Fault('conflict', 'no cards to print', message);
  }
  const ids = people.map(({ userId }) => userId);
  const codes = await issueCards(tx, key, { accountId: who.accountId, by: who.userId }, ids);
  const details = { count: ids.length, isReplacing, ids: rangesOf(ids.toSorted((a, b) => a - b)) };
  await audit(tx, who.accountId, actorOf(who), 'cards created', { details });
  const { name } = await accountById(tx, who.accountId);
  return { company: name, codes };
}

async function sheetOf(
  people: CardPerson[],
  codes: string[],
  { company, publicUrl }: { company: string; publicUrl: string },
): Promise<NonNullable<CardPlan['sheet']>> {
  const cards: PrintedCard[] = [];
  const numbered = people.map((person, i) => ({ person, code: codes[i] as string }));
  for (const { person, code } of numbered) {
    if (cards.length % 50 === 49) await nextTurn(); // drawing a thousand codes takes a while
    const { firstName, lastName, group, language } = person;
    cards.push({
      name: `${firstName} ${lastName}`.trim(),
      group,
      language: answeringLanguages.texts.languageFor(language),
      code: printedCode(code),
      qr: await qrPathOf(`${publicUrl}/go#${code}`),
    });
  }
  const languages = [...new Set(cards.map(({ language }) => language))];
  const texts = languages.map(
    (language) => [language, cardTextsIn(language, { company, publicUrl })] as const,
  );
  return { company, texts: Object.fromEntries(texts), cards };
}
