// The pages of the console, as listed in its routes, and waiting until a page has loaded.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from 'playwright-core';
import type { PageIds } from './console-scene.ts';
import { until } from '../until.ts';

const folder = fileURLToPath(new URL('../../../../console/src/pages', import.meta.url));

/** Returns the addresses of all pages, in the form of the routes: /people/$userId. */
export const routePaths = (): string[] =>
  globSync('*/routes.ts', { cwd: folder })
    .toSorted()
    .flatMap((file) => [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/ path: '([^']+)'/g)])
    .map(([, path]) => path as string);

/** Returns an address with real ids. */
export const addressOf = (path: string, ids: PageIds): string =>
  path.replace(/\$(\w+)/g, (_, name: keyof PageIds) => {
    if (!(name in ids)) throw new Error(`Nothing stands for ${name}.`);
    return String(ids[name]);
  });

const underWay = new WeakMap<Page, Set<Request>>();

/** Starts to count the requests of a page that have no response yet. */
export function followRequests(page: Page): void {
  const open = new Set<Request>();
  underWay.set(page, open);
  page.on('request', (request) => new URL(request.url()).pathname.startsWith('/api/') && open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/**
 * Whether the page has a heading once it is drawn. This is not a locator, because after a while a locator checks only every
 * half second.
 */
const hasHeading = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() =>
  done(document.querySelector('h1')?.checkVisibility() === true))))`;

/**
 * Shows another page of the console as a link does, which takes half as long as loading its address, and waits until it is drawn. The
 * console must be open.
 */
export async function showPage(page: Page, path: string): Promise<void> {
  if (new URL(page.url()).pathname === path) return settled(page);
  await page.evaluate(`{
    document.querySelector('h1')?.setAttribute('data-before', document.title);
    history.pushState({}, '', ${JSON.stringify(path)});
    dispatchEvent(new PopStateEvent('popstate'));
  }`);
  // The heading may be the same element with another text. Then the title is another.
  const isShown = `document.querySelector('h1') !== null &&
    document.querySelector('h1').getAttribute('data-before') !== document.title`;
  await until(() => page.evaluate<boolean>(isShown));
  await settled(page);
}

/** Waits until the page has its heading, all responses have arrived, and everything is drawn. */
export async function settled(page: Page): Promise<void> {
  const open = underWay.get(page) ?? new Set();
  await until(async () => {
    if (open.size > 0 || !(await page.evaluate<boolean>(hasHeading))) return false;
    const waiting = page.getByRole('status', { name: /^(Loading…|Hämtar…)$/ });
    return open.size === 0 && (await waiting.count()) === 0;
  });
}
