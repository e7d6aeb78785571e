// One administrator tries to get hold of what another signs in with, by acts that are harmless each for itself, in any order: links
// and passwords from before the person became an administrator, new addresses, the interface. Nothing of it opens the
// administrator's account, and the person gets an email at the address from before.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setPassword } from '../auth/sign-in.ts';
import { openLog } from '../base/log.ts';
import { type Ask, signInNew } from '../testing/signed-in.ts';
import { openSmtp, type TestSmtp } from '../testing/smtp.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

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
  ask: Ask;
  path: string;
  /** The victim's address, and one at which the attacker reads mail. */
  email: string;
  evil: string;
  userId: number;
  externalId: string;
};

/** An administrator who attacks, and another, who has signed in before. */
async function scene(): Promise<Scene> {
  const account = await world.account();
  const { ask } = await signInNew(world, account.id, 'Administrator');
  const { userId } = await signInNew(world, account.id, 'Administrator');
  const { email } = (await ask<{ email: string }>(`GET /users/${userId}`)).body;
  await setPassword(world.pool, account.id, userId, own);
  expect(await signsIn(email, own)).toBe('Administrator');
  const more = { evil: `evil-${userId}@elsewhere.example`, externalId: `e${userId}` };
  return { account, ask, path: `/users/${userId}`, email, userId, ...more };
}

type Session = { session: { user: { role: string } } };
const post = async (path: string, body: object) => {
  const headers = { 'content-type': 'application/json' };
  return world.request<Session>('POST', `/api${path}`, { headers, body: JSON.stringify(body) });
};

/** The role that somebody has who signs in; undefined when it is refused. */
async function signsIn(email: string, password: string): Promise<string | undefined> {
  const { status, body } = await post('/session', { email, password });
  return status === 200 ? body.session.user.role : undefined;
}

const cookieOf = (headers: Headers) => headers.get('set-cookie')?.split(';')[0] ?? '';
const secretIn = (link: string) => link.split('#')[1] as string;

/** Sets a password by a link, and returns the status and the cookie of the session that begins. */
async function setsPassword(link: string): Promise<{ status: number; cookie: string }> {
  const { status, headers } = await post('/password', { secret: secretIn(link), password: stolen });
  return { status, cookie: cookieOf(headers) };
}

const statusOf = async (cookie: string) =>
  (await world.request('GET', '/api/session', { headers: { cookie } })).status;

const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));
const linksTo = (address: string) =>
  mailsTo(address).flatMap(({ text }) => /\S+\/password#\S+/.exec(text) ?? []);
/** Waits until no email is left to be sent. */
const allSent = async () =>
  until(async () => {
    const rows = await world.pool`
      select from graphile_worker.jobs where task_identifier like 'mail %'`;
    return rows.length === 0;
  });
const promoted = { role: 'Administrator' };
const changed = async ({ ask, path }: Scene, body: object) =>
  expect((await ask(`PATCH ${path}`, body)).status).toBe(200);
const shown = async ({ ask, path }: Scene) =>
  (await ask<{ link: string }>(`POST ${path}/sign-in-link`, { by: 'screen' })).body.link;

describe('nothing from before a person became an administrator', () => {
  test('a password that was set by a link that was shown, and the session that it began', async () => {
    const now = await scene();
    await changed(now, { role: 'User' });
    const { status, cookie } = await setsPassword(await shown(now));
    expect(status).toBe(200);
    expect(await signsIn(now.email, stolen)).toBe('User');
    expect(await statusOf(cookie)).toBe(200);
    await changed(now, promoted);
    expect(await signsIn(now.email, stolen)).toBe(undefined);
    expect(await statusOf(cookie)).toBe(401);
    await until(async () => linksTo(now.email).length === 1); // the person sets a new one
    await allSent();
    const said = mailsTo(now.email)
      .map(({ text }) => text)
      .join('\n');
    for (const words of ['changed your role', 'shown to the administrator', 'password was set'])
      expect(said).toContain(words);
  });

  test.each([{ role: 'User' }, { role: 'Manager' }])(
    'a link that was shown for the role $role',
    async (role) => {
      const now = await scene();
      await changed(now, role);
      const link = await shown(now);
      await changed(now, promoted);
      expect((await setsPassword(link)).status).toBe(404);
    },
  );

  test('a password by the interface: a role that a push gives back', async () => {
    const now = await scene();
    await changed(now, { role: 'User' });
    await setsPassword(await shown(now));
    await pushed(now, now.email);
    expect((await now.ask(`POST ${now.path}/confirm`)).status).toBe(200);
    expect(await signsIn(now.email, stolen)).toBe(undefined);
    await until(async () => linksTo(now.email).length === 1);
  });
});

/** The attacker hands the victim over to the interface, and pushes the victim as an administrator with an address. */
async function pushed({ account, ask, path, externalId }: Scene, email: string): Promise<void> {
  expect((await ask(`POST ${path}/adopt`, { externalId })).status).toBe(200);
  const user = { externalId, firstName: 'Ann', lastName: 'Berg', email, accessInfo: promoted };
  const { status } = await account.push({
    settings: { validateOnly: false, maxUsersUpdated: 10 },
    data: { users: [user] },
  });
  expect(status).toBe(200);
}

describe('an address of the attacker', () => {
  const orders: [string, (now: Scene) => Promise<void>][] = [
    ['the address alone', (now) => changed(now, { email: now.evil })],
    [
      'none in between',
      async (now) => {
        await changed(now, { email: null });
        await changed(now, { email: now.evil });
      },
    ],
    [
      'while the person is no administrator',
      async (now) => {
        await changed(now, { role: 'User' });
        await changed(now, { email: now.evil });
        await changed(now, promoted);
      },
    ],
    [
      'after the password has ended',
      async (now) => {
        await changed(now, { role: 'User' });
        await changed(now, promoted);
        await changed(now, { email: now.evil });
      },
    ],
    [
      'by the interface',
      async (now) => {
        await pushed(now, now.evil);
        expect((await now.ask(`POST ${now.path}/confirm`)).status).toBe(200);
      },
    ],
  ];

  test('gets no link, in whatever order', async () => {
    const scenes = await Promise.all(
      orders.map(async ([name, attack]) => {
        const now = await scene();
        await attack(now);
        if (name === 'the address alone') await now.ask(`POST ${now.path}/sign-in-link`, { by: 'mail' });
        else await post('/password/forgotten', { email: now.evil });
        return { name, ...now };
      }),
    );
    const said = (address: string, words: string) =>
      mailsTo(address).some(({ text }) => text.includes(words));
    const isDone = ({ email, evil }: Scene) =>
      linksTo(email).length > 0 && said(evil, 'previous email address');
    await until(async () => scenes.every(isDone), 20_000).catch(() => {});
    expect(
      scenes.map(({ name, email, evil }) => ({
        name,
        toThePerson: linksTo(email).length > 0,
        toTheAttacker: linksTo(evil).length,
        isPersonNotified: said(email, 'email address in Soundings was changed'),
        // The new address learns that links go elsewhere.
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

  test('a password that was set while the person was no administrator', async () => {
    const now = await scene();
    await changed(now, { role: 'User' });
    await changed(now, { email: now.evil });
    await post('/password/forgotten', { email: now.evil });
    const [link] = await until(async () => linksTo(now.evil).length > 0 && linksTo(now.evil));
    expect((await setsPassword(link as string)).status).toBe(200);
    await changed(now, promoted);
    expect(await signsIn(now.evil, stolen)).toBe(undefined);
    // The notice that the password was set reaches the address from before.
    await until(async () => mailsTo(now.email).some(({ text }) => text.includes('password was set')));
  });

  test('after a week links go to the new address; before, one of a person who has never signed in does', async () => {
    const now = await scene();
    await changed(now, { email: now.evil });
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
    const { body } = await now.ask<{ id: number }>('POST /users', {
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
    expect((await now.ask(`PATCH /users/${body.id}`, { email: right })).status).toBe(200);
    await post('/password/forgotten', { email: right });
    await until(async () => linksTo(right).length === 1);
  });
});
