// What the server does for every operation of the data interface: path parameters, compression, ETags, and requests of other
// origins. The operation is the tests' own, the server is the real one.
import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Fault } from '../../base/errors.ts';
import { openWorld } from '../../testing/world.ts';
import {
  type Handler,
  open,
  path,
  problemOf,
  type Received,
  uncompressed,
  useService,
} from './responses.fixture.ts';

useService();

describe('a path parameter', () => {
  const echo: Handler = async ({ params, query }) => ({ params, query });

  test('reaches the handler decoded, whatever its characters and length', async () => {
    const { send } = await open(echo);
    for (const thing of ['x', 'a b', 'å/ä', '%', '..', 'a:b', '{thingId}', '__proto__', 'a'.repeat(8_000)]) {
      const at = `/v1/things/${encodeURIComponent(thing).replaceAll('.', '%2e')}/values?size=1`;
      const response = await send({}, 'GET', at);
      expect([response.status, JSON.parse(uncompressed(response))]).toEqual([
        200,
        { params: { thingId: thing }, query: { size: '1' } },
      ]);
    }
  });

  test('that cannot be decoded, contains U+0000 or does not match its schema gets 400 with the error body', async () => {
    const { send } = await open(echo);
    for (const part of ['%', '%zz', '%ff', '%c0%ae', '%ed%a0%80', 'a%00', '!']) {
      const response = await send({}, 'GET', `/v1/things/${part}/values`);
      expect([part, response.status, problemOf(response).details.length]).toEqual([part, 400, 1]);
    }
    const wrong = await send({}, 'GET', '/v1/things/!/values');
    expect(problemOf(wrong).details).toEqual([
      { type: 'invalid parameter', message: expect.stringContaining('"thingId"'), path: 'thingId' },
    ]);
  });

  test('U+0000 in a query parameter gets 400 as well', async () => {
    const { send } = await open(echo);
    expect((await send({}, 'GET', `${path}?size=1%00`)).status).toBe(400);
  });

  test('is checked after the token', async () => {
    const { send } = await open(echo);
    expect((await send({ authorization: 'x' }, 'GET', '/v1/things/!/values')).status).toBe(401);
  });

  test('every other method gets 405 with Allow, and any other path 404', async () => {
    const { send } = await open(echo);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await send({}, method);
      expect([method, response.status, response.headers.allow]).toEqual([method, 405, 'GET, HEAD']);
    }
    for (const at of ['/v1/things/x', '/v1/things/x/values/', '/v1/things/x/y/values', '/v1/things']) {
      for (const method of ['GET', 'POST']) expect((await send({}, method, at)).status).toBe(404);
    }
  });

  test('may be empty: the handler decides that there is nothing under that id', async () => {
    const { send } = await open(echo);
    const at = '/v1/things//values';
    expect(JSON.parse(uncompressed(await send({}, 'GET', at)))).toMatchObject({ params: { thingId: '' } });
    expect((await send({}, 'POST', at)).status).toBe(405);
  });

  test('is not in the log, which contains the route pattern instead', async () => {
    const { send, lines } = await open(echo);
    await send({}, 'GET', '/v1/things/secret/values');
    const completed = lines.filter(({ msg }) => msg === 'request completed');
    expect(completed.map(({ route }) => route)).toEqual(['/v1/things/:thingId/values']);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });
});

const large = Array.from({ length: 2_000 }, (_, i) => ({ groupId: i, value: i / 2_000 }));

describe('compression', () => {
  test.each(['br', 'gzip'])(
    '%s: a response above 1 KB is compressed, and is the same after decompression',
    async (encoding) => {
      const { send } = await open(async () => large);
      const response = await send({ 'accept-encoding': encoding });
      expect(response.headers['content-encoding']).toBe(encoding);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(response.headers['content-length']).toBe(String(response.bytes.length));
      expect(response.headers.vary).toBe('Accept-Encoding');
      expect(JSON.parse(uncompressed(response))).toEqual(large);
      expect(response.bytes.length).toBeLessThan(JSON.stringify(large).length / 4);
    },
  );

  test('a client that accepts neither encoding gets the response uncompressed, also with Vary', async () => {
    const { send } = await open(async () => large);
    const response = await send({ 'accept-encoding': 'zstd, br;q=0' });
    expect(response.headers['content-encoding']).toBeUndefined();
    expect(response.headers.vary).toBe('Accept-Encoding');
    expect(JSON.parse(response.bytes.toString())).toEqual(large);
  });

  test('a response of up to 1 KB is not compressed; a response of one more byte is', async () => {
    const { send } = await open(async ({ query }) => 'x'.repeat(Number(query['size'])));
    const headers = { 'accept-encoding': 'br' };
    const encodingOf = async (size: number) =>
      (await send(headers, 'GET', `${path}?size=${size}`)).headers['content-encoding'];
    expect([await encodingOf(1024), await encodingOf(1025)]).toEqual([undefined, 'br']);
  });

  test('a response that the handler has compressed is not compressed again', async () => {
    const bytes = randomBytes(4_000);
    const { send } = await open(async ({ reply }) => {
      reply.header('content-encoding', 'zstd');
      return bytes;
    });
    const response = await send({ 'accept-encoding': 'br, zstd' });
    expect([response.headers['content-encoding'], response.bytes]).toEqual(['zstd', bytes]);
  });

  test('HEAD returns the same headers for a compressed response as GET, and no body', async () => {
    const { send } = await open(async () => large);
    const headers = { 'accept-encoding': 'gzip' };
    const [head, full] = [await send(headers, 'HEAD'), await send(headers)];
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

  test('an error has no headers about encoding, tag or cache', async () => {
    const { send } = await open(async ({ reply }) => {
      reply.header('content-encoding', 'br').header('etag', '"x"');
      throw new Fault('not_found', 'group not found', `There is no ${'such '.repeat(1_000)} group.`);
    });
    const response = await send({ 'accept-encoding': 'br' });
    expect(response.status).toBe(404);
    expect(problemOf(response).details).toHaveLength(1);
    expect(Object.keys(response.headers)).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(content-encoding|etag|cache-control)$/)]),
    );
  });
});

describe('ETag', () => {
  test('is weak, the same for the same content in any encoding, and different for different content', async () => {
    let content: unknown = large;
    const { send } = await open(async () => content);
    const tags = [];
    for (const encoding of ['br', 'gzip', 'identity']) {
      const { headers } = await send({ 'accept-encoding': encoding });
      expect(headers.etag).toMatch(/^W\/"[\w-]{22}"$/);
      expect(headers['cache-control']).toBe('private, no-cache');
      tags.push(headers.etag);
    }
    expect(new Set(tags).size).toBe(1);
    content = [...large, 0];
    expect((await send()).headers.etag).not.toBe(tags[0]);
  });

  test('If-None-Match with it, in any list and strength, gets 304 without a body', async () => {
    const { send } = await open(async () => large);
    const { headers } = await send({ 'accept-encoding': 'br' });
    const [etag, opaque] = [headers.etag ?? '', headers.etag?.slice(2) ?? ''];
    for (const method of ['GET', 'HEAD']) {
      for (const known of [etag, opaque, `"a", ${etag}`, `"a,b",W/"c" ,${opaque}`, '*', ' * ']) {
        const response = await send({ 'if-none-match': known, 'accept-encoding': 'br' }, method);
        expect([known, response.status, response.bytes.length]).toEqual([known, 304, 0]);
        for (const name of ['etag', 'vary', 'cache-control'])
          expect(response.headers[name]).toBe(headers[name]);
        for (const name of ['content-encoding', 'content-length', 'content-type']) {
          expect([name, response.headers[name]]).toEqual([name, undefined]);
        }
      }
      for (const other of ['"a"', opaque.slice(1, -1), `W/${opaque.slice(0, -2)}"`, '"*"', '']) {
        expect((await send({ 'if-none-match': other }, method)).status).toBe(200);
      }
    }
  });

  test('does not replace the token: without a valid token, the response is 401', async () => {
    const { send } = await open(async () => large);
    expect((await send({ authorization: 'x', 'if-none-match': '*' })).status).toBe(401);
  });
});

describe('requests of other origins', () => {
  const page = 'https://page.example';
  const preflight = {
    origin: page,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization',
  };
  const corsOf = ({ headers }: Received) =>
    Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')));

  test('are not allowed unless configured: OPTIONS gets 405 without CORS headers', async () => {
    const { send } = await open(async () => []);
    const [options, response] = [await send(preflight, 'OPTIONS'), await send({ origin: page })];
    expect([options.status, options.headers.allow]).toEqual([405, 'GET, HEAD']);
    for (const one of [options, response]) expect(corsOf(one)).toEqual({});
    expect(response.headers.vary).toBe('Accept-Encoding');
  });

  test('a preflight needs no token, and names what may be sent', async () => {
    const { send } = await open(async () => [], [page, 'https://other.example']);
    const response = await send({ ...preflight, authorization: '' }, 'OPTIONS');
    expect([response.status, response.bytes.length]).toEqual([204, 0]);
    expect(corsOf(response)).toEqual({
      'access-control-allow-origin': page,
      'access-control-allow-methods': 'GET, HEAD',
      'access-control-allow-headers': 'authorization, content-type, if-none-match',
      'access-control-expose-headers': 'etag, x-request-id, retry-after',
      'access-control-max-age': '7200',
    });
    expect(response.headers.vary).toBe('Origin');
    expect((await send({}, 'POST')).headers.allow).toBe('GET, HEAD, OPTIONS');
  });

  test('a listed origin may read every response and error, and they vary by origin', async () => {
    const { send } = await open(
      async ({ query }) => {
        if (query['size'] === '0') throw new Error('a defect');
        return large;
      },
      [page],
    );
    const responses = [
      await send({ origin: page }),
      await send({ origin: page, 'if-none-match': '*' }),
      await send({ origin: page, authorization: 'x' }),
      await send({ origin: page }, 'GET', `${path}?x=1`),
      await send({ origin: page }, 'GET', `${path}?size=0`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([200, 304, 401, 400, 500]);
    for (const response of responses) {
      expect(corsOf(response)).toEqual({
        'access-control-allow-origin': page,
        'access-control-expose-headers': 'etag, x-request-id, retry-after',
      });
      expect(response.headers.vary).toMatch(/^Origin(, Accept-Encoding)?$/);
    }
  });

  test('an origin that is not listed gets no CORS headers, however it is written', async () => {
    const { send } = await open(async () => [], [page]);
    for (const origin of [
      'https://evil.example',
      'null',
      `${page}.evil.example`,
      'http://page.example',
      '*',
    ]) {
      for (const response of [await send({ ...preflight, origin }, 'OPTIONS'), await send({ origin })]) {
        expect(corsOf(response)['access-control-allow-origin']).toBeUndefined();
        expect(response.headers.vary).toContain('Origin');
      }
    }
    expect((await send()).headers.vary).toBe('Origin, Accept-Encoding');
  });

  test('*: every origin is allowed, without credentials, and the response does not vary by origin', async () => {
    const { send } = await open(async () => [], ['*']);
    const response = await send({ origin: 'https://any.example' });
    expect(response.headers['access-control-allow-origin']).toBe('*');
    expect(response.headers['access-control-allow-credentials']).toBeUndefined();
    expect(response.headers.vary).toBe('Accept-Encoding');
  });

  test('are allowed only for the data interface', async () => {
    const own = await openWorld(undefined, { corsOrigins: ['*'] });
    onTestFinished(() => own.close());
    const headers = { origin: page };
    const options = await own.request('OPTIONS', '/v1/organization/organization', { headers });
    const posted = await own.request('POST', '/v1/organization/organization', { headers });
    const data = await own.request('OPTIONS', '/v1/groups', { headers });
    expect([options.status, posted.status, data.status]).toEqual([405, 400, 204]);
    for (const one of [options, posted]) expect(one.headers.get('access-control-allow-origin')).toBeNull();
    expect(data.headers.get('access-control-allow-origin')).toBe('*');
  });
});
