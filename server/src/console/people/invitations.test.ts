// Inviting people to sign in: when they are added, many with one request, and again; by email, or with a sheet of links. The attacks on it: a
// manager, a token, a second click, a used link, a deactivated person, another address.
import type { Invitations, Person, PersonRow } from '@soundings/contract/console/people.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let [world, silent, smtp] = [
  undefined as unknown as World,
  undefined as unknown as World,
  undefined as never,
];
let mails: TestSmtp['mails'];
beforeAll(async () => {
  const opened = await openSmtp();
  smtp = opened as never;
  ({ mails } = opened);
  world = await openWorld(openLog('silent'), { smtpUrl: opened.url });
  silent = await openWorld(openLog('silent')); // without mail
});
afterAll(async () => {
  await world.close();
  await silent.close();
  await (smtp as TestSmtp).close();
});

let [account, request, tag] = [undefined as unknown as TestAccount, undefined as unknown as SendRequest, ''];
const giveAdministratorsPasswords = (where: World) => where.pool`
  insert into passwords (account_id, user_id, hash)
  select account_id, user_id, 'x' from users where account_id = ${account.id} and role = 'Administrator'
  on conflict do nothing`;
async function open(where: World): Promise<void> {
  account = await where.account();
  const ann = await signInNew(where, account.id, 'Administrator');
  ({ request } = ann);
  // Ann and Ada have passwords, so they are not among those to invite.
  await giveAdministratorsPasswords(where);
  tag = `${account.id}-${ann.userId}`;
}
beforeEach(() => open(world));

const addressOf = (name: string) => `${name.toLowerCase()}-${tag}@example.org`;
const add = async (name: string, role = 'Manager', more: object = {}, where = world) =>
  inTransaction(where.pool, (tx) =>
    createUser(tx, account.id, { firstName: name, lastName: 'Ek', email: addressOf(name), role, ...more }),
  );
const mailsTo = (name: string) => mails.filter(({ to }) => to.includes(addressOf(name)));
const linkIn = (text: string) => /\/password#([\w-]{32})/.exec(text)?.[1] as string;
const preview = async (chosen: object, by = request) =>
  (await by<Invitations>('POST /users/invitations', { chosen, isPreview: true })).body;
const invite = (chosen: object, seen: string | undefined, by = request) =>
  by<Invitations>('POST /users/invitations', { chosen, isPreview: false, seen });
const uninvited = { filters: { signIn: 'uninvited' } };
const inviteAll = async (chosen: object = uninvited) => invite(chosen, (await preview(chosen)).seen);
const found = async (query: string) =>
  (await request<{ rows: PersonRow[] }>(`GET /users?offset=0&limit=50&${query}`)).body.rows;
const namesOf = (rows: PersonRow[]) => rows.map(({ firstName }) => firstName);
const invitationOf = async (id: number) => (await request<Person>(`GET /users/${id}`)).body.signIn.invitation;
const sent = (id: number) => until(async () => (await invitationOf(id))?.state === 'sent');
const redeem = (where: World, secret: string, password = 'eleven green apples') =>
  where.request('POST', '/api/password', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ secret, password }),
  });
const idle = () =>
  until(
    async () =>
      (
        await world.pool`select from graphile_worker._private_jobs where task_id in (
    select id from graphile_worker._private_tasks where identifier = 'mail sign-in invitation')`
      ).length === 0,
  );
const newPerson = (name: string, more: object) => ({
  firstName: name,
  lastName: 'Berg',
  email: addressOf(name),
  phone: null,
  role: 'Manager',
  language: null,
  timezone: null,
  active: true,
  externalId: null,
  ...more,
});

describe('adding a person', () => {
  test('sends the invitation if wanted; without an address the form says where to enter one, and no one is added', async () => {
    const { id } = (await request<{ id: number }>('POST /users', newPerson('Mia', { invite: true }))).body;
    await sent(id);
    expect(mailsTo('Mia')[0]!.text).toContain('you have been given access');
    const { id: later } = (await request<{ id: number }>('POST /users', newPerson('Max', {}))).body;
    expect(namesOf(await found('signIn=uninvited'))).toEqual(['Max']);
    expect(await invitationOf(later)).toBeNull();
    const refused = await request('POST /users', newPerson('Eve', { email: null, invite: true }));
    expect([refused.status, refused.body.details[0]?.path]).toEqual([409, '/email']);
    expect(await found('search=Eve')).toEqual([]);
    await request(`PATCH /users/${later}`, { role: 'Auditor', invite: true });
    await sent(later);
    expect(namesOf(await found('signIn=invited'))).toEqual(['Max', 'Mia']);
  });

  test('an administrator who is added and invited, or given the role, gets one email', async () => {
    const { id } = (
      await request<{ id: number }>('POST /users', newPerson('Ada2', { role: 'Administrator', invite: true }))
    ).body;
    const other = await add('Olle', 'User');
    await request(`PATCH /users/${other}`, { role: 'Administrator', invite: true });
    await Promise.all([sent(id), sent(other)]);
    await idle();
    expect([mailsTo('Ada2').length, mailsTo('Olle').length]).toEqual([1, 1]);
  });
});

describe('many at once', () => {
  test('the preview names who is invited and who has no address, and why others are not; each gets one email', async () => {
    const [a, b] = [await add('Abe'), await add('Bea', 'Auditor')];
    await add('Cleo', 'Manager', { email: null });
    await add('Dan', 'Manager', { active: false });
    await add('Eli', 'User');
    const everyone = { filters: {} };
    const plan = await preview(everyone);
    expect(plan).toMatchObject({
      by: 'mail',
      inviting: 2,
      reminding: 0,
      withoutEmail: 1,
      recent: 0,
      sheet: null,
    });
    expect(plan).toMatchObject({ signedIn: 2, users: 1, inactive: 1, unconfirmed: 0 });
    expect(plan.people).toMatchObject([
      { name: 'Abe Ek', email: addressOf('Abe'), role: 'Manager', invitation: null },
      { name: 'Bea Ek', role: 'Auditor' },
    ]);
    expect(plan.withoutEmailPeople).toMatchObject([{ name: 'Cleo Ek', email: null }]);
    expect((await invite(everyone, plan.seen)).status).toBe(200);
    await Promise.all([sent(a), sent(b)]);
    expect([mailsTo('Abe').length, mailsTo('Bea').length, mailsTo('Eli').length]).toEqual([1, 1, 0]);
    expect(namesOf(await found('signIn=invited'))).toEqual(['Abe', 'Bea']);
    expect(await preview(everyone)).toMatchObject({ inviting: 0, recent: 2 });
    const [entry] = await world.pool`
      select details from audit_entries where account_id = ${account.id} and action = 'people invited'`;
    expect(entry?.['details']).toEqual({ count: 2, by: 'mail', ids: `${a}-${b}` });
  });

  test('after a day everyone who has not signed in can be reminded, and the first link still works until it is used', async () => {
    const [a, b] = [await add('Abe'), await add('Bea')];
    await inviteAll();
    await Promise.all([sent(a), sent(b)]);
    await redeem(world, linkIn(mailsTo('Bea')[0]!.text));
    await world.pool`
      update sign_in_invitations set invited_at = now() - interval '25 hours' where account_id = ${account.id}`;
    await world.pool`update users set active_since = now() - interval '9 days' where account_id = ${account.id}`;
    const invited = { filters: { signIn: 'invited' } };
    expect(await preview(invited)).toMatchObject({ inviting: 1, reminding: 1 });
    await inviteAll(invited);
    await until(async () => mailsTo('Abe').length === 2);
    expect(mailsTo('Abe')[1]!.text).toContain('haven’t set a password yet');
    expect((await redeem(world, linkIn(mailsTo('Abe')[0]!.text))).status).toBe(200);
    expect((await redeem(world, linkIn(mailsTo('Abe')[1]!.text))).status).toBe(404);
    expect(await found('signIn=invited')).toEqual([]);
    expect(namesOf(await found('signIn=password&sort=name'))).toContain('Abe');
  });

  test('the managers of a push: its run finds those it created, and no one of another account', async () => {
    const managers = ['Ma', 'Mb'].map((name) => ({
      externalId: name,
      firstName: name,
      lastName: 'Ek',
      email: addressOf(name),
      accessInfo: { role: 'Manager' },
    }));
    await add('Before');
    const { body } = await account.push({ settings: { validateOnly: false }, data: { users: managers } });
    const ofRun = { filters: { run: body.id, signIn: 'uninvited' } };
    expect((await preview(ofRun)).people.map(({ name }) => name)).toEqual(['Ma Ek', 'Mb Ek']);
    const stranger = await world.account();
    const other = await signInNew(world, stranger.id, 'Administrator');
    expect(await preview(ofRun, other.request)).toMatchObject({ inviting: 0, withoutEmail: 0, signedIn: 0 });
  });
});

describe('attacks', () => {
  test('a manager, an API token and an administrator of another account invite no one', async () => {
    const id = await add('Abe');
    const chosen = { ids: [id] };
    const manager = await signInNew(world, account.id, 'Manager');
    for (const isPreview of [true, false]) {
      const refused = await manager.request('POST /users/invitations', { chosen, isPreview });
      expect([refused.status, refused.body.details[0]?.type]).toEqual([403, 'missing role']);
    }
    const byToken = await world.request('POST', '/api/users/invitations', {
      headers: { authorization: account.token, 'content-type': 'application/json' },
      body: JSON.stringify({ chosen, isPreview: true }),
    });
    expect(byToken.status).toBe(401);
    const stranger = await signInNew(world, (await world.account()).id, 'Administrator');
    const theirs = await preview(chosen, stranger.request);
    expect([theirs.inviting, theirs.people]).toEqual([0, []]);
    expect((await invite(chosen, theirs.seen, stranger.request)).status).toBe(200);
    await idle();
    expect(mailsTo('Abe')).toEqual([]);
  });

  test('two administrators who click at the same time: one of them invites, and each person gets one email', async () => {
    const names = ['Abe', 'Bea', 'Cid', 'Dee', 'Eva'];
    for (const name of names) await add(name);
    const second = await signInNew(world, account.id, 'Administrator');
    const again = await signInNew(world, account.id, 'Administrator');
    await giveAdministratorsPasswords(world);
    const { seen } = await preview(uninvited);
    const clicks = await Promise.all(
      [request, second.request, again.request].map((by) => invite(uninvited, seen, by)),
    );
    expect(clicks.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    // Both open the page of one person and click there, in the same minute.
    const [{ id } = { id: 0 }] = await found('search=Abe');
    await Promise.all(
      [request, second.request].map((by) => by(`POST /users/${id}/sign-in-link`, { by: 'mail' })),
    );
    await idle();
    expect(names.map((name) => mailsTo(name).length)).toEqual([1, 1, 1, 1, 1]);
    expect((await invite(uninvited, undefined)).status).toBe(409); // never without a preview
  });

  test('a link works once; not after another password, deactivation, or a new address, which counts as not invited', async () => {
    const ids = new Map<string, number>();
    for (const name of ['Used', 'Gone', 'Moved']) ids.set(name, await add(name));
    await inviteAll();
    await Promise.all([...ids.values()].map(sent));
    const [used, gone, moved] = ['Used', 'Gone', 'Moved'].map((name) => linkIn(mailsTo(name)[0]!.text));
    expect((await redeem(world, used!)).status).toBe(200);
    expect((await redeem(world, used!, 'twelve green apples')).status).toBe(404);
    await request(`PATCH /users/${ids.get('Gone')}`, { active: false });
    await request(`PATCH /users/${ids.get('Gone')}`, { active: true });
    await request(`PATCH /users/${ids.get('Moved')}`, { email: `new-${addressOf('Moved')}` });
    for (const link of [gone, moved]) expect((await redeem(world, link!)).status).toBe(404);
    expect(namesOf(await found('signIn=uninvited'))).toEqual(['Gone', 'Moved']);
  });

  test('an address that changes before the email is sent gets none, and neither does a person who loses access', async () => {
    const [moved, gone] = [await add('Moved'), await add('Gone')];
    // What the integrator or another administrator does between the click and the job.
    const { seen } = await preview(uninvited);
    await inTransaction(world.pool, async (tx) => {
      // The jobs wait for these rows, the click does not.
      await tx`select from users where account_id = ${account.id} for no key update`;
      expect((await invite(uninvited, seen)).status).toBe(200);
      await tx`
        update users set email = 'thief@example.org', email_key = 'thief@example.org'
        where  account_id = ${account.id} and user_id = ${moved}`;
      await tx`update users set active = false where account_id = ${account.id} and user_id = ${gone}`;
    });
    await idle();
    expect([mailsTo('Moved').length, mailsTo('Gone').length]).toEqual([0, 0]);
    expect(mails.filter(({ to }) => to.includes('thief@example.org'))).toEqual([]);
    const [links] = await world.pool`
      select count(*)::integer as count from sign_in_links where account_id = ${account.id}`;
    expect(links?.['count']).toBe(0);
  });
});

describe('without a mail server', () => {
  beforeEach(() => open(silent));

  test('a sheet has one link for each person, once; the next sheet replaces its links; nothing can be emailed', async () => {
    const [a] = [await add('Abe', 'Manager', {}, silent), await add('=Bea', 'Administrator', {}, silent)];
    await add('Cleo', 'Manager', { email: null }, silent);
    const plan = await preview(uninvited);
    expect(plan).toMatchObject({ by: 'sheet', inviting: 2, withoutEmail: 1, sheet: null });
    const first = (await invite(uninvited, plan.seen)).body.sheet;
    expect(first?.name).toBe('invitations.csv');
    const rows = first!.csv.trim().split('\r\n');
    expect(rows[0]).toBe('firstName,lastName,email,role,link,expires');
    expect(rows.slice(1).map((row) => row.split(',')[0])).toEqual(["'=Bea", 'Abe']);
    expect(await invitationOf(a!)).toMatchObject({ state: 'handed out', isExpired: false });
    expect((await invite(uninvited, plan.seen)).status).toBe(409);
    expect(JSON.stringify(await silent.pool`select details from audit_entries`)).not.toContain('password#');

    const invited = { filters: { signIn: 'invited' } };
    const again = await preview(invited);
    expect(again).toMatchObject({ inviting: 2, reminding: 2 });
    const second = (await invite(invited, again.seen)).body.sheet;
    const linkOf = (csv: string, name: string) =>
      linkIn(csv.split('\r\n').find((row) => row.startsWith(name)) ?? '');
    expect((await redeem(silent, linkOf(first!.csv, 'Abe'))).status).toBe(404);
    expect((await redeem(silent, linkOf(second!.csv, 'Abe'))).status).toBe(200);
    const [{ seconds } = { seconds: 0 }] = await silent.pool<{ seconds: number }[]>`
      select extract(epoch from expires_at - created_at)::integer as seconds from sign_in_links
      where  account_id = ${account.id}`;
    expect(seconds).toBe(72 * 3600);
    const mailed = await request('POST /users', newPerson('Eve', { invite: true }));
    expect([mailed.status, mailed.body.details[0]?.type]).toEqual([409, 'no mail server']);
  });
});
