// Sending what waits takes a time that is proportional to its number, whether it is about many subjects or about one.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction, type Transaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import {
  claimEndpoints,
  releaseEndpoint,
  takeDeliveries,
  unblockDeliveries,
  updateSent,
} from './deliveries.sql.ts';
import {
  happen,
  newAccount,
  newEndpoint,
  openReceiver,
  sendDue,
  senderOf,
  taken,
} from './webhooks.fixture.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.keys.secrets.prepare();
});
afterAll(() => database.close());

const waiting = 3_000;

/** Creates an endpoint for which events of some subjects wait. */
async function openBacklog(subjects: number): Promise<void> {
  const { pool } = database;
  await pool`delete from webhook_endpoints`;
  const { accountId } = await newAccount(pool);
  await pool`insert into webhook_endpoints (account_id, url, events, secret) values (${accountId}, 'http://127.0.0.1', '{week.opened}', '')`;
  await pool`
    insert into webhook_events (account_id, message_id, type, subject, data)
    select ${accountId}, gen_random_uuid()::text, 'week.opened', 's' || i % ${subjects}::integer, '{}' from generate_series(1, ${waiting}) i`;
  await pool`
    insert into webhook_deliveries (account_id, endpoint_id, event_id, subject)
    select v.account_id, e.endpoint_id, v.event_id, v.subject
    from   webhook_events v join webhook_endpoints e using (account_id) where v.account_id = ${accountId}`;
  await pool`analyze webhook_deliveries, webhook_endpoints, webhook_events`;
}

/** Sends, as far as the database is concerned, some of what waits, and returns how many. */
async function sendSome(tx: Transaction): Promise<number> {
  const now = Date.now() + 1000;
  const until = now + 60_000;
  const [claimed] = await claimEndpoints(tx, {
    claim: crypto.randomUUID(),
    count: 16,
    perAccount: 4,
    now,
    until,
  });
  if (!claimed) return 0;
  const due = await takeDeliveries(tx, claimed, { count: 4, now, until });
  for (const { eventId } of due) await updateSent(tx, { ...claimed, eventId }, { status: 204, now });
  await releaseEndpoint(tx, claimed, now);
  return due.length;
}

test.each([waiting, 1, 40])(
  'sending does not look at everything that waits for each request, of %i subjects',
  async (subjects) => {
    await openBacklog(subjects);
    await inTransaction(database.pool, async (tx) => {
      let sent = 0;
      while (sent < 240) sent += await sendSome(tx);
      const [read] = await tx<{ rows: number }[]>`
      select (seq_tup_read + idx_tup_fetch)::integer as rows from pg_stat_xact_user_tables where relname = 'webhook_deliveries'`;
      // Each of those that wait is looked at once or twice, and not once for each request.
      expect(read!.rows).toBeLessThan(120 * sent + 60 * waiting);
    });
  },
);

test('what waits behind an event that was deleted is sent', async () => {
  const { pool } = database;
  const receiver = await openReceiver();
  receiver.manner = () => ({ status: 404 });
  const account = await newAccount(pool);
  await newEndpoint(database, account, receiver, '/a');
  const time = { now: Date.now() + 1000 };
  await happen(pool, account.accountId, '2026-11-16');
  const second = await happen(pool, account.accountId, '2026-11-16', 'week.closed');
  await sendDue(senderOf(database, time));
  const [marked] = await pool`
    select message_id as id from webhook_deliveries join webhook_events using (account_id, event_id)
    where account_id = ${account.accountId} and is_blocked`;
  expect(marked).toEqual({ id: second });
  await pool`delete from webhook_events where account_id = ${account.accountId} and message_id <> ${second}`;
  receiver.manner = () => ({ status: 204 });
  time.now += 3_600_000;
  await sendDue(senderOf(database, time));
  expect(taken(receiver)).toEqual([second]);
  expect(await unblockDeliveries(pool)).toBe(0);
  receiver.close();
});
