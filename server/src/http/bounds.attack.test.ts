// Attacks on the HTTP server that need no token and no session: endless bodies, silent connections, and malformed requests.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls, type SecureVersion } from 'node:tls';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { beginSession } from '../auth/sessions.ts';
import { openLog } from '../base/log.ts';
import { until } from '../testing/until.ts';
import { openWorld, type testConfig, type World } from '../testing/world.ts';
import { openBodies } from './bodies.ts';
import { openResponseCache } from './responses/response-cache.ts';
import { createServer, type ServerOptions } from './server.ts';
import { limitConcurrency } from './concurrency.ts';

const mb = 1024 * 1024;

type Attacker = {
  socket: Socket;
  /** Returns what has arrived so far. */
  text: () => string;
  isClosed: () => boolean;
  /** Resolves to the status when a response begins, or to 'closed' if the connection ends without one. */
  status: () => Promise<number | 'closed'>;
};

function attack(address: string, ...parts: (string | Buffer)[]): Attacker {
  const socket = connect(Number(new URL(address).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let text = '';
  let closed = false;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
  socket.once('close', () => (closed = true));
  for (const part of parts) socket.write(part);
  return {
    socket,
    text: () => text,
    isClosed: () => closed,
    status: async () => {
      await until(async () => closed || text.includes('\r\n\r\n'));
      return text === '' ? 'closed' : Number(text.slice(9, 12));
    },
  };
}

const post = (path: string, length: number, headers: Record<string, string> = {}) =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n` +
  `${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

const openWorldWith = async (settings: Partial<typeof testConfig>, log = openLog('silent')) => {
  const world = await openWorld(log, settings);
  onTestFinished(() => world.close());
  return world;
};

let world: World;
beforeAll(async () => {
  world = await openWorld(openLog('silent'));
});
afterAll(() => world.close());

describe('a body without a session', () => {
  test('of the console is refused by its headers, before any of the body arrives', async () => {
    for (const path of ['/api/profile/two-factor', '/api/files?name=x.csv']) {
      const sent = attack(world.address, post(path, mb, { 'sec-fetch-site': 'same-origin' }));
      expect(await sent.status()).toBe(401);
    }
  });

  test('may have up to 16 KB for signing in', async () => {
    expect(await attack(world.address, post('/api/session', 16 * 1024 + 1)).status()).toBe(413);
    const chunked =
      'POST /api/session HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n';
    const sent = attack(world.address, chunked, `4001\r\n${' '.repeat(0x4001)}\r\n`);
    expect(await sent.status()).toBe(413);
  });
});

describe('endless bodies', () => {
  test('of one account use no more memory than its share, and further ones get 503', async () => {
    const { address, account } = await openWorldWith({
      httpLimits: { bodies: { callers: { total: 8 * mb, perSource: 4 * mb } } },
    });
    const { token } = await account();
    const headers = post('/v1/organization/organization', 64 * mb, { authorization: token });
    const sent = Array.from({ length: 6 }, () => attack(address, headers, Buffer.alloc(mb, ' ')));
    const refused = () => sent.filter(({ text }) => text() !== '');
    await until(async () => refused().length >= 2);
    for (const one of refused()) expect(await one.status()).toBe(503);
    expect(refused().length).toBeLessThan(6);
  });

  test('of one account leave other accounts their share', async () => {
    const { address, account } = await openWorldWith({
      httpLimits: { bodies: { callers: { total: 4 * mb, perSource: 4 * mb } } },
    });
    const [greedy, other] = [await account(), await account()];
    const greedyHeaders = post('/v1/organization/organization', 64 * mb, { authorization: greedy.token });
    const sent = attack(address, greedyHeaders, Buffer.alloc(3 * mb, ' '));
    await until(async () => sent.socket.writableLength === 0);
    const body = JSON.stringify({ settings: {}, users: [], groups: [] }).padEnd(2 * mb, ' ');
    const response = await fetch(`${address}/v1/organization/organization`, {
      method: 'POST',
      headers: { authorization: other.token, 'content-type': 'application/json' },
      body,
    });
    expect([200, 400]).toContain(response.status);
    expect(await sent.status()).toBe(503);
  });

  test('that arrive too slowly are refused, and unread ones lose their connection', async () => {
    const { address, account } = await openWorldWith({ httpLimits: { bodies: { timeout: 300 } } });
    const { token } = await account();
    const push = attack(
      address,
      post('/v1/organization/organization', mb, { authorization: token }),
      Buffer.alloc(10, ' '),
    );
    expect(await push.status()).toBe(408);
    await until(async () => push.isClosed());
    const signIn = attack(address, post('/api/session', 1000), '{');
    expect(await signIn.status()).toBe(408);
    const refused = attack(address, post('/v1/organization/organization', mb));
    expect(await refused.status()).toBe(400);
    await until(async () => refused.isClosed());
    const form = attack(
      address,
      post('/v1/storage/upload', mb, { authorization: token }).replace(
        'application/json',
        'multipart/form-data; boundary=x',
      ),
      '--x\r\n',
    );
    await until(async () => form.isClosed());
  });

  test('bodies that arrive at the required rate are read, however long that takes', async () => {
    const bodies = openBodies({
      strangers: { total: mb, perSource: mb },
      callers: { total: mb, perSource: mb },
      timeout: 300,
      bytesPerSecond: 100,
    });
    onTestFinished(() => bodies.close());
    const started = performance.now();
    const server = createHttpServer((request, response) => {
      bodies.watch(request);
      bodies.read(request, 10_000, { kind: 'strangers', name: 'x' }).then(
        (body) => response.end(String(body.length)),
        (error: { statusCode: number }) => response.writeHead(error.statusCode).end(),
      );
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const sender = attack(`http://127.0.0.1:${port}`, post('/', 200));
    const timer = setInterval(() => sender.socket.write('xxxxxxxxxx'), 60);
    onTestFinished(() => clearInterval(timer));
    expect(await sender.status()).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(600);
  });

  test('of unknown callers count against their network until they end', async () => {
    const { address } = await openWorldWith({
      httpLimits: { bodies: { strangers: { total: 20_000, perSource: 10_000 } } },
    });
    const wait = attack(address, post('/api/session', 9_000), Buffer.alloc(8_000, ' '));
    const signIn = () =>
      fetch(`${address}/api/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: ' '.repeat(4_000),
      });
    await until(async () => (await signIn()).status === 503);
    wait.socket.destroy();
    await until(async () => (await signIn()).status === 400);
    for (let i = 0; i < 10; i++) expect((await signIn()).status).toBe(400);
  });
});

describe('connections', () => {
  test('without data, or with endless headers, are closed in time', async () => {
    const { address } = await openWorldWith({ httpLimits: { headersMs: 300 } });
    const [silent, slow] = [attack(address), attack(address, 'GET / HTTP/1.1\r\nhost: x\r\nx-a: ')];
    const timer = setInterval(() => slow.socket.write('a'), 50);
    onTestFinished(() => clearInterval(timer));
    await expect(until(async () => silent.isClosed() && slow.isClosed())).resolves.toBe(true);
  });

  test('are limited for each network, except for connections of a proxy', async () => {
    for (const [trustProxy, refused] of [
      [[], 2],
      [['127.0.0.1'], 0],
    ] as const) {
      const { address } = await openWorldWith({
        trustProxy: [...trustProxy],
        httpLimits: { connections: { perNetwork: 3 } },
      });
      const sent = Array.from({ length: 5 }, () =>
        attack(address, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n'),
      );
      const statuses = await Promise.all(sent.map((one) => one.status()));
      expect(statuses.filter((status) => status === 'closed').length).toBe(refused);
      for (const { socket } of sent) socket.destroy();
      await until(
        async () => (await attack(address, 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n').status()) === 200,
      );
    }
  });
});

describe('pipelined requests', () => {
  test('get their responses in order, up to a limit; beyond it the connection is closed and no more of them run', async () => {
    const logged: string[] = [];
    const log = pino({ level: 'info' }, { write: (line) => void logged.push(line) });
    const { address, account } = await openWorldWith(
      { httpLimits: { connections: { pendingRequests: 50 } } },
      log as never,
    );
    const { token } = await account();
    const one = `GET /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n\r\n`;
    const honest = attack(address, one.repeat(50));
    await until(async () => honest.text().split('HTTP/1.1 200').length === 51);
    honest.socket.write(one.repeat(50));
    await until(async () => honest.text().split('HTTP/1.1 200').length === 101);
    logged.length = 0;
    const hostile = attack(address, one.repeat(20_000));
    await until(async () => hostile.isClosed());
    const other = await fetch(`${address}/v1/groups`, { headers: { authorization: token } });
    expect(other.status).toBe(200);
    expect(logged.length).toBeLessThan(2_000); // at most the requests that arrived in one chunk
  });
});

describe('malformed requests', () => {
  test('with two hosts or without a path are refused', async () => {
    for (const lines of [
      'GET /health/live HTTP/1.1\r\nhost: a\r\nHost: b',
      'GET /health/live HTTP/1.1\r\nhost: a\r\nhost: a',
      'GET /health/live HTTP/1.1',
      'GET * HTTP/1.1\r\nhost: a',
      'OPTIONS * HTTP/1.1\r\nhost: a',
    ])
      expect(await attack(world.address, `${lines}\r\n\r\n`).status()).toBe(400);
    expect(await attack(world.address, 'GET /health/live HTTP/1.0\r\n\r\n').status()).toBe(200);
  });
});

/** Returns a server without a database. `get` sends a request over a connection from an address. */
async function openServer(options: Partial<ServerOptions>, log = openLog('silent')) {
  const never = () => Promise.reject(new Error('No operation is served.'));
  const server = createServer({
    log,
    tls: undefined,
    trustProxy: [],
    isStarted: () => true,
    isReady: async () => true,
    authenticate: never,
    count: never,
    cache: openResponseCache(0),
    concurrency: limitConcurrency(1, 1),
    readTimeout: 60_000,
    now: Date.now,
    corsOrigins: [],
    ...options,
  });
  onTestFinished(() => server.shutDown(0));
  server.app.get('/address', async (request) => request.address);
  const get = async (from: string, forwardedFor?: string, url = '/address') => {
    const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor };
    const { statusCode, body } = await server.app.inject({ url, remoteAddress: from, headers });
    return statusCode === 200 ? body : statusCode;
  };
  return { ...server, get };
}

describe('the address of a caller', () => {
  test.each([
    ['192.0.2.9', '198.51.100.1', '192.0.2.9'], // not from a proxy: anyone can send such a header
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '203.0.113.5, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['10.0.0.1', 'garbage', '10.0.0.1'],
    ['10.0.0.1', 'garbage, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['10.0.0.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.0.0.1', '999.0.0.1', '10.0.0.1'],
  ])('from %s with %j is %s', async (from, forwardedFor, address) => {
    const { get } = await openServer({ trustProxy: ['10.0.0.0/8'] });
    expect(await get(from, forwardedFor)).toBe(address);
  });

  test('is known until the response has ended, even if the client has disconnected', async () => {
    const entered = Promise.withResolvers<void>();
    const addresses: Promise<string>[] = [];
    const gone = Promise.withResolvers<void>();
    const server = await openServer({});
    server.app.get('/slow', async (request) => {
      entered.resolve();
      addresses.push(gone.promise.then(() => request.address));
      return gone.promise;
    });
    const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    const client = attack(address, 'GET /slow HTTP/1.1\r\nhost: x\r\n\r\n');
    await entered.promise;
    client.socket.destroy();
    await until(async () => client.isClosed());
    gone.resolve();
    expect(await addresses[0]).toBe('127.0.0.1');
  });
});

describe('plain HTTP', () => {
  test('is accepted only from the proxy and from this machine if people use HTTPS, except for health checks', async () => {
    const { get } = await openServer({
      trustProxy: ['10.0.0.1'],
      httpsOnlyAt: 'https://surveys.example.com',
    });
    expect(await get('10.0.0.1', '198.51.100.1')).toBe('198.51.100.1');
    expect(await get('127.0.0.1')).toBe('127.0.0.1');
    expect(await get('10.0.0.2')).toBe(403);
    expect(await get('10.0.0.2', '10.0.0.1')).toBe(403);
    expect(await get('10.0.0.2', undefined, '/nowhere')).toBe(403);
    expect(await get('10.0.0.2', undefined, '/health/live')).toContain('live');
  });
});

describe('a proxy that is not in TRUST_PROXY', () => {
  test('is detected on this machine and in the private network, and logged once', async () => {
    const logged: { address?: string; level: number }[] = [];
    const log = pino({}, { write: (line: string) => void logged.push(JSON.parse(line)) }) as never;
    const { get, forgottenProxy } = await openServer({ trustProxy: ['10.9.9.9'] }, log);
    const warnings = () => logged.filter(({ level }) => level === 40).map(({ address }) => address);
    await get('10.9.9.9', '198.51.100.1');
    await get('192.168.1.1');
    expect(forgottenProxy()).toBeUndefined();
    expect(warnings()).toEqual([]);
    await get('203.0.113.1', '198.51.100.1'); // Anyone on the Internet can send the header, so it proves nothing.
    await get('203.0.113.2', '198.51.100.1');
    expect(forgottenProxy()).toBeUndefined();
    expect(warnings()).toEqual(['203.0.113.1']);
    await get('192.168.1.1', '198.51.100.1');
    await get('192.168.1.1', '198.51.100.1');
    expect(forgottenProxy()).toBe('192.168.1.1');
    expect(warnings()).toEqual(['203.0.113.1', '192.168.1.1']);
  });

  test('closes the metrics, and administrators see a warning in the console', async () => {
    const { address, account, pool } = await openWorldWith({});
    const metrics = async (headers = {}) => (await fetch(`${address}/metrics`, { headers })).status;
    const { id } = await account();
    const [{ userId } = { userId: 0 }] = await pool<{ userId: number }[]>`
      select user_id as "userId" from users where account_id = ${id}`;
    const secret = await beginSession(pool, { accountId: id, userId }, { address: '', agent: '' });
    const warnings = async () =>
      (await fetch(`${address}/api/warnings`, { headers: { cookie: `soundings=${secret}` } })).json();
    expect(await metrics()).toBe(200);
    expect(await warnings()).toEqual([]);
    expect(await metrics({ 'x-forwarded-for': '198.51.100.1' })).toBe(404);
    expect(await metrics()).toBe(404);
    expect(await warnings()).toEqual([{ code: 'forgottenProxy', address: '127.0.0.1' }]);
  });
});

describe('TLS', () => {
  test('has forward secrecy and authenticated encryption, whatever the client offers', async () => {
    const { address } = await openWorldWith({ tls: certificate() });
    const { port } = new URL(address);
    const agreed = async (ciphers: string, version: SecureVersion = 'TLSv1.2') => {
      const socket = connectTls({
        port: Number(port),
        host: '127.0.0.1',
        rejectUnauthorized: false,
        minVersion: version,
        maxVersion: version,
        ciphers: `${ciphers}:@SECLEVEL=0`,
      });
      onTestFinished(() => void socket.destroy());
      const failed = once(socket, 'error').then(() => 'refused');
      return Promise.race([once(socket, 'secureConnect').then(() => socket.getCipher().name), failed]);
    };
    for (const cipher of [
      'AES128-GCM-SHA256',
      'AES256-SHA',
      'ECDHE-RSA-AES128-SHA',
      'ECDHE-RSA-AES256-SHA384',
    ])
      expect(await agreed(cipher)).toBe('refused');
    expect(await agreed('ECDHE-RSA-AES128-SHA', 'TLSv1.1')).toBe('refused');
    expect(await agreed('ECDHE-RSA-AES128-GCM-SHA256')).toBe('ECDHE-RSA-AES128-GCM-SHA256');
    expect(await agreed('TLS_AES_128_GCM_SHA256:ECDHE-RSA-AES128-GCM-SHA256', 'TLSv1.3')).toBe(
      'TLS_AES_128_GCM_SHA256',
    );
  });
});

function certificate(): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), 'soundings-tls-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [cert, key] = [join(directory, 'cert'), join(directory, 'key')];
  const wanted = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=localhost', '-days', '2'];
  execFileSync('openssl', ['req', ...wanted, '-keyout', key, '-out', cert], { stdio: 'ignore' });
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
