// A kiosk in a real browser: people answer there one after the other, and nothing about them is left on the device. KIOSK_PEOPLE=500
// sends that many people through one kiosk.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { axeFaults } from '../../testing/browser/axe.ts';
import { hasBrowser } from '../../testing/browser/browser.ts';
import { caseCount, someOf } from '../../testing/house/cases.ts';
import { answersOfPerson, storedAnswers } from '../../testing/kept-answers.ts';
import { until } from '../../testing/until.ts';
import { browser, useAnsweringBrowser, world } from '../answering-browser.fixture.ts';
import { type CardOffice, openOffice } from './entry.fixture.ts';

const people = caseCount('KIOSK_PEOPLE', 8);

useAnsweringBrowser();

type Device = { page: Page; context: BrowserContext; complaints: string[]; posted: string[] };

/** Opens a kiosk on a tablet, with a clock that the test can move. */
async function openKiosk(path: string, settings: Parameters<Browser['newContext']>[0] = {}): Promise<Device> {
  const context = await browser.newContext({
    viewport: { width: 820, height: 1180 },
    hasTouch: true,
    reducedMotion: 'reduce',
    ...settings,
  });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const [complaints, posted]: [string[], string[]] = [[], []];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on(
    'request',
    (request) => request.method() === 'POST' && posted.push(new URL(request.url()).pathname),
  );
  await page.clock.install();
  await page.goto(world.address + path);
  return { page, context, complaints, posted };
}

const panel = (page: Page, name: string) => page.locator(`[data-panel=${name}]`);
const untilEntry = (page: Page) => page.locator('[data-panel=entry]').waitFor();

/** Enters a code with the keys on the screen. Returns the number of taps. */
async function tapCode(page: Page, code: string): Promise<number> {
  const keys = [...code.replaceAll('-', '')];
  for (const key of keys) await page.locator('#keys').getByRole('button', { name: key, exact: true }).tap();
  return keys.length;
}

/** Types what a scanner types: the address in the square code, and Enter. */
async function scanCode(page: Page, code: string): Promise<void> {
  await page.locator('h1').first().focus();
  await page.keyboard.type(`https://soundings.example/go#${code.replaceAll('-', '')}`);
  await page.keyboard.press('Enter');
}

/** Answers both questions with a value, and finishes. Returns the number of taps. */
async function answerAll(page: Page, value: number): Promise<number> {
  for (const place of [0, 1]) {
    const card = page.locator('#session .card:visible');
    await card.locator(`label:has(input[value="${value}"])`).first().tap();
    await page.locator(place === 0 ? '#next' : '#finish').tap();
  }
  return 4;
}

/** Returns everything that a browser keeps, and that the page shows or holds. */
const kept = async ({ page, context }: Device) => ({
  cookies: await context.cookies(),
  ...(await page.evaluate<{ text: string }>(`(async () => ({
    text: document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map((one) => one.value).join(),
    local: localStorage.length, session: sessionStorage.length, caches: (await caches.keys()).length,
    databases: (await indexedDB.databases()).length, workers: (await navigator.serviceWorker.getRegistrations()).length,
    history: history.length, state: history.state, address: location.pathname + location.search + location.hash,
    title: document.title,
  }))()`)),
});

const valueOf = async (office: CardOffice, place: number) =>
  (await answersOfPerson(world, office.accountId, office.week, office.userIds[place] as number)).get(
    office.question,
  )?.value;

describe.skipIf(!hasBrowser())('at a kiosk (skipped: there is no Chromium on the PATH)', () => {
  const timeout = 120_000 + people * 6000;
  test(
    'people answer one after the other: one answer each, within 40 seconds, and nothing is left on the device',
    { timeout },
    async () => {
      const office = await openOffice(world, { count: people });
      const codes = await office.print();
      const { path } = await office.kiosk();
      const device = await openKiosk(path);
      const { page } = device;
      await untilEntry(page);
      const before = await kept(device);
      expect(before).toMatchObject({
        cookies: [],
        local: 0,
        session: 0,
        caches: 0,
        databases: 0,
        workers: 0,
        state: null,
        address: path,
      });
      const seconds: number[] = [];
      for (const [i, code] of codes.entries()) {
        const begun = performance.now();
        const isScanned = i % 2 === 1;
        const typed = isScanned ? (await scanCode(page, code), 1) : await tapCode(page, code);
        await page.locator('#session h1').waitFor();
        expect(await page.locator('#session h1').textContent()).toBe(`Hi P${i + 1}`);
        const answered = await answerAll(page, (i % 5) + 1);
        await panel(page, 'thanks').waitFor();
        // A tap takes a person a second, and reading the page with a question six.
        seconds.push((performance.now() - begun) / 1000 + typed + answered + 2 * 6);
        expect(await page.locator('#session').innerHTML()).toBe('');
        expect(await page.locator('#languages').isVisible()).toBe(false);
        if (i % 3 === 0) await page.clock.fastForward(15_500);
        else await page.locator('[data-panel=thanks] .done-now').tap();
        await untilEntry(page);
        expect(await kept(device)).toEqual(before);
      }
      // The median, because a busy machine delays a few.
      const sorted = seconds.toSorted((a, b) => a - b);
      const [median, longest] = [sorted[Math.floor(people / 2)] as number, sorted.at(-1) as number];
      if (people >= 100)
        process.stderr.write(
          `${people} people: ${median.toFixed(1)} s each, at most ${longest.toFixed(1)} s\n`,
        );
      expect(median).toBeLessThan(40);
      for (const i of codes.keys()) expect(await valueOf(office, i)).toBe((i % 5) + 1);
      const rows = await storedAnswers(world, office.accountId, office.week);
      expect(rows).toHaveLength(2 * people);
      expect(rows.every(({ giving }) => giving.handedOut)).toBe(true);

      // The first person again: the page opens, and the first answer stays.
      await tapCode(page, codes[0] as string);
      await page.locator('#session h1').waitFor();
      expect(await page.locator('#session input:checked').count()).toBe(0);
      await answerAll(page, 5);
      await panel(page, 'thanks').waitFor();
      expect(await valueOf(office, 0)).toBe(1);
      expect(device.complaints).toEqual([]);
    },
  );

  test('the back button, going forward and reloading in the middle of the questions show nothing of the person', async () => {
    const office = await openOffice(world, { count: 1 });
    const [code = ''] = await office.print();
    const { path } = await office.kiosk();
    const device = await openKiosk(path);
    const { page } = device;
    for (const leave of [
      async () => void (await page.goBack(), await page.goForward()),
      async () => void (await page.reload()),
    ]) {
      await page.goto(`${world.address}/go`);
      await page.goto(world.address + path);
      await tapCode(page, code);
      await page.locator('#session h1').waitFor();
      await page.locator('#session .card:visible label:has(input[value="4"])').first().tap();
      await until(async () => (await valueOf(office, 0)) === 4);
      await page.locator('#next').tap();
      await leave();
      await untilEntry(page);
      const { text, address } = (await kept(device)) as unknown as { text: string; address: string };
      expect(address).toBe(path);
      expect(text).not.toMatch(/Hi P1|checked=""|\/a\/[0-9A-Za-z]{27}/);
      expect(text).not.toContain(code);
    }
  });

  test('without a connection it keeps trying and says so, hides the answers, and loses none', async () => {
    const office = await openOffice(world, { count: 1 });
    const [code = ''] = await office.print();
    const { path } = await office.kiosk();
    const { page, context } = await openKiosk(path);
    await context.setOffline(true);
    await tapCode(page, code);
    await page.getByText('No connection. This device keeps trying.').waitFor();
    await context.setOffline(false);
    await page.clock.fastForward(11_000);
    await page.locator('#session h1').waitFor();
    await context.setOffline(true);
    await answerAll(page, 3);
    await page.clock.fastForward(5000);
    await panel(page, 'unsaved').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.locator('#session').isVisible()).toBe(false);
    // However long it takes, and whatever anyone taps.
    await page.clock.fastForward(600_000);
    expect(await panel(page, 'unsaved').isVisible()).toBe(true);
    expect(await valueOf(office, 0)).toBeUndefined();
    await context.setOffline(false); // the browser notices that, and the answers are sent immediately
    await panel(page, 'thanks').waitFor();
    expect(await valueOf(office, 0)).toBe(3);
    expect(await storedAnswers(world, office.accountId, office.week)).toHaveLength(2);
  });

  test('a person who does nothing is asked after a minute, and forgotten 20 seconds later; what they answered is kept', async () => {
    const office = await openOffice(world, { count: 1 });
    const [code = ''] = await office.print();
    const { path } = await office.kiosk();
    const { page } = await openKiosk(path);
    await tapCode(page, code);
    await page.locator('#session h1').waitFor();
    await page.locator('#session .card:visible label:has(input[value="2"])').first().tap();
    await page.clock.fastForward(61_000);
    await page.locator('#idle').waitFor();
    expect(await axeFaults(page)).toEqual([]);
    await page.locator('#stay').tap();
    expect(await page.locator('#session h1').isVisible()).toBe(true);
    await page.clock.fastForward(61_000);
    await page.locator('#idle').waitFor();
    await page.clock.fastForward(21_000);
    await untilEntry(page);
    expect(await page.locator('#session').innerHTML()).toBe('');
    expect(await valueOf(office, 0)).toBe(2);
    // A code that was entered halfway.
    await tapCode(page, code.slice(0, 6));
    await page.clock.fastForward(31_000);
    await until(async () => (await page.locator('#code').inputValue()) === '');
  });

  test('says what is wrong with a code, speaks the language of the person, and reads a card with the camera', async () => {
    const office = await openOffice(world, { count: 2 });
    const codes = await office.print();
    await world.pool`update users set language = 'sv' where account_id = ${office.accountId} and user_id = ${office.userIds[0] as number}`;
    const { id, path } = await office.kiosk();
    const { page, posted, context } = await openKiosk(path);
    const state = page.locator('#code-state');
    const code = codes[0] as string;
    // A slip costs no request.
    await tapCode(page, code.slice(0, -1) + (code.endsWith('2') ? '3' : '2'));
    await until(async () => (await state.textContent())!.startsWith('This code is incomplete'));
    expect(posted).toEqual([]);
    await page.locator('#erase').tap();
    await page
      .locator('#keys')
      .getByRole('button', { name: code.slice(-1), exact: true })
      .tap();
    await page.locator('#session h1').waitFor();
    expect(await page.locator('html').getAttribute('lang')).toBe('sv');
    expect(await page.locator('#session h1').textContent()).toBe('Hej P1');
    expect(await page.locator('#session').textContent()).toContain(
      'Du öppnade sidan med ett kort som Ann Administrator har skrivit ut.',
    );
    // Another language, in the middle.
    await page.locator('#languages summary').tap();
    await page.locator('#languages a[lang=de]').tap();
    await page.getByText('Hallo P1').waitFor();
    await answerAll(page, 2);
    await panel(page, 'thanks').waitFor();
    expect(await panel(page, 'thanks').textContent()).toContain('Deine Antworten sind angekommen.');
    await page.locator('[data-panel=thanks] .done-now').tap();
    expect(await page.locator('html').getAttribute('lang')).toBe('en');

    await context.addInitScript(`
      const scanned = 'https://soundings.example/go#${(codes[1] as string).replaceAll('-', '')}';
      window.BarcodeDetector = class { async detect() { return [{ rawValue: scanned }]; } };
      navigator.mediaDevices.getUserMedia = async () => document.createElement('canvas').captureStream();`);
    await page.reload();
    await page.locator('#scan').tap();
    await page.getByText('Hi P2').waitFor();
    await answerAll(page, 1);
    await panel(page, 'thanks').waitFor();
    expect(await valueOf(office, 1)).toBe(1);
    await office.request(`DELETE /kiosks/${id}`);
    await page.locator('[data-panel=thanks] .done-now').tap();
    await tapCode(page, code);
    await panel(page, 'off').waitFor();
  });

  test.each(someOf(['light', 'dark'] as const))(
    'no page has an accessibility error that axe finds, or is wider than a phone: %s',
    async (colorScheme) => {
      const office = await openOffice(world, { count: 1, language: 'de' });
      const [code = ''] = await office.print();
      const { path } = await office.kiosk();
      const { page } = await openKiosk(path, { colorScheme, viewport: { width: 360, height: 780 } });
      const check = async () => {
        expect(await axeFaults(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
      };
      await check();
      await tapCode(page, code);
      await page.locator('#session h1').waitFor();
      await check();
      await answerAll(page, 2);
      await panel(page, 'thanks').waitFor();
      await check();
      await page.goto(`${world.address}/go?language=sv`);
      await check();
      await page.locator('#code').fill('XX');
      await page.locator('[type=submit]').tap();
      await page.getByText('Koden är inte komplett').waitFor();
      await check();
      // The square code opens the questions, and the code is not left in the history.
      await page.goto(`${world.address}/go#${code.replaceAll('-', '')}`);
      await page.waitForURL('**/a/*');
      await page.goBack();
      expect(page.url()).not.toContain(code.replaceAll('-', ''));
      expect(await page.locator('#code').inputValue()).toBe('');
    },
  );
});
