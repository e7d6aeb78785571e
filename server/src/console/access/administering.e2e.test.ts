// What an administrator of the demo company does in the console, in a real browser, and its effects: tokens and API access,
// people, groups, attributes, and the audit log, which records all of it.
import { readFile } from 'node:fs/promises';
import type { Report } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createToken } from '../../accounts/tokens.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { type ConsolePage, openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

let world: DemoWorld;
let browser: Browser;
/** The token for pushes. */
let token: string;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openDemoWorld();
  browser = await openBrowser();
  const created = await createToken(world.pool, world.accountId, { name: 'HR', scopes: ['organization'] });
  token = created.token;
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const openPage = (path: string): Promise<ConsolePage> =>
  openConsole(world, browser, world.administrator.email, { path });
/** The title of a page. It may start with the titles of its parent pages. */
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name: new RegExp(`(^|\\s)${name}$`) });
const press = (within: Pick<Page, 'getByRole'>, name: string) =>
  within.getByRole('button', { name, exact: true }).click();

/** Chooses an option in a field or filter that opens a list. */
async function choose(page: Page, field: string | RegExp, option: string): Promise<void> {
  await page.getByRole('combobox', { name: field }).click();
  await page.getByRole('option', { name: option, exact: true }).click();
}

const status = async (path: string, authorization: string) =>
  (await world.request('GET', path, { headers: { authorization } })).status;

/** Returns what a push of this list of people would change. */
async function previewPush(users: object[]) {
  const settings = { validateOnly: true, maxUsersDeleted: 20_000 };
  const response = await world.request<Report & Problem>('POST', '/v1/organization/organization', {
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ settings, data: { users } }),
  });
  return response.body;
}

const parentOf = async (name: string) => {
  const [row] = await world.pool<{ parent: string }[]>`
    select p.name as parent
    from   groups g
    join   groups p on p.account_id = g.account_id and p.group_id = g.parent_id
    where  g.account_id = ${world.accountId} and g.name = ${name}`;
  return row?.parent;
};

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('a token is shown once, its command for the terminal works, and it stops working when revoked', async () => {
    const page = await openPage('/tokens');
    await press(page, 'Create token');
    const making = page.getByRole('dialog', { name: 'Create an API token' });
    expect(await making.getByRole('button', { name: 'Create token' }).isDisabled()).toBe(true);
    await making.getByLabel('Name').fill('Power BI');
    await making.getByRole('checkbox', { name: 'Read results' }).check();
    await choose(page, /^Expires/, 'In 90 days');
    await press(making, 'Create token');

    const shown = page.getByRole('dialog', { name: 'Token “Power BI” created' });
    await shown.getByText(/^curl http:\/\/localhost/).waitFor();
    const [secret, line] = (await shown.getByRole('code').allTextContents()) as [string, string];
    await press(shown, 'Copy: Token');
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    const [, address, header] = /^curl http:\/\/localhost(\S+) -H "Authorization: (\S+)"$/.exec(line) ?? [];
    expect(header).toBe(secret);
    const response = await world.request<{ name: string }[]>('GET', address as string, {
      headers: { authorization: header as string },
    });
    expect(response.status).toBe(200);
    expect(response.body.map(({ name }) => name)).toContain('Repair Workshop');
    expect(await status('/v1/organization', secret)).not.toBe(200);
    await press(shown, 'I have copied it');

    await page.reload();
    const row = page.getByRole('row', { name: /Power BI/ });
    await row.getByText('Read results').waitFor();
    expect(await page.content()).not.toContain(secret);
    await press(row, 'Revoke…');
    await page.getByRole('dialog', { name: 'Revoke “Power BI”?' }).waitFor();
    await press(page.getByRole('dialog'), 'Revoke token');
    // While a dialog is open, the page below it has no accessible rows.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    expect(await status('/v1/groups', secret)).toBe(401);
    await page.getByRole('switch', { name: 'Show revoked and expired' }).check();
    await row.getByText('Revoked', { exact: true }).waitFor();
  });

  test('a dangerous action requires the password again in a dialog and then continues; without the password nothing happens', async () => {
    const page = await openPage('/tokens');
    const forget = () =>
      world.pool`update sessions set proved_at = now() - interval '11 minutes' where account_id = ${world.accountId}`;
    await forget();
    page.expectComplaint(/status of 40[03]/);
    const making = page.getByRole('dialog', { name: 'Create an API token' });
    const asking = page.getByRole('dialog', { name: 'Confirm with your password' });
    const shown = page.getByRole('dialog', { name: 'Token “Payroll” created' });
    await press(page, 'Create token');
    await making.getByLabel('Name').fill('Payroll');
    await making.getByRole('checkbox', { name: 'Read results' }).check();
    await press(making, 'Create token');
    await asking.waitFor();
    expect(await axeFaults(page)).toEqual([]);

    // After cancelling, the input is still there.
    await press(asking, 'Cancel');
    await making.getByText(/^This requires your password, so nothing was changed\./).waitFor();
    expect(await making.getByLabel('Name').inputValue()).toBe('Payroll');

    await press(making, 'Create token');
    await asking.getByLabel('Password', { exact: true }).fill('not the password');
    await press(asking, 'Confirm');
    await asking.getByText('Wrong password.').waitFor();
    await asking.getByLabel('Password', { exact: true }).fill(world.administrator.password);
    await page.keyboard.press('Enter');
    await shown.waitFor();
    await press(shown, 'I have copied it');

    // The password is not requested again for ten minutes. After that it is, even by an action in a confirmation dialog.
    const row = page.getByRole('row', { name: /Payroll/ });
    await row.waitFor();
    await forget();
    await press(row, 'Revoke…');
    await press(page.getByRole('dialog', { name: 'Revoke “Payroll”?' }), 'Revoke token');
    await asking.getByLabel('Password', { exact: true }).fill(world.administrator.password);
    await press(asking, 'Confirm');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await row.waitFor({ state: 'detached' });
    const created = await world.pool`
      select revoked_at is not null as revoked from tokens where account_id = ${world.accountId} and name = 'Payroll'`;
    expect([...created]).toEqual([{ revoked: true }]);
  });

  test('the privacy report shows the current settings, roles and tokens, and prints without navigation', async () => {
    const page = await openPage('/settings');
    await page.getByLabel('Values and response rates').fill('8');
    await press(page, 'Save');
    await page.getByText('Settings saved.').waitFor();
    await page.getByRole('link', { name: 'Privacy report' }).click();
    await heading(page, 'Privacy report').waitFor();
    const row = (name: string | RegExp) => page.getByRole('row', { name });
    const cells = async (name: string | RegExp) =>
      await row(name).first().getByRole('cell').allTextContents();
    await row('Minimum answers behind a figure').waitFor();
    // The open week keeps the settings it was opened with.
    expect(await cells('Minimum answers behind a figure')).toEqual(['8', '5']);
    expect(await cells('Minimum answers behind a distribution')).toEqual(['16', '10']);
    await page.getByText('Means and response rates based on fewer than 5 answers.').waitFor();
    await page.getByText('Figures of different weeks can be compared').waitFor();
    expect((await cells(/^Manager results of their groups/))[0]).toMatch(/^\d+$/);
    await row(/^demo/).waitFor();

    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(await page.getByRole('navigation').isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Print' }).isVisible()).toBe(false);
    expect(await page.getByText('What is kept, and for how long').isVisible()).toBe(true);
    const colours = await page.evaluate<string[]>(
      `['color', 'backgroundColor'].map((name) => getComputedStyle(document.querySelector('main'))[name])`,
    );
    expect(colours).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
    expect((await page.pdf({ preferCSSPageSize: true })).length).toBeGreaterThan(10_000);
    await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await page.goto('/settings');
    await page.getByLabel('Values and response rates').fill('5');
    await press(page, 'Save');
    await page.getByText('Settings saved.').waitFor();
  });

  test('files are accepted only from allowed addresses: the form suggests the user’s address, and reports invalid ones at the field', async () => {
    const files = await createToken(world.pool, world.accountId, { name: 'files', scopes: ['files'] });
    expect(await status('/v1/storage/files', files.token)).toBe(200);
    const page = await openPage('/access');
    page.expectComplaint(/status of 400/);
    await page.getByText('http://localhost/v1/organization', { exact: true }).waitFor();
    await page.getByText('Uploads are accepted from every address, including yours.').waitFor();
    const field = page.getByLabel('Address or range');
    await field.fill('203.0.113.0/33');
    await press(page, 'Add');
    await page.getByText(/203\.0\.113\.0\/33/).waitFor();
    expect(await field.inputValue()).toBe('203.0.113.0/33');
    await field.fill('203.0.113.0/24');
    await press(page, 'Add');
    await page.getByText('It is outside every allowed range, so uploads from here are refused.').waitFor();
    expect(await status('/v1/storage/files', files.token)).not.toBe(200);
    await press(page, 'Add 127.0.0.1');
    await page.getByText('It is inside an allowed range.').waitFor();
    expect(await status('/v1/storage/files', files.token)).toBe(200);
    await press(page, 'Remove 203.0.113.0/24');
    await page.getByText('203.0.113.0/24').waitFor({ state: 'detached' });
    const [kept] = await world.pool<{ allow: string[] }[]>`
      select allowed_addresses as allow from accounts where account_id = ${world.accountId}`;
    expect(kept?.allow).toEqual(['127.0.0.1']);
    await press(page, 'Remove 127.0.0.1');
    await press(page.getByRole('dialog'), 'Remove and allow every address');
    await page.getByText('Every address is allowed.').waitFor();
  });

  test('a person is found without typing accents; managed fields are locked, and the others can be changed', async () => {
    const page = await openPage('/people');
    await page.getByRole('link', { name: 'Ebba Söderlund' }).or(page.getByRole('table')).first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('soderlund ebba');
    await page.getByText('1 found').waitFor();
    await page.getByRole('link', { name: 'Ebba Söderlund' }).click();
    await heading(page, 'Ebba Söderlund').waitFor();
    await press(page, 'Edit');
    await page.getByRole('combobox', { name: 'Role' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'First name' }).count()).toBe(0);
    const locks = page.getByRole('button', { name: 'Managed by your HR system. Change it there.' });
    expect(await locks.count()).toBeGreaterThan(4);
    await choose(page, 'Role', 'Manager Results of the groups they own or have read access to');
    await choose(page, 'workplace', 'Shop');
    await press(page, 'Save');
    await page.getByText('Saved', { exact: true }).waitFor();
    const userId = Number(/\d+$/.exec(page.url()));
    const [changed] = await world.pool`
      select role, attributes ->> 'workplace' as workplace, first_name as "firstName", managed
      from   users where account_id = ${world.accountId} and user_id = ${userId}`;
    expect(changed).toEqual({ role: 'Manager', workplace: 'Shop', firstName: 'Ebba', managed: true });

    // The server refuses the change as well.
    const cookie = `soundings=${await world.sessionOf(world.administrator.email)}`;
    const refused = await world.request('PATCH', `/api/users/${userId}`, {
      headers: { cookie, 'content-type': 'application/json' },
      body: JSON.stringify({ firstName: 'Eva' }),
    });
    expect(refused.status).toBe(409);
    expect(refused.body.details).toMatchObject([{ type: 'managed', path: '/firstName' }]);
  });

  test('a search that is typed just before a person is opened does not change the URL of that page', async () => {
    // On a busy machine, the search begins before the click, so it finds the same person.
    const page = await openPage('/people?q=soder');
    await page.getByText('1 found').waitFor();
    await page.clock.install();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/PersonPage-*.js', async (route) => {
      await released;
      await route.continue();
    });
    await page.getByRole('searchbox').pressSequentially('lund');
    await page.getByRole('link', { name: 'Ebba Söderlund' }).click();
    await page.waitForURL(/\/people\/\d+$/);
    await page.clock.runFor(1_000);
    release();
    await heading(page, 'Ebba Söderlund').waitFor();
    expect(page.url()).toMatch(/\/people\/\d+$/);
  });

  test('a person is added and changed manually and handed over; after that, pushes update the person', async () => {
    const page = await openPage('/people');
    await page.getByRole('link', { name: 'Add person' }).click();
    await page.getByLabel('First name').fill('Siv');
    await page.getByLabel('Last name').fill('Ek');
    await page.getByLabel('Email (optional)').fill('siv.ek@example.com');
    await page.getByRole('combobox', { name: 'Member of' }).click();
    await page.getByRole('combobox', { name: 'Search groups' }).fill('malmo');
    await page.getByRole('option', { name: /^Malmö Shop/ }).click();
    await page.keyboard.press('Escape');
    await choose(page, 'workplace', 'Shop');
    await press(page, 'Add person');
    await heading(page, 'Siv Ek').waitFor();
    await press(page, 'Edit');
    await page.getByLabel('Last name').fill('Ekström');
    await press(page, 'Save');
    await heading(page, 'Siv Ekström').waitFor();
    // Created manually: a push without any people keeps the person.
    const before = await previewPush([]);
    expect(before.changes.map(({ externalId }) => externalId)).not.toContain('hr-900');

    await press(page, 'Actions for Siv Ekström');
    await page.getByRole('menuitem', { name: 'Hand over to HR system…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Hand Siv Ekström over to your HR system?' });
    await dialog.getByLabel('External ID').fill('hr-900');
    await dialog.getByText(/If hr-900 is missing from the next full list, the person is removed/).waitFor();
    await press(dialog, 'Hand over');
    await page.getByText('Siv Ekström handed over').waitFor();
    await page.getByText('Managed by your HR system', { exact: true }).waitFor();
    const [kept] = await world.pool`
      select u.managed, g.name as "group"
      from   users u
      join   memberships m using (account_id, user_id)
      join   groups g using (account_id, group_id)
      where  u.account_id = ${world.accountId} and u.external_id = 'hr-900'`;
    expect(kept).toEqual({ managed: true, group: 'Malmö Shop' });
    const listed = await previewPush([{ externalId: 'hr-900', firstName: 'Siv', lastName: 'Ekman' }]);
    expect(listed.changes.find(({ externalId }) => externalId === 'hr-900')).toMatchObject({
      action: 'update',
      fields: { lastName: { from: 'Ekström', to: 'Ekman' } },
    });
    const omitted = await previewPush([]);
    expect(omitted.changes).toContainEqual({ entity: 'user', externalId: 'hr-900', action: 'delete' });
  });

  test('a group is moved with the keyboard alone: the effects are shown before the move, which can be undone afterwards', async () => {
    const page = await openPage('/groups');
    const { keyboard } = page;
    /** Presses a key until a group has the focus. Only a few rows are shown. */
    async function goTo(name: string, key: string): Promise<void> {
      const group = page.getByRole('treeitem', { name: new RegExp(`^${name}`) });
      for (let row = 0; row < 10; row++) {
        if (await group.evaluate((one) => one.matches(':focus'))) return;
        await keyboard.press(key);
      }
      throw new Error(`No key has led to ${name}.`);
    }
    await page.getByRole('treeitem', { name: /^Lavmark/ }).waitFor();
    await keyboard.press('/');
    await keyboard.type('workshop');
    await page.getByText('4 groups found').waitFor();
    await goTo('Lavmark', 'Tab');
    await goTo('Repair Workshop', 'ArrowDown');
    await keyboard.press(' ');
    await page.getByText('Moving Repair Workshop. Choose its new parent, or press Esc to cancel.').waitFor();
    await goTo('Borås Workshop', 'ArrowUp');
    await keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Move Repair Workshop' });
    await dialog.getByText('From the next round on, answers also count for: Borås Workshop.').waitFor();
    await dialog.getByText(/people move with it/).waitFor();
    expect(await parentOf('Repair Workshop')).toBe('Workshops');
    await dialog.getByRole('button', { name: 'Move group', exact: true }).press('Enter');
    await page.getByText('Repair Workshop moved to Borås Workshop.').waitFor();
    expect(await parentOf('Repair Workshop')).toBe('Borås Workshop');
    await press(page, 'Undo');
    await page.getByText('Repair Workshop moved back.').waitFor();
    expect(await parentOf('Repair Workshop')).toBe('Workshops');
  });

  test('an attribute with allowed values: a push with another value is refused, and an allowed value can be given to a person', async () => {
    const sends = (shift: string) =>
      previewPush([{ externalId: 'new-1', firstName: 'A', lastName: 'B', externalProperties: { shift } }]);
    expect((await sends('Day')).details).toHaveLength(1);
    const page = await openPage('/attributes');
    await press(page, 'Add attribute');
    const dialog = page.getByRole('dialog', { name: 'Add attribute' });
    await dialog.getByLabel('Name').fill('shift');
    await dialog.getByLabel('Allowed values').fill('Day\nEvening\n\nDay');
    await press(dialog, 'Add attribute');
    await page.getByText('shift added.').waitFor();
    await page.getByRole('row', { name: /shift.*Day.*Evening/ }).waitFor();
    expect((await sends('Night')).details).toHaveLength(1);
    expect((await sends('Day')).summary.users.created).toBe(1);
    await page.goto('/people/1');
    await press(page, 'Edit');
    await page.getByRole('combobox', { name: 'shift' }).click();
    expect(await page.getByRole('option').allTextContents()).toEqual(['none', 'Day', 'Evening']);
  });

  test('the audit log has all of these actions with their user and address; it can be filtered, and downloaded as filtered', async () => {
    const page = await openPage('/audit');
    await page.getByRole('row', { name: /attribute defined/ }).waitFor();
    for (const deed of [
      'token created',
      'token revoked',
      'settings changed',
      'person changed',
      'person created',
      'person handed over to HR system',
      'group moved',
    ]) {
      await page
        .getByRole('row', { name: new RegExp(`${deed}.*127\\.0\\.0\\.1`) })
        .first()
        .waitFor();
    }
    await choose(page, /^Action/, 'group moved');
    await page.getByText('2 entries').waitFor();
    const rows = page.getByRole('row', { name: /group moved/ });
    expect(await rows.count()).toBe(2);
    const subject = rows.first().getByRole('link');
    expect(await subject.getAttribute('href')).toMatch(/^\/groups\/\d+$/);
    expect(await subject.textContent()).toMatch(/[A-Z]/); // its name, not its number

    const saved = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('audit-log.csv');
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    expect(lines).toHaveLength(3);
    expect(lines.slice(1).every((line) => line.includes('group moved') && line.includes('127.0.0.1'))).toBe(
      true,
    );
    // The download is logged as well.
    await page.goto('/audit');
    await page.getByRole('row', { name: /audit log exported/ }).waitFor();
    // The table cuts off long texts. The whole entry is in a dialog.
    await page.getByRole('button', { name: /audit log exported/ }).press('Enter');
    const entry = page.getByRole('dialog', { name: 'audit log exported' });
    expect(await entry.locator('dt').allTextContents()).toEqual(
      expect.arrayContaining(['When', 'Who', 'Address']),
    );
    await page.keyboard.press('Escape');
    await entry.waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('log exported');
    await page.getByRole('row', { name: /audit log exported/ }).waitFor();
    await page.getByRole('searchbox').fill('no one has done this');
    await page.getByText('No matches').waitFor();
  });
});
