// Signing in, sessions, links to set a password, the first start and the profile: what each answers, also to whoever means harm.
import { TOTP } from 'otpauth';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { describeFirstStartLink, createFirstStartLink } from '../../auth/first-start.ts';
import { rejectWeakPassword } from '../../auth/passwords.ts';
import { beginSession, browserOf, deleteExpiredSessions, sessionOf } from '../../auth/sessions.ts';
import { createSignInLink } from '../../auth/sign-in-links.ts';
import {
  deleteOldSignInFailures,
  openSignInThrottle,
  resetPassword,
  setPassword,
  recordAttempt,
} from '../../auth/sign-in.ts';
import { startApp } from '../../app.ts';
import { Fault } from '../../base/errors.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, testConfig, type World } from '../../testing/world.ts';

// Digests are counted, and cost nothing here: base/secrets.test.ts is about the real ones.
const counted = vi.hoisted(() => ({ digests: 0, meanwhile: async () => {} }));
vi.mock('../../base/secrets.ts', async (original) => {
  const real = await original<object>();
  return {
    ...real,
    hashPassword: async (password: string) => `digest of ${password}`,
    isPassword: async (password: string, hash: string) => {
      counted.digests++;
      await counted.meanwhile();
      return hash === `digest of ${password}`;
    },
  };
});

const good = 'nine quiet harbours';
const other = 'a lantern underwater';
const silent = openLog('silent');
const minute = 60_000;
let now = Date.UTC(2026, 10, 18, 12);
let world: World;
let smtp: TestSmtp;
beforeAll(async () => {
  smtp = await openSmtp({
    refuseRecipient: (address) => (address.startsWith('gone@') ? '550 no such user' : undefined),
  });
  world = await openWorld(silent, { smtpUrl: smtp.url, publicUrl: 'http://soundings.test' }, () => now);
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});
// Failures of one test are not held against the next.
beforeEach(() => {
  now += 25 * 60 * minute;
  counted.meanwhile = async () => {};
});

type Sent = { body?: unknown; cookie?: string | undefined; headers?: Record<string, string> };

async function ask(name: string, { body, cookie, headers = {} }: Sent = {}, address = world.address) {
  const [method, path] = name.split(' ') as [string, string];
  const answer = await fetch(`${address}/api${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie: `soundings=${cookie}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const set = answer.headers.get('set-cookie');
  return {
    status: answer.status,
    headers: answer.headers,
    body: text === '' ? undefined : JSON.parse(text),
    set,
    cookie: /soundings=([^;]*)/.exec(set ?? '')?.[1],
  };
}

const faultsOf = ({ status, body }: Awaited<ReturnType<typeof ask>>) => [
  status,
  ...body.details.map(({ type, path }: { type: string; path?: string }) => (path ? `${type} ${path}` : type)),
];

let people = 0;

/** Somebody new, in an account of their own unless one is given. */
async function somebody({
  accountId,
  password = good,
  email = `person${++people}@example.org`,
  ...fields
}: { accountId?: number; password?: string | null; email?: string; role?: string; language?: string } = {}) {
  const account = accountId ?? (await world.account({ timezone: 'Europe/Stockholm' })).id;
  const userId = await inTransaction(world.pool, async (tx) => {
    const id = await createUser(tx, account, { firstName: 'Kim', lastName: 'Lind', email, ...fields });
    if (password !== null) await setPassword(tx, account, id, password);
    return id;
  });
  return { accountId: account, userId, email };
}

const signIn = (email: string, password = good, more: object = {}, sent: Sent = {}) =>
  ask('POST /session', { body: { email, password, ...more }, ...sent });

async function signedIn(wanted: Parameters<typeof somebody>[0] = {}) {
  const person = await somebody(wanted);
  const cookie = await beginSession(world.pool, person, { address: '192.0.2.1', agent: 'test' });
  return { ...person, cookie };
}

const actionsOf = async (accountId: number) =>
  (
    await world.pool<{ action: string }[]>`
      select action from audit_entries where account_id = ${accountId} order by entry_id`
  ).map(({ action }) => action);

describe('the first start', () => {
  const wanted = (secret: string) => ({
    secret,
    account: { name: 'Nordwind', language: 'sv', timezone: 'Europe/Stockholm', threshold: 5 },
    administrator: { firstName: 'Ada', lastName: 'Berg', email: 'first@nordwind.example', password: good },
  });

  test('the newest link makes the account and its administrator, once, and signs in', async () => {
    expect((await ask('GET /sign-in')).body).toEqual({ company: null, isEmpty: true, canMail: true });
    const links = [];
    for (let i = 0; i < 2; i++) links.push(await createFirstStartLink(world.pool, 'http://soundings.test'));
    const [older, newer] = links.map((link) => link!.split('#')[1] as string);
    expect(links[1]).toMatch(/^http:\/\/soundings\.test\/welcome#[\w-]{32}$/);
    expect(describeFirstStartLink(links[1] as string)).toContain(links[1]);
    expect(faultsOf(await ask('POST /welcome/link', { body: { secret: older } }))).toEqual([
      404,
      'link not found',
    ]);
    expect((await ask('POST /welcome/link', { body: { secret: newer } })).status).toBe(204);

    const body = wanted(newer as string);
    const blank = { ...body.administrator, firstName: ' ', email: 'nobody' };
    expect(faultsOf(await ask('POST /welcome', { body: { ...body, administrator: blank } }))).toEqual([
      400,
      'missing field /administrator/firstName',
      'invalid email /administrator/email',
    ]);
    for (const [field, value, type] of [
      ['timezone', 'Mars/Olympus', 'invalid timezone'],
      ['threshold', 2, 'invalid threshold'],
    ] as const) {
      const answer = await ask('POST /welcome', {
        body: { ...body, account: { ...body.account, [field]: value } },
      });
      expect(faultsOf(answer)).toEqual([400, `${type} /account/${field}`]);
    }
    const weak = { ...body.administrator, password: 'ada.berg.2026' };
    expect(faultsOf(await ask('POST /welcome', { body: { ...body, administrator: weak } }))).toEqual([
      400,
      'password of names /administrator/password',
    ]);

    const both = await Promise.all([ask('POST /welcome', { body }), ask('POST /welcome', { body })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    const made = both.find(({ status }) => status === 200)!;
    expect(made.body.session).toMatchObject({
      user: { name: 'Ada Berg', role: 'Administrator' },
      account: { name: 'Nordwind', threshold: 5 },
      language: 'sv',
    });
    expect((await ask('GET /session', { cookie: made.cookie })).status).toBe(200);
    const accountId = made.body.session.account.id as number;
    const [row] = await world.pool`
      select count(*)::integer as questions from questions where account_id = ${accountId}`;
    expect(row!['questions']).toBeGreaterThan(20);
    expect(await actionsOf(accountId)).toEqual(['account created', 'person created', 'signed in']);
    expect((await ask('GET /sign-in')).body).toMatchObject({ company: 'Nordwind', isEmpty: false });
    expect((await signIn('first@nordwind.example')).status).toBe(200);
  });

  test('there is no link once there is an account', async () => {
    await world.account();
    expect(await createFirstStartLink(world.pool, 'http://soundings.test')).toBeUndefined();
  });
});

describe('signing in', () => {
  test('gives a cookie that no script reads, and says who it is', async () => {
    const { email, accountId } = await somebody({ role: 'Manager' });
    const answer = await signIn(email.toUpperCase());
    expect([answer.status, answer.body.state]).toEqual([200, 'signed in']);
    expect(answer.body.session.user).toMatchObject({ name: 'Kim Lind', email, role: 'Manager' });
    expect(answer.set).toMatch(/^soundings=[\w-]{32}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.has('strict-transport-security')).toBe(false);
    const { body } = await ask('GET /session', { cookie: answer.cookie });
    expect(body).toEqual(answer.body.session);
    expect((await actionsOf(accountId)).at(-1)).toBe('signed in');
  });

  test('under HTTPS the cookie is for HTTPS and this host alone, and every answer says to come by nothing else', async () => {
    const { email } = await somebody();
    const app = await startApp(
      { ...testConfig, answerKeys: world.keyPlace, publicUrl: 'https://soundings.test' },
      Promise.resolve(world.databaseUrl),
      silent,
      () => now,
    );
    onTestFinished(() => app.stop(5));
    await app.started;
    const { set } = await ask('POST /session', { body: { email, password: good } }, app.address);
    expect(set).toMatch(/^__Host-soundings=[\w-]{32}; Path=\/; .*HttpOnly; SameSite=Lax; Secure$/);
    for (const path of ['/api/session', '/sign-in', '/nothing', '/%zz']) {
      const { headers } = await fetch(app.address + path);
      expect([path, headers.get('strict-transport-security')]).toEqual([path, 'max-age=31536000']);
    }
  });

  test('ends the session that the browser had', async () => {
    const { email, cookie } = await signedIn();
    const fresh = await signIn(email, good, {}, { cookie });
    expect(fresh.cookie).not.toBe(cookie);
    expect((await ask('GET /session', { cookie })).status).toBe(401);
    expect((await ask('GET /session', { cookie: fresh.cookie })).status).toBe(200);
    const out = await ask('DELETE /session', { cookie: fresh.cookie });
    expect([out.status, out.set]).toEqual([204, expect.stringContaining('Max-Age=0')]);
    expect((await ask('GET /session', { cookie: fresh.cookie })).status).toBe(401);
  });

  test('whether an address is known can be told neither by words nor by the number of digests', async () => {
    const shared = 'shared@example.org';
    await somebody({ email: shared });
    await somebody({ email: shared, password: other });
    const single = await somebody();
    const silentOne = await somebody({ password: null });
    const inactive = await somebody();
    await world.pool`
      update users set active = false
      where account_id = ${inactive.accountId} and user_id = ${inactive.userId}`;
    const told = [];
    for (const email of [shared, single.email, silentOne.email, inactive.email, 'nobody@example.org']) {
      counted.digests = 0;
      const { status, body, headers } = await signIn(email, 'not the password');
      const names = [...headers.keys()].filter((name) => name !== 'content-length');
      told.push({ status, details: body.details, message: body.message, names, digests: counted.digests });
    }
    expect(told[0]).toMatchObject({ status: 401, digests: 2 });
    for (const one of told) expect(one).toEqual(told[0]);
    await until(async () => (await actionsOf(single.accountId)).includes('sign-in refused'));
  });

  test('asks which account, when address and password fit in several', async () => {
    const email = 'several@example.org';
    const [one, two] = [await somebody({ email }), await somebody({ email })];
    await somebody({ email, password: other });
    const answer = await signIn(email);
    expect([answer.status, answer.body.state, answer.set]).toEqual([200, 'choose account', null]);
    expect(answer.body.accounts.map(({ id }: { id: number }) => id).toSorted()).toEqual(
      [one.accountId, two.accountId].toSorted(),
    );
    const chosen = await signIn(email, good, { accountId: two.accountId });
    expect(chosen.body.session.account.id).toBe(two.accountId);
    expect((await signIn(email, other)).body.state).toBe('signed in');
    expect((await signIn(email, other, { accountId: two.accountId })).status).toBe(401);
  });

  test.each(['a new password', 'inactive', 'removed'])(
    'nobody is signed in whose password was looked at before: %s',
    async (what) => {
      const { email, accountId, userId } = await somebody();
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

  test('what the service had no time for counts as no try', async () => {
    const { email } = await somebody();
    counted.meanwhile = async () => {
      throw new Fault('unavailable', 'unavailable', 'Later.', { retryAfter: 2 });
    };
    for (let i = 0; i < 7; i++) expect((await signIn(email)).status).toBe(503);
    counted.meanwhile = async () => {};
    expect((await signIn(email)).status).toBe(200);
  });

  test('slows down after failures, for known and unknown addresses alike, and says for how long', async () => {
    const { email } = await somebody();
    for (const address of [email, 'unknown@example.org']) {
      for (let i = 0; i < 5; i++) expect((await signIn(address, `wrong ${i}`)).status).toBe(401);
      const slow = await signIn(address);
      expect([slow.headers.get('retry-after'), ...faultsOf(slow)]).toEqual(['1', 429, 'too many attempts']);
    }
    counted.digests = 0;
    await signIn(email);
    expect(counted.digests).toBe(0);
    now += 1000;
    expect((await signIn(email, 'wrong again')).status).toBe(401);
    expect((await signIn(email)).headers.get('retry-after')).toBe('2');
    now += 2000;
    expect((await signIn(email)).status).toBe(200);
    expect((await signIn(email, 'wrong')).status).toBe(401);
    expect((await signIn(email)).status).toBe(200);
  });

  test('a person who is inactive or removed is out at once, and a lower role counts at once', async () => {
    const { accountId, userId, cookie } = await signedIn({ role: 'Administrator' });
    const { pool } = world;
    const asks = async () => (await ask('GET /session', { cookie })).body;
    expect((await asks()).user.role).toBe('Administrator');
    await pool`update users set role = 'User' where account_id = ${accountId} and user_id = ${userId}`;
    expect((await asks()).user.role).toBe('User');
    await pool`update users set active = false where account_id = ${accountId} and user_id = ${userId}`;
    expect((await ask('GET /session', { cookie })).status).toBe(401);
    await pool`update users set active = true where account_id = ${accountId} and user_id = ${userId}`;
    expect((await ask('GET /session', { cookie })).status).toBe(200);
    await pool`delete from users where account_id = ${accountId} and user_id = ${userId}`;
    expect((await ask('GET /session', { cookie })).status).toBe(401);
  });

  test.each([
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ 'sec-fetch-site': 'same-site' }, 403],
    [{ origin: 'https://elsewhere.example' }, 403],
    [{ 'sec-fetch-site': 'same-origin' }, 204],
    [{}, 204],
  ])(
    'a write from a page of another website is refused: %j',
    async (headers: Record<string, string>, status) => {
      const { cookie } = await signedIn();
      expect((await ask('DELETE /session', { cookie, headers })).status).toBe(status);
      expect((await ask('GET /session', { cookie })).status).toBe(status === 403 ? 200 : 401);
    },
  );

  test.each([
    ['no JSON', '{', 'invalid json'],
    ['nothing', '', 'invalid json'],
    ['an array', '[]', 'wrong type'],
    ['numbers', '{"email":1,"password":2}', 'wrong type /email,wrong type /password'],
    ['a field too many', '{"email":"a","password":"b","role":"Administrator"}', 'unknown field /role'],
    ['half of it', '{"email":"a"}', 'missing field /password'],
    ['a key twice', '{"email":"a","email":"b","password":"c"}', 'duplicate key /email'],
    ['U+0000', '{"email":"a\\u0000","password":"b"}', 'invalid text /email'],
    ['a long address', JSON.stringify({ email: 'a'.repeat(255), password: 'b' }), 'too long /email'],
    ['a long password', JSON.stringify({ email: 'a', password: 'b'.repeat(501) }), 'too long /password'],
    ['an account that is none', '{"email":"a","password":"b","accountId":1.5}', 'wrong type /accountId'],
    ['a prototype', '{"email":"a","password":"b","__proto__":{}}', 'unknown field /__proto__'],
  ])('a hostile body gets 400, and names the field: %s', async (_, body, faults) => {
    counted.digests = 0;
    const answer = await ask('POST /session', { body });
    expect(faultsOf(answer)).toEqual([400, ...faults.split(',')]);
    expect(counted.digests).toBe(0);
  });

  test('a cookie that is none of ours is nobody', async () => {
    for (const cookie of ['', 'x', "'; drop table sessions", 'a'.repeat(32), 'a'.repeat(5000)]) {
      expect((await ask('GET /session', { cookie })).status).toBe(401);
    }
  });
});

describe('the throttle', () => {
  /** One of a new process. `email`: unique. */
  const open = (clock: () => number = () => now) => openSignInThrottle(Promise.resolve(world.pool), clock);
  const uniqueEmail = () => `throttled${++people}@b`;
  /** After how many seconds a try may be repeated; 0: it was let through. */
  const waitOf = async (work: Promise<unknown>) => {
    try {
      await work;
      return 0;
    } catch (error) {
      return (error as Fault).retryAfter as number;
    }
  };
  async function failTimes(email: string, addresses: string[]): Promise<void> {
    const throttle = open();
    // oxlint-disable-next-line no-await-in-loop -- one after another
    for (const address of addresses) await (await throttle.try(email, address)).failed();
  }

  test('counts tries before they are decided: many at once are no way around, not even by several processes', async () => {
    const email = uniqueEmail();
    const waits = Array.from({ length: 20 }, () => waitOf(open().try(email, '192.0.2.1')));
    expect((await Promise.all(waits)).filter((wait) => wait === 0)).toHaveLength(5);
  });

  test('waits double up to a minute, and are forgotten half an hour after the last failure', async () => {
    let clock = now;
    const email = uniqueEmail();
    const waits = [];
    for (let i = 0; i < 14; i++) {
      const wait = await waitOf(open(() => clock).try(email, '192.0.2.1'));
      waits.push(wait);
      clock += wait * 1000;
      if (wait > 0) await open(() => clock).try(email, '192.0.2.1');
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
    // A clock that is set back stops no one for longer.
    expect(await waitOf(open(() => clock - 3_600_000).try(email, '192.0.2.1'))).toBe(60);
    clock += 30 * minute + 1;
    expect(await waitOf(open(() => clock).try(email, '192.0.2.1'))).toBe(0);
  });

  test('failures elsewhere, however many, do not keep a person out', async () => {
    const email = uniqueEmail();
    await (await open().try(email, '192.0.2.1')).succeeded();
    await failTimes(
      email,
      Array.from({ length: 120 }, (_, i) => `198.51.100.${i}`),
    );
    // From where the person has signed in before, as ever; from anywhere new, one try at a time.
    for (const wait of [0, 0, 0, 0, 0, 1]) expect(await waitOf(open().try(email, '192.0.2.1'))).toBe(wait);
    for (const wait of [0, 1]) expect(await waitOf(open().try(email, '203.0.113.9'))).toBe(wait);
    const unharmed = uniqueEmail();
    for (const wait of [0, 0]) expect(await waitOf(open().try(unharmed, '203.0.113.9'))).toBe(wait);
  });

  test('a flood of other addresses makes no failure forgotten', async () => {
    const email = uniqueEmail();
    await failTimes(email, Array<string>(5).fill('192.0.2.77'));
    await world.pool`
      insert into sign_in_failures (kind, key, count, last_at)
      select 'pair', sha256(i::text::bytea), 1, ${new Date(now)} from generate_series(1, 30000) i`;
    await deleteOldSignInFailures(world.pool, now);
    expect(await waitOf(open().try(email, '192.0.2.77'))).toBe(1);
    await deleteOldSignInFailures(world.pool, now + 25 * 60 * minute);
    const [left] = await world.pool<{ count: number }[]>`
      select count(*)::integer as "count" from sign_in_failures where kind <> 'known'`;
    expect(left).toEqual({ count: 0 });
  });

  test('many addresses from one network are slowed down too: of IPv6 a /64; but not who has signed in from there', async () => {
    const throttle = open();
    const known = uniqueEmail();
    await (await throttle.try(known, '2001:db8::1')).succeeded();
    for (let i = 0; i < 60; i++) await (await throttle.try(`${i}@in.time`, '2001:db8::1')).undecided();
    // Those that are under way are none yet.
    const tries = Array.from({ length: 50 }, (_, i) => throttle.try(`${i}@b`, `2001:db8::${i.toString(16)}`));
    for (const one of await Promise.all(tries)) await one.failed();
    expect(await waitOf(throttle.try('new@b', '2001:DB8:0:0:ffff::1'))).toBe(1);
    expect(await waitOf(throttle.try(known, '2001:DB8:0:0:ffff::1'))).toBe(0);
    expect(await waitOf(throttle.try('new@b', '2001:db8:0:1::1'))).toBe(0);
    expect(await waitOf(throttle.try('else@b', '::ffff:192.0.2.1'))).toBe(0);
  });

  test('of codes only wrong ones count', async () => {
    const throttle = open();
    const fail = async (type: 'wrong code' | 'invalid value') =>
      recordAttempt(await throttle.tryCode('1/1'), async () => {
        throw new Fault('invalid', type, type);
      }).catch((error: Fault) => error.code);
    for (let i = 0; i < 9; i++) expect(await fail('invalid value')).toBe('invalid value');
    for (let i = 0; i < 5; i++) expect(await fail('wrong code')).toBe('wrong code');
    expect(await waitOf(throttle.tryCode('1/1'))).toBe(1);
  });

  test('what is kept names no one', async () => {
    const email = uniqueEmail();
    await failTimes(email, ['192.0.2.1']);
    const rows = await world.pool`select kind, encode(key, 'escape') as key from sign_in_failures`;
    expect(JSON.stringify(rows)).not.toContain('throttled');
    expect(JSON.stringify(rows)).not.toContain('192.0.2.1');
  });
});

describe('passwords', () => {
  const kim = { firstName: 'Kim', lastName: 'Lindström-Berg', email: 'kim.lind@nordwind.example' };

  test.each([
    ['short', 'short password'],
    ['eleven char', 'short password'],
    ['😀😀😀😀😀😀', 'short password'],
    ['password1234', 'common password'],
    ['PASSWORD!!!!', 'common password'],
    ['1qaz2wsx3edc', 'common password'],
    ['sunshinesunshine', 'common password'],
    ['123456789012', 'common password'],
    ['abcdefghijkl', 'common password'],
    ['aaaaaaaaaaaaaa', 'common password'],
    ['abababababab', 'common password'],
    ['kimlindström-berg', 'password of names'],
    ['Lindstrom.Kim.2026', 'password of names'],
    ['nordwind nordwind', 'password of names'],
    ['kim.lind@nordwind.example', 'password of names'],
  ])('%s is refused: %s', async (password, type) => {
    const refused = await rejectWeakPassword(password, kim, 'newPassword').catch((error: Fault) => error);
    expect(refused).toBeInstanceOf(Fault);
    expect((refused as Fault).details).toMatchObject([{ type, path: '/newPassword' }]);
  });

  test.each([
    good,
    other,
    'kim likes green boats',
    'xK8#mQ2$vL9p',
    'Ett långt lösenord på svenska',
    'q7 zt 4m wp 9k',
  ])('%s is taken', async (password) => {
    await expect(rejectWeakPassword(password, kim)).resolves.toBeUndefined();
  });

  test('changing one asks for the present one, and ends every other session', async () => {
    const { email, cookie, ...person } = await signedIn();
    const elsewhere = await beginSession(world.pool, person, { address: '192.0.2.2', agent: 'x' });
    const change = (password: string, newPassword: string) =>
      ask('PUT /profile/password', { cookie, body: { password, newPassword } });
    expect(faultsOf(await change('wrong', other))).toEqual([400, 'wrong password /password']);
    expect(faultsOf(await change(good, 'password1234'))).toEqual([400, 'common password /newPassword']);
    expect((await change(good, other)).status).toBe(204);
    expect((await ask('GET /session', { cookie })).status).toBe(200);
    expect((await ask('GET /session', { cookie: elsewhere })).status).toBe(401);
    expect((await signIn(email)).status).toBe(401);
    expect((await signIn(email, other)).status).toBe(200);
    expect(await actionsOf(person.accountId)).toContain('password changed');
  });

  test('the operator sets one for whoever cannot sign in, and turns the second step off', async () => {
    const { email, cookie, accountId, userId } = await signedIn();
    const wanted = { email: email.toUpperCase(), password: other };
    await inTransaction(world.pool, (tx) => resetPassword(tx, accountId, wanted, true));
    expect((await ask('GET /session', { cookie })).status).toBe(401);
    expect((await signIn(email, other)).body.session.user.id).toBe(userId);
    await expect(
      inTransaction(world.pool, (tx) => resetPassword(tx, accountId, { ...wanted, email: 'x@y' }, false)),
    ).rejects.toThrow('No active person');
  });
});

describe('links to set a password', () => {
  const forgotten = (email: string) => ask('POST /password/forgotten', { body: { email } });
  const linkIn = (text: string) => /http:\/\/soundings\.test\/password#([\w-]{32})/.exec(text)![1] as string;
  const set = (secret: string, password = other) => ask('POST /password', { body: { secret, password } });
  const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));

  test('who has forgotten gets a mail; the link sets a password once, signs in, and ends all sessions', async () => {
    const { email, cookie, accountId } = await signedIn();
    const [known, unknown] = [await forgotten(email), await forgotten('nobody@example.org')];
    expect([known.status, unknown.status, known.body, unknown.body]).toEqual([
      204,
      204,
      undefined,
      undefined,
    ]);
    const [mail] = await until(async () => mailsTo(email).length === 1 && mailsTo(email));
    expect(mail!.headers['subject']).toBe('Set your password for Soundings at Test');
    expect(mail!.text).toContain('It expires in one hour.');
    const secret = linkIn(mail!.text);
    expect(linkIn(mail!.html)).toBe(secret);
    expect((await ask('POST /password/link', { body: { secret } })).body).toEqual({
      email,
      name: 'Kim Lind',
      company: 'Test',
      hasPassword: true,
    });
    expect(faultsOf(await set(secret, 'kim kim kim kim'))).toEqual([400, 'password of names /password']);
    const done = await set(secret);
    expect([done.status, done.body.session.user.email]).toEqual([200, email]);
    expect((await ask('GET /session', { cookie: done.cookie })).status).toBe(200);
    expect((await ask('GET /session', { cookie })).status).toBe(401);
    expect(faultsOf(await set(secret))).toEqual([404, 'link not found']);
    expect((await signIn(email, other)).status).toBe(200);
    expect(await actionsOf(accountId)).toContain('password changed');
    expect(mailsTo('nobody@example.org')).toEqual([]);
  });

  test('in Swedish for who reads it; at most three an hour', async () => {
    const { email } = await somebody({ language: 'sv', password: null });
    for (let i = 1; i <= 3; i++) {
      await forgotten(email);
      await until(async () => mailsTo(email).length === i);
    }
    expect(mailsTo(email)[0]!.headers['subject']).toBe('Välj ditt lösenord till Soundings hos Test');
    expect((await forgotten(email)).status).toBe(204);
    const later = (await somebody()).email;
    await forgotten(later);
    await until(async () => mailsTo(later).length === 1);
    expect(mailsTo(email)).toHaveLength(3);
  });

  test('one that an administrator makes lets somebody in who has no password', async () => {
    const person = await somebody({ password: null });
    const make = () => createSignInLink(world.pool, person.accountId, person.userId, { hours: 72 });
    const [secret, second, third] = [await make(), await make(), await make()];
    expect((await ask('POST /password/link', { body: { secret } })).body.hasPassword).toBe(false);
    const [row] = await world.pool`
      select extract(epoch from expires_at - created_at)::integer as seconds, hash from sign_in_links
      where account_id = ${person.accountId} limit 1`;
    expect(row!['seconds']).toBe(72 * 3600);
    expect((row!['hash'] as Buffer).toString('base64url')).not.toBe(secret);
    const both = await Promise.all([set(secret), set(secret)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    // One that is used makes all others of the person void.
    expect((await set(second)).status).toBe(404);
    expect((await set(third)).status).toBe(404);
  });

  test('whose mail is refused is shown to the administrators, if one of them has sent it', async () => {
    const { cookie, accountId } = await signedIn({ role: 'Administrator' });
    const { userId } = await somebody({ accountId, email: 'gone@example.org', password: null });
    const body = { by: 'mail' };
    expect((await ask(`POST /users/${userId}/sign-in-link`, { cookie, body })).status).toBe(200);
    const person = async () => (await ask(`GET /users/${userId}`, { cookie })).body;
    const { mailRejected } = await until(async () => {
      const told = await person();
      return told.mailRejected !== null && told;
    });
    expect(mailRejected.reason).toContain('no such user');
    expect(await world.pool`select 1 from sign_in_links where account_id = ${accountId}`).toHaveLength(0);
  });

  test('is dead when it has expired, and when its person is not active or has another address', async () => {
    const person = await somebody({ password: null });
    const secret = await createSignInLink(world.pool, person.accountId, person.userId, { hours: 1 });
    const { pool } = world;
    await pool`update users set active = false where account_id = ${person.accountId} and user_id = ${person.userId}`;
    expect((await set(secret)).status).toBe(404);
    await pool`update users set active = true where account_id = ${person.accountId} and user_id = ${person.userId}`;
    await pool`update users set email_key = 'right@example.org' where user_id = ${person.userId}`;
    expect((await set(secret)).status).toBe(404);
    await pool`update users set email_key = ${person.email} where user_id = ${person.userId}`;
    expect((await ask('POST /password/link', { body: { secret } })).status).toBe(200);
    await pool`update sign_in_links set expires_at = now() where account_id = ${person.accountId}`;
    expect((await set(secret)).status).toBe(404);
    expect((await set('')).status).toBe(400);
    expect((await set("' or true --")).status).toBe(404);
  });
});

test('every change of how one signs in is mailed to the person', async () => {
  const { email, cookie } = await signedIn();
  const send = async (name: string, body: object) => {
    const answer = await ask(name, { cookie, body });
    expect(answer.status).toBeLessThan(300);
    return answer.body;
  };
  const { secret } = await send('POST /profile/two-factor', { password: good });
  const code = new TOTP({ secret }).generate({ timestamp: now });
  await send('POST /profile/two-factor/on', { code });
  await send('POST /profile/recovery-codes', { password: good });
  await send('POST /profile/two-factor/off', { password: good });
  await send('PUT /profile/password', { password: good, newPassword: other });
  const said = async () =>
    smtp.mails.filter(({ to }) => to.includes(email)).map(({ text }) => /changed|.*\.$/m.exec(text)?.[0]);
  expect(await until(async () => (await said()).length === 4 && said())).toEqual([
    'Two-factor authentication was turned on for your account.',
    'New recovery codes were created for your account. The previous codes no longer work.',
    expect.stringMatching(/^Two-factor authentication was turned off for your account\./),
    'Your password was set. You are signed out everywhere else.',
  ]);
});

test('a session that ends meanwhile sets no password any more', async () => {
  const { email, cookie, accountId } = await signedIn();
  counted.meanwhile = async () =>
    void (await world.pool`delete from sessions where account_id = ${accountId}`);
  const body = { password: good, newPassword: other };
  expect(faultsOf(await ask('PUT /profile/password', { cookie, body }))).toEqual([401, 'not signed in']);
  counted.meanwhile = async () => {};
  expect((await signIn(email, good)).status).toBe(200);
});

describe('the second step', () => {
  async function withTwoFactor() {
    const person = await signedIn();
    const { cookie } = person;
    const setup = await ask('POST /profile/two-factor', { cookie, body: { password: good } });
    const totp = new TOTP({ secret: setup.body.secret });
    const code = (at = now) => totp.generate({ timestamp: at });
    const on = await ask('POST /profile/two-factor/on', { cookie, body: { code: code() } });
    return { ...person, setup, on, code, codes: (on.body.recoveryCodes ?? []) as string[] };
  }

  test('is set up by a QR code and a first code, and then asked for', async () => {
    const { email, cookie, setup, on, code, codes, accountId } = await withTwoFactor();
    expect(setup.body.address).toMatch(
      /^otpauth:\/\/totp\/Soundings:person\d+%40example\.org\?issuer=Soundings&secret=/,
    );
    expect(setup.body.matrix.length).toBe(setup.body.matrix[0].length);
    expect(setup.body.matrix[0]).toMatch(/^1111111[01]+1111111$/);
    expect([on.status, new Set(codes).size]).toEqual([200, 10]);
    expect(codes[0]).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
    expect((await ask('GET /profile', { cookie })).body.twoFactor).toMatchObject({ recoveryCodes: 10 });

    const asked = await signIn(email);
    expect([asked.body, asked.set]).toEqual([{ state: 'code needed', accountId }, null]);
    expect((await signIn(email, 'wrong password', { code: code() })).status).toBe(401);
    expect(faultsOf(await signIn(email, good, { code: '000000' }))).toEqual([401, 'wrong code /code']);
    // The code that confirmed it is used up.
    expect((await signIn(email, good, { code: code() })).status).toBe(401);
    now += 30_000;
    const spaced = `${code().slice(0, 3)} ${code().slice(3)}`;
    expect((await signIn(email, good, { code: spaced })).body.state).toBe('signed in');
    expect((await signIn(email, good, { code: code() })).status).toBe(401);
    now += 90_000;
    expect((await signIn(email, good, { code: code(now - 90_000) })).status).toBe(401);
    expect(await actionsOf(accountId)).toContain('two-factor turned on');
  });

  test('a recovery code stands in for it, once', async () => {
    const { email, cookie, codes } = await withTwoFactor();
    const typed = codes[3]!.toUpperCase().replace('-', ' ');
    expect((await signIn(email, good, { code: typed })).body.state).toBe('signed in');
    expect((await signIn(email, good, { code: codes[3] })).status).toBe(401);
    const fresh = await ask('POST /profile/recovery-codes', { cookie, body: { password: good } });
    expect(fresh.body.recoveryCodes).toHaveLength(10);
    expect((await signIn(email, good, { code: codes[4] })).status).toBe(401);
    expect((await signIn(email, good, { code: fresh.body.recoveryCodes[0] })).status).toBe(200);
  });

  test('trying codes is slowed down for long, also when the address is not', async () => {
    const { email, code } = await withTwoFactor();
    now += 30_000;
    for (let i = 0; i < 5; i++) {
      expect((await signIn(email, good, { code: `00000${i}` })).status).toBe(401);
    }
    now += 1000;
    expect((await signIn(email, good, { code: '000009' })).status).toBe(401);
    const slow = await signIn(email, good, { code: code() });
    expect([slow.status, slow.headers.get('retry-after')]).toEqual([429, '2']);
  });

  test('needs the password to begin and to end, and a right code to begin', async () => {
    const { cookie, email } = await signedIn();
    const wrong = { cookie, body: { password: 'wrong' } };
    expect(faultsOf(await ask('POST /profile/two-factor', wrong))).toEqual([400, 'wrong password /password']);
    await ask('POST /profile/two-factor', { cookie, body: { password: good } });
    expect(faultsOf(await ask('POST /profile/two-factor/on', { cookie, body: { code: '000000' } }))).toEqual([
      400,
      'wrong code /code',
    ]);
    // Not confirmed: not asked for.
    expect((await signIn(email)).body.state).toBe('signed in');
    const person = await withTwoFactor();
    const off = (password: string) =>
      ask('POST /profile/two-factor/off', { cookie: person.cookie, body: { password } });
    expect((await off('wrong')).status).toBe(400);
    expect((await signIn(person.email)).body.state).toBe('code needed');
    expect((await off(good)).status).toBe(204);
    expect((await signIn(person.email)).body.state).toBe('signed in');
  });

  test('a link to set a password is no way around it', async () => {
    const { accountId, userId, email } = await withTwoFactor();
    const secret = await createSignInLink(world.pool, accountId, userId, { hours: 1 });
    const { cookie } = await signedIn();
    const done = await ask('POST /password', { body: { secret, password: other }, cookie });
    expect([done.body, done.cookie]).toEqual([{ session: null }, '']);
    // Whoever else was signed in there is no longer.
    expect((await ask('GET /session', { cookie })).status).toBe(401);
    expect((await signIn(email, other)).body.state).toBe('code needed');
  });
});

describe('the profile', () => {
  test('lists the sessions in words and ends them: one, or all others; never those of others', async () => {
    const { cookie, ...person } = await signedIn();
    const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const elsewhere = await beginSession(world.pool, person, { address: '192.0.2.7', agent });
    const list = async () => (await ask('GET /profile/sessions', { cookie })).body;
    expect(await list()).toMatchObject([
      { browser: 'Firefox', system: 'Windows', address: '192.0.2.7', isThis: false },
      { browser: null, system: null, address: '192.0.2.1', isThis: true },
    ]);
    const stranger = await signedIn();
    const foreign = (await ask('GET /profile/sessions', { cookie: stranger.cookie })).body[0].id;
    for (const id of [foreign, 999_999_999, 'x', '1;2']) {
      expect((await ask(`DELETE /profile/sessions/${id}`, { cookie })).status).toBe(404);
    }
    expect((await ask('GET /session', { cookie: stranger.cookie })).status).toBe(200);
    expect((await ask(`DELETE /profile/sessions/${(await list())[0].id}`, { cookie })).status).toBe(204);
    expect((await ask('GET /session', { cookie: elsewhere })).status).toBe(401);
    await beginSession(world.pool, person, { address: '192.0.2.8', agent: '' });
    expect((await ask('DELETE /profile/sessions', { cookie })).status).toBe(204);
    expect(await list()).toHaveLength(1);
    expect((await actionsOf(person.accountId)).filter((one) => one === 'session ended')).toHaveLength(2);
  });

  test.each([
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
      'Safari',
      'iPhone',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0',
      'Edge',
      'macOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
      'Chrome',
      'Android',
    ],
    ['', null, null],
  ])('%s', (agent, browser, system) => {
    expect(browserOf(agent)).toEqual({ browser, system });
  });

  test('language and time zone are changed by hand; a time zone that is delivered is not', async () => {
    const { cookie, accountId, userId } = await signedIn({ role: 'User' });
    const change = (body: object) => ask('PATCH /profile', { cookie, body });
    expect((await change({ language: 'sv', timezone: 'Asia/Tokyo' })).body).toMatchObject({
      firstName: 'Kim',
      language: 'sv',
      timezone: 'Asia/Tokyo',
      managed: false,
      account: { timezone: 'Europe/Stockholm' },
    });
    expect((await ask('GET /session', { cookie })).body.language).toBe('sv');
    expect((await change({ timezone: null })).body).toMatchObject({ language: 'sv', timezone: null });
    expect(faultsOf(await change({ language: 'xx' }))).toEqual([400, 'invalid language /language']);
    expect(faultsOf(await change({ timezone: 'x' }))).toEqual([400, 'invalid timezone /timezone']);
    expect(faultsOf(await change({ role: 'Administrator' }))).toEqual([400, 'unknown field /role']);
    await world.pool`
      update users set managed = true, external_id = 'K1', fingerprint = 'as last sent'
      where account_id = ${accountId} and user_id = ${userId}`;
    expect(faultsOf(await change({ language: 'en', timezone: 'Asia/Tokyo' }))).toEqual([
      409,
      'managed /timezone',
    ]);
    expect((await change({ language: 'en', timezone: null })).body).toMatchObject({ language: 'en' });
    const [kept] = await world.pool`select fingerprint from users where account_id = ${accountId}`;
    expect(kept!['fingerprint']).toBeNull();
    expect((await actionsOf(accountId)).filter((one) => one === 'profile changed')).toHaveLength(3);
  });

  test('tells what one’s own groups were asked in past weeks: texts alone', async () => {
    const { pool } = world;
    const { cookie, accountId, userId } = await signedIn({ role: 'User', language: 'sv' });
    const [mine, theirs] = await inTransaction(pool, async (tx) => [
      await createGroup(tx, accountId, { name: 'Mine' }),
      await createGroup(tx, accountId, { name: 'Theirs' }),
    ]);
    const ids = (
      await pool<{ id: number }[]>`
        insert into questions (account_id, key, type, text, language, translations, options)
        select ${accountId}, key, 1, key || ' in English', 'en', translations::jsonb, '[]'
        from   (values ('a', '{"sv":"a på svenska"}'), ('b', '{}'), ('c', '{}')) v (key, translations)
        returning question_id as id`
    ).map(({ id }) => id);
    await pool`insert into memberships (account_id, user_id, kind, group_id)
               values (${accountId}, ${userId}, 'memberOf', ${mine as number})`;
    const asked = (group: number, week: string, questions: number[]) =>
      pool`insert into asked (account_id, group_id, week, question_ids)
           values (${accountId}, ${group}, ${week}, ${questions})`;
    now = Date.UTC(2026, 10, 22, 23, 30); // Monday in Stockholm
    await asked(mine as number, '2026-11-23', [ids[2] as number]);
    await asked(mine as number, '2026-11-16', [ids[0] as number, ids[1] as number]);
    await asked(mine as number, '2025-12-29', [ids[1] as number]);
    await asked(theirs as number, '2026-11-09', [ids[2] as number]);
    const { status, body } = await ask('GET /profile/weeks', { cookie });
    expect([status, body]).toEqual([
      200,
      [
        {
          week: '2026-W47',
          from: '2026-11-16',
          to: '2026-11-22',
          questions: ['a på svenska', 'b in English'],
        },
        { week: '2026-W01', from: '2025-12-29', to: '2026-01-04', questions: ['b in English'] },
      ],
    ]);
  });
});

test('what has ended is deleted by a job, and nothing else', async () => {
  const { pool } = world;
  const kept = await signedIn();
  const unused = await signedIn();
  const old = await signedIn();
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
