// The profile: two-factor authentication, sessions, language and time zone, and the questions of past weeks.
import { TOTP } from 'otpauth';
import { describe, expect, test, vi } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { browserOf } from '../../auth/browser-names.ts';
import { createSignInLink } from '../../auth/sign-in-links.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { until } from '../../testing/until.ts';
import {
  actionsOf,
  faultsOf,
  good,
  other,
  request,
  signIn,
  signInNewPerson,
  smtp,
  time,
  world,
  useService,
} from './session.fixture.ts';

useService();

vi.mock('../../base/crypto/secrets.ts', async (original) =>
  (await import('./digests.fixture.ts')).withCountedDigests(await original<object>()),
);

describe('two-factor authentication', () => {
  async function signInWithTwoFactor() {
    const person = await signInNewPerson();
    const { cookie } = person;
    const setup = await request('POST /profile/two-factor', { cookie, body: { password: good } });
    const totp = new TOTP({ secret: setup.body.secret });
    const code = (at = time.now) => totp.generate({ timestamp: at });
    const on = await request('POST /profile/two-factor/on', { cookie, body: { code: code() } });
    return { ...person, setup, on, code, codes: (on.body.recoveryCodes ?? []) as string[] };
  }

  test('is set up with a QR code and a first code, and required from then on', async () => {
    const { email, cookie, setup, on, code, codes, accountId } = await signInWithTwoFactor();
    expect(setup.body.address).toMatch(
      /^otpauth:\/\/totp\/Soundings:person\d+%40example\.org\?issuer=Soundings&secret=/,
    );
    expect(setup.body.matrix.length).toBe(setup.body.matrix[0].length);
    expect(setup.body.matrix[0]).toMatch(/^1111111[01]+1111111$/);
    expect([on.status, new Set(codes).size]).toEqual([200, 10]);
    expect(codes[0]).toMatch(/^[0-9a-z]{5}-[0-9a-z]{5}$/);
    expect((await request('GET /profile', { cookie })).body.twoFactor).toMatchObject({ recoveryCodes: 10 });

    const needed = await signIn(email);
    expect([needed.body, needed.set]).toEqual([{ state: 'code needed', accountId }, null]);
    expect((await signIn(email, 'wrong password', { code: code() })).status).toBe(401);
    expect(faultsOf(await signIn(email, good, { code: '000000' }))).toEqual([401, 'wrong code /code']);
    // The code that confirmed the setup does not work again.
    expect((await signIn(email, good, { code: code() })).status).toBe(401);
    time.now += 30_000;
    const spaced = `${code().slice(0, 3)} ${code().slice(3)}`;
    expect((await signIn(email, good, { code: spaced })).body.state).toBe('signed in');
    expect((await signIn(email, good, { code: code() })).status).toBe(401);
    time.now += 90_000;
    expect((await signIn(email, good, { code: code(time.now - 90_000) })).status).toBe(401);
    expect(await actionsOf(accountId)).toContain('two-factor turned on');
  });

  test('a recovery code works instead, once', async () => {
    const { email, cookie, codes } = await signInWithTwoFactor();
    const typed = codes[3]!.toUpperCase().replace('-', ' ');
    expect((await signIn(email, good, { code: typed })).body.state).toBe('signed in');
    expect((await signIn(email, good, { code: codes[3] })).status).toBe(401);
    const fresh = await request('POST /profile/recovery-codes', { cookie, body: { password: good } });
    expect(fresh.body.recoveryCodes).toHaveLength(10);
    expect((await signIn(email, good, { code: codes[4] })).status).toBe(401);
    expect((await signIn(email, good, { code: fresh.body.recoveryCodes[0] })).status).toBe(200);
  });

  test('slows down attempts with wrong codes, even when the wait for the email address has ended', async () => {
    const { email, code } = await signInWithTwoFactor();
    time.now += 30_000;
    for (let i = 0; i < 5; i++) {
      expect((await signIn(email, good, { code: `00000${i}` })).status).toBe(401);
    }
    time.now += 1000;
    expect((await signIn(email, good, { code: '000009' })).status).toBe(401);
    const refused = await signIn(email, good, { code: code() });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  });

  test('turning it on requires the password and a correct code, and turning it off requires the password', async () => {
    const { cookie, email } = await signInNewPerson();
    const wrong = { cookie, body: { password: 'wrong' } };
    expect(faultsOf(await request('POST /profile/two-factor', wrong))).toEqual([
      400,
      'wrong password /password',
    ]);
    await request('POST /profile/two-factor', { cookie, body: { password: good } });
    expect(
      faultsOf(await request('POST /profile/two-factor/on', { cookie, body: { code: '000000' } })),
    ).toEqual([400, 'wrong code /code']);
    // It is not confirmed yet, so no code is required.
    expect((await signIn(email)).body.state).toBe('signed in');
    const person = await signInWithTwoFactor();
    const off = (password: string) =>
      request('POST /profile/two-factor/off', { cookie: person.cookie, body: { password } });
    expect((await off('wrong')).status).toBe(400);
    expect((await signIn(person.email)).body.state).toBe('code needed');
    expect((await off(good)).status).toBe(204);
    expect((await signIn(person.email)).body.state).toBe('signed in');
  });

  test('a link to set a password does not bypass two-factor authentication', async () => {
    const { accountId, userId, email } = await signInWithTwoFactor();
    const secret = await createSignInLink(world.pool, accountId, userId, { hours: 1 });
    const { cookie } = await signInNewPerson();
    const done = await request('POST /password', { body: { secret, password: other }, cookie });
    expect([done.body, done.cookie]).toEqual([{ session: null }, '']);
    // The session of another person in the same browser has ended.
    expect((await request('GET /session', { cookie })).status).toBe(401);
    expect((await signIn(email, other)).body.state).toBe('code needed');
  });
});

describe('the profile', () => {
  test('lists the sessions with browser and system, and ends one session or all other sessions, but never a session of another person', async () => {
    const { cookie, ...person } = await signInNewPerson();
    const agent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0';
    const elsewhere = await beginSession(world.pool, person, { address: '192.0.2.7', agent });
    const list = async () => (await request('GET /profile/sessions', { cookie })).body;
    expect(await list()).toMatchObject([
      { browser: 'Firefox', system: 'Windows', address: '192.0.2.7', isThis: false },
      { browser: null, system: null, address: '192.0.2.1', isThis: true },
    ]);
    const stranger = await signInNewPerson();
    const foreign = (await request('GET /profile/sessions', { cookie: stranger.cookie })).body[0].id;
    for (const id of [foreign, 999_999_999, 'x', '1;2']) {
      expect((await request(`DELETE /profile/sessions/${id}`, { cookie })).status).toBe(404);
    }
    expect((await request('GET /session', { cookie: stranger.cookie })).status).toBe(200);
    expect((await request(`DELETE /profile/sessions/${(await list())[0].id}`, { cookie })).status).toBe(204);
    expect((await request('GET /session', { cookie: elsewhere })).status).toBe(401);
    await beginSession(world.pool, person, { address: '192.0.2.8', agent: '' });
    expect((await request('DELETE /profile/sessions', { cookie })).status).toBe(204);
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

  test('a person changes language and time zone, unless the HR system manages the time zone', async () => {
    const { cookie, accountId, userId } = await signInNewPerson({ role: 'User' });
    const change = (body: object) => request('PATCH /profile', { cookie, body });
    expect((await change({ language: 'sv', timezone: 'Asia/Tokyo' })).body).toMatchObject({
      firstName: 'Kim',
      language: 'sv',
      timezone: 'Asia/Tokyo',
      managed: false,
      account: { timezone: 'Europe/Stockholm' },
    });
    expect((await request('GET /session', { cookie })).body.language).toBe('sv');
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

  test('lists the texts of the questions that the person’s own groups were asked in past weeks', async () => {
    const { pool } = world;
    const { cookie, accountId, userId } = await signInNewPerson({ role: 'User', language: 'sv' });
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
    time.now = Date.UTC(2026, 10, 22, 23, 30); // Monday in Stockholm
    await asked(mine as number, '2026-11-23', [ids[2] as number]);
    await asked(mine as number, '2026-11-16', [ids[0] as number, ids[1] as number]);
    await asked(mine as number, '2025-12-29', [ids[1] as number]);
    await asked(theirs as number, '2026-11-09', [ids[2] as number]);
    const { status, body } = await request('GET /profile/weeks', { cookie });
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

test('the person gets an email about every change to their sign-in', async () => {
  const { email, cookie } = await signInNewPerson();
  const send = async (name: string, body: object) => {
    const response = await request(name, { cookie, body });
    expect(response.status).toBeLessThan(300);
    return response.body;
  };
  const { secret } = await send('POST /profile/two-factor', { password: good });
  const code = new TOTP({ secret }).generate({ timestamp: time.now });
  await send('POST /profile/two-factor/on', { code });
  await send('POST /profile/recovery-codes', { password: good });
  await send('POST /profile/two-factor/off', { password: good });
  await send('PUT /profile/password', { password: good, newPassword: other });
  const subjects = async () =>
    smtp.mails.filter(({ to }) => to.includes(email)).map(({ text }) => /changed|.*\.$/m.exec(text)?.[0]);
  expect(await until(async () => (await subjects()).length === 4 && subjects())).toEqual([
    'Two-factor authentication was turned on for your account.',
    'New recovery codes were created for your account. The previous codes no longer work.',
    expect.stringMatching(/^Two-factor authentication was turned off for your account\./),
    'Your password was set. You are signed out everywhere else.',
  ]);
});
