// The results pages with everything that can be shown: 20,000 people, 2,000 groups, a year of weeks, all breakdowns with all segments,
// statistics and comparisons; for an administrator, and for a manager of hundreds of groups. For each page: the time from opening
// it in a real browser until its figures are shown, and the time of its slowest response. The floor is a plain text page of the same
// service. Run one at a time, because parallel runs would affect each other's times.
import {
  findBrowser,
  findQuickBrowser,
  launchBrowser,
} from '@soundings/server/src/testing/browser/chromium.ts';
import { maxBreakdowns, maxSegmentsOfBreakdown } from '@soundings/contract/limits.ts';
import { loadavg } from 'node:os';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { median, ratioText, type BenchRow, time, timed } from '../measuring/measure.ts';
import type { Plans, Say, Sized } from '../measuring/plans.ts';
import { type Filled, openResults, type ResultsPlan } from './account.ts';

/**
 * The sizes of a run. The first `warmUps` loads of each page fill the browser's cache and are not counted. `every`: 4: only every fourth
 * page is measured.
 */
type Plan = ResultsPlan & { find: typeof findBrowser; warmUps: number; rounds: number; every: number };

export const resultsPlans: Plans<Plan> = {
  whole: {
    find: findBrowser,
    users: 20_000,
    groups: 2_000,
    // Three of four answer the five questions of each week.
    answers: 52 * 5 * 15_000,
    weeks: 52,
    breakdowns: maxBreakdowns,
    segments: maxSegmentsOfBreakdown,
    warmUps: 1,
    rounds: 5,
    every: 1,
  },
  smoke: {
    find: findQuickBrowser,
    users: 400,
    groups: 40,
    answers: 9_000,
    weeks: 6,
    breakdowns: 2,
    segments: 4,
    warmUps: 0,
    rounds: 1,
    every: 4,
  },
};

const target = 1000;
/** The page of the floor. */
const plain = '/docs';

/** A page and selectors that match when its figures are shown. */
export type Shown = [what: string, path: string, ...ready: string[]];

const chart = 'main svg path';
const table = 'main table tbody td';

/** The pages that administrators and managers have. `group`: the group that their pages begin with. */
const pagesOf = ({ six, questionId }: Filled, group: number): Shown[] => [
  ['Overview', '/', chart],
  ['– 52 weeks, compared with half a year ago', '/?weeks=52&compare=halfYear', chart],
  ['– of the largest subgroup, compared with the company', `/?group=${group}&compare=company`, chart],
  ['Heat map, compared with the company', '/heat-map?compare=company&by=difference', table],
  ['– compared with the parent groups', '/heat-map?compare=parent&by=difference', table],
  ['– compared with half a year ago', '/heat-map?compare=halfYear&by=difference', table],
  ['Trends', '/trends?weeks=52', chart],
  ['– the response', '/trends?weeks=52&of=response', chart],
  ['Question', `/results/questions/${questionId}?weeks=52`, chart],
  [
    '– compared with half a year ago',
    `/results/questions/${questionId}?weeks=52&group=${group}&compare=halfYear`,
    chart,
  ],
  ['Comments, with the words that stand out', '/comments', 'main section li:nth-child(3)'],
  ['– searched', '/comments?search=meetings', 'main section li mark'],
  ['Key drivers', '/drivers?weeks=52', 'main table tbody td'],
  ['Focus', '/focus', 'main section li'],
  ['Report of a week', '/report', 'main article table tbody td'],
  ['Groups (tree)', '/groups', '[role="treeitem"]'],
  ['Group', `/groups/${six[0]}`, 'main dl dd'],
];

/** The pages by segment, which only administrators have, and pages that need groups all over the company. */
const wholePagesOf = ({ six, questionId, breakdownId }: Filled): Shown[] => [
  ['Trends, six groups', `/trends?weeks=52&groups=${six.join()}`, chart],
  ['Heat map by segment', `/heat-map?breakdown=${breakdownId}`, table],
  ['Trends by segment', `/trends?weeks=52&breakdown=${breakdownId}`, chart],
  ['Question by segment', `/results/questions/${questionId}`, table],
];

/** Measures each results page for an administrator and for a manager. Throws if there is no Chromium. */
export const benchResults: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const filled = await openResults(service, plan, say);
    return { rows: await measureResults(service.address, filled, plan, say), postgres: service.postgres };
  } finally {
    await service.stop();
  }
};

/** Measures the results pages of an account that is filled. */
export async function measureResults(
  address: string,
  filled: Filled,
  plan: Pick<Plan, 'find' | 'warmUps' | 'rounds' | 'every'>,
  say: Say,
): Promise<BenchRow[]> {
  const visits: Visits = [
    ['administrator', filled.administrator, [...pagesOf(filled, filled.below), ...wholePagesOf(filled)]],
    ['manager', filled.manager, pagesOf(filled, filled.below)],
  ];
  return measurePages(address, visits, plan, say);
}

/** Who opens pages, with their session, and which ones. */
export type Visits = readonly (readonly [who: string, cookie: string, pages: readonly Shown[]])[];

/** Measures pages in a real browser. Throws if there is no Chromium. */
export async function measurePages(
  address: string,
  visits: Visits,
  plan: Pick<Plan, 'find' | 'warmUps' | 'rounds' | 'every'>,
  say: Say,
): Promise<BenchRow[]> {
  const place = await plan.find();
  if (!place) throw new Error('No Chromium found on this machine.');
  const browser = await launchBrowser(place);
  try {
    const rows: BenchRow[] = [];
    for (const [who, cookie, pages] of visits) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
      await context.addCookies([{ name: 'soundings', value: cookie, url: address }]);
      const visitor = { who, context, address, cookie, plan };
      const floor = median((await timesOf(visitor, plain, ['main h1'])).times);
      for (const page of pages.filter((_, i) => i % plan.every === 0))
        rows.push(await measurePage(visitor, page, floor, say));
      await context.close();
    }
    return rows;
  } finally {
    await browser.close();
  }
}

/** One browser context, which keeps the files of the console but no results, and its session. */
type Visitor = {
  who: string;
  context: BrowserContext;
  address: string;
  cookie: string;
  plan: Pick<Plan, 'warmUps' | 'rounds'>;
};

/** Measures a page. `floor`: the time of a plain page, in ms. */
async function measurePage(
  visitor: Visitor,
  [what, path, ...ready]: Shown,
  floor: number,
  say: Say,
): Promise<BenchRow> {
  const { who } = visitor;
  const { times, requests } = await timesOf(visitor, path, ready);
  const slowest = await slowestOf(visitor, requests);
  const ms = median(times);
  const measured = `${time(ms)}, fastest ${time(Math.min(...times))}, response ${time(slowest.ms)}`;
  const load = (loadavg()[0] as number).toFixed(1);
  say(`${who}, ${what}: ${measured} (${slowest.path}), load ${load}`);
  return {
    what: `${what} (${who})`,
    measured,
    floor: time(floor),
    ratio: ratioText(ms / floor),
    target: `≤ ${time(target)}`,
    met: ms <= target,
  };
}

/**
 * Loads a page repeatedly until all selectors match and no response is missing. Each load begins in a tab that shows a plain page of the
 * service: a new tab would start several processes of the browser at the same time. Returns the times and what was requested.
 */
async function timesOf(
  { context, address, plan }: Visitor,
  path: string,
  ready: readonly string[],
): Promise<{ times: number[]; requests: Set<string> }> {
  const times: number[] = [];
  const requests = new Set<string>();
  const waiting = new Set<string>();
  const page = await context.newPage();
  page.on('request', (request) => {
    if (!request.url().includes('/api/') || request.method() !== 'GET') return;
    requests.add(request.url());
    waiting.add(request.url());
  });
  const ended = (request: Request) => waiting.delete(request.url());
  const failures: string[] = [];
  page.on('requestfinished', ended);
  page.on('requestfailed', (request) => {
    ended(request);
    failures.push(`${request.url()}: ${request.failure()?.errorText}`);
  });
  page.on('pageerror', (error) => failures.push(String(error)));
  for (let i = 0; i < plan.warmUps + plan.rounds; i++) {
    await page.goto(address + plain, { waitUntil: 'networkidle' });
    const start = performance.now();
    failures.length = 0;
    await page.goto(address + path, { waitUntil: 'commit' });
    await areShown(page, path, ready).catch((error: unknown) => {
      throw new Error(`${(error as Error).message} Failures: ${failures.join('; ') || 'none'}`, {
        cause: error,
      });
    });
    // The figures of other parts of the page, such as the words that stand out.
    for (const until = start + 60_000; waiting.size > 0; await page.evaluate(nextFrame)) {
      if (performance.now() > until) throw new Error(`${path}: no response to ${[...waiting].join(', ')}`);
    }
    if (i >= plan.warmUps) times.push(performance.now() - start);
  }
  await page.close();
  return { times, requests };
}

/** Requests everything that a page requested, one after another, and returns the slowest response. */
async function slowestOf(
  { address, cookie, plan }: Visitor,
  requests: ReadonlySet<string>,
): Promise<{ path: string; ms: number }> {
  let slowest = { path: '', ms: 0 };
  for (const url of requests) {
    const times: number[] = [];
    for (let i = 0; i < Math.min(plan.rounds, 3); i++) {
      const [ms] = await timed(async () => {
        const response = await fetch(url, { headers: { cookie: `soundings=${cookie}` } });
        await response.arrayBuffer();
        if (response.status !== 200) throw new Error(`${response.status} of ${url}`);
      });
      times.push(ms);
    }
    const ms = median(times);
    if (ms > slowest.ms) slowest = { path: url.slice(address.length), ms };
  }
  return slowest;
}

const nextFrame = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))';

/** Resolves when all selectors match. Checked on each frame. */
async function areShown(page: Page, path: string, selectors: readonly string[]): Promise<void> {
  const missing = await page.evaluate<string | null>(`new Promise((done) => {
    const selectors = ${JSON.stringify(selectors)};
    const until = performance.now() + 60_000;
    const check = () => {
      const missing = selectors.find((selector) => document.querySelector(selector) === null) ?? null;
      if (missing === null || performance.now() > until) done(missing);
      else requestAnimationFrame(check);
    };
    check();
  })`);
  if (missing === null) return;
  const text = await page.evaluate<string>('document.body.innerText');
  throw new Error(`${path}: ${missing} did not appear within 60 s. The page shows: ${text.slice(0, 500)}`);
}
