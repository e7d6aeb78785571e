// Changing the questions of a KPI: what closed weeks show stays as it was, in every page, file and interface, also if their statistics are
// computed again. Weeks that close afterwards have the new questions.
import type { GroupResults, HeatMap } from '@soundings/contract/console/results/results.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { randomFrom } from '../../simulation/random.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

const firstWeek = '2026-10-05';
/** As many as drivers need. */
const teams = Array.from({ length: 20 }, (_, i) => `team-${i}`);
const keys = ['pace', 'rest', 'proud'];

let world: World;
let account: TestAccount;
let administrator: SendRequest;
let companyId: number;

beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  await apply(account, {
    groups: [unit('company'), ...teams.map((name) => unit(name, { parent: 'company' }))],
  });
  companyId = (await account.groups()).find(({ externalId }) => externalId === 'company')!.id;
  administrator = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

/** Answers of a week: high for `pace`, low for `rest`. */
function answersOf(number: number): object[] {
  const week = weekName(addWeeks(firstWeek, number));
  const random = randomFrom(number, 'answers');
  const people = teams.flatMap((team) =>
    Array.from({ length: 5 }, (_, i) => [`${team}-${i}`, [team]] as const),
  );
  const valueOf = { pace: () => 4, rest: () => 1, proud: () => 3 } as Record<string, () => number>;
  return [
    round(week, 'company', keys, Object.fromEntries(people.map(([name, groups]) => [name, [...groups]]))),
    ...people.flatMap(([name]) =>
      keys.map((key) =>
        answerLine(week, 'company', name, key, valueOf[key]!() + Math.floor(random.next() * 2)),
      ),
    ),
  ];
}

const imported = (weeks: readonly number[], workload: string[]) =>
  importLines(world, account.id, [
    ...keys.map((key) => question(key, 1)),
    kpi('workload', workload),
    kpi('meaning', ['proud']),
    ...weeks.flatMap(answersOf),
  ]);

const mondayOf = (number: number) => addWeeks(firstWeek, number);

/** Returns everything that is shown of the weeks 1 and 2, in which nothing was imported since. */
async function shown(): Promise<Record<string, string>> {
  const week = mondayOf(2);
  const read = async (path: string) => {
    const { status, text } = await administrator(`GET ${path}`);
    if (status !== 200) throw new Error(`${status} of ${path}: ${text}`);
    return text;
  };
  const feed = await fetch(`${world.address}/v1/feed?fromDate=${mondayOf(1)}&toDate=${addWeeks(week, 1)}`, {
    headers: { authorization: account.token },
  });
  return {
    feed: await feed.text(),
    map: await read(`/results/heat-map?week=${week}&compare=none`),
    report: await read(`/results/groups/${companyId}/report?period=${weekName(week)}&compare=none`),
    overview: await read(`/results/groups/${companyId}?weeks=13&compare=none`),
    trend: await read(`/results/trends?kpiId=workload&groupIds=${companyId}&weeks=13`),
    drivers: await read('/results/drivers?outcome=kpi:workload'),
  };
}

test('a KPI keeps its questions in closed weeks, in the feed, heat map, report, overview, trend and drivers', async () => {
  await imported([1, 2], ['pace', 'rest']);
  const before = await shown();
  expect(JSON.parse(before['drivers']!)).toMatchObject({ state: 'computed' });
  await imported([], ['pace']);
  expect(await shown()).toEqual(before);

  // A week that closes now has the new questions: about 0.85 instead of 0.5.
  await imported([3], ['pace']);
  const overview = JSON.parse((await shown())['overview']!) as GroupResults;
  const rolling = overview.kpis.find(({ id }) => id === 'workload')!.rolling;
  expect(rolling.map(({ questions }) => questions)).toEqual([2, 2, 1]);
  expect(rolling.at(-1)!.value).toBeGreaterThan(0.8);
  // No earlier value consists of the figure of `pace` alone, so no single week is named.
  expect(rolling.at(-1)!.change).toMatchObject({ since: mondayOf(2), firstSince: mondayOf(2) });
  const drivers = JSON.parse((await shown())['drivers']!) as { outcome: unknown };
  expect(drivers.outcome).toMatchObject({ id: 'kpi:workload' });
});

test('also if an earlier week is imported, and the statistics of later weeks are computed again', async () => {
  await world.pool`update accounts set kpi_weeks = 1 where account_id = ${account.id}`;
  await imported([0], ['pace']);
  const rows = await world.pool<{ week: string; kpiWeeks: number; questions: number }[]>`
    select week, kpi_weeks as "kpiWeeks", json_array_length(kpi_questions -> 'workload') as questions
    from   weeks where account_id = ${account.id} and statistics_at is not null order by week`;
  expect(rows.map(({ kpiWeeks, questions }) => [kpiWeeks, questions])).toEqual([
    [1, 1],
    [13, 2],
    [13, 2],
    [13, 1],
  ]);
  const map = JSON.parse((await shown())['map']!) as HeatMap;
  const at = map.kpis.findIndex(({ id }) => id === 'workload');
  expect(map.rows[0]!.values[at]).toBeCloseTo(0.5, 1);
});
