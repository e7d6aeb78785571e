// Passwords and links to set one: which passwords are accepted, how a person sets a new one, and which links no longer work.
import { describe, expect, test, vi } from 'vitest';
import { rejectWeakPassword } from '../../auth/passwords.ts';
import { beginSession } from '../../auth/sessions.ts';
import { createSignInLink } from '../../auth/sign-in-links.ts';
import { resetPassword } from '../../auth/sign-in.ts';
import { Fault } from '../../base/errors.ts';
import { inTransaction } from '../../db/db.ts';
import { until } from '../../testing/until.ts';
import { counted } from './digests.fixture.ts';
import {
  actionsOf,
  createPerson,
  faultsOf,
  good,
  other,
  request,
  signIn,
  signInNewPerson,
  smtp,
  world,
  useService,
} from './session.fixture.ts';

useService();

vi.mock('../../base/crypto/secrets.ts', async (original) =>
  (await import('./digests.fixture.ts')).withCountedDigests(await original<object>()),
);

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
  ])('rejects %s: %s', async (password, type) => {
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
  ])('accepts %s', async (password) => {
    await expect(rejectWeakPassword(password, kim)).resolves.toBeUndefined();
  });

  test('changing a password requires the current one, and ends every other session', async () => {
    const { email, cookie, ...person } = await signInNewPerson();
    const elsewhere = await beginSession(world.pool, person, { address: '192.0.2.2', agent: 'x' });
    const change = (password: string, newPassword: string) =>
      request('PUT /profile/password', { cookie, body: { password, newPassword } });
    expect(faultsOf(await change('wrong', other))).toEqual([400, 'wrong password /password']);
    expect(faultsOf(await change(good, 'password1234'))).toEqual([400, 'common password /newPassword']);
    expect((await change(good, other)).status).toBe(204);
    expect((await request('GET /session', { cookie })).status).toBe(200);
    expect((await request('GET /session', { cookie: elsewhere })).status).toBe(401);
    expect((await signIn(email)).status).toBe(401);
    expect((await signIn(email, other)).status).toBe(200);
    expect(await actionsOf(person.accountId)).toContain('password changed');
  });

  test('the operator sets a password for a person who cannot sign in, and turns off two-factor authentication', async () => {
    const { email, cookie, accountId, userId } = await signInNewPerson();
    const person = { email: email.toUpperCase(), password: other };
    await inTransaction(world.pool, (tx) => resetPassword(tx, accountId, person, true));
    expect((await request('GET /session', { cookie })).status).toBe(401);
    expect((await signIn(email, other)).body.session.user.id).toBe(userId);
    await expect(
      inTransaction(world.pool, (tx) => resetPassword(tx, accountId, { ...person, email: 'x@y' }, false)),
    ).rejects.toThrow('No active person');
  });
});

describe('links to set a password', () => {
  const requestLink = (email: string) => request('POST /password/forgotten', { body: { email } });
  const linkIn = (text: string) => /http:\/\/soundings\.test\/password#([\w-]{32})/.exec(text)![1] as string;
  const set = (secret: string, password = other) => request('POST /password', { body: { secret, password } });
  const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));

  test('mails a link that sets the password once, signs the person in, and ends all other sessions', async () => {
    const { email, cookie, accountId } = await signInNewPerson();
    const [known, unknown] = [await requestLink(email), await requestLink('nobody@example.org')];
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
    expect((await request('POST /password/link', { body: { secret } })).body).toEqual({
      email,
      name: 'Kim Lind',
      company: 'Test',
      hasPassword: true,
    });
    expect(faultsOf(await set(secret, 'kim kim kim kim'))).toEqual([400, 'password of names /password']);
    const done = await set(secret);
    expect([done.status, done.body.session.user.email]).toEqual([200, email]);
    expect((await request('GET /session', { cookie: done.cookie })).status).toBe(200);
    expect((await request('GET /session', { cookie })).status).toBe(401);
    expect(faultsOf(await set(secret))).toEqual([404, 'link not found']);
    expect((await signIn(email, other)).status).toBe(200);
    expect(await actionsOf(accountId)).toContain('password changed');
    expect(mailsTo('nobody@example.org')).toEqual([]);
  });

  test('sends the email in the person’s language, at most three times an hour', async () => {
    const { email } = await createPerson({ language: 'sv', password: null });
    for (let i = 1; i <= 3; i++) {
      await requestLink(email);
      await until(async () => mailsTo(email).length === i);
    }
    expect(mailsTo(email)[0]!.headers['subject']).toBe('Välj lösenord till Soundings hos Test');
    expect((await requestLink(email)).status).toBe(204);
    const later = (await createPerson()).email;
    await requestLink(later);
    await until(async () => mailsTo(later).length === 1);
    expect(mailsTo(email)).toHaveLength(3);
  });

  test('a link that an administrator creates works for a person without a password, and only once', async () => {
    const person = await createPerson({ password: null });
    const createLink = () => createSignInLink(world.pool, person.accountId, person.userId, { hours: 72 });
    const [secret, second, third] = [await createLink(), await createLink(), await createLink()];
    expect((await request('POST /password/link', { body: { secret } })).body.hasPassword).toBe(false);
    const [row] = await world.pool`
      select extract(epoch from expires_at - created_at)::integer as seconds, hash from sign_in_links
      where account_id = ${person.accountId} limit 1`;
    expect(row!['seconds']).toBe(72 * 3600);
    expect((row!['hash'] as Buffer).toString('base64url')).not.toBe(secret);
    const responses = await Promise.all([set(secret), set(secret)]);
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 404]);
    // Using one link makes all others of the person invalid.
    expect((await set(second)).status).toBe(404);
    expect((await set(third)).status).toBe(404);
  });

  test('administrators see that the email was rejected if one of them sent the link', async () => {
    const { cookie, accountId } = await signInNewPerson({ role: 'Administrator' });
    const { userId } = await createPerson({ accountId, email: 'gone@example.org', password: null });
    const body = { by: 'mail' };
    expect((await request(`POST /users/${userId}/sign-in-link`, { cookie, body })).status).toBe(200);
    const readPerson = async () => (await request(`GET /users/${userId}`, { cookie })).body;
    const { mailRejected } = await until(async () => {
      const person = await readPerson();
      return person.mailRejected !== null && person;
    });
    expect(mailRejected.reason).toContain('no such user');
    expect(await world.pool`select 1 from sign_in_links where account_id = ${accountId}`).toHaveLength(0);
  });

  test('does not work after it has expired, or if the person is inactive or has another address', async () => {
    const person = await createPerson({ password: null });
    const secret = await createSignInLink(world.pool, person.accountId, person.userId, { hours: 1 });
    const { pool } = world;
    await pool`update users set active = false where account_id = ${person.accountId} and user_id = ${person.userId}`;
    expect((await set(secret)).status).toBe(404);
    await pool`update users set active = true where account_id = ${person.accountId} and user_id = ${person.userId}`;
    await pool`update users set email_key = 'right@example.org' where user_id = ${person.userId}`;
    expect((await set(secret)).status).toBe(404);
    await pool`update users set email_key = ${person.email} where user_id = ${person.userId}`;
    expect((await request('POST /password/link', { body: { secret } })).status).toBe(200);
    await pool`update sign_in_links set expires_at = now() where account_id = ${person.accountId}`;
    expect((await set(secret)).status).toBe(404);
    expect((await set('')).status).toBe(400);
    expect((await set("' or true --")).status).toBe(404);
  });
});

test('no password is set if the session ends during the request', async () => {
  const { email, cookie, accountId } = await signInNewPerson();
  counted.meanwhile = async () =>
    void (await world.pool`delete from sessions where account_id = ${accountId}`);
  const body = { password: good, newPassword: other };
  expect(faultsOf(await request('PUT /profile/password', { cookie, body }))).toEqual([401, 'not signed in']);
  counted.meanwhile = async () => {};
  expect((await signIn(email, good)).status).toBe(200);
});
