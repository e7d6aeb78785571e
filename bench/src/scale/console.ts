// The console of a large account in a real browser: SCALE_PEOPLE people (100,000 by default) with 0.06 groups each, for its administrator, a
// manager of a whole tree and a manager of a few groups. For each page: the time from opening it until its rows or figures are shown, and
// the time of its slowest response. Run one at a time, because parallel runs would affect each other's times.
import { findBrowser, findQuickBrowser } from '@soundings/server/src/testing/browser/chromium.ts';
import type { Plans, Sized } from '../measuring/plans.ts';
import { measurePages, type Shown } from '../pages/results.ts';
import { type LargeAccount, type LargePlan, openLargeAccount } from './console-account.ts';

/** The first `warmUps` loads of each page fill the browser's cache and are not counted. `every`: 4: only every fourth page is measured. */
type Plan = LargePlan & { find: typeof findBrowser; warmUps: number; rounds: number; every: number };

export const largeConsolePlans: Plans<Plan> = {
  whole: {
    find: findBrowser,
    people: Number(process.env['SCALE_PEOPLE'] ?? 100_000),
    weeks: 8,
    answers: 2_400,
    warmUps: 1,
    rounds: 3,
    every: 1,
  },
  smoke: { find: findQuickBrowser, people: 200, weeks: 4, answers: 1_200, warmUps: 0, rounds: 1, every: 5 },
};

const chart = 'main svg path';
const table = 'main table tbody td';
const listed = '[role="table"] [role="rowgroup"] [role="row"]:nth-child(5) a';

/** The pages of everyone who sees results. */
const resultsOf = ({ questionId }: LargeAccount, group: number): Shown[] => [
  ['Overview', '/', chart],
  ['Overview of a group', `/?group=${group}`, chart],
  ['Heat map', '/heat-map', table],
  ['Heat map, sorted by response', '/heat-map?sort=-rate', table],
  ['Trends', `/trends?groups=${group}`, chart],
  ['Question', `/results/questions/${questionId}?group=${group}`, chart],
  ['Key drivers', '/drivers', 'main h1'],
  ['Groups (tree)', '/groups', '[role="treeitem"]'],
  ['Groups, searched', '/groups?q=unit%201', '[role="treeitem"]'],
  ['Group', `/groups/${group}`, 'main dl dd'],
];

/** The pages of administrators. */
const administration: Shown[] = [
  ['People', '/people', listed],
  ['People, searched by a part of names', '/people?q=erss', listed],
  ['People, sorted by email address', '/people?sort=email', listed],
  ['People, managers', '/people?role=Manager', listed],
  ['Heat map, sorted by a KPI', '/heat-map?sort=-kpi:0', table],
  ['Runs', '/runs', '[role="table"] [role="rowgroup"] [role="row"] a'],
  ['Audit log', '/audit', '[role="table"] [role="rowgroup"] [role="row"] time'],
];

/** Measures the pages of a large account. Throws if there is no Chromium. */
export const benchLargeConsole: Sized<Plan> = (plan) => async (say, start) => {
  const service = await start();
  try {
    const account = await openLargeAccount(service, plan, say);
    const { administrator, large, small, middle, smallGroup } = account;
    const rows = await measurePages(
      service.address,
      [
        ['administrator', administrator, [...resultsOf(account, middle), ...administration]],
        ['manager of a tree', large, resultsOf(account, middle)],
        ['manager of a few groups', small, resultsOf(account, smallGroup)],
      ],
      plan,
      say,
    );
    return { rows, postgres: service.postgres };
  } finally {
    await service.stop();
  }
};
