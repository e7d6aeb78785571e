// Key drivers equal those of an independent program in Python, for a generated company and for the organizations of the UK Civil
// Service People Survey. The program was written from docs/administrators/drivers.md and reads only what the data interface
// publishes.
import type { Drivers } from '@soundings/contract/console/results/drivers.ts';
import type { FeedRow } from '@soundings/contract/feed-rows.ts';
import { weekName } from '@soundings/contract/weeks.ts';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { computeDrivers, type DriverResult } from '../../results/statistics/drivers.ts';
import { randomFrom } from '../../simulation/random.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { recomputed } from '../../testing/reference/python.ts';
import { sharedData } from '../../testing/shared.ts';
import { signInNew } from '../../testing/signed-in.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type World } from '../../testing/world.ts';

const noPython = 'SKIPPED: python3 with numpy is not installed.';

type Recomputed = {
  groups: number[];
  leftOut: Record<string, string>;
  explained?: number;
  drivers?: Record<string, { weight: number; correlation: number }>;
};
type Asks = {
  weeks: number;
  kpis: Record<string, number[]>;
  outcomes: Record<string, { questions: number[]; without: string[] }>;
};

const driversOf = (feed: string, groups: unknown, asks: Asks) =>
  recomputed<Record<string, Recomputed>>('drivers.py', [feed, JSON.stringify(groups), JSON.stringify(asks)]);

type Computed = {
  explained: number | null;
  drivers: { id: string; weight: number; correlation: number }[];
  leftOut: { id: string; reason: string }[];
};

/** Compares value by value, to ten digits. */
function expectEqual({ explained, drivers, leftOut }: Computed, reference: Recomputed): void {
  expect(Object.fromEntries(leftOut.map(({ id, reason }) => [id, reason]))).toEqual(reference.leftOut);
  expect(explained).toBeCloseTo(reference.explained!, 10);
  expect(drivers.map(({ id }) => id).toSorted()).toEqual(Object.keys(reference.drivers!).toSorted());
  for (const { id, weight, correlation } of drivers) {
    expect(weight).toBeCloseTo(reference.drivers![id]!.weight, 10);
    expect(correlation).toBeCloseTo(reference.drivers![id]!.correlation, 10);
  }
}

describe('a generated company', () => {
  const weeks = ['2026-10-26', '2026-11-02', '2026-11-09'];
  const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const kpis: Record<string, string[]> = {
    one: ['a', 'b'],
    two: ['c'],
    three: ['d', 'e', 'a'],
    outcome: ['f', 'g'],
    part: ['g'],
    rare: ['rare'],
  };
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world?.close());

  /**
   * Returns the lines of a history file for teams of 3 to 12 people in four divisions. Each week asks everyone some of the
   * questions, and some of the people answer.
   */
  function linesOf(teams: { name: string; size: number }[]): object[] {
    const random = randomFrom(5, 'reference');
    const asked = [
      ['a', 'c', 'd', 'f', 'g'],
      ['b', 'e', 'f', 'c'],
      ['a', 'g', 'd'],
    ];
    const characters = teams.map(() => Object.fromEntries(keys.map((key) => [key, random.around0(1)])));
    const people = teams.flatMap(({ name, size }, team) =>
      Array.from({ length: size }, (_, i) => ({ id: `${name}-${i}`, name, team })),
    );
    const valueOf = (team: number, key: string) => {
      const own = characters[team]!;
      const level = key === 'f' || key === 'g' ? own['a']! + 0.5 * own['c']! : (own[key] ?? 0);
      return Math.max(1, Math.min(5, Math.round(3 + level + random.around0(0.8))));
    };
    return weeks.flatMap((day, i) => {
      const week = weekName(day);
      return [
        round(week, 'company', asked[i]!, Object.fromEntries(people.map(({ id, name }) => [id, [name]]))),
        ...people.flatMap(({ id, team }) =>
          asked[i]!.filter(() => random.chance(0.85)).map((key) =>
            answerLine(week, 'company', id, key, valueOf(team, key)),
          ),
        ),
        // This question is asked in only one division.
        ...(i === 0
          ? [
              round(
                week,
                'division-0',
                ['rare'],
                Object.fromEntries(
                  people.filter(({ team }) => team % 4 === 0).map(({ id, name }) => [id, [name]]),
                ),
              ),
            ]
          : []),
        ...(i === 0
          ? people
              .filter(({ team }) => team % 4 === 0)
              .map(({ id }) => answerLine(week, 'division-0', id, 'rare', 3))
          : []),
      ];
    });
  }

  test('has the same groups, weights, correlations and left-out KPIs for each outcome', async ({ skip }) => {
    const account = await world.account();
    const teams = Array.from({ length: 44 }, (_, i) => ({ name: `team-${i}`, size: 3 + ((i * 7) % 10) }));
    await apply(account, {
      groups: [
        unit('company'),
        ...Array.from({ length: 4 }, (_, i) => unit(`division-${i}`, { parent: 'company' })),
        ...teams.map(({ name }, i) => unit(name, { parent: `division-${i % 4}` })),
      ],
    });
    await importLines(world, account.id, [
      ...[...keys, 'rare'].map((key) => question(key, 1)),
      ...Object.entries(kpis).map(([id, questions]) => kpi(id, questions)),
      ...linesOf(teams),
    ]);
    const get = async (path: string) =>
      (await fetch(`${world.address}${path}`, { headers: { authorization: account.token } })).text();
    const feed = await get('/v1/feed?metric=question&format=ndjson');
    const rows = feed
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as FeedRow);
    const idOf = (key: string) => Number(rows.find(({ metricName }) => metricName === `${key}?`)!.metricId);
    const asks: Asks = {
      weeks: 13,
      kpis: Object.fromEntries(Object.entries(kpis).map(([id, own]) => [id, own.map(idOf)])),
      outcomes: Object.fromEntries(
        ['one', 'two', 'three', 'outcome'].map((id) => [
          id,
          { questions: kpis[id]!.map(idOf), without: [id] },
        ]),
      ),
    };
    const reference = await driversOf(feed, JSON.parse(await get('/v1/groups')), asks);
    skip(reference === undefined, noPython);
    // The company withholds some figures, so the rules about groups matter.
    expect(rows.some(({ status }) => status === 'withheld')).toBe(true);
    const { request } = await signInNew(world, account.id, 'Administrator');
    for (const [id, own] of Object.entries(reference!)) {
      const { body } = await request<Drivers>(`GET /results/drivers?outcome=kpi:${id}`);
      expect([id, body.state, body.groups]).toEqual([id, 'computed', own.groups.length]);
      expectEqual(body, own);
    }
    expect(reference!['outcome']!.leftOut).toEqual({ part: 'sameQuestions', rare: 'fewFigures' });
  });
});

const survey = 'survey/csps2020_orgscores_long.csv';
const absent = sharedData(survey) === undefined;
const skipped = absent ? ' SKIPPED: ../shared/data is not next to the checkout' : '';

describe(`the Civil Service People Survey${skipped}`, () => {
  test.skipIf(absent)(
    'has the same weights of its themes as drivers of engagement, over 109 organizations',
    async ({ skip }) => {
      const measures = [
        'EES',
        'MW_TS',
        'OP_TS',
        'LM_TS',
        'MT_TS',
        'LD_TS',
        'IF_TS',
        'RW_TS',
        'PB_TS',
        'LC_TS',
      ];
      const lines = readFileSync(sharedData(survey)!, 'utf8').trim().split(/\r?\n/).slice(1);
      // The file also has the mean and the median of all organizations as if they were organizations.
      const scores = lines
        .map((line) => line.split(',') as [string, string, string])
        .filter(
          ([code, measure, value]) => !code.startsWith('CS_M') && measures.includes(measure) && value !== '',
        );
      const codes = [...new Set(scores.map(([code]) => code))];
      expect(codes).toHaveLength(109);
      // The file has no numbers of answers. The invented ones differ, so that the test shows that both programs use them in the
      // same way.
      const rows = scores.map(([code, measure, value]) => ({
        groupId: codes.indexOf(code) + 1,
        question: measures.indexOf(measure) + 1,
        value: Number(value),
        answers: 20 + 13 * (codes.indexOf(code) % 17),
      }));
      const kpis = measures.slice(1).map((id, i) => ({ id, questionIds: [i + 2] }));
      const result: DriverResult = computeDrivers({
        parents: codes.map((_, i) => [i + 1, null]),
        figures: codes.map((_, i) => ({
          groupId: i + 1,
          figures: rows
            .filter(({ groupId }) => groupId === i + 1)
            .map((row) => [row.question, row.value, row.answers] as const),
        })),
        kpis,
        outcome: [1],
      });
      const feed = rows.map(({ question: metricId, ...row }) =>
        JSON.stringify({ ...row, metricId: String(metricId), monday: '2020-10-05', status: 'shown' }),
      );
      const reference = await driversOf(
        feed.join('\n'),
        codes.map((_, i) => ({ id: i + 1, subgroups: [] })),
        {
          weeks: 13,
          kpis: Object.fromEntries(kpis.map(({ id, questionIds }) => [id, questionIds])),
          outcomes: { EES: { questions: [1], without: [] } },
        },
      );
      skip(reference === undefined, noPython);
      expect(result.groupIds).toEqual(reference!['EES']!.groups);
      expect(result.groupIds.length).toBeGreaterThan(90);
      expectEqual(
        {
          explained: result.explained,
          drivers: result.drivers.map(({ kpiId: id, ...driver }) => ({ id, ...driver })),
          leftOut: result.leftOut.map(({ kpiId: id, reason }) => ({ id, reason })),
        },
        reference!['EES']!,
      );
    },
  );
});
