// What happens to others while commits of pushes in parts run or wait, and to a commit that was given up before it began.
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { lockAccount } from '../../accounts/accounts.ts';
import { openLog } from '../../base/log.ts';
import type { Fault } from '../../base/errors.ts';
import { moduleAt } from '../../base/places.ts';
import { inTransaction, openPool } from '../../db/db.ts';
import { person } from '../../testing/organizations.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { until } from '../../testing/until.ts';
import { useService, world } from '../organization.fixture.ts';
import { openPushes } from '../pushes.ts';
import { updateLostRuns } from '../runs.sql.ts';
import { commitPush } from './commit.ts';
import { beginCommit, deletePush, openPush } from './parts.ts';
import { storePart } from './store-part.ts';

useService();

const never = new AbortController().signal;
const newRun = () =>
  ({ id: crypto.randomUUID(), source: 'api', tokenId: null, file: null, address: null }) as const;
const bytesOf = (value: object) => new TextEncoder().encode(JSON.stringify(value));

/** Opens a push of an account with one person. Returns its ID. */
async function openWith(accountId: number, externalId: string): Promise<string> {
  const pushId = crypto.randomUUID();
  await openPush(world.pool, accountId, pushId);
  const body = { bytes: bytesOf({ data: { users: [person(externalId)] } }), gzip: false };
  await storePart(world.pool, accountId, { pushId, part: 1 }, body);
  return pushId;
}

/** Locks accounts as running commits do, until the test ends or the returned function is called. */
async function lockFor(accountIds: number[]): Promise<() => Promise<void>> {
  const pool = openPool(world.databaseUrl, accountIds.length);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const locked = accountIds.map((id) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const holding = inTransaction(pool, async (tx) => {
      await lockAccount(tx, id);
      resolve();
      await released;
    });
    return { promise, holding };
  });
  await Promise.all(locked.map(({ promise }) => promise));
  const end = async () => {
    release();
    await Promise.all(locked.map(({ holding }) => holding));
    await pool.end({ timeout: 1 });
  };
  onTestFinished(end);
  return end;
}

test('a commit that was given up while it waited applies nothing of the push that replaced its own', async () => {
  const { id } = await world.account();
  const first = await openWith(id, 'first');
  const run = newRun();
  const body = { parts: 1, settings: { validateOnly: false } };
  const begun = await beginCommit(world.pool, id, { id: first, run, body });
  // While it may still wait, it is not given up.
  await updateLostRuns(world.pool);
  await expect(deletePush(world.pool, id, first)).rejects.toMatchObject({ code: 'push processing' });
  await world.pool`update runs set at = at - interval '3 minutes' where account_id = ${id}`;
  await updateLostRuns(world.pool);
  await deletePush(world.pool, id, first);
  await openWith(id, 'second');
  const commit = commitPush(world.pool, id, { ...begun, run }, async () => {});
  await expect(commit).rejects.toThrow('Commit the push again');
  const users = await world.pool`select from users where account_id = ${id} and managed`;
  const parts = await world.pool`select from push_parts where account_id = ${id}`;
  expect([users.length, parts.length]).toEqual([0, 1]);
});

test('changes in the console to an account that is locked get 503, and other accounts are served', async () => {
  const [busy, other] = [await world.account(), await world.account()];
  const { request } = await signInNew(world, busy.id, 'Administrator');
  await lockFor([busy.id]);
  const changes = Array.from({ length: 11 }, (_, i) => request('POST /groups', { name: `Group ${i}` }));
  expect((await other.groups()).length).toBe(0);
  const statuses = (await Promise.all(changes)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([503]));
});

test('commits that run or wait leave room for the requests of other accounts', async () => {
  const accounts = await Promise.all(Array.from({ length: 5 }, () => world.account()));
  const busy = accounts.slice(0, 4).map(({ id }) => id);
  const end = await lockFor(busy);
  const pushes = openPushes(moduleAt('pushes.thread'), world.databaseUrl, openLog('silent' as 'error'));
  onTestFinished(() => pushes.close(1));
  const commits = await Promise.all(
    busy.map(async (id) => {
      const run = newRun();
      const body = { parts: 1, settings: { validateOnly: false } };
      const begun = await beginCommit(world.pool, id, { id: await openWith(id, 'one'), run, body });
      return () => pushes.push(id, { run, bytes: bytesOf(begun), gzip: false, partOf: 'commit' }, never);
    }),
  );
  const running = commits.map((commit) => commit());
  const sent = { run: newRun(), bytes: bytesOf({ data: { users: [] } }), gzip: false };
  expect((await pushes.push(accounts[4]!.id, sent, never)).length).toBeGreaterThan(0);
  await end();
  await Promise.all(running);
  await until(async () => {
    const applied = await world.pool`
      select from users where account_id = any(${busy}) and managed`;
    return applied.length === 4;
  });
});

const memory = { running: 8, waiting: 10, timeout: 60_000, commits: 2, bytes: 8e6, bytesOfAccount: 8e6 };

/** Opens pushes with memory for 8 MB of bodies. Returns a function that sends one of some megabytes, compressed or not. */
function pushesOfSize() {
  const pushes = openPushes(
    moduleAt('pushes.thread'),
    world.databaseUrl,
    openLog('silent' as 'error'),
    memory,
  );
  onTestFinished(() => pushes.close(1));
  return (accountId: number, megabytes: number, { gzip }: { gzip: boolean } = { gzip: true }) => {
    const text = JSON.stringify({ data: { users: [person('a')] } }).padEnd(megabytes * 1e6);
    const bytes = gzip ? gzipSync(text) : new TextEncoder().encode(text);
    return pushes.push(accountId, { run: newRun(), bytes, gzip }, never);
  };
}

test('a gzip body counts with its decompressed bytes, and gets 503 without a run if there is no memory for them', async () => {
  const [first, second] = [await world.account(), await world.account()];
  const push = pushesOfSize();
  await expect(push(first.id, 12)).rejects.toMatchObject({ kind: 'unavailable', code: 'unavailable' });
  const runs = await world.pool`select from runs where account_id = ${first.id}`;
  expect(runs.length).toBe(0);
  expect((await push(second.id, 5)).length).toBeGreaterThan(0);
  // One of them waits for the lock of its account, with its bytes.
  const end = await lockFor([first.id]);
  const waiting = push(first.id, 5);
  await until(async () => {
    const result = await push(second.id, 5).catch((error: Fault) => error.kind);
    return result === 'unavailable';
  });
  expect((await push(second.id, 1)).length).toBeGreaterThan(0);
  await end();
  expect((await waiting).length).toBeGreaterThan(0);
});

test('a running request with a gzip body does not end because of one that waits for it, which gets 503', async () => {
  const { id } = await world.account();
  const push = pushesOfSize();
  const end = await lockFor([id]);
  // The second one runs while the third one waits.
  const [running, ...waiting] = [push(id, 1), push(id, 5), push(id, 5, { gzip: false })];
  await end();
  expect((await running).length).toBeGreaterThan(0);
  const ended = await Promise.allSettled(waiting);
  expect(ended).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { kind: 'unavailable', code: 'unavailable' } },
  ]);
  const runs = await world.pool`select from runs where account_id = ${id}`;
  expect(runs.length).toBe(2);
});
