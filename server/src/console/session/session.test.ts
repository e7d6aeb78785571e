// Signing in and sessions: the first start, the sign-in throttle and invalid requests, also by attackers.
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApp } from '../../app.ts';
import { createFirstStartLink, describeFirstStartLink } from '../../auth/first-start.ts';
import { deleteExpiredSessions, sessionOf } from '../../auth/sessions.ts';
import { createSignInLink } from '../../auth/sign-in-links.ts';
import { setPassword } from '../../auth/sign-in.ts';
import { deleteOldSignInFailures, openSignInThrottle, recordAttempt } from '../../auth/sign-in-throttle.ts';
import { Fault } from '../../base/errors.ts';
import { until } from '../../testing/until.ts';
import { testConfig } from '../../testing/world.ts';
import { counted } from './digests.fixture.ts';
import {
  actionsOf,
  createPerson,
  faultsOf,
  good,
  minute,
  other,
  request,
  signIn,
  signInNewPerson,
  silent,
  time,
  world,
  useService,
} from './session.fixture.ts';

useService();

vi.mock('../../base/crypto/secrets.ts', async (original) =>
  (await import('./digests.fixture.ts')).withCountedDigests(await original<object>()),
);

describe('the first start', () => {
  const bodyWith = (secret: string) => ({
    secret,
    account: { name: 'Nordwind', language: 'sv', timezone: 'Europe/Stockholm', threshold: 5 },
    administrator: { firstName: 'Ada', lastName: 'Berg', email: 'first@nordwind.example', password: good },
  });

  test('the newest link creates the account and its administrator, works once, and signs the administrator in', async () => {
    expect((await request('GET /sign-in')).body).toEqual({
      company: null,
      isEmpty: true,
      canMail: true,
      providers: [],
    });
    // The languages to choose from, and which of them no native speaker has read.
    expect((await request('GET /languages')).body).toEqual(
      expect.arrayContaining([
        { language: 'sv', texts: 'sv', isDraft: false },
        { language: 'no', texts: 'nb', isDraft: true },
      ]),
    );
    const links = [];
    for (let i = 0; i < 2; i++) links.push(await createFirstStartLink(world.pool, 'http://soundings.test'));
    const [older, newer] = links.map((link) => link!.split('#')[1] as string);
    expect(links[1]).toMatch(/^http:\/\/soundings\.test\/setup#[\w-]{32}$/);
    expect(describeFirstStartLink(links[1] as string)).toContain(links[1]);
    expect(faultsOf(await request('POST /setup/link', { body: { secret: older } }))).toEqual([
      404,
      'link not found',
    ]);
    expect((await request('POST /setup/link', { body: { secret: newer } })).status).toBe(204);

    const body = bodyWith(newer as string);
    const blank = { ...body.administrator, firstName: ' ', email: 'nobody' };
    expect(faultsOf(await request('POST /setup', { body: { ...body, administrator: blank } }))).toEqual([
      400,
      'missing field /administrator/firstName',
      'invalid email /administrator/email',
    ]);
    for (const [field, value, type] of [
      ['timezone', 'Mars/Olympus', 'invalid timezone'],
      ['threshold', 2, 'invalid threshold'],
    ] as const) {
      const response = await request('POST /setup', {
        body: { ...body, account: { ...body.account, [field]: value } },
      });
      expect(faultsOf(response)).toEqual([400, `${type} /account/${field}`]);
    }
    const weak = { ...body.administrator, password: 'ada.berg.2026' };
    expect(faultsOf(await request('POST /setup', { body: { ...body, administrator: weak } }))).toEqual([
      400,
      'password of names /administrator/password',
    ]);

    const responses = await Promise.all([request('POST /setup', { body }), request('POST /setup', { body })]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const created = responses.find(({ status }) => status === 200)!;
    expect(created.body.session).toMatchObject({
      user: { name: 'Ada Berg', role: 'Administrator' },
      account: { name: 'Nordwind', threshold: 5 },
      language: 'sv',
    });
    expect((await request('GET /session', { cookie: created.cookie })).status).toBe(200);
    const accountId = created.body.session.account.id as number;
    const [row] = await world.pool`
      select count(*)::integer as questions from questions where account_id = ${accountId}`;
    expect(row!['questions']).toBeGreaterThan(20);
    expect(await actionsOf(accountId)).toEqual(['account created', 'person created', 'signed in']);
    expect((await request('GET /sign-in')).body).toMatchObject({ company: 'Nordwind', isEmpty: false });
    expect((await signIn('first@nordwind.example')).status).toBe(200);
  });

  test('creates no link once there is an account', async () => {
    await world.account();
    expect(await createFirstStartLink(world.pool, 'http://soundings.test')).toBeUndefined();
  });
});

describe('signing in', () => {
  test('sets a cookie that scripts cannot read, and returns the user', async () => {
    const { email, accountId } = await createPerson({ role: 'Manager' });
    const response = await signIn(email.toUpperCase());
    expect([response.status, response.body.state]).toEqual([200, 'signed in']);
    expect(response.body.session.user).toMatchObject({ name: 'Kim Lind', email, role: 'Manager' });
    expect(response.set).toMatch(/^soundings=[\w-]{32}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.has('strict-transport-security')).toBe(false);
    const { body } = await request('GET /session', { cookie: response.cookie });
    expect(body).toEqual(response.body.session);
    expect((await actionsOf(accountId)).at(-1)).toBe('signed in');
  });

  test('under HTTPS the cookie is limited to HTTPS and this host, and every response requires HTTPS', async () => {
    const { email } = await createPerson();
    const app = await startApp(
      { ...testConfig, answerKeys: world.keyPlace, publicUrl: 'https://soundings.test' },
      Promise.resolve(world.databaseUrl),
      silent,
      () => time.now,
    );
    onTestFinished(() => app.stop(5));
    await app.started;
    const { set } = await request('POST /session', { body: { email, password: good } }, app.address);
    expect(set).toMatch(/^__Host-soundings=[\w-]{32}; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/);
    for (const path of ['/api/session', '/sign-in', '/nothing', '/%zz']) {
      const { headers } = await fetch(app.address + path);
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
    }
  });

  test('ends the previous session of the browser', async () => {
    const { email, cookie } = await signInNewPerson();
    const fresh = await signIn(email, good, {}, { cookie });
    expect(fresh.cookie).not.toBe(cookie);
    expect((await request('GET /session', { cookie })).status).toBe(401);
    expect((await request('GET /session', { cookie: fresh.cookie })).status).toBe(200);
    const out = await request('DELETE /session', { cookie: fresh.cookie });
    expect([out.status, out.set]).toEqual([200, expect.stringContaining('Max-Age=0')]);
    expect((await request('GET /session', { cookie: fresh.cookie })).status).toBe(401);
  });

  test('does not reveal whether an address is known, neither in the response nor by the number of digests', async () => {
    const shared = 'shared@example.org';
    await createPerson({ email: shared });
    await createPerson({ email: shared, password: other });
    const single = await createPerson();
    const withoutPassword = await createPerson({ password: null });
    const inactive = await createPerson();
    await world.pool`
      update users set active = false
      where account_id = ${inactive.accountId} and user_id = ${inactive.userId}`;
    const refusals = [];
    for (const email of [shared, single.email, withoutPassword.email, inactive.email, 'nobody@example.org']) {
      counted.digests = 0;
      const { status, body, headers } = await signIn(email, 'not the password');
      const names = [...headers.keys()].filter((name) => name !== 'content-length');
      refusals.push({
        status,
        details: body.details,
        message: body.message,
        names,
        digests: counted.digests,
      });
    }
    expect(refusals[0]).toMatchObject({ status: 401, digests: 2 });
    for (const one of refusals) expect(one).toEqual(refusals[0]);
    await until(async () => (await actionsOf(single.accountId)).includes('sign-in refused'));
  });

  test('asks for the account if the address and password match several accounts', async () => {
    const email = 'several@example.org';
    const [one, two] = [await createPerson({ email }), await createPerson({ email })];
    await createPerson({ email, password: other });
    const response = await signIn(email);
    expect([response.status, response.body.state, response.set]).toEqual([200, 'choose account', null]);
    expect(response.body.accounts.map(({ id }: { id: number }) => id).toSorted()).toEqual(
      [one.accountId, two.accountId].toSorted(),
    );
    const chosen = await signIn(email, good, { accountId: two.accountId });
    expect(chosen.body.session.account.id).toBe(two.accountId);
    expect((await signIn(email, other)).body.state).toBe('signed in');
    expect((await signIn(email, other, { accountId: two.accountId })).status).toBe(401);
  });

  test.each(['a new password', 'inactive', 'removed'])(
    'refuses a person who changes while the password is being checked: %s',
    async (what) => {
      const { email, accountId, userId } = await createPerson();
      const { pool } = world;
      counted.meanwhile = async () => {
        if (what === 'removed') await pool`delete from users where account_id = ${accountId}`;
        else if (what === 'inactive')
          await pool`update users set active = false where account_id = ${accountId}`;
        else await setPassword(pool, accountId, userId, other);
      };
      expect(faultsOf(await signIn(email))).toEqual([401, 'wrong sign-in']);
      expect(await pool`select 1 from sessions where account_id = ${accountId}`).toHaveLength(0);
    },
  );

  test('does not count attempts that the service was too busy to check', async () => {
    const { email } = await createPerson();
    counted.meanwhile = async () => {
      throw new Fault('unavailable', 'unavailable', 'Later.', { retryAfter: 2 });
    };
    for (let i = 0; i < 7; i++) expect((await signIn(email)).status).toBe(503);
    counted.meanwhile = async () => {};
    expect((await signIn(email)).status).toBe(200);
  });

  test('slows down after failures, for known and unknown addresses, and says how long to wait', async () => {
    const { email } = await createPerson();
    for (const address of [email, 'unknown@example.org']) {
      for (let i = 0; i < 5; i++) expect((await signIn(address, `wrong ${i}`)).status).toBe(401);
      const refused = await signIn(address);
      expect([refused.headers.get('retry-after'), ...faultsOf(refused)]).toEqual([
        '1',
        429,
        'too many attempts',
      ]);
    }
    counted.digests = 0;
    await signIn(email);
    expect(counted.digests).toBe(0);
    time.now += 1000;
    expect((await signIn(email, 'wrong again')).status).toBe(401);
    expect((await signIn(email)).headers.get('retry-after')).toBe('2');
    time.now += 2000;
    expect((await signIn(email)).status).toBe(200);
    expect((await signIn(email, 'wrong')).status).toBe(401);
    expect((await signIn(email)).status).toBe(200);
  });

  test('deactivating or deleting a person ends their access immediately, and a lower role applies immediately', async () => {
    const { accountId, userId, cookie } = await signInNewPerson({ role: 'Administrator' });
    const { pool } = world;
    const readSession = async () => (await request('GET /session', { cookie })).body;
    expect((await readSession()).user.role).toBe('Administrator');
    await pool`update users set role = 'User' where account_id = ${accountId} and user_id = ${userId}`;
    expect((await readSession()).user.role).toBe('User');
    await pool`update users set active = false where account_id = ${accountId} and user_id = ${userId}`;
    expect((await request('GET /session', { cookie })).status).toBe(401);
    await pool`update users set active = true where account_id = ${accountId} and user_id = ${userId}`;
    expect((await request('GET /session', { cookie })).status).toBe(200);
    await pool`delete from users where account_id = ${accountId} and user_id = ${userId}`;
    expect((await request('GET /session', { cookie })).status).toBe(401);
  });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://elsewhere.example' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{}, 200],
  ])(
    'refuses changes from pages of other websites: headers %j, status %i',
    async (headers: Record<string, string>, status) => {
      const { cookie } = await signInNewPerson();
      expect((await request('DELETE /session', { cookie, headers })).status).toBe(status);
      expect((await request('GET /session', { cookie })).status).toBe(status === 403 ? 200 : 401);
    },
  );

  test.each([
    ['invalid JSON', '{', 'invalid json'],
    ['an empty body', '', 'invalid json'],
    ['an array', '[]', 'wrong type'],
    ['numbers', '{"email":1,"password":2}', 'wrong type /email,wrong type /password'],
    ['an unknown field', '{"email":"a","password":"b","role":"Administrator"}', 'unknown field /role'],
    ['a missing field', '{"email":"a"}', 'missing field /password'],
    ['a key twice', '{"email":"a","email":"b","password":"c"}', 'duplicate key /email'],
    ['U+0000', '{"email":"a\\u0000","password":"b"}', 'invalid text /email'],
    ['a long address', JSON.stringify({ email: 'a'.repeat(255), password: 'b' }), 'too long /email'],
    ['a long password', JSON.stringify({ email: 'a', password: 'b'.repeat(501) }), 'too long /password'],
    [
      'an account id that is not an integer',
      '{"email":"a","password":"b","accountId":1.5}',
      'wrong type /accountId',
    ],
    ['a prototype', '{"email":"a","password":"b","__proto__":{}}', 'unknown field /__proto__'],
  ])('refuses an invalid body with 400 and names the field: %s', async (_, body, faults) => {
    counted.digests = 0;
    const response = await request('POST /session', { body });
    expect(faultsOf(response)).toEqual([400, ...faults.split(',')]);
    expect(counted.digests).toBe(0);
  });

  test('a cookie that is not ours belongs to no session', async () => {
    for (const cookie of ['', 'x', "'; drop table sessions", 'a'.repeat(32), 'a'.repeat(5000)]) {
      expect((await request('GET /session', { cookie })).status).toBe(401);
    }
  });
});

describe('the sign-in throttle', () => {
  let addresses = 0;
  /** Opens the throttle as a new process does. */
  const open = (clock: () => number = () => time.now) =>
    openSignInThrottle(Promise.resolve(world.pool), clock);
  const uniqueEmail = () => `throttled${++addresses}@b`;
  /** Returns the number of seconds after which an attempt may be repeated; 0: the attempt was allowed. */
  const waitOf = async (attempt: Promise<unknown>) => {
    try {
      await attempt;
      return 0;
    } catch (error) {
      return (error as Fault).retryAfter as number;
    }
  };
  async function failFrom(email: string, networkAddresses: string[]): Promise<void> {
    const throttle = open();
    for (const address of networkAddresses) await (await throttle.try(email, address)).failed();
  }

  test('counts attempts before they are decided, so even simultaneous attempts in several processes do not get around it', async () => {
    const email = uniqueEmail();
    const waits = Array.from({ length: 20 }, () => waitOf(open().try(email, '192.0.2.1')));
    expect((await Promise.all(waits)).filter((wait) => wait === 0)).toHaveLength(5);
  });

  test('waits double up to a minute, and failures are forgotten half an hour after the last one', async () => {
    let clock = time.now;
    const email = uniqueEmail();
    const waits = [];
    for (let i = 0; i < 14; i++) {
      const wait = await waitOf(open(() => clock).try(email, '192.0.2.1'));
      waits.push(wait);
      clock += wait * 1000;
      if (wait > 0) await open(() => clock).try(email, '192.0.2.1');
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
    // A clock that is set back makes no one wait longer.
    expect(await waitOf(open(() => clock - 3_600_000).try(email, '192.0.2.1'))).toBe(60);
    clock += 30 * minute + 1;
    expect(await waitOf(open(() => clock).try(email, '192.0.2.1'))).toBe(0);
  });

  test('no number of failures elsewhere keeps a person out', async () => {
    const email = uniqueEmail();
    await (await open().try(email, '192.0.2.1')).succeeded();
    await failFrom(
      email,
      Array.from({ length: 120 }, (_, i) => `198.51.100.${i}`),
    );
    // The usual number of attempts is allowed from a network where the person has signed in before, but only one at a time from any
    // other network.
    for (const wait of [0, 0, 0, 0, 0, 1]) expect(await waitOf(open().try(email, '192.0.2.1'))).toBe(wait);
    for (const wait of [0, 1]) expect(await waitOf(open().try(email, '203.0.113.9'))).toBe(wait);
    const another = uniqueEmail();
    for (const wait of [0, 0]) expect(await waitOf(open().try(another, '203.0.113.9'))).toBe(wait);
  });

  test('a flood of other addresses does not make the throttle forget failures', async () => {
    const email = uniqueEmail();
    await failFrom(email, Array<string>(5).fill('192.0.2.77'));
    await world.pool`
      insert into sign_in_failures (kind, key, count, last_at)
      select 'pair', sha256(i::text::bytea), 1, ${new Date(time.now)} from generate_series(1, 30000) i`;
    await deleteOldSignInFailures(world.pool, time.now);
    expect(await waitOf(open().try(email, '192.0.2.77'))).toBe(1);
    await deleteOldSignInFailures(world.pool, time.now + 25 * 60 * minute);
    const [left] = await world.pool<{ count: number }[]>`
      select count(*)::integer as "count" from sign_in_failures where kind <> 'known'`;
    expect(left).toEqual({ count: 0 });
  });

  test('slows down many addresses from one network (IPv6: a /64), but not people who have signed in from there', async () => {
    const throttle = open();
    const known = uniqueEmail();
    await (await throttle.try(known, '2001:db8::1')).succeeded();
    for (let i = 0; i < 60; i++) await (await throttle.try(`${i}@in.time`, '2001:db8::1')).undecided();
    // Attempts that are still undecided are not failures yet.
    const attempts = Array.from({ length: 50 }, (_, i) =>
      throttle.try(`${i}@b`, `2001:db8::${i.toString(16)}`),
    );
    for (const one of await Promise.all(attempts)) await one.failed();
    expect(await waitOf(throttle.try('new@b', '2001:DB8:0:0:ffff::1'))).toBe(1);
    expect(await waitOf(throttle.try(known, '2001:DB8:0:0:ffff::1'))).toBe(0);
    expect(await waitOf(throttle.try('new@b', '2001:db8:0:1::1'))).toBe(0);
    expect(await waitOf(throttle.try('else@b', '::ffff:192.0.2.1'))).toBe(0);
  });

  test('counts wrong codes, but not invalid ones', async () => {
    const throttle = open();
    const fail = async (type: 'wrong code' | 'invalid value') =>
      recordAttempt(await throttle.tryCode('1/1'), async () => {
        throw new Fault('invalid', type, type);
      }).catch((error: Fault) => error.code);
    for (let i = 0; i < 9; i++) expect(await fail('invalid value')).toBe('invalid value');
    for (let i = 0; i < 5; i++) expect(await fail('wrong code')).toBe('wrong code');
    expect(await waitOf(throttle.tryCode('1/1'))).toBe(1);
  });

  test('stores nothing that identifies a person', async () => {
    const email = uniqueEmail();
    await failFrom(email, ['192.0.2.1']);
    const rows = await world.pool`select kind, encode(key, 'escape') as key from sign_in_failures`;
    expect(JSON.stringify(rows)).not.toContain('throttled');
    expect(JSON.stringify(rows)).not.toContain('192.0.2.1');
  });
});

test('a job deletes expired sessions and links, and nothing else', async () => {
  const { pool } = world;
  const kept = await signInNewPerson();
  const unused = await signInNewPerson();
  const old = await signInNewPerson();
  await pool`update sessions set seen_at = now() - interval '8 days' where account_id = ${unused.accountId}`;
  await pool`update sessions set created_at = now() - interval '31 days' where account_id = ${old.accountId}`;
  for (const one of [unused, old]) expect(await sessionOf(pool, one.cookie)).toBeUndefined();
  await createSignInLink(pool, kept.accountId, kept.userId, { hours: 1 });
  await createSignInLink(pool, old.accountId, old.userId, { hours: -1 });
  await deleteExpiredSessions(pool);
  const rows = await pool<{ accountId: number }[]>`
    select account_id as "accountId" from sessions
    where account_id in ${pool([kept.accountId, unused.accountId, old.accountId])}
    union all
    select account_id from sign_in_links where account_id in ${pool([kept.accountId, old.accountId])}`;
  expect(rows.map(({ accountId }) => accountId)).toEqual([kept.accountId, kept.accountId]);
});
