// The pages of the console, as its routes list them; and waiting until what a page shows is there.
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page, Request } from 'playwright-core';
import type { PageIds } from './console-scene.ts';
import { until } from './until.ts';

const folder = fileURLToPath(new URL('../../../console/src/pages', import.meta.url));

/** The addresses of all pages, as routes write them: /people/$userId. */
export const routePaths = (): string[] =>
  globSync('*/routes.ts', { cwd: folder })
    .toSorted()
    .flatMap((file) => [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/ path: '([^']+)'/g)])
    .map(([, path]) => path as string);

/** An address with real ids in it. */
export const addressOf = (path: string, ids: PageIds): string =>
  path.replace(/\$(\w+)/g, (_, name: keyof PageIds) => {
    if (!(name in ids)) throw new Error(`Nothing stands for ${name}.`);
    return String(ids[name]);
  });

const underWay = new WeakMap<Page, Set<Request>>();

/** From now on it is known what the page waits for. */
export function followRequests(page: Page): void {
  const open = new Set<Request>();
  underWay.set(page, open);
  page.on('request', (request) => new URL(request.url()).pathname.startsWith('/api/') && open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/** Waits until the page has its heading, waits for no answer, and has drawn what came. */
export async function settled(page: Page): Promise<void> {
  const open = underWay.get(page) ?? new Set();
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await until(async () => {
    if (open.size > 0) return false;
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    const waiting = page.getByRole('status', { name: /^(Loading…|Hämtar…)$/ });
    return open.size === 0 && (await waiting.count()) === 0;
  }, 10_000);
}
