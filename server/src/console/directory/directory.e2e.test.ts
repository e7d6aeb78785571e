// The directory page: what an administrator sees of it, its rule with the plan, people who are handed over, and a pending removal. In a
// browser: setting it up from the console alone.
import type { Directory, TreePlan } from '@soundings/contract/scim/directory.ts';
import { mkdirSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import { beginSession } from '../../auth/sessions.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { type ConsolePage, openConsole } from '../../testing/browser/console.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { openWorld, type World } from '../../testing/world.ts';

const admin = 'ada@example.org';
const enterprise = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** If set, pictures of the page are stored in this folder. */
const pictures = process.env['PICTURES'];

let world: World;
let browser: Browser | undefined;
beforeAll(async () => {
  world = await openWorld(undefined, { publicUrl: 'http://surveys.example.com' });
  if (hasBrowser()) browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

type Send = (method: string, path: string, body?: object) => Promise<{ id: string }>;

/** Returns an account with a directory that has sent these users. */
async function company(
  names: readonly string[],
  token?: string,
): Promise<{ accountId: number; send: Send; ids: string[] }> {
  const account = await world.account();
  const value =
    token ?? (await createToken(world.pool, account.id, { name: 'Entra', scopes: ['scim'] })).token;
  const send: Send = async (method, path, body) => {
    const init = {
      method,
      headers: { authorization: value, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    };
    const text = await (await fetch(`${world.address}/scim/v2${path}`, init)).text();
    return (text === '' ? {} : JSON.parse(text)) as { id: string };
  };
  const ids: string[] = [];
  for (const [i, name] of names.entries()) {
    const [givenName, familyName] = name.split(' ');
    const emails = [{ type: 'work', value: `${givenName!.toLowerCase()}@example.com` }];
    const department = i % 2 === 0 ? 'Sales' : 'Support';
    ids.push(
      (
        await send('POST', '/Users', {
          userName: name,
          name: { givenName, familyName },
          emails,
          [enterprise]: { division: 'Nordic', department },
        })
      ).id,
    );
  }
  return { accountId: account.id, send, ids };
}

const names = ['Anna Ek', 'Bo Öst', 'Cia Al', 'Dan Ask', 'Eva Björk', 'Finn Gran', 'Gun Lind'];

test('the page shows what the directory has sent, what waits, and its last requests', async () => {
  const { accountId } = await company(names);
  const { request } = await signInNew(world, accountId, 'Administrator');
  await expect
    .poll(async () => {
      const { body } = await request<Directory>('GET /directory');
      return [body.users.active, body.waiting.changes, body.requests.length];
    })
    .toEqual([7, 0, 7]); // the service applies them by itself
  const { body } = await request<Directory>('GET /directory');
  expect(body).toMatchObject({
    address: 'http://surveys.example.com/scim/v2',
    tokens: 2, // the account of a test has one with all scopes
    rule: { kind: 'none' },
    settleMinutes: 10,
    pendingRunId: null,
  });
  expect(body.requests[0]).toMatchObject({ request: 'POST /Users', status: 201, token: 'Entra' });
  const manager = await signInNew(world, accountId, 'Manager');
  expect((await manager.request('GET /directory')).status).toBe(403);
});

test('a rule is applied only as its plan showed it', async () => {
  const { accountId } = await company(names);
  const { request } = await signInNew(world, accountId, 'Administrator');
  const rule = { kind: 'attributes', levels: ['division', 'department'] };
  const { body: plan } = await request<TreePlan>('POST /directory/plan', { rule });
  expect(plan.summary.groups).toMatchObject({ created: 3 });
  const other = { ...plan.summary, groups: { ...plan.summary.groups, created: 4 } };
  expect((await request('PUT /directory/rule', { rule, summary: other })).status).toBe(409);
  expect((await request('PUT /directory/rule', { rule, summary: plan.summary })).status).toBe(204);
  expect((await request<Directory>('GET /directory')).body.rule).toEqual(rule);
  const log = await request<{ rows: { action: string }[] }>('GET /audit');
  expect(log.body.rows[0]?.action).toBe('directory changed');
  for (const wrong of [
    { kind: 'x' },
    { kind: 'attributes', levels: [] },
    { kind: 'attributes', levels: ['division', 'division'] },
  ])
    expect([wrong, (await request('POST /directory/plan', { rule: wrong })).status]).toEqual([wrong, 400]);
});

test('the waiting time is stored within its limits', async () => {
  const { accountId } = await company([]);
  const { request } = await signInNew(world, accountId, 'Administrator');
  expect((await request('PATCH /directory', { settleMinutes: 60 })).status).toBe(204);
  expect((await request<Directory>('GET /directory')).body.settleMinutes).toBe(60);
  for (const settleMinutes of [-1, 1441, 1.5, '5'])
    expect((await request('PATCH /directory', { settleMinutes })).status).toBe(400);
});

/** Opens the page in a browser for an administrator. */
async function openPage(accountId: number, more: object = {}): Promise<ConsolePage> {
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email = ${admin}`;
  const sessionOf = () =>
    beginSession(world.pool, { accountId, userId: user!.id }, { address: '127.0.0.1', agent: 'test' });
  return openConsole({ ...world, accountId, sessionOf }, browser as Browser, admin, {
    path: '/directory',
    ...more,
  });
}

async function picture(page: ConsolePage, name: string): Promise<void> {
  if (pictures === undefined) return;
  mkdirSync(pictures, { recursive: true });
  await page.screenshot({
    path: `${pictures}/${name}.jpg`,
    type: 'jpeg',
    quality: 62,
    fullPage: !name.includes('plan'),
  });
}

describe.skipIf(!hasBrowser())('the directory page (skipped: there is no Chromium on the PATH)', () => {
  test('sets a directory up: a token, the address, the rule with its plan, and a pending removal', async () => {
    const { accountId, send, ids } = await company(names);
    // Otherwise they would become people between the plan and its approval, which is refused then.
    await expect
      .poll(
        async () => (await world.pool`select from users where account_id = ${accountId} and by_scim`).length,
      )
      .toBe(names.length);
    const page = await openPage(accountId);
    await page.getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Entra ID');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText(/^snd_/).first().waitFor();
    await dialog.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('3 valid tokens').waitFor();

    await page.getByRole('combobox', { name: 'Rule' }).click();
    await page.getByRole('option', { name: 'Attributes of users' }).click();
    await page.getByLabel('Division').click();
    await page.getByRole('button', { name: 'Show plan' }).click();
    await page.getByRole('dialog').getByText('Groups: 3 created, 0 updated, 0 removed').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await picture(page, 'plan-light');
    await page.getByRole('dialog').getByRole('button', { name: 'Apply rule' }).click();
    await page.getByText('Rule applied').waitFor();

    for (const id of ids) await send('DELETE', `/Users/${id}`);
    await expect
      .poll(
        async () =>
          (await world.pool`select from runs where account_id = ${accountId} and outcome = 'pending'`).length,
      )
      .toBe(1);
    await page.reload();
    await page.getByText('Removals are awaiting your approval').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await picture(page, 'directory-light');
    await page.getByRole('link', { name: 'Show run' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page
      .getByText(/^Directory( ·|$)/)
      .first()
      .waitFor();
    await picture(page, 'run-light');
  });

  test('hands people over who exist already, also in Swedish, dark and on a phone', async () => {
    const { accountId, send } = await company([]);
    await world.pool`
      insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
      values (${accountId}, false, 'Anna', 'Ek', 'anna@example.com', 'anna@example.com', true, 'User')`;
    await send('POST', '/Users', {
      userName: 'anna@example.com',
      name: { givenName: 'Anna', familyName: 'Ek' },
    });
    await expect
      .poll(
        async () =>
          (await world.pool`select from scim_users where account_id = ${accountId} and is_blocked`).length,
      )
      .toBe(1);
    const page = await openPage(accountId, {
      language: 'sv',
      colorScheme: 'dark',
      size: { width: 390, height: 844 },
    });
    await page.getByRole('heading', { name: '1 användare väntar på ditt beslut' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await picture(page, 'directory-phone-dark-sv');
    await page.getByRole('button', { name: 'Lämna över 1 medarbetare' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Inget annat ändras nu.').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Lämna över 1 medarbetare' }).click();
    await page.getByText('1 medarbetare har lämnats över').waitFor();
    const people =
      await world.pool`select by_scim from users where account_id = ${accountId} and first_name = 'Anna'`;
    expect([...people]).toEqual([{ by_scim: true }]);
  });

  test('an administrator who waits is decided alone: kept, decided again, handed over after a plan, and taken back', async () => {
    const { accountId, send } = await company([]);
    const [bo] = await world.pool<{ id: number }[]>`
      insert into users (account_id, managed, first_name, last_name, email, email_key, active, role)
      values (${accountId}, false, 'Bo', 'Öst', 'bo@example.com', 'bo@example.com', true, 'Administrator')
      returning user_id as "id"`;
    const name = { givenName: 'Bo', familyName: 'Öst Berg' };
    await send('POST', '/Users', { userName: 'bo@example.com', name });
    await expect
      .poll(
        async () =>
          (await world.pool`select from scim_users where account_id = ${accountId} and is_blocked`).length,
      )
      .toBe(1);
    const page = await openPage(accountId, { path: `/people/${bo!.id}` });
    await page.getByText('Bo Öst Berg in the directory is most likely this person').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await picture(page, 'person-light');
    await page.getByRole('link', { name: 'Show in Directory' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Last name: Öst Berg (before: Öst)').waitFor();
    await dialog.getByText('This is an administrator.').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await picture(page, 'handover-plan-light');
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page
      .getByText('An administrator: those who run the directory could change or remove the account.')
      .waitFor();
    await page.getByRole('button', { name: 'Keep as is' }).click();
    await page.getByRole('heading', { name: 'Not handed over' }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Decide again' }).click();
    await page.getByRole('heading', { name: '1 user waits for your decision' }).waitFor();
    await page.getByRole('button', { name: 'Hand over', exact: true }).click();
    await dialog.getByRole('button', { name: 'Hand over 1 person' }).click();
    await page.getByText('1 person handed over').waitFor();

    await page.goto(`${world.address}/people/${bo!.id}`);
    await page.getByText('Managed by the directory').first().waitFor();
    await page.getByRole('button', { name: 'Take over from directory…' }).first().click();
    await dialog.getByRole('button', { name: 'Take over' }).click();
    await page.getByText('An administrator decided that this person is not handed over').waitFor();
    const people = await world.pool`
      select by_scim as "byScim", last_name as "lastName" from users where account_id = ${accountId} and user_id = ${bo!.id}`;
    expect([...people]).toEqual([{ byScim: false, lastName: 'Öst Berg' }]);
  });
});
