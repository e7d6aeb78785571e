// The console in a real browser, signed in as a user of the demo company, for end-to-end tests.
import type { Browser, Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { followRequests } from './console-pages.ts';
import type { DemoWorld } from './demo-world.ts';

export type ConsoleOptions = {
  /** Starts with "/". */
  path?: string;
  /** The language of the browser. It is also set in the profile of the signed-in user. */
  language?: 'en' | 'sv';
  colorScheme?: 'light' | 'dark';
  size?: { width: number; height: number };
  /** Whether there is a touch screen. */
  touch?: boolean;
};

export type ConsolePage = Page & {
  /** Errors that the browser reported, for example violations of the content security policy. Must be empty at the end. */
  complaints: string[];
  /** Errors that match are ignored, for example those about a status that the test causes. */
  expectComplaint(like: RegExp): void;
};

/** Opens a page of the console in a separate window. `who`: the email address to sign in; undefined: not signed in. */
export async function openConsole(
  world: Pick<DemoWorld, 'address' | 'pool' | 'accountId' | 'sessionOf'>,
  browser: Browser,
  who?: string,
  { path = '/', language = 'en', colorScheme = 'light', size, touch = false }: ConsoleOptions = {},
): Promise<ConsolePage> {
  const context = await browser.newContext({
    baseURL: world.address,
    locale: language === 'sv' ? 'sv-SE' : 'en-GB',
    timezoneId: 'Europe/Stockholm',
    colorScheme,
    hasTouch: touch,
    viewport: size ?? { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (who !== undefined) {
    await world.pool`
      update users set language = ${language} where account_id = ${world.accountId} and email = ${who}`;
    const value = await world.sessionOf(who);
    const cookie = { name: 'soundings', value, url: world.address, httpOnly: true };
    await context.addCookies([{ ...cookie, sameSite: 'Lax' }]);
  }
  // Without a session, a 401 is expected.
  const expected = who === undefined ? [/status of 401/] : [];
  const page = Object.assign(await context.newPage(), {
    complaints: [] as string[],
    expectComplaint: (like: RegExp) => void expected.push(like),
  });
  page.setDefaultTimeout(30_000);
  followRequests(page);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      page.complaints.push(`${message.text()} (${page.url()})`);
  });
  page.on('pageerror', (error) => page.complaints.push(`${error.message} (${page.url()})`));
  onTestFinished(async () => {
    await context.close();
    expect(page.complaints.filter((text) => !expected.some((like) => like.test(text)))).toEqual([]);
  });
  await page.goto(path);
  return page;
}
