// Attacks on signing out: only a genuine, current and new logout token, or the secret identifier of a session, ends sessions.
import { createHmac, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../../base/log.ts';
import { openWorld, type World } from '../../testing/world.ts';
import { beginSession } from '../../auth/sessions.ts';
import { type HostileProvider, openHostileProvider, unsigned } from '../hostile-provider.fixture.ts';
import { clientId, clientSecret, publicUrl } from '../provider.fixture.ts';
import { reachingLoopback, type Setting, setUp, whoIs } from '../sso.fixture.ts';

let world: World;
let provider: HostileProvider;
let setting: Setting;
let cookie: string;
beforeAll(async () => {
  world = await openWorld(openLog('silent'), { publicUrl, ...reachingLoopback });
  provider = await openHostileProvider();
  setting = await setUp(world, provider.issuer);
});
afterAll(async () => {
  await provider?.close();
  await world?.close();
});
beforeEach(async () => {
  cookie = await session('sid-1', 'sub-1');
});

const session = (providerSession: string | null, subject: string) =>
  beginSession(
    world.pool,
    { accountId: setting.accountId, userId: setting.admin.userId },
    { address: '127.0.0.1', agent: 'test' },
    {
      providerId: setting.provider.id,
      subject,
      providerSession,
      provedAt: null,
      endsAt: null,
      idToken: null,
    },
  );
const isSignedIn = async (of = cookie) => (await whoIs(world, of)) !== undefined;
const here = (address: string) => address.replace(publicUrl, world.address);

const event = 'http://schemas.openid.net/event/backchannel-logout';
const body = (others: object = {}) => ({
  sid: 'sid-1',
  sub: 'sub-1',
  jti: randomUUID(),
  events: { [event]: {} },
  ...others,
});
const send = async (token: string, type = 'application/x-www-form-urlencoded') =>
  fetch(here(setting.provider.addresses.backChannel), {
    method: 'POST',
    headers: { 'content-type': type },
    body: new URLSearchParams({ logout_token: token }).toString(),
  });

describe('logout tokens', () => {
  test('that are genuine end the session that they name, once', async () => {
    const other = await session('sid-2', 'sub-1');
    const token = await provider.sign(body(), { typ: 'logout+jwt' });
    const { status, headers } = await send(token);
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect([await isSignedIn(), await isSignedIn(other)]).toEqual([false, true]);
    cookie = await session('sid-1', 'sub-1');
    expect((await send(token)).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });

  test('without a session end all sessions of the person at this provider', async () => {
    const other = await session('sid-2', 'sub-1');
    const stays = await session('sid-3', 'sub-2');
    expect((await send(await provider.sign(body({ sid: undefined })))).status).toBe(200);
    expect([await isSignedIn(), await isSignedIn(other), await isSignedIn(stays)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test('with a session also end those of the person for which the provider named none', async () => {
    const [unnamed, stays] = [await session(null, 'sub-1'), await session(null, 'sub-2')];
    expect((await send(await provider.sign(body()))).status).toBe(200);
    expect([await isSignedIn(), await isSignedIn(unnamed), await isSignedIn(stays)]).toEqual([
      false,
      false,
      true,
    ]);
  });

  test.each([
    { sid: 'sid-1\0' },
    { sub: 'sub-1\0' },
    { sid: undefined, sub: '\0' },
    { sid: 'x'.repeat(256) },
  ])('with identifiers that can’t exist are refused (%j)', async (wrong) => {
    expect((await send(await provider.sign(body(wrong)))).status).toBe(400);
    expect(await isSignedIn()).toBe(true);
  });

  const seconds = () => Math.floor(Date.now() / 1000);
  const whole = () => ({
    ...body(),
    iss: provider.issuer,
    aud: clientId,
    iat: seconds(),
    exp: seconds() + 60,
  });
  test.each<[string, () => Promise<string> | string]>([
    ['without a signature', () => unsigned({ alg: 'none' }, whole())],
    [
      'signed with the client secret',
      () => {
        const head = unsigned({ alg: 'HS256' }, whole()).slice(0, -1);
        return `${head}.${createHmac('sha256', clientSecret).update(head).digest('base64url')}`;
      },
    ],
    ['of another issuer', () => provider.sign(body({ iss: 'https://login.example.com' }))],
    ['for another client', () => provider.sign(body({ aud: 'another' }))],
    ['that are ID tokens', () => provider.sign(body({ events: undefined, nonce: 'x' }))],
    ['with a nonce', () => provider.sign(body({ nonce: 'x' }))],
    ['about another event', () => provider.sign(body({ events: { 'https://example.com/other': {} } }))],
    ['without an identifier', () => provider.sign(body({ jti: undefined }))],
    ['about no one', () => provider.sign(body({ sid: undefined, sub: undefined }))],
    ['that are old', () => provider.sign(body({ iat: seconds() - 3600 }))],
    ['from the future', () => provider.sign(body({ iat: seconds() + 3600, exp: seconds() + 7200 }))],
    ['that have expired', () => provider.sign(body({ exp: seconds() - 60 }))],
    ['without a time', () => provider.sign(body({ iat: undefined }))],
    ['of another type', () => provider.sign(body(), { typ: 'at+jwt' })],
    ['with a session and another person', () => provider.sign(body({ sub: 'sub-2' }))],
    ['that are no tokens', () => 'x'],
  ])('%s end nothing', async (_, create) => {
    await send(await create());
    expect(await isSignedIn()).toBe(true);
  });

  test('in another form, or several, or to an unknown provider are refused', async () => {
    const token = await provider.sign(body());
    expect((await send(token, 'text/plain')).status).toBe(415);
    const twice = await fetch(here(setting.provider.addresses.backChannel), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `logout_token=${token}&logout_token=${token}`,
    });
    const unknown = await fetch(`${world.address}/sso/AAAAAAAAAAAAAAAA/back-channel-logout`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `logout_token=${token}`,
    });
    expect([twice.status, unknown.status, await isSignedIn()]).toEqual([400, 400, true]);
  });

  test('of another account’s provider end nothing here, although both use the same provider', async () => {
    const other = await setUp(world, provider.issuer);
    const response = await fetch(here(other.provider.addresses.backChannel), {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ logout_token: await provider.sign(body()) }).toString(),
    });
    expect([response.status, await isSignedIn()]).toEqual([200, true]);
  });
});

describe('frames', () => {
  const frame = (query: object, headers = {}) =>
    fetch(`${here(setting.provider.addresses.frontChannel)}?${new URLSearchParams({ ...query })}`, {
      headers,
    });

  test('with the issuer and the session end it, and only pages of the provider can show them', async () => {
    const { status, headers } = await frame({ iss: provider.issuer, sid: 'sid-1' });
    expect(status).toBe(200);
    expect(headers.get('content-security-policy')).toContain(`frame-ancestors ${provider.issuer}`);
    expect(await isSignedIn()).toBe(false);
  });

  test('without the identifier of a session end nothing, even with the cookie of the browser (logout CSRF)', async () => {
    const withCookie = { cookie: `soundings=${cookie}` };
    await frame({}, withCookie);
    await frame({ iss: provider.issuer }, withCookie);
    await frame({ iss: provider.issuer, sid: '' }, withCookie);
    await frame({ iss: 'https://login.example.com', sid: 'sid-1' }, withCookie);
    await frame({ iss: provider.issuer, sid: 'sid-2' }, withCookie);
    for (const wrong of [{ sid: 'sid-1\0' }, { sid: '\0' }, { iss: `${provider.issuer}\0` }])
      expect((await frame({ iss: provider.issuer, sid: 'sid-1', ...wrong }, withCookie)).status).toBe(200);
    expect(await isSignedIn()).toBe(true);
  });

  test('and pages of other websites can’t sign a user out (logout CSRF)', async () => {
    const response = await fetch(`${world.address}/api/session`, {
      method: 'DELETE',
      headers: { cookie: `soundings=${cookie}`, 'sec-fetch-site': 'cross-site' },
    });
    expect([response.status, await isSignedIn()]).toEqual([403, true]);
  });
});
