// Signing in with a real browser: the first start, passwords, two-factor authentication, forgotten passwords, and sessions that
// end while a user works.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { deleteSessionsOf } from '../../auth/sessions.sql.ts';
import { setPassword } from '../../auth/sign-in.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { noon } from '../../testing/asking.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { openTestDatabase } from '../../testing/database.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';
import { bareEnvironment } from '../../testing/processes/environment.ts';
import { freePort } from '../../testing/processes/free-port.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { until } from '../../testing/until.ts';
import { builtProgram } from '../../testing/service-build.ts';

const good = 'nine quiet harbours';
const main = builtProgram('main');

let world: DemoWorld;
let browser: Browser;
let smtp: TestSmtp;
beforeAll(async () => {
  if (!hasBrowser()) return;
  smtp = await openSmtp();
  world = await openDemoWorld({ smtpUrl: smtp.url });
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
  await smtp?.close();
});

const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name });
const field = (page: Page, label: string) => page.getByLabel(label, { exact: true });
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** Fills in and submits the sign-in form. */
async function submitSignIn(page: Page, email: string, password: string): Promise<void> {
  await field(page, 'Email address').fill(email);
  await field(page, 'Password').fill(password);
  await press(page, 'Sign in');
}

/** Returns the actions in the audit log by or about a person, oldest first. */
async function auditOf(userId: number): Promise<string[]> {
  const rows = await world.pool<{ action: string }[]>`
    select action from audit_entries
    where  account_id = ${world.accountId} and (user_id = ${userId} or subject = ${String(userId)})
    order  by entry_id`;
  return rows.map(({ action }) => action);
}

/** Creates a user with a password manually. */
async function createUserWithPassword(
  firstName: string,
  role = 'Manager',
): Promise<{ userId: number; email: string }> {
  const email = `${firstName.toLowerCase()}@example.com`;
  const userId = await inTransaction(world.pool, async (tx) => {
    const id = await createUser(tx, world.accountId, { firstName, lastName: 'Lind', email, role });
    await setPassword(tx, world.accountId, id, good);
    return id;
  });
  return { userId, email };
}

/** Starts the service on an empty database, and returns the link that it prints. */
async function startEmptyService(): Promise<{ link: string; url: string }> {
  const database = await openTestDatabase('template0');
  const port = await freePort();
  const env = {
    ...bareEnvironment,
    DATABASE_URL: database.url,
    PORT: String(port),
    SFTP_PORT: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'warn',
  };
  const service = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(async () => {
    service.kill('SIGTERM');
    if (service.exitCode === null) await once(service, 'exit');
    await database.close();
  });
  let said = '';
  service.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const link = await until(async () => /http:\S+\/setup#[\w-]{32}/.exec(said)?.[0]);
  return { link, url: link.slice(0, link.indexOf('/setup')) };
}

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('an empty service prints a link that works once: its page creates the company and signs the user in', async () => {
    const { link, url } = await startEmptyService();
    const empty = {
      address: url,
      pool: world.pool,
      accountId: 0,
      sessionOf: () => Promise.reject(new Error()),
    };
    const page = await openConsole(empty, browser);
    await page.getByText('No account yet').waitFor();
    await page.goto(link);
    await heading(page, 'Welcome to Soundings').waitFor();
    await field(page, 'Name').fill('Nordwind');
    await field(page, 'First name').fill('Ada');
    await field(page, 'Last name').fill('Berg');
    await field(page, 'Email address').fill('ada.berg@nordwind.example');
    page.expectComplaint(/status of 400/);
    await field(page, 'Password').fill('password1234');
    await press(page, 'Create account');
    await page.getByText('This password is too common. Choose another.').waitFor();
    expect(await field(page, 'First name').inputValue()).toBe('Ada');
    await field(page, 'Password').fill(good);
    await press(page, 'Create account');
    await heading(page, 'Overview').waitFor();
    await page.getByRole('button', { name: 'Ada Berg Administrator' }).waitFor();
    // The company has no people yet: every page of results shows the first steps with links.
    for (const name of ['Heat map', 'Trends', 'Comments', 'Overview']) {
      await page.getByRole('link', { name, exact: true }).click();
      await heading(page, name).waitFor();
      await page.getByRole('heading', { name: 'Add people' }).waitFor();
    }
    expect(await page.getByText('Ask an administrator').count()).toBe(0);
    await page.getByRole('link', { name: 'Choose a template' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Upload a file' }).click();
    await heading(page, 'Files').waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page.getByText('1 person in the account').waitFor();
    await page.getByRole('link', { name: 'Ada Berg' }).waitFor();

    const late = await openConsole(empty, browser, undefined, { path: `/setup${new URL(link).hash}` });
    late.expectComplaint(/status of 404/);
    await heading(late, 'This link no longer works').waitFor();
  });

  test('a wrong password is refused without revealing whether the address is known; the right one opens the requested page', async () => {
    const { email, password } = world.administrator;
    const page = await openConsole(world, browser, undefined, { path: '/people?q=soderlund' });
    await heading(page, 'Sign in to Soundings').waitFor();
    for (const [who, what] of [
      [email, 'not the password'],
      ['nobody@lavmark.example', password],
    ] as const) {
      await submitSignIn(page, who, what);
      await page.getByText('Wrong email address or password.').waitFor();
      expect(await field(page, 'Email address').inputValue()).toBe(who);
      await field(page, 'Password').fill('');
    }
    expect(await page.context().cookies()).toEqual([]);
    await submitSignIn(page, email, password);
    await heading(page, 'People').waitFor();
    expect(new URL(page.url()).search).toBe('?q=soderlund');
    await page.getByRole('link', { name: 'Ebba Söderlund' }).waitFor();
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ name: 'soundings', httpOnly: true, sameSite: 'Lax' });

    await page.getByRole('button', { name: /Administrator$/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await heading(page, 'Sign in to Soundings').waitFor();
    await page.goto('/people');
    await heading(page, 'Sign in to Soundings').waitFor();
    const response = await world.request('GET', '/api/users', {
      headers: { cookie: `soundings=${cookie?.value}` },
    });
    expect(response.status).toBe(401);
  });

  test('two-factor authentication is set up on the profile; after that the password alone is not enough, and a code works once', async () => {
    const { userId, email } = await createUserWithPassword('Tuva');
    const page = await openConsole(world, browser, email, { path: '/profile' });
    await press(page, 'Set up…');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Password', { exact: true }).fill(good);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await dialog.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
    const secret = (await dialog.getByRole('code').textContent()) as string;
    const codeAt = (ms: number) => new TOTP({ secret }).generate({ timestamp: ms });
    await dialog.getByLabel('Code', { exact: true }).fill(codeAt(noon));
    await dialog.getByRole('button', { name: 'Turn on' }).click();
    await page.getByRole('heading', { name: 'Save your recovery codes' }).waitFor();
    const kept = await page.getByRole('dialog').getByRole('listitem').allTextContents();
    expect(new Set(kept).size).toBe(10);
    await page.getByRole('checkbox', { name: 'I have saved them in a safe place' }).check();
    await press(page, 'Done');
    await page.getByText('10 recovery codes left').waitFor();

    const later = await openConsole(world, browser, undefined, { path: '/profile' });
    await submitSignIn(later, email, good);
    await later.getByText('6 digits from your authenticator app.').waitFor();
    expect(await later.context().cookies()).toEqual([]);
    await field(later, 'Code').fill(codeAt(noon));
    await press(later, 'Sign in');
    await later.getByText('This code is wrong, has expired or has already been used.').waitFor();
    await field(later, 'Code').fill(codeAt(noon + 30_000));
    await press(later, 'Sign in');
    await heading(later, 'Your profile').waitFor();

    // A user who has lost the phone uses a recovery code.
    const lost = await openConsole(world, browser, undefined, { path: '/profile' });
    await submitSignIn(lost, email, good);
    await press(lost, 'Use a recovery code');
    await field(lost, 'Recovery code').fill(kept[3] as string);
    await press(lost, 'Sign in');
    await lost.getByText('9 recovery codes left').waitFor();
    const deeds = await auditOf(userId);
    expect(deeds).toEqual(['two-factor turned on', 'sign-in refused', 'signed in', 'signed in']);
  });

  test('a user who forgot the password sets a new one with a link in an email, and is signed out everywhere else', async () => {
    const { email, password } = world.manager;
    const elsewhere = await world.sessionOf(email);
    const page = await openConsole(world, browser, undefined, { path: '/sign-in' });
    page.expectComplaint(/status of 40[14]/);
    await page.getByRole('link', { name: 'Set or reset your password' }).click();
    const sent = smtp.mails.length;
    await field(page, 'Email address').fill(email);
    await press(page, 'Email me a link');
    await page.getByText(`If ${email} can sign in here, an email with a link is on its way.`).waitFor();
    // Invitations are sent as well, at each full minute.
    const mail = await until(async () => smtp.mails.slice(sent).find(({ text }) => /\/password#/.test(text)));
    expect(mail.to).toEqual([email]);
    const link = /http:\/\/localhost(\/password#[\w-]+)/.exec(mail.text)?.[1] as string;
    await page.goto(link);
    await heading(page, 'Set a new password').waitFor();
    page.expectComplaint(/status of 400/);
    await field(page, 'New password').fill('too short');
    await press(page, 'Set password');
    await page.getByText('Use at least 12 characters.').waitFor();
    await field(page, 'New password').fill(good);
    await press(page, 'Set password');
    // From here on, pages are in the manager's language.
    await page.getByRole('link', { name: /^(Overview|Översikt)$/ }).waitFor();

    const status = async (headers: Record<string, string>) =>
      (await world.request('GET', '/api/session', { headers })).status;
    expect(await status({ cookie: `soundings=${elsewhere}` })).toBe(401);
    const signIn = (given: string) =>
      world.request('POST', '/api/session', {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email, password: given }),
      });
    expect([(await signIn(password)).status, (await signIn(good)).status]).toEqual([401, 200]);
    const again = await openConsole(world, browser, undefined, { path: link });
    again.expectComplaint(/status of 404/);
    await heading(again, 'This link no longer works').waitFor();
  });

  test('a session ends while a user fills in a form: after signing in again in a dialog, the form is intact and is sent', async () => {
    const { userId, email } = await createUserWithPassword('Disa', 'Administrator');
    const page = await openConsole(world, browser, email, { path: '/people/new' });
    page.expectComplaint(/status of 4(01|09)/);
    await field(page, 'First name').fill('Inga-Lill');
    await field(page, 'Last name').fill('Åkesson');
    await page.getByLabel('Email (optional)').fill(world.manager.email);
    await page.getByLabel('External ID (optional)').fill('hand-17');
    await deleteSessionsOf(world.pool, { accountId: world.accountId, userId });
    await press(page, 'Add person');

    const dialog = page.getByRole('dialog', { name: 'You have been signed out' });
    await dialog
      .getByText('Sign in as Disa Lind at Lavmark (demo) to continue. What you typed is kept.')
      .waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill('not the password');
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.getByText('Wrong email address or password.').waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill(good);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });

    // The request caused an error. The field shows it, and no input is lost.
    await page.getByText('Another person already has this email address.').waitFor();
    expect(await field(page, 'First name').inputValue()).toBe('Inga-Lill');
    expect(await field(page, 'Last name').inputValue()).toBe('Åkesson');
    expect(await page.getByLabel('External ID (optional)').inputValue()).toBe('hand-17');
    await page.getByLabel('Email (optional)').fill('inga@example.com');
    await press(page, 'Add person');
    await heading(page, 'Inga-Lill Åkesson').waitFor();
    const [created] = await world.pool`
      select email, managed from users
      where  account_id = ${world.accountId} and external_id = 'hand-17' and first_name = 'Inga-Lill'`;
    expect(created).toEqual({ email: 'inga@example.com', managed: false });
  });

  test('a user who is deactivated is signed out immediately and cannot sign in again', async () => {
    const { userId, email } = await createUserWithPassword('Runa');
    const theirs = await openConsole(world, browser, email, { path: '/profile' });
    await heading(theirs, 'Your profile').waitFor();
    const page = await openConsole(world, browser, world.administrator.email, { path: `/people/${userId}` });
    await page.getByRole('button', { name: 'Actions for Runa Lind' }).click();
    await page.getByRole('menuitem', { name: 'Deactivate' }).click();
    await page.getByText('Runa Lind deactivated and signed out').waitFor();

    theirs.expectComplaint(/status of 401/);
    await theirs.getByRole('link', { name: 'Groups', exact: true }).click();
    const dialog = theirs.getByRole('dialog', { name: 'You have been signed out' });
    await dialog.getByLabel('Password', { exact: true }).fill(good);
    await dialog.getByRole('button', { name: 'Sign in', exact: true }).click();
    await dialog.getByText('Wrong email address or password.').waitFor();
    const sessions = await world.pool`
      select 1 from sessions where account_id = ${world.accountId} and user_id = ${userId}`;
    expect(sessions).toHaveLength(0);
    expect(await auditOf(userId)).toContain('person changed');
  });
});
