// Every page of the console in a real browser, for an administrator, a manager and a user of the demo company, in both languages,
// and in either theme or in both (THEMES=both).
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { libraryKpis } from '../../questions/library.ts';
import { closeWindows, hasBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { addressOf, routePaths, settled, showPage } from '../../testing/browser/console-pages.ts';
import { makeScene, type PageIds } from '../../testing/browser/console-scene.ts';
import { type ConsolePage, openConsole } from '../../testing/browser/console.ts';
import { axeFaults } from '../../testing/browser/axe.ts';
import { someOf } from '../../testing/house/cases.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';

let world: DemoWorld;
let browser: Browser;
let ids: PageIds;
let user: string;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openDemoWorld();
  browser = await openBrowser();
  ids = await makeScene(world);
  const [active] = await world.pool<{ email: string }[]>`
    select email from users
    where  account_id = ${world.accountId} and role = 'User' and active and email is not null
    order  by user_id limit 1`;
  user = active?.email as string;
});
afterAll(async () => {
  await closeWindows();
  await world?.close();
});

/** Creates a user of the company who may read the privacy report and nothing else. */
async function makeAuditor(): Promise<string> {
  const email = 'ombud@lavmark.example';
  const person = { firstName: 'Disa', lastName: 'Ombud', email, role: 'Auditor' };
  await inTransaction(world.pool, (tx) => createUser(tx, world.accountId, person));
  return email;
}

const outside = ['/sign-in', '/setup', '/password'];
const inside = routePaths().filter((path) => !outside.includes(path));

/** Shows a page as a link does if `isInside`, and otherwise by its address. */
async function show(page: ConsolePage, path: string, isInside: boolean): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  if (isInside) return showPage(page, addressOf(path, ids));
  await page.goto(addressOf(path, ids));
  await settled(page);
}

/**
 * Returns the faults of a page: a wrong title, and what axe finds in one theme, in both or, with no theme, in none. In the second theme only the contrast is
 * checked, because the themes differ only in their colours.
 */
async function faultsOf(page: ConsolePage, path: string, [first, second]: Theme[]): Promise<string[]> {
  const title = await page.title();
  const faults = /^\S.* · Soundings$/.test(title) ? [] : [`its title is "${title}"`];
  if (first === 'dark') await page.emulateMedia({ colorScheme: first });
  if (first) faults.push(...(await axeFaults(page)).map((fault) => `${first}: ${fault}`));
  if (second) {
    await page.emulateMedia({ colorScheme: second });
    faults.push(...(await axeFaults(page, ['color-contrast'])).map((fault) => `${second}: ${fault}`));
  }
  return faults.map((fault) => `${path}: ${fault}`);
}

type Theme = 'light' | 'dark';

/**
 * Returns the themes in which a page is checked: both with THEMES=both, otherwise one, which is light for every other page. A page
 * that an administrator opens in one theme is opened in the other theme by other users.
 */
function themesOf(path: string, isAdministrator: boolean): Theme[] {
  if (process.env['THEMES'] === 'both') return ['light', 'dark'];
  return [(inside.indexOf(path) % 2 === 0) === isAdministrator ? 'light' : 'dark'];
}

/** Pages whose subtitle or toolbar arrives with a response, and pages with many links. */
const late = [
  '/',
  '/heat-map',
  '/results/questions/$questionId',
  '/comments',
  '/questions',
  '/kpis',
  '/groups',
  '/runs/$runId',
  '/files/$fileId',
  '/tokens',
];

/** Runs in the page: adds up all layout shifts without user input. */
const countShifts = `
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.shifted += value;
  }).observe({ type: 'layout-shift', buffered: true });
`;

/** Runs in the page: waits until what depends on its size is drawn. */
const drawn =
  'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20))))';

/** Runs in the page: finds faults on a touch screen and in a small window. */
const phoneFaults = `(() => {
  const faults = [];
  const wide = Math.max(document.documentElement.scrollWidth, document.querySelector('main').scrollWidth);
  if (wide > innerWidth) faults.push('it is ' + wide + ' px wide');
  if (window.shifted >= 0.05) faults.push('it moves by ' + window.shifted);
  for (const one of document.querySelectorAll('main :is(a, button)')) {
    const { height, width } = one.getBoundingClientRect();
    if (one.checkVisibility() && width > 1 && height < 24) faults.push(one.textContent + ' is ' + height + ' px high');
  }
  return faults;
})()`;

/** Runs in the page: finds words in the headings of the heat map that are broken. */
const brokenHeadings = `[...document.querySelectorAll('main table thead th[scope=col] button > span')].flatMap((heading) => {
  const text = heading.firstChild;
  return [...text.data.matchAll(/\\S+/g)].flatMap((word) => {
    const range = new Range();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return range.getClientRects().length > 1 ? [word[0]] : [];
  });
})`;

/** Runs in the page: finds percentages that are broken across lines. */
const brokenPercentages = `(() => {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const broken = [];
  while (walker.nextNode()) {
    const text = walker.currentNode;
    if (!/^\\d+\\s?%$/.test(text.data)) continue;
    const range = new Range();
    range.selectNodeContents(text);
    if (range.getClientRects().length > 1) broken.push(text.data + ' is broken across lines');
  }
  return broken;
})()`;

/** Runs in the page as printed: finds content outside the sheet, rows that overlap or leave a gap, and content that scrolls. */
const paperFaults = `(() => {
  const faults = [];
  for (const one of document.querySelectorAll('main *')) {
    if (!one.checkVisibility() || one.closest('.visually-hidden')) continue;
    const { right, width } = one.getBoundingClientRect();
    if (width > 0 && right > innerWidth + 1) faults.push(one.tagName + ' ' + one.className + ' ends at ' + right);
    const { overflowY } = getComputedStyle(one);
    if (['auto', 'scroll'].includes(overflowY) && one.scrollHeight > one.clientHeight + 1) faults.push(one.className + ' scrolls');
  }
  for (const list of document.querySelectorAll('[role=table], [role=tree]')) {
    const rows = [...list.querySelectorAll('[role=row], [role=treeitem]')].map((row) => row.getBoundingClientRect());
    const high = rows.reduce((sum, { height }) => sum + height, 0);
    const { height } = list.getBoundingClientRect();
    if (Math.abs(height - high) > 40) faults.push(rows.length + ' rows of ' + high + ' px in a list of ' + height);
  }
  return faults.slice(0, 5);
})()`;

type Visited = {
  /** The pages that exist. */
  seen: string[];
  /** The faults of these pages. */
  faults: string[];
};

/** Opens pages and returns their faults; axe checks some of them or all. `further` finds additional faults of a page of an administrator. */
async function visit(page: ConsolePage, paths: string[], further?: () => Promise<string[]>) {
  const found: Visited = { seen: [], faults: [] };
  const checked = someOf(paths);
  let [isInside, isMissingSeen] = [false, false];
  for (const path of paths) {
    await show(page, path, isInside);
    const isThere = (await page.getByText(/^(Page not found|Sidan finns inte)$/).count()) === 0;
    isInside = isThere && inside.includes(path);
    if (isThere) found.seen.push(path);
    else if (isMissingSeen) continue; // the "not found" page is the same each time
    isMissingSeen ||= !isThere;
    if (further) found.faults.push(...(await further()).map((fault) => `${path}: ${fault}`));
    const themes = checked.includes(path) ? themesOf(path, further !== undefined) : [];
    found.faults.push(...(await faultsOf(page, path, themes)));
  }
  return found;
}

type Texts = Record<string, string>;
const texts = (language: string): Texts => {
  const folder = fileURLToPath(new URL(`../../../../console/src/text/${language}/`, import.meta.url));
  const files = readdirSync(folder).map((name) => JSON.parse(readFileSync(folder + name, 'utf8')) as Texts);
  return Object.assign({}, ...files) as Texts;
};

/** Returns all texts of a page, visible ones and those for screen readers. */
const textsOf = (page: ConsolePage) =>
  page.evaluate<string[]>(`(() => {
    const named = [...document.querySelectorAll('[aria-label], [placeholder], [title]')].flatMap((one) =>
      ['aria-label', 'placeholder', 'title'].map((name) => one.getAttribute(name) ?? ''));
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const read = [];
    while (walker.nextNode()) read.push(walker.currentNode.data);
    return [...new Set([...named, ...read, document.title].map((text) => text.trim()))];
  })()`);

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test(
    'every page for an administrator: no faults by axe, no errors, a title, and no English text of ours in Swedish',
    {
      timeout: 240_000,
    },
    async () => {
      const [en, sv] = [texts('en'), texts('sv')];
      const swedish = new Set(Object.values(sv));
      const english = new Set(
        Object.values(en).filter((text) => !swedish.has(text) && !text.includes('{') && text.length > 1),
      );
      // A group may have an English name.
      const groups = await world.pool<{ names: string[] }[]>`
      select array[name, external_id] as names from groups where account_id = ${world.accountId}`;
      for (const name of groups.flatMap(({ names }) => names)) english.delete(name);
      english.delete('Email'); // the header of a column in the sample file
      for (const { name } of libraryKpis) english.add(name.en);
      const page = await openConsole(world, browser, world.administrator.email, { language: 'sv' });
      page.expectComplaint(/^Scripts may close only the windows/); // the page on which a sign-in in a separate window ends
      const found = await visit(page, inside, async () => [
        ...(await textsOf(page)).filter((text) => english.has(text)).map((text) => `"${text}" is English`),
        ...(await page.evaluate<string[]>(brokenPercentages)),
      ]);
      expect(found).toEqual({ seen: inside, faults: [] });
      expect(await page.evaluate('document.documentElement.lang')).toBe('sv');
      // Numbers and dates are in the Swedish format.
      await page.goto('/people');
      await page.getByText(/^5\d\d medarbetare i kontot$/).waitFor();
      await page
        .getByText(/^\d{1,2} [a-zåäö]+\.? 20\d\d$/)
        .first()
        .waitFor();
    },
  );

  test('the pages of a manager, a user and a visitor have no faults either; all other pages are not found', async () => {
    const ofQuestion = '/results/questions/$questionId';
    const results = ['/', '/heat-map', '/trends', '/drivers', '/focus', ofQuestion, '/comments', '/report'];
    const forManagers = [...results, '/groups', '/groups/$groupId', '/profile', '/privacy'];
    const [group] = await world.pool<{ id: number }[]>`
      select m.group_id as id
      from   memberships m
      join   users u using (account_id, user_id)
      where  u.account_id = ${world.accountId} and u.email = ${world.manager.email} and m.kind = 'adminOf'`;
    ids = { ...ids, groupId: group?.id as number };
    const manager = await openConsole(world, browser, world.manager.email);
    const theirs = await visit(manager, [
      ...forManagers,
      '/people',
      '/people/$userId',
      '/runs/$runId',
      '/audit',
    ]);
    expect(theirs).toEqual({ seen: forManagers, faults: [] });
    await manager.goto(addressOf('/groups/$groupId', ids));
    await manager.getByRole('heading', { name: /^Owners \d/ }).waitFor();
    expect(await manager.locator('a[href^="/people"]').count()).toBe(0);

    const own = await visit(await openConsole(world, browser, user), [
      '/profile',
      '/groups',
      '/tokens',
      '/privacy',
      '/',
    ]);
    expect(own).toEqual({ seen: ['/profile', '/'], faults: [] });
    const visitor = await openConsole(world, browser);
    expect(await visit(visitor, outside)).toEqual({ seen: outside, faults: [] });
  });

  test('an Auditor starts on the privacy report, and sees only that and their own profile', async () => {
    const auditor = await openConsole(world, browser, await makeAuditor());
    const read = await visit(auditor, [
      '/privacy',
      '/profile',
      '/groups',
      '/settings',
      '/audit',
      '/people',
      '/',
    ]);
    expect(read).toEqual({ seen: ['/privacy', '/profile', '/'], faults: [] });
    await auditor.getByRole('heading', { level: 1, name: 'Privacy report' }).waitFor();
    expect(await auditor.getByRole('navigation').getByRole('link').allTextContents()).toEqual(['Privacy']);
  });

  test('on a phone no page is too wide, and links are at least 24 px high; nothing moves when a subtitle arrives', async () => {
    const phone = { width: 390, height: 844 };
    const page = await openConsole(world, browser, world.administrator.email, {
      path: '/profile',
      size: phone,
    });
    await page.addInitScript(countShifts);
    // The response comes late enough for the page to be drawn first.
    await page.route('**/api/**', async (route) => {
      await sleep(50);
      await route.continue().catch(() => {}); // the page may have changed in the meantime
    });
    const faults: string[] = [];
    for (const path of someOf(late)) {
      await page.goto(addressOf(path, ids));
      await settled(page);
      faults.push(...(await page.evaluate<string[]>(phoneFaults)).map((fault) => `${path}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  test('with a mouse, too, links and buttons are at least 24 px high; on phones and tablets the heat map breaks no word of its headings', async () => {
    const path = '/profile';
    const page = await openConsole(world, browser, world.administrator.email, { path, language: 'sv' });
    const faults: string[] = [];
    for (const shown of [
      '/',
      '/kpis',
      '/rounds',
      '/audit',
      '/access',
      '/people/$userId',
      '/groups/$groupId',
    ]) {
      await showPage(page, addressOf(shown, ids));
      await page.evaluate('window.shifted = 0');
      faults.push(...(await page.evaluate<string[]>(phoneFaults)).map((fault) => `${shown}: ${fault}`));
    }
    await showPage(page, '/heat-map');
    for (const width of [360, 800, 1000]) {
      await page.setViewportSize({ width, height: 800 });
      await page.evaluate(drawn);
      faults.push(...(await page.evaluate<string[]>(brokenHeadings)).map((word) => `${word} at ${width} px`));
    }
    expect(faults).toEqual([]);
  });

  test('no page scrolls sideways, on the smallest phone, a tablet or a laptop', async () => {
    const page = await openConsole(world, browser, world.administrator.email, {
      path: '/profile',
      language: 'sv',
      size: { width: 360, height: 740 },
      touch: true,
    });
    page.expectComplaint(/^Scripts may close only the windows/);
    await settled(page);
    const excess = () =>
      page.evaluate<number>(`(() => {
        const main = document.querySelector('main');
        return Math.max(main.scrollWidth - main.clientWidth, document.documentElement.scrollWidth - innerWidth);
      })()`);
    const wide: [path: string, width: number, excess: number][] = [];
    const known = [
      '/attributes',
      '/audit',
      '/directory',
      '/drivers',
      '/files',
      '/people',
      '/questions',
      '/runs',
    ];
    for (const path of new Set([...someOf(inside), ...known, '/questions/$questionId'])) {
      await showPage(page, addressOf(path, ids));
      for (const width of [360, 320, 721, 861, 961, 1056, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        // Charts follow the width of the window, on a busy machine some frames later.
        let more: number;
        let frames = 0;
        do {
          await page.evaluate(drawn);
          more = await excess();
        } while (more > 0 && ++frames < 50);
        wide.push([path, width, more]);
      }
    }
    expect(wide.filter(([, , more]) => more > 0)).toEqual([]);
  });

  test('on paper nothing is cut off: charts fit the sheet, and long lists print all loaded rows with their number', async () => {
    const sheet = { width: 673, height: 970 }; // A4 without its margins, in px
    const page = await openConsole(world, browser, world.administrator.email, { path: '/' });
    for (const path of someOf(['/', '/heat-map', '/trends', '/people', '/groups', '/audit'])) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.emulateMedia({ media: 'screen' });
      await page.goto(path);
      await settled(page);
      // This is what the browser does before it prints: sizes measured on the screen stay the same.
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      await page.emulateMedia({ media: 'print' });
      await page.setViewportSize(sheet);
      expect([path, await page.evaluate<string[]>(paperFaults)]).toEqual([path, []]);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ media: 'screen' });
    await page.goto('/people');
    await settled(page);
    const rows = page.getByRole('table').getByRole('row');
    const inView = await rows.count();
    expect(inView).toBeLessThan(60);
    await page.evaluate("dispatchEvent(new Event('beforeprint'))");
    expect(await rows.count()).toBeGreaterThan(100); // all loaded rows
    await page.getByText(/^100 of 5\d\d rows have been loaded\. Only those are printed\./).waitFor();
    await page.evaluate("dispatchEvent(new Event('afterprint'))");
    await expect.poll(() => rows.count()).toBe(inView);
  });

  test('a mistyped address shows a page with a link back, and with the navigation for signed-in users', async () => {
    const page = await openConsole(world, browser, world.administrator.email);
    page.expectComplaint(/status of 404/);
    for (const address of ['/peple', '/setings/mail', '/docz']) {
      expect([address, (await page.goto(address))?.status()]).toEqual([address, 404]);
      await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
      await page.getByRole('navigation').first().waitFor();
    }
    expect(await axeFaults(page)).toEqual([]);
    await page.getByRole('link', { name: 'Go to start page' }).click();
    await page.getByRole('heading', { level: 1, name: 'Lavmark' }).waitFor();
    // The APIs still respond to programs, and to browsers at their addresses.
    expect((await page.goto('/v1/groupz'))?.headers()['content-type']).toContain('application/json');

    const visitor = await openConsole(world, browser, undefined, { path: '/peple' });
    visitor.expectComplaint(/status of 404/);
    await visitor.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor();
  });

  test('a pending run that removes half of the people requires a red button and their number, and names managers', async () => {
    const path = addressOf('/runs/$runId', ids);
    const page = await openConsole(world, browser, world.administrator.email, { path });
    await page.getByText(/^\d+ managers are removed: \p{L}.+ and \d+ more$/u).waitFor();
    await page.getByRole('button', { name: 'Apply changes…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Remove \d+ of \d+ people\?$/ });
    await dialog.getByText(/^\d+ managers are removed: /).waitFor();
    const [, removed = ''] = /^Remove (\d+)/.exec(await dialog.getByRole('heading').innerText()) ?? [];
    const remove = dialog.getByRole('button', { name: `Remove ${removed} people` });
    expect(await remove.isDisabled()).toBe(true);
    await dialog.getByRole('textbox', { name: `Type ${removed} to confirm` }).fill(removed);
    expect(await remove.isDisabled()).toBe(false);
    const isRed = await page.evaluate<boolean>(`(() => {
      const button = document.querySelector('[role=dialog] button[type=submit]');
      const colour = getComputedStyle(button).backgroundColor;
      button.style.backgroundColor = 'var(--bad)';
      return colour === getComputedStyle(button).backgroundColor;
    })()`);
    expect(isRed).toBe(true);
    expect(await axeFaults(page)).toEqual([]);
  });

  test('a language is found by its code or its name: in the reader’s language, in its own or in English, without accents', async () => {
    const path = addressOf('/questions/$questionId', ids);
    const page = await openConsole(world, browser, world.administrator.email, { path, language: 'sv' });
    await page.getByRole('combobox', { name: 'Lägg till språk' }).click();
    const options = page.getByRole('option');
    await options.first().waitFor();
    expect(await options.count()).toBeGreaterThan(100);
    // No language is shown as its code only.
    const labels = await options.allInnerTexts();
    expect(labels.filter((label) => /^(\p{L}{2}) \(\1\)$/iu.test(label))).toEqual([]);
    const search = page.getByRole('combobox', { name: 'Sök språk' });
    for (const typed of ['italiensk', 'italiano', 'italian', 'IT']) {
      await search.fill(typed);
      await expect.poll(async () => (await options.allInnerTexts())[0]).toBe('Italienska (it)');
      expect(await options.count()).toBeLessThan(6);
    }
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Fråga, Italienska' }).waitFor();
  });

  test('the language is set on the profile and the theme in the menu: both apply immediately and after reloading', async () => {
    const page = await openConsole(world, browser, user, { path: '/profile', colorScheme: 'light' });
    await page.getByRole('combobox', { name: 'Language' }).click();
    await page.getByRole('option', { name: 'Swedish' }).click();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Din profil' }).waitFor();
    const [kept] = await world.pool`
      select language from users where account_id = ${world.accountId} and email = ${user}`;
    expect(kept).toEqual({ language: 'sv' });

    const background = () =>
      page.evaluate<string>('getComputedStyle(document.querySelector("main")).backgroundColor');
    const light = await background();
    await page.getByRole('button', { name: /Användare$/ }).click();
    await page.getByRole('menuitemradio', { name: 'Mörkt' }).click();
    await expect.poll(background).not.toBe(light);
    const dark = await background();
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Din profil' }).waitFor();
    expect(await background()).toBe(dark);
    expect(await page.evaluate('document.documentElement.lang')).toBe('sv');
  });
});
