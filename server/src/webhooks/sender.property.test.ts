// Whatever happens in whatever order: events, failures, processes that are killed, endpoints that are turned off and on, and deliveries that
// are sent again. Each event arrives at least once at each endpoint that wants it, and the events of a subject in their order.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { cases } from '../testing/house/cases.ts';
import { claimEndpoints, takeDeliveries } from './deliveries.sql.ts';
import { changeEndpoint, sendDeliveriesAgain } from './endpoints.ts';
import {
  actorOf,
  happen,
  type Manner,
  networks,
  newAccount,
  newEndpoint,
  openReceiver,
  sendDue,
  senderOf,
} from './webhooks.fixture.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
  await database.keys.secrets.prepare();
});
afterAll(() => database.close());

const paths = ['/a', '/b'] as const;
const subjects = ['2026-11-02', '2026-11-09', '2026-11-16'];

type Step =
  | { kind: 'event'; subject: number }
  /** How the receiver behaves from now on, for one endpoint. */
  | { kind: 'manner'; endpoint: number; manner: Manner }
  | { kind: 'wait'; seconds: number }
  | { kind: 'send'; processes: number }
  /** A process is killed after it has claimed endpoints, before or after the receiver got the request. */
  | { kind: 'killed'; hasSent: boolean }
  | { kind: 'switch'; endpoint: number; isOn: boolean }
  | { kind: 'again'; endpoint: number };

const endpoint = fc.nat({ max: paths.length - 1 });
const manner = fc.constantFrom<Manner>(
  { status: 204 },
  { status: 204 },
  { status: 500 },
  { status: 503 },
  { status: 404 },
  'hangs up',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('event' as const), subject: fc.nat({ max: 2 }) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('manner' as const), endpoint, manner }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), seconds: fc.constantFrom(1, 6, 400, 9000) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('send' as const), processes: fc.constantFrom(1, 2) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('killed' as const), hasSent: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('switch' as const), endpoint, isOn: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('again' as const), endpoint }) },
);

test('each event arrives at least once at each endpoint, and those of a subject in their order', async () => {
  const receiver = await openReceiver();
  const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
    const { pool } = database;
    const account = await newAccount(pool);
    const { accountId } = account;
    const actor = actorOf(account.userId);
    receiver.got.length = 0;
    const manners = new Map<string, Manner>();
    receiver.manner = ({ path }) => manners.get(path) ?? { status: 204 };
    const ids: number[] = [];
    for (const path of paths) ids.push(await newEndpoint(database, account, receiver, path));
    const time = { now: Date.now() + 1000 };
    const events: { id: string; week: string }[] = [];
    const turn = (index: number, isOn: boolean) =>
      inTransaction(pool, (tx) => changeEndpoint(tx, accountId, ids[index]!, { isOn }, { actor, networks }));

    const perform = async (one: Step): Promise<void> => {
      if (one.kind === 'event') {
        const week = subjects[one.subject] as string;
        events.push({ week, id: await happen(pool, accountId, week) });
      }
      if (one.kind === 'manner') manners.set(paths[one.endpoint] as string, one.manner);
      if (one.kind === 'wait') time.now += one.seconds * 1000;
      if (one.kind === 'send')
        await Promise.all(Array.from({ length: one.processes }, () => sendDue(senderOf(database, time))));
      if (one.kind === 'killed') await killed(time, one.hasSent);
      if (one.kind === 'switch') await turn(one.endpoint, one.isOn);
      if (one.kind === 'again')
        await inTransaction(pool, (tx) =>
          sendDeliveriesAgain(tx, accountId, ids[one.endpoint]!, null, actor),
        );
    };
    for (const one of steps) await perform(one);

    manners.clear();
    for (const index of paths.keys()) await turn(index, true);
    for (const index of paths.keys())
      await inTransaction(pool, (tx) => sendDeliveriesAgain(tx, accountId, ids[index]!, null, actor));
    for (let i = 0; i < 4; i++) {
      time.now += 100_000_000;
      await sendDue(senderOf(database, time));
    }
    expect(receiver.got.filter(({ signedBy }) => signedBy.length !== 1)).toEqual([]);
    for (const path of paths) {
      const arrived = receiver.got
        .filter((one) => one.path === path && one.status === 204)
        .map(({ id }) => id);
      for (const week of subjects) {
        const wanted = events.filter((one) => one.week === week).map(({ id }) => id);
        const first = [...new Set(arrived)].filter((id) => wanted.includes(id));
        expect([path, week, first]).toEqual([path, week, wanted]);
      }
    }
  });
  await fc.assert(property, cases(12));
  receiver.close();
});

/** A process claims what is due, perhaps sends it, and is killed before it records anything. */
async function killed(time: { now: number }, hasSent: boolean): Promise<void> {
  const { pool } = database;
  if (hasSent) {
    const broken = senderOf({ ...database, pool: withoutRecording() }, time);
    await sendDue(broken).catch(() => {});
    return;
  }
  const until = time.now + 60_000;
  const claim = crypto.randomUUID();
  const claimed = await claimEndpoints(pool, { claim, count: 16, perAccount: 4, now: time.now, until });
  for (const one of claimed) await takeDeliveries(pool, one, { count: 4, now: time.now, until });
}

/** The pool of a process that can't record what has happened: it can run statements, but no transaction, and never releases a claim. */
function withoutRecording(): TestDatabase['pool'] {
  return new Proxy(database.pool, {
    get: (pool, name) =>
      name === 'begin' ? () => Promise.reject(new Error('killed')) : (Reflect.get(pool, name) as unknown),
    apply: (pool, self, args: [TemplateStringsArray]) =>
      Array.isArray(args[0]) && args[0].join('').includes('claimed_by = null')
        ? Promise.reject(new Error('killed'))
        : (Reflect.apply(pool, self, args) as unknown),
  });
}
