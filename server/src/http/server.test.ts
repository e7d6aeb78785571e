// Rules of every HTTP route: unknown paths and methods, invalid requests, internal errors, the log and the health probes.
import { interfaceNames } from '@soundings/contract/openapi.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../app.ts';
import { openLog } from '../base/log.ts';
import { openTestDatabase } from '../testing/database.ts';
import { openWorld, testConfig } from '../testing/world.ts';
import { get, isProblem, organizationPaths, raw, refusal, world, useService } from './server.fixture.ts';

useService();

describe('404', () => {
  test('a browser gets a page; requests to an interface, and requests that send something, get the error body', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await world.request('GET', '/peple', { headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const [method, path] of [
      ['GET', '/v1/peple'],
      ['GET', '/api/peple'],
      ['POST', '/peple'],
    ] as const) {
      expect(refusal(await world.request(method, path, { headers }))).toBe('404 not found');
    }
    expect(refusal(await get('/peple'))).toBe('404 not found');
  });

  test('an unknown path, with and without a token, for every method', async () => {
    const { token } = await world.account();
    for (const path of [
      '/nothing',
      '/v1',
      '/v1/nothing',
      '/v1/groups/1',
      '/V1/groups',
      '/v2/groups',
      '/favicon.ico',
    ]) {
      expect(refusal(await get(path))).toBe('404 not found');
      expect(refusal(await get(path, token))).toBe('404 not found');
      expect(refusal(await world.request('POST', path, { body: 'x' }))).toBe('404 not found');
    }
  });

  test('does not repeat the requested path', async () => {
    expect(JSON.stringify((await get('/v1/some-secret?of=mine')).body)).not.toMatch(/secret|mine/);
  });
});

describe('405', () => {
  test('every other method of a known path, with Allow', async () => {
    const allowed = [
      ...dataOperations.map(({ path }) => [path, 'GET, HEAD'] as const),
      ...organizationPaths.map((path) => [path, 'POST'] as const),
      ...uploadOperations.map(({ path, method }) => [path, method === 'GET' ? 'GET, HEAD' : 'POST'] as const),
      ['/health/live', 'GET, HEAD'],
      ['/health/ready', 'GET, HEAD'],
      ...[...interfaceNames, 'webhooks'].map((name) => [`/v1/openapi/${name}.json`, 'GET, HEAD'] as const),
    ] as const;
    for (const [path, allow] of allowed) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (allow.split(', ').includes(method)) continue;
        const response = await world.request(method, path);
        expect(refusal(response)).toBe('405 method not allowed');
        expect([method, path, response.headers.get('allow')]).toEqual([method, path, allow]);
      }
    }
  });

  test('unusual methods as well', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'SEARCH']) {
      const response = await raw(`${method} /v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(refusal(response)).toBe('405 method not allowed');
      expect([method, response.headers.get('allow')]).toEqual([method, 'GET, HEAD']);
    }
  });

  test('responds without waiting for a body', async () => {
    const response = await raw(
      'PUT /v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n',
    );
    expect(refusal(response)).toBe('405 method not allowed');
  });
});

describe('requests that are not valid HTTP', () => {
  test.each([
    ['no request line', 'GARBAGE\r\n\r\n'],
    ['a version that does not exist', 'GET /v1/groups HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['a header without a colon', 'GET /v1/groups HTTP/1.1\r\nhost: x\r\nnonsense\r\n\r\n'],
    ['a header with a control character', 'GET /v1/groups HTTP/1.1\r\nhost: x\r\nx: \x01\r\n\r\n'],
    [
      'two lengths',
      'POST /v1/organization HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n',
    ],
    [
      'a length and chunks',
      'POST /v1/organization HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a negative length', 'POST /v1/organization HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n'],
    ['another protocol', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['no Host', 'GET /v1/groups HTTP/1.1\r\nconnection: close\r\n\r\n'],
  ])('%s gets 400 with the error body, and the connection is closed', async (_, bytes) => {
    const response = await raw(bytes);
    expect(refusal(response)).toBe('400 bad request');
    expect(response.headers.get('connection')).toBe('close');
  });

  test('an invalid chunk gets 400 with the error body', async () => {
    const { token } = await world.account();
    const response = await raw(
      `POST /v1/organization HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n` +
        'transfer-encoding: chunked\r\n\r\nnonsense\r\n',
    );
    expect(refusal(response)).toBe('400 bad request');
  });

  test('headers or a path above 16 KB get 431 with the error body', async () => {
    const long = 'a'.repeat(20_000);
    for (const bytes of [
      `GET /v1/groups HTTP/1.1\r\nhost: x\r\nx-long: ${long}\r\n\r\n`,
      `GET /v1/groups?${long} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ]) {
      expect(refusal(await raw(bytes))).toBe('431 bad request');
    }
  });

  test('an unknown expectation gets 417', async () => {
    const bytes = 'GET /v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: wonders\r\n\r\n';
    expect((await raw(bytes)).status).toBe(417);
  });
});

describe('odd addresses', () => {
  const long = 'a'.repeat(10_000);
  const addresses: Record<string, number[]> = {
    [`/v1/groups/${long}`]: [404],
    [`/v1/groups?${long}`]: [400],
    [`/v1/groups?${'a&'.repeat(5_000)}`]: [400],
    [`/${'../'.repeat(3_000)}etc/passwd`]: [404],
    '//v1/groups': [404],
    '/v1//groups': [404],
    '/v1/groups/': [404],
    '/v1/groups//': [404],
    '/v1/groups?': [200],
    '/v1/groups#x': [200, 400, 404],
    '/v1/groups;x=1': [404],
    '/v1/groups?%': [400],
    '/v1/groups?%=%': [400],
    '/v1/groups?a=%zz': [400],
    '/v1/groups?a=%ff%fe': [400],
    '/v1/groups?a[b]=1&a[c]=2': [400],
    '/v1/groups%': [400, 404],
    '/v1/groups%zz': [400, 404],
    '/v1/groups%00': [400, 404],
    '/v1/groups%2f': [400, 404],
    '/v1/groups%ff%fe': [400, 404],
    '/%': [400, 404],
    '/%c0%ae%c0%ae/x': [400, 404],
    '/v1/%67roups': [200, 404],
    '*': [200, 400, 404],
    'http://elsewhere.example/v1/groups': [200, 404],
    'http://[': [400, 404],
    '/v1/openapi/..%2f..%2fpackage.json': [404],
    '/v1/openapi/__proto__.json': [404],
  };

  test('get at most an error with the error body', async () => {
    const { token } = await world.account();
    for (const [path, statuses] of Object.entries(addresses)) {
      const response = await raw(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\nconnection: close\r\n\r\n`,
      );
      const shown = path.length > 50 ? `${path.slice(0, 50)}…` : path;
      expect([shown, statuses.includes(response.status), response.status]).toEqual([
        shown,
        true,
        response.status,
      ]);
      if (response.status === 200) continue;
      expect([shown, refusal(response)]).toEqual([
        shown,
        expect.stringMatching(/ (bad request|not found|.* parameter)$/),
      ]);
      expect([shown, response.headers.get('x-content-type-options')]).toEqual([shown, 'nosniff']);
    }
  });

  test('a path that cannot be decoded is logged like any other request', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const response = await own.request('GET', '/v1/groups%');
    expect(response.status).toBe(400);
    expect(lines.some((line) => line.includes(response.body.id))).toBe(true);
  });

  test('non-ASCII bytes in a path are not an internal error', async () => {
    const response = await raw('GET /v1/gr\xc3\xb6ups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect([400, 404]).toContain(response.status);
    expect([...isProblem.Errors(response.body)]).toEqual([]);
  });
});

describe('an internal error', () => {
  const inside = /select|insert|relation|constraint|postgres|\.ts|node_modules|\bat \/|stack|PRIVATE/i;

  test('gets 500 and an id, without stack, SQL or data; the log has the cause', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    await own.pool`alter table groups rename to groups_away`;
    const response = await own.request('GET', '/v1/groups', { headers: { authorization: account.token } });
    expect(refusal(response)).toBe('500 internal error');
    expect({ ...response.body, id: '' }).not.toMatchObject({ message: expect.stringMatching(inside) });
    expect(JSON.stringify(response.body)).not.toMatch(inside);
    const logged = lines.find((line) => line.includes(response.body.id) && line.includes('"level":50'));
    expect(logged).toMatch(/relation .*groups.* does not exist/);
    await own.pool`alter table groups_away rename to groups`;
    expect(await account.groups()).toEqual([]);
  });

  const timeout = 15_000;
  test(
    'in the thread for organization requests gets the same; its run is recorded as failed, and the next push works',
    {
      timeout,
    },
    async () => {
      const { log, lines } = memoryLog();
      const own = await openWorld(log);
      onTestFinished(() => own.close(), timeout);
      const account = await own.account();
      await own.pool`alter table users add constraint broken check (first_name <> 'PRIVATE')`;
      const users = [{ externalId: 'u', firstName: 'PRIVATE', lastName: 'PRIVATE' }];
      const request = { settings: { validateOnly: false }, data: { users } };
      const response = await account.push(request);
      expect(refusal(response)).toBe('500 internal error');
      expect(JSON.stringify(response.body)).not.toMatch(inside);
      expect(lines.join('')).not.toContain('PRIVATE');
      expect(lines.some((line) => line.includes(response.body.id) && line.includes('broken'))).toBe(true);
      expect([...(await own.pool`select run_id, outcome from runs`)]).toEqual([
        { run_id: response.body.id, outcome: 'failed' },
      ]);
      await own.pool`alter table users drop constraint broken`;
      expect((await account.push(request)).body.applied).toBe(true);
    },
  );
});

describe('the log', () => {
  test('contains no token, name, email address, body or parameter, whatever the request and its outcome', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    const narrow = await account.tokenOf('files');
    const word = 'Zebraword';
    const person = (more: object) => ({ externalId: `${word}1`, firstName: word, lastName: word, ...more });
    const push = (users: unknown[]) => account.push({ settings: { validateOnly: false }, data: { users } });
    const responses = [
      await push([person({ email: `${word}@example.org` })]),
      await push([person({ email: 'zebraword at example', timezone: word, phone: word })]),
      await push([person({ [word]: word }), person({})]),
      await account.push(`{"data": ${word}`),
      await account.push('{}', { 'content-type': `text/${word}` }),
      await account.push('{}', { authorization: narrow }),
      await own.request('GET', `/v1/groups?${word}=${word}`, { headers: { authorization: account.token } }),
      await own.request('GET', '/v1/groups', { headers: { authorization: `${account.token}x` } }),
      await own.request('GET', `/v1/${word}?${word}`, { headers: { [word]: word, cookie: word } }),
      await own.request('PUT', '/v1/groups', { body: word }),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 400, 400, 400, 415, 403, 400, 401, 404, 405]);
    const text = lines.join('');
    for (const secret of [word, account.token, account.token.slice(4), narrow, 'ada@example.org']) {
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }
    for (const { status, headers } of responses) {
      const logged = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['requestId'] === headers.get('x-request-id') && line['status'] === status);
      expect(logged).toHaveLength(1);
    }
  });

  test('has for each request its id, method, route, status, duration, account and token number', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    const response = await own.request('GET', '/v1/groups', { headers: { authorization: account.token } });
    const line = JSON.parse(lines.find((one) => one.includes('"request completed"')) ?? '{}') as object;
    expect(line).toEqual({
      level: 30,
      time: expect.anything(),
      requestId: response.headers.get('x-request-id'),
      method: 'GET',
      route: '/v1/groups',
      status: 200,
      ms: expect.any(Number),
      accountId: account.id,
      tokenId: 1,
      msg: 'request completed',
    });
  });

  test('has health probes and reads of the metrics only at level debug', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      expect((await own.request('GET', path)).status).toBe(200);
    }
    const logged = lines
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ msg }) => msg === 'request completed');
    expect(logged.map(({ level }) => level)).toEqual([20, 20, 20]);
  });
});

test('silent connections are probed, so a client that lost power does not keep its connection', async (context) => {
  if (process.platform !== 'linux') return context.skip('SKIPPED: only Linux shows timers of connections');
  const { port } = new URL(world.address);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const hex = (number: number) => number.toString(16).toUpperCase().padStart(4, '0');
  const line = new RegExp(`:${hex(Number(port))} \\w+:${hex(socket.localPort!)} 01 \\S+ (\\d\\d):`);
  const keepAlive = '02';
  const timer = async () => line.exec(await readFile('/proc/net/tcp', 'utf8'))?.[1];
  await expect.poll(timer).toBe(keepAlive);
});

describe('GET /health/live and /health/ready', () => {
  test('return 200 without a token while the service runs and can serve requests', async () => {
    const [live, ready] = [await get('/health/live'), await get('/health/ready')];
    expect([live.status, live.body]).toEqual([200, { status: 'live' }]);
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
  });

  test('until the database is available: live, not ready, 503 with Retry-After for every request; then requests work', async () => {
    const database = await openTestDatabase();
    const url = Promise.withResolvers<string>();
    const app = await startApp(
      { ...testConfig, answerKeys: database.keyPlace },
      url.promise,
      openLog('silent'),
    );
    onTestFinished(async () => {
      await app.stop(5);
      await database.close();
    });
    const send = async (path: string, init: RequestInit = {}) => {
      const response = await fetch(app.address + path, init);
      return { status: response.status, headers: response.headers, body: await response.json() };
    };
    expect(await send('/health/live')).toMatchObject({ status: 200 });
    const notReady = await send('/health/ready');
    expect([notReady.status, notReady.headers.get('retry-after')]).toEqual([503, '5']);
    for (const [path, method] of [
      ['/v1/groups', 'GET'],
      ['/v1/organization', 'POST'],
      ['/v1/nothing', 'GET'],
      ['/v1/groups', 'PUT'],
    ] as const) {
      const response = await send(path, { method });
      expect(refusal(response)).toBe('503 unavailable');
      expect(response.headers.get('retry-after')).toBe('5');
    }
    url.resolve(database.url);
    await app.started;
    expect(await send('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect((await send('/v1/groups')).status).toBe(401);
  });

  test('not ready on a database that lacks a migration', async () => {
    const own = await openWorld();
    onTestFinished(() => own.close());
    await own.pool`delete from migrations where version = (select max(version) from migrations)`;
    const response = await own.request('GET', '/health/ready');
    expect([response.status, response.body]).toEqual([503, { status: 'not ready' }]);
    expect((await own.request('GET', '/health/live')).status).toBe(200);
  });
});

function memoryLog() {
  const lines: string[] = [];
  return { log: pino({ level: 'trace', base: null }, { write: (line) => void lines.push(line) }), lines };
}
