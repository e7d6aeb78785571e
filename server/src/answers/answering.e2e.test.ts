// The answering page in a real browser: with JavaScript and without, by keyboard alone, in both themes, on narrow and wide
// screens. axe checks every page, and no page may log to the console. What one browser has answered, no other shows or changes.
import axe from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { exportLinks } from '../rounds/links.ts';
import { personTokensFor } from '../rounds/messages/person-tokens.ts';
import { encodeAnswers } from '../sealing/person-answers.ts';
import { askPeople, type AskedAccount, keysOfAllTypes, noon } from '../testing/asking.ts';
import { hasBrowser } from '../testing/browser/browser.ts';
import { someOf } from '../testing/house/cases.ts';
import { answersOfPerson, keptAnswers } from '../testing/kept-answers.ts';
import { until } from '../testing/until.ts';
import { openWorld } from '../testing/world.ts';
import { browser, useAnsweringBrowser, world } from './answering-browser.fixture.ts';
import { type Asking, openLink } from './answering.ts';
import { pageAssets } from './page-responses.ts';
import { askingPage } from './page.ts';

useAnsweringBrowser();

type Asked = AskedAccount & { link: string; ids: number[] };

async function asked(
  settings: Parameters<typeof askPeople>[2] = {},
  publication: 'weekly' | 'live' = 'weekly',
): Promise<Asked> {
  const { id } = await world.account();
  await world.pool`update accounts set publication = ${publication} where account_id = ${id}`;
  const one = await askPeople(world, id, { count: 1, keys: keysOfAllTypes, ...settings });
  const ids = keysOfAllTypes.map((key) => one.questionIds.get(key) as number);
  return { ...one, link: one.links[0] as string, ids };
}

/** Returns the path where the person turns off reminders. */
const optOutPath = async ({ accountId, userIds }: Asked) =>
  `/r/${(await personTokensFor(world.pool, 'reminders', [{ accountId, userId: userIds[0] as number }]))[0]}`;

/** Returns what is stored for a question. */
async function storedAnswer(
  { accountId, week }: Asked,
  questionId: number | undefined,
): Promise<unknown[] | undefined> {
  const rows = await keptAnswers(world, accountId, week);
  const row = rows.find((one) => one.questionId === questionId);
  return row && [row.value, row.choices, row.comment, row.skipped];
}
const countStored = async ({ accountId, week }: Asked) => (await keptAnswers(world, accountId, week)).length;
const untilStored = (one: Asked, id: number | undefined, what: unknown[]) =>
  until(async () => JSON.stringify(await storedAnswer(one, id)) === JSON.stringify(what));

type Opened = Page & { posted: string[]; complaints: string[] };

/** Marks all answers of the person as counted in live results. */
async function markCounted({ accountId, week, userIds }: Asked): Promise<void> {
  const [userId] = userIds as [number];
  const answers = await answersOfPerson(world, accountId, week, userId);
  for (const answer of answers.values()) answer.counted = true;
  const key = (await world.keys.of(world.pool, accountId, week))!;
  const respondent = key.respondentOf(userId);
  const sealed = key.seal(respondent, encodeAnswers(answers));
  await world.pool`update answers set sealed = ${sealed}
                   where account_id = ${accountId} and week = ${week} and respondent = ${respondent}`;
}

/** Opens a page that records its POST requests and its console messages. `cookies`: whether the browser keeps any. */
async function openPage(path: string, { js = true, cookies = true } = {}): Promise<Opened> {
  const context = await browser.newContext({
    javaScriptEnabled: js,
    viewport: { width: 390, height: 800 },
    reducedMotion: 'reduce',
  });
  onTestFinished(() => context.close());
  if (!cookies) await refuseCookies(context);
  const page = Object.assign(await context.newPage(), { posted: [] as string[], complaints: [] as string[] });
  page.setDefaultTimeout(30_000);
  page.on('request', (request) => request.method() === 'POST' && page.posted.push(request.url()));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.complaints.push(message.text());
  });
  page.on('pageerror', (error) => page.complaints.push(error.message));
  await page.goto(world.address + path);
  return page;
}

/** Removes cookies from all requests and responses. */
const refuseCookies = (context: BrowserContext) =>
  context.route('**/*', async (route) => {
    const response = await route.fetch({ maxRedirects: 0 });
    await context.clearCookies();
    const { 'set-cookie': _, ...headers } = response.headers();
    await route.fulfill({ response, headers });
  });

/** Returns the text of the focused element. */
const focused = (page: Page) =>
  page.evaluate('document.activeElement.getAttribute("value") ?? document.activeElement.textContent');
/** Waits for the focus, because moving to another question takes time. */
const untilFocused = (page: Page, what: RegExp) =>
  until(async () => what.test((await focused(page)) as string));
const cards = (page: Page) => page.locator('.card:visible');
const next = (page: Page) => page.locator('button[type=submit]').first().click();

describe.skipIf(!hasBrowser())('in a browser (skipped: there is no Chromium on the PATH)', () => {
  test('by keyboard alone: one question per screen, each answer is saved when given, thanks at the end', async () => {
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

    await tab(3); // the language, what the promises mean, then the scale
    await keyboard.press('ArrowDown');
    expect(await focused(page)).toBe('2');
    await untilStored(one, a, [2, null, null, false]);
    expect(await cards(page).getAttribute('id')).toBe(`q${a}`); // nothing moves on by itself (WCAG 3.2.2)
    await tab(1);
    await keyboard.press('Enter'); // opens the comment
    await tab(1);
    await keyboard.type('Bra');
    await tab(1);
    await untilStored(one, a, [2, null, 'Bra', false]);
    await page.getByText('Sparat', { exact: true }).waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Shift+Tab');
    await keyboard.press('Enter');

    await untilFocused(page, /^2 av 7 /);
    expect(await page.title()).toMatch(/^2 av 7 – Frågor från Test/);
    await tab(1);
    await keyboard.press('Space');
    await untilStored(one, b, [1, null, null, false]);
    await keyboard.press('Enter');
    await untilFocused(page, /^3 av 7 /);
    await tab(3);
    await keyboard.press('Space'); // "I'd rather not answer"
    await untilStored(one, c, [null, null, null, true]);
    await keyboard.press('Enter');
    await untilFocused(page, /^4 av 7 /);
    await keyboard.press('Tab');
    await keyboard.press('Space');
    await untilStored(one, d, [1, null, null, false]);
    await keyboard.press('Enter');
    await untilFocused(page, /^5 av 7 /);
    await page.goBack();
    await untilFocused(page, /^4 av 7 /);
    await page.goForward();
    await untilFocused(page, /^5 av 7 /);
    await tab(1);
    await keyboard.press('Space');
    await until(async () => (await storedAnswer(one, e)) !== undefined);
    await keyboard.press('Enter');
    await untilFocused(page, /^6 av 7 /);
    await tab(1);
    await keyboard.press('Space');
    await until(async () => (await storedAnswer(one, f)) !== undefined);
    await keyboard.press('Enter');
    await untilFocused(page, /^7 av 7 /);
    await tab(1);
    await keyboard.type('Fikat');
    await tab(3); // over the skip and Back
    await keyboard.press('Enter');
    await page.getByText('Tack, P1!').waitFor();
    expect(await storedAnswer(one, g)).toEqual([null, null, 'Fikat', false]);
    await page.getByText('Ändra mina svar').click();
    expect(await page.locator(`#q${a} input:checked`).inputValue()).toBe('2');
    expect(page.complaints).toEqual([]);
  });

  test('without JavaScript: all questions on one page, errors shown at the questions, then all answers saved and changed', async () => {
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
    expect(await countStored(one)).toBe(0);
    await page.locator('.faults a').click();
    await page.locator(`#q${b} label`, { hasText: '10' }).click();
    await page.locator(`[name=s${g}]`).check();
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Vielen Dank, P1!');
    expect(await page.locator('main').innerText()).toContain('Eine Frage ist noch offen.');
    expect(await storedAnswer(one, a)).toEqual([5, null, null, false]);
    expect(await storedAnswer(one, b)).toEqual([10, null, 'Kein Wert,\nnur Worte', false]);
    expect(await storedAnswer(one, d)).toEqual([0, null, null, false]);
    expect(await storedAnswer(one, g)).toEqual([null, null, null, true]);
    await page.locator('.button').click();
    await page.locator(`[name=q${f}]:checked`).uncheck();
    await page.locator(`[name=c${g}]`).fill('Doch etwas');
    await page.locator(`[name=s${g}]`).uncheck();
    await next(page);
    expect(await storedAnswer(one, f)).toEqual([null, [], null, false]);
    expect(await storedAnswer(one, g)).toEqual([null, null, 'Doch etwas', false]);
    await page.goto(world.address + (await optOutPath(one)));
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Die Erinnerungen sind abbestellt');
    await next(page);
    expect(await page.locator('h1').innerText()).toBe('Du bekommst wieder Umfrage-Nachrichten');
    expect(page.complaints.filter((text) => !text.includes('400'))).toEqual([]);
  });

  test('opening and paging through the page sends nothing before something is answered', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}?language=sv`);
    for (let i = 2; i <= 7; i++) {
      await next(page);
      await page.getByText(`${i} av 7`).waitFor();
    }
    await next(page);
    await page.getByText('Du har inte svarat på någon fråga på den här sidan än.').waitFor();
    expect([page.posted, await countStored(one)]).toEqual([[], 0]);
  });

  test("what can't be sent stays on the page, which says so and sends it when that is possible", async () => {
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
    expect(await storedAnswer(one, one.ids[0])).toEqual([5, null, null, false]);
    await page.route('**/answers*', (route) => route.fulfill({ status: 404, json: { message: '' } }));
    await page.locator('.card:visible label', { hasText: '7' }).click();
    await page.getByText('Not saved. The week may be over').waitFor();
  });

  test('after a finish that could not be sent, the page stays if someone goes on answering, and nothing written is lost', async () => {
    const one = await asked();
    const last = one.ids.at(-1);
    const page = await openPage(`/a/${one.link}?language=en#q${last}`);
    const written = page.locator(`[name=c${last}]`);
    const finish = page.getByRole('button', { name: 'Finish' });
    const reconnect = async () => {
      await page.unroute('**/answers*');
      await page.evaluate("dispatchEvent(new Event('online'))");
      await page.getByText('Saved', { exact: true }).waitFor();
    };
    await page.route('**/answers*', (route) => route.abort());
    await written.fill('Coffee');
    await finish.click();
    await page.getByText('Not saved yet.').waitFor();
    await written.pressSequentially(' and t');
    await reconnect();
    await written.pressSequentially('ea');
    expect([await written.isVisible(), await written.inputValue()]).toEqual([true, 'Coffee and tea']);
    await untilStored(one, last, [null, null, 'Coffee and tea', false]);
    // Going back to another question is going on, too.
    await page.route('**/answers*', (route) => route.abort());
    await written.fill('Tea');
    await finish.click();
    await page.getByText('Not saved yet.').waitFor();
    await page.locator('#back').click();
    await reconnect();
    await untilStored(one, last, [null, null, 'Tea', false]);
    expect(await page.locator('#form').isVisible()).toBe(true);
    // Without going on, it leaves as soon as everything is sent.
    await page.goto(`${world.address}/a/${one.link}?language=en#q${last}`);
    await page.route('**/answers*', (route) => route.abort());
    await written.fill('Water');
    await finish.click();
    await page.getByText('Not saved yet.').waitFor();
    await page.unroute('**/answers*');
    await page.evaluate("dispatchEvent(new Event('online'))");
    await page.getByRole('heading', { name: /^Thank you/ }).waitFor();
  });

  test('a comment without an answer is not lost without notice, and skipping and answering exclude each other', async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    const [a] = one.ids;
    await page.locator(`#q${a} summary`).click();
    await page.locator(`[name=c${a}]`).fill('Because');
    await next(page);
    expect(await page.locator(`#f${a}`).innerText()).toContain('Choose an answer');
    expect(page.posted).toEqual([]);
    await page.locator(`[name=q${a}]`).nth(3).check();
    await untilStored(one, a, [4, null, 'Because', false]);
    expect(await page.locator(`#f${a}`).innerText()).toBe('');
    await page.locator(`[name=s${a}]`).check();
    await untilStored(one, a, [null, null, null, true]);
    expect(await page.locator(`[name=q${a}]:checked`).count()).toBe(0);
    await page.locator(`[name=q${a}]`).nth(0).check();
    expect(await page.locator(`[name=s${a}]`).isChecked()).toBe(false);
    await untilStored(one, a, [1, null, 'Because', false]);
  });

  test('the box says what skipping discards and that it is still saved, to screen readers too', async () => {
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
    expect(await note.innerText()).toBe('What you’ve written isn’t saved while this box is ticked.');
    await untilStored(one, a, [null, null, null, true]);
    // The comment alone can't be saved: the skip stays, and the page says so until an option is chosen.
    await box.uncheck();
    expect(await note.innerText()).toBe('“I’d rather not answer” stays saved until you answer.');
    expect(await storedAnswer(one, a)).toEqual([null, null, null, true]);
    await page.locator(`[name=q${a}]`).nth(1).check();
    expect(await note.innerText()).toBe('');
    await untilStored(one, a, [2, null, 'Because', false]);
    // Deleting the comment while the box is ticked leaves it ticked.
    await box.check();
    await page.locator(`[name=c${a}]`).fill('');
    await page.locator(`#q${a} h2`).focus();
    expect([await note.innerText(), await box.isChecked()]).toEqual(['', true]);
    await page.locator(`[name=c${a}]`).fill('Still');
    expect([await note.innerText(), await box.isChecked()]).toEqual([
      '“I’d rather not answer” stays saved until you answer.',
      false,
    ]);
    // For free text, what was written is sent again.
    await page.locator(`[name=c${a}]`).fill('');
    await page.goto(`${world.address}/a/${one.link}?language=en#q${g}`);
    await page.locator(`[name=c${g}]`).fill('Coffee');
    await page.locator(`[name=s${g}]`).check();
    await untilStored(one, g, [null, null, null, true]);
    await page.locator(`[name=s${g}]`).uncheck();
    await untilStored(one, g, [null, null, 'Coffee', false]);
    expect(await page.locator(`#n${g}`).innerText()).toBe('');
    expect(page.complaints).toEqual([]);
  });

  test('a page without questions logs nothing to the console', async () => {
    const one = await asked();
    const page = await openPage(await optOutPath(one));
    const asking = (await openLink(world.pool, world.keys, { link: one.link, visit: null })) as Asking;
    await page.setContent(askingPage(pageAssets, { ...asking, questions: [] }, 'en', new Map()));
    expect(await page.locator('#progress').count()).toBe(1);
    await page.evaluate(
      "new Promise((done) => { addEventListener('hashchange', done); location.hash = 'elsewhere'; })",
    );
    expect(page.complaints).toEqual([]);
  });

  test('changing the language keeps the position and what was entered', async () => {
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

  test('right to left, nothing overflows, and the first option is on the right', async () => {
    const one = await asked();
    await inTransaction(world.pool, async (tx) => {
      await tx`update questions set translations = translations || '{"ar": "سؤال طويل بعض الشيء"}'
               where account_id = ${one.accountId}`;
    });
    const page = await openPage(`/a/${one.link}?language=ar`);
    await next(page);
    await page.getByText('2 من 7').waitFor();
    const [first, second] = await page.locator('.card:visible .numbers label').all();
    const [at, then] = [await first?.boundingBox(), await second?.boundingBox()];
    expect(at?.x).toBeGreaterThan(then?.x as number);
    await checkPage(page, 'from right to left');
    expect(page.complaints).toEqual([]);
  });

  test('a second browser with the same link sees that a question is answered but not how, and changes nothing, while the first goes on', async () => {
    const one = await asked();
    const [a, b] = one.ids as [number, number];
    const first = await openPage(`/a/${one.link}`);
    await first.locator(`[name=q${a}]`).nth(3).check();
    await first.locator(`#q${a} summary`).click();
    await first.locator(`[name=c${a}]`).fill('My very own words');
    await untilStored(one, a, [4, null, 'My very own words', false]);

    const second = await openPage(`/a/${one.link}`);
    // It starts with the open questions.
    await second.getByText('2 of 7').waitFor();
    await second.getByRole('button', { name: 'Back' }).click();
    await untilFocused(second, /^1 of 7 /);
    const card = second.locator(`#q${a}`);
    expect(await card.innerText()).toContain('You have answered this question');
    expect(await card.innerText()).toContain('in another browser');
    expect(await card.locator('input, textarea, fieldset').count()).toBe(0);
    expect(await second.content()).not.toContain('My very own words');
    const status = await second.evaluate<number>(
      `fetch(location.pathname + '/answers', {
         method: 'POST', headers: { 'content-type': 'application/json' },
         body: JSON.stringify({ question: ${a}, value: 1 }) }).then(({ status }) => status)`,
    );
    expect(status).toBe(409);
    expect(second.complaints.filter((text) => !text.includes('409'))).toEqual([]);

    const plain = await openPage(`/a/${one.link}`, { js: false });
    expect(await plain.locator(`#q${a} input`).count()).toBe(0);
    expect(await plain.locator(`#q${a}`).innerText()).toContain('You have answered this question');
    // A form that has the field all the same.
    const sent = await plain.request.post(`${world.address}/a/${one.link}`, {
      form: { [`q${a}`]: '1', [`q${b}`]: '2' },
    });
    expect([sent.status(), (await sent.text()).includes('My very own words')]).toEqual([400, false]);
    expect([await storedAnswer(one, a), await storedAnswer(one, b)]).toEqual([
      [4, null, 'My very own words', false],
      undefined,
    ]);
    await plain.locator(`[name=q${b}]`).nth(6).check();
    await next(plain);
    await plain.getByText('Thank you, P1!').waitFor();
    await untilStored(one, b, [7, null, null, false]);

    await first.goto(`${world.address}/a/${one.link}?language=sv`);
    expect(await first.locator(`[name=q${a}]:checked`).inputValue()).toBe('4');
    expect(await first.locator(`[name=c${a}]`).inputValue()).toBe('My very own words');
    await first.locator(`[name=q${a}]`).nth(1).check();
    await untilStored(one, a, [2, null, 'My very own words', false]);
    expect(await first.locator(`#q${b}`).innerText()).not.toBe('7');
    expect(first.complaints).toEqual([]);
  });

  test('a page that was already open shows the refusal at the question, stops sending it, and goes on with the others', async () => {
    const one = await asked();
    const [a, b] = one.ids as [number, number];
    const late = await openPage(`/a/${one.link}`);
    const first = await openPage(`/a/${one.link}`);
    await first.locator(`[name=q${a}]`).nth(3).check();
    await untilStored(one, a, [4, null, null, false]);
    await late.locator(`[name=q${a}]`).nth(0).check();
    await late
      .locator(`#f${a}`, { hasText: 'already answered with another link or in another browser' })
      .waitFor();
    expect(await late.locator(`[name=q${a}]`).nth(0).isDisabled()).toBe(true);
    await next(late);
    await late.getByText('2 of 7').waitFor();
    await late.locator(`[name=q${b}]`).nth(8).check();
    await untilStored(one, b, [9, null, null, false]);
    await late.evaluate("dispatchEvent(new Event('online'))");
    for (let i = 3; i <= 7; i++) {
      await next(late);
      await late.getByText(`${i} of 7`).waitFor();
    }
    await next(late);
    await late.getByText('Thank you, P1!').waitFor();
    expect(late.posted).toHaveLength(2);
    expect(await storedAnswer(one, a)).toEqual([4, null, null, false]);
  });

  test("answers counted in live results can't be changed, not even in their own browser, but the others can", async () => {
    const one = await asked({}, 'live');
    const [a, b] = one.ids as [number, number];
    const page = await openPage(`/a/${one.link}`);
    expect(await page.locator('#privacy').innerText()).toContain('Results are live');
    await page.locator(`[name=q${a}]`).nth(3).check();
    await untilStored(one, a, [4, null, null, false]);
    await markCounted(one);
    await page.locator(`[name=q${a}]`).nth(0).check();
    await page.locator(`#f${a}`, { hasText: 'already counted in the live results' }).waitFor();
    expect(await storedAnswer(one, a)).toEqual([4, null, null, false]);
    await page.goto(`${world.address}/a/${one.link}?saved`);
    expect(await page.getByText('Change my answers').count()).toBe(0);
    await page.getByText('Continue answering').click();
    await page.getByText('2 of 7').waitFor();
    await page.locator(`[name=q${b}]`).nth(8).check();
    await untilStored(one, b, [9, null, null, false]);
    await page.goto(`${world.address}/a/${one.link}?saved`);
    expect(await page.getByText('Change my answers').count()).toBe(1);
  });

  test('if everything is answered elsewhere, a friendly page says so, with the script and without', async () => {
    const one = await asked();
    const first = await openPage(`/a/${one.link}`, { js: false });
    for (const id of one.ids) await first.locator(`[name=s${id}]`).check();
    await next(first);
    await first.getByText('Thank you, P1!').waitFor();
    for (const js of [true, false]) {
      const page = await openPage(`/a/${one.link}`, { js });
      expect(await page.locator('h1').innerText()).toBe('All questions are answered, P1');
      expect(await page.locator('form, input').count()).toBe(0);
      expect(page.complaints).toEqual([]);
      if (js) await checkPage(page, 'everything is answered');
    }
  });

  test('without cookies each question can be answered, and can be changed until the page is left', async () => {
    const one = await asked();
    const [a, b] = one.ids as [number, number];
    const page = await openPage(`/a/${one.link}`, { cookies: false });
    await page.locator(`[name=q${a}]`).nth(3).check();
    await untilStored(one, a, [4, null, null, false]);
    await page.locator(`#q${a} summary`).click();
    await page.locator(`[name=c${a}]`).fill('A thought that comes later');
    await untilStored(one, a, [4, null, 'A thought that comes later', false]);
    await page.reload();
    await page.getByText('2 of 7').waitFor();
    expect(await page.locator(`#q${a}`).textContent()).toContain('You have answered this question');
    expect(await page.context().cookies()).toEqual([]);

    const plain = await openPage(`/a/${one.link}`, { js: false, cookies: false });
    await plain.locator(`[name=q${b}]`).nth(8).check();
    await next(plain);
    await plain.getByText('Your answers are saved.').waitFor();
    expect(await plain.locator('main').innerText()).toContain('They can’t be seen or changed here any more.');
    expect(await plain.getByText('Change my answers').count()).toBe(0);
    expect(await storedAnswer(one, b)).toEqual([9, null, null, false]);
    expect(page.complaints).toEqual([]);
  });

  test("the cookie is limited to this link and the browser session, and scripts and other websites can't read it", async () => {
    const one = await asked();
    const page = await openPage(`/a/${one.link}`);
    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      path: `/a/${one.link}`,
      httpOnly: true,
      sameSite: 'Lax',
      secure: false,
      expires: -1,
    });
    expect(cookie?.value).toMatch(/^[0-9A-Za-z]{27}$/);
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.reload();
    expect((await page.context().cookies())[0]?.value).toBe(cookie?.value);
    const secure = await openWorld(undefined, { publicUrl: 'https://soundings.example' }, () => noon);
    onTestFinished(() => secure.close());
    const { id } = await secure.account();
    const asking = await askPeople(secure, id, { count: 1 });
    const { headers } = await fetch(`${secure.address}/a/${asking.links[0]}`);
    expect(headers.get('set-cookie')).toMatch(
      new RegExp(
        '^__Host-soundings_visit_[0-9a-f]{12}=[0-9A-Za-z]{27}; Path=/; HttpOnly; SameSite=Lax; Secure$',
      ),
    );
  });

  test('with a handed-out link the page says who handed it out, and shows nothing that was answered in another way', async () => {
    const one = await asked();
    const [a] = one.ids as [number];
    const own = await openPage(`/a/${one.link}`);
    await own.locator(`[name=q${a}]`).nth(3).check();
    await untilStored(one, a, [4, null, null, false]);
    const { links } = await inTransaction(world.pool, async (tx) => {
      const [ada] = await tx<{ id: number }[]>`
        select user_id as id from users where account_id = ${one.accountId} and role = 'Administrator'`;
      return exportLinks(tx, one.accountId, '', {
        channels: { mail: false, sms: false },
        by: ada?.id ?? null,
      });
    });
    const page = await openPage(links[0]?.link as string);
    expect(await page.locator('#privacy').innerText()).toContain('This link was handed out by Ada Admin');
    expect(await page.locator('.card[data-fixed]').count()).toBe(0);
    await checkPage(page, 'handed out');
    await page.locator(`[name=q${a}]`).nth(0).check();
    await page.locator('#state', { hasText: 'Received' }).waitFor();
    expect(await storedAnswer(one, a)).toEqual([4, null, null, false]);
    await page.locator('#privacy summary').click();
    await checkPage(page, 'handed out, with what that means');
  });

  test('no page has an accessibility error that axe finds, is wider than the screen, or has a target under 48 px', async () => {
    const [one, skipping] = [await asked({ language: 'sv' }), await asked({ language: 'sv' })];
    const page = await openPage(`/a/${skipping.link}`);
    await next(page);
    await page.getByText('2 av 7').waitFor();
    await page.locator('.card:visible summary').click();
    await page.locator('.card:visible textarea').fill('Text');
    await page.locator('.card:visible .skip input').check();
    await page.locator('#languages summary').click();
    await checkPage(page, 'one question, with comment, a note and languages open');
    await page.goto(`${world.address}/a/${one.link}?saved`);
    await checkPage(page, 'nothing answered');
    await page.locator('input[value="4"]').first().check();
    await page.locator('textarea').last().fill('Text');
    // Longer than the field allows, as a browser sends it that does not know maxlength.
    await page.evaluate("document.querySelector('textarea').value = 'x'.repeat(10001)");
    await next(page);
    await checkPage(page, 'all questions, with faults');
    await page.evaluate("document.querySelector('textarea').value = 'x'");
    await next(page);
    await checkPage(page, 'thanks');
    await page.goto(world.address + (await optOutPath(one)));
    await checkPage(page, 'reminders');
    await next(page);
    await checkPage(page, 'reminders stopped');
    await page.goto(`${world.address}/a/nothing`);
    await checkPage(page, 'dead link');
    expect(page.complaints.filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
  });
});

/** Checks a page in some or all themes, on a narrow and a wide screen. Only one of them needs all rules of axe. */
async function checkPage(page: Page, what: string): Promise<void> {
  await page.evaluate(axe.source);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    expect(await overflow(page), `${what}, ${width} px`).toBe(0);
    expect(await smallTargets(page), `${what}, ${width} px`).toEqual([]);
  }
  const views = [320, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((theme) => [width, theme] as const),
  );
  for (const [place, [width, colorScheme]] of someOf(views).entries()) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme });
    const found = await violations(page, place === 0 ? {} : { runOnly: ['color-contrast', 'target-size'] });
    expect(found, `${what}, ${width} px, ${colorScheme}`).toEqual([]);
  }
}

const violations = (page: Page, options: axe.RunOptions) =>
  page.evaluate<string[]>(`axe
    .run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join()))`);

const overflow = (page: Page) =>
  page.evaluate<number>('document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Returns the controls that are lower or narrower than 48 px. Links in an error list are lines of text. */
const smallTargets = (page: Page) =>
  page.evaluate<string[]>(`
    [...document.querySelectorAll('label, summary, button, a:not(.faults a), textarea')]
      .filter((one) => one.checkVisibility())
      .map((one) => ({ one, box: one.getBoundingClientRect() }))
      .filter(({ box }) => box.height < 47.5 || box.width < 47.5)
      .map(({ one, box }) => one.outerHTML.slice(0, 80) + box.width + ' x ' + box.height)`);
