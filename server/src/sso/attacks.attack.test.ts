// Attacks on single sign-on. Each must be refused: no session begins, no identity is linked, and no session ends.
import { createHmac, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setPassword } from '../auth/sign-in.ts';
import { openLog } from '../base/log.ts';
import { signIn } from '../testing/signed-in.ts';
import { openWorld, type World } from '../testing/world.ts';
import { type HostileProvider, openHostileProvider, unsigned } from './hostile-provider.fixture.ts';
import {
  clientId,
  clientSecret,
  openTestBrowser,
  openTestProvider,
  publicUrl,
  refusalAt,
  type TestBrowser,
  type TestProvider,
} from './provider.fixture.ts';
import {
  auditOf,
  password,
  reachingLoopback,
  sessionFor,
  type Setting,
  setUp,
  startOf,
  whoIs,
} from './sso.fixture.ts';

let world: World;
let hostile: HostileProvider;
let honest: TestProvider;
let setting: Setting;
let victim: { userId: number; email: string };
beforeAll(async () => {
  world = await openWorld(openLog('silent'), { publicUrl, ...reachingLoopback });
  [hostile, honest] = await Promise.all([openHostileProvider(), openTestProvider()]);
});
afterAll(async () => {
  await hostile?.close();
  await honest?.close();
  await world?.close();
});
let n = 0;
beforeEach(async () => {
  hostile.description = {};
  hostile.intercept = () => false;
  setting = await setUp(world, hostile.issuer);
  const email = `victim-${++n}@example.org`;
  victim = { email, userId: await setting.addPerson({ email, role: 'Manager' }) };
  hostile.idToken = async (nonce) => hostile.sign(claims({ nonce }));
});

const claims = (others: object) => ({
  sub: `sub-${n}`,
  email: victim.email,
  email_verified: true,
  ...others,
});

/** Begins to sign in, and returns what the browser sent to the provider. */
async function begin(browser: TestBrowser, of = setting, to = '/') {
  const { address } = await browser.open(startOf(of, to), (at) => !at.startsWith(publicUrl));
  const { searchParams } = new URL(address);
  const [state, nonce] = [searchParams.get('state') ?? '', searchParams.get('nonce') ?? ''];
  hostile.nonce = nonce;
  return { state, nonce, sent: searchParams };
}

const callbackOf = ({ provider }: Setting, query: Record<string, string>) =>
  `${provider.addresses.redirect}?${new URLSearchParams(query)}`;

/** Signs in with a response of the hostile provider. Returns why it was refused, and who is signed in. */
async function attempt(change: (query: Record<string, string>) => Record<string, string> = (query) => query) {
  const browser = openTestBrowser(world);
  const { state } = await begin(browser);
  return finish(browser, callbackOf(setting, change({ code: 'code', state })));
}

async function finish(browser: TestBrowser, address: string) {
  const end = await browser.open(address, (at) => !at.includes('/sso/'));
  return {
    refusal: refusalAt(end.address),
    userId: await whoIs(world, browser.session()),
    address: end.address,
  };
}

const identities = async () =>
  (await world.pool`select subject from sign_in_identities where account_id = ${setting.accountId}`).length;
const refused = (refusal: string) => ({ refusal, userId: undefined });

test('without an attack, the response signs the person in', async () => {
  expect(await attempt()).toMatchObject({ refusal: null, userId: victim.userId });
});

describe('tokens', () => {
  test.each<[string, () => object]>([
    ['without a nonce', () => ({ nonce: undefined })],
    ['with another nonce', () => ({ nonce: 'nonce-of-another-visit' })],
    ['of another issuer', () => ({ iss: 'https://login.example.com' })],
    ['for another client', () => ({ aud: 'another-client' })],
    [
      'for this and another client, issued to the other',
      () => ({ aud: [clientId, 'another'], azp: 'another' }),
    ],
    ['that have expired', () => ({ exp: Math.floor(Date.now() / 1000) - 120 })],
    ['without an end', () => ({ exp: undefined })],
    ['without a subject', () => ({ sub: undefined })],
    ['with an overlong subject', () => ({ sub: 'x'.repeat(256) })],
    ['with U+0000 in the subject', () => ({ sub: 'x\0' })],
  ])('%s are refused', async (_, change) => {
    hostile.idToken = (nonce) => hostile.sign(claims({ nonce, ...change() }));
    expect(await attempt()).toMatchObject(refused('invalid'));
    expect(await identities()).toBe(0);
  });

  const body = (nonce: string) => ({
    ...claims({ nonce }),
    iss: hostile.issuer,
    aud: clientId,
    iat: Math.floor(Date.now() / 1000),
    exp: Math.floor(Date.now() / 1000) + 300,
  });
  const hmac = (key: string) => (nonce: string) => {
    const head = unsigned({ alg: 'HS256', kid: 'own' }, body(nonce)).slice(0, -1);
    return `${head}.${createHmac('sha256', key).update(head).digest('base64url')}`;
  };
  const pem = () => hostile.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const foreign = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  test.each<[string, (nonce: string) => string | Promise<string>]>([
    ['without a signature (alg none)', (nonce) => unsigned({ alg: 'none' }, body(nonce))],
    ['with alg none in other letters', (nonce) => unsigned({ alg: 'NONE' }, body(nonce))],
    ['signed with the client secret (HS256)', (nonce) => hmac(clientSecret)(nonce)],
    ['signed with the public key as a secret (HS256 confusion)', (nonce) => hmac(pem())(nonce)],
    [
      'signed with the key of someone else, under the name of a known key',
      (nonce) => hostile.sign(claims({ nonce }), { key: foreign }),
    ],
    ['signed with an unknown key', (nonce) => hostile.sign(claims({ nonce }), { key: foreign, kid: 'new' })],
    [
      'with a changed claim',
      async (nonce) => {
        const [head, , signature] = (await hostile.sign(claims({ nonce, sub: 'attacker' }))).split('.');
        return unsigned(
          JSON.parse(Buffer.from(head as string, 'base64url').toString()),
          body(nonce),
          signature,
        );
      },
    ],
    ['that are no tokens', () => 'x'],
  ])('%s are refused', async (_, create) => {
    hostile.idToken = async (nonce) => create(nonce);
    expect(await attempt()).toMatchObject(refused('invalid'));
    expect(await identities()).toBe(0);
  });

  test('of a provider are refused at another provider, whose keys sign differently (JWKS swap)', async () => {
    const other = await openHostileProvider();
    try {
      const foreignSetting = await setUp(world, other.issuer);
      const browser = openTestBrowser(world);
      const { state, nonce } = await begin(browser, foreignSetting);
      // Its own issuer and client, but signed with the key of the first provider.
      other.idToken = async () => other.sign(claims({ nonce }), { key: hostile.privateKey });
      const end = await finish(browser, callbackOf(foreignSetting, { code: 'code', state }));
      expect(end).toMatchObject(refused('invalid'));
    } finally {
      await other.close();
    }
  });
});

describe('responses', () => {
  test.each<[string, (query: Record<string, string>) => Record<string, string>, string]>([
    ['without a state', ({ code = '' }) => ({ code }), 'expired'],
    ['with another state', (query) => ({ ...query, state: 'a'.repeat(32) }), 'expired'],
    [
      'that name another issuer (mix-up)',
      (query) => ({ ...query, iss: 'https://login.example.com' }),
      'invalid',
    ],
    ['with an error instead of a code', ({ state = '' }) => ({ state, error: 'access_denied' }), 'cancelled'],
  ])('%s are refused', async (_, change, refusal) => {
    expect(await attempt(change)).toMatchObject(refused(refusal));
  });

  test('without the issuer are refused if the provider always names it (mix-up)', async () => {
    hostile.description = { authorization_response_iss_parameter_supported: true };
    await setting.change({ name: 'Reloaded' });
    expect(await attempt()).toMatchObject(refused('invalid'));
    expect(await attempt((query) => ({ ...query, iss: hostile.issuer }))).toMatchObject({
      userId: victim.userId,
    });
  });

  test('of one provider are not accepted at the address of another (mix-up)', async () => {
    const other = await setUp(world, hostile.issuer);
    const browser = openTestBrowser(world);
    const { state } = await begin(browser);
    expect(await finish(browser, callbackOf(other, { code: 'code', state }))).toMatchObject(
      refused('expired'),
    );
  });

  test('are accepted once: a repeated callback is refused, and two at the same time begin one session', async () => {
    const browser = openTestBrowser(world);
    const { state } = await begin(browser);
    const address = callbackOf(setting, { code: 'code', state });
    const copies = [browser, ...Array.from({ length: 4 }, () => openTestBrowser(world))];
    for (const copy of copies)
      for (const [host, jar] of browser.cookies) copy.cookies.set(host, new Map(jar));
    const ends = await Promise.all(copies.map((copy) => finish(copy, address)));
    expect(ends.map(({ refusal }) => refusal).toSorted()).toEqual([...Array(4).fill('expired'), null]);
    const sessions = await world.pool`
      select from sessions where account_id = ${setting.accountId} and user_id = ${victim.userId}`;
    expect(sessions).toHaveLength(1);
    expect((await finish(openTestBrowser(world), address)).refusal).toBe('expired');
  });

  test('are refused in a browser that did not begin (login CSRF), and stay valid in the one that did', async () => {
    const [attacker, other] = [openTestBrowser(world), openTestBrowser(world)];
    const { state } = await begin(attacker);
    await begin(other);
    hostile.nonce = '';
    const address = callbackOf(setting, { code: 'code', state });
    expect(await finish(other, address)).toMatchObject(refused('expired'));
    expect(await finish(openTestBrowser(world), address)).toMatchObject(refused('expired'));
  });

  test('expire after ten minutes', async () => {
    const browser = openTestBrowser(world);
    const { state } = await begin(browser);
    await world.pool`
      update sign_in_flows set started_at = started_at - interval '11 minutes' where account_id = ${setting.accountId}`;
    expect(await finish(browser, callbackOf(setting, { code: 'code', state }))).toMatchObject(
      refused('expired'),
    );
  });

  test('with the code of another visit are refused by PKCE and the nonce (code injection)', async () => {
    const own = await setUp(world, honest.issuer);
    honest.register(own.provider.addresses);
    honest.people.set('attacker', { email: 'attacker@example.org', email_verified: true });
    honest.who = 'attacker';
    const isCallback = (at: string) => at.includes('/callback?');
    const [attacker, target] = [openTestBrowser(world), openTestBrowser(world)];
    const stolen = new URL((await attacker.open(startOf(own), isCallback)).address).searchParams;
    const genuine = new URL((await target.open(startOf(own), isCallback)).address).searchParams;
    const injected = {
      code: stolen.get('code') ?? '',
      state: genuine.get('state') ?? '',
      iss: honest.issuer,
    };
    expect(await finish(target, callbackOf(own, injected))).toMatchObject(refused('invalid'));
  });
});

describe('the visit', () => {
  test('sends PKCE with S256, a state and a nonce, and stores neither nonce nor code verifier', async () => {
    const { sent, nonce, state } = await begin(openTestBrowser(world));
    expect(sent.get('code_challenge_method')).toBe('S256');
    expect([sent.get('code_challenge'), nonce].every((one) => (one ?? '').length >= 43)).toBe(true);
    const [row] = await world.pool`
      select sign_in_flows::text as text from sign_in_flows where account_id = ${setting.accountId}`;
    expect(row?.['text']).not.toContain(nonce);
    expect(row?.['text']).not.toContain(state);
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    'https://evil.example',
    '/..//evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    '\\\\evil.example',
    '/%0d%0aset-cookie:x=y',
  ])('never leads to another website afterwards (%j)', async (to) => {
    const browser = openTestBrowser(world);
    const { state } = await begin(browser, setting, to);
    const { address, userId } = await finish(browser, callbackOf(setting, { code: 'code', state }));
    expect(userId).toBe(victim.userId);
    expect(new URL(address).origin).toBe(publicUrl);
    expect(address).not.toContain('\n');
  });
});

describe('addresses', () => {
  test.each([
    ['false', { email_verified: false }],
    ['missing', { email_verified: undefined }],
    ['a text other than true', { email_verified: 'yes' }],
    ['confirmed with the claim of another provider', { email_verified: undefined, xms_edov: true }],
  ])('that are not verified link no one (%s)', async (_, change) => {
    hostile.idToken = async (nonce) => hostile.sign(claims({ nonce, ...change }));
    expect(await attempt()).toMatchObject(refused('unverified'));
    expect(await identities()).toBe(0);
  });

  test('that are given to someone else do not open the account of who had them', async () => {
    await attempt();
    hostile.idToken = async (nonce) => hostile.sign(claims({ nonce, sub: 'successor' }));
    expect(await attempt()).toMatchObject(refused('taken'));
    expect(await identities()).toBe(1);
  });

  test('explicitly unverified are refused even in trusted domains, and other domains are refused', async () => {
    await setting.change({ domains: ['example.org'], trustsDomains: true });
    hostile.idToken = async (nonce) => hostile.sign(claims({ nonce, email_verified: false }));
    expect(await attempt()).toMatchObject(refused('unverified'));
    hostile.idToken = async (nonce) =>
      hostile.sign(claims({ nonce, email: 'victim@example.org.evil.example', email_verified: undefined }));
    expect(await attempt()).toMatchObject(refused('domain'));
    hostile.idToken = async (nonce) => hostile.sign(claims({ nonce, email_verified: undefined }));
    expect(await attempt()).toMatchObject({ userId: victim.userId });
  });
});

describe('administrators', () => {
  /** An administrator who has signed in before, and then got another role. Their address is the one that the provider reports. */
  async function demoted(): Promise<number> {
    const userId = await setting.addPerson({ email: `chief-${n}@example.org`, role: 'Administrator' });
    await setPassword(world.pool, setting.accountId, userId, password);
    await world.pool`
      insert into audit_entries (account_id, origin, user_id, action)
      values (${setting.accountId}, 'console', ${userId}, 'signed in')`;
    await setting.change({ roleClaim: 'x', roleValues: [{ value: 'boss', role: 'Administrator' }] });
    await setting.admin.request(`PATCH /users/${userId}`, { role: 'Manager' });
    hostile.idToken = (nonce) =>
      hostile.sign(claims({ nonce, email: `chief-${n}@example.org`, x: ['boss'] }));
    return userId;
  }
  const age = (table: 'sign_in_providers' | 'sign_in_identities', column: string) => world.pool`
    update ${world.pool(table)} set ${world.pool(column)} = now() - interval '8 days'
    where  account_id = ${setting.accountId}`;
  const stateOf = async (userId: number) => {
    const [row] = await world.pool<{ role: string; passwords: number }[]>`
      select u.role, (select count(*)::integer from passwords p
                      where  p.account_id = u.account_id and p.user_id = u.user_id) as passwords
      from   users u
      where  u.account_id = ${setting.accountId} and u.user_id = ${userId}`;
    return row;
  };

  test('are not taken over by someone who takes the role away and lets a claim give it back', async () => {
    const userId = await demoted();
    expect((await attempt()).userId).toBe(userId);
    expect(await stateOf(userId)).toEqual({ role: 'Manager', passwords: 1 });
    // Nor at a provider that has been there for a week, with an identity that has not.
    await age('sign_in_providers', 'trusted_since');
    await attempt();
    expect(await stateOf(userId)).toEqual({ role: 'Manager', passwords: 1 });
    expect((await auditOf(world, setting.accountId)).map(({ action }) => action)).toContain('role kept');
    await age('sign_in_identities', 'linked_at');
    await attempt();
    expect(await stateOf(userId)).toEqual({ role: 'Administrator', passwords: 0 });
  });

  test('are not made by a claim in the week after the claim or its values change', async () => {
    const userId = await demoted();
    await attempt();
    await age('sign_in_identities', 'linked_at');
    await age('sign_in_providers', 'trusted_since');
    await setting.change({
      roleValues: [
        { value: 'boss', role: 'Administrator' },
        { value: 'b', role: 'User' },
      ],
    });
    await attempt();
    expect((await stateOf(userId))?.role).toBe('Manager');
  });

  test('who are break-glass administrators are never linked by their address', async () => {
    await age('sign_in_providers', 'trusted_since');
    const { accountId, admin } = setting;
    await world.pool`insert into break_glass_administrators (account_id, user_id) values (${accountId}, ${admin.userId})`;
    hostile.idToken = (nonce) => hostile.sign(claims({ nonce, email: admin.email }));
    expect(await attempt()).toMatchObject(refused('connect first'));
  });
});

describe('a provider that is turned off', () => {
  test('ends its sessions, and its week begins again when it is turned on', async () => {
    const browser = openTestBrowser(world);
    const { state } = await begin(browser);
    expect((await finish(browser, callbackOf(setting, { code: 'code', state }))).userId).toBe(victim.userId);
    await world.pool`
      update sign_in_providers set trusted_since = now() - interval '8 days' where account_id = ${setting.accountId}`;
    await setting.change({ enabled: false });
    expect(await whoIs(world, browser.session())).toBeUndefined();
    expect(await whoIs(world, await sessionFor(world, setting.accountId, victim.userId))).toBe(victim.userId);
    await setting.change({ enabled: true });
    expect(await whoIs(world, browser.session())).toBeUndefined();
    const [row] = await world.pool`
      select trusted_since > now() - interval '1 day' as recent from sign_in_providers
      where  account_id = ${setting.accountId}`;
    expect(row?.['recent']).toBe(true);
  });

  test('links no identity, even if the visit began before', async () => {
    const { request } = setting.admin;
    const begun = await request<{ address: string }>(`POST /profile/identities/${setting.provider.id}`);
    const [, secret = ''] = /soundings-sso=([^;]*)/.exec(begun.headers.get('set-cookie') ?? '') ?? [];
    const browser = openTestBrowser(world);
    browser.cookies.set('soundings.test', new Map([['soundings-sso', secret]]));
    const { searchParams } = new URL(begun.body.address);
    hostile.nonce = searchParams.get('nonce') ?? '';
    await setting.change({ enabled: false });
    const address = callbackOf(setting, { code: 'code', state: searchParams.get('state') ?? '' });
    expect((await finish(browser, address)).refusal).toBe('off');
    expect(await identities()).toBe(0);
  });
});

test('removing an identity ends the sessions that began with it, and no others', async () => {
  const browser = openTestBrowser(world);
  const { state } = await begin(browser);
  await finish(browser, callbackOf(setting, { code: 'code', state }));
  const request = await signIn(world, setting.accountId, victim.userId);
  expect((await request(`DELETE /profile/identities/${setting.provider.id}`)).status).toBe(204);
  expect(await whoIs(world, browser.session())).toBeUndefined();
  expect((await request('GET /session')).status).toBe(200);
});

test.each([
  [3600, false],
  [10, true],
])(
  'a time of signing in %i s ahead proves nothing for longer than one that is now',
  async (ahead, isProved) => {
    const at = Math.floor(Date.now() / 1000) + ahead;
    hostile.idToken = (nonce) => hostile.sign(claims({ nonce, auth_time: at }));
    await attempt();
    const [row] = await world.pool`
    select proved_at <= now() as proved from sessions
    where  account_id = ${setting.accountId} and user_id = ${victim.userId}`;
    expect(row?.['proved'] ?? false).toBe(isProved);
  },
);
