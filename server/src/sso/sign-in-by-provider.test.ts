// Signing in with a real provider: linking, creating people, roles, sessions, confirming and signing out.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../base/log.ts';
import { signIn } from '../testing/signed-in.ts';
import { openWorld, type World } from '../testing/world.ts';
import { until } from '../testing/until.ts';
import {
  openTestBrowser,
  openTestProvider,
  publicUrl,
  refusalAt,
  type TestProvider,
} from './provider.fixture.ts';
import { auditOf, reachingLoopback, sessionFor, type Setting, setUp, startOf, whoIs } from './sso.fixture.ts';

let world: World;
let provider: TestProvider;
let setting: Setting;
beforeAll(async () => {
  world = await openWorld(openLog('silent'), { publicUrl, ...reachingLoopback });
  provider = await openTestProvider({ reach: (address) => address.replace(publicUrl, world.address) });
});
afterAll(async () => {
  await provider?.close();
  await world?.close();
});
let n = 0;
const newEmail = () => `person-${++n}@example.org`;

beforeEach(async () => {
  setting = await setUp(world, provider.issuer);
  provider.register(setting.provider.addresses);
});

/** Someone at the provider, who signs in next. */
function employee(claims: Record<string, unknown>): string {
  const subject = `sub-${++n}`;
  provider.people.set(subject, { email_verified: true, given_name: 'Ida', family_name: 'Berg', ...claims });
  provider.who = subject;
  return subject;
}

const visit = async (browser = openTestBrowser(world), to = '/profile') => {
  const { address } = await browser.open(
    startOf(setting, to),
    (at) => at.startsWith(publicUrl) && !at.includes('/sso/'),
  );
  return { browser, address, refusal: refusalAt(address), userId: await whoIs(world, browser.session()) };
};

describe('signing in', () => {
  test('links a person by verified address, leads to the requested page, and works again after the address changes', async () => {
    const email = newEmail();
    const userId = await setting.addPerson({ email, role: 'Manager' });
    const subject = employee({ email: email.toUpperCase() });
    const { address, userId: first } = await visit();
    expect([address, first]).toEqual([`${publicUrl}/profile`, userId]);
    provider.people.set(subject, { email: newEmail(), email_verified: false });
    expect((await visit()).userId).toBe(userId);
    const actions = (await auditOf(world, setting.accountId)).map(({ action }) => action);
    expect(actions.filter((one) => one === 'identity linked')).toHaveLength(1);
    const signedIn = (await auditOf(world, setting.accountId)).find(({ action }) => action === 'signed in');
    expect(signedIn?.details).toEqual({ how: 'provider', provider: 'Work', methods: ['pwd', 'mfa'] });
  });

  test('creates no one unless that is turned on, and then a person with name, address and no rights', async () => {
    employee({ email: newEmail() });
    expect(await visit()).toMatchObject({ refusal: 'unknown', userId: undefined });
    await setting.change({ createsPeople: true, domains: ['example.org'] });
    const email = newEmail();
    employee({ email, roles: ['x'] });
    const { userId } = await visit();
    const [row] = await world.pool`
      select first_name, last_name, email, role, managed from users
      where  account_id = ${setting.accountId} and user_id = ${userId as number}`;
    expect(row).toEqual({ first_name: 'Ida', last_name: 'Berg', email, role: 'User', managed: false });
    employee({ email: 'stranger@elsewhere.example' });
    expect((await visit()).refusal).toBe('domain');
  });

  test('refuses inactive people, and people who wait for confirmation as administrators', async () => {
    const [inactive, pending] = [newEmail(), newEmail()];
    await setting.addPerson({ email: inactive, active: false });
    const pendingId = await setting.addPerson({ email: pending, role: 'Administrator' });
    await world.pool`
      update users set role_pending = true where account_id = ${setting.accountId} and user_id = ${pendingId}`;
    employee({ email: inactive });
    expect((await visit()).refusal).toBe('inactive');
    employee({ email: pending });
    expect((await visit()).refusal).toBe('pending');
  });

  test('a provider that is turned off signs no one in, and is not on the sign-in page', async () => {
    await setting.change({ enabled: false });
    employee({ email: setting.admin.email });
    expect((await visit()).refusal).toBe('off');
  });
});

describe('administrators who have signed in before', () => {
  const signedInBefore = () => world.pool`
    insert into audit_entries (account_id, origin, user_id, action)
    values (${setting.accountId}, 'console', ${setting.admin.userId}, 'signed in')`;

  test('are not linked by their address in the first week, but link the identity in their profile', async () => {
    await signedInBefore();
    employee({ email: setting.admin.email });
    expect((await visit()).refusal).toBe('connect first');
    const { body } = await setting.admin.request<{ address: string }>(
      `POST /profile/identities/${setting.provider.id}`,
    );
    // Another browser, which has no cookie of the visit, can't end it.
    expect(refusalAt((await openTestBrowser(world).open(body.address)).address)).toBe('expired');
  });

  test('are linked by their address once the provider has been there for a week', async () => {
    await signedInBefore();
    await world.pool`
      update sign_in_providers set trusted_since = now() - interval '8 days' where account_id = ${setting.accountId}`;
    employee({ email: setting.admin.email });
    expect((await visit()).userId).toBe(setting.admin.userId);
    // Trusting more addresses starts the week again.
    await setting.change({ trustsDomains: true, domains: ['example.org'] });
    const [row] = await world.pool`
      select trusted_since > now() - interval '1 day' as recent from sign_in_providers
      where  account_id = ${setting.accountId}`;
    expect(row?.['recent']).toBe(true);
  });
});

describe('roles of a claim', () => {
  const roleOf = async (userId: number) => {
    const [row] = await world.pool<{ role: string }[]>`
      select role from users where account_id = ${setting.accountId} and user_id = ${userId}`;
    return row?.role;
  };
  beforeEach(async () => {
    await setting.change({
      roleClaim: 'roles',
      roleValues: [
        { value: 'boss', role: 'Administrator' },
        { value: 'lead', role: 'Manager' },
      ],
    });
    await world.pool`
      update sign_in_providers set trusted_since = now() - interval '8 days' where account_id = ${setting.accountId}`;
  });

  test('apply at each sign-in: the highest wins, none makes a User, and without the claim the role stays', async () => {
    const email = newEmail();
    const userId = await setting.addPerson({ email });
    const subject = employee({ email, roles: ['lead', 'boss', 'other'] });
    expect((await visit()).userId).toBe(userId);
    expect(await roleOf(userId)).toBe('Administrator');
    const own = provider.people.get(subject);
    provider.people.set(subject, { ...own, roles: 'lead' });
    await visit();
    expect(await roleOf(userId)).toBe('Manager');
    provider.people.set(subject, { ...own, roles: undefined });
    await visit();
    expect(await roleOf(userId)).toBe('Manager');
    provider.people.set(subject, { ...own, roles: ['other'] });
    await visit();
    expect(await roleOf(userId)).toBe('User');
    const changes = (await auditOf(world, setting.accountId)).filter(
      ({ details }) => details['to'] !== undefined,
    );
    expect(changes.map(({ details }) => [details['from'], details['to']])).toEqual([
      ['User', 'Administrator'],
      ['Administrator', 'Manager'],
      ['Manager', 'User'],
    ]);
  });

  test('never take the role from the last administrator', async () => {
    const { admin } = setting;
    await world.pool`
      update users set role = 'User' where account_id = ${setting.accountId} and user_id <> ${admin.userId}`;
    employee({ email: admin.email, roles: ['lead'] });
    expect((await visit()).userId).toBe(admin.userId);
    expect(await roleOf(admin.userId)).toBe('Administrator');
    expect((await auditOf(world, setting.accountId)).map(({ action }) => action)).toContain('role kept');
  });
});

describe('sessions', () => {
  const linked = async () => {
    const email = newEmail();
    const userId = await setting.addPerson({ email });
    const subject = employee({ email });
    return { ...(await visit()), userId, subject };
  };
  const sessionsOf = (userId: number) => world.pool<
    { provider_session: string; ends_at: Date | null; proved_at: Date | null }[]
  >`
    select provider_session, ends_at, proved_at from sessions
    where  account_id = ${setting.accountId} and user_id = ${userId}`;

  test('end after the hours of the provider, and are listed with its name', async () => {
    await setting.change({ sessionHours: 8 });
    const { userId, browser } = await linked();
    const [session] = await sessionsOf(userId);
    const hours = ((session?.ends_at?.getTime() ?? 0) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(7.9);
    expect(hours).toBeLessThan(8.1);
    const response = await fetch(`${world.address}/api/profile/sessions`, {
      headers: { cookie: `soundings=${browser.session()}` },
    });
    expect(await response.json()).toMatchObject([{ provider: 'Work', isThis: true }]);
    await world.pool`
      update sessions set ends_at = now() - interval '1 second'
      where  account_id = ${setting.accountId} and user_id = ${userId}`;
    expect(await whoIs(world, browser.session())).toBeUndefined();
  });

  test('replace the previous session of the browser', async () => {
    const { userId, browser } = await linked();
    await visit(browser);
    expect(await sessionsOf(userId)).toHaveLength(1);
  });

  test('end when the provider sends a logout token, which it can do only once', async () => {
    const { userId, subject, browser } = await linked();
    const [session] = await sessionsOf(userId);
    await provider.signOut(subject, session?.provider_session as string);
    expect(await whoIs(world, browser.session())).toBeUndefined();
    expect((await auditOf(world, setting.accountId)).at(-1)).toMatchObject({
      action: 'signed out by provider',
      subject: String(userId),
      details: { how: 'back-channel', provider: 'Work' },
    });
  });

  test('of someone else at the provider stay', async () => {
    const { subject, browser } = await linked();
    const other = await linked();
    const [session] = await sessionsOf(other.userId);
    await provider.signOut(other.subject, session?.provider_session as string);
    expect(await whoIs(world, browser.session())).toBeDefined();
    expect(subject).not.toBe(other.subject);
  });

  test('that end here lead to the provider, which then signs out as well', async () => {
    const { browser } = await linked();
    const response = await fetch(`${world.address}/api/session`, {
      method: 'DELETE',
      headers: { cookie: `soundings=${browser.session()}` },
    });
    const { address } = (await response.json()) as { address: string };
    const asked = new URL(address);
    expect([asked.origin, asked.searchParams.get('post_logout_redirect_uri')]).toEqual([
      provider.issuer,
      `${publicUrl}/sign-in`,
    ]);
    expect(asked.searchParams.get('id_token_hint')).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect((await browser.open(address)).status).toBe(200);
  });

  test('are confirmed at the provider, as if a password were entered, by the same person only', async () => {
    const { userId, subject, browser } = await linked();
    const proved = async () => (await sessionsOf(userId))[0]?.proved_at ?? null;
    expect(await proved()).toBeNull();
    const confirm = async () => {
      browser.cookies.delete(new URL(provider.issuer).host);
      const response = await fetch(`${world.address}/api/session/proof/provider`, {
        method: 'POST',
        headers: {
          cookie: [...(browser.cookies.get('soundings.test') ?? [])].map((one) => one.join('=')).join('; '),
        },
      });
      const [cookie = ''] = response.headers.getSetCookie();
      browser.cookies.get('soundings.test')?.set('soundings-sso', /=([^;]*)/.exec(cookie)?.[1] ?? '');
      const { address } = (await response.json()) as { address: string };
      return (await browser.open(address, (at) => at.includes('/sign-in/done'))).address;
    };
    const someoneElse = employee({ email: newEmail() });
    expect(refusalAt(await confirm())).toBe('other person');
    expect([await proved(), someoneElse === subject]).toEqual([null, false]);
    provider.who = subject;
    expect(refusalAt(await confirm())).toBeNull();
    expect(await proved()).not.toBeNull();
  });
});

test('a test signs no one in, and reports what the provider says and what would happen', async () => {
  const browser = openTestBrowser(world);
  employee({ email: newEmail(), email_verified: false });
  const session = await signIn(world, setting.accountId, setting.admin.userId);
  const begun = await session<{ address: string }>(`POST /sso/providers/${setting.provider.id}/test`);
  const [, secret = ''] = /soundings-sso=([^;]*)/.exec(begun.headers.get('set-cookie') ?? '') ?? [];
  browser.cookies.set('soundings.test', new Map([['soundings-sso', secret]]));
  await browser.open(begun.body.address, (at) => at.includes('/sign-in/done'));
  expect(browser.session()).toBeUndefined();
  const found = await until(async () => {
    const { body } = await session<{ providers: Setting['provider'][] }>('GET /sso');
    return body.providers[0]?.lastTest ?? undefined;
  });
  expect(found).toMatchObject({
    refusal: 'unverified',
    isVerified: false,
    hasTime: false,
    methods: ['pwd', 'mfa'],
  });
});

test('a link from outside keeps the session of the same company, and asks a browser with one of another company or none', async () => {
  const other = await setUp(world, provider.issuer);
  const start = async (accountId: number | undefined, userId: number) => {
    const cookie = accountId === undefined ? '' : `soundings=${await sessionFor(world, accountId, userId)}`;
    const url = startOf(setting, '/people').replace(publicUrl, world.address);
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
    });
    return new URL(response.headers.get('location')!, world.address).pathname;
  };
  expect(await start(setting.accountId, setting.admin.userId)).toBe('/people');
  expect(await start(other.accountId, other.admin.userId)).toBe('/sign-in');
  expect(await start(undefined, 0)).toBe('/sign-in');
});
