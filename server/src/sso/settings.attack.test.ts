// The settings of single sign-on: addresses of the private network, providers that fail, required single sign-on and its break-glass
// administrators, and the separation of accounts.
import { TOTP, Secret } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { confirmTwoFactor, beginTwoFactor } from '../auth/two-factor.ts';
import { setPassword } from '../auth/sign-in.ts';
import { createSignInLink } from '../auth/sign-in-links.ts';
import { openLog } from '../base/log.ts';
import { inTransaction } from '../db/db.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { applyDirectory } from '../scim/applying/apply.ts';
import { signIn } from '../testing/signed-in.ts';
import { openWorld, type World } from '../testing/world.ts';
import { type HostileProvider, openHostileProvider } from './hostile-provider.fixture.ts';
import { clientSecret, openTestBrowser, publicUrl, refusalAt } from './provider.fixture.ts';
import { auditOf, password, reachingLoopback, type Setting, setUp, startOf, whoIs } from './sso.fixture.ts';

let world: World;
let provider: HostileProvider;
let setting: Setting;
beforeAll(async () => {
  world = await openWorld(openLog('silent'), { publicUrl, ...reachingLoopback });
  provider = await openHostileProvider();
});
afterAll(async () => {
  await provider?.close();
  await world?.close();
});
beforeEach(async () => {
  provider.description = {};
  provider.intercept = () => false;
  setting = await setUp(world, provider.issuer);
});

const typesOf = ({
  status,
  body,
}: {
  status: number;
  body: { details?: { type: string; path?: string }[] };
}) => [status, ...(body?.details ?? []).map(({ type, path }) => `${type} ${path ?? ''}`.trim())];
const add = (issuer: string) =>
  setting.admin.request('POST /sso/providers', { name: 'New', issuer, clientId: 'c', clientSecret });

describe('the address of a provider', () => {
  test.each([
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest',
    'https://[::1]/',
    'https://[fd00::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://0.0.0.0/',
    'https://2130706433.example@10.1/',
    'http://192.0.2.1/',
  ])('in a private network is refused (%s)', async (issuer) => {
    const response = await add(issuer);
    expect(response.status).toBe(400);
    expect(typesOf(response)[1]).toMatch(/^provider (address forbidden|not usable) \/issuer$/);
  });

  test('is not requested on this machine unless the operator allows it', async () => {
    const own = await openWorld(openLog('silent'), { publicUrl });
    try {
      const before = provider.requests.length;
      await expect(setUp(own, provider.issuer)).rejects.toThrow(/undefined/);
      expect(provider.requests).toHaveLength(before);
    } finally {
      await own.close();
    }
  });

  test('must not lead to a private network through its description', async () => {
    provider.description = {
      token_endpoint: 'http://10.0.0.1/token',
      jwks_uri: 'https://169.254.169.254/keys',
    };
    await setting.change({ name: 'Reloaded' });
    const userId = await setting.addPerson({ email: 'inside@example.org' });
    const browser = openTestBrowser(world);
    const { address } = await browser.open(startOf(setting), (at) => !at.startsWith(publicUrl));
    const state = new URL(address).searchParams.get('state') ?? '';
    const end = await browser.open(
      `${setting.provider.addresses.redirect}?code=x&state=${state}`,
      (at) => !at.includes('/sso/'),
    );
    expect(refusalAt(end.address)).toBe('forbidden address');
    expect(await whoIs(world, browser.session())).not.toBe(userId);
  });

  test.each<[string, (url: string) => { status: number; headers?: object; body?: string }]>([
    ['redirects', (url) => ({ status: 302, headers: { location: `http://127.0.0.1:1${url}` } })],
    ['responds with an error', () => ({ status: 500 })],
    [
      'responds with something else',
      () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<p>' }),
    ],
    [
      'responds without an end',
      () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: ' '.repeat(2_000_000) }),
    ],
    [
      'claims to be another issuer',
      () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          issuer: 'https://login.example.com',
          jwks_uri: 'https://login.example.com/keys',
        }),
      }),
    ],
  ])('is refused if it %s', async (_, respond) => {
    provider.intercept = ({ url = '' }, response) => {
      const { status, headers = {}, body = '' } = respond(url);
      response.writeHead(status, headers as never).end(body);
      return true;
    };
    const response = await add(`${provider.issuer}/`);
    expect(response.status).toBe(400);
    expect(typesOf(response)[1]).toMatch(/^provider (not usable|unreachable) \/issuer$/);
  });

  test('that lets everyone with an account of Microsoft in is refused, with the remedy', async () => {
    const response = await add('https://login.microsoftonline.com/common/v2.0');
    expect(typesOf(response)).toEqual([400, 'provider not usable /issuer']);
    expect(response.body.message).toContain('tenant');
  });
});

test('fields that make no sense together are refused', async () => {
  const path = `PATCH /sso/providers/${setting.provider.id}`;
  const { request } = setting.admin;
  expect(typesOf(await request(path, { createsPeople: true }))).toEqual([400, 'domains needed /domains']);
  expect(typesOf(await request(path, { domains: ['not a domain'] }))).toEqual([
    400,
    'invalid domain /domains',
  ]);
  expect(typesOf(await request(path, { roleClaim: 'roles' }))).toEqual([
    400,
    'role values needed /roleValues',
  ]);
});

test('providers of another account are not found, in the same words as ones that do not exist', async () => {
  const other = await setUp(world, provider.issuer);
  const { request } = setting.admin;
  const { id } = other.provider;
  for (const operation of ['PATCH /sso/providers', 'DELETE /sso/providers', 'POST /profile/identities']) {
    const body = operation.startsWith('PATCH') ? { name: 'Mine' } : undefined;
    const [foreign, missing] = [
      await request(`${operation}/${id}`, body),
      await request(`${operation}/999999`, body),
    ];
    expect(typesOf(foreign)).toEqual([404, 'provider not found']);
    expect(foreign.body.message).toBe(missing.body.message);
  }
  expect((await request(`POST /sso/providers/${id}/test`)).status).toBe(404);
});

test('the client secret is stored encrypted, and never sent to the console', async () => {
  const [row] = await world.pool<{ secret: Buffer }[]>`
    select client_secret as secret from sign_in_providers where account_id = ${setting.accountId}`;
  expect(row?.secret.includes(clientSecret)).toBe(false);
  expect((await setting.admin.request('GET /sso')).text).not.toContain(clientSecret);
});

/** Signs in with a password, and a code if there is a secret. */
async function signInWith(email: string, totp?: string) {
  const code =
    totp && new TOTP({ secret: Secret.fromBase32(totp) }).generate({ timestamp: Date.now() + 30_000 });
  const response = await fetch(`${world.address}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password, ...(code && { code }) }),
  });
  return { status: response.status, body: await response.json() };
}

/** Turns on two-factor authentication for an administrator, and returns the secret. */
async function turnOnTwoFactor(userId = setting.admin.userId): Promise<string> {
  const person = { accountId: setting.accountId, userId };
  const { secret } = await beginTwoFactor(world.pool, world.keys.secrets, person, 'test');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await inTransaction(world.pool, (tx) => confirmTwoFactor(tx, world.keys.secrets, person, code, Date.now()));
  return secret;
}

describe('required single sign-on', () => {
  const require = (breakGlass: number[], required = true) =>
    setting.admin.request('PUT /sso/required', { required, breakGlass });

  test('can’t be turned on without a break-glass administrator who has a password and a second factor', async () => {
    const { userId } = setting.admin;
    const manager = await setting.addPerson({ email: 'm@example.org', role: 'Manager' });
    expect(typesOf(await require([]))).toEqual([409, 'break-glass needed /breakGlass']);
    expect(typesOf(await require([manager]))).toEqual([409, 'not an administrator /breakGlass']);
    expect(typesOf(await require([userId]))).toEqual([409, 'break-glass not ready /breakGlass']);
    await turnOnTwoFactor();
    await setting.change({ enabled: false });
    expect(typesOf(await require([userId]))).toEqual([409, 'no provider /required']);
    await setting.change({ enabled: true });
    expect((await require([userId])).status).toBe(204);
  });

  test('refuses passwords and links of others, ends their sessions, and lets break-glass in when the provider is down', async () => {
    const totp = await turnOnTwoFactor();
    const email = 'worker@example.org';
    const userId = await setting.addPerson({ email, role: 'Manager' });
    await setPassword(world.pool, setting.accountId, userId, password);
    const signedIn = await signInWith(email);
    expect(signedIn.status).toBe(200);
    expect((await require([setting.admin.userId])).status).toBe(204);
    expect(await signInWith(email)).toMatchObject({
      status: 403,
      body: { details: [{ type: 'sso required' }] },
    });
    expect((await signInWith('no-one@example.org')).status).toBe(401);
    const secret = await createSignInLink(world.pool, setting.accountId, userId, { hours: 1 });
    const byLink = await fetch(`${world.address}/api/password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret, password: 'another lantern underwater' }),
    });
    expect(byLink.status).toBe(403);
    const sessions = await world.pool`
      select from sessions where account_id = ${setting.accountId} and user_id = ${userId}`;
    expect(sessions).toHaveLength(0);
    provider.intercept = (request) => Boolean(request.socket.destroy());
    await setting.change({ name: 'Reloaded' });
    const { address } = await openTestBrowser(world).open(startOf(setting), (at) => at.includes('/sign-in'));
    expect(refusalAt(address)).toBe('unavailable');
    expect(await signInWith(setting.admin.email, totp)).toMatchObject({
      status: 200,
      body: { state: 'signed in' },
    });
    await require([setting.admin.userId], false);
    expect((await signInWith(email)).status).toBe(200);
  });

  test('keeps its last break-glass administrator: the role, the person, the address, the second factor and the provider', async () => {
    await turnOnTwoFactor();
    const { userId, request } = setting.admin;
    const { id } = setting.provider;
    await require([userId]);
    const second = await setUpSecondAdministrator();
    expect(typesOf(await second(`PATCH /users/${userId}`, { role: 'Manager' }))[1]).toBe(
      'last break-glass /role',
    );
    expect(typesOf(await second(`PATCH /users/${userId}`, { active: false }))[1]).toBe(
      'last break-glass /active',
    );
    expect(typesOf(await second(`PATCH /users/${userId}`, { email: null }))[1]).toBe(
      'last break-glass /email',
    );
    expect(typesOf(await second(`DELETE /users/${userId}`))[1]).toBe('last break-glass');
    expect(typesOf(await second(`DELETE /users/${userId}/two-factor`))[1]).toBe('last break-glass');
    expect(typesOf(await request('POST /profile/two-factor/off', { password }))[1]).toBe('last break-glass');
    expect(typesOf(await request(`PATCH /sso/providers/${id}`, { enabled: false }))[1]).toBe('last provider');
    expect(typesOf(await request(`DELETE /sso/providers/${id}`))[1]).toBe('last provider');
    expect((await auditOf(world, setting.accountId)).at(-1)?.action).toBe('single sign-on rule changed');
  });

  test('keeps its last break-glass administrator when a list or the directory removes them', async () => {
    await turnOnTwoFactor();
    const { accountId } = setting;
    const { userId, email } = setting.admin;
    await require([userId]);
    await setUpSecondAdministrator();
    await world.pool`
      update users set managed = true, external_id = 'boss' where account_id = ${accountId} and user_id = ${userId}`;
    const { token } = await createToken(world.pool, accountId, { name: 'hr', scopes: ['organization'] });
    const push = async (users: object[]) => {
      const response = await fetch(`${world.address}/v1/organization/organization`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify({ settings: { validateOnly: false }, data: { users } }),
      });
      return typesOf({ status: response.status, body: (await response.json()) as { details?: [] } });
    };
    const boss = { externalId: 'boss', firstName: 'Kim', lastName: 'Ek', email };
    const refused = [400, 'last break-glass /data/users'];
    expect(await push([])).toEqual(refused);
    expect(await push([{ ...boss, active: false }])).toEqual(refused);
    expect(await push([{ ...boss, email: null }])).toEqual(refused);
    expect(await push([{ ...boss, accessInfo: { role: 'User' } }])).toEqual(refused);
    expect((await push([{ ...boss, lastName: 'Berg' }]))[0]).toBe(200);
    // The directory: the removal is not applied, and everything else is.
    const change = { by_scim: true, external_id: 'boss' };
    await world.pool`update users set ${world.pool(change)} where account_id = ${accountId} and user_id = ${userId}`;
    await world.pool`
      insert into scim_users (account_id, scim_id, user_name, user_name_key, active, resource, person_key, removed_at, applied)
      values (${accountId}, gen_random_uuid(), 'boss', 'boss', false, '{"userName": "boss"}', 'boss', '2020-01-01', 1)`;
    await applyDirectory(world.pool, accountId, Date.now(), deleteGroupResults);
    const [row] = await world.pool`
      select u.active, s.is_kept from users u join scim_users s on s.account_id = u.account_id and s.person_key = u.external_id
      where u.account_id = ${accountId}`;
    expect(row).toEqual({ active: true, is_kept: true });
  });

  test('ends the sessions of someone who is no break-glass administrator any more', async () => {
    await turnOnTwoFactor();
    const other = await readySecond();
    expect((await require([setting.admin.userId, other.userId])).status).toBe(204);
    expect((await other.request('GET /session')).status).toBe(200);
    expect((await require([setting.admin.userId])).status).toBe(204);
    expect((await other.request('GET /session')).status).toBe(401);
  });

  test('does not count a break-glass administrator who could not sign in', async () => {
    await turnOnTwoFactor();
    const { userId, request } = await readySecond();
    await require([setting.admin.userId, userId]);
    await world.pool`
      delete from two_factor where account_id = ${setting.accountId} and user_id = ${userId}`;
    const removed = await request(`DELETE /users/${setting.admin.userId}/two-factor`);
    expect(typesOf(removed)[1]).toBe('last break-glass');
  });

  test('does not lock out other administrators who have signed in before and have no identity', async () => {
    await turnOnTwoFactor();
    const { accountId, admin } = setting;
    const userId = await setting.addPerson({
      email: 'other@example.org',
      role: 'Administrator',
      firstName: 'Bo',
    });
    await world.pool`
      insert into audit_entries (account_id, origin, user_id, action)
      values (${accountId}, 'console', ${userId}, 'signed in')`;
    const response = await require([admin.userId]);
    expect(typesOf(response)).toEqual([409, 'administrator locked out /breakGlass']);
    expect(response.body.message).toMatch(/^Bo Ek: /);
    await world.pool`
      insert into sign_in_identities (account_id, provider_id, subject, user_id)
      values (${accountId}, ${setting.provider.id}, 'other', ${userId})`;
    expect((await require([admin.userId])).status).toBe(204);
  });

  /** Another administrator with a password and two-factor authentication. */
  async function readySecond() {
    const userId = await setting.addPerson({ email: 'ready@example.org', role: 'Administrator' });
    await setPassword(world.pool, setting.accountId, userId, password);
    await turnOnTwoFactor(userId);
    return { userId, request: await signIn(world, setting.accountId, userId) };
  }

  async function setUpSecondAdministrator() {
    const userId = await setting.addPerson({ email: 'second@example.org', role: 'Administrator' });
    return signIn(world, setting.accountId, userId);
  }

  test('does not lock out the administrator who turns it on with a password', async () => {
    const totp = await turnOnTwoFactor();
    expect(totp).not.toBe('');
    const second = await setUpSecondAdministrator();
    const response = await second('PUT /sso/required', {
      required: true,
      breakGlass: [setting.admin.userId],
    });
    expect(typesOf(response)).toEqual([409, 'own sign-in /required']);
  });
});

test('becoming an administrator ends earlier identities, so an identity that someone else linked is worth nothing', async () => {
  const userId = await setting.addPerson({ email: 'new@example.org' });
  await world.pool`
    insert into sign_in_identities (account_id, provider_id, subject, user_id)
    values (${setting.accountId}, ${setting.provider.id}, 'linked before', ${userId})`;
  await setting.admin.request(`PATCH /users/${userId}`, { role: 'Administrator' });
  const rows = await world.pool`
    select from sign_in_identities where account_id = ${setting.accountId} and user_id = ${userId}`;
  expect(rows).toHaveLength(0);
});
