// The accessibility of the answering page, by the success criteria of WCAG 2.2 that a program can check. The results are the document
// docs/accessibility.md; `npx vitest run answers/accessibility -u` writes it.
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { askPeople, keysOfAllTypes } from '../testing/asking.ts';
import { hasBrowser } from '../testing/browser/browser.ts';
import { until } from '../testing/until.ts';
import { browser, useAnsweringBrowser, world } from './answering-browser.fixture.ts';

useAnsweringBrowser();
/** Links of people who have not answered. Each view has its own, because another browser doesn't see what was answered. */
let links: string[];
beforeAll(async () => {
  if (!hasBrowser()) return;
  ({ links } = await askPeople(world, (await world.account()).id, { count: 12, keys: keysOfAllTypes }));
});

type View = Parameters<Browser['newContext']>[0];

/** Opens the page with all questions together, or with one at a time. */
async function open(view: View, all = true): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 390, height: 800 }, ...view });
  const page = await context.newPage();
  await page.goto(`${world.address}/a/${links.pop()}${all ? '?saved' : ''}`);
  return page;
}

/** Runs `check` on the page and closes it. */
async function on<T>(view: View, check: (page: Page) => Promise<T>, all = true): Promise<T> {
  const page = await open(view, all);
  return check(page).finally(() => page.context().close());
}

const faultsOf = async (page: Page): Promise<string[]> => {
  await page.evaluate(axe.source);
  return page.evaluate<string[]>(`axe
    .run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 80))))`);
};

/** Returns whether all of the page can be read without scrolling to the side, and no text is cut. */
const fits = (page: Page) =>
  page.evaluate<boolean>(`document.documentElement.scrollWidth <= innerWidth &&
    [...document.querySelectorAll('main *, form *')].every((one) =>
      !one.checkVisibility() || one.closest('.unseen') || one.scrollWidth <= one.clientWidth + 1 ||
      getComputedStyle(one).overflowX === 'visible' || one.tagName === 'TEXTAREA')`);

const named = `(one) => {
  const label = one.getAttribute('aria-label') ?? '';
  const by = (one.getAttribute('aria-labelledby') ?? '').split(' ').map((id) => document.getElementById(id)?.textContent ?? '');
  const own = one.labels?.length > 0 ? [...one.labels].map((each) => each.textContent) : [one.textContent];
  return [label, ...by, ...own].join('').trim() !== '';
}`;

type Row = [criterion: string, how: string, result: string];

const yes = (is: boolean) => (is ? 'met' : 'NOT met');

async function rows(): Promise<Row[]> {
  const views: [string, View][] = [
    ['light', { colorScheme: 'light' }],
    ['dark', { colorScheme: 'dark' }],
  ];
  const found: Row[] = [];
  for (const [theme, view] of views) {
    const faults = await on(view, faultsOf);
    const result = faults.length === 0 ? 'no faults' : faults.join('; ');
    found.push([
      'All that axe-core knows (A, AA and best practices)',
      `axe-core on the page with a question of each type, ${theme} theme`,
      result,
    ]);
  }
  found.push([
    '1.3.1, 4.1.2 Names and roles',
    'each group of options, field and button has a name',
    yes(
      await on({}, (page) =>
        page.evaluate<boolean>(`console.log(1), [...document.querySelectorAll('fieldset, input, textarea, button, summary, a')].every((one) =>
          one.type === 'hidden' || (one.tagName === 'FIELDSET' ? one.querySelector('legend')?.textContent.trim() : (${named})(one)))`),
      ),
    ),
  ]);
  found.push([
    '1.4.4, 1.4.10 Zoom of 400%',
    '320 × 256 px: nothing scrolls to the side, and no text is cut',
    yes(await on({ viewport: { width: 320, height: 256 } }, fits)),
  ]);
  found.push([
    '1.4.12 Text spacing',
    'lines of 1.5, paragraphs of 2, letters of 0.12 and words of 0.16 times the size: no text is cut',
    yes(
      await on({ viewport: { width: 320, height: 640 } }, async (page) => {
        // Through a constructed style sheet, which the content security policy of the page allows.
        await page.evaluate(`{
          const sheet = new CSSStyleSheet();
          sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-block-end: 2em !important }');
          document.adoptedStyleSheets = [sheet];
        }`);
        return fits(page);
      }),
    ),
  ]);
  found.push([
    '1.4.11 Forced colours',
    'with the colours of the system, a chosen option and the focus look different from the rest',
    yes(await on({ forcedColors: 'active' }, showsChoice)),
  ]);
  found.push([
    '2.1.1, 2.4.3, 2.4.7 Keyboard',
    'Tab reaches each control once, from top to bottom, and the focus is visible at each',
    yes(await on({}, tabsThrough)),
  ]);
  found.push([
    '2.3.3 Reduced motion',
    'if the system asks for less motion, nothing moves when an option is chosen and the next question appears',
    yes(await on({ reducedMotion: 'reduce' }, keepsStill, false)),
  ]);
  found.push([
    '2.5.8 Size of targets',
    'each option, button and link is at least 48 × 48 px (the criterion demands 24)',
    yes(
      await on({}, (page) =>
        page.evaluate<boolean>(`[...document.querySelectorAll('label, summary, button, a')].every((one) => {
          const { width, height } = one.getBoundingClientRect();
          return !one.checkVisibility() || (width >= 47.5 && height >= 47.5);
        })`),
      ),
    ),
  ]);
  found.push([
    '3.3.1, 3.3.3 Errors',
    'an invalid field is named in a list at the top, which links to it, and described at the field',
    yes(await on({}, namesErrors)),
  ]);
  found.push([
    '4.1.3 Status messages',
    '“Saved” is in a live region, so a screen reader says it without losing its place',
    yes(await on({}, saysSaved, false)),
  ]);
  return found;
}

/** Returns whether a chosen option, and the focus, can be seen. Compares pictures, because forced colours replace those of the styles. */
async function showsChoice(page: Page): Promise<boolean> {
  const results: boolean[] = [];
  for (const options of ['.numbers', '.list']) {
    const label = page.locator(`${options} label`).first();
    const picture = async () => (await label.screenshot()).toString('base64');
    const before = await picture();
    await label.locator('input').focus();
    const focused = await picture();
    await page.keyboard.press('Space');
    await page.evaluate('document.activeElement.blur()');
    results.push(new Set([before, focused, await picture()]).size === 3);
  }
  return results.every(Boolean);
}

async function tabsThrough(page: Page): Promise<boolean> {
  const controls = await page.evaluate<number>(`(() => {
    const groups = new Set();
    return [...document.querySelectorAll('input:not([type=hidden]), textarea, button, summary, a[href]')].filter((one) => {
      if (!one.checkVisibility()) return false;
      if (one.type !== 'radio') return true;
      return !groups.has(one.name) && groups.add(one.name); // Tab reaches a group once
    }).length;
  })()`);
  const seen: { top: number; isVisible: boolean }[] = [];
  for (let i = 0; i < controls; i++) {
    await page.keyboard.press('Tab');
    seen.push(
      await page.evaluate<{ top: number; isVisible: boolean }>(`(() => {
        const one = document.activeElement;
        const drawn = [one, one.nextElementSibling, one.closest('label')].filter(Boolean);
        const top = one.getBoundingClientRect().top + scrollY;
        return { top, isVisible: drawn.some((each) => getComputedStyle(each).outlineStyle !== 'none') };
      })()`),
    );
  }
  // Controls of one line may have different heights.
  const isDown = seen.every(({ top }, i) => i === 0 || top >= seen[i - 1]!.top - 48);
  return isDown && seen.every(({ isVisible }) => isVisible);
}

async function keepsStill(page: Page): Promise<boolean> {
  await page.locator('.card:visible input').first().check();
  await page.locator('button[type=submit]').first().click();
  await until(async () => (await page.title()).startsWith('2 '));
  return page.evaluate<boolean>('document.getAnimations().length === 0');
}

async function namesErrors(page: Page): Promise<boolean> {
  // Longer than the field allows, as from a browser that ignores maxlength.
  await page.evaluate("document.querySelector('textarea:not([hidden])').value = 'x'.repeat(10001)");
  await page.locator('button[type=submit]').first().click();
  await page.locator('.faults').waitFor();
  return page.evaluate<boolean>(`[...document.querySelectorAll('.faults a')].every((link) => {
    const at = document.querySelector(link.getAttribute('href'));
    const field = at?.matches('textarea, input') ? at : at?.querySelector('[aria-invalid], [aria-describedby]');
    return at !== null && field !== null && field !== undefined;
  })`);
}

async function saysSaved(page: Page): Promise<boolean> {
  await page.locator('.card:visible input').first().check();
  await page.locator('#state').getByText('Saved', { exact: true }).waitFor();
  return page.evaluate<boolean>("document.querySelector('#state').matches('[role=status], [aria-live]')");
}

const document = (results: Row[]) => `# Accessibility

The page on which people answer follows WCAG 2.2 at level AA. This report is written by a test, which opens the page in a browser on each run and
fails if a result changes (\`server/src/answers/accessibility.e2e.test.ts\`). Other tests check the page in every language, by keyboard alone,
without JavaScript, and every page of the console with axe-core in both themes.

| criterion | what is checked | result |
| --- | --- | --- |
${results.map((row) => `| ${row.join(' | ')} |`).join('\n')}

A program can't decide all criteria: for example, whether a text is easy to understand. No person with a disability has tested the page yet,
and it has not been read with a screen reader by a person.
`;

test.skipIf(!hasBrowser())(
  'the answering page has the accessibility that docs/accessibility.md reports',
  async () => {
    await expect(document(await rows())).toMatchFileSnapshot('../../../docs/accessibility.md');
  },
);
