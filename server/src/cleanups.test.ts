// Recurring jobs that change rows of all accounts, while others change the same rows in another order: neither waits for the other forever.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { deleteEndedSessions } from './auth/sessions.sql.ts';
import { deleteExpiredLinks } from './auth/sign-in-links.sql.ts';
import { deleteUnconfirmed } from './auth/two-factor.sql.ts';
import { type Fragment, forWholeLists, inTransaction, openPool } from './db/db.ts';
import { endLostDigests } from './digests/digests.sql.ts';
import { deleteUsers } from './people/users.sql.ts';
import { deleteOldRuns, deleteUnappliedChanges, eraseUserChanges } from './sync/runs.sql.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { endsOfBoth } from './testing/keep-open.ts';
import { deleteOldEvents, unblockDeliveries, updateSent } from './webhooks/deliveries.sql.ts';
import { deleteEndpoint } from './webhooks/endpoints.sql.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

/** An account with two people and an endpoint. `lists`: the pool of a process that changes whole lists. */
async function scene() {
  const { pool } = database;
  const lists = openPool(database.url, 2, forWholeLists);
  onTestFinished(() => lists.end({ timeout: 5 }));
  const accountId = await inTransaction(
    pool,
    async (tx) => (await createAccount(tx, { name: 'Nordwind', timezone: 'UTC' })).id,
  );
  const users = await pool<{ id: number }[]>`
    insert into users (account_id, external_id, first_name, last_name, managed, active, role)
    select ${accountId}, 'p' || i, 'P', i::text, false, true, 'User' from generate_series(1, 2) i
    returning user_id as id`;
  const [endpoint] = await pool<{ id: number }[]>`
    insert into webhook_endpoints (account_id, url, events, secret)
    values (${accountId}, 'http://127.0.0.1', '{week.opened}', '') returning endpoint_id as id`;
  return { pool, lists, accountId, userIds: users.map(({ id }) => id), endpointId: endpoint!.id };
}
type Scene = Awaited<ReturnType<typeof scene>>;

/** For each person, the second one first, so that the rows are in this order in their table. */
const ofPeople = async ({ userIds }: Scene, insert: (userId: number) => PromiseLike<unknown>) => {
  for (const userId of userIds.toReversed()) await insert(userId);
};

const removePeople = ({ lists, accountId, userIds }: Scene) =>
  inTransaction(lists, (tx) => deleteUsers(tx, accountId, userIds));

/** Two runs that are 500 days old and applied nothing, each with a change of each person, and a newer one. */
async function insertRuns({ pool, accountId }: Scene): Promise<void> {
  await pool`
    insert into runs (account_id, run_id, at, source, validate_only, outcome, summary)
    select ${accountId}, ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid,
           now() - make_interval(days => case i when 3 then 0 else 500 end), 'api', true, 'validated', '{"users":{"updated":2}}'
    from   generate_series(1, 3) i`;
  await pool`
    insert into run_changes (account_id, run_id, position, entity, external_id, action, fields)
    select account_id, run_id, i, 'user', 'p' || 3 - i, 'update', '[]'
    from   runs, generate_series(1, 2) i where account_id = ${accountId}
    order  by run_id, i`;
}

const erase = ({ lists, accountId }: Scene) =>
  inTransaction(lists, (tx) => eraseUserChanges(tx, accountId, ['p1', 'p2']));

/** Two events that are a year old, with their deliveries, which are in the other order in their table. */
async function insertEvents({ pool, accountId, endpointId }: Scene): Promise<void> {
  await pool`
    insert into webhook_events (account_id, message_id, type, subject, data, occurred_at)
    select ${accountId}, gen_random_uuid()::text, 'week.opened', 's', '{}', now() - make_interval(days => 360 + i)
    from   generate_series(1, 2) i`;
  await pool`
    insert into webhook_deliveries (account_id, endpoint_id, event_id, subject, unavailable, is_blocked, next_attempt_at)
    select account_id, ${endpointId}, event_id, subject || event_id, true, true, now() + interval '1 day'
    from   webhook_events where account_id = ${accountId} order by event_id desc`;
}

const isFirstPerson = ({ pool, accountId, userIds }: Scene) =>
  pool`account_id = ${accountId} and user_id = ${userIds[0]!}`;

type Case = {
  table: string;
  before: (scene: Scene) => Promise<unknown>;
  /** Condition: the row that `other` comes to first. */
  first: (scene: Scene) => Fragment;
  other: (scene: Scene) => Promise<unknown>;
  job: (scene: Scene) => Promise<unknown>;
  /** How many rows another table has after the next call. */
  left?: { of: string; count: number };
};

const cases: Record<string, Case> = {
  'expired sessions, while people are removed': {
    table: 'sessions',
    before: (one) =>
      ofPeople(
        one,
        (userId) => one.pool`
          insert into sessions (hash, account_id, user_id, seen_at, address, agent)
          values (sha256(${String(userId)}::bytea), ${one.accountId}, ${userId}, now() - interval '9 days', '', '')`,
      ),
    first: isFirstPerson,
    other: removePeople,
    job: ({ pool }) => deleteEndedSessions(pool),
  },
  'expired links for signing in, while people are removed': {
    table: 'sign_in_links',
    before: (one) =>
      ofPeople(
        one,
        (userId) => one.pool`
          insert into sign_in_links (hash, account_id, user_id, kind, expires_at)
          values (sha256(${String(userId)}::bytea), ${one.accountId}, ${userId}, 'given', now() - interval '1 hour')`,
      ),
    first: isFirstPerson,
    other: removePeople,
    job: ({ pool }) => deleteExpiredLinks(pool),
  },
  'secrets for two-factor codes that were not confirmed, while people are removed': {
    table: 'two_factor',
    before: (one) =>
      ofPeople(
        one,
        (userId) => one.pool`
          insert into two_factor (account_id, user_id, secret, created_at)
          values (${one.accountId}, ${userId}, '', now() - interval '2 days')`,
      ),
    first: isFirstPerson,
    other: removePeople,
    job: ({ pool }) => deleteUnconfirmed(pool),
  },
  'digests of a process that was killed, while people are removed': {
    table: 'digests',
    before: (one) =>
      ofPeople(
        one,
        (userId) => one.pool`
          insert into digests (account_id, user_id, week, state, planned_at, due_at, begun_at, sent_week)
          values (${one.accountId}, ${userId}, '2026-11-16', 'sending', now(), now(), '2026-11-01', '2026-11-23')`,
      ),
    first: isFirstPerson,
    other: removePeople,
    job: ({ pool }) => endLostDigests(pool, Date.now()),
  },
  'changes of dry runs, while those of people who are removed are erased': {
    table: 'run_changes',
    before: insertRuns,
    first: ({ pool, accountId }) => pool`account_id = ${accountId} and external_id = 'p1'`,
    other: erase,
    job: ({ pool }) => deleteUnappliedChanges(pool, null, 0),
    left: { of: 'run_changes', count: 2 },
  },
  'old runs, while changes of people who are removed are erased': {
    table: 'run_changes',
    before: insertRuns,
    first: ({ pool, accountId }) => pool`account_id = ${accountId} and external_id = 'p1'`,
    other: erase,
    job: ({ pool }) => deleteOldRuns(pool, 400),
    left: { of: 'runs', count: 1 },
  },
  'old events, while an endpoint is deleted': {
    table: 'webhook_deliveries',
    before: insertEvents,
    first: ({ pool, accountId }) =>
      pool`account_id = ${accountId} and event_id = (select min(event_id) from webhook_events where account_id = ${accountId})`,
    other: ({ lists, accountId, endpointId }) =>
      inTransaction(lists, (tx) => deleteEndpoint(tx, accountId, endpointId)),
    job: ({ pool }) => deleteOldEvents(pool, 30),
    left: { of: 'webhook_events', count: 0 },
  },
  'deliveries that wait for none, while an endpoint is available again': {
    table: 'webhook_deliveries',
    before: async (one) => {
      await insertEvents(one);
      await one.pool`update webhook_endpoints set failures = 1 where account_id = ${one.accountId}`;
    },
    first: ({ pool, accountId }) =>
      pool`account_id = ${accountId} and event_id = (select min(event_id) from webhook_events where account_id = ${accountId})`,
    other: ({ lists, accountId, endpointId }) =>
      inTransaction(lists, async (tx) => {
        const [event] = await tx<{ id: number }[]>`
          select min(event_id)::integer as id from webhook_events where account_id = ${accountId}`;
        await updateSent(tx, { accountId, endpointId, eventId: event!.id }, { status: 204, now: Date.now() });
      }),
    job: ({ pool }) => unblockDeliveries(pool),
  },
};

test.each(Object.keys(cases))('%s', async (name) => {
  const { table, before, first, other, job, left } = cases[name] as Case;
  const one = await scene();
  await before(one);
  // Someone has locked the row that the other one comes to first, so that it is in its middle when the job comes.
  const ended = await endsOfBoth(
    one.pool,
    (tx) => tx`select from ${tx(table)} where ${first(one)} for update`,
    () => other(one),
    () => job(one),
  );
  expect(ended.flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))).toEqual([]);
  if (!left) return;
  await job(one);
  expect(await one.pool`select from ${one.pool(left.of)} where account_id = ${one.accountId}`).toHaveLength(
    left.count,
  );
});
