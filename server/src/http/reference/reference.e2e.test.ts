// The API reference in a browser: it shows examples and code, sends requests with a token that stays in the memory of the page, reaches no other
// server, and keeps to a policy without inline code and styles.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { closeWindows, hasBrowser, noBrowser, openBrowser } from '../../testing/browser/browser.ts';
import { type DemoWorld, openDemoWorld } from '../../testing/browser/demo-world.ts';
import { createToken } from '../../accounts/tokens.ts';

describe.skipIf(!hasBrowser())(`the API reference${hasBrowser() ? '' : ` (SKIPPED: ${noBrowser})`}`, () => {
  let world: DemoWorld;
  let token: string;
  beforeAll(async () => {
    world = await openDemoWorld();
    ({ token } = await createToken(world.pool, world.accountId, { name: 'try', scopes: ['data'] }));
  });
  afterAll(async () => {
    await closeWindows();
    await world.close();
  });

  type Opened = { page: Page; requested: string[] };

  /** Opens the page. At the end of the test, it must not have reached another server, nor violated its policy, nor reported an error. */
  async function open({ hash = '', dark = false, phone = false, theme = '' } = {}): Promise<Opened> {
    const browser = await openBrowser();
    const context = await browser.newContext({
      viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 900 },
      colorScheme: dark ? 'dark' : 'light',
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    page.setDefaultTimeout(30_000);
    const [requested, complaints]: string[][] = [[], []];
    page.on('request', (request) => requested!.push(request.url()));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complaints!.push(message.text());
    });
    page.on('pageerror', (error) => complaints!.push(error.message));
    await page.addInitScript(`
      window.violations = [];
      document.addEventListener('securitypolicyviolation', (event) =>
        window.violations.push(event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sourceFile + ':' + event.columnNumber));
      if (${JSON.stringify(theme)}) localStorage.setItem('theme', ${JSON.stringify(theme)});`);
    onTestFinished(async () => {
      const violations = await page.evaluate('window.violations');
      await context.close();
      expect(violations).toEqual([]);
      // A refused request is shown in the console of the browser as well.
      expect(complaints!.filter((one) => !/the server responded with a status of 4\d\d/.test(one))).toEqual(
        [],
      );
      expect(requested!.filter((url) => !url.startsWith(`${world.address}/`))).toEqual([]);
    });
    await page.goto(`${world.address}/docs${hash}`);
    await page.getByRole('heading', { name: 'Soundings API' }).waitFor();
    return { page, requested: requested! };
  }

  const stored = (page: Page) =>
    page.evaluate<string>(
      `(async () => JSON.stringify({ local: { ...localStorage }, session: { ...sessionStorage }, cookie: document.cookie,
        databases: (await indexedDB.databases()).length, caches: (await caches?.keys?.() ?? []).length, url: location.href }))()`,
    );

  test('tries a request with a token, which is gone after the page is loaded again', async () => {
    const { page, requested } = await open();
    await page.getByPlaceholder('Token').first().fill(token);
    await page
      .getByRole('button', { name: /Test Request.*\/v1\/groups/ })
      .first()
      .click();
    const sending = page.waitForResponse((response) => response.url() === `${world.address}/v1/groups`);
    await page.getByRole('button', { name: /^Send/ }).first().click();
    const response = await sending;
    expect([response.status(), response.request().headers()['authorization']]).toEqual([
      200,
      `Bearer ${token}`,
    ]);
    await page.getByText('Tents, packs and clothes for the hills').last().waitFor();
    expect(await stored(page)).not.toContain(token);
    await page.reload();
    await page.getByRole('heading', { name: 'Soundings API' }).waitFor();
    const empty = {
      local: {},
      session: {},
      cookie: '',
      databases: 0,
      caches: 0,
      url: `${world.address}/docs`,
    };
    expect(JSON.parse((await stored(page)).replace(/#[^"]*/, ''))).toEqual(empty);
    expect(await page.getByPlaceholder('Token').first().inputValue()).toBe('');
    expect(await page.content()).not.toContain(token);
    expect(requested.filter((url) => url.includes(token))).toEqual([]);
  });

  test('shows the example and the samples of an operation, in every language', async () => {
    const { page } = await open({ hash: '#tag/data/GET/v1/groups' });
    const operation = page
      .locator('section', { has: page.getByRole('heading', { name: 'List the groups' }) })
      .last();
    await operation.getByText('Tents, packs and clothes for the hills').first().waitFor();
    await operation.getByText('Shortened:').first().waitFor();
    for (const label of ['TypeScript', 'Python', 'C#', 'Java', 'PowerShell', 'curl']) {
      await operation
        .getByRole('button', { name: /curl|TypeScript|Python|C#|Java|PowerShell/ })
        .first()
        .click();
      await page.getByRole('option', { name: label, exact: true }).click();
      await expect.poll(() => operation.innerText()).toMatch(/SOUNDINGS_TOKEN/);
    }
  });

  test('finds operations, schemas and webhooks', async () => {
    const { page } = await open();
    for (const [text, found] of [
      ['response rate', 'Response rates'],
      ['week.published', 'The results of a closed week'],
    ] as const) {
      await page.getByRole('button', { name: 'Search' }).first().click();
      await page.getByRole('dialog').getByRole('combobox').fill(text);
      await expect.poll(() => page.getByRole('dialog').innerText()).toContain(found);
      await page.keyboard.press('Escape');
    }
  });

  test.each([
    ['light', { dark: false }],
    ['dark', { dark: true }],
    ['dark', { dark: false, theme: 'dark' }],
    ['light', { dark: true, theme: 'light' }],
  ])('is %s with %o, as the console is', async (theme, options) => {
    const { page } = await open(options);
    expect(await page.evaluate('document.body.classList.value')).toContain(`${theme}-mode`);
  });

  test('fits on a phone', async () => {
    const { page } = await open({ phone: true, hash: '#tag/organization/POST/v1/organization/organization' });
    await page.getByRole('heading', { name: 'Push users and groups', exact: true }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });
});
