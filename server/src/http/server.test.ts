// What holds over HTTP for every route: who is let in, what is refused and in which words, and what the log says.
import { getGroups, type Group } from '@soundings/contract/data.ts';
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { interfaceNames } from '@soundings/contract/openapi.ts';
import type { InterfaceName, Operation } from '@soundings/contract/operation.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import { organizationOperations, Report } from '@soundings/contract/organization.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { startApp } from '../app.ts';
import { openLog } from '../base/log.ts';
import { newToken } from '../base/secrets.ts';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { openTestDatabase } from '../testing/database.ts';
import { type Answer, openWorld, testConfig, type TestAccount, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const organizationPaths = organizationOperations.map(({ path }) => path);
const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const isProblem = Compile(Problem);

/** Status and type of a refusal with the one error body of every interface; else what is amiss with it. */
function refusal({ status, headers, body }: Answer<unknown>): string {
  const [fault] = isProblem.Errors(body);
  if (fault) return `${status} without the error body: ${fault.message} ${JSON.stringify(body)}`;
  const { id, message, details } = body as Problem;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return `${status} as another type`;
  if (headers.get('x-request-id') !== id || !uuid7.test(id)) return `${status} without its id`;
  return message === '' ? `${status} without words` : `${status} ${details[0]?.type}`;
}

const get = <T = Problem>(path: string, authorization?: string) =>
  world.request<T>('GET', path, authorization === undefined ? {} : { headers: { authorization } });

const byHand = (account: TestAccount, group: { name: string; externalId?: string; parentId?: number }) =>
  inTransaction(world.pool, (tx) => createGroup(tx, account.id, group));

/** Sends the very bytes, and returns what came until the service closed the connection, or was silent for long. */
async function raw(...parts: string[]): Promise<Answer<unknown>> {
  const socket = connect(Number(new URL(world.address).port), '127.0.0.1');
  socket.setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk)).on('error', () => {});
  for (const part of parts) socket.write(part, 'latin1');
  socket.setTimeout(10_000, () => void socket.destroy());
  await once(socket, 'close');
  const [, status, head = '', body = ''] =
    /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(text) ?? [];
  const headers = new Headers(head.split('\r\n').map((line) => line.split(/:\s*/, 2) as [string, string]));
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: Number(status), headers, body: isJson && body !== '' ? JSON.parse(body) : body };
}

/** Sends a body piece by piece, as long as no answer has come. */
async function sendChunks(path: string, headers: Record<string, string>, size: number) {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const sending = httpRequest(world.address + path, { method: 'POST', headers, agent: false });
  // Once the service has answered it reads no more: what is sent then may fail, and matters no more.
  const answered = new Promise<Answer<unknown>>((resolve, reject) => {
    let hasAnswer = false;
    sending.on('error', (error) => hasAnswer || reject(error));
    sending.on('response', (response) => {
      hasAnswer = true;
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.once('end', () => {
        const answerHeaders = new Headers(response.headers as Record<string, string>);
        resolve({ status: response.statusCode ?? 0, headers: answerHeaders, body: JSON.parse(text) });
      });
    });
  });
  const over = new AbortController();
  answered.finally(() => over.abort()).catch(() => {});
  for (let sent = 0; sent < size && !over.signal.aborted;) {
    const part = chunk.subarray(0, Math.min(chunk.length, size - sent));
    sent += part.length;
    if (!sending.write(part)) await once(sending, 'drain', { signal: over.signal }).catch(() => {});
  }
  sending.end();
  return answered;
}

describe('GET /v1/groups', () => {
  describe('200', () => {
    test('lists the groups by id, each with all groups beneath it ascending at any depth', async () => {
      const account = await world.account();
      const a = await byHand(account, { name: 'A' });
      const b = await byHand(account, { name: 'B', parentId: a });
      const c = await byHand(account, { name: 'C', parentId: b });
      const d = await byHand(account, { name: 'D' });
      const e = await byHand(account, { name: 'E', parentId: a });
      const f = await byHand(account, { name: 'F', parentId: c });
      await world.pool`
        update groups set parent_id = ${e} where account_id = ${account.id} and group_id = ${d}`;
      const answer = await get<Group[]>('/v1/groups', account.token);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('x-request-id')).toMatch(uuid7);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.body).toEqual([
        { id: a, name: 'A', subgroups: [b, c, d, e, f] },
        { id: b, name: 'B', subgroups: [c, f] },
        { id: c, name: 'C', subgroups: [f] },
        { id: d, name: 'D', subgroups: [] },
        { id: e, name: 'E', subgroups: [d] },
        { id: f, name: 'F', subgroups: [] },
      ]);
    });

    test('orders by id also where the row was written anew since', async () => {
      const account = await world.account();
      const ids = [];
      for (const name of ['1', '2', '3', '4']) ids.push(await byHand(account, { name }));
      await world.pool`
        update groups set name = 'anew' where account_id = ${account.id} and group_id = ${ids[1]!}`;
      expect((await account.groups()).map(({ id }) => id)).toEqual(ids);
    });

    test('leaves externalId and description out where they are not set', async () => {
      const account = await world.account();
      const groups = [
        { externalId: 'x', name: 'With', description: 'all' },
        { externalId: 'y', name: 'Without' },
      ];
      const settings = { validateOnly: false };
      expect((await account.push({ settings, data: { groups } })).status).toBe(200);
      await byHand(account, { name: 'By hand' });
      const listed = (await account.groups()).toSorted((one, other) => one.name.localeCompare(other.name));
      expect(listed).toEqual([
        { id: expect.any(Number), name: 'By hand', subgroups: [] },
        { id: expect.any(Number), externalId: 'x', name: 'With', description: 'all', subgroups: [] },
        { id: expect.any(Number), externalId: 'y', name: 'Without', subgroups: [] },
      ]);
    });

    test('keeps every text exactly as it was sent', async () => {
      const account = await world.account();
      const name = ' "Å/ä\\ö" 🌊\u2028\t<script>e\u0301 ';
      await byHand(account, { name });
      expect((await account.groups())[0]?.name).toBe(name);
    });

    test('is [] in an account without groups', async () => {
      const account = await world.account();
      expect(await account.groups()).toEqual([]);
    });

    test("shows the groups of the token's own account alone", async () => {
      const [one, other] = [await world.account(), await world.account()];
      const ours = await byHand(one, { name: 'Ours', externalId: 'same' });
      const theirs = await byHand(other, { name: 'Theirs', externalId: 'same' });
      expect((await one.groups()).map(({ id }) => id)).toEqual([ours]);
      expect((await other.groups()).map(({ id }) => id)).toEqual([theirs]);
    });

    test('takes the token alone, and after Bearer in any letter case', async () => {
      const { token } = await world.account();
      for (const authorization of [
        token,
        `Bearer ${token}`,
        `bearer ${token}`,
        `BEARER ${token}`,
        `bEaReR   ${token}`,
      ]) {
        const { status } = await get('/v1/groups', authorization);
        expect([authorization.slice(0, 10), status]).toEqual([authorization.slice(0, 10), 200]);
      }
    });

    test('answers HEAD with the same headers and no body', async () => {
      const account = await world.account();
      await byHand(account, { name: 'Å' });
      const ask = async (method: string, path: string, authorization: string) => {
        const answer = await fetch(world.address + path, { method, headers: { authorization } });
        return { answer, size: (await answer.arrayBuffer()).byteLength };
      };
      const [head, full] = [
        await ask('HEAD', '/v1/groups', account.token),
        await ask('GET', '/v1/groups', account.token),
      ];
      expect([head.answer.status, head.size]).toEqual([200, 0]);
      expect(head.answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(head.answer.headers.get('content-length')).toBe(String(full.size));
      expect((await ask('HEAD', '/v1/groups', '')).answer.status).toBe(401);
      expect((await ask('HEAD', '/v1/groups?x', account.token)).answer.status).toBe(400);
      expect((await ask('HEAD', '/v1/nothing', '')).answer.status).toBe(404);
    });
  });

  describe('400', () => {
    test('an unknown parameter is named, with what there is', async () => {
      const { token } = await world.account();
      const answer = await get('/v1/groups?includeSubgroup=true', token);
      expect(refusal(answer)).toBe('400 unknown parameter');
      expect(answer.body.details).toEqual([
        {
          type: 'unknown parameter',
          message: expect.stringContaining('"includeSubgroup"'),
          path: 'includeSubgroup',
        },
      ]);
    });

    test('every unknown parameter is listed, a repeated or empty one too', async () => {
      const { token } = await world.account();
      const answer = await get('/v1/groups?a=1&b=&c=1&c=2&__proto__=x&constructor=y', token);
      expect(refusal(answer)).toBe('400 unknown parameter');
      expect(answer.body.details.map(({ path }) => path)).toEqual([
        'a',
        'b',
        'c',
        '__proto__',
        'constructor',
      ]);
    });

    test('the token is looked at first: without one, parameters are not discussed', async () => {
      expect(refusal(await get('/v1/groups?a=1'))).toBe('401 invalid token');
    });
  });

  describe('401', () => {
    test('every reason gets the same words and WWW-Authenticate', async () => {
      const account = await world.account();
      const [expired, revoked] = [
        await createToken(world.pool, account.id, { name: 'old', scopes: ['data'], expires: '2020-01-01' }),
        await createToken(world.pool, account.id, { name: 'gone', scopes: ['data'] }),
      ];
      await revokeToken(world.pool, account.id, revoked.id);
      const last = account.token.at(-1) === 'x' ? 'y' : 'x';
      const reasons: Record<string, string | undefined> = {
        missing: undefined,
        empty: '',
        'Bearer alone': 'Bearer',
        mistyped: account.token.slice(0, -1) + last,
        'in other letter case': account.token.toUpperCase(),
        'cut short': account.token.slice(0, -1),
        'with more behind it': `${account.token} x`,
        'of another scheme': `Basic ${account.token}`,
        unknown: newToken(),
        expired: expired.token,
        revoked: revoked.token,
        'not ASCII': 'snd_åäö',
        long: `snd_${'a'.repeat(8_000)}`,
        SQL: `' or '1'='1`,
      };
      const first = await get('/v1/groups');
      for (const [reason, authorization] of Object.entries(reasons)) {
        const answer = await get('/v1/groups', authorization);
        expect(refusal(answer)).toBe('401 invalid token');
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="soundings"');
        expect({ reason, ...answer.body, id: '' }).toEqual({ reason, ...first.body, id: '' });
      }
    });

    test('a token that has worked stops working when it is revoked, and when it expires', async () => {
      const account = await world.account();
      const made = await createToken(world.pool, account.id, { name: 't', scopes: ['data'] });
      expect((await get('/v1/groups', made.token)).status).toBe(200);
      await world.pool`
        update tokens set expires_at = now() where account_id = ${account.id} and token_id = ${made.id}`;
      expect((await get('/v1/groups', made.token)).status).toBe(401);
      await world.pool`
        update tokens set expires_at = now() + interval '1 hour'
        where account_id = ${account.id} and token_id = ${made.id}`;
      expect((await get('/v1/groups', made.token)).status).toBe(200);
      await revokeToken(world.pool, account.id, made.id);
      expect((await get('/v1/groups', made.token)).status).toBe(401);
    });
  });

  describe('403', () => {
    test('a valid token without the scope, which is named', async () => {
      const account = await world.account();
      const answer = await get('/v1/groups', await account.tokenOf('organization', 'files'));
      expect(refusal(answer)).toBe('403 missing scope');
      expect(answer.body.message).toContain('scope data');
    });
  });

  test('a token of the scope data alone is enough', async () => {
    const account = await world.account();
    expect((await get('/v1/groups', await account.tokenOf('data'))).status).toBe(200);
  });
});

describe.each(organizationPaths)('POST %s', (path) => {
  const post = (authorization: string | undefined, init: RequestInit = {}) =>
    world.request<Report & Problem>('POST', path, {
      body: '{}',
      ...init,
      headers: {
        ...(authorization !== undefined && { authorization }),
        'content-type': 'application/json',
        ...init.headers,
      },
    });

  describe('200', () => {
    test('answers the report, whose id is the request id', async () => {
      const { token } = await world.account();
      const answer = await post(token);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([...Compile(Report).Errors(answer.body)]).toEqual([]);
      expect(answer.headers.get('x-request-id')).toBe(answer.body.id);
    });

    test('takes UTF-8 by any name, and gzip', async () => {
      const { token } = await world.account();
      for (const type of [
        'application/json; charset=utf-8',
        'application/json;charset="UTF-8"',
        'Application/JSON',
        'application/json; charset=utf8',
      ]) {
        const { status } = await post(token, { headers: { 'content-type': type } });
        expect([type, status]).toEqual([type, 200]);
      }
      const compressed = { body: new Uint8Array(gzipSync('{}')), headers: { 'content-encoding': 'gzip' } };
      expect((await post(token, compressed)).status).toBe(200);
      expect((await post(token, { ...compressed, headers: { 'content-encoding': 'GZIP' } })).status).toBe(
        200,
      );
    });

    test('a token of the scope organization alone is enough', async () => {
      const account = await world.account();
      expect((await post(`bearer ${await account.tokenOf('organization')}`)).status).toBe(200);
    });
  });

  describe('400', () => {
    test('an invalid token, for every reason in the same words', async () => {
      const account = await world.account();
      const scopes = ['organization'];
      const [expired, revoked] = [
        await createToken(world.pool, account.id, { name: 'old', scopes, expires: '2020-01-01T00:00:00Z' }),
        await createToken(world.pool, account.id, { name: 'gone', scopes }),
      ];
      await revokeToken(world.pool, account.id, revoked.id);
      const first = await post(undefined);
      for (const authorization of [undefined, 'nonsense', newToken(), expired.token, revoked.token]) {
        const answer = await post(authorization);
        expect(refusal(answer)).toBe('400 invalid token');
        expect({ ...answer.body, id: first.body.id }).toEqual(first.body);
      }
    });

    test('any parameter: there are none', async () => {
      const { token } = await world.account();
      for (const query of ['x=1', 'x=1&x=2', 'validateOnly=false']) {
        const answer = await world.request('POST', `${path}?${query}`, {
          headers: { authorization: token, 'content-type': 'application/json' },
          body: '{}',
        });
        expect(refusal(answer)).toBe('400 unknown parameter');
      }
    });

    test('a body that is not JSON, is empty, or is not the gzip that it is said to be', async () => {
      const { token } = await world.account();
      expect(refusal(await post(token, { body: '{"data":' }))).toBe('400 invalid json');
      expect(refusal(await post(token, { body: '' }))).toBe('400 invalid json');
      const notGzip = { body: '{}', headers: { 'content-encoding': 'gzip' } };
      expect(refusal(await post(token, notGzip))).toBe('400 invalid gzip');
    });
  });

  describe('403', () => {
    test('a valid token without the scope, which is named', async () => {
      const account = await world.account();
      const answer = await post(await account.tokenOf('data', 'files'));
      expect(refusal(answer)).toBe('403 missing scope');
      expect(answer.body.message).toContain('scope organization');
    });
  });

  describe('413', () => {
    const headOf = (token: string, more: string) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;

    test('an announced size beyond 64 MB is refused before any of the body is sent', async () => {
      const { token } = await world.account();
      for (const size of [maxOrganizationBodyBytes + 1, 1e15]) {
        const answer = await raw(headOf(token, `content-length: ${size}`));
        expect(refusal(answer)).toBe('413 too large');
        expect(answer.headers.get('connection')).toBe('close');
      }
    });

    test('a body that turns out larger is refused when it passes the limit', async () => {
      const { token } = await world.account();
      const headers = { authorization: token, 'content-type': 'application/json' };
      const answer = await sendChunks(path, headers, maxOrganizationBodyBytes + 1);
      expect(refusal(answer)).toBe('413 too large');
    });

    test('a body that is larger once unpacked is refused', async () => {
      const { token } = await world.account();
      const body = new Uint8Array(gzipSync(Buffer.alloc(maxOrganizationBodyBytes + 1, ' '), { level: 1 }));
      expect(refusal(await post(token, { body, headers: { 'content-encoding': 'gzip' } }))).toBe(
        '413 too large',
      );
    });

    test('a body of exactly 64 MB is read', async () => {
      const { token } = await world.account();
      const headers = { authorization: token, 'content-type': 'application/json' };
      expect(refusal(await sendChunks(path, headers, maxOrganizationBodyBytes))).toBe('400 invalid json');
    });

    test('nobody without a token is told of sizes', async () => {
      const answer = await raw(headOf('x', 'connection: close\r\ncontent-length: 99999999'), '{}');
      expect(refusal(answer)).toBe('400 invalid token');
    });
  });

  describe('415', () => {
    test('no content type, another one, another charset, another encoding', async () => {
      const account = await world.account();
      const cases: Record<string, string>[] = [
        { 'content-type': '' },
        { 'content-type': 'text/plain' },
        { 'content-type': 'text/json' },
        { 'content-type': 'application/json5' },
        { 'content-type': 'application/x-www-form-urlencoded' },
        { 'content-type': 'multipart/form-data; boundary=x' },
        { 'content-type': 'application/json; charset=iso-8859-1' },
        { 'content-type': 'application/json; charset=utf-16' },
        { 'content-encoding': 'br' },
        { 'content-encoding': 'deflate' },
        { 'content-encoding': 'gzip, gzip' },
      ];
      for (const headers of cases) {
        expect(refusal(await account.push('{}', headers))).toBe('415 unsupported media type');
        expect(refusal(await post(account.token, { headers }))).toBe('415 unsupported media type');
      }
      // fetch says text/plain of a string by itself
      const bare = await raw(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${account.token}\r\ncontent-length: 2\r\n\r\n{}`,
      );
      expect(refusal(bare)).toBe('415 unsupported media type');
    });

    test('is answered before the body is waited for, and the answer arrives although the body follows', async () => {
      const { token } = await world.account();
      const headers = { authorization: token, 'content-type': 'text/plain' };
      for (let i = 0; i < 5; i++) {
        expect(refusal(await sendChunks(path, headers, 8 * 1024 * 1024))).toBe('415 unsupported media type');
      }
    });

    test('leaves no run behind', async () => {
      const account = await world.account();
      await post(account.token, { headers: { 'content-type': 'text/plain' } });
      await post('nonsense');
      const runs = await world.pool`select from runs where account_id = ${account.id}`;
      expect(runs).toHaveLength(0);
    });
  });
});

describe('404', () => {
  test('is a page for a browser, but for those who are at an interface, or send something, the error body', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await world.request('GET', '/peple', { headers });
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const [method, path] of [
      ['GET', '/v1/peple'],
      ['GET', '/api/peple'],
      ['POST', '/peple'],
    ] as const) {
      // oxlint-disable-next-line no-await-in-loop -- three
      expect(refusal(await world.request(method, path, { headers }))).toBe('404 not found');
    }
    expect(refusal(await get('/peple'))).toBe('404 not found');
  });

  test('an unknown address, with and without a token, by any method', async () => {
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

  test('says nothing of the address that was asked for', async () => {
    expect(JSON.stringify((await get('/v1/some-secret?of=mine')).body)).not.toMatch(/secret|mine/);
  });
});

describe('405', () => {
  test('every other method of a registered address, with Allow', async () => {
    const allowed = [
      ...dataOperations.map(({ path }) => [path, 'GET, HEAD'] as const),
      ...organizationPaths.map((path) => [path, 'POST'] as const),
      ...uploadOperations.map(({ path, method }) => [path, method === 'GET' ? 'GET, HEAD' : 'POST'] as const),
      ['/health/live', 'GET, HEAD'],
      ['/health/ready', 'GET, HEAD'],
      ...interfaceNames.map((name) => [`/v1/openapi/${name}.json`, 'GET, HEAD'] as const),
    ] as const;
    for (const [path, allow] of allowed) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (allow.split(', ').includes(method)) continue;
        const answer = await world.request(method, path);
        expect(refusal(answer)).toBe('405 method not allowed');
        expect([method, path, answer.headers.get('allow')]).toEqual([method, path, allow]);
      }
    }
  });

  test('also a method that few have heard of', async () => {
    for (const method of ['TRACE', 'PROPFIND', 'QUERY', 'SEARCH']) {
      const answer = await raw(`${method} /v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      expect(refusal(answer)).toBe('405 method not allowed');
      expect([method, answer.headers.get('allow')]).toEqual([method, 'GET, HEAD']);
    }
  });

  test('is answered without waiting for a body', async () => {
    const answer = await raw(
      'PUT /v1/groups HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 1000\r\n\r\n',
    );
    expect(refusal(answer)).toBe('405 method not allowed');
  });
});

describe('what is not HTTP', () => {
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
    const answer = await raw(bytes);
    expect(refusal(answer)).toBe('400 bad request');
    expect(answer.headers.get('connection')).toBe('close');
  });

  test('a chunk that is none gets 400 with the error body', async () => {
    const { token } = await world.account();
    const answer = await raw(
      `POST /v1/organization HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n` +
        'transfer-encoding: chunked\r\n\r\nnonsense\r\n',
    );
    expect(refusal(answer)).toBe('400 bad request');
  });

  test('headers beyond 16 KB get 431 with the error body, a long address too', async () => {
    const long = 'a'.repeat(20_000);
    for (const bytes of [
      `GET /v1/groups HTTP/1.1\r\nhost: x\r\nx-long: ${long}\r\n\r\n`,
      `GET /v1/groups?${long} HTTP/1.1\r\nhost: x\r\n\r\n`,
    ]) {
      expect(refusal(await raw(bytes))).toBe('431 bad request');
    }
  });

  test('an expectation that is not known gets 417', async () => {
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

  test('never get more than a refusal, with the error body', async () => {
    const { token } = await world.account();
    for (const [path, statuses] of Object.entries(addresses)) {
      const answer = await raw(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\nconnection: close\r\n\r\n`,
      );
      const shown = path.length > 50 ? `${path.slice(0, 50)}…` : path;
      expect([shown, statuses.includes(answer.status), answer.status]).toEqual([shown, true, answer.status]);
      if (answer.status === 200) continue;
      expect([shown, refusal(answer)]).toEqual([
        shown,
        expect.stringMatching(/ (bad request|not found|.* parameter)$/),
      ]);
      expect([shown, answer.headers.get('x-content-type-options')]).toEqual([shown, 'nosniff']);
    }
  });

  test('one that cannot be decoded is in the log like any other request', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const answer = await own.request('GET', '/v1/groups%');
    expect(answer.status).toBe(400);
    expect(lines.some((line) => line.includes(answer.body.id))).toBe(true);
  });

  test('bytes that are not ASCII in an address are no defect', async () => {
    const answer = await raw('GET /v1/gr\xc3\xb6ups HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect([400, 404]).toContain(answer.status);
    expect([...isProblem.Errors(answer.body)]).toEqual([]);
  });
});

describe('a defect of ours', () => {
  const inside = /select|insert|relation|constraint|postgres|\.ts|node_modules|\bat \/|stack|PRIVATE/i;

  test('is answered with 500 and an id, and says nothing of stack, SQL or data; the log says what it was', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    await own.pool`alter table groups rename to groups_away`;
    const answer = await own.request('GET', '/v1/groups', { headers: { authorization: account.token } });
    expect(refusal(answer)).toBe('500 internal error');
    expect({ ...answer.body, id: '' }).not.toMatchObject({ message: expect.stringMatching(inside) });
    expect(JSON.stringify(answer.body)).not.toMatch(inside);
    const told = lines.find((line) => line.includes(answer.body.id) && line.includes('"level":50'));
    expect(told).toMatch(/relation .*groups.* does not exist/);
    await own.pool`alter table groups_away rename to groups`;
    expect(await account.groups()).toEqual([]);
  });

  const timeout = 15_000;
  test(
    'in the thread of organization requests: likewise; the run is there as failed, the next push works',
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
      const answer = await account.push(request);
      expect(refusal(answer)).toBe('500 internal error');
      expect(JSON.stringify(answer.body)).not.toMatch(inside);
      expect(lines.join('')).not.toContain('PRIVATE');
      expect(lines.some((line) => line.includes(answer.body.id) && line.includes('broken'))).toBe(true);
      expect([...(await own.pool`select run_id, outcome from runs`)]).toEqual([
        { run_id: answer.body.id, outcome: 'failed' },
      ]);
      await own.pool`alter table users drop constraint broken`;
      expect((await account.push(request)).body.applied).toBe(true);
    },
  );
});

describe('the log', () => {
  test('holds no token, name, address, body or parameter, whatever is asked and however it ends', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    const narrow = await account.tokenOf('files');
    const word = 'Zebraword';
    const person = (more: object) => ({ externalId: `${word}1`, firstName: word, lastName: word, ...more });
    const push = (users: unknown[]) => account.push({ settings: { validateOnly: false }, data: { users } });
    const asked = [
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
    expect(asked.map(({ status }) => status)).toEqual([200, 400, 400, 400, 415, 403, 400, 401, 404, 405]);
    const text = lines.join('');
    for (const secret of [word, account.token, account.token.slice(4), narrow, 'ada@example.org']) {
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
    }
    for (const { status, headers } of asked) {
      const told = lines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['requestId'] === headers.get('x-request-id') && line['status'] === status);
      expect(told).toHaveLength(1);
    }
  });

  test('tells of a request its id, method, route, status, time, account and token by number', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    const account = await own.account();
    const answer = await own.request('GET', '/v1/groups', { headers: { authorization: account.token } });
    const line = JSON.parse(lines.find((one) => one.includes('"request completed"')) ?? '{}') as object;
    expect(line).toEqual({
      level: 30,
      time: expect.anything(),
      requestId: answer.headers.get('x-request-id'),
      method: 'GET',
      route: '/v1/groups',
      status: 200,
      ms: expect.any(Number),
      accountId: account.id,
      tokenId: 1,
      msg: 'request completed',
    });
  });

  test('tells of health probes and of whoever reads the metrics at debug alone', async () => {
    const { log, lines } = memoryLog();
    const own = await openWorld(log);
    onTestFinished(() => own.close());
    for (const path of ['/health/live', '/health/ready', '/metrics']) {
      // oxlint-disable-next-line no-await-in-loop -- three
      expect((await own.request('GET', path)).status).toBe(200);
    }
    const told = lines
      .map((line) => JSON.parse(line) as { level: number; msg: string })
      .filter(({ msg }) => msg === 'request completed');
    expect(told.map(({ level }) => level)).toEqual([20, 20, 20]);
  });
});

describe('when a token was last used', () => {
  const usedAt = async (account: TestAccount, id: number) => {
    const [row] = await world.pool<{ at: Date | null }[]>`
      select last_used_at as at from tokens where account_id = ${account.id} and token_id = ${id}`;
    return row?.at ?? null;
  };

  test('is written before the answer, at most once a minute', async () => {
    const account = await world.account();
    const made = await createToken(world.pool, account.id, { name: 't', scopes: ['data'] });
    expect(await usedAt(account, made.id)).toBeNull();
    await get('/v1/groups', made.token);
    const first = await usedAt(account, made.id);
    expect(Math.abs(Date.now() - (first?.getTime() ?? 0))).toBeLessThan(60_000);
    await get('/v1/groups', made.token);
    expect(await usedAt(account, made.id)).toEqual(first);
    await world.pool`
      update tokens set last_used_at = now() - interval '61 seconds'
      where account_id = ${account.id} and token_id = ${made.id}`;
    const old = (await usedAt(account, made.id))?.getTime() ?? 0;
    await get('/v1/groups', made.token);
    expect((await usedAt(account, made.id))?.getTime()).toBeGreaterThan(old);
  });

  test('is written for a request without the scope, and not for a token that is not valid', async () => {
    const account = await world.account();
    const narrow = await createToken(world.pool, account.id, { name: 'n', scopes: ['files'] });
    const revoked = await createToken(world.pool, account.id, { name: 'r', scopes: ['data'] });
    await revokeToken(world.pool, account.id, revoked.id);
    await get('/v1/groups', narrow.token);
    await get('/v1/groups', revoked.token);
    expect(await usedAt(account, narrow.id)).not.toBeNull();
    expect(await usedAt(account, revoked.id)).toBeNull();
  });
});

test('connections are tried when they fall silent: a client that lost power does not keep one', async (context) => {
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
  test('200 while it runs and can serve, without a token', async () => {
    const [live, ready] = [await get('/health/live'), await get('/health/ready')];
    expect([live.status, live.body]).toEqual([200, { status: 'live' }]);
    expect([ready.status, ready.body]).toEqual([200, { status: 'ready' }]);
  });

  test('until the database is there: live, not ready, every request 503 with Retry-After; then it serves', async () => {
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
    const ask = async (path: string, init: RequestInit = {}) => {
      const answer = await fetch(app.address + path, init);
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    };
    expect(await ask('/health/live')).toMatchObject({ status: 200 });
    const notReady = await ask('/health/ready');
    expect([notReady.status, notReady.headers.get('retry-after')]).toEqual([503, '5']);
    for (const [path, method] of [
      ['/v1/groups', 'GET'],
      ['/v1/organization', 'POST'],
      ['/v1/nothing', 'GET'],
      ['/v1/groups', 'PUT'],
    ] as const) {
      const answer = await ask(path, { method });
      expect(refusal(answer)).toBe('503 unavailable');
      expect(answer.headers.get('retry-after')).toBe('5');
    }
    url.resolve(database.url);
    await app.started;
    expect(await ask('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect((await ask('/v1/groups')).status).toBe(401);
  });

  test('not ready on a database that lacks a migration', async () => {
    const own = await openWorld();
    onTestFinished(() => own.close());
    await own.pool`delete from migrations where version = (select max(version) from migrations)`;
    const answer = await own.request('GET', '/health/ready');
    expect([answer.status, answer.body]).toEqual([503, { status: 'not ready' }]);
    expect((await own.request('GET', '/health/live')).status).toBe(200);
  });
});

describe('GET /v1/openapi/….json', () => {
  type Schema = { [key: string]: unknown };
  type Described = {
    operationId: string;
    tags: string[];
    summary: string;
    parameters: { name: string; in: string; required: boolean; schema: Schema }[];
    requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
    responses: Record<string, { description: string; content: Record<string, { schema: Schema }> }>;
  };
  type Document = {
    openapi: string;
    info: Record<string, unknown>;
    servers: { url: string }[];
    security: Record<string, unknown[]>[];
    tags: { name: string }[];
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema>; securitySchemes: Record<string, Schema> };
  };

  const operations: Record<InterfaceName, Operation[]> = {
    data: dataOperations,
    organization: organizationOperations,
    upload: uploadOperations,
  };
  /** What the answer of an operation is, where it is not JSON. */
  const contentTypesOf = (name: InterfaceName, path: string) =>
    operations[name].find((operation) => operation.path === path)?.contentTypes;
  const read = async (name: string) => {
    const answer = await get<Document>(`/v1/openapi/${name}.json`);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    return answer.body;
  };

  /** A schema with every reference replaced by what it names; throws where there is no such thing. */
  function resolved(part: unknown, document: Document): unknown {
    if (Array.isArray(part)) return part.map((one) => resolved(one, document));
    if (typeof part !== 'object' || part === null) return part;
    const ref = (part as { $ref?: string }).$ref;
    if (ref === undefined) {
      return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolved(one, document)]));
    }
    const name = ref.replace(/^#\/components\/schemas\//, '');
    if (!Object.hasOwn(document.components.schemas, name)) throw new Error(`Nothing is at ${ref}.`);
    return resolved(document.components.schemas[name], document);
  }

  /** What is not JSON Schema in a schema; typebox takes more than the dialect of OpenAPI 3.1 has. */
  function schemaFaults(schema: unknown, place: string): string[] {
    if (typeof schema !== 'object' || schema === null) return [`${place} is no schema`];
    const { type, properties, required, items, anyOf, additionalProperties, enum: values } = schema as Schema;
    const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', undefined];
    const names = Object.keys((properties as object | undefined) ?? {});
    const ofMap = typeof additionalProperties === 'object' ? { '*': additionalProperties } : {};
    const within = { ...(properties as object), ...ofMap };
    return [
      ...(types.includes(type as string) ? [] : [`${place} has the type ${String(type)}`]),
      ...((required as string[] | undefined) ?? [])
        .filter((name) => !names.includes(name))
        .map((name) => `${place} requires ${name}, which it does not have`),
      ...(values !== undefined && !(Array.isArray(values) && values.length > 0 && type !== undefined)
        ? [`${place} has no enum, or no type`]
        : []),
      ...('patternProperties' in schema ? [`${place} has what few generators know`] : []),
      ...Object.entries(within).flatMap(([name, one]) => schemaFaults(one, `${place}.${name}`)),
      ...(items === undefined ? [] : schemaFaults(items, `${place}[]`)),
      ...((anyOf as unknown[] | undefined) ?? []).flatMap((one) => schemaFaults(one, `${place}|`)),
    ];
  }

  test.each(interfaceNames)('%s is a whole OpenAPI 3.1 document', async (name) => {
    const document = await read(name);
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({
      title: expect.stringMatching(/./),
      version: expect.stringMatching(/^\d/),
    });
    expect(document.servers).toEqual([{ url: 'http://localhost' }]);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const one of document.security) expect(schemes).toEqual(expect.arrayContaining(Object.keys(one)));
    expect(Object.keys(document.components.schemas).every((key) => /^[\w.-]+$/.test(key))).toBe(true);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map((tag) => tag.name);
    for (const [path, methods] of Object.entries(document.paths)) {
      expect(path).toMatch(/^\//);
      for (const [method, one] of Object.entries(methods)) {
        expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
        expect(tags).toEqual(expect.arrayContaining(one.tags));
        expect(one.summary).not.toBe('');
        for (const [status, { description, content }] of Object.entries(one.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(description).not.toBe('');
          const types = (status === '200' && contentTypesOf(name, path)) || ['application/json'];
          // To whom it does not know, the upload interface answers 400 without a body (§7).
          const isSilent = name === 'upload' && status === '400';
          expect(Object.keys(content)).toEqual(isSilent ? [...types, 'text/plain'] : types);
        }
        const schemas = [
          ...one.parameters.map(({ schema }) => schema),
          ...Object.values(one.responses)
            .flatMap(({ content }) => Object.values(content))
            .map((c) => c.schema),
          ...Object.values(one.requestBody?.content ?? {}).map(({ schema }) => schema),
        ];
        expect(schemas.flatMap((schema) => schemaFaults(resolved(schema, document), path))).toEqual([]);
      }
    }
    expect(() => resolved(document, document)).not.toThrow();
  });

  test.each(interfaceNames)(
    '%s has every operation of the contract, with its statuses and parameters',
    async (name) => {
      const { paths } = await read(name);
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => ({
          at: `${method.toUpperCase()} ${path}`,
          id: one.operationId,
          statuses: Object.keys(one.responses),
          parameters: one.parameters.map((parameter) => parameter.name),
          body: one.requestBody !== undefined,
        })),
      );
      const wanted = operations[name].map((operation) => ({
        at: `${operation.method} ${operation.path}`,
        id: operation.operationId,
        statuses: ['200', ...Object.keys(operation.errors)],
        parameters: [operation.params, operation.query].flatMap((schema) =>
          Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}),
        ),
        body: operation.body !== undefined,
      }));
      expect(described).toEqual(wanted);
      for (const { at } of described) {
        const [method = '', path = ''] = at.split(' ');
        const { status } = await world.request(method, path);
        expect([at, status === 404 || status === 405]).toEqual([at, false]);
      }
    },
  );

  test('what is answered is what is described', async () => {
    const account = await world.account();
    const groups = [{ externalId: 'g', name: 'G', description: 'd' }];
    const users = [{ externalId: 'u', firstName: 'F', lastName: 'L', unheardOf: 1 }];
    const settings = { validateOnly: false };
    const data = await read('data');
    const organization = await read('organization');
    const schemaOf = (document: Document, path: string, method: string, status: number) => {
      const { content } = document.paths[path]![method]!.responses[status]!;
      return Compile(resolved(content['application/json']!.schema, document) as TSchema);
    };
    const applied = await account.push({ settings, data: { groups, users } });
    const changed = await account.push({ settings, data: { groups: [{ ...groups[0], name: 'H' }], users } });
    expect([applied.body.warnings.length, changed.body.changes.length]).toEqual([1, 1]);
    for (const path of organizationPaths) {
      const report = schemaOf(organization, path, 'post', 200);
      for (const { body } of [applied, changed]) expect([...report.Errors(body)]).toEqual([]);
      const request = organization.paths[path]!['post']!.requestBody!.content['application/json']!.schema;
      const isRequest = Compile(resolved(request, organization) as TSchema);
      expect(isRequest.Check({ settings, data: { groups, users } })).toBe(true);
      expect(isRequest.Check({ setting: {} })).toBe(false);
    }
    const listed = await account.groups();
    expect([...schemaOf(data, getGroups.path, 'get', 200).Errors(listed)]).toEqual([]);
    const refused = await get('/v1/groups');
    expect([...schemaOf(data, getGroups.path, 'get', 401).Errors(refused.body)]).toEqual([]);
  });

  test('there is no document of another name', async () => {
    expect(refusal(await get('/v1/openapi/console.json'))).toBe('404 not found');
  });
});

function memoryLog() {
  const lines: string[] = [];
  return { log: pino({ level: 'trace', base: null }, { write: (line) => void lines.push(line) }), lines };
}
