// Links of cards are stored while cards are printed and removed: in any order, none waits for another forever.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { cardKeyOf } from '../../cards/card-key.ts';
import { inTransaction } from '../../db/db.ts';
import { issueCards, storeCardLinks } from '../../rounds/card-links.ts';
import { noon } from '../../testing/asking.ts';
import { caseCount } from '../../testing/house/cases.ts';
import { openWorld, type World } from '../../testing/world.ts';
import { openOffice } from './entry.fixture.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld(undefined, {}, () => noon); // so that the service does not close the week meanwhile
});
afterAll(() => world?.close());

const shuffled = <T>(list: readonly T[]): T[] =>
  list
    .map((one) => [Math.random(), one] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, one]) => one);

test('the job that stores links, printing and removing cards at the same time, in any order, end without a deadlock', async () => {
  const office = await openOffice(world, { count: 200 });
  const { accountId, userIds, request } = office;
  await office.print();
  const some = (count: number) => shuffled(userIds).slice(0, count);
  const deadlocks = async () => {
    const [row] = await world.pool<{ count: number }[]>`
      select deadlocks::integer as count from pg_stat_database where datname = current_database()`;
    return row!.count;
  };
  const before = await deadlocks();
  const store = () => storeCardLinks(world.pool, world.keys.secrets);
  const print = () => office.print(some(150));
  const key = await cardKeyOf(world.pool, world.keys.secrets);
  // As printing does, but in a random order. The job has the order of IDs.
  const issue = () =>
    inTransaction(world.pool, async (tx) => {
      await lockAccount(tx, accountId);
      await issueCards(tx, key, { accountId, by: userIds[0] as number }, some(150));
    });
  const remove = async () => {
    const { status } = await request('POST /cards/removal', { chosen: { ids: some(10) }, isPreview: false });
    expect(status).toBe(200);
  };
  const works = [store, store, issue, issue, print, remove];
  for (let i = 0; i < caseCount('CARD_RACES', 80); i++) {
    // As if people had just been asked.
    await world.pool`delete from links where account_id = ${accountId}`;
    const running = shuffled(works).map(async (work) => {
      await sleep(Math.random() * 30);
      await work();
    });
    const ended = await Promise.allSettled(running);
    const failed = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []));
    expect(failed).toEqual([]);
  }
  // PostgreSQL writes its statistics within a second.
  await sleep(1500);
  expect(await deadlocks()).toBe(before);
  // Each card has the link of its own digest.
  await store();
  const [row] = await world.pool<{ cards: number; links: number }[]>`
    select (select count(*)::integer from cards where account_id = ${accountId}) as cards,
           (select count(*)::integer from links where account_id = ${accountId} and from_card) as links`;
  expect(row!.links).toBe(row!.cards);
});
