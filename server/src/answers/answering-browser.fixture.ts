// For tests of the pages on which people answer: a service at noon on a Wednesday, and a browser.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { noon } from '../testing/asking.ts';
import { closeWindows, hasBrowser, openBrowser } from '../testing/browser/browser.ts';
import { openWorld, type World } from '../testing/world.ts';

export let world: World;
export let browser: Browser;

/** Opens both for a test file, and closes them at its end. Does nothing where there is no browser. */
export function useAnsweringBrowser(): void {
  beforeAll(async () => {
    if (!hasBrowser()) return;
    world = await openWorld(undefined, {}, () => noon);
    browser = await openBrowser();
  });
  afterAll(async () => {
    await closeWindows();
    await world?.close();
  });
}
