// Sending webhooks to real receivers: signatures, retries, order, and that an endpoint that fails delays only itself.
import { maxFailingDays, retryDelays } from '@soundings/contract/webhooks/events.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { changeEndpoint, rotateSecret, sendDeliveriesAgain, sendTest } from './endpoints.ts';
import { keepOpen, untilWaiting } from '../testing/keep-open.ts';
import { deleteEndpoint, selectEndpoints } from './endpoints.sql.ts';
import { deleteOldEvents, selectDeliveries, updateFailedAttempt, updateSent } from './deliveries.sql.ts';
import {
  actorOf,
  happen,
  networks,
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

const hour = 3_600_000;
const day = 24 * hour;

/** An account with an endpoint, its receiver, and a sender with its own clock. */
async function scene() {
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const account = await newAccount(database.pool);
  const endpointId = await newEndpoint(database, account, receiver, '/a');
  const time = { now: Date.now() + 1000 };
  const { accountId, userId } = account;
  const send = () => sendDue(senderOf(database, time));
  const log = async () =>
    (await selectDeliveries(database.pool, accountId, endpointId, { state: null, offset: 0, limit: 100 }))
      .rows;
  const endpoint = async () => (await selectEndpoints(database.pool, accountId, endpointId))[0]!;
  return {
    ...account,
    receiver,
    endpointId,
    time,
    send,
    log,
    endpoint,
    actor: actorOf(userId),
    pool: database.pool,
  };
}

test('an event arrives once, signed for its endpoint, with its id, type, time and data', async () => {
  const { pool, accountId, receiver, send, log } = await scene();
  const id = await happen(pool, accountId, '2026-11-16');
  await send();
  await send();
  expect(receiver.got).toEqual([
    {
      id,
      path: '/a',
      type: 'week.opened',
      data: { week: '2026-11-16' },
      signedBy: receiver.secrets.get('/a'),
      status: 204,
    },
  ]);
  expect(await log()).toMatchObject([
    { messageId: id, state: 'sent', attempts: 1, status: 204, error: null, nextAttemptAt: null },
  ]);
});

test('only endpoints of the account that want the type get an event, including those that are created later never', async () => {
  const { pool, accountId, userId, receiver, send } = await scene();
  const other = await newAccount(pool);
  await newEndpoint(database, { accountId, userId }, receiver, '/closed', ['week.closed']);
  await newEndpoint(database, other, receiver, '/other');
  await happen(pool, accountId, '2026-11-16');
  await newEndpoint(database, { accountId, userId }, receiver, '/late');
  await send();
  expect(receiver.got.map(({ path }) => path)).toEqual(['/a']);
});

test('a failed request is sent again for about three days by the schedule, with the same id, and then given up', async () => {
  const { pool, accountId, receiver, time, send, log } = await scene();
  const start = time.now;
  receiver.manner = () => ({ status: 500 });
  const id = await happen(pool, accountId, '2026-11-16');
  await send();
  for (const delay of retryDelays) {
    time.now += delay * 1000 - 1;
    await send();
    const before = receiver.got.length;
    time.now += 1;
    await send();
    expect(receiver.got.length).toBe(before + 1);
  }
  expect(new Set(receiver.got.map((one) => one.id))).toEqual(new Set([id]));
  expect(receiver.got).toHaveLength(retryDelays.length + 1);
  expect((time.now - start) / day).toBeCloseTo(3.15, 1);
  expect(await log()).toMatchObject([{ state: 'failed', attempts: 10, status: 500, nextAttemptAt: null }]);
  time.now += 10 * day;
  await send();
  expect(receiver.got).toHaveLength(retryDelays.length + 1);
});

test('events of a subject arrive in their order: a later one waits until the earlier one has arrived or is given up', async () => {
  const { pool, accountId, receiver, time, send } = await scene();
  const [opened, other, closed] = [
    await happen(pool, accountId, '2026-11-16', 'week.opened'),
    await happen(pool, accountId, '2026-11-09', 'week.opened'),
    await happen(pool, accountId, '2026-11-16', 'week.closed'),
  ];
  receiver.manner = ({ id }) => ({ status: id === opened ? 500 : 204 });
  await send();
  time.now += 5000;
  await send();
  expect(taken(receiver)).toEqual([other]);
  receiver.manner = () => ({ status: 204 });
  time.now += 300_000;
  await send();
  expect(taken(receiver)).toEqual([other, opened, closed]);
});

test.each(['silent', 'hangs up', { status: 503 }] as const)(
  'an endpoint that is not available (%j) gets one request at a time, and everything as soon as it takes one',
  async (manner) => {
    const { pool, accountId, receiver, time, send } = await scene();
    receiver.manner = () => manner;
    for (let i = 0; i < 8; i++) await happen(pool, accountId, `2026-11-${10 + i}`);
    await send();
    const first = receiver.got.length;
    expect(first).toBeLessThanOrEqual(4);
    await send();
    expect(receiver.got).toHaveLength(first);
    time.now += 5 * 60_000;
    await send();
    expect(receiver.got).toHaveLength(first + 1);
    receiver.manner = () => ({ status: 200 });
    time.now += 5 * 60_000;
    await send();
    expect(new Set(taken(receiver)).size).toBe(8);
  },
);

test('an endpoint can ask for a pause with Retry-After, but for a day at most', async () => {
  const { pool, accountId, receiver, time, send } = await scene();
  receiver.manner = () => ({ status: 429, headers: { 'retry-after': '3600' } });
  await happen(pool, accountId, '2026-11-16');
  await send();
  time.now += hour - 1;
  await send();
  expect(receiver.got).toHaveLength(1);
  receiver.manner = () => ({ status: 503, headers: { 'retry-after': '999999999' } });
  time.now += 1;
  await send();
  time.now += day;
  await send();
  expect(receiver.got).toHaveLength(3);
});

test('a redirect, and an address that now leads into a private network, are failures', async () => {
  const { pool, accountId, receiver, time, log } = await scene();
  receiver.manner = () => ({ status: 302, headers: { location: `${receiver.url}/elsewhere` } });
  await happen(pool, accountId, '2026-11-16');
  await sendDue(senderOf(database, time));
  expect(receiver.got.map(({ path }) => path)).toEqual(['/a']);
  expect(await log()).toMatchObject([{ state: 'waiting', status: 302 }]);
  time.now += 5000;
  await sendDue(senderOf(database, time, { networks: [] }));
  expect(receiver.got).toHaveLength(1);
  expect(await log()).toMatchObject([{ state: 'waiting', status: null, error: 'EFORBIDDENADDRESS' }]);
});

test('an endpoint that fails for five days is turned off, and an endpoint that is gone immediately; what waits is sent when it is on', async () => {
  const { pool, accountId, endpointId, receiver, time, send, endpoint, actor } = await scene();
  receiver.manner = () => ({ status: 500 });
  for (let i = 0; i <= maxFailingDays + 1; i++) {
    await happen(pool, accountId, `2026-11-${10 + i}`);
    for (let j = 0; j < 4; j++) {
      await send();
      time.now += 6 * hour;
    }
  }
  expect((await endpoint()).turnedOff).toBe('failing');
  const before = receiver.got.length;
  const last = await happen(pool, accountId, '2026-12-01');
  await send();
  expect(receiver.got).toHaveLength(before);

  receiver.manner = () => ({ status: 204 });
  const turnOn = () =>
    inTransaction(pool, (tx) =>
      changeEndpoint(tx, accountId, endpointId, { isOn: true }, { actor, networks }),
    );
  await turnOn();
  await send();
  expect(taken(receiver)).toContain(last);
  expect(await endpoint()).toMatchObject({ turnedOff: null, failingSince: null });

  receiver.manner = () => ({ status: 410 });
  await happen(pool, accountId, '2026-12-08');
  await send();
  expect((await endpoint()).turnedOff).toBe('gone');
  const entries = await pool<{ action: string }[]>`
    select action from audit_entries where account_id = ${accountId} and action like 'webhook%' order by entry_id`;
  expect(entries.map(({ action }) => action)).toEqual([
    'webhook created',
    'webhook turned off',
    'webhook changed',
    'webhook turned off',
  ]);
});

test('an endpoint that never responds does not delay the others, of the same or another account', async () => {
  const { pool, accountId, userId, receiver, time } = await scene();
  const other = await newAccount(pool);
  await newEndpoint(database, { accountId, userId }, receiver, '/same');
  await newEndpoint(database, other, receiver, '/other');
  const fast = Promise.withResolvers<void>();
  receiver.manner = ({ path }) => {
    if (path === '/a') return 'silent';
    if (receiver.got.filter(({ status }) => status === 204).length === 1) fast.resolve();
    return { status: 204 };
  };
  for (const one of [accountId, other.accountId]) await happen(pool, one, '2026-11-16');
  const sender = senderOf(database, time, { times: { connect: 500, response: 60_000, body: 100 } });
  await sender.wake();
  await fast.promise;
  receiver.close();
  await sender.settled();
  expect(
    receiver.got
      .filter(({ status }) => status === 204)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(['/other', '/same']);
});

test('requests are signed with the new and the previous secret for a day after a rotation', async () => {
  const { pool, accountId, endpointId, receiver, time, send, actor } = await scene();
  const [old] = receiver.secrets.get('/a')!;
  const changing = { actor, secrets: database.keys.secrets };
  const fresh = await inTransaction(pool, (tx) =>
    rotateSecret(tx, accountId, endpointId, changing, time.now),
  );
  receiver.secrets.set('/a', [old!, fresh]);
  await happen(pool, accountId, '2026-11-09');
  await send();
  time.now += day + 1;
  await happen(pool, accountId, '2026-11-16');
  await send();
  expect(receiver.got.map(({ signedBy }) => signedBy)).toEqual([[old, fresh], [fresh]]);
});

test('a test event goes to its endpoint only, and everything can be sent again, with the same id', async () => {
  const { pool, accountId, userId, endpointId, receiver, time, send, log, actor } = await scene();
  await newEndpoint(database, { accountId, userId }, receiver, '/b');
  await inTransaction(pool, (tx) => sendTest(tx, accountId, endpointId, actor));
  await send();
  expect(receiver.got).toMatchObject([{ path: '/a', type: 'webhook.test', data: { endpointId } }]);
  receiver.manner = () => ({ status: 400 });
  await happen(pool, accountId, '2026-11-16');
  for (const delay of [0, ...retryDelays]) {
    time.now += delay * 1000;
    await send();
  }
  receiver.manner = () => ({ status: 204 });
  receiver.got.length = 0;
  const again = (id: number | null) =>
    inTransaction(pool, (tx) => sendDeliveriesAgain(tx, accountId, endpointId, id, actor));
  expect(await again(null)).toBe(1);
  expect(await again((await log()).at(-1)!.id)).toBe(1);
  await send();
  const ids = (await log()).map(({ messageId }) => messageId);
  expect(
    receiver.got
      .filter(({ path }) => path === '/a')
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(ids.toSorted());
  await expect(again(999_999)).rejects.toMatchObject({ code: 'delivery not found' });
});

test('two processes never send to an endpoint at the same time, and the claim of a killed one ends', async () => {
  const { pool, accountId, endpointId, receiver, time } = await scene();
  await happen(pool, accountId, '2026-11-16');
  await pool`update webhook_endpoints set claimed_by = gen_random_uuid(), claimed_until = ${new Date(time.now + 60_000)}
             where account_id = ${accountId} and endpoint_id = ${endpointId}`;
  const senders = [senderOf(database, time), senderOf(database, time)];
  await Promise.all(senders.map(sendDue));
  expect(receiver.got).toHaveLength(0);
  time.now += 60_001;
  await Promise.all(senders.map(sendDue));
  expect(receiver.got).toHaveLength(1);
});

test('without the key of its secret, nothing is sent unsigned', async () => {
  const { pool, accountId, receiver, time, log } = await scene();
  await happen(pool, accountId, '2026-11-16');
  const lost = { seal: database.keys.secrets.seal, open: async () => undefined };
  await sendDue(senderOf(database, time, { secrets: lost }));
  expect(receiver.got).toHaveLength(0);
  expect(await log()).toMatchObject([{ state: 'waiting', error: 'ESECRET' }]);
});

test('events are deleted after 30 days, with their deliveries', async () => {
  const { pool, accountId, log } = await scene();
  await happen(pool, accountId, '2026-11-09');
  const kept = await happen(pool, accountId, '2026-11-16');
  await pool`update webhook_events set occurred_at = now() - interval '31 days'
             where account_id = ${accountId} and message_id <> ${kept}`;
  await deleteOldEvents(pool, 30);
  expect((await log()).map(({ messageId }) => messageId)).toEqual([kept]);
});

test.each(['taken', 'failed'])(
  'an endpoint can be deleted while it is recorded that it has %s an event: neither waits for the other forever',
  async (outcome) => {
    const { pool, accountId, endpointId } = await scene();
    await happen(pool, accountId, '2026-11-16');
    await pool`update webhook_endpoints set failures = 1 where account_id = ${accountId}`;
    const [delivery] = await pool<{ eventId: number }[]>`
      select event_id::integer as "eventId" from webhook_deliveries where account_id = ${accountId}`;
    const place = { accountId, endpointId, eventId: delivery!.eventId };
    const now = Date.now();
    const failed = { status: 500, error: 'ESTATUS', isUnavailable: true, next: now + 1000, pauseMs: 1000 };
    const release = await keepOpen(
      pool,
      (tx) => tx`select from webhook_deliveries where account_id = ${accountId} for update`,
    );
    const recorded = inTransaction(pool, async (tx) => {
      if (outcome === 'taken') await updateSent(tx, place, { status: 204, now });
      else await updateFailedAttempt(tx, place, failed, now);
    });
    await untilWaiting(pool, 1);
    const deleted = inTransaction(pool, (tx) => deleteEndpoint(tx, accountId, endpointId));
    await untilWaiting(pool, 2);
    await release();
    const ended = await Promise.allSettled([recorded, deleted]);
    expect(ended.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  },
);
