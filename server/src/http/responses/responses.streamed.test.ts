// Streamed responses of the data interface, and responses from the cache.
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../base/errors.ts';
import { giveAway } from '../../base/given-memory.ts';
import { StreamedResponse } from './responses.ts';
import { openResponseCache } from './response-cache.ts';
import { limitConcurrency } from '../concurrency.ts';
import { account, open, path, problemOf, uncompressed, world, useService } from './responses.fixture.ts';

useService();

/** Returns a promise that the first call resolves. */
function called<T = void>() {
  const { promise, resolve } = Promise.withResolvers<T>();
  return { promise, call: resolve };
}

describe('a streamed response', () => {
  const filler = 'å'.repeat(8_000);
  const encodings = ['identity', 'gzip', 'br'];

  async function* fragmentsOf(count: number, onEnd = () => {}) {
    try {
      for (let i = 0; i < count; i++) yield `${i}${filler}`;
    } finally {
      onEnd();
    }
  }

  test.each(encodings)('%s: arrives complete, with its content type', async (encoding) => {
    const { send } = await open(async () => new StreamedResponse('1', () => fragmentsOf(200)));
    const response = await send({ 'accept-encoding': encoding });
    expect(response.status).toBe(200);
    expect(response.headers['content-encoding']).toBe(encoding === 'identity' ? undefined : encoding);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers.vary).toBe('Accept-Encoding');
    const whole = Array.from({ length: 200 }, (_, i) => `${i}${filler}`).join('');
    expect(uncompressed(response) === whole).toBe(true);
  });

  test('knows its ETag before it begins, so 304 and HEAD responses read no data', async () => {
    let begun = 0;
    const { send } = await open(
      async ({ query }) =>
        new StreamedResponse(query['size'] ?? '', () => {
          begun++;
          return fragmentsOf(2);
        }),
    );
    const first = await send({ 'accept-encoding': 'br' });
    expect(begun).toBe(1);
    const head = await send({ 'accept-encoding': 'br' }, 'HEAD');
    expect([head.status, head.bytes.length, head.headers['content-length']]).toEqual([200, 0, undefined]);
    for (const name of ['etag', 'content-type', 'content-encoding', 'vary']) {
      expect(head.headers[name]).toBe(first.headers[name]);
    }
    const known = { 'if-none-match': first.headers.etag ?? '' };
    for (const method of ['GET', 'HEAD']) expect((await send(known, method)).status).toBe(304);
    expect(begun).toBe(1);
    expect((await send(known, 'GET', `${path}?size=2`)).status).toBe(200);
  });

  test('has a different tag for each account, even for the same state', async () => {
    const { send } = await open(async () => new StreamedResponse('same', () => fragmentsOf(1)));
    const { headers } = await send();
    const authorization = (await world.account()).token;
    expect((await send({ authorization, 'if-none-match': headers.etag ?? '' })).status).toBe(200);
  });

  test('memory that is given away is freed when it is sent, not before, and not if the response is cached', async () => {
    const length = 300_000;
    // More than the buffers of a connection take.
    const letters = [...'abcdefghijklmnopqrstuvwxyz'.repeat(4)];
    const expected = letters.map((letter) => letter.repeat(length)).join('');
    for (const cache of [openResponseCache(0), openResponseCache(16 * 40_000_000)]) {
      const responses: Buffer[][] = [];
      const sending = () =>
        new StreamedResponse('1', async function* () {
          const chunks = letters.map((letter) => giveAway(Buffer.alloc(length, letter)));
          responses.push(chunks);
          yield* chunks;
        });
      const { begin, send } = await open(async () => sending(), [], cache);
      const slow = (await begin()).pause();
      expect((await send()).bytes.toString() === expected).toBe(true);
      const [ofSlow, ofOther] = responses as [Buffer[], Buffer[]];
      expect(ofSlow.at(-1)).toHaveLength(length);
      expect((await text(slow)) === expected).toBe(true);
      const lengths = Array(letters.length).fill(cache.largest === 0 ? 0 : length);
      for (const chunks of [ofSlow, ofOther])
        await expect.poll(() => chunks.map((chunk) => chunk.length)).toEqual(lengths);
    }
  });

  test.each(encodings)('%s: data is read only as fast as the client takes it', async (encoding) => {
    let produced = 0;
    const stopped = called();
    const { send, begin } = await open(
      async () =>
        new StreamedResponse('1', async function* () {
          try {
            for (; ; produced++) yield randomBytes(32 * 1024).toString('hex');
          } finally {
            stopped.call();
          }
        }),
    );
    const response = await begin({ 'accept-encoding': encoding });
    response.pause();
    // Waits until nothing more is produced while a hundred other requests get their responses. Then the buffers of both
    // sides are full.
    for (let before = -1; before !== produced;) {
      before = produced;
      for (let i = 0; i < 100; i++) await send({}, 'HEAD');
    }
    expect(produced).toBeGreaterThan(0);
    expect(produced * 64).toBeLessThan(32 * 1024); // KB: what the sockets buffer, whatever the length of the response
    const rested = produced;
    for (let read = 0; read < 64 * 1024 * 1024;) {
      const chunk = response.read() as Buffer | null;
      if (chunk) read += chunk.length;
      else await once(response, 'readable');
      if (produced > rested) break;
    }
    expect(produced).toBeGreaterThan(rested);
    response.destroy();
    await stopped.promise;
  });

  test.each(encodings)(
    '%s: reading ends when the client disconnects, and that is not an error',
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

  test('does not begin if the client has already disconnected', async () => {
    const [started, gone] = [called(), called()];
    let begun = 0;
    const { address, send, lines } = await open(async ({ request, query }) => {
      if (query['size'] !== undefined) return [];
      started.call();
      await once(request.raw.socket, 'close');
      gone.call();
      return new StreamedResponse('1', () => {
        begun++;
        return fragmentsOf(1);
      });
    });
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${account.token}\r\n\r\n`);
    await started.promise;
    socket.destroy();
    await gone.promise;
    for (let i = 0; i < 3; i++) expect((await send({}, 'GET', `${path}?size=1`)).status).toBe(200);
    expect(begun).toBe(0);
    expect(lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  test('takes a slot until it is read or its client disconnects; further requests of the account wait, and then get 503', async () => {
    const { begin, send } = await open(
      async () => new StreamedResponse('1', () => fragmentsOf(Number.POSITIVE_INFINITY)),
      [],
      openResponseCache(0),
      limitConcurrency(2, 1, { timeout: 50 }),
    );
    const reading = await begin();
    const late = await send();
    expect([late.status, late.headers['retry-after']]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    const other = await begin({ authorization: (await world.account()).token });
    expect(other.statusCode).toBe(200);
    reading.destroy();
    const next = await begin();
    expect(next.statusCode).toBe(200);
    for (const one of [other, next]) one.destroy();
  });

  test('downloads of the console that read the database wait for the same slots', async () => {
    const { begin, send } = await open(
      async () => new StreamedResponse('1', () => fragmentsOf(Number.POSITIVE_INFINITY)),
      [],
      openResponseCache(0),
      limitConcurrency(2, 1, { timeout: 50 }),
      ({ app, inTurn }) =>
        app.get('/download', (request, reply) =>
          reply.send(inTurn(request, reply, account.id, () => fragmentsOf(Number.POSITIVE_INFINITY))),
        ),
    );
    const download = await begin({}, 'GET', '/download');
    expect(download.statusCode).toBe(200);
    expect([(await send()).status, (await send({}, 'GET', '/download')).status]).toEqual([503, 503]);
    download.destroy();
    const next = await begin();
    expect(next.statusCode).toBe(200);
    next.destroy();
  });

  const failing = (after: number) =>
    async function* () {
      yield* fragmentsOf(after);
      throw new Error('PRIVATE relation');
    };

  test.each(encodings)('%s: an error midway breaks the connection and is logged', async (encoding) => {
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
    const logged = lines.filter(({ level }) => level === 50);
    expect(logged).toEqual([
      expect.objectContaining({
        requestId: response.headers['x-request-id'],
        msg: 'A response was interrupted',
        err: expect.objectContaining({ message: 'PRIVATE relation' }),
      }),
    ]);
  });

  test('an error midway resets the connection in HTTP/1.0, in which closing it would end the response normally', async () => {
    const { address } = await open(async () => new StreamedResponse('1', failing(200)));
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write(`GET ${path} HTTP/1.0\r\nauthorization: ${account.token}\r\n\r\n`);
    await expect(text(socket)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test.each(encodings)('%s: an error before any data was sent gets its own status', async (encoding) => {
    const headers = { 'accept-encoding': encoding };
    const defect = await (await open(async () => new StreamedResponse('1', failing(0)))).send(headers);
    expect([defect.status, defect.headers['content-type']]).toEqual([500, 'application/json; charset=utf-8']);
    for (const name of ['etag', 'cache-control', 'content-encoding']) {
      expect([name, defect.headers[name]]).toEqual([name, undefined]);
    }
    expect(problemOf(defect).message).not.toContain('PRIVATE');
    const absent = await open(
      async () =>
        new StreamedResponse('1', () => {
          throw new Fault('not_found', 'group not found', 'This group does not exist.');
        }),
    );
    expect((await absent.send(headers)).status).toBe(404);
  });

  test('losing the database midway is a warning, not an internal error', async () => {
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

  test('one connection serves a streamed response and others after it', async () => {
    const { address } = await open(async () => new StreamedResponse('1', () => fragmentsOf(20)));
    const whole = createHash('sha256');
    for (let i = 0; i < 20; i++) whole.update(`${i}${filler}`);
    const expected = whole.digest('hex');
    for (let i = 0; i < 3; i++) {
      const response = await fetch(address + path, { headers: { authorization: account.token } });
      expect(
        createHash('sha256')
          .update(await response.text())
          .digest('hex'),
      ).toBe(expected);
    }
  });
});

describe('a cached response', () => {
  const longText = 'x'.repeat(200_000);
  async function openCounting(compute: () => unknown) {
    let computed = 0;
    const opened = await open(async () => (computed++, compute()), [], openResponseCache(16 * 300_000));
    return { ...opened, computed: () => computed };
  }

  test.each([
    ['a value', () => ({ some: 'value' })],
    ['a text that is compressed', () => JSON.stringify(longText)],
    ['a streamed response', () => new StreamedResponse('1', async function* () { yield longText; yield '!'; })], // prettier-ignore
  ])('is sent again without being computed again: %s', async (_, compute) => {
    const { send, computed } = await openCounting(compute);
    for (const [i, encoding] of ['identity', 'gzip', 'br'].entries()) {
      const [first, again] = [
        await send({ 'accept-encoding': encoding }),
        await send({ 'accept-encoding': encoding }),
      ];
      expect(computed()).toBe(i + 1);
      expect(again.bytes.equals(first.bytes)).toBe(true);
      for (const name of ['etag', 'content-type', 'content-encoding', 'vary', 'cache-control']) {
        expect(again.headers[name]).toBe(first.headers[name]);
      }
      const known = { 'accept-encoding': encoding, 'if-none-match': first.headers.etag ?? '' };
      expect((await send(known)).status).toBe(304);
      const head = await send({ 'accept-encoding': encoding }, 'HEAD');
      expect([head.status, head.bytes.length]).toEqual([200, 0]);
    }
    expect(computed()).toBe(3);
  });

  test('is computed again for another URL or account, and when the data of the account has changed', async () => {
    const { send, computed } = await openCounting(() => ({}));
    await send();
    await send({}, 'GET', `${path}?size=2`);
    await send({ authorization: (await world.account()).token });
    expect(computed()).toBe(3);
    await send();
    expect(computed()).toBe(3);
    await world.pool`update accounts set version = version + 1 where account_id = ${account.id}`;
    await send();
    expect(computed()).toBe(4);
  });

  test('is not kept if it is an error, is interrupted or is too large', async () => {
    const refused = await openCounting(() => {
      throw new Fault('not_found', 'group not found', 'This group does not exist.');
    });
    for (let i = 0; i < 2; i++) expect((await refused.send()).status).toBe(404);
    expect(refused.computed()).toBe(2);
    const broken = await openCounting(
      () =>
        new StreamedResponse('1', async function* () {
          yield longText;
          throw new Error('broken');
        }),
    );
    for (let i = 0; i < 2; i++) await expect(broken.send()).rejects.toThrow('aborted');
    expect(broken.computed()).toBe(2);
    const huge = await openCounting(() => JSON.stringify(longText + longText));
    for (let i = 0; i < 2; i++) expect((await huge.send()).status).toBe(200);
    expect(huge.computed()).toBe(2);
  });

  test('is not sent to a token without the scope', async () => {
    const { send } = await openCounting(() => ({}));
    expect((await send()).status).toBe(200);
    const authorization = await account.tokenOf('organization');
    expect((await send({ authorization })).status).toBe(403);
  });
});
