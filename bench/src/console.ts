// The console in a real browser, with 20,000 people and 2,000 groups: the time from opening each page to usable rows, and the
// size of the JavaScript of the first page. The floor is a plain text page of the same service.
// Run one at a time, because parallel runs would affect each other's times.
import { beginSession } from '@soundings/server/src/auth/sessions.ts';
import {
  findBrowser,
  findQuickBrowser,
  launchBrowser,
} from '@soundings/server/src/testing/browser/chromium.ts';
import { addWeeks, dayIn, weekOf } from '@soundings/contract/weeks.ts';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { attribute, makeCompany } from './company.ts';
import { writeHistory } from './history.ts';
import { median, ratioText, type BenchRow, time } from './measuring/measure.ts';
import type { Plans, Say, Sized } from './measuring/plans.ts';
import { pushBodyOf, push } from './push.ts';
import type { Service } from './measuring/service.ts';

/**
 * The sizes of a run: those of the account, and how often each page is loaded. The first `warmUps` loads fill the browser's cache
 * and are not counted.
 */
/** The size of an account. */
export type FilledPlan = { users: number; groups: number; answers: number; weeks: number };

type Plan = FilledPlan & { find: typeof findBrowser; warmUps: number; rounds: number };

export const consolePlans: Plans<Plan> = {
  whole: {
    find: findBrowser,
    users: 20_000,
    groups: 2_000,
    answers: 100_000,
    weeks: 5,
    warmUps: 1,
    rounds: 5,
  },
  smoke: { find: findQuickBrowser, users: 400, groups: 40, answers: 4_000, weeks: 2, warmUps: 0, rounds: 1 },
};

const target = 1000;
/** In bytes, compressed. */
const maxScript = 250_000;

/** Each page, and a selector that matches when it is usable. */
const lists: [what: string, path: string, ready: string][] = [
  ['Overview', '/', 'main svg path'],
  ['Heat map, all groups', '/heat-map', 'main table tbody td'],
  ['Trends', '/trends', 'main svg path'],
  ['Comments', '/comments', 'main section li:nth-child(3)'],
  ['People', '/people', '[role="table"] [role="rowgroup"] [role="row"]:nth-child(10) a'],
  [
    'People, searched',
    '/people?q=andersson',
    '[role="table"] [role="rowgroup"] [role="row"]:nth-child(10) a',
  ],
  ['Groups', '/groups', '[role="treeitem"]'],
  ['Runs', '/runs', '[role="table"] [role="rowgroup"] [role="row"] a'],
  ['Questions', '/questions', '[role="table"] [role="rowgroup"] [role="row"] a'],
  ['Audit log', '/audit', '[role="table"] [role="rowgroup"] [role="row"] time'],
];

/** Measures each page of the console and the scripts of the first one. Throws if there is no Chromium. */
export const benchConsole: Sized<Plan> = (plan) => async (say, start) => {
  const place = await plan.find();
  if (!place) throw new Error('No Chromium found on this machine.');
  const service = await start();
  let browser: Browser | undefined;
  try {
    const cookie = await fillAccount(service, plan, say);
    browser = await launchBrowser(place);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    await context.addCookies([{ name: 'soundings', value: cookie, url: service.address }]);
    const rows = [await measureScript(context, service)];
    const floor = await timesOf(context, service, plan, '/docs', 'main h1');
    for (const [what, path, ready] of lists) {
      const times = await timesOf(context, service, plan, path, ready);
      const ms = median(times);
      say(`${what}: ${time(ms)}`);
      rows.push({
        what: `${what}: from opening to usable rows`,
        measured: time(ms),
        floor: time(median(floor)),
        ratio: ratioText(ms / median(floor)),
        target: `≤ ${time(target)}`,
        met: ms <= target,
      });
    }
    return { rows, postgres: service.postgres };
  } finally {
    await browser?.close();
    await service.stop();
  }
};

/** Fills an account with people and weeks of answers. Returns the session of its administrator. */
export async function fillAccount(
  service: Service,
  { users, groups, answers, weeks }: FilledPlan,
  say: Say,
): Promise<string> {
  const company = makeCompany({ users, groups, oneTop: true });
  const account = await service.account(attribute);
  await push(service, account, pushBodyOf(company), { created: company.users.length });
  say(`${users.toLocaleString('en')} people created`);
  const path = join(service.dataDir, 'history.ndjson');
  const last = addWeeks(weekOf(dayIn('UTC', Date.now())), -1);
  await writeHistory(path, company, { answers, weeks, perWeek: 5, last });
  await service.command('history', 'import', '--account', String(account.id), path);
  say(`${answers.toLocaleString('en')} answers imported`);
  const [administrator] = await service.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${account.id} and role = 'Administrator' and active and not role_pending limit 1`;
  const person = { accountId: account.id, userId: administrator?.id as number };
  return beginSession(service.pool, person, { address: '127.0.0.1', agent: 'bench' });
}

/** Loads a page repeatedly, with the browser's cached files, until the selector matches. Returns the times. */
async function timesOf(
  context: BrowserContext,
  { address }: Service,
  { warmUps, rounds }: Plan,
  path: string,
  ready: string,
): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < warmUps + rounds; i++) {
    const page = await context.newPage();
    const start = performance.now();
    await page.goto(address + path, { waitUntil: 'commit' });
    await isDrawn(page, ready);
    if (i >= warmUps) times.push(performance.now() - start);
    await page.close();
  }
  return times;
}

/** Resolves when a selector matches. Checked on each frame. */
async function isDrawn(page: Page, selector: string): Promise<void> {
  const found = await page.evaluate<boolean>(`new Promise((done) => {
    const until = performance.now() + 20_000;
    const check = () => {
      const isThere = document.querySelector(${JSON.stringify(selector)}) !== null;
      if (isThere || performance.now() > until) done(isThere);
      else requestAnimationFrame(check);
    };
    check();
  })`);
  if (!found) throw new Error(`${selector} did not appear within 20 s`);
}

/** Measures the compressed JavaScript of the first page after signing in. */
async function measureScript(context: BrowserContext, { address }: Service): Promise<BenchRow> {
  const page = await context.newPage();
  const bytes = await scriptBytes(page, address);
  await page.close();
  return {
    what: 'JavaScript of the first page, compressed',
    measured: `${(bytes / 1000).toFixed(0)} kB`,
    target: `≤ ${maxScript / 1000} kB`,
    met: bytes <= maxScript,
  };
}

async function scriptBytes(page: Page, address: string): Promise<number> {
  let bytes = 0;
  const sizes: Promise<void>[] = [];
  page.on('requestfinished', (request) => {
    if (request.resourceType() !== 'script') return;
    sizes.push(
      request.sizes().then(({ responseBodySize }) => {
        bytes += responseBodySize;
      }),
    );
  });
  await page.goto(address, { waitUntil: 'networkidle' });
  await Promise.all(sizes);
  return bytes;
}
