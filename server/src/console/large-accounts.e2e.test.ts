// The console with more groups than it loads as a whole, in a real browser: levels and windows are loaded when they are shown, searches and
// lists to choose from are the server's, and the pages look and work as with few groups.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { beginSession } from '../auth/sessions.ts';
import { axeFaults } from '../testing/browser/axe.ts';
import { closeWindows, hasBrowser, openBrowser } from '../testing/browser/browser.ts';
import { type ConsoleOptions, openConsole } from '../testing/browser/console.ts';
import { openWorld, type World } from '../testing/world.ts';
import { fillLargeTree } from './large-accounts.fixture.ts';

const admin = 'ada@example.org';

let world: World;
let browser: Browser;
let accountId: number;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openWorld();
  const account = await world.account();
  accountId = account.id;
  await fillLargeTree(world, account);
  browser = await openBrowser();
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

async function open(path: string, options: ConsoleOptions = {}) {
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${accountId} and email = ${admin}`;
  const sessionOf = () =>
    beginSession(world.pool, { accountId, userId: user!.id }, { address: '127.0.0.1', agent: 'test' });
  const page = await openConsole({ ...world, accountId, sessionOf }, browser, admin, { path, ...options });
  const requested: string[] = [];
  page.on('request', (request) => requested.push(new URL(request.url()).pathname));
  return Object.assign(page, { requested });
}

/** Opens the overview of a group. */
async function openAt(externalId: string) {
  const [group] = await world.pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and external_id = ${externalId}`;
  return open(`/?group=${group!.id}`);
}

/** Holds back the file of the list of groups. Returns what releases it. */
async function holdBackList(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(/GroupComboboxOpened.*\.js/, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

describe.skipIf(!hasBrowser())('many groups (skipped: there is no Chromium on the PATH)', () => {
  test('a level of the tree is loaded when it is opened, also with the keyboard', async () => {
    const page = await open('/groups');
    const item = (name: string) => page.getByRole('treeitem', { name: new RegExp(`^${name} `) });
    await item('Unit 3').waitFor();
    await page.getByText('2,502 groups · 1,251 managed').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await item('Unit 27').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Expand all' }).count()).toBe(0);
    await item('Unit 3').focus();
    await page.keyboard.press('ArrowRight');
    await item('Unit 27').waitFor();
    expect(await item('Unit 27').getAttribute('aria-level')).toBe('3');
    expect(await item('Unit 27').getAttribute('aria-setsize')).toBe('8');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await item('Unit 27').waitFor({ state: 'detached' });
  });

  test('a search finds groups that were not loaded, and a found group can be moved', async () => {
    const page = await open('/groups');
    await page.getByRole('treeitem', { name: /^Unit 3 / }).waitFor();
    await page.getByLabel('Search name or external ID').fill('unit 2500');
    const found = page.getByRole('treeitem', { name: /^Unit 2500 / });
    await found.waitFor();
    await page.getByText('1 group found').waitFor();
    expect(await page.getByRole('treeitem').first().getAttribute('aria-level')).toBe('1');
    await found.focus();
    await found.getByRole('button', { name: /Unit 2500/ }).click();
    await page.getByRole('menuitem', { name: /Move to/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Move Unit 2500' });
    await dialog.getByRole('combobox', { name: /New parent/ }).click();
    await page.keyboard.type('unit 1204');
    await page.getByRole('option', { name: /^Unit 1204/ }).click();
    await dialog.getByText(/From the next round on, answers also count for: Unit 1204/).waitFor();
    await dialog.getByRole('button', { name: 'Move group' }).click();
    await page.getByText('Unit 2500 moved to Unit 1204').waitFor();
  });

  test('a page about a group chooses other groups with the server, and shows those of the address', async () => {
    const page = await openAt('g2400');
    await page.getByRole('combobox', { name: /Unit 2400/ }).click();
    await page.keyboard.type('1500');
    await page.getByRole('option', { name: /^Unit 1500/ }).click();
    await page
      .getByRole('heading', { name: /Unit 1500/ })
      .first()
      .waitFor();
    expect(page.requested.filter((path) => path === '/api/groups/options').length).toBeLessThan(6);
  });

  test('what is typed before the list of groups has loaded is searched for', async () => {
    const page = await openAt('g2400');
    const load = await holdBackList(page);
    const field = page.getByRole('combobox', { name: /Unit 2400/ });
    await field.click();
    await page.keyboard.type('unit 15x');
    await page.keyboard.press('Backspace');
    await page.keyboard.type('0');
    expect(await field.getAttribute('aria-busy')).toBe('true');
    load();
    await page.getByRole('option', { name: /^Unit 1500/ }).waitFor();
    await page.keyboard.type('7');
    await page.getByRole('option', { name: /^Unit 1507/ }).waitFor();
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
  });

  test('what is typed in a dialog before the list of groups has loaded is searched for', async () => {
    const page = await open('/groups');
    await page.getByLabel('Search name or external ID').fill('unit 2499');
    await page.getByRole('button', { name: /Unit 2499/ }).click();
    await page.getByRole('menuitem', { name: /Move to/ }).click();
    const load = await holdBackList(page);
    await page.getByRole('combobox', { name: /New parent/ }).click();
    await page.keyboard.type('unit ');
    load();
    for (const digit of '1203') await page.keyboard.type(digit);
    await page.getByRole('option', { name: /^Unit 1203/ }).waitFor();
    await expect.poll(() => page.getByRole('option').count()).toBe(1);
  });

  test('the heat map loads the rows in view, in the order and with the filters of the page', async () => {
    const page = await open('/heat-map');
    const row = (name: string) => page.getByRole('row', { name: new RegExp(`^${name} `) });
    await row('Unit 3').waitFor();
    await page.getByText('2,501 of 2,501 groups').first().waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const count = Number(await page.getByRole('table').getAttribute('aria-rowcount'));
    expect(count).toBe(2_503);
    await page.evaluate(
      "(() => { const one = document.querySelector('[data-scroller]'); one.scrollTo(0, one.scrollHeight); })()",
    );
    await expect.poll(() => page.getByRole('row').last().getAttribute('aria-rowindex')).toBe(String(count));
    await expect.poll(() => page.getByRole('row').last().innerText()).toMatch(/Unit \d+/);
    await page.getByRole('button', { name: 'Group', exact: true }).click();
    await page.getByRole('button', { name: 'Group', exact: true }).click();
    await row('Unit 2501').waitFor();
    expect(page.requested.filter((path) => path === '/api/results/heat-map/rows').length).toBeLessThan(12);
  });
});
