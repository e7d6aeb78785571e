// Segments in a browser: administrators choose a breakdown on the heat map, the trends and the page of a question, and open, close and
// remove breakdowns; managers see none of it. Without faults by axe, in both themes, on phones and in Swedish.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { settled } from '../../testing/browser/console-pages.ts';
import { type ConsolePage, openConsole } from '../../testing/browser/console.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';
import { someOf } from '../../testing/house/cases.ts';
import { openDemoSegments } from './segments.fixture.ts';

/** For a busy machine: a simulation runs on a separate thread. */
const timeouts = { timeout: 60_000 };

let world: DemoWorld;
let browser: Browser;
let [question, site] = ['', ''];
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
  ({ question, site } = await openDemoSegments(world));
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const open = (path: string, options: Parameters<typeof openConsole>[3] = {}) =>
  openConsole(world, browser, world.administrator.email, { ...options, path });

/** Returns the faults of a page in both themes, and whether it is wider than its window. */
async function faultsOf(page: ConsolePage): Promise<string[]> {
  await settled(page);
  const faults = await axeFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  faults.push(...(await axeFaults(page, ['color-contrast'])));
  const isWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
  return isWide ? [...faults, 'it is too wide'] : faults;
}

const phone = { size: { width: 390, height: 844 }, touch: true };

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('the heat map shows the segments of a breakdown, why figures are withheld, and leads to trends', async () => {
    const page = await open('/heat-map');
    await page.getByRole('combobox', { name: 'Rows' }).click();
    await page.getByRole('option', { name: 'Site' }).click();
    const table = page.getByRole('table', { name: 'Heat map' });
    await expect
      .poll(() => table.getByRole('rowheader').allTextContents(), timeouts)
      .toEqual([
        expect.stringContaining('Copenhagen'),
        expect.stringContaining('Lund'),
        expect.stringContaining('Remote'),
        expect.stringContaining('Stockholm'),
      ]);
    await table
      .getByRole('row', { name: /^Remote/ })
      .getByRole('button')
      .nth(1)
      .click();
    await expect
      .poll(() => page.getByText(/^Withheld: fewer than \d+ answers, or to protect people/).count(), timeouts)
      .toBeGreaterThan(0);
    await page.keyboard.press('Escape');
    const marked = await table.getByRole('row', { name: /^Copenhagen/ }).textContent();
    expect(marked).toContain('handed-out links');
    await table
      .getByRole('row', { name: /^Stockholm/ })
      .getByRole('link')
      .first()
      .click();
    await expect.poll(() => page.url(), timeouts).toContain(`breakdown=${site}`);
    await expect.poll(() => page.getByRole('heading', { name: 'Trends' }).count(), timeouts).toBe(1);
    await expect
      .poll(() => page.getByRole('columnheader').allTextContents(), timeouts)
      .toContain('Stockholm');
  });

  test('no page with segments has accessibility violations, in both themes, wide and on phones, in both languages', async () => {
    const faults: string[] = [];
    const paths = [
      `/heat-map?breakdown=${site}`,
      `/trends?breakdown=${site}`,
      `/results/questions/${question}?breakdown=${site}`,
      '/attributes',
      '/privacy',
    ];
    const views = [{ language: 'en' as const }, { language: 'sv' as const, ...phone }];
    for (const [path, view] of someOf(paths.flatMap((one) => views.map((each) => [one, each] as const)))) {
      // oxlint-disable no-await-in-loop -- one page after another
      const page = await open(path, view);
      faults.push(...(await faultsOf(page)).map((fault) => `${path} ${view.language}: ${fault}`));
      await page.close();
      // oxlint-enable no-await-in-loop
    }
    expect(faults).toEqual([]);
  });

  test('the page of a question shows its answers by segment', async () => {
    const page = await open(`/results/questions/${question}?breakdown=${site}`);
    const table = page.getByRole('table', { name: 'Answers by Site' });
    await expect.poll(() => table.getByRole('row').count(), timeouts).toBe(5);
    expect(await table.getByRole('row', { name: /^Remote/ }).textContent()).toContain('withheld');
    expect(await table.getByRole('row', { name: /^Stockholm/ }).textContent()).toMatch(/\d+.*77$/);
  });

  test('the privacy report names the open breakdowns', async () => {
    const page = await open('/privacy');
    const text =
      /^Administrators and API tokens also see results by these breakdowns.* Never for fewer than 5 people\.$/;
    await expect.poll(() => page.getByText(text).count(), timeouts).toBe(1);
  });

  test('an administrator opens, closes and removes a breakdown', async () => {
    const page = await open('/attributes');
    await page
      .getByRole('button', { name: /^Actions for / })
      .first()
      .click();
    await page.getByRole('menuitem', { name: 'Show results by attribute' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Kind of place');
    await dialog.getByLabel(/bands of years/).check();
    await expect.poll(() => dialog.getByText('Nothing would be shown').count(), timeouts).toBe(1); // no dates
    await dialog.getByLabel(/new band begins/).fill('30, thirty');
    await dialog.getByRole('button', { name: 'Show results by attribute' }).click();
    page.expectComplaint(/status of 400/);
    await expect
      .poll(() => dialog.getByText(/ascending numbers of years/).count(), timeouts)
      .toBeGreaterThan(0);
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByLabel(/Each value/).check();
    // All four values of the attribute have many people.
    await expect.poll(() => dialog.getByText('4 values have enough people').count(), timeouts).toBe(1);
    expect(await axeFaults(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Show results by attribute' }).click();
    const row = page.getByRole('row', { name: /^Kind of place/ });
    await expect.poll(() => row.count(), timeouts).toBe(1);
    await page.getByRole('button', { name: 'Actions for Kind of place' }).click();
    await page.getByRole('menuitem', { name: 'Close' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => row.textContent(), timeouts).toContain('Closed');
    await page.getByRole('button', { name: 'Actions for Kind of place' }).click();
    await page.getByRole('menuitem', { name: 'Remove with figures' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove with figures' }).click();
    await expect.poll(() => row.count(), timeouts).toBe(0);
  });

  test('a manager finds no breakdowns, even with their address', async () => {
    const page = await openConsole(world, browser, world.manager.email, {
      path: `/heat-map?breakdown=${site}`,
    });
    await settled(page);
    expect(await page.getByRole('combobox', { name: 'Rows' }).count()).toBe(0);
    expect(await page.getByText('Stockholm').count()).toBe(0);
  });
});
