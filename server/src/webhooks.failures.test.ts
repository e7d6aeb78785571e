// Webhooks when the service is killed again and again: each event that was committed arrives at least once, none is lost, and the events of a
// subject arrive in their order. WEBHOOK_KILLS=50 kills it fifty times.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Pool } from './db/db.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { home, started, useDirectory } from './testing/processes/processes.ts';
import { until } from './testing/until.ts';
import {
  happen,
  type Manner,
  networks,
  newAccount,
  newEndpoint,
  openReceiver,
  type Receiver,
  taken,
} from './webhooks/webhooks.fixture.ts';

useDirectory();

const kills = Number(process.env['WEBHOOK_KILLS'] ?? 3);
const paths = ['/steady', '/flaky', '/down'];
const subjects = ['2026-11-02', '2026-11-09', '2026-11-16'];

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

test(`after ${kills} kills, each event has arrived at each endpoint, in order, with a valid signature`, async () => {
  const { pool, url } = database;
  const environment = {
    DATABASE_URL: url,
    ANSWER_KEYS: 'database',
    OUTGOING_NETWORKS: networks.join(','),
    BACKUP_DIR: 'off',
  };
  const dataDir = join(home, 'data');
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  let service = await started(dataDir, environment);
  const keys = new AnswerKeys(pool, { place: 'database', directory: join(dataDir, 'keys') });
  const account = await newAccount(pool);
  for (const path of paths) await newEndpoint({ pool, keys }, account, receiver, path);
  const state = { isOver: false, areDown: true };
  receiver.manner = ({ path }) => mannerOf(path, state.areDown);
  const writing = subjects.map((week) => write(pool, account.accountId, week, receiver, state));

  for (let i = 0; i < kills; i++) {
    const before = receiver.got.length;
    await until(async () => receiver.got.length > before + Math.random() * 40);
    service.child.kill('SIGKILL');
    await service.exited;
    // Its claims run out after a minute.
    await pool`update webhook_endpoints set claimed_until = now()`;
    service = await started(dataDir, environment);
    await skipWaits(pool);
  }
  state.isOver = true;
  const written = new Map((await Promise.all(writing)).map((ids, i) => [subjects[i] as string, ids]));
  state.areDown = false;
  const all = [...written.values()].flat();
  await until(async () => {
    await skipWaits(pool);
    return paths.every((path) => new Set(taken(receiver, path)).size === all.length);
  });

  expect(all.length).toBeGreaterThan(10 * kills);
  expect(receiver.got.filter(({ signedBy }) => signedBy.length !== 1)).toEqual([]);
  for (const path of paths) {
    const first = [...new Set(taken(receiver, path))];
    for (const [week, ids] of written)
      expect([path, week, first.filter((id) => ids.includes(id))]).toEqual([path, week, ids]);
  }
}, 600_000);

function mannerOf(path: string, areDown: boolean): Manner {
  if (path === '/steady' || !areDown) return { status: 204 };
  if (path === '/down') return 'hangs up';
  const number = Math.random();
  return number < 0.1 ? 'hangs up' : number < 0.3 ? { status: 500 } : { status: 204 };
}

/** Records events about a week as long as the steady endpoint keeps up. Returns their ids. */
async function write(
  pool: Pool,
  accountId: number,
  week: string,
  receiver: Receiver,
  state: { isOver: boolean },
): Promise<string[]> {
  const ids: string[] = [];
  while (!state.isOver) {
    ids.push(await happen(pool, accountId, week));
    await until(
      async () => state.isOver || ids.length < 10 + taken(receiver, '/steady').length / subjects.length,
    );
  }
  return ids;
}

/**
 * Time passes, so that everything that waits is due. Attempts are counted as few, because an event is given up after three days of them, and
 * the outage is shorter.
 */
async function skipWaits(pool: Pool): Promise<void> {
  await pool`update webhook_deliveries set attempts = 2 where state = 'waiting' and attempts > 2`;
  await pool`update webhook_endpoints set paused_until = null`;
  await pool`update webhook_deliveries set next_attempt_at = now() where state = 'waiting' and next_attempt_at > now()`;
  await pool`select graphile_worker.add_job('send webhooks', '{}')`;
}
