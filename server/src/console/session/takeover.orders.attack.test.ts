// One administrator tries to take over the account of another, by actions that are each harmless alone, in any order: links and
// passwords from before the person became an administrator, new addresses, the API. None of these actions opens the other
// administrator's account, and that person gets an email at the previous address.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setPassword } from '../../auth/sign-in.ts';
import { openLog } from '../../base/log.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const own = 'a password of the victim';
const stolen = 'a password of the attacker';

let [world, smtp] = [undefined as unknown as World, undefined as unknown as TestSmtp];
beforeAll(async () => {
  smtp = await openSmtp();
  world = await openWorld(openLog('silent'), { smtpUrl: smtp.url });
});
afterAll(async () => {
  await world.close();
  await smtp.close();
});

type Scene = {
  account: TestAccount;
  request: SendRequest;
  path: string;
  /** The victim's address. `evil`: an address at which the attacker reads mail. */
  email: string;
  evil: string;
  userId: number;
  externalId: string;
};

/** Creates an attacking administrator, and a victim: another administrator who has signed in before. */
async function createScene(): Promise<Scene> {
  const account = await world.account();
  const { request } = await signInNew(world, account.id, 'Administrator');
  const { userId } = await signInNew(world, account.id, 'Administrator');
  const { email } = (await request<{ email: string }>(`GET /users/${userId}`)).body;
  await setPassword(world.pool, account.id, userId, own);
  expect(await signIn(email, own)).toBe('Administrator');
  const more = { evil: `evil-${userId}@elsewhere.example`, externalId: `e${userId}` };
  return { account, request, path: `/users/${userId}`, email, userId, ...more };
}

type Session = { session: { user: { role: string } } };
const post = async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  return world.request<Session>('POST', `/api${path}`, { headers, body: JSON.stringify(body) });
};

/** Signs in and returns the role, or undefined if signing in is refused. */
async function signIn(email: string, password: string): Promise<string | undefined> {
  const { status, body } = await post('/session', { email, password });
  return status === 200 ? body.session.user.role : undefined;
}

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? '';
const secretIn = (link: string) => link.split('#')[1] as string;

/** Sets a password with a link, and returns the status and the cookie of the new session. */
async function setPasswordWith(link: string): Promise<{ status: number; cookie: string }> {
  const { status, headers } = await post('/password', { secret: secretIn(link), password: stolen });
  return { status, cookie: cookieOf(headers) };
}

const statusOf = async (cookie: string) =>
  (await world.request('GET', '/api/session', { headers: { cookie } })).status;

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const linksTo = (address: string) =>
  mailsTo(address).flatMap(({ text }) => /\S+\/password#\S+/.exec(text) ?? []);
/** Waits until all emails are sent. */
const allSent = async () =>
  until(async () => {
    const rows = await world.pool`
      select from graphile_worker.jobs where task_identifier like 'mail %'`;
    return rows.length === 0;
  });
const promoted = { role: 'Administrator' };
const change = async ({ request, path }: Scene, body: object) =>
  expect((await request(`PATCH ${path}`, body)).status).toBe(200);
const showLink = async ({ request, path }: Scene) =>
  (await request<{ link: string }>(`POST ${path}/sign-in-link`, { by: 'screen' })).body.link;

describe('after a person has become an administrator, there still works', () => {
  test('no password that was set before with a link that was shown, and no session that was started with that link', async () => {
    const now = await createScene();
    await change(now, { role: 'User' });
    const { status, cookie } = await setPasswordWith(await showLink(now));
    expect(status).toBe(200);
    expect(await signIn(now.email, stolen)).toBe('User');
    expect(await statusOf(cookie)).toBe(200);
    await change(now, promoted);
    expect(await signIn(now.email, stolen)).toBe(undefined);
    expect(await statusOf(cookie)).toBe(401);
    await until(async () => linksTo(now.email).length === 1); // the person sets a new password
    await allSent();
    const said = mailsTo(now.email)
      .map(({ text }) => text)
      .join('\n');
    for (const words of ['changed your role', 'shown to the administrator', 'password was set'])
      expect(said).toContain(words);
  });

  test.each([{ role: 'User' }, { role: 'Manager' }])(
    'no link that was shown when the person had the role $role',
    async (role) => {
      const now = await createScene();
      await change(now, role);
      const link = await showLink(now);
      await change(now, promoted);
      expect((await setPasswordWith(link)).status).toBe(404);
    },
  );

  test('no such password after a push gives the role back', async () => {
    const now = await createScene();
    await change(now, { role: 'User' });
    await setPasswordWith(await showLink(now));
    await push(now, now.email);
    expect((await now.request(`POST ${now.path}/confirm`)).status).toBe(200);
    expect(await signIn(now.email, stolen)).toBe(undefined);
    await until(async () => linksTo(now.email).length === 1);
  });
});

/** Hands the victim over to the HR system, and pushes the victim as an administrator with an address. */
async function push({ account, request, path, externalId }: Scene, email: string): Promise<void> {
  expect((await request(`POST ${path}/adopt`, { externalId })).status).toBe(200);
  const user = { externalId, firstName: 'Ann', lastName: 'Berg', email, accessInfo: promoted };
  const { status } = await account.push({
    settings: { validateOnly: false, maxUsersUpdated: 10 },
    data: { users: [user] },
  });
  expect(status).toBe(200);
}

describe('an address of the attacker', () => {
  const orders: [string, (now: Scene) => Promise<void>][] = [
    ['the address alone', (now) => change(now, { email: now.evil })],
    [
      'no action in between',
      async (now) => {
        await change(now, { email: null });
        await change(now, { email: now.evil });
      },
    ],
    [
      'while the person is not an administrator',
      async (now) => {
        await change(now, { role: 'User' });
        await change(now, { email: now.evil });
        await change(now, promoted);
      },
    ],
    [
      'after the password has ended',
      async (now) => {
        await change(now, { role: 'User' });
        await change(now, promoted);
        await change(now, { email: now.evil });
      },
    ],
    [
      'by a push',
      async (now) => {
        await push(now, now.evil);
        expect((await now.request(`POST ${now.path}/confirm`)).status).toBe(200);
      },
    ],
  ];

  test('gets no link, in any order', async () => {
    const scenes = await Promise.all(
      orders.map(async ([name, attack]) => {
        const now = await createScene();
        await attack(now);
        if (name === 'the address alone') await now.request(`POST ${now.path}/sign-in-link`, { by: 'mail' });
        else await post('/password/forgotten', { email: now.evil });
        return { name, ...now };
      }),
    );
    const said = (address: string, words: string) =>
      mailsTo(address).some(({ text }) => text.includes(words));
    const isDone = ({ email, evil }: Scene) =>
      linksTo(email).length > 0 && said(evil, 'previous email address');
    await until(async () => scenes.every(isDone)).catch(() => {});
    expect(
      scenes.map(({ name, email, evil }) => ({
        name,
        toThePerson: linksTo(email).length > 0,
        toTheAttacker: linksTo(evil).length,
        isPersonNotified: said(email, 'email address in Soundings was changed'),
        // An email to the new address says that links are sent to the previous address.
        isAttackerNotified: said(evil, 'previous email address'),
      })),
    ).toEqual(
      orders.map(([name]) => ({
        name,
        toThePerson: true,
        toTheAttacker: 0,
        isPersonNotified: true,
        isAttackerNotified: true,
      })),
    );
  });

  test('gives no access by a password that was set while the person was not an administrator', async () => {
    const now = await createScene();
    await change(now, { role: 'User' });
    await change(now, { email: now.evil });
    await post('/password/forgotten', { email: now.evil });
    const [link] = await until(async () => linksTo(now.evil).length > 0 && linksTo(now.evil));
    expect((await setPasswordWith(link as string)).status).toBe(200);
    await change(now, promoted);
    expect(await signIn(now.evil, stolen)).toBe(undefined);
    // The email about the new password goes to the previous address.
    await until(async () => mailsTo(now.email).some(({ text }) => text.includes('password was set')));
  });

  test('gets links only after a week, or for a person who has never signed in', async () => {
    const now = await createScene();
    await change(now, { email: now.evil });
    await world.pool`
      update users set email_changed_at = now() - interval '8 days'
      where  account_id = ${now.account.id} and user_id = ${now.userId}`;
    await post('/password/forgotten', { email: now.evil });
    await until(async () => linksTo(now.evil).length === 1);
    await world.pool`
      update users set email_changed_at = now() - interval '31 days'
      where  account_id = ${now.account.id} and user_id = ${now.userId}`;
    await world.pool`select graphile_worker.add_job('delete previous addresses')`;
    await until(async () => {
      const rows = await world.pool`
        select from users
        where  account_id = ${now.account.id} and user_id = ${now.userId} and email_before is null and email_changed_at is null`;
      return rows.length === 1;
    });

    const email = `mistyped-${now.userId}@example.org`;
    const { body } = await now.request<{ id: number }>('POST /users', {
      firstName: 'Eva',
      lastName: 'Ek',
      email,
      phone: null,
      role: 'Administrator',
      language: null,
      timezone: null,
      active: true,
      externalId: null,
    });
    const right = `right-${now.userId}@example.org`;
    expect((await now.request(`PATCH /users/${body.id}`, { email: right })).status).toBe(200);
    await post('/password/forgotten', { email: right });
    await until(async () => linksTo(right).length === 1);
  });
});
