// The answering page in a real browser: with JavaScript and without, by keyboard alone, in both themes, on a narrow screen
// and a wide one; every page is looked through by axe, and says nothing to the console.
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { stopTokensFor } from '../rounds/stops.ts';
import { askPeople, type AskedAccount, noon } from '../testing/asking.ts';
import { hasBrowser, openBrowser } from '../testing/browser.ts';
import { until } from '../testing/until.ts';
import { openWorld, type World } from '../testing/world.ts';
import { type Asking, openLink } from './answering.ts';
import { dress } from './answering.routes.ts';
import { askingPage } from './page.ts';

/** One question of each type, in the order of the types. */
const keys = [
  'workload-pace',
  'workload-rested',
  'engagement-recommend',
  'clarity-contact',
  'help-most',
  'energy-givers',
  'works-well',
];

let world: World;
let browser: Browser;
beforeAll(async () => {
  if (!hasBrowser()) return;
  world = await openWorld(undefined, {}, () => noon);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await world?.close();
});

type Asked = AskedAccount & { link: string; ids: number[] };

async function asked(settings: Parameters<typeof askPeople>[2] = {}): Promise<Asked> {
  const { id } = await world.account();
  const one = await askPeople(world, id, { count: 1, keys, ...settings });
  const ids = keys.map((key) => one.questionIds.get(key) as number);
  return { ...one, link: one.links[0] as string, ids };
}

/** Where the person stops reminders. */
const stopPath = async ({ accountId, userIds }: Asked) =>
  `/r/${(await stopTokensFor(world.pool, [{ accountId, userId: userIds[0] as number }]))[0]}`;

/** What is kept of a question. */
async function said({ accountId }: Asked, questionId: number | undefined): Promise<unknown[] | undefined> {
  const [row] = await world.pool<{ said: unknown[] }[]>`
    select json_build_array(value, choices, comment, skipped) as said
    from   answers where account_id = ${accountId} and question_id = ${questionId as number}`;
  return row?.said;
}
const countSaid = async ({ accountId }: Asked) =>
  (await world.pool`select 1 from answers where account_id = ${accountId}`).length;
const untilSaid = (one: Asked, id: number | undefined, what: unknown[]) =>
  until(async () => JSON.stringify(await said(one, id)) === JSON.stringify(what));

type Opened = Page & { posted: string[]; complaints: string[] };

/** A page that notes what it sends, and what it says to the console. */
async function openPage(path: string, { js = true } = {}): Promise<Opened> {
  const context = await browser.newContext({
    javaScriptEnabled: js,
    viewport: { width: 390, height: 800 },
    reducedMotion: 'reduce',
  });
  onTestFinished(() => context.close());
  const page = Object.assign(await context.newPage(), { posted: [] as string[], complaints: [] as string[] });
  page.setDefaultTimeout(10_000);
  page.on('request', (request) => request.method() === 'POST' && page.posted.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(error.message));
  await page.goto(world.address + path);
  return page;
}

/** The whole of what has the focus, as text. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement.getAttribute("value") ?? document.activeElement.textContent');
/** Going on to another question takes a moment. */
const untilFocused = (page: Page, what: RegExp) =>
  until(async () => what.test((await focused(page)) as string));
const cards = (page: Page) => page.locator('.card:visible');
const next = (page: Page) => page.locator('button[type=submit]').click();

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('by keyboard alone: one question a screen, each answer kept as it is given, thanks at the end', async () => {
    const one = await asked({ language: 'sv' });
    const page = await openPage(`/a/${one.link}`);
    const [a, b, c, d, e, f, g] = one.ids;
    const { keyboard } = page;
    const tab = async (times: number) => {
      for (let i = 0; i < times; i++) await keyboard.press('Tab');
    };
    expect(await page.locator('h1').textContent()).toBe('Hej P1');
    expect(await cards(page).count()).toBe(1);
    expect(page.posted).toEqual([]);

    await tab(2); // the language, then the scale
    await keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('2');
    await untilSaid(one, a, [2, null, null, false]);
    expect(await cards(page).getAttribute('id')).toBe(`q${a}`); // nothing moves on by itself (WCAG 3.2.2)
    await tab(1);
    await keyboard.press('Enter'); // opens the comment
    await tab(1);
    await keyboard.type('Bra');
    await tab(1);
    await untilSaid(one, a, [2, null, 'Bra', false]);
    await page.getByText('Sparat', { exact: true }).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await keyboard.press('Enter');

    await untilFocused(page, /^2 av 7 /);
    expect(await page.title()).toMatch(/^2 av 7 – Frågor från Test/);
    await tab(1);
    await keyboard.press('Space');
    await untilSaid(one, b, [1, null, null, false]);
    await keyboard.press('Enter');
    await untilFocused(page, /^3 av 7 /);
    await tab(3);
    await keyboard.press('Space'); // rather not
    await untilSaid(one, c, [null, null, null, true]);
    await keyboard.press('Enter');
    await untilFocused(page, /^4 av 7 /);
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await untilSaid(one, d, [1, null, null, false]);
    await keyboard.press('Enter');
    await untilFocused(page, /^5 av 7 /);
    await page.goBack();
    await untilFocused(page, /^4 av 7 /);
    await page.goForward();
    await tab(1);
    await keyboard.press('Space');
    await until(async () => (await said(one, e)) !== undefined);
    await keyboard.press('Enter');
    await untilFocused(page, /^6 av 7 /);
    await tab(1);
    await keyboard.press('Space');
    await until(async () => (await said(one, f)) !== undefined);
    await keyboard.press('Enter');
    await untilFocused(page, /^7 av 7 /);
    await tab(1);
    await keyboard.type('Fikat');
    await tab(3); // over the skip and Back
    await keyboard.press('Enter');
    await page.getByText('Tack, P1!').waitFor();
    expect(await said(one, g)).toEqual([null, null, 'Fikat', false]);
    await page.getByText('Ändra mina svar').click();
    expect(await page.locator(`#q${a} input:checked`).inputValue()).toBe('2');
    expect(page.complaints).toEqual([]);
  });

  test('without JavaScript: all on one page, faults said at their questions, then kept whole, and changed', async () => {
    const one = await asked({ language: 'de' });
    const page = await openPage(`/a/${one.link}`, { js: false });
    const [a, b, , d, e, f, g] = one.ids;
    expect(await cards(page).count()).toBe(7);
    await page.locator(`#q${a} label`, { hasText: 'Stimme voll zu' }).click();
    await page.locator(`#q${b} summary`).click();
    await page.locator(`[name=c${b}]`).fill('Kein Wert,\nnur Worte');
    await page.locator(`#q${d} label`, { hasText: 'Nein' }).click();
    await page.locator(`#q${e} input`).nth(1).check();
    await page.locator(`[name=q${f}]`).nth(2).check();
    await next(page);
    expect(await page.locator('.faults').innerText()).toContain('Frage 2: Wähle eine Antwort');
    expect(await countSaid(one)).toBe(0);
    await page.locator('.faults a').click();
    await page.locator(`#q${b} label`, { hasText: '10' }).click();
    await page.locator(`[name=s${g}]`).check();
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Vielen Dank, P1!');
    expect(await page.locator('main').innerText()).toContain('Eine Frage ist noch offen.');
    expect(await said(one, a)).toEqual([5, null, null, false]);
    expect(await said(one, b)).toEqual([10, null, 'Kein Wert,\nnur Worte', false]);
    expect(await said(one, d)).toEqual([0, null, null, false]);
    expect(await said(one, g)).toEqual([null, null, null, true]);
    await page.locator('.button').click();
    await page.locator(`[name=q${f}]:checked`).uncheck();
    await page.locator(`[name=c${g}]`).fill('Doch etwas');
    await page.locator(`[name=s${g}]`).uncheck();
    await next(page);
    expect(await said(one, f)).toEqual([null, [], null, false]);
    expect(await said(one, g)).toEqual([null, null, 'Doch etwas', false]);
    await page.goto(world.address + (await stopPath(one)));
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Die Erinnerungen sind abgestellt');
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Du wirst wieder erinnert');
    expect(page.complaints.filter((text) => !text.includes('400'))).toEqual([]);
  });

  test('nothing is sent before something is answered, whoever opens the page and goes through it', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}?language=sv`);
    for (let i = 2; i <= 7; i++) {
      await next(page);
      await page.getByText(`${i} av 7`).waitFor();
    }
    await next(page);
    await page.getByText('Du har inte svarat på någon fråga på den här sidan än.').waitFor();
    expect([page.posted, await countSaid(one)]).toEqual([[], 0]);
  });

  test('what cannot be sent stays on the page, says so, and is sent when that is possible', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    await page.route('**/answers*', (route) => route.abort());
    await page.locator('label', { hasText: 'Strongly agree' }).click();
    await page.getByText('Not saved yet.').waitFor();
    await next(page);
    expect(await page.locator('#state').innerText()).toContain('Not saved yet.');
    await page.unroute('**/answers*');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByText('Saved', { exact: true }).waitFor();
    expect(await said(one, one.ids[0])).toEqual([5, null, null, false]);
    await page.route('**/answers*', (route) => route.fulfill({ status: 404, json: { message: '' } }));
    await page.locator('.card:visible label', { hasText: '7' }).click();
    await page.getByText('Not saved: the week may be over').waitFor();
  });

  test('a comment without an answer is not lost in silence; skipping and answering exclude each other', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    const [a] = one.ids;
    await page.locator(`#q${a} summary`).click();
    await page.locator(`[name=c${a}]`).fill('Because');
    await next(page);
    expect(await page.locator(`#f${a}`).innerText()).toContain('Choose an answer');
    expect(page.posted).toEqual([]);
    await page.locator(`[name=q${a}]`).nth(3).check();
    await untilSaid(one, a, [4, null, 'Because', false]);
    expect(await page.locator(`#f${a}`).innerText()).toBe('');
    await page.locator(`[name=s${a}]`).check();
    await untilSaid(one, a, [null, null, null, true]);
    expect(await page.locator(`[name=q${a}]:checked`).count()).toBe(0);
    await page.locator(`[name=q${a}]`).nth(0).check();
    expect(await page.locator(`[name=s${a}]`).isChecked()).toBe(false);
    await untilSaid(one, a, [1, null, 'Because', false]);
  });

  test('what a skip takes away, and that it still holds, is said at its box, to screen readers too', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    const [a, , , , , , g] = one.ids;
    const box = page.locator(`[name=s${a}]`);
    const note = page.locator(`#n${a}`);
    expect([await note.getAttribute('role'), await note.innerText()]).toEqual(['status', '']);
    expect((await box.getAttribute('aria-describedby'))?.split(' ')).toContain(`n${a}`);
    await page.locator(`[name=q${a}]`).nth(3).check();
    await page.locator(`#q${a} summary`).click();
    await page.locator(`[name=c${a}]`).fill('Because');
    await box.check();
    expect(await note.innerText()).toBe('What you have written is not kept while this is ticked.');
    await untilSaid(one, a, [null, null, null, true]);
    // The comment alone cannot be kept: the skip holds, and the page says so until something is chosen.
    await box.uncheck();
    expect(await note.innerText()).toBe('Until you answer, “I’d rather not answer” still counts.');
    expect(await said(one, a)).toEqual([null, null, null, true]);
    await page.locator(`[name=q${a}]`).nth(1).check();
    expect(await note.innerText()).toBe('');
    await untilSaid(one, a, [2, null, 'Because', false]);
    // Emptying the comment under a ticked box leaves it ticked.
    await box.check();
    await page.locator(`[name=c${a}]`).fill('');
    await page.locator(`#q${a} h2`).focus();
    expect([await note.innerText(), await box.isChecked()]).toEqual(['', true]);
    await page.locator(`[name=c${a}]`).fill('Still');
    expect([await note.innerText(), await box.isChecked()]).toEqual([
      'Until you answer, “I’d rather not answer” still counts.',
      false,
    ]);
    // Of free text what was written is sent again.
    await page.locator(`[name=c${a}]`).fill('');
    await page.goto(`${world.address}/a/${one.link}?language=en#q${g}`);
    await page.locator(`[name=c${g}]`).fill('Coffee');
    await page.locator(`[name=s${g}]`).check();
    await untilSaid(one, g, [null, null, null, true]);
    await page.locator(`[name=s${g}]`).uncheck();
    await untilSaid(one, g, [null, null, 'Coffee', false]);
    expect(await page.locator(`#n${g}`).innerText()).toBe('');
    expect(page.complaints).toEqual([]);
  });

  test('a page without questions says nothing to the console', async () => {
    const one = await asked();
    const page = await openPage(await stopPath(one));
    const asking = (await openLink(world.pool, world.keys, { link: one.link, visit: null })) as Asking;
    await page.setContent(askingPage(dress, { ...asking, questions: [] }, 'en', new Map()));
    expect(await page.locator('#progress').count()).toBe(1);
    await page.evaluate(
      "new Promise((done) => { addEventListener('hashchange', done); location.hash = 'elsewhere'; })",
    );
    expect(page.complaints).toEqual([]);
  });

  test('another language keeps the place, and what was said', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    await next(page);
    await page.locator('.card:visible label', { hasText: '7' }).click();
    await page.locator('#languages summary').click();
    await page.locator('#languages a', { hasText: 'Svenska' }).click();
    await page.getByText('2 av 7').waitFor();
    expect(await page.locator('.card:visible input:checked').inputValue()).toBe('7');
    expect(await page.locator('html').getAttribute('lang')).toBe('sv');
  });

  test('from right to left nothing goes over the edge, and the first is on the right', async () => {
    const one = await asked();
    await inTransaction(world.pool, async (tx) => {
      await tx`update questions set translations = translations || '{"ar": "سؤال طويل بعض الشيء"}'
               where account_id = ${one.accountId}`;
    });
    const page = await openPage(`/a/${one.link}?language=ar`);
    await next(page);
    await page.getByText('2 of 7').waitFor();
    const [first, second] = await page.locator('.card:visible .numbers label').all();
    const [at, then] = [await first?.boundingBox(), await second?.boundingBox()];
    expect(at?.x).toBeGreaterThan(then?.x as number);
    await look(page, 'from right to left');
    expect(page.complaints).toEqual([]);
  });

  test('no page has a fault that axe can find, is wider than the screen, or has a target under 48 px', async () => {
    const [one, skipping] = [await asked({ language: 'sv' }), await asked({ language: 'sv' })];
    const page = await openPage(`/a/${skipping.link}`);
    await next(page);
    await page.getByText('2 av 7').waitFor();
    await page.locator('.card:visible summary').click();
    await page.locator('.card:visible textarea').fill('Text');
    await page.locator('.card:visible .skip input').check();
    await page.locator('#languages summary').click();
    await look(page, 'one question, with comment, a note and languages open');
    await page.goto(`${world.address}/a/${one.link}?saved`);
    await look(page, 'nothing answered');
    await page.locator('input[value="4"]').first().check();
    await page.locator('textarea').last().fill('Text');
    // Longer than the field takes: as a browser that does not know maxlength sends it.
    await page.evaluate("document.querySelector('textarea').value = 'x'.repeat(10001)");
    await next(page);
    await look(page, 'all questions, with faults');
    await page.evaluate("document.querySelector('textarea').value = 'x'");
    await next(page);
    await look(page, 'thanks');
    await page.goto(world.address + (await stopPath(one)));
    await look(page, 'reminders');
    await next(page);
    await look(page, 'reminders stopped');
    await page.goto(`${world.address}/a/nothing`);
    await look(page, 'dead link');
    expect(page.complaints.filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
  });
});

/** In both themes, on a narrow screen and on a wide one. Only the narrow and light one needs all rules of axe. */
async function look(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await overflow(page), `${what}, ${width} px`).toBe(0);
    expect(await smallTargets(page), `${what}, ${width} px`).toEqual([]);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const isFirst = width === 320 && colorScheme === 'light';
      const found = await violations(page, isFirst ? {} : { runOnly: ['color-contrast', 'target-size'] });
      expect(found, `${what}, ${width} px, ${colorScheme}`).toEqual([]);
    }
  }
}

const violations = (page: Page, options: axe.RunOptions) =>
  page.evaluate<string[]>(`axe
    .run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join()))`);

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** What can be pressed and is lower or narrower than 48 px; links in a list of faults are lines of text. */
const smallTargets = (page: Page) =>
  page.evaluate<string[]>(`
    [...document.querySelectorAll('label, summary, button, a:not(.faults a), textarea')]
      .filter((one) => one.checkVisibility())
      .map((one) => ({ one, box: one.getBoundingClientRect() }))
      .filter(({ box }) => box.height < 47.5 || box.width < 47.5)
      .map(({ one, box }) => one.outerHTML.slice(0, 80) + box.width + ' x ' + box.height)`);
