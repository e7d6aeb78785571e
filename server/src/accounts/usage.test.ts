// The limit of requests a minute: exact in one process, approximate across several, and never a reason to fail when the
// database does.
import { getGroups } from '@soundings/contract/data.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { pino } from 'pino';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../app.ts';
import type { Fault } from '../base/errors.ts';
import { openLog } from '../base/log.ts';
import { openPool, type Pool } from '../db/db.ts';
import { openWorld, testConfig, type World } from '../testing/world.ts';
import { createToken } from './tokens.ts';
import { meterTokens } from './usage.ts';

// Twenty seconds into a minute.
const start = Date.UTC(2024, 4, 6, 12, 0, 20);
const silent = openLog('silent');
let now = start;
let world: World;
beforeAll(async () => {
  world = await openWorld(silent, { rateLimit: 40 }, () => now);
});
afterAll(() => world.close());

async function newCaller() {
  const account = await world.account();
  const { id } = await createToken(world.pool, account.id, { name: 't', scopes: ['data'] });
  return { accountId: account.id, tokenId: id };
}
type Caller = Awaited<ReturnType<typeof newCaller>>;

/** Returns a separate counting process whose clock is `clock.now`. */
function newProcess(limit: number, pool: Pool = world.pool) {
  const clock = { now: start };
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(line) });
  const count = meterTokens(Promise.resolve(pool), limit, () => clock.now, log);
  /** Sends requests all at the same time and returns how many passed, and the errors of the others. */
  const send = async (caller: Caller, requests: number) => {
    const results = await Promise.allSettled(Array.from({ length: requests }, () => count(caller)));
    const refused = results.filter((one) => one.status === 'rejected').map(({ reason }) => reason as Fault);
    return { passed: requests - refused.length, refused };
  };
  return { clock, lines, send };
}

const rowsOf = ({ accountId, tokenId }: Caller) =>
  world.pool<{ minute: Date; requests: number }[]>`
    select minute, requests from token_usage
    where  account_id = ${accountId} and token_id = ${tokenId} order by minute`;

describe('a single process', () => {
  test.each([1, 2, 19, 20, 40, 600])(
    'allows exactly %i requests, one at a time or all at once',
    async (limit) => {
      const { send } = newProcess(limit);
      const [one, other] = [await newCaller(), await newCaller()];
      expect((await send(one, limit + 50)).passed).toBe(limit);
      let passed = 0;
      for (let i = 0; i < limit + 3; i++) passed += (await send(other, 1)).passed;
      expect(passed).toBe(limit);
    },
  );

  test('gives the right time to try again: a request is accepted at that time, but not a second earlier', async () => {
    const { send, clock } = newProcess(5);
    const caller = await newCaller();
    await send(caller, 5);
    for (const [at, seconds] of [
      [0, 40],
      [1, 40],
      [39_000, 1],
      [39_999, 1],
    ] as const) {
      clock.now = start + at;
      const { refused } = await send(caller, 1);
      expect([at, refused[0]?.kind, refused[0]?.retryAfter]).toEqual([at, 'too_many', seconds]);
    }
    clock.now = start + 40_000;
    expect((await send(caller, 10)).passed).toBe(5);
  });

  test('counts each token separately', async () => {
    const { send } = newProcess(5);
    const [one, other] = [await newCaller(), await newCaller()];
    const sibling = await createToken(world.pool, one.accountId, { name: 's', scopes: ['data'] });
    await send(one, 10);
    expect((await send(other, 10)).passed).toBe(5);
    expect((await send({ ...one, tokenId: sibling.id }, 10)).passed).toBe(5);
  });

  test('0 means no limit', async () => {
    expect((await newProcess(0).send(await newCaller(), 5_000)).passed).toBe(5_000);
  });
});

describe('several processes', () => {
  test('share the limit: all of it is available, and together they exceed it by less than one batch each', async () => {
    const [limit, batch] = [200, 10];
    for (const count of [2, 3, 5]) {
      const caller = await newCaller();
      const processes = Array.from({ length: count }, () => newProcess(limit));
      let passed = 0;
      for (let round = 0; round < 60; round++) {
        for (const { send } of processes) passed += (await send(caller, 7)).passed;
      }
      expect(passed).toBeGreaterThanOrEqual(limit);
      expect(passed).toBeLessThan(limit + count * batch);
    }
  });

  test('share the limit even if they all count at the same time', async () => {
    const caller = await newCaller();
    const processes = Array.from({ length: 4 }, () => newProcess(100));
    const results = await Promise.all(processes.map(({ send }) => send(caller, 500)));
    const passed = results.reduce((sum, one) => sum + one.passed, 0);
    expect(passed).toBeGreaterThanOrEqual(100);
    expect(passed).toBeLessThan(100 + 4 * 5);
  });
});

describe('the database', () => {
  test('gets one update a batch for a busy token, none for a quiet token, and none for refused requests', async () => {
    const { send } = newProcess(200);
    const [quiet, busy] = [await newCaller(), await newCaller()];
    await send(quiet, 10);
    expect(await rowsOf(quiet)).toHaveLength(0);
    await send(busy, 11);
    expect((await rowsOf(busy)).map(({ requests }) => requests)).toEqual([10]);
    await send(busy, 1_000);
    expect((await rowsOf(busy)).map(({ requests }) => requests)).toEqual([190]);
  });

  test('stores at most two minutes of a token', async () => {
    const { send, clock } = newProcess(20);
    const caller = await newCaller();
    for (let minute = 0; minute < 5; minute++) {
      clock.now = start + minute * 60_000;
      expect((await send(caller, 30)).passed).toBe(20);
    }
    expect((await rowsOf(caller)).map(({ minute }) => minute.toISOString())).toEqual([
      '2024-05-06T12:03:00.000Z',
      '2024-05-06T12:04:00.000Z',
    ]);
  });

  test('if the database is unavailable, each process counts alone, and only the limit causes errors', async () => {
    const away = openPool('postgres://nobody@127.0.0.1:1/none', 1);
    onTestFinished(() => away.end());
    const { send, lines } = newProcess(40, away);
    const caller = await newCaller();
    const { passed, refused } = await send(caller, 60);
    expect(passed).toBe(40);
    expect(new Set(refused.map(({ kind }) => kind))).toEqual(new Set(['too_many']));
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(20);
  });

  test('gets all requests that it missed once it is available again', async () => {
    let isUnavailable = true;
    const pool = new Proxy(world.pool, {
      apply: (target, self, args) =>
        isUnavailable ? Promise.reject(new Error('unavailable')) : Reflect.apply(target as never, self, args),
    });
    const { send } = newProcess(200, pool);
    const caller = await newCaller();
    await send(caller, 30);
    isUnavailable = false;
    await send(caller, 11);
    expect((await rowsOf(caller)).map(({ requests }) => requests)).toEqual([40]);
  });
});

describe('over HTTP', () => {
  const groups = (address: string, authorization: string, headers = {}) =>
    fetch(address + getGroups.path, { headers: { authorization, ...headers } });

  test('429 with Retry-After and the error body, until the minute is over', async () => {
    now = start;
    const account = await world.account();
    for (let i = 0; i < 40; i++) expect((await groups(world.address, account.token)).status).toBe(200);
    const response = await groups(world.address, account.token);
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '40']);
    const body = (await response.json()) as Problem;
    expect([...Compile(Problem).Errors(body)]).toEqual([]);
    expect(body.id).toBe(response.headers.get('x-request-id'));
    expect(body.details).toEqual([
      { type: 'too many requests', message: expect.stringContaining('40 seconds') },
    ]);
    now = start + 40_000;
    expect((await groups(world.address, account.token)).status).toBe(200);
  });

  test('unchanged and invalid requests count as well, but requests without a valid token do not', async () => {
    now = start;
    const account = await world.account();
    for (let i = 0; i < 50; i++) expect((await groups(world.address, `${account.token}x`)).status).toBe(401);
    for (let i = 0; i < 20; i++) {
      expect((await groups(world.address, account.token, { 'if-none-match': '*' })).status).toBe(304);
      const invalid = await fetch(`${world.address}${getGroups.path}?x=1`, {
        headers: { authorization: account.token },
      });
      expect(invalid.status).toBe(400);
    }
    expect((await groups(world.address, account.token)).status).toBe(429);
  });

  test('one limit for all interfaces: pushes, file lists and uploads count together', async () => {
    now = start;
    const account = await world.account();
    const { token } = await createToken(world.pool, account.id, {
      name: 't',
      scopes: ['organization', 'files'],
    });
    const headers = { authorization: token };
    const post = (path: string, type: string) =>
      fetch(world.address + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': type },
        body: '{}',
      });
    for (let i = 0; i < 13; i++) {
      expect((await post('/v1/organization', 'application/json')).status).not.toBe(429);
      expect((await post('/v1/storage/uploadFile', 'text/csv')).status).toBe(415);
      expect((await fetch(`${world.address}/v1/storage/files`, { headers })).status).toBe(200);
    }
    await fetch(`${world.address}/v1/storage/files`, { headers });
    const refused = [
      await post('/v1/organization', 'application/json'),
      await post('/v1/storage/uploadFile', 'text/csv'),
      await fetch(`${world.address}/v1/storage/files`, { headers }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 429]);
    expect(refused.every((one) => Number(one.headers.get('retry-after')) > 0)).toBe(true);
    // Each token has its own limit.
    expect((await account.push({})).status).toBe(200);
  });

  test('applies across two instances on one database, and both say when to try again', async () => {
    now = start;
    const other = await startApp(
      { ...testConfig, answerKeys: world.keyPlace, rateLimit: 40 },
      Promise.resolve(world.databaseUrl),
      silent,
      () => now,
    );
    onTestFinished(() => other.stop(5));
    await other.started;
    const { token } = await world.account();
    const statuses = [];
    const last: Record<string, string | null> = {};
    for (let i = 0; i < 100; i++) {
      const { address } = i % 2 ? world : other;
      const response = await groups(address, token);
      statuses.push(response.status);
      last[address] = response.headers.get('retry-after');
    }
    const passed = statuses.filter((status) => status === 200).length;
    expect(passed + statuses.filter((status) => status === 429).length).toBe(100);
    expect(passed).toBeGreaterThanOrEqual(40);
    expect(passed).toBeLessThan(40 + 2 * 2);
    expect(last).toEqual({ [world.address]: '40', [other.address]: '40' });
  });
});
