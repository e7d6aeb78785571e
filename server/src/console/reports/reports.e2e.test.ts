// The page of reports in a browser: what it shows, that it prints as exactly one A4 page, and what it downloads.
import { readFile } from 'node:fs/promises';
import type { Browser, Download, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { openConsole } from '../../testing/browser/console.ts';
import { settled } from '../../testing/browser/console-pages.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { someOf } from '../../testing/house/cases.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

/** The timeout for a busy machine. */

let world: DemoWorld;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  [world, browser] = await Promise.all([openDemoWorld(), openBrowser()]);
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

const report = (page: Page) => page.getByRole('article');

/** Prints the page as the browser does, and returns the number and the size of its pages. */
async function printed(page: Page): Promise<{ pages: number; size: number[] }> {
  const text = (await page.pdf({ preferCSSPageSize: true })).toString('latin1');
  const pages = text.match(/\/Type \/Page\b(?!s)/g)?.length ?? 0;
  const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(text) ?? [];
  return { pages, size: [Number(width), Number(height)].map(Math.round) };
}

async function saved(page: Page, name: string | RegExp): Promise<{ name: string; bytes: Buffer }> {
  const [file] = (await Promise.all([
    page.waitForEvent('download', { timeout: 60_000 }),
    page.getByRole('link', { name }).click(),
  ])) as [Download, void];
  return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
}

test.skipIf(!hasBrowser())(
  'the overview links to the report of its group, which can be saved as PDF',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    await page.getByRole('link', { name: 'Report', exact: true }).click();
    await report(page).getByRole('heading', { level: 2, name: 'Lavmark' }).waitFor();
    for (const title of [
      'In short',
      'KPIs',
      'Strongest questions',
      'Weakest questions',
      'How anonymity is kept',
    ])
      expect([title, await report(page).getByRole('heading', { name: title }).count()]).toEqual([title, 1]);
    expect(
      await report(page)
        .getByText(/^\d+ of \d+ people answered/)
        .count(),
    ).toBe(1);
    const { name, bytes } = await saved(page, 'Download PDF');
    expect(name).toMatch(/^Report Lavmark 2026-W46\.pdf$/);
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
  },
);

test.skipIf(!hasBrowser())(
  'every report prints as exactly one A4 page, in both languages and themes, without the frame of the console',
  async () => {
    for (const [language, colorScheme, query] of someOf([
      ['en', 'light', ''],
      ['sv', 'dark', '?period=2026-Q4'],
      ['sv', 'light', '?period=2026-Q3&compare=none'],
    ] as const)) {
      const options = { path: `/report${query}`, language, colorScheme };
      const page = await openConsole(world, browser, world.administrator.email, options);
      await settled(page);
      await report(page).waitFor();
      expect(await printed(page)).toEqual({ pages: 1, size: [595, 842] });
      await page.emulateMedia({ media: 'print', colorScheme });
      expect(await page.getByRole('heading', { level: 1 }).isVisible()).toBe(false);
      expect(await page.getByRole('navigation').first().isVisible()).toBe(false);
      // Everything fits: the sheet cuts nothing off.
      const cut = await page.evaluate<number>(
        `(() => { const sheet = document.querySelector('article'); return sheet.scrollHeight - sheet.clientHeight; })()`,
      );
      expect(cut).toBeLessThanOrEqual(0);
      const ink = `getComputedStyle(document.querySelector('article')).color`;
      expect(await page.evaluate<string>(ink)).toBe('rgb(0, 0, 0)');
    }
  },
);

test.skipIf(!hasBrowser())(
  'the period, the group and the comparison are chosen on the page and kept in its address',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/report' });
    await page.getByRole('combobox', { name: /Period/ }).click();
    await page.getByRole('option', { name: /^Quarter 4, 2026/ }).click();
    await report(page).getByText('Quarter 4, 2026').waitFor();
    expect(page.url()).toContain('period=2026-Q4');
    await page.getByRole('combobox', { name: /Group/ }).first().click();
    await page.getByRole('combobox', { name: 'Search groups' }).fill('Workshops');
    await page
      .getByRole('option', { name: /^Workshops/ })
      .first()
      .click();
    await report(page).getByRole('heading', { level: 2, name: 'Workshops' }).waitFor();
    await page.getByRole('combobox', { name: /Compare with/ }).click();
    await page.getByRole('option', { name: 'Nothing' }).click();
    await expect.poll(() => report(page).getByRole('columnheader').count()).toBe(3);
    await page.reload();
    await report(page).getByRole('heading', { level: 2, name: 'Workshops' }).waitFor();
    expect(await report(page).getByText('Quarter 4, 2026').count()).toBe(1);
    expect(await report(page).getByRole('columnheader').count()).toBe(3);
  },
);

test.skipIf(!hasBrowser())(
  'the heat map saves the reports of all groups; a manager gets the report of their own group only',
  async () => {
    const page = await openConsole(world, browser, world.administrator.email, { path: '/heat-map' });
    const all = await saved(page, 'Reports of all groups');
    expect(all.name).toBe('Reports 2026-W46.zip');
    const files = (archive: Buffer) => archive.toString('latin1').split('PK\u0001\u0002').length - 1;
    expect(files(all.bytes)).toBeGreaterThan(20);
    const own = await openConsole(world, browser, world.manager.email, { path: '/report' });
    await report(own).waitFor();
    const { bytes } = await saved(own, 'Download PDF');
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    own.expectComplaint(/status of 404/);
    await own.goto('/report?group=2');
    await own.getByText('You don’t have access to this group').waitFor();
  },
);

test.skipIf(!hasBrowser())('the page of reports has no axe violations, and fits a phone', async () => {
  const [wide, phone] = [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ];
  for (const [colorScheme, size] of someOf([
    ['light', wide],
    ['light', phone],
    ['dark', wide],
    ['dark', phone],
  ] as const)) {
    const options = { path: '/report', colorScheme, size };
    const page = await openConsole(world, browser, world.administrator.email, options);
    await settled(page);
    await report(page).waitFor();
    expect([options, await axeFaults(page)]).toEqual([options, []]);
    const more = 'document.documentElement.scrollWidth - innerWidth';
    expect(await page.evaluate<number>(more)).toBeLessThanOrEqual(0);
  }
  // With all columns, in the language with the longer words, no cell is cut off.
  const [group] = await world.pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${world.accountId} and name = 'Workshops'`;
  const page = await openConsole(world, browser, world.administrator.email, {
    path: `/report?group=${group?.id}&compare=company`,
    language: 'sv',
    size: phone,
  });
  await report(page).getByRole('columnheader', { name: 'Skillnad' }).waitFor();
  const cut =
    '[...document.querySelectorAll("article td, article th")].filter((one) => one.getBoundingClientRect().right > innerWidth).length';
  expect(await page.evaluate<number>(cut)).toBe(0);
});
