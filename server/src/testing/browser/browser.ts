// The browser of a test run, found or unpacked once. Without a browser, tests that need one are skipped, with the reason.
import type { Browser } from 'playwright-core';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';
import { type BrowserPlace, findQuickBrowser, launchBrowser } from './chromium.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    browser: BrowserPlace | undefined;
  }
}

// oxlint-disable-next-line import/no-default-export -- the test runner demands it
export default async function setup(project: TestProject): Promise<void> {
  const place = await findQuickBrowser();
  if (!place) process.stderr.write('SKIPPED: tests in a browser, as there is no Chromium on this machine\n');
  project.provide('browser', place);
}

/** The reason why tests are skipped without a browser. */
export const noBrowser = 'There is no Chromium on this machine';

export const hasBrowser = (): boolean => inject('browser') !== undefined;

/** A worker starts one browser for all its test files. It ends with the worker. */
let started: Promise<Browser> | undefined;

/** Call it only if there is a browser. */
export async function openBrowser(): Promise<Browser> {
  const place = inject('browser');
  if (!place) throw new Error(noBrowser);
  const isRunning = (await started?.catch(() => undefined))?.isConnected() ?? false;
  if (!isRunning) started = launchBrowser(place);
  return started as Promise<Browser>;
}

/** Closes everything that a test file has opened in the browser. */
export async function closeWindows(): Promise<void> {
  const browser = await started?.catch(() => undefined);
  await Promise.all((browser?.contexts() ?? []).map((context) => context.close()));
}
