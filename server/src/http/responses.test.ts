// What the server does for every operation of the data interface: parts of the path, packing, ETags, long answers,
// pages of other origins. The operations here are the tests' own, on the server as it is.
import type { Operation } from '@soundings/contract/operation.ts';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { callerOf } from '../accounts/callers.ts';
import { Fault } from '../base/errors.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';
import { StreamedResponse } from './responses.ts';
import { openResponseCache } from './response-cache.ts';
import type { RequestContext } from './operations.ts';
import { createServer } from './server.ts';
import { limitConcurrency } from './concurrency.ts';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
});
afterAll(() => world.close());

const operation = {
  interface: 'data',
  method: 'GET',
  path: '/v1/things/{thingId}/values',
  operationId: 'getThing',
  summary: 'A thing',
  description: '',
  scope: 'data',
  params: Type.Object({ thingId: Type.String({ pattern: '^[^!]*$' }) }),
  query: Type.Object({ size: Type.Optional(Type.String()) }),
  response: Type.Any(),
  errors: {},
} satisfies Operation;
const path = '/v1/things/x/values';

type Handler = (ask: RequestContext) => Promise<unknown>;
type Got = { status: number; headers: IncomingHttpHeaders; bytes: Buffer };

/** A server with the one operation, and a way to ask it for the very bytes. */
async function open(
  handler: Handler,
  corsOrigins: string[] = [],
  cache = openResponseCache(0),
  concurrency = limitConcurrency(9, 9),
) {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'trace', base: null }, { write: (line) => void lines.push(JSON.parse(line)) });
  const server = createServer({
    log,
    tls: undefined,
    trustProxy: [],
    authenticate: (authorization, scope) => callerOf(world.pool, authorization, scope),
    count: async () => {},
    cache,
    concurrency,
    readTimeout: 60_000,
    now: Date.now,
    corsOrigins,
    isStarted: () => true,
    isReady: async () => true,
  });
  server.serve(operation, handler);
  const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => server.shutDown(5));

  const begin = async (headers: Record<string, string> = {}, method = 'GET', at = path) => {
    const all = { authorization: account.token, ...headers };
    const { hostname, port } = new URL(address);
    const asking = httpRequest({ hostname, port, path: at, method, headers: all, agent: false }).end();
    const [response] = (await once(asking, 'response')) as [IncomingMessage];
    return response;
  };
  const ask = async (...args: Parameters<typeof begin>): Promise<Got> => {
    const response = await begin(...args);
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(parts) };
  };
  return { address, lines, begin, ask };
}

const problemOf = ({ bytes }: Got) => JSON.parse(bytes.toString()) as { message: string; details: object[] };

const unpack: Record<string, (bytes: Buffer) => Buffer> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  undefined: (bytes) => bytes,
};
const uncompressed = ({ headers, bytes }: Got) =>
  unpack[String(headers['content-encoding'])]!(bytes).toString();

/** A promise of the first call. */
function called<T = void>() {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, call: resolve };
}

describe('a part of the path', () => {
  const echo: Handler = async ({ params, query }) => ({ params, query });

  test('reaches the handler decoded, whatever its characters and however long', async () => {
    const { ask } = await open(echo);
    for (const thing of ['x', 'a b', 'å/ä', '%', '..', 'a:b', '{thingId}', '__proto__', 'a'.repeat(8_000)]) {
      const at = `/v1/things/${encodeURIComponent(thing).replaceAll('.', '%2e')}/values?size=1`;
      const answer = await ask({}, 'GET', at);
      expect([answer.status, JSON.parse(uncompressed(answer))]).toEqual([
        200,
        { params: { thingId: thing }, query: { size: '1' } },
      ]);
    }
  });

  test('that cannot be decoded, holds U+0000 or is not as described gets 400 with the error body', async () => {
    const { ask } = await open(echo);
    for (const part of ['%', '%zz', '%ff', '%c0%ae', '%ed%a0%80', 'a%00', '!']) {
      const answer = await ask({}, 'GET', `/v1/things/${part}/values`);
      expect([part, answer.status, problemOf(answer).details.length]).toEqual([part, 400, 1]);
    }
    const wrong = await ask({}, 'GET', '/v1/things/!/values');
    expect(problemOf(wrong).details).toEqual([
      { type: 'invalid parameter', message: expect.stringContaining('"thingId"'), path: 'thingId' },
    ]);
  });

  test('U+0000 in a parameter of the query gets 400 too', async () => {
    const { ask } = await open(echo);
    expect((await ask({}, 'GET', `${path}?size=1%00`)).status).toBe(400);
  });

  test('is asked for after the token', async () => {
    const { ask } = await open(echo);
    expect((await ask({ authorization: 'x' }, 'GET', '/v1/things/!/values')).status).toBe(401);
  });

  test('every other method gets 405 with Allow, another address 404', async () => {
    const { ask } = await open(echo);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const answer = await ask({}, method);
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
    for (const at of ['/v1/things/x', '/v1/things/x/values/', '/v1/things/x/y/values', '/v1/things']) {
      for (const method of ['GET', 'POST']) expect((await ask({}, method, at)).status).toBe(404);
    }
  });

  test('may be empty: it is for the handler to know of no such thing', async () => {
    const { ask } = await open(echo);
    const at = '/v1/things//values';
    expect(JSON.parse(uncompressed(await ask({}, 'GET', at)))).toMatchObject({ params: { thingId: '' } });
    expect((await ask({}, 'POST', at)).status).toBe(405);
  });

  test('is not in the log, which names the pattern', async () => {
    const { ask, lines } = await open(echo);
    await ask({}, 'GET', '/v1/things/secret/values');
    const answered = lines.filter(({ msg }) => msg === 'request completed');
    expect(answered.map(({ route }) => route)).toEqual(['/v1/things/:thingId/values']);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});

const large = Array.from({ length: 2_000 }, (_, i) => ({ groupId: i, value: i / 2_000 }));

describe('packing', () => {
  test.each(['br', 'gzip'])(
    '%s: an answer above 1 KB is packed, and is the same unpacked',
    async (encoding) => {
      const { ask } = await open(async () => large);
      const answer = await ask({ 'accept-encoding': encoding });
      expect(answer.headers['content-encoding']).toBe(encoding);
      expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(answer.headers['content-length']).toBe(String(answer.bytes.length));
      expect(answer.headers.vary).toBe('Accept-Encoding');
      expect(JSON.parse(uncompressed(answer))).toEqual(large);
      expect(answer.bytes.length).toBeLessThan(JSON.stringify(large).length / 4);
    },
  );

  test('a client that accepts neither gets the answer as it is, which varies all the same', async () => {
    const { ask } = await open(async () => large);
    const answer = await ask({ 'accept-encoding': 'zstd, br;q=0' });
    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
    expect(JSON.parse(answer.bytes.toString())).toEqual(large);
  });

  test('an answer up to 1 KB is not packed, one byte more is', async () => {
    const { ask } = await open(async ({ query }) => 'x'.repeat(Number(query['size'])));
    const headers = { 'accept-encoding': 'br' };
    const encodingOf = async (size: number) =>
      (await ask(headers, 'GET', `${path}?size=${size}`)).headers['content-encoding'];
    expect([await encodingOf(1024), await encodingOf(1025)]).toEqual([undefined, 'br']);
  });

  test('what the handler has packed is not packed again', async () => {
    const bytes = randomBytes(4_000);
    const { ask } = await open(async ({ reply }) => {
      reply.header('content-encoding', 'zstd');
      return bytes;
    });
    const answer = await ask({ 'accept-encoding': 'br, zstd' });
    expect([answer.headers['content-encoding'], answer.bytes]).toEqual(['zstd', bytes]);
  });

  test('HEAD says the same of a packed answer as GET, and has no body', async () => {
    const { ask } = await open(async () => large);
    const headers = { 'accept-encoding': 'gzip' };
    const [head, full] = [await ask(headers, 'HEAD'), await ask(headers)];
    expect([head.status, head.bytes.length]).toEqual([200, 0]);
    for (const name of [
      'content-length',
      'content-encoding',
      'content-type',
      'etag',
      'vary',
      'cache-control',
    ]) {
      expect([name, head.headers[name]]).toEqual([name, full.headers[name]]);
      expect(head.headers[name]).toBeDefined();
    }
  });

  test('a refusal says nothing of encodings, tags and caches', async () => {
    const { ask } = await open(async ({ reply }) => {
      reply.header('content-encoding', 'br').header('etag', '"x"');
      throw new Fault('not_found', 'group not found', `There is no ${'such '.repeat(1_000)} group.`);
    });
    const answer = await ask({ 'accept-encoding': 'br' });
    expect(answer.status).toBe(404);
    expect(problemOf(answer).details).toHaveLength(1);
    expect(Object.keys(answer.headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(content-encoding|etag|cache-control)$/)]),
    );
  });
});

describe('ETag', () => {
  test('is weak, the same for the same content in any encoding, and another for another', async () => {
    let content: unknown = large;
    const { ask } = await open(async () => content);
    const tags = [];
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { headers } = await ask({ 'accept-encoding': encoding });
      expect(headers.etag).toMatch(/^W\/"[\w-]{22}"$/);
      expect(headers['cache-control']).toBe('private, no-cache');
      tags.push(headers.etag);
    }
    expect(new Set(tags).size).toBe(1);
    content = [...large, 0];
    expect((await ask()).headers.etag).not.toBe(tags[0]);
  });

  test('If-None-Match that names it, in whatever list and strength, gets 304 without body', async () => {
    const { ask } = await open(async () => large);
    const { headers } = await ask({ 'accept-encoding': 'br' });
    const [etag, opaque] = [headers.etag ?? '', headers.etag?.slice(2) ?? ''];
    for (const method of ['GET', 'HEAD']) {
      for (const held of [etag, opaque, `"a", ${etag}`, `"a,b",W/"c" ,${opaque}`, '*', ' * ']) {
        const answer = await ask({ 'if-none-match': held, 'accept-encoding': 'br' }, method);
        expect([held, answer.status, answer.bytes.length]).toEqual([held, 304, 0]);
        for (const name of ['etag', 'vary', 'cache-control'])
          expect(answer.headers[name]).toBe(headers[name]);
        for (const name of ['content-encoding', 'content-length', 'content-type']) {
          expect([name, answer.headers[name]]).toEqual([name, undefined]);
        }
      }
      for (const other of ['"a"', opaque.slice(1, -1), `W/${opaque.slice(0, -2)}"`, '"*"', '']) {
        expect((await ask({ 'if-none-match': other }, method)).status).toBe(200);
      }
    }
  });

  test('never answers for the token: without a valid one, 401', async () => {
    const { ask } = await open(async () => large);
    expect((await ask({ authorization: 'x', 'if-none-match': '*' })).status).toBe(401);
  });
});

describe('a long answer', () => {
  const piece = 'å'.repeat(8_000);
  const encodings = ['identity', 'gzip', 'br'];

  async function* fragmentsOf(count: number, onEnd = () => {}) {
    try {
      for (let i = 0; i < count; i++) yield `${i}${piece}`;
    } finally {
      onEnd();
    }
  }

  test.each(encodings)('%s: comes whole, and has its type', async (encoding) => {
    const { ask } = await open(async () => new StreamedResponse('1', () => fragmentsOf(200)));
    const answer = await ask({ 'accept-encoding': encoding });
    expect(answer.status).toBe(200);
    expect(answer.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.vary).toBe('Accept-Encoding');
    const whole = Array.from({ length: 200 }, (_, i) => `${i}${piece}`).join('');
    expect(uncompressed(answer) === whole).toBe(true);
  });

  test('its tag is known before it begins: 304, and HEAD, ask for no piece', async () => {
    let begun = 0;
    const { ask } = await open(
      async ({ query }) =>
        new StreamedResponse(query['size'] ?? '', () => {
          begun++;
          return fragmentsOf(2);
        }),
    );
    const first = await ask({ 'accept-encoding': 'br' });
    expect(begun).toBe(1);
    const head = await ask({ 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, undefined]);
    for (const name of ['etag', 'content-type', 'content-encoding', 'vary']) {
      expect(head.headers[name]).toBe(first.headers[name]);
    }
    const held = { 'if-none-match': first.headers.etag ?? '' };
    for (const method of ['GET', 'HEAD']) expect((await ask(held, method)).status).toBe(304);
    expect(begun).toBe(1);
    expect((await ask(held, 'GET', `${path}?size=2`)).status).toBe(200);
  });

  test("the tag of one account is not another's, even of the same state", async () => {
    const { ask } = await open(async () => new StreamedResponse('same', () => fragmentsOf(1)));
    const { headers } = await ask();
    const authorization = (await world.account()).token;
    expect((await ask({ authorization, 'if-none-match': headers.etag ?? '' })).status).toBe(200);
  });

  test.each(encodings)('%s: pieces are asked for only as fast as the client takes them', async (encoding) => {
    let made = 0;
    const stopped = called();
    const { ask, begin } = await open(
      async () =>
        new StreamedResponse('1', async function* () {
          try {
            for (; ; made++) yield randomBytes(32 * 1024).toString('hex');
          } finally {
            stopped.call();
          }
        }),
    );
    const response = await begin({ 'accept-encoding': encoding });
    response.pause();
    // At rest: nothing is made while a hundred others are answered. The buffers of both sides are full.
    for (let before = -1; before !== made;) {
      before = made;
      for (let i = 0; i < 100; i++) await ask({}, 'HEAD');
    }
    expect(made).toBeGreaterThan(0);
    expect(made * 64).toBeLessThan(32 * 1024); // KB: what the sockets hold, whatever the answer's length
    const rested = made;
    for (let read = 0; read < 64 * 1024 * 1024;) {
      const chunk = response.read() as Buffer | null;
      if (chunk) read += chunk.length;
      else await once(response, 'readable');
      if (made > rested) break;
    }
    expect(made).toBeGreaterThan(rested);
    response.destroy();
    await stopped.promise;
  });

  test.each(encodings)(
    '%s: when the client goes away the pieces end, and that is no defect',
    async (encoding) => {
      const ended = called();
      const { begin, lines } = await open(
        async () => new StreamedResponse('1', () => fragmentsOf(Number.POSITIVE_INFINITY, ended.call)),
      );
      const response = await begin({ 'accept-encoding': encoding });
      await once(response, 'readable');
      response.destroy();
      await ended.promise;
      expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
    },
  );

  test('does not begin when the client has gone already', async () => {
    const [asked, gone] = [called(), called()];
    let begun = 0;
    const { address, ask, lines } = await open(async ({ request, query }) => {
      if (query['size'] !== undefined) return [];
      asked.call();
      await once(request.raw.socket, 'close');
      gone.call();
      return new StreamedResponse('1', () => {
        begun++;
        return fragmentsOf(1);
      });
    });
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${account.token}\r\n\r\n`);
    await asked.promise;
    socket.destroy();
    await gone.promise;
    for (let i = 0; i < 3; i++) expect((await ask({}, 'GET', `${path}?size=1`)).status).toBe(200);
    expect(begun).toBe(0);
    expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  test('takes a slot until it is read, or its client goes: beyond those of an account others wait, then get 503', async () => {
    const { begin, ask } = await open(
      async () => new StreamedResponse('1', () => fragmentsOf(Number.POSITIVE_INFINITY)),
      [],
      openResponseCache(0),
      limitConcurrency(2, 1, { timeout: 50 }),
    );
    const reading = await begin();
    const late = await ask();
    expect([late.status, late.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const other = await begin({ authorization: (await world.account()).token });
    expect(other.statusCode).toBe(200);
    reading.destroy();
    const next = await begin();
    expect(next.statusCode).toBe(200);
    for (const one of [other, next]) one.destroy();
  });

  const failing = (after: number) =>
    async function* () {
      yield* fragmentsOf(after);
      throw new Error('PRIVATE relation');
    };

  test.each(encodings)('%s: a failure midway breaks the connection, and is logged', async (encoding) => {
    const { begin, lines } = await open(
      async () =>
        new StreamedResponse('1', async function* () {
          for (let i = 0; i < 50; i++) yield randomBytes(32 * 1024).toString('hex');
          throw new Error('PRIVATE relation');
        }),
    );
    const response = await begin({ 'accept-encoding': encoding });
    expect(response.statusCode).toBe(200);
    await expect(text(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    const told = lines.filter(({ level }) => level === 50);
    expect(told).toEqual([
      expect.objectContaining({
        requestId: response.headers['x-request-id'],
        msg: 'A response broke off',
        err: expect.objectContaining({ message: 'PRIVATE relation' }),
      }),
    ]);
  });

  test('a failure midway is a reset for HTTP/1.0, where the end of the connection is that of the answer', async () => {
    const { address } = await open(async () => new StreamedResponse('1', failing(200)));
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.0\r\nauthorization: ${account.token}\r\n\r\n`);
    await expect(text(socket)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test.each(encodings)('%s: a failure before anything was sent is answered as such', async (encoding) => {
    const headers = { 'accept-encoding': encoding };
    const defect = await (await open(async () => new StreamedResponse('1', failing(0)))).ask(headers);
    expect([defect.status, defect.headers['content-type']]).toEqual([500, 'application/json; charset=utf-8']);
    for (const name of ['etag', 'cache-control', 'content-encoding']) {
      expect([name, defect.headers[name]]).toEqual([name, undefined]);
    }
    expect(problemOf(defect).message).not.toContain('PRIVATE');
    const absent = await open(
      async () =>
        new StreamedResponse('1', () => {
          throw new Fault('not_found', 'group not found', 'There is no such group.');
        }),
    );
    expect((await absent.ask(headers)).status).toBe(404);
  });

  test('the database lost midway is a warning, not a defect', async () => {
    const { begin, lines } = await open(
      async () =>
        new StreamedResponse('1', async function* () {
          yield* fragmentsOf(200);
          throw Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' });
        }),
    );
    await expect(text(await begin())).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(lines.map(({ level }) => level)).toContain(40);
    expect(lines.map(({ level }) => level)).not.toContain(50);
  });

  test('one connection serves a long answer and others after it', async () => {
    const { address } = await open(async () => new StreamedResponse('1', () => fragmentsOf(20)));
    const whole = createHash('sha256');
    for (let i = 0; i < 20; i++) whole.update(`${i}${piece}`);
    const wanted = whole.digest('hex');
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(address + path, { headers: { authorization: account.token } });
      expect(
        createHash('sha256')
          .update(await answer.text())
          .digest('hex'),
      ).toBe(wanted);
    }
  });
});

describe('an answer that was sent', () => {
  const words = 'x'.repeat(200_000);
  async function counting(make: () => unknown) {
    let made = 0;
    const opened = await open(async () => (made++, make()), [], openResponseCache(16 * 300_000));
    return { ...opened, made: () => made };
  }

  test.each([
    ['a value', () => ({ some: 'value' })],
    ['a text that is packed', () => JSON.stringify(words)],
    ['a long answer', () => new StreamedResponse('1', async function* () { yield words; yield '!'; })], // prettier-ignore
  ])('is sent again without being made again: %s', async (_, make) => {
    const { ask, made } = await counting(make);
    for (const [i, encoding] of ['identity', 'gzip', 'br'].entries()) {
      const [first, again] = [
        await ask({ 'accept-encoding': encoding }),
        await ask({ 'accept-encoding': encoding }),
      ];
      expect(made()).toBe(i + 1);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      for (const name of ['etag', 'content-type', 'content-encoding', 'vary', 'cache-control']) {
        expect(again.headers[name]).toBe(first.headers[name]);
      }
      const held = { 'accept-encoding': encoding, 'if-none-match': first.headers.etag ?? '' };
      expect((await ask(held)).status).toBe(304);
      const head = await ask({ 'accept-encoding': encoding }, 'HEAD');
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
    }
    expect(made()).toBe(3);
  });

  test('is made again for another address or account, and when the account has another version', async () => {
    const { ask, made } = await counting(() => ({}));
    await ask();
    await ask({}, 'GET', `${path}?size=2`);
    await ask({ authorization: (await world.account()).token });
    expect(made()).toBe(3);
    await ask();
    expect(made()).toBe(3);
    await world.pool`update accounts set version = version + 1 where account_id = ${account.id}`;
    await ask();
    expect(made()).toBe(4);
  });

  test('is not kept when it failed, broke off or is too large', async () => {
    const refused = await counting(() => {
      throw new Fault('not_found', 'group not found', 'There is no such group.');
    });
    for (let i = 0; i < 2; i++) expect((await refused.ask()).status).toBe(404);
    expect(refused.made()).toBe(2);
    const broken = await counting(
      () =>
        new StreamedResponse('1', async function* () {
          yield words;
          throw new Error('broken');
        }),
    );
    for (let i = 0; i < 2; i++) await expect(broken.ask()).rejects.toThrow('aborted');
    expect(broken.made()).toBe(2);
    const huge = await counting(() => JSON.stringify(words + words));
    for (let i = 0; i < 2; i++) expect((await huge.ask()).status).toBe(200);
    expect(huge.made()).toBe(2);
  });

  test('of a token that lacks the scope is not given', async () => {
    const { ask } = await counting(() => ({}));
    expect((await ask()).status).toBe(200);
    const authorization = await account.tokenOf('organization');
    expect((await ask({ authorization })).status).toBe(403);
  });
});

describe('pages of other origins', () => {
  const page = 'https://page.example';
  const preflight = {
    origin: page,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  };
  const corsOf = ({ headers }: Got) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

  test('none are let in unless it is set: OPTIONS is 405, and nothing is said', async () => {
    const { ask } = await open(async () => []);
    const [asked, answer] = [await ask(preflight, 'OPTIONS'), await ask({ origin: page })];
    expect([asked.status, asked.headers.allow]).toEqual([405, 'GET, HEAD']);
    for (const one of [asked, answer]) expect(corsOf(one)).toEqual({});
    expect(answer.headers.vary).toBe('Accept-Encoding');
  });

  test('a preflight is answered without a token, and names what may be sent', async () => {
    const { ask } = await open(async () => [], [page, 'https://other.example']);
    const answer = await ask({ ...preflight, authorization: '' }, 'OPTIONS');
    expect([answer.status, answer.bytes.length]).toEqual([204, 0]);
    expect(corsOf(answer)).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, content-type, if-none-match',
      'access-control-expose-headers': 'etag, x-request-id, retry-after',
      'access-control-max-age': '7200',
    });
    expect(answer.headers.vary).toBe('Origin');
    expect((await ask({}, 'POST')).headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  test('every answer and refusal may be read by a listed origin, and varies by it', async () => {
    const { ask } = await open(
      async ({ query }) => {
        if (query['size'] === '0') throw new Error('a defect');
        return large;
      },
      [page],
    );
    const answers = [
      await ask({ origin: page }),
      await ask({ origin: page, 'if-none-match': '*' }),
      await ask({ origin: page, authorization: 'x' }),
      await ask({ origin: page }, 'GET', `${path}?x=1`),
      await ask({ origin: page }, 'GET', `${path}?size=0`),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 401, 400, 500]);
    for (const answer of answers) {
      expect(corsOf(answer)).toEqual({
        'access-control-allow-origin': page,
        'access-control-expose-headers': 'etag, x-request-id, retry-after',
      });
      expect(answer.headers.vary).toMatch(/^Origin(, Accept-Encoding)?$/);
    }
  });

  test('an origin that is not listed is told nothing, in whatever disguise', async () => {
    const { ask } = await open(async () => [], [page]);
    for (const origin of [
      'https://evil.example',
      'null',
      `${page}.evil.example`,
      'http://page.example',
      '*',
    ]) {
      for (const answer of [await ask({ ...preflight, origin }, 'OPTIONS'), await ask({ origin })]) {
        expect(corsOf(answer)['access-control-allow-origin']).toBeUndefined();
        expect(answer.headers.vary).toContain('Origin');
      }
    }
    expect((await ask()).headers.vary).toBe('Origin, Accept-Encoding');
  });

  test('*: all are let in, with no credentials, and the answer does not vary', async () => {
    const { ask } = await open(async () => [], ['*']);
    const answer = await ask({ origin: 'https://any.example' });
    expect(answer.headers['access-control-allow-origin']).toBe('*');
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    expect(answer.headers.vary).toBe('Accept-Encoding');
  });

  test('only to the data interface', async () => {
    const own = await openWorld(undefined, { corsOrigins: ['*'] });
    onTestFinished(() => own.close());
    const headers = { origin: page };
    const options = await own.request('OPTIONS', '/v1/organization/organization', { headers });
    const asked = await own.request('POST', '/v1/organization/organization', { headers });
    const data = await own.request('OPTIONS', '/v1/groups', { headers });
    expect([options.status, asked.status, data.status]).toEqual([405, 400, 204]);
    for (const one of [options, asked]) expect(one.headers.get('access-control-allow-origin')).toBeNull();
    expect(data.headers.get('access-control-allow-origin')).toBe('*');
  });
});
