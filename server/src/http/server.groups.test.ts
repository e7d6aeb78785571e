// GET /v1/groups, and when the last use of a token is saved.
import type { Group } from '@soundings/contract/data.ts';
import { describe, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { newToken } from '../base/crypto/secrets.ts';
import type { TestAccount } from '../testing/world.ts';
import { createManually, get, refusal, uuid7, world, useService } from './server.fixture.ts';

useService();

describe('GET /v1/groups', () => {
  describe('200', () => {
    test('lists the groups by id, each with its descendants in ascending order', async () => {
      const account = await world.account();
      const a = await createManually(account, { name: 'A' });
      const b = await createManually(account, { name: 'B', parentId: a });
      const c = await createManually(account, { name: 'C', parentId: b });
      const d = await createManually(account, { name: 'D' });
      const e = await createManually(account, { name: 'E', parentId: a });
      const f = await createManually(account, { name: 'F', parentId: c });
      await world.pool`
        update groups set parent_id = ${e} where account_id = ${account.id} and group_id = ${d}`;
      const response = await get<Group[]>('/v1/groups', account.token);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(response.headers.get('x-request-id')).toMatch(uuid7);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.body).toEqual([
        { id: a, name: 'A', subgroups: [b, c, d, e, f] },
        { id: b, name: 'B', subgroups: [c, f] },
        { id: c, name: 'C', subgroups: [f] },
        { id: d, name: 'D', subgroups: [] },
        { id: e, name: 'E', subgroups: [d] },
        { id: f, name: 'F', subgroups: [] },
      ]);
    });

    test('orders by id even if a row was rewritten later', async () => {
      const account = await world.account();
      const ids = [];
      for (const name of ['1', '2', '3', '4']) ids.push(await createManually(account, { name }));
      await world.pool`
        update groups set name = 'renamed' where account_id = ${account.id} and group_id = ${ids[1]!}`;
      expect((await account.groups()).map(({ id }) => id)).toEqual(ids);
    });

    test('omits externalId and description if they are not set', async () => {
      const account = await world.account();
      const groups = [
        { externalId: 'x', name: 'With', description: 'all' },
        { externalId: 'y', name: 'Without' },
      ];
      const settings = { validateOnly: false };
      expect((await account.push({ settings, data: { groups } })).status).toBe(200);
      await createManually(account, { name: 'Manual' });
      const received = (await account.groups()).toSorted((one, other) => one.name.localeCompare(other.name));
      expect(received).toEqual([
        { id: expect.any(Number), name: 'Manual', subgroups: [] },
        { id: expect.any(Number), externalId: 'x', name: 'With', description: 'all', subgroups: [] },
        { id: expect.any(Number), externalId: 'y', name: 'Without', subgroups: [] },
      ]);
    });

    test('returns every text exactly as it was sent', async () => {
      const account = await world.account();
      const name = ' "Å/ä\\ö" 🌊\u2028\t<script>e\u0301 ';
      await createManually(account, { name });
      expect((await account.groups())[0]?.name).toBe(name);
    });

    test('returns [] for an account without groups', async () => {
      const account = await world.account();
      expect(await account.groups()).toEqual([]);
    });

    test("shows only the groups of the token's own account", async () => {
      const [one, other] = [await world.account(), await world.account()];
      const ours = await createManually(one, { name: 'Ours', externalId: 'same' });
      const theirs = await createManually(other, { name: 'Theirs', externalId: 'same' });
      expect((await one.groups()).map(({ id }) => id)).toEqual([ours]);
      expect((await other.groups()).map(({ id }) => id)).toEqual([theirs]);
    });

    test('accepts the token alone, or after Bearer in any letter case', async () => {
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

    test('responds to HEAD with the same headers and no body', async () => {
      const account = await world.account();
      await createManually(account, { name: 'Å' });
      const send = async (method: string, path: string, authorization: string) => {
        const response = await fetch(world.address + path, { method, headers: { authorization } });
        return { response, size: (await response.arrayBuffer()).byteLength };
      };
      const [head, full] = [
        await send('HEAD', '/v1/groups', account.token),
        await send('GET', '/v1/groups', account.token),
      ];
      expect([head.response.status, head.size]).toEqual([200, 0]);
      expect(head.response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(head.response.headers.get('content-length')).toBe(String(full.size));
      expect((await send('HEAD', '/v1/groups', '')).response.status).toBe(401);
      expect((await send('HEAD', '/v1/groups?x', account.token)).response.status).toBe(400);
      expect((await send('HEAD', '/v1/nothing', '')).response.status).toBe(404);
    });
  });

  describe('400', () => {
    test('an unknown parameter is named, together with the parameters that exist', async () => {
      const { token } = await world.account();
      const response = await get('/v1/groups?includeSubgroup=true', token);
      expect(refusal(response)).toBe('400 unknown parameter');
      expect(response.body.details).toEqual([
        {
          type: 'unknown parameter',
          message: expect.stringContaining('"includeSubgroup"'),
          path: 'includeSubgroup',
        },
      ]);
    });

    test('every unknown parameter is listed, including repeated and empty ones', async () => {
      const { token } = await world.account();
      const response = await get('/v1/groups?a=1&b=&c=1&c=2&__proto__=x&constructor=y', token);
      expect(refusal(response)).toBe('400 unknown parameter');
      expect(response.body.details.map(({ path }) => path)).toEqual([
        'a',
        'b',
        'c',
        '__proto__',
        'constructor',
      ]);
    });

    test('the token is checked before the parameters', async () => {
      expect(refusal(await get('/v1/groups?a=1'))).toBe('401 invalid token');
    });
  });

  describe('401', () => {
    test('an invalid token gets the same message and WWW-Authenticate, whatever the reason', async () => {
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
        const response = await get('/v1/groups', authorization);
        expect(refusal(response)).toBe('401 invalid token');
        expect(response.headers.get('www-authenticate')).toBe('Bearer realm="soundings"');
        expect({ reason, ...response.body, id: '' }).toEqual({ reason, ...first.body, id: '' });
      }
    });

    test('a token stops working when it is revoked or expires', async () => {
      const account = await world.account();
      const created = await createToken(world.pool, account.id, { name: 't', scopes: ['data'] });
      expect((await get('/v1/groups', created.token)).status).toBe(200);
      await world.pool`
        update tokens set expires_at = now() where account_id = ${account.id} and token_id = ${created.id}`;
      expect((await get('/v1/groups', created.token)).status).toBe(401);
      await world.pool`
        update tokens set expires_at = now() + interval '1 hour'
        where account_id = ${account.id} and token_id = ${created.id}`;
      expect((await get('/v1/groups', created.token)).status).toBe(200);
      await revokeToken(world.pool, account.id, created.id);
      expect((await get('/v1/groups', created.token)).status).toBe(401);
    });
  });

  describe('403', () => {
    test('a valid token without the scope, which is named', async () => {
      const account = await world.account();
      const response = await get('/v1/groups', await account.tokenOf('organization', 'files'));
      expect(refusal(response)).toBe('403 missing scope');
      expect(response.body.message).toContain('data scope');
    });
  });

  test('the data scope is sufficient', async () => {
    const account = await world.account();
    expect((await get('/v1/groups', await account.tokenOf('data'))).status).toBe(200);
  });
});

describe('when a token was last used', () => {
  const usedAt = async (account: TestAccount, id: number) => {
    const [row] = await world.pool<{ at: Date | null }[]>`
      select last_used_at as at from tokens where account_id = ${account.id} and token_id = ${id}`;
    return row?.at ?? null;
  };

  test('is saved before the response, at most once a minute', async () => {
    const account = await world.account();
    const created = await createToken(world.pool, account.id, { name: 't', scopes: ['data'] });
    expect(await usedAt(account, created.id)).toBeNull();
    await get('/v1/groups', created.token);
    const first = await usedAt(account, created.id);
    expect(Math.abs(Date.now() - (first?.getTime() ?? 0))).toBeLessThan(60_000);
    await get('/v1/groups', created.token);
    expect(await usedAt(account, created.id)).toEqual(first);
    await world.pool`
      update tokens set last_used_at = now() - interval '61 seconds'
      where account_id = ${account.id} and token_id = ${created.id}`;
    const old = (await usedAt(account, created.id))?.getTime() ?? 0;
    await get('/v1/groups', created.token);
    expect((await usedAt(account, created.id))?.getTime()).toBeGreaterThan(old);
  });

  test('is saved for a request without the scope, but not for an invalid token', async () => {
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
