// Attacks with a token that may push or upload: making the attacker's address an administrator in order to read results
// (decision F3). Nothing sent with such a token gives the rights of an Administrator or a way to sign in as one.
import type { Person } from '@soundings/contract/console/people.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { changeAccount } from '../accounts/accounts.ts';
import { createSignInLink } from '../auth/sign-in-links.ts';
import { inTransaction } from '../db/db.ts';
import { openLog } from '../base/log.ts';
import { createUser } from '../people/users.ts';
import { apply, person } from '../testing/organizations.ts';
import { type SendRequest, signIn, signInNew } from '../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
let smtp: TestSmtp;
let account: TestAccount;
/** An administrator created by the operator. */
let administrator: SendRequest;
let attacker: string;
let accounts = 0;
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url, publicUrl: 'http://soundings.test' });
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});
beforeEach(async () => {
  account = await world.account();
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
  attacker = `attacker-${++accounts}@example.org`;
});

/** Replaced by the attacker's address, which is different in each test. */
const attackerPlaceholder = 'ATTACKER';
const role = (name: string) => ({ accessInfo: { role: name } });
const idOf = async (externalId: string) => {
  const [row] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${account.id} and external_id = ${externalId}`;
  return row?.id as number;
};
const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));

/** Returns whether a sign-in link is mailed to the attacker's address on request. */
async function getsLink(): Promise<boolean> {
  const before = mailsTo(attacker).length;
  const forgotten = (email: string) =>
    world.request('POST', '/api/password/forgotten', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email }),
    });
  const witness = `witness-${++accounts}@example.org`;
  await inTransaction(world.pool, (tx) =>
    createUser(tx, account.id, { firstName: 'W', lastName: 'W', email: witness }),
  );
  expect((await forgotten(attacker)).status).toBe(204);
  expect((await forgotten(witness)).status).toBe(204);
  // Emails are sent in the order in which they were requested.
  await until(async () => mailsTo(witness).length > 0);
  await until(async () => {
    const jobs = await world.pool`
      select 1 from graphile_worker.jobs where task_identifier = 'mail sign-in link'`;
    return jobs.length === 0;
  });
  return mailsTo(attacker).length > before;
}

/** Returns whether someone signed in as the user has the rights of an Administrator. */
async function isAdministrator(userId: number): Promise<boolean> {
  const request = await signIn(world, account.id, userId);
  const [session, people] = [
    await request<{ user: { role: string } }>('GET /session'),
    await request('GET /users?offset=0&limit=10'),
  ];
  expect([200, 403]).toContain(people.status);
  expect(people.status === 200).toBe(session.body.user.role === 'Administrator');
  return people.status === 200;
}

test('a new administrator with the attacker’s address gets no link and has the rights of a User until confirmed', async () => {
  const { warnings } = await apply(account, {
    users: [person('x', { email: attacker, ...role('Administrator') })],
  });
  expect(warnings).toMatchObject([
    { type: 'administrator pending', path: '/data/users/0/accessInfo/role', externalId: 'x' },
  ]);
  expect(await getsLink()).toBe(false);
  const id = await idOf('x');
  expect(await isAdministrator(id)).toBe(false);
  const own = await signIn(world, account.id, id);
  expect((await own(`POST /users/${id}/confirm`)).status).toBe(403);
  const secret = await createSignInLink(world.pool, account.id, id, { hours: 1 });
  const byLink = await world.request<Problem>('POST', '/api/password', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret, password: 'nine quiet harbours' }),
  });
  expect([byLink.status, byLink.body.details[0]?.type]).toEqual([404, 'link not found']);

  expect((await administrator<Person>(`GET /users/${id}`)).body).toMatchObject({ isRolePending: true });
  const confirmed = await administrator<Person>(`POST /users/${id}/confirm`);
  expect([confirmed.status, confirmed.body.isRolePending]).toEqual([200, false]);
  expect((await administrator(`POST /users/${id}/confirm`)).status).toBe(409);
  expect(await isAdministrator(id)).toBe(true);
  expect(await getsLink()).toBe(true);
});

test('administrators are notified by email, except pending ones', async () => {
  const boss = `boss-${accounts}@example.org`;
  await world.pool`
    update users set email = ${boss}, email_key = ${boss} where account_id = ${account.id} and email = 'ada@example.org'`;
  await apply(account, { users: [person('x', { email: attacker, ...role('Administrator') })] });
  const [mail] = await until(async () => mailsTo(boss).length > 0 && mailsTo(boss));
  expect(mail?.text).toContain(attacker);
  expect(mail?.text).toContain(`http://soundings.test/people/${await idOf('x')}`);
  await apply(account, {
    users: [person('x', { email: attacker, lastName: 'Y', ...role('Administrator') })],
  });
  expect(mailsTo(attacker)).toEqual([]);
  const logged = await world.pool`
    select details from audit_entries where account_id = ${account.id} and action = 'administrator pending'`;
  expect(logged).toHaveLength(1);
});

describe('a managed administrator', () => {
  const current = (more: object = {}) => ({ users: [person('adm', { email: 'adm@example.org', ...more })] });
  beforeEach(async () => {
    await apply(account, current(role('Administrator')));
    await administrator(`POST /users/${await idOf('adm')}/confirm`);
  });

  test('keeps the rights while the address stays the same, in any letter case', async () => {
    for (const more of [{ lastName: 'Other' }, { email: 'ADM@example.org' }, { email: null }]) {
      expect((await apply(account, current(more))).warnings).toEqual([]);
    }
    expect(await isAdministrator(await idOf('adm'))).toBe(true);
  });

  test.each<[string, object[]]>([
    ['gets the attacker’s address', [{ email: attackerPlaceholder }]],
    ['first gets no address and then the attacker’s', [{ email: null }, { email: attackerPlaceholder }]],
    [
      'gets the attacker’s address, and then the old role again',
      [{ email: attackerPlaceholder }, { email: attackerPlaceholder, ...role('Administrator') }],
    ],
    [
      'is a User while the address changes',
      [role('User'), { email: attackerPlaceholder, ...role('User') }, role('Administrator')],
    ],
    [
      'is removed and sent again',
      [{ removed: true }, { email: attackerPlaceholder, ...role('Administrator') }],
    ],
    [
      'is not active while the address changes',
      [{ active: false }, { email: attackerPlaceholder, active: false }, { active: true }],
    ],
  ])('who %s has the rights of a User and gets no sign-in link', async (_, steps) => {
    for (const step of steps) {
      const sent = JSON.parse(JSON.stringify(step).replaceAll(attackerPlaceholder, attacker)) as Record<
        string,
        unknown
      >;
      // A step without an address keeps the current address.
      const users = 'removed' in sent ? [] : [person('adm', sent)];
      await apply(account, { users });
    }
    expect(await isAdministrator(await idOf('adm'))).toBe(false);
    expect(await getsLink()).toBe(false);
  });

  test('does not count as the last administrator of an account while pending', async () => {
    await world.pool`update users set active = false where account_id = ${account.id} and not managed`;
    const { status, body } = await account.push({ data: current({ email: attacker }) });
    expect([status, body.details?.[0]?.type]).toEqual([400, 'no administrator']);
    expect((await account.push({ data: current({ lastName: 'Other' }) })).status).toBe(200);
  });
});

test('an account can ignore pushed roles, with a warning', async () => {
  await apply(account, { users: [person('m', role('Manager'))] });
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { rolesBySync: false }));
  const users = [
    person('m', role('Administrator')),
    person('x', { email: attacker, ...role('Administrator') }),
  ];
  const { warnings } = await apply(account, { users });
  expect(warnings).toMatchObject([{ type: 'roles ignored', path: '/data/users/0/accessInfo/role' }]);
  const rows = await world.pool`
    select role from users where account_id = ${account.id} and managed order by external_id`;
  expect(rows.map((row) => row['role'])).toEqual(['Manager', 'User']);
  await inTransaction(world.pool, (tx) => changeAccount(tx, account.id, { rolesBySync: true }));
  expect((await apply(account, { users })).summary.users.updated).toBe(2);
});

test('a file cannot create an administrator either', async () => {
  const form = new FormData();
  form.append(
    'file',
    new File([`EmployeeID,FirstName,LastName,Email,Role\nx,A,B,${attacker},Administrator\n`], 'u.csv'),
  );
  const token = await account.tokenOf('files');
  await world.request('POST', '/v1/storage/uploadFile', { headers: { authorization: token }, body: form });
  await until(async () => (await idOf('x')) !== undefined);
  expect(await isAdministrator(await idOf('x'))).toBe(false);
  expect(await getsLink()).toBe(false);
});
