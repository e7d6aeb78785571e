// Runs and files of the demo company in a browser: a run shows each changed field; a run that would remove too much waits, and is
// applied exactly as shown or not at all; and the meaning of a file's columns is confirmed once.
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import type { Organization, OrganizationGroup, User } from '@soundings/contract/organization.ts';
import { dayIn } from '@soundings/contract/weeks.ts';
import { readFile } from 'node:fs/promises';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changeAccount } from '../../accounts/accounts.ts';
import { createToken } from '../../accounts/tokens.ts';
import { inTransaction } from '../../db/db.ts';
import { makeDemoCompany } from '../../demo/company.ts';
import { demoPlot } from '../../demo/fill.ts';
import { noon } from '../../testing/asking.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { readCsv } from '../../testing/csv.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';
import { until } from '../../testing/until.ts';

/** The timeout for a busy machine. On an idle machine each test takes a few seconds. */

let world: DemoWorld;
let browser: Browser;
/** The token of the HR system. */
let token: string;
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
  const scopes = ['organization', 'files', 'data'];
  ({ token } = await createToken(world.pool, world.accountId, { name: 'HR nightly', scopes }));
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const timeouts = { timeout: 60_000 };
/** A file is read in a separate process, which takes longer while all cores are busy. */
const whileRead = { timeout: 60_000 };

type Pushed = { groups: OrganizationGroup[]; users: User[] };

/** The company as its HR system knows it. */
function company(): Organization & { data: Pushed } {
  const today = dayIn('Europe/Stockholm', noon);
  const { organizationIn } = makeDemoCompany({ seed: demoPlot.seed, today });
  return structuredClone(organizationIn(undefined)) as Organization & { data: Pushed };
}

async function push(body: Organization): Promise<void> {
  const headers = { authorization: token, 'content-type': 'application/json' };
  const sent = await world.request('POST', '/v1/organization/organization', {
    headers,
    body: JSON.stringify(body),
  });
  expect([sent.status, sent.body]).toEqual([200, sent.body]);
}

const lines = (rows: string[]) => rows.map((row) => `${row}\r\n`).join('');

type Known = { externalId: string; name: string; parent: string | null };

const groupsNow = () =>
  world.pool<Known[]>`
    select g.external_id as "externalId", g.name, above.external_id as parent
    from   groups g
    left join groups above on above.account_id = g.account_id and above.group_id = g.parent_id
    where  g.account_id = ${world.accountId} and g.managed
    order  by g.group_id`;
const namesNow = async () => (await groupsNow()).map(({ name }) => name).toSorted();

/** Returns a file of all groups, in which some groups are missing and some have other names. */
async function groupsFile(
  { without = [], renamed = {} }: { without?: string[]; renamed?: Record<string, string> },
  headers = 'externalId;name;parent',
): Promise<string> {
  const rows = (await groupsNow())
    .filter(({ externalId }) => !without.includes(externalId))
    .map(({ externalId, name, parent }) => [externalId, renamed[externalId] ?? name, parent].join(';'));
  return lines([headers, ...rows]);
}

/** Sends a file as a nightly job does, and waits until it is processed. */
async function sendByHttps(name: string, content: string): Promise<void> {
  const form = new FormData();
  form.append('file', new Blob([content]), name);
  const headers = { authorization: token };
  expect((await world.request('POST', '/v1/storage/uploadFile', { headers, body: form })).status).toBe(200);
  await until(async () => {
    const report = await world.request<FileReport>('GET', `/v1/storage/files/${name}/report`, {
      headers,
    });
    return !isUnderWay(report.body.outcome);
  });
}

/** Opens a run from the list of runs. */
async function openRun(page: Page, text: string | RegExp): Promise<void> {
  await page.getByRole('link', { name: 'Runs' }).first().click();
  await page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: text }).first().click();
  await page.getByRole('table', { name: 'Runs' }).waitFor({ state: 'detached' });
}

/** Downloads a file from the Download menu. */
async function download(page: Page, label: RegExp): Promise<{ name: string; text: string }> {
  const [, file] = await Promise.all([
    page
      .getByRole('button', { name: 'Download' })
      .click()
      .then(() => page.getByRole('menuitem', { name: label }).click()),
    page.waitForEvent('download'),
  ]);
  return { name: file.suggestedFilename(), text: await textOf(file) };
}
const textOf = async (file: Download) => readFile(await file.path(), 'utf8');

const summaryOf = (page: Page, kind: 'People' | 'Groups') =>
  page.getByRole('group', { name: kind, exact: true }).innerText();
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

test.skipIf(!hasBrowser())(
  'a push is listed with each changed field before and after, with filters and as a report',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/runs' });
    await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().waitFor();
    const sent = company();
    const { users, groups } = sent.data;
    const plain = users.filter(({ accessInfo, active }) => active !== false && accessInfo?.role === 'User');
    const [moved, gone] = plain as [User, User];
    const before = moved.lastName as string;
    moved.lastName = 'Nyman-Berg';
    moved.accessInfo = { ...moved.accessInfo, memberOf: ['safety'] };
    const repairs = groups.find(({ externalId }) => externalId === 'repairs') as OrganizationGroup;
    repairs.name = 'Mending';
    const accessInfo = { memberOf: ['repairs'] };
    const arrived = { externalId: 'new-1', firstName: 'Tuva', lastName: 'Nyanländ', accessInfo };
    sent.data.users = [...users.filter((user) => user !== gone), arrived];
    await push(sent);

    await page.reload();
    const row = page.getByRole('row', { name: /API · HR nightly/ });
    expect(oneLine(await row.innerText())).toContain('Applied');
    expect(await row.getByText('1 created').count()).toBe(1);
    await openRun(page, /HR nightly/);

    await page.getByRole('heading', { level: 1, name: /Push/ }).waitFor();
    expect(oneLine(await summaryOf(page, 'People'))).toMatch(/^(People )?\+1 created ~1 updated −1 removed/);
    expect(oneLine(await summaryOf(page, 'Groups'))).toMatch(/^(Groups )?0 created|~1 updated/);
    const changes = page.getByRole('table', { name: 'Changes' });
    await changes.getByText('Mending').first().waitFor();
    expect(await changes.getByRole('row').count()).toBe(1 + 4);
    const own = changes.getByRole('row', { name: /Nyman-Berg/ });
    expect(await own.getByRole('deletion').first().innerText()).toBe(before);
    expect(await own.getByRole('insertion').first().innerText()).toBe('Nyman-Berg');

    // The dialog shows all changed fields, and no others.
    await own.getByRole('button').click();
    const dialog = page.getByRole('dialog');
    const fields = await dialog.getByRole('row').allInnerTexts();
    expect(fields.map(oneLine)[1]).toBe(`Last name ${before} Nyman-Berg`);
    expect(fields.map(oneLine)[2]).toMatch(/safety|Health and Safety/);
    expect(fields.length).toBe(3);
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Close' }).click();

    // The filters are in the address.
    await page.getByRole('radio', { name: 'Remove 1' }).check();
    await expect.poll(() => changes.getByRole('row').count(), timeouts).toBe(2);
    // The name of a deleted person is not shown.
    await changes.getByText(gone.externalId).first().waitFor();
    expect(await page.getByText(`${gone.firstName} ${gone.lastName}`).count()).toBe(0);
    await page.getByRole('radio', { name: 'Update 2' }).check();
    await page.getByRole('radio', { name: 'Groups' }).check();
    await changes.getByText('Mending').first().waitFor();
    await expect.poll(() => changes.getByRole('row').count(), timeouts).toBe(2);
    expect(page.url()).toContain('action=update');

    const report = await download(page, /Full report/);
    expect(JSON.parse(report.text)).toMatchObject({
      outcome: 'applied',
      summary: { users: { created: 1, updated: 1, deleted: 1 }, groups: { updated: 1, deleted: 0 } },
    });
    expect((JSON.parse(report.text) as { changes: unknown[] }).changes.length).toBe(4);
    expect(await namesNow()).toContain('Mending');
  },
);

test.skipIf(!hasBrowser())(
  'a file that would remove too much waits, showing its reason and sender; it is applied exactly, rejected, or outdated',
  async () => {
    await inTransaction(world.pool, (tx) => changeAccount(tx, world.accountId, { maxGroupsDeleted: 2 }));
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    const shops = ['shop-keswick', 'shop-freiburg', 'shop-malmo'];
    const before = await groupsNow();
    await sendByHttps('shops-closed.csv', await groupsFile({ without: shops }));
    expect(await groupsNow()).toEqual(before);

    // The run shows why it waits, who sent it, and what would be lost.
    await openRun(page, /shops-closed\.csv/);
    await page.getByText('Awaiting approval: it would change more than the limits allow').waitFor();
    await page.getByText('It would remove 3 groups. The limit is 2.').waitFor();
    await page.getByText('HTTPS · HR nightly').waitFor();
    await page.getByText('3 groups lose their history').waitFor();
    await page.getByText(/Malmö Shop \(shop-malmo\) isn’t in the list/).waitFor();
    expect(await axeFaults(page)).toEqual([]);

    // The number of groups must be typed; then exactly these changes are applied.
    await page.getByRole('button', { name: 'Apply changes…' }).click();
    const dialog = page.getByRole('dialog');
    const apply = dialog.getByRole('button', { name: 'Remove 3 groups' });
    const typed = dialog.getByRole('textbox', { name: 'Type 3 to confirm' });
    await typed.fill('2');
    expect(await apply.isDisabled()).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
    await typed.fill('3');
    await apply.click();
    await page.getByText('Changes applied.').waitFor();
    await page.getByText('approved by Demo Administrator').waitFor();
    expect(await groupsNow()).toEqual(before.filter(({ externalId }) => !shops.includes(externalId)));

    // Another run is rejected, and nothing is changed.
    await sendByHttps(
      'it-gone.csv',
      await groupsFile({ without: ['it-platform', 'it-shops', 'it-helpdesk'] }),
    );
    const kept = await groupsNow();
    await openRun(page, /it-gone\.csv/);
    await page.getByRole('button', { name: 'Reject…' }).click();
    await dialog.getByRole('button', { name: 'Reject run', exact: true }).click();
    await page.getByText('Rejected: nothing was changed', { exact: true }).waitFor();
    await page.getByText(/^Demo Administrator, /).waitFor();
    expect(await page.getByRole('button', { name: 'Apply changes…' }).count()).toBe(0);
    expect(await groupsNow()).toEqual(kept);

    // A third run becomes outdated, because the HR system has restored the shops in the meantime.
    const staff = ['accounting', 'payroll', 'safety'];
    await sendByHttps('staff-gone.csv', await groupsFile({ without: staff }));
    await push(company());
    const back = await groupsNow();
    expect(back.length).toBe(before.length);
    await openRun(page, /staff-gone\.csv/);
    await page.getByRole('button', { name: 'Apply changes…' }).click();
    await typed.fill('3');
    page.expectComplaint(/status of 409/);
    await apply.click();
    await dialog.getByText(/These changes are out of date: the account has changed/).waitFor();
    expect(await groupsNow()).toEqual(back);
    const decided = await world.pool<{ action: string }[]>`
      select action from audit_entries
      where  account_id = ${world.accountId} and origin = 'console' and action in ('run approved', 'run rejected')
      order  by entry_id`;
    expect(decided.map(({ action }) => action)).toEqual(['run approved', 'run rejected']);
    await inTransaction(world.pool, (tx) => changeAccount(tx, world.accountId, { maxGroupsDeleted: 200 }));
  },
);

test.skipIf(!hasBrowser())(
  'invalid rows are shown with their place and can be downloaded with the reason, in cells that no program executes',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/runs?source=file' });
    const before = (await world.pool`select 1 from users where account_id = ${world.accountId}`).length;
    await sendByHttps(
      'people.csv',
      lines([
        'EmployeeID;FirstName;LastName;Email;Department',
        '9001;Anna;Ask;anna.ask@lavmark.example;repairs',
        '9002;=cmd();@SUM(A1);Anna.Ask@lavmark.example;nowhere',
        '9003;Bo;Ek;bo.ek@lavmark.example;nowhere',
      ]),
    );
    await openRun(page, /people\.csv/);
    await page.getByText('Nothing was changed').waitFor();
    const faults = page.getByRole('table', { name: 'Errors' });
    const email = faults.getByRole('row', { name: /Anna\.Ask@/ });
    expect(oneLine(await email.innerText())).toMatch(/^3 Email Anna\.Ask@lavmark\.example \S/);
    expect(await faults.getByRole('row', { name: /nowhere/ }).count()).toBe(2);
    const causes = page.getByRole('listitem').filter({ hasText: 'nowhere' });
    expect(oneLine(await causes.innerText())).toBe('Department nowhere 2 rows');
    expect(await axeFaults(page)).toEqual([]);

    const { name, text } = await download(page, /Rows with errors/);
    expect(name).toMatch(/^people-.*\.csv$/);
    expect(text.startsWith('\uFEFF')).toBe(true);
    const [head, ...rows] = readCsv(text.slice(1));
    expect(head?.slice(0, 5)).toEqual(['EmployeeID', 'FirstName', 'LastName', 'Email', 'Department']);
    expect(head?.slice(5)).toEqual(['Row', 'Reason']);
    expect(rows.length).toBe(2);
    expect(rows[0]?.slice(1, 5)).toEqual(["'=cmd()", "'@SUM(A1)", 'Anna.Ask@lavmark.example', 'nowhere']);
    expect(rows[0]?.at(-1)).toMatch(/Department: .+Email: /s);
    expect((await world.pool`select 1 from users where account_id = ${world.accountId}`).length).toBe(before);
  },
);

/** Drops a file onto the page, as with a mouse. */
async function drop(page: Page, name: string, content: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    `(() => { const data = new DataTransfer(); data.items.add(new File([${JSON.stringify(content)}], ${JSON.stringify(name)})); return data; })()`,
  );
  const target = page.getByRole('heading', { level: 1 });
  await target.dispatchEvent('dragenter', { dataTransfer });
  await page.getByText('Drop to upload').waitFor();
  await target.dispatchEvent('drop', { dataTransfer });
}

test.skipIf(!hasBrowser())(
  'a dropped file is applied, and the meaning of unknown columns is confirmed once for all later files',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/files' });
    const files = page.getByRole('table', { name: 'Files' });
    await files.waitFor();

    // The first file is dropped: its progress is shown until it has arrived, and then its result.
    const arrived = Promise.withResolvers<void>();
    await page.route(/\/api\/files\?/, async (route, request) => {
      if (request.method() === 'POST') await arrived.promise;
      await route.continue();
    });
    await drop(page, 'brand.csv', await groupsFile({ renamed: { brand: 'Brand and Film' } }));
    await page.getByRole('progressbar', { name: /^brand\.csv · / }).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    arrived.resolve();
    const dropped = files.getByRole('row', { name: /brand\.csv/ });
    await dropped.getByText('Applied').waitFor(whileRead);
    expect(await page.getByRole('progressbar').count()).toBe(0);
    expect(oneLine(await dropped.innerText())).toContain('Console · Demo Administrator');
    expect(await namesNow()).toContain('Brand and Film');

    // The second file is chosen with the button. It requires the password, and its columns are unknown.
    await world.pool`update sessions set proved_at = null where account_id = ${world.accountId}`;
    page.expectComplaint(/status of 403/);
    const headers = 'Nummer X;Rufname;Haengt an';
    const content = await groupsFile({ renamed: { events: 'Events and Fairs' } }, headers);
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.getByRole('button', { name: 'Upload file' }).click(),
    ]);
    await chooser.setFiles({ name: 'enheter.csv', mimeType: 'text/csv', buffer: Buffer.from(content) });
    const asking = page.getByRole('dialog', { name: 'Confirm with your password' });
    await asking.getByLabel('Password', { exact: true }).fill(world.administrator.password);
    await page.keyboard.press('Enter');
    const unknown = files.getByRole('row', { name: /enheter\.csv/ });
    await unknown.getByText('needs mapping').waitFor(whileRead);
    expect(await namesNow()).not.toContain('Events and Fairs');
    await unknown.getByRole('link').click();
    await page.getByText('Some columns or values are unknown').waitFor();
    await page.getByRole('button', { name: 'Columns and values…' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Columns of enheter.csv' });
    await dialog.getByRole('radio', { name: 'Groups' }).check(whileRead);
    for (const [header, meaning] of [
      ['Nummer X', 'External ID'],
      ['Rufname', 'Name'],
      ['Haengt an', 'Parent group'],
    ] as const) {
      await dialog.getByRole('combobox', { name: new RegExp(`^${header} is read as`) }).click();
      await page.getByRole('option', { name: meaning, exact: true }).click();
      await page.getByRole('listbox').waitFor({ state: 'detached' });
    }
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Confirm columns' }).click();
    await page.getByText('Columns confirmed. The file is being read again.').waitFor();
    await page.getByText('The organization matches the file.').waitFor(whileRead);
    expect(await namesNow()).toContain('Events and Fairs');

    // A later file with the same headers, sent by a system, is read without confirmation.
    await sendByHttps('natt.csv', await groupsFile({ renamed: { transport: 'Transport' } }, headers));
    expect(await namesNow()).toContain('Transport');
    await page.getByRole('link', { name: 'Files' }).first().click();
    const later = files.getByRole('row', { name: /natt\.csv/ });
    await later.getByText('Applied').waitFor();
    expect(oneLine(await later.innerText())).toContain('HTTPS · HR nightly');
    await page.getByRole('button', { name: '1 confirmed mapping' }).click();
    await page
      .getByRole('dialog', { name: 'Confirmed mappings' })
      .getByText(/Nummer X → External ID/)
      .waitFor();
  },
);

test.skipIf(!hasBrowser())(
  'the meaning of values, which of two columns to read and the country of local phone numbers are requested and saved',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/files' });
    await page.getByRole('table', { name: 'Files' }).waitFor();
    const people = lines([
      'Personnel number;Full name;Status;Role;Work phone;Mobile',
      'p1;Anna Berg;Active;Head;;070-123 45 67',
      'p2;Ek, Bo;Leave;;+4681234567;+46701234568',
      'p3;Cilla Chen;Mondays;;;',
    ]);
    await drop(page, 'personal.csv', people);
    const row = page.getByRole('table', { name: 'Files' }).getByRole('row', { name: /personal\.csv/ });
    await row.getByText('needs mapping').waitFor(whileRead);
    await row.getByRole('link').click();
    await page.getByRole('button', { name: 'Columns and values…' }).first().click();
    const address = page.url();
    const dialog = page.getByRole('dialog', { name: 'Columns of personal.csv' });
    await dialog.getByText('Could also be: Phone').waitFor(whileRead);
    const values = dialog.getByRole('group', { name: 'Values of Status' });
    const meaningOf = (value: string) =>
      values.getByRole('combobox', { name: new RegExp(`^${value} means`) });
    // Suggestions count only when chosen: the one for the Head role is not chosen, so it is not saved.
    expect(oneLine(await meaningOf('Leave').innerText())).toBe('Choose…');
    await values.getByText('suggested: Inactive').waitFor();
    await dialog.getByRole('group', { name: 'Values of Role' }).getByText('suggested: Manager').waitFor();
    await values.getByRole('button', { name: 'Use 1 suggestion' }).click();
    expect(oneLine(await meaningOf('Leave').innerText())).toBe('Inactive');
    await meaningOf('Mondays').click();
    await page.getByRole('option', { name: 'Active', exact: true }).click();
    await dialog.getByLabel('Country of phone numbers').fill('Nowhere');
    page.expectComplaint(/status of 400/);
    await page.setViewportSize({ width: 390, height: 844 });
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page)).toEqual([]);
    }
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate(overflow)).toBe(0);
    await dialog.getByRole('button', { name: 'Confirm columns' }).click();
    await dialog.getByText('Choose a country from the list, such as Sweden.').waitFor();
    await dialog.getByLabel('Country of phone numbers').fill('Sweden');
    await dialog.getByRole('button', { name: 'Confirm columns' }).click();
    await page.getByText('Columns confirmed. The file is being read again.').waitFor();
    const kept = await world.pool<{ key: string; meaning: string }[]>`
      select value_key as key, meaning from value_mappings where account_id = ${world.accountId} order by value_key`;
    expect(kept.map((one) => ({ ...one }))).toEqual([
      { key: 'leave', meaning: 'no' },
      { key: 'mondays', meaning: 'yes' },
    ]);
    const [account] = await world.pool`
      select default_country as country from accounts where account_id = ${world.accountId}`;
    expect(account).toEqual({ country: 'SE' });
    await page.getByText("the account's default country").first().waitFor(whileRead);
    await page.getByText('"Role" has an unknown value: "Head"').first().waitFor();

    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Files' }).first().click();
    await page.getByRole('button', { name: /confirmed mappings$/ }).click();
    const mappings = page.getByRole('dialog', { name: 'Confirmed mappings' });
    await mappings.getByText(/Active: Mondays → Active/).waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const entry = mappings.getByRole('listitem').filter({ hasText: 'Mondays' });
    await entry.getByRole('button', { name: 'Remove mapping' }).click();
    await page.getByRole('button', { name: 'Remove mapping', exact: true }).last().click();
    await page.getByText('Value mapping removed.').waitFor();

    // The same page on a phone, in Swedish.
    const path = new URL(address).pathname;
    const phone = await openConsole(world, browser, world.administrator.email, {
      path: `${path}?columns=yes`,
      language: 'sv',
      size: { width: 390, height: 844 },
    });
    const swedish = phone.getByRole('dialog', { name: 'Kolumner i personal.csv' });
    await swedish.getByRole('group', { name: 'Värden i Status' }).waitFor(whileRead);
    expect(await axeFaults(phone)).toEqual([]);
    expect(await phone.evaluate(overflow)).toBe(0);
  },
);
