// What the HTTP server checks of a push before its data: token, size and content type. Applies to every path of the interface.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { Report } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { newToken } from '../base/crypto/secrets.ts';
import type { JsonResponse } from '../testing/world.ts';
import { organizationPaths, raw, refusal, world, useService } from './server.fixture.ts';

useService();

/** Sends a body in chunks until a response arrives. */
async function sendChunks(path: string, headers: Record<string, string>, size: number) {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  const sending = httpRequest(world.address + path, { method: 'POST', headers, agent: false });
  // Once the service has responded, it reads nothing more. What is sent then may fail, which doesn't matter.
  const responded = new Promise<JsonResponse<unknown>>((resolve, reject) => {
    let hasResponded = false;
    sending.on('error', (error) => hasResponded || reject(error));
    sending.on('response', (received) => {
      hasResponded = true;
      let text = '';
      received.setEncoding('utf8').on('data', (part: string) => (text += part));
      received.once('end', () => {
        const responseHeaders = new Headers(received.headers as Record<string, string>);
        resolve({ status: received.statusCode ?? 0, headers: responseHeaders, body: JSON.parse(text) });
      });
    });
  });
  const over = new AbortController();
  responded.finally(() => over.abort()).catch(() => {});
  for (let sent = 0; sent < size && !over.signal.aborted;) {
    const part = chunk.subarray(0, Math.min(chunk.length, size - sent));
    sent += part.length;
    if (!sending.write(part)) await once(sending, 'drain', { signal: over.signal }).catch(() => {});
  }
  sending.end();
  return responded;
}

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
    test('returns the report, whose id is the request id', async () => {
      const { token } = await world.account();
      const response = await post(token);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect([...Compile(Report).Errors(response.body)]).toEqual([]);
      expect(response.headers.get('x-request-id')).toBe(response.body.id);
    });

    test('accepts UTF-8 under any name, and gzip', async () => {
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

    test('the organization scope is sufficient', async () => {
      const account = await world.account();
      expect((await post(`bearer ${await account.tokenOf('organization')}`)).status).toBe(200);
    });
  });

  describe('400', () => {
    test('an invalid token gets the same message, whatever the reason', async () => {
      const account = await world.account();
      const scopes = ['organization'];
      const [expired, revoked] = [
        await createToken(world.pool, account.id, { name: 'old', scopes, expires: '2020-01-01T00:00:00Z' }),
        await createToken(world.pool, account.id, { name: 'gone', scopes }),
      ];
      await revokeToken(world.pool, account.id, revoked.id);
      const first = await post(undefined);
      for (const authorization of [undefined, 'nonsense', newToken(), expired.token, revoked.token]) {
        const response = await post(authorization);
        expect(refusal(response)).toBe('400 invalid token');
        expect({ ...response.body, id: first.body.id }).toEqual(first.body);
      }
    });

    test('any query parameter', async () => {
      const { token } = await world.account();
      for (const query of ['x=1', 'x=1&x=2', 'validateOnly=false']) {
        const response = await world.request('POST', `${path}?${query}`, {
          headers: { authorization: token, 'content-type': 'application/json' },
          body: '{}',
        });
        expect(refusal(response)).toBe('400 unknown parameter');
      }
    });

    test('a body that is empty, or not JSON, or not gzip although it claims to be', async () => {
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
      const response = await post(await account.tokenOf('data', 'files'));
      expect(refusal(response)).toBe('403 missing scope');
      expect(response.body.message).toContain('organization scope');
    });
  });

  describe('413', () => {
    const headOf = (token: string, more: string) =>
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\ncontent-type: application/json\r\n${more}\r\n\r\n`;

    test('a content-length above 64 MB is refused before any of the body is sent', async () => {
      const { token } = await world.account();
      for (const size of [maxOrganizationBodyBytes + 1, 1e15]) {
        const response = await raw(headOf(token, `content-length: ${size}`));
        expect(refusal(response)).toBe('413 too large');
        expect(response.headers.get('connection')).toBe('close');
      }
    });

    test('a body without content-length is refused as soon as it exceeds the limit', async () => {
      const { token } = await world.account();
      const headers = { authorization: token, 'content-type': 'application/json' };
      const response = await sendChunks(path, headers, maxOrganizationBodyBytes + 1);
      expect(refusal(response)).toBe('413 too large');
    });

    test('a body that exceeds the limit after decompression is refused', async () => {
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

    test('the size limit is not revealed without a valid token', async () => {
      const response = await raw(headOf('x', 'connection: close\r\ncontent-length: 99999999'), '{}');
      expect(refusal(response)).toBe('400 invalid token');
    });
  });

  describe('415', () => {
    test('a missing or different content type, another charset, another encoding', async () => {
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
      // fetch sets text/plain for a string.
      const bare = await raw(
        `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${account.token}\r\ncontent-length: 2\r\n\r\n{}`,
      );
      expect(refusal(bare)).toBe('415 unsupported media type');
    });

    test('responds before the body has arrived, and the response arrives although the body follows', async () => {
      const { token } = await world.account();
      const headers = { authorization: token, 'content-type': 'text/plain' };
      for (let i = 0; i < 5; i++) {
        expect(refusal(await sendChunks(path, headers, 8 * 1024 * 1024))).toBe('415 unsupported media type');
      }
    });

    test('creates no run', async () => {
      const account = await world.account();
      await post(account.token, { headers: { 'content-type': 'text/plain' } });
      await post('nonsense');
      const runs = await world.pool`select from runs where account_id = ${account.id}`;
      expect(runs).toHaveLength(0);
    });
  });
});
