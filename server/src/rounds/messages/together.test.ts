// What sending writes about several people while they are removed, or while their week closes: neither waits for the other forever.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../../accounts/accounts.ts';
import { allChannels } from '../../base/messages/channels.ts';
import { forWholeLists, inTransaction, openPool, type Pool } from '../../db/db.ts';
import { deleteUsers } from '../../people/users.sql.ts';
import { endWeek } from '../../results/close-week.sql.ts';
import { askPeople } from '../../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../../testing/database.ts';
import { endsOfBoth, keepOpen } from '../../testing/keep-open.ts';
import { newLinks } from '../links.ts';
import { replaceLinks } from './link-notices.sql.ts';
import { endLost } from './lost-messages.sql.ts';
import { beginSending, recordSent } from './sent-messages.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/**
 * Two people who are asked. The sender comes to the second one first. `pool`: of the sender, whose plans are in this order. `lists`: of those who
 * remove people.
 */
async function scene() {
  const settings = { enable_seqscan: 'off', enable_hashjoin: 'off', enable_mergejoin: 'off' };
  const [pool, lists] = [openPool(database.url, 3, { settings }), openPool(database.url, 2, forWholeLists)];
  onTestFinished(async () => void (await Promise.all([pool.end({ timeout: 5 }), lists.end({ timeout: 5 })])));
  const accountId = await inTransaction(
    database.pool,
    async (tx) => (await createAccount(tx, { name: 'Nordwind', timezone: 'UTC' })).id,
  );
  const asked = await askPeople(database, accountId, { count: 2 });
  const { userIds, week, scheduleId } = asked;
  const people = userIds
    .toReversed()
    .map((userId) => ({ accountId, userId, week, address: 'new@example.org' }));
  const keys = people.map(({ userId }) => ({
    accountId,
    userId,
    week,
    scheduleId,
    kind: 'invitation' as const,
  }));
  return { ...asked, accountId, pool, lists, people, keys };
}
type Scene = Awaited<ReturnType<typeof scene>>;

const anyone = '00000000-0000-4000-8000-000000000000';

const recordBoth = ({ pool, keys }: Scene) =>
  recordSent(
    pool,
    keys.map((key) => ({ key, address: 'a@example.org' })),
  );

/** What sending does with both people, by its name: the table whose rows it locks, what is there before, and the statement. */
const writes: Record<
  string,
  { table: string; before?: (scene: Scene) => Promise<unknown>; write: (scene: Scene) => Promise<unknown> }
> = {
  'begins to send': {
    table: 'messages',
    write: ({ pool, keys }) =>
      beginSending(
        pool,
        keys.map((key) => ({ key, respondent: anyone, sealed: [] })),
      ),
  },
  'records what was sent': {
    table: 'messages',
    write: recordBoth,
  },
  'records what was sent to people whose last invitation was rejected': {
    table: 'messages',
    before: ({ accountId }) => database.pool`
      insert into mail_refusals (account_id, user_id, address, reason)
      select account_id, user_id, email, '' from users where account_id = ${accountId}`,
    write: recordBoth,
  },
  'ends messages of a process that was killed': {
    table: 'messages',
    // The second one was begun first, so that it comes first in the table.
    before: async ({ accountId, people }) => {
      for (const { userId } of people)
        await database.pool`
          update messages set state = 'sending', begun_at = now() - interval '1 hour'
          where  account_id = ${accountId} and user_id = ${userId}`;
    },
    write: () => endLost(database.pool, allChannels),
  },
  'creates links': {
    table: 'participants',
    write: ({ pool, people }) =>
      newLinks(
        pool,
        people.map((one) => ({ ...one, sentTo: one.address })),
      ),
  },
  'replaces links': {
    table: 'links',
    before: async ({ accountId, people }) => {
      await database.pool`update links set sent_to = 'old@example.org' where account_id = ${accountId}`;
      await newLinks(
        database.pool,
        people.map((one) => ({ ...one, sentTo: one.address })),
      );
    },
    write: ({ pool, people }) => replaceLinks(pool, people),
  },
};

const removals: Record<string, (scene: Scene) => Promise<unknown>> = {
  'people are removed': ({ lists, accountId, userIds }) =>
    inTransaction(lists, (tx) => deleteUsers(tx, accountId, userIds)),
  'their week closes': ({ lists, accountId, week }) =>
    inTransaction(lists, (tx) => endWeek(tx, accountId, week)),
};

const cases = Object.keys(writes).flatMap((write) =>
  Object.keys(removals).map((removal) => [write, removal]),
);

test.each(cases)('a sender %s while %s', async (write, removal) => {
  const { table, before, write: run } = writes[write as string]!;
  const one = await scene();
  await before?.(one);
  // Someone has locked the row that is deleted first, so that the deletion is in its middle when the sender comes.
  const ended = await endsOfBoth(
    database.pool,
    (tx) => tx`
      select from ${tx(table)} where account_id = ${one.accountId} and user_id = ${one.userIds[0] as number} for update`,
    () => removals[removal as string]!(one),
    () => run(one),
  );
  expect(ended.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))).toEqual([]);
  expect([...(await database.pool`select from messages where account_id = ${one.accountId}`)]).toEqual([]);
});

test('two processes send a person one reminder in a week, even if each has that of another schedule at the same time', async () => {
  const { accountId, keys } = await scene();
  const [one] = keys as [(typeof keys)[number]];
  const reminders = [1, 2].map((scheduleId) => ({ ...one, scheduleId, kind: 'reminder' as const }));
  for (const { userId, week, scheduleId, kind } of reminders)
    await database.pool`
      insert into messages (account_id, user_id, week, schedule_id, kind, due_at, any_hour)
      values (${accountId}, ${userId}, ${week}, ${scheduleId}, ${kind}, now(), true)`;
  const begin = (db: Pool, i: number) =>
    beginSending(db, [{ key: reminders[i] as (typeof reminders)[number], respondent: anyone, sealed: [] }]);
  const begun: boolean[][] = [];
  const release = await keepOpen(database.pool, async (tx) => begun.push(await begin(tx, 0)));
  begun.push(await begin(database.pool, 1));
  await release(); // which ends the first one without a message
  begun.push(await begin(database.pool, 1), await begin(database.pool, 0));
  expect(begun).toEqual([[true], [false], [true], [false]]);
});
