// The built client in a browser: it reads the data interface from a page of an allowed origin.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openLog } from '@soundings/server/src/base/log.ts';
import { closeWindows, hasBrowser, openBrowser } from '@soundings/server/src/testing/browser/browser.ts';
import { apply, unit } from '@soundings/server/src/testing/organizations.ts';
import { answerLine, importLines, later, question, round } from '@soundings/server/src/testing/surveys.ts';
import { openWorld, type World } from '@soundings/server/src/testing/world.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type * as Client from './index.ts';

let folder: string;
let pages: Server;
let origin: string;
let world: World;

beforeAll(async () => {
  if (!hasBrowser()) return;
  folder = await mkdtemp(join(tmpdir(), 'soundings-browser-'));
  const build = fileURLToPath(new URL('../build.js', import.meta.url));
  await promisify(execFile)(process.execPath, [build, join(folder, 'built')]);
  pages = createServer(async ({ url = '/' }, response) => {
    const isCode = url.endsWith('.js');
    response.setHeader('content-type', isCode ? 'text/javascript' : 'text/html');
    response.end(isCode ? await readFile(join(folder, 'built', basename(url))) : '<!doctype html>');
  }).listen(0, '127.0.0.1');
  await once(pages, 'listening');
  origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  world = await openWorld(openLog('fatal'), { corsOrigins: [origin] }, () => later);
});
afterAll(async () => {
  if (!hasBrowser()) return;
  await closeWindows();
  pages.close();
  await world.close();
  await rm(folder, { recursive: true });
});

describe.skipIf(!hasBrowser())('a page (skipped: there is no Chromium on the PATH)', () => {
  test('reads groups and the feed, and gets the errors of the service', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('team')] });
    const people = Array.from({ length: 6 }, (_, i) => `person ${i}`);
    await importLines(world, account.id, [
      question('mood', 1),
      round('2026-W46', 'team', ['mood'], Object.fromEntries(people.map((one) => [one, ['team']]))),
      ...people.map((one) => answerLine('2026-W46', 'team', one, 'mood', 4)),
    ]);
    const browser = await openBrowser();
    const page = await (await browser.newContext()).newPage();
    await page.goto(origin);
    const read = await page.evaluate(
      async ({ url, token, code }) => {
        const { Soundings } = (await import(code)) as typeof Client;
        const soundings = new Soundings({ url, token });
        const rows = [];
        for await (const row of soundings.feed()) rows.push(`${row.metric} ${row.week} ${row.value}`);
        const [group] = await soundings.groups();
        const error: unknown = await soundings
          .kpiValues('none', { group: group?.id ?? 0 })
          .catch((one: unknown) => one);
        return {
          rows,
          name: group?.name,
          type: (error as { type?: string }).type,
          shown: JSON.stringify(soundings),
        };
      },
      { url: world.address, token: account.token, code: `${origin}/index.js` },
    );
    expect(read).toEqual({
      rows: ['responserate 2026-W46 1', 'question 2026-W46 0.75'],
      name: 'team',
      type: 'kpi not found',
      shown: JSON.stringify({ url: world.address }),
    });
  });
});
