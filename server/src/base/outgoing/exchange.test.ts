// Requests to addresses that administrators enter, against real servers on this machine: no trick reaches an address that is not allowed.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { exchange, ForbiddenAddress, type OutgoingOptions, outgoingUrlOf } from './exchange.ts';

/** Long enough for a busy machine. */
const times = { connect: 20_000, response: 20_000, body: 20_000 };

/** Opens a server on an address of this machine, which counts its connections. */
async function openReceiver(
  respond: RequestListener = (_, response) => response.end('ok'),
  port = 0,
  host = '127.0.0.1',
) {
  const seen = { connections: 0, requests: [] as { path: string; host: string }[] };
  const server = createServer((request, response) => {
    seen.requests.push({ path: request.url!, host: request.headers.host! });
    respond(request, response);
  }).on('connection', () => seen.connections++);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { ...seen, seen, port: (server.address() as AddressInfo).port };
}

const send = (url: string, options: Partial<OutgoingOptions> = {}) =>
  exchange(
    { url: outgoingUrlOf(url)!, method: 'POST', headers: { 'content-length': '2' }, body: '{}' },
    { reach: { networks: [] }, times, maxBytes: 100, ...options },
  );

const loopback = { reach: { networks: ['127.0.0.0/8'] } };

describe('addresses that are not allowed', () => {
  test.each([
    '127.0.0.1',
    'localhost',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0x0.0x0.0x1',
    '017700000001',
    '0177.0.0.01',
    '0.0.0.0',
    '0',
    '①②⑦.⓪.⓪.①',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '%31%32%37.0.0.1',
  ])('%s is not reached, over HTTP or HTTPS', async (host) => {
    const { port, seen } = await openReceiver();
    for (const scheme of ['http', 'https'])
      await expect(send(`${scheme}://${host}:${port}/`)).rejects.toThrow(ForbiddenAddress);
    expect(seen.connections).toBe(0);
  });

  test('localhost with a trailing dot, which not every machine resolves, is not reached', async () => {
    const { port, seen } = await openReceiver();
    await expect(send(`https://localhost.:${port}/`)).rejects.toThrow(/public Internet|ENOTFOUND/);
    expect(seen.connections).toBe(0);
  });

  test('a host of several addresses is not reached if a single one of them is not allowed', async () => {
    const { port, seen } = await openReceiver();
    for (const addresses of [
      ['8.8.8.8', '127.0.0.1'],
      ['127.0.0.1', '8.8.8.8'],
      ['2606:4700::1', '::ffff:10.0.0.1'],
      [],
    ])
      await expect(send(`https://x.test:${port}/`, { resolve: async () => addresses })).rejects.toThrow(
        ForbiddenAddress,
      );
    expect(seen.connections).toBe(0);
  });

  test('a host that changes its address after the check is reached only at the checked address', async () => {
    const intended = await openReceiver(undefined, 0, '127.0.0.2');
    const target = await openReceiver(undefined, intended.port, '127.0.0.1');
    let calls = 0;
    const resolve = async () => [calls++ === 0 ? '127.0.0.2' : '127.0.0.1'];
    const reach = { networks: ['127.0.0.2'] };
    const url = `http://rebinding.test:${intended.port}/hook`;
    expect(await send(url, { reach, resolve })).toMatchObject({ status: 200, text: 'ok' });
    expect(intended.seen.requests).toEqual([{ path: '/hook', host: `rebinding.test:${intended.port}` }]);
    await expect(send(url, { reach, resolve })).rejects.toThrow(ForbiddenAddress);
    expect([calls, target.seen.connections]).toEqual([2, 0]);
  });

  test('a redirect is returned, not followed', async () => {
    const secret = await openReceiver();
    const { port } = await openReceiver((_, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${secret.port}/` }).end(),
    );
    expect((await send(`http://127.0.0.1:${port}/`, loopback)).status).toBe(307);
    expect(secret.seen.connections).toBe(0);
  });

  test('public addresses are reached over HTTPS only', async () => {
    await expect(send('http://x.test/', { resolve: async () => ['8.8.8.8'] })).rejects.toThrow(
      'HTTPS is required',
    );
  });
});

describe('bounds', () => {
  test('a name server that does not respond takes as long as a connection may take', async () => {
    const resolve = () => new Promise<string[]>(() => {});
    const brief = { times: { ...times, connect: 50 } };
    await expect(send('https://x.test/', { resolve, ...brief })).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  test('a response that never ends is read up to a limit, and one that never begins is given up', async () => {
    const endless = await openReceiver((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(1000)));
      };
      response.on('drain', more);
      more();
    });
    expect((await send(`http://127.0.0.1:${endless.port}/`, loopback)).text).toBe('x'.repeat(100));
    const silent = await openReceiver(() => {});
    const brief = { ...loopback, times: { ...times, response: 50 } };
    await expect(send(`http://127.0.0.1:${silent.port}/`, brief)).rejects.toMatchObject({
      code: 'ETIMEDOUT',
    });
  });

  test('an address with a user, a fragment, another scheme, a zone or too many characters is not accepted', () => {
    for (const text of [
      'https://user@example.com/',
      'https://public.example:x@127.0.0.1/',
      'https://example.com/#a',
      'ftp://example.com/',
      'file:///etc/passwd',
      'https://[fe80::1%25eth0]/',
      'https://',
      'example.com',
      `https://example.com/${'a'.repeat(2000)}`,
    ])
      expect([text, outgoingUrlOf(text)]).toEqual([text, undefined]);
    expect(outgoingUrlOf('https://example.com:8443/hooks/@soundings?a=1')?.port).toBe('8443');
  });
});
