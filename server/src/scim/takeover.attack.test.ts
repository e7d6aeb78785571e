// Attacks on administrators through a directory: with someone else's address, with the token of the directory, and on those who must be able to
// sign in without it.
import type { Directory, TakeoverPlan } from '@soundings/contract/scim/directory.ts';
import { afterAll, expect, test } from 'vitest';
import { setPassword } from '../auth/sign-in.ts';
import { accountNoticeMail } from '../accounts/account-notices-mail.ts';
import { inTransaction } from '../db/db.ts';
import { releaseUser } from '../people/handover.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { signInNew, type SendRequest } from '../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { planTakeover, takeOverPeople } from './applying/takeover.ts';
import {
  groupOf,
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from './scim.fixture.ts';

let smtp: TestSmtp;
useService(async () => (smtp = await openSmtp()).url);
afterAll(() => smtp.close());

/** Waits for this many emails to an address, and returns what they say. */
const textsTo = (address: string, count: number) =>
  until(async () => {
    const found = smtp.mails.filter(({ to }) => to.includes(address));
    return found.length === count && found.map(({ text }) => text);
  });

/** Adds an administrator who is managed manually. */
async function administrator({ account }: TestDirectory, name: string): Promise<number> {
  const email = `${name}@example.com`;
  const [row] = await world.pool<{ id: number }[]>`
    insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
    values (${account.id}, false, ${name}, 'Boss', ${email}, ${email}, true, 'Administrator')
    returning user_id as "id"`;
  await setPassword(world.pool, account.id, row!.id, 'a password of an administrator');
  return row!.id;
}

async function roleOf({ account }: TestDirectory, userId: number) {
  const [row] = await world.pool<
    { role: string; pending: boolean; email: string | null; bySource: boolean }[]
  >`
    select role, role_pending as "pending", email, by_scim as "bySource" from users
    where account_id = ${account.id} and user_id = ${userId}`;
  return row!;
}

const planOf = async (request: SendRequest, id?: string) =>
  request<TakeoverPlan>('POST /directory/takeover/plan', id === undefined ? {} : { id });

async function handOver(request: SendRequest, id?: string): Promise<number> {
  const { body } = await planOf(request, id);
  return (await request('POST /directory/takeover', { ...(id !== undefined && { id }), digest: body.digest }))
    .status;
}

test('an administrator can not take over another one’s account by giving a user of the directory their address', async () => {
  const directory = await openDirectory();
  const bo = await administrator(directory, 'bo');
  const { request } = await signInNew(world, directory.account.id, 'Administrator');
  const id = await directory.create(
    'Users',
    userOf('eve', { emails: [{ type: 'work', value: 'bo@example.com' }] }),
  );
  await directory.apply();
  // Alone, the address of an administrator changes nothing, also if the directory sends more.
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }));
  await directory.apply(600);
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: true }));
  await directory.apply(600);
  const before = { role: 'Administrator', pending: false, email: 'bo@example.com', bySource: false };
  expect(await roleOf(directory, bo)).toEqual(before);
  // With all others, the administrator is not handed over either.
  expect((await planOf(request)).body).toMatchObject({ people: 0, pairs: [] });
  expect(await handOver(request, id)).toBe(204);
  // After the handover, another address makes the role wait, and the previous address learns of it.
  const path = 'emails[type eq "work"].value';
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path, value: 'eve@evil.example' }));
  await directory.apply();
  expect(await roleOf(directory, bo)).toEqual({
    ...before,
    pending: true,
    email: 'eve@evil.example',
    bySource: true,
  });
  const [handed, moved] = (await textsTo('bo@example.com', 2)).toSorted();
  expect(handed).toContain('handed your account over to the directory');
  expect(moved).toContain('Your email address in Soundings was changed');
});

test('the administrator who is handed over is emailed at the address from before, even if the directory has another one', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const id = await directory.create('Users', userOf('cia'));
  await directory.apply();
  const [row] = await world.pool<{ id: number }[]>`
    update users set role = 'Administrator' where account_id = ${account.id} and by_scim returning user_id as "id"`;
  await setPassword(world.pool, account.id, row!.id, 'a password of an administrator');
  await inTransaction(world.pool, (tx) => releaseUser(tx, account.id, row!.id));
  const path = 'emails[type eq "work"].value';
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path, value: 'eve@evil.example' }));
  await directory.apply();
  const chosen = { id, by: 0 };
  const plan = await planTakeover(world.pool, account.id, chosen, deleteGroupResults);
  expect(plan.changes).toMatchObject([
    { fields: { email: { from: 'cia@example.com', to: 'eve@evil.example' } } },
  ]);
  expect(plan.warnings.join()).toContain('confirm');
  const actor = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };
  const decided = { ...chosen, digest: plan.digest, actor, canMail: true };
  await takeOverPeople(world.pool, account.id, decided, deleteGroupResults);
  expect(await roleOf(directory, row!.id)).toMatchObject({ pending: true, email: 'eve@evil.example' });
  const said = (await textsTo('cia@example.com', 2)).join();
  expect(said).toContain('handed your account over to the directory');
  expect(said).toContain('Your email address in Soundings was changed');
  expect(
    smtp.mails.filter(({ to, text }) => to.includes('eve@evil.example') && text.includes('directory')),
  ).toEqual([]);
  for (const language of ['en', 'sv', 'de']) {
    const about = { language, company: 'Co', firstName: 'Bo', about: null };
    expect(accountNoticeMail({ ...about, change: 'handed over to directory' }, 'person').text).toContain(
      'SCIM',
    );
  }
});

test('a user who no longer has the address when the plan is approved is not handed over', async () => {
  const directory = await openDirectory();
  const bo = await administrator(directory, 'bo');
  const { request } = await signInNew(world, directory.account.id, 'Administrator');
  const id = await directory.create('Users', userOf('bo'));
  await directory.apply();
  const { digest } = (await planOf(request, id)).body;
  const path = 'emails[type eq "work"].value';
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path, value: 'eve@evil.example' }));
  expect((await request('POST /directory/takeover', { id, digest })).status).toBe(409);
  expect(await roleOf(directory, bo)).toMatchObject({ email: 'bo@example.com', bySource: false });
});

test('the token of a directory makes no one an administrator, neither itself nor with what it sends, and hands no one over', async () => {
  const directory = await openDirectory();
  const { account, token } = directory;
  await world.pool`insert into scim_directories (account_id, rule) values (${account.id}, '{"kind": "groups"}')`;
  const roles = { roles: [{ value: 'Administrator', primary: true }], entitlements: [{ value: 'admin' }] };
  const id = await directory.create(
    'Users',
    userOf('eve', { ...roles, userType: 'Administrator', title: 'Administrator' }),
  );
  await directory.create('Groups', groupOf('Administrators', [id]));
  await directory.apply();
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'add', path: 'roles', value: roles.roles }));
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'add', value: { role: 'Administrator' } }));
  await directory.apply();
  const administrators = await world.pool`
    select first_name as "name" from users where account_id = ${account.id} and role = 'Administrator'`;
  expect([...administrators]).toEqual([{ name: 'Ada' }]);
  expect((await peopleOf(account.id))['eve']).toMatchObject({ bySource: 'scim', owns: [] });
  const bo = await administrator(directory, 'bo');
  const waiting = await directory.create('Users', userOf('bo'));
  await directory.apply();
  for (const [path, body] of [
    ['/directory/takeover', { id: waiting, digest: '' }],
    ['/directory/takeover/plan', { id: waiting }],
    [`/users/${bo}/release`, {}],
    [`/users/${bo}/confirm`, {}],
  ] as const) {
    const headers = { authorization: token, 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    expect([path, (await fetch(`${world.address}/api${path}`, init)).status]).toEqual([path, 401]);
  }
  expect(await roleOf(directory, bo)).toMatchObject({ bySource: false, pending: false });
});

test('break-glass administrators are not handed over, also if they become one after the plan, and no administrator hands themselves over', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const bo = await administrator(directory, 'bo');
  const { request, userId } = await signInNew(world, account.id, 'Administrator');
  const [own] = await world.pool<{ email: string }[]>`
    select email from users where account_id = ${account.id} and user_id = ${userId}`;
  const id = await directory.create('Users', userOf('bo'));
  const mine = await directory.create(
    'Users',
    userOf('me', { emails: [{ type: 'work', value: own!.email }] }),
  );
  await directory.apply();
  const { digest } = (await planOf(request, id)).body;
  const breakGlass = () =>
    world.pool`insert into break_glass_administrators (account_id, user_id) values (${account.id}, ${bo})`;
  await breakGlass();
  expect(await request('POST /directory/takeover', { id, digest })).toMatchObject({
    status: 409,
    body: { details: [{ type: 'break-glass administrator' }] },
  });
  expect((await planOf(request, id)).status).toBe(409);
  expect(await planOf(request, mine)).toMatchObject({
    status: 409,
    body: { details: [{ type: 'own account' }] },
  });
  const { body } = await request<Directory>('GET /directory');
  expect(new Map(body.blocked.rows.map((row) => [row.id, row.hindrance]))).toEqual(
    new Map([
      [id, 'break-glass'],
      [mine, 'own account'],
    ]),
  );
  expect((await roleOf(directory, bo)).bySource).toBe(false);
  expect((await roleOf(directory, userId)).bySource).toBe(false);
});

test('a user who is a person already does not become someone else by another address, and an externalId that is a user’s id takes nothing', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const id = await directory.create('Users', userOf('eve'));
  await directory.apply();
  const bo = await administrator(directory, 'bo');
  const path = 'emails[type eq "work"].value';
  await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path, value: 'bo@example.com' }));
  await directory.apply();
  const { request } = await signInNew(world, account.id, 'Administrator');
  expect((await planOf(request, id)).status).toBe(409);
  expect((await planOf(request)).body).toMatchObject({ people: 0 });
  expect(await roleOf(directory, bo)).toMatchObject({ email: 'bo@example.com', bySource: false });
  // A user who was deleted and created again keeps the key of the person. Someone else has the new id as the externalId.
  const cia = await directory.create('Users', userOf('cia'));
  await directory.apply();
  await directory.send('DELETE', `/Users/${cia}`);
  const again = await directory.create('Users', userOf('cia'));
  await directory.apply();
  await world.pool`delete from memberships where account_id = ${account.id}`;
  await world.pool`delete from users where account_id = ${account.id} and external_id = ${cia}`;
  await world.pool`
    insert into users (account_id, managed, external_id, first_name, last_name, active, role)
    values (${account.id}, true, ${again}, 'Other', 'Pushed', true, 'User')`;
  await world.pool`
    insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
    values (${account.id}, false, 'Cia', 'Manual', 'cia@example.com', 'cia@example.com', true, 'User')`;
  await directory.send('PATCH', `/Users/${again}`, patchOf({ op: 'add', path: 'title', value: 'X' }));
  await directory.apply();
  expect(await handOver(request, again)).toBe(204);
  const people = await world.pool`
    select external_id as "key", by_scim as "byScim" from users
    where account_id = ${account.id} and first_name in ('Other', 'cia', 'Cia') order by by_scim`;
  expect([...people]).toEqual([
    { key: again, byScim: false },
    { key: cia, byScim: true },
  ]);
});

test('users of another account, unknown ones and other roles get nothing', async () => {
  const [one, other] = [await openDirectory(), await openDirectory()];
  const bo = await administrator(other, 'bo');
  const id = await other.create('Users', userOf('bo'));
  await other.apply();
  const { request } = await signInNew(world, one.account.id, 'Administrator');
  for (const wrong of [id, '00000000-0000-4000-8000-000000000000', 'x', "'", '%00']) {
    expect([wrong, (await planOf(request, wrong)).status]).toEqual([wrong, 409]);
    expect((await request('POST /directory/takeover', { id: wrong, digest: '' })).status).toBe(409);
    const path = `PUT /directory/users/${encodeURIComponent(wrong)}/kept`;
    expect((await request(path, { personId: bo, kept: true })).status).toBe(409);
  }
  expect((await request(`GET /directory/people/${bo}`)).status).toBe(404);
  for (const role of ['Manager', 'Auditor', 'User'] as const) {
    const { request: as } = await signInNew(world, other.account.id, role);
    expect((await planOf(as, id)).status).toBe(403);
    expect((await as('POST /directory/takeover', { id, digest: '' })).status).toBe(403);
    expect((await as(`PUT /directory/users/${id}/kept`, { personId: bo, kept: true })).status).toBe(403);
    expect((await as(`GET /directory/people/${bo}`)).status).toBe(403);
  }
  expect(await roleOf(other, bo)).toMatchObject({ bySource: false });
});
