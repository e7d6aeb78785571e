// What a hostile or broken system at the other end, or in front of it, can do: it gets no credentials that are not its own, takes no more
// memory or time than allowed, and no response becomes a list that removes people by mistake.
import { gzipSync } from 'node:zlib';
import { maxSheetColumns } from '@soundings/contract/limits.ts';
import { maxPullResponse } from '@soundings/contract/pulls/pull-values.ts';
import type { RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { PullFault } from './pull-fault.ts';
import { type HrServer, networks, openHr, sendJson, times } from './pulls.fixture.ts';
import { type ListSource, readList } from './read-list.ts';

const secret = 'S3cret-of-the-list';
const source = (url: string, changes: Partial<ListSource> = {}): ListSource => ({
  url,
  list: '',
  access: { kind: 'header', header: 'Authorization' },
  secret,
  columns: [],
  ...changes,
});

const read = (one: ListSource, more: object = {}) =>
  readList(one, { networks, times, ...more }, { requests: 0, bytes: 0 });

/** Returns the error and the detail of a list that is refused. */
async function refusal(one: ListSource, more: object = {}) {
  const error: unknown = await read(one, more).then(
    () => 'nothing was refused',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PullFault)) throw error;
  expect(error.message).not.toContain(secret);
  return [error.error, error.detail];
}

const people = [{ id: 1, name: 'Ann' }];
const list = async (respond: RequestListener): Promise<ListSource> =>
  source(`${(await openHr(respond)).url}/list`);
const got = ({ seen }: HrServer) => seen.map(({ authorization }) => authorization);

describe('credentials', () => {
  test.each([301, 302, 303, 307, 308])(
    'a redirect with HTTP %i to another host is not followed',
    async (status) => {
      const thief = await openHr((_, response) => sendJson(response, people));
      const one = await list((_, response) =>
        response.writeHead(status, { location: `${thief.url}/list` }).end(),
      );
      expect(await refusal(one)).toEqual(['redirect', thief.host]);
      expect(thief.seen).toEqual([]);
    },
  );

  test('a redirect within the same origin is followed, but not forever', async () => {
    const hr = await openHr(({ url }, response) =>
      url === '/list' ? response.writeHead(307, { location: '/new' }).end() : sendJson(response, people),
    );
    expect((await read(source(`${hr.url}/list`)))?.rows).toBe(1);
    expect(got(hr)).toEqual([secret, secret]);
    const loop = await list((_, response) => response.writeHead(302, { location: '/list' }).end());
    expect((await refusal(loop))[0]).toBe('redirect');
  });

  test.each(['@odata.nextLink', 'links', 'Link'])(
    'a next page at another host is refused (%s)',
    async (form) => {
      const thief = await openHr((_, response) => sendJson(response, people));
      const next = `${thief.url}/page2`;
      const body = {
        value: people,
        ...(form === '@odata.nextLink' && { [form]: next }),
        ...(form === 'links' && { links: { next: { href: next } } }),
      };
      const one = await list((_, response) =>
        sendJson(response, body, form === 'Link' ? { link: `<${next}>; rel="next"` } : {}),
      );
      expect(await refusal(one)).toEqual(['next', thief.host]);
      expect(thief.seen).toEqual([]);
    },
  );

  test('a next page over another scheme or port of the same host is another origin', async () => {
    const hr = await openHr();
    for (const next of [hr.url.replace('http:', 'https:'), `${hr.url.replace(/:\d+$/, ':1')}/`]) {
      hr.respond = (_, response) => sendJson(response, { value: people, '@odata.nextLink': `${next}/x` });
      expect((await refusal(source(`${hr.url}/list`)))[0]).toBe('next');
    }
  });

  test('the token endpoint gets the secret and not the list, and the list gets the token and not the secret', async () => {
    const hr = await openHr((_, response) => sendJson(response, people));
    const login = await openHr((_, response) =>
      sendJson(response, { access_token: 'token-1', token_type: 'bearer' }),
    );
    const access = {
      kind: 'oauth' as const,
      tokenUrl: `${login.url}/token`,
      clientId: 'a b:c',
      method: 'basic' as const,
    };
    await read(source(`${hr.url}/list`, { access, secret: 'p%s ü' }));
    expect(got(hr)).toEqual(['Bearer token-1']);
    const encoded = Buffer.from('a+b%3Ac:p%25s+%C3%BC').toString('base64');
    expect(got(login)).toEqual([`Basic ${encoded}`]);
    expect(login.seen[0]!.body).toBe('grant_type=client_credentials');
  });

  test.each<[string, RequestListener, string]>([
    [
      'an error of OAuth',
      (_, r) =>
        r.writeHead(400).end(JSON.stringify({ error: 'invalid_client', error_description: `no ${secret}` })),
      'HTTP 400, invalid_client: no ***',
    ],
    ['a page', (_, r) => r.writeHead(200).end('<html>'), 'HTTP 200'],
    ['a token with a line break', (_, r) => sendJson(r, { access_token: 'a\r\nx-evil: 1' }), 'HTTP 200'],
    ['a redirect', (_, r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 'HTTP 302'],
    [
      'another type of token',
      (_, r) => sendJson(r, { access_token: 'a', token_type: 'mac' }),
      'mac is not a bearer token.',
    ],
    ['an array', (_, r) => sendJson(r, []), 'HTTP 200'],
  ])('a token endpoint that responds with %s: nothing is sent to the list', async (_, respond, detail) => {
    const hr = await openHr((__, response) => sendJson(response, people));
    const login = await openHr(respond);
    const access = {
      kind: 'oauth' as const,
      tokenUrl: `${login.url}/token`,
      clientId: 'c',
      method: 'post' as const,
    };
    const [error, said] = await refusal(source(`${hr.url}/list`, { access }));
    expect([error, said]).toEqual(['token', expect.stringContaining(detail)]);
    expect(hr.seen).toEqual([]);
  });
});

test('an error of the token endpoint shows the secret in none of the forms in which it was sent', async () => {
  const own = 'a b+c/d%ü&';
  for (const method of ['post', 'basic'] as const) {
    const access = { kind: 'oauth' as const, clientId: 'client:1', method };
    const login = await openHr(({ headers }, response) => {
      const { body } = login.seen.at(-1)!;
      const sent = new URLSearchParams(body).get('client_secret') ?? '';
      const plain = Buffer.from(`client:1:${own}`).toString('base64');
      const said = [body, headers.authorization, sent, encodeURIComponent(own), plain].join(' | ');
      response.writeHead(400).end(JSON.stringify({ error: said }));
    });
    const one = source('https://8.8.8.8/', { access: { ...access, tokenUrl: login.url }, secret: own });
    const detail = (await refusal(one))[1]!;
    const encoded = new URLSearchParams({ a: own }).toString().slice(2);
    const basic = Buffer.from(`client%3A1:${encoded}`).toString('base64');
    expect(detail).toContain('***');
    const forms = [own, encodeURIComponent(own), encoded, basic];
    for (const form of forms) expect(detail).not.toContain(form);
    expect(detail).not.toContain(Buffer.from(`client:1:${own}`).toString('base64'));
  }
});

describe('addresses', () => {
  test('an address in a private network is not reached, whether it is that of the list, the token or the next page', async () => {
    const hr = await openHr((_, response) => sendJson(response, people));
    const port = new URL(hr.url).port;
    for (const host of [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '2130706433',
      '0x7f000001',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ]) {
      expect((await refusal(source(`http://${host}:${port}/list`), { networks: [] }))[0]).toBe('address');
      const access = { kind: 'oauth' as const, tokenUrl: `https://${host}:${port}/token`, clientId: 'c' };
      expect((await refusal(source('https://8.8.8.8/', { access }), { networks: [] }))[0]).toBe('address');
    }
    expect(hr.seen).toEqual([]);
  });
});

describe('size and time', () => {
  const endless =
    (start: string, chunk: string): RequestListener =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv' }).write(start);
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    };

  test('a body that never ends is read up to the limit only', async () => {
    const before = process.memoryUsage().arrayBuffers;
    const one = await list(endless('id,name\r\n', '1,Ann\r\n'.repeat(10_000)));
    expect((await refusal(one, { times: { ...times, body: 60_000 } }))[0]).toBe('large');
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3 * maxPullResponse);
  });

  test('a body that says that it has 10 GB is not read', async () => {
    const one = await list((_, response) =>
      response.writeHead(200, { 'content-length': 10 * 2 ** 30 }).write('id'),
    );
    expect((await refusal(one))[0]).toBe('large');
  });

  test('a body that arrives byte by byte is given up', async () => {
    const one = await list((_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.on('close', () => clearInterval(timer));
    });
    expect((await refusal(one, { times: { ...times, body: 200 } }))[0]).toBe('timeout');
  });

  test('a body that is cut off is not a shorter list', async () => {
    const one = await list((_, response) => {
      response.writeHead(200, { 'content-type': 'text/csv', 'content-length': 1000 });
      response.write('id,name\r\n1,Ann\r\n', () => response.destroy());
    });
    expect((await refusal(one))[0]).toBe('unreachable');
  });

  test('a small compressed body does not become a large one, and a damaged one is refused', async () => {
    const bomb = gzipSync(Buffer.alloc(maxPullResponse + 1, ' '));
    expect(bomb.length).toBeLessThan(100_000);
    const encoded = { 'content-encoding': 'gzip' };
    expect((await refusal(await list((_, response) => response.writeHead(200, encoded).end(bomb))))[0]).toBe(
      'large',
    );
    const cut = gzipSync(JSON.stringify(people)).subarray(0, 20);
    expect((await refusal(await list((_, response) => response.writeHead(200, encoded).end(cut))))[0]).toBe(
      'format',
    );
    const other = { 'content-encoding': 'br' };
    expect((await refusal(await list((_, response) => response.writeHead(200, other).end('x'))))[0]).toBe(
      'format',
    );
    const whole = gzipSync(JSON.stringify(people));
    const one = await list((_, response) =>
      response.writeHead(200, { ...encoded, 'content-type': 'application/json' }).end(whole),
    );
    expect((await read(one))?.rows).toBe(1);
  });

  test('pages that never end are refused: the same page, the same content, and always another one', async () => {
    const same = await list((_, response) =>
      sendJson(response, { value: people, '@odata.nextLink': '/list' }),
    );
    expect(await refusal(same)).toEqual(['next', 'A page is repeated.']);
    let n = 0;
    const content = await list((_, response) =>
      sendJson(response, people, { link: `</list?n=${n++}>; rel=next` }),
    );
    expect(await refusal(content)).toEqual(['next', 'A page is repeated.']);
    const ignored = await openHr((_, response) => sendJson(response, people));
    expect((await refusal(source(`${ignored.url}/list?limit=1&offset=0`)))[0]).toBe('next');
    const other = await list((_, response) =>
      sendJson(response, { value: [{ id: n }], next: `/list?n=${n++}` }),
    );
    expect(await refusal(other)).toEqual(['next', 'More than 1000 pages.']);
  });

  test('a list with more columns or deeper objects than allowed is refused quickly', async () => {
    const started = performance.now();
    const columns = Array.from({ length: 20_000 }, (_, i) => ({ [`k${i}`]: 1 }));
    expect(await refusal(await list((_, response) => sendJson(response, columns)))).toEqual([
      'large',
      `More than ${maxSheetColumns} different fields.`,
    ]);
    const deep = `${'{"a":['.repeat(100_000)}${']}'.repeat(100_000)}`;
    expect((await refusal(await list((_, response) => sendJson(response, deep))))[0]).toBe('json');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('content', () => {
  test.each<[string, string, string, string]>([
    ['a sign-in page', 'text/html; charset=utf-8', '<form>Sign in</form>', 'web'],
    ['a sign-in page as JSON', 'application/json', '\ufeff\n<!DOCTYPE html><html>', 'web'],
    ['XML', 'application/octet-stream', '<?xml version="1.0"?><Report/>', 'format'],
    ['nothing', 'text/csv', '', 'empty'],
    ['an empty list', 'application/json', '[]', 'empty'],
    ['an empty list inside', 'application/json', '{"value":[]}', 'empty'],
    ['no list', 'application/json', '{"error":"busy"}', 'list'],
    ['two lists', 'application/json', '{"a":[{}],"b":[{}]}', 'list'],
    ['a list of texts', 'application/json', '["a","b"]', 'list'],
    ['a text', 'application/json', '"a"', 'list'],
    ['half of a list', 'application/json', '[{"id":1},', 'json'],
    ['two values', 'application/json', '[{"id":1}][]', 'json'],
    ['the same key twice', 'application/json', '[{"id":1,"id":2}]', 'json'],
    ['an id that JSON.parse would round', 'application/json', '[{"id":90071992547409931}]', 'json'],
    ['fewer entries than it says', 'application/json', '{"@odata.count":2,"value":[{"id":1}]}', 'incomplete'],
    ['UTF-16', 'application/json', '\u0000[\u0000]', 'json'],
  ])('%s is refused', async (_, type, body, error) => {
    const one = await list((__, response) => response.writeHead(200, { 'content-type': type }).end(body));
    expect((await refusal(one))[0]).toBe(error);
  });

  test.each([201, 204, 206, 304, 401, 403, 404, 429, 500, 503])(
    'HTTP %i is refused, whatever the body is',
    async (status) => {
      const one = await list((_, response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(people)),
      );
      expect((await refusal(one))[0]).toBe(status === 401 || status === 403 ? 'refused' : 'status');
    },
  );

  test('keys such as __proto__ are columns like others, and change no object', async () => {
    const one = await list((_, response) =>
      sendJson(
        response,
        '[{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"x":1}},"toString":"a","id":1}]',
      ),
    );
    const { bytes } = (await read(one))!;
    expect(bytes.toString()).toBe(
      'sep=,\r\n__proto__.isAdmin,constructor.prototype.x,toString,id\r\ntrue,1,a,1\r\n',
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
    const placed = { ...one, list: '__proto__' };
    expect((await refusal(placed))[0]).toBe('list');
  });
});
