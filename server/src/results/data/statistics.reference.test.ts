// The statistics of weeks, and everything that is shown from them, equal those of a separate program in Python, which follows
// docs/administrators/statistics.md and reads only published figures: of a generated company, and of the organizations of the UK Civil Service People
// Survey.
import { comparisons } from '@soundings/contract/comparisons.ts';
import { addWeeks, weekName } from '@soundings/contract/weeks.ts';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Distribution } from '../../questions/types.ts';
import { randomFrom } from '../../simulation/random.ts';
import { apply, unit } from '../../testing/organizations.ts';
import { recomputed } from '../../testing/reference/python.ts';
import { sharedData } from '../../testing/shared.ts';
import { answerLine, importLines, kpi, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { emptyHistory, variationIn } from '../statistics/history.ts';
import { kpiDifference } from '../statistics/rolling.ts';
import { weekStatistics } from '../statistics/week-statistics.ts';
import {
  kpiDifferenceShown,
  kpiEstimate,
  neededFor,
  noReadings,
  questionMeasures,
  readingsShown,
  rollingFigure,
  statisticsShown,
  verdictOf,
} from './statistics-shown.ts';

const noPython = 'SKIPPED: python3 with numpy and scipy is not installed.';
const longest = 120_000;

/** Published figures, as the program reads them. */
type Published = {
  groups: Record<string, number | null>;
  questions: Record<string, number>;
  /** `kpis`: the questions of each KPI in the week. */
  weeks: { week: string; kpiWeeks: number; kpis: Record<string, number[]>; figures: object[] }[];
};
type Rows = Record<string, Record<string, unknown>>;
/** Measures of a group: by question or KPI, then by name. */
type GroupMeasures = Record<string, { questions: Rows; kpis: Rows }>;
type WeekMeasures = { variations: Rows; questions: Rows; kpis: Rows; groups: GroupMeasures };
type Weeks = Record<string, WeekMeasures>;

/** Returns every single value by its path. The reference recomputes numbers and verdicts, not the marks of handed-out links. */
function valuesIn(value: unknown, path = ''): [string, unknown][] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, one]) =>
    key === 'handedOut' ? [] : valuesIn(one, `${path}/${key}`),
  );
}

/** Compares value by value: numbers to nine digits, everything else exactly. Returns how many were compared. */
function expectEqual(own: unknown, reference: unknown): number {
  const [ours, theirs] = [new Map(valuesIn(own)), new Map(valuesIn(reference))];
  expect([...ours.keys()].toSorted()).toEqual([...theirs.keys()].toSorted());
  const different = [...ours].filter(([path, one]) => {
    const other = theirs.get(path);
    return typeof one === 'number' && typeof other === 'number'
      ? !(Math.abs(one - other) <= 1e-12 + 1e-9 * Math.abs(other))
      : one !== other;
  });
  const firstOnes = different.slice(0, 20).map(([path, one]) => `${path}: ${one}, not ${theirs.get(path)}`);
  expect([different.length, ...firstOnes]).toEqual([0]);
  return ours.size;
}

describe('a generated company', () => {
  const firstWeek = '2026-02-02';
  const last = '2026-11-09';
  // Some weeks follow each other, others are months apart.
  const numbers = [0, 1, 2, 3, 5, 6, 8, 9, 10, 13, 16, 26, 27, 28, 30, 32, 33, 34, 36, 37, 38, 39, 40];
  const rotation = [
    ['a', 'b'],
    ['a', 'c', 'd'],
    ['a', 'b', 'e'],
  ];
  const kpis = { one: ['a', 'b'], two: ['c', 'd', 'e'], three: ['b', 'e'], single: ['a'] };
  const teams = Array.from({ length: 26 }, (_, i) => ({
    name: `team-${i}`,
    size: i < 4 ? 60 : 6 + ((i * 5) % 13),
  }));
  const people = teams.flatMap(({ name, size }, team) =>
    Array.from({ length: size }, (_, i) => ({ id: `${name}-${i}`, name, team })),
  );
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world?.close());

  /** Returns the lines of a week. Attitudes last; a team falls in week 30, and the whole company moves a little each time. */
  function linesOf(number: number, i: number): object[] {
    const week = weekName(addWeeks(firstWeek, number));
    const random = randomFrom(number, 'week');
    const asked = rotation[i % 3]!;
    const season = random.around0(0.15);
    return [
      round(week, 'company', asked, Object.fromEntries(people.map(({ id, name }) => [id, [name]]))),
      ...people.flatMap(({ id, team }) =>
        asked.flatMap((key) => {
          const isAnswered = random.chance(team === 9 && number % 2 === 0 ? 0.3 : 0.8);
          const steady = randomFrom(team, key).around0(0.5) + randomFrom(1, `${id}${key}`).around0(0.8);
          const level = steady + season + random.around0(0.6) - (team === 1 && number >= 30 ? 1.2 : 0);
          const [low, high] = key === 'c' ? [1, 10] : key === 'd' ? [0, 10] : [1, 5];
          const onScale = Math.round((low + high) / 2 + (level * (high - low)) / 4);
          const value = key === 'e' ? level > 0 : Math.max(low, Math.min(high, onScale));
          return isAnswered ? [answerLine(week, 'company', id, key, value)] : [];
        }),
      ),
    ];
  }

  async function companyWithWeeks(): Promise<TestAccount> {
    const account = await world.account();
    await apply(account, {
      groups: [
        unit('company'),
        ...[0, 1, 2].map((i) => unit(`division-${i}`, { parent: 'company' })),
        ...teams.map(({ name }, i) => unit(name, { parent: `division-${i % 3}` })),
      ],
    });
    const definitions = [
      ...Object.entries({ a: 1, b: 1, c: 2, d: 3, e: 4 }).map(([key, type]) => question(key, type)),
      ...Object.entries(kpis).map(([id, questions]) => kpi(id, questions)),
    ];
    const lines = numbers.map((number, i) => linesOf(number, i));
    await importLines(world, account.id, [...definitions, ...lines.slice(0, 12).flat()]);
    await world.pool`update accounts set kpi_weeks = 5 where account_id = ${account.id}`;
    await importLines(world, account.id, [...definitions, ...lines.slice(12).flat()]);
    return account;
  }

  async function publishedOf({ id }: TestAccount): Promise<Published> {
    const { pool } = world;
    const groups = await pool<{ id: number; parent: number | null }[]>`
      select group_id as id, parent_id as parent from groups where account_id = ${id}`;
    const questions = await pool<{ id: number; type: number }[]>`
      select question_id as id, type from questions where account_id = ${id}`;
    const weeks = await pool<{ week: string; kpiWeeks: number; kpis: Record<string, number[]> }[]>`
      select week, kpi_weeks as "kpiWeeks", kpi_questions as kpis from weeks where account_id = ${id} order by week`;
    const figures = await pool<{ week: string; distribution: string | null }[]>`
      select r.week, r.group_id as "group", r.question_id as question, r.value, r.answers,
             coalesce(a.asked, a.people) as asked, r.distribution
      from   results r left join response_rates a using (account_id, group_id, week)
      where  r.account_id = ${id} order by 1, 2, 3`;
    return {
      groups: Object.fromEntries(groups.map((one) => [one.id, one.parent])),
      questions: Object.fromEntries(questions.map((one) => [one.id, one.type])),
      weeks: weeks.map((one) => ({
        ...one,
        figures: figures
          .filter(({ week }) => week === one.week)
          .map(({ distribution, ...rest }) => ({
            ...rest,
            distribution: distribution === null ? null : (JSON.parse(distribution) as Distribution),
          })),
      })),
    };
  }

  /** Returns the parameters that the service has stored. */
  async function parametersOf({ id }: TestAccount): Promise<Record<string, Omit<WeekMeasures, 'groups'>>> {
    const { pool } = world;
    const weeks: Record<string, Omit<WeekMeasures, 'groups'>> = {};
    const collect = (
      kind: 'variations' | 'questions' | 'kpis',
      rows: readonly { week: string; id: string | number }[],
    ) => {
      for (const { week, id: own, ...row } of rows) {
        weeks[week] ??= { variations: {}, questions: {}, kpis: {} };
        weeks[week][kind][own] = row;
      }
    };
    type Row = { week: string; id: string };
    collect(
      'variations',
      await pool<Row[]>`
      select week, question_id as id, squares, freedom, answers, cells from question_variances where account_id = ${id}`,
    );
    collect(
      'questions',
      await pool<Row[]>`
      select week, question_id as id, variance, steady_share as "steadyShare", present_share as "presentShare",
             shared_movement as "sharedMovement", group_variance as "groupVariance", cutoffs
      from   question_statistics where account_id = ${id}`,
    );
    collect(
      'kpis',
      await pool<Row[]>`
      select week, kpi_id as id, factor, ratio, pairs, group_variance as "groupVariance", cutoffs
      from   kpi_statistics where account_id = ${id}`,
    );
    return weeks;
  }

  /** Returns everything that the service shows of each group and week. */
  async function shownOf({ id }: TestAccount, published: Published): Promise<Record<string, GroupMeasures>> {
    const window = { first: firstWeek, last };
    const statistics = await statisticsShown(world.pool, id, window);
    const questionIds = Object.keys(published.questions).map(Number);
    const readings = await readingsShown(
      world.pool,
      id,
      { groupIds: undefined, questionIds },
      neededFor(window),
    );
    const parentOf = (groupId: number) => published.groups[groupId] ?? null;
    const topOf = (groupId: number): number | null => {
      const parent = parentOf(groupId);
      return parent === null ? null : (topOf(parent) ?? parent);
    };
    return Object.fromEntries(
      published.weeks.map(({ week }) => {
        const groups = [...readings].filter(([, own]) =>
          [...own.values()].some(([first]) => first!.week <= week),
        );
        const measured = groups.map(([groupId, own]) => {
          const of = (other: number | null) => (other === null ? undefined : readings.get(other));
          const parent = of(parentOf(groupId));
          const wholes = { company: of(topOf(groupId)), parent, halfYear: undefined, none: undefined };
          const eachKind = (differenceFrom: (kind: (typeof comparisons)[number]) => unknown) =>
            Object.fromEntries(
              comparisons.flatMap((kind) => (kind === 'none' ? [] : [[kind, differenceFrom(kind)]])),
            ) as Record<string, unknown>;
          const comparedWith = (kind: (typeof comparisons)[number]) => ({
            kind,
            whole: wholes[kind] ?? noReadings,
          });
          const ofQuestions = questionIds.flatMap((one) => {
            if (!own.get(one)?.some((reading) => reading.week === week && reading.value !== null)) return [];
            const measures = (kind: (typeof comparisons)[number]) =>
              questionMeasures(one, week, own, { compared: comparedWith(kind), parent }, statistics);
            const { margin, change, bestEstimate } = measures('none');
            return [
              [one, { margin, change, bestEstimate, ...eachKind((kind) => measures(kind).difference) }],
            ];
          });
          const ofKpis = Object.keys(kpis).flatMap((one) => {
            const rolling = rollingFigure(one, week, own, statistics);
            if (!rolling || rolling.value === null) return [];
            const { week: _, handedOut, ...figure } = rolling;
            const bestEstimate = kpiEstimate(one, week, own, parent ?? noReadings, statistics);
            const differences = eachKind((kind) =>
              kpiDifferenceShown(one, week, own, comparedWith(kind), statistics),
            );
            return [[one, { ...figure, bestEstimate, ...differences }]];
          });
          return [
            groupId,
            {
              questions: Object.fromEntries(ofQuestions) as Rows,
              kpis: Object.fromEntries(ofKpis) as Rows,
            },
          ];
        });
        return [week, Object.fromEntries(measured) as GroupMeasures];
      }),
    );
  }

  test(
    'has the same parameters, intervals, changes, differences, verdicts and best estimates in every week',
    { timeout: longest },
    async ({ skip }) => {
      const account = await companyWithWeeks();
      const published = await publishedOf(account);
      const reference = await recomputed<Weeks>('statistics.py', [JSON.stringify(published)]);
      skip(reference === undefined, noPython);
      const [parameters, shown] = [await parametersOf(account), await shownOf(account, published)];
      const own = Object.fromEntries(
        Object.keys(parameters)
          .toSorted()
          .map((week) => [week, { ...parameters[week], groups: shown[week] }]),
      );
      expect(expectEqual(own, reference)).toBeGreaterThan(20_000);

      // Everything that the description explains occurs.
      const values = valuesIn(reference);
      const some = (pattern: RegExp, is: (value: unknown) => boolean) =>
        expect([
          pattern,
          values.filter(([path, value]) => pattern.test(path) && is(value)).length > 0,
        ]).toEqual([pattern, true]);
      const isPositive = (value: unknown) => (value as number) > 0;
      for (const name of ['steadyShare', 'sharedMovement', 'groupVariance', 'bestEstimate/weight'])
        some(new RegExp(`/${name}$`), isPositive);
      some(/\/factor$/, (value) => value !== 1);
      some(/\/kpis\/.*\/change\/questions$/, (value) => (value as number) > 1);
      for (const kind of ['change', 'company', 'parent', 'halfYear']) {
        for (const metric of ['questions', 'kpis']) {
          for (const verdict of ['unclear', 'down'])
            some(new RegExp(`/${metric}/.*/${kind}/verdict$`), (value) => value === verdict);
        }
      }
    },
  );
});

const survey = 'survey/csps2020_orgscores_long.csv';
const absent = sharedData(survey) === undefined;
const skipped = absent ? ' SKIPPED: ../shared/data is not next to the checkout' : '';

describe(`the Civil Service People Survey${skipped}`, () => {
  test.skipIf(absent)(
    'has the same organizations marked as clearly different from the whole, for each of its themes',
    { timeout: longest },
    async ({ skip }) => {
      const measures = ['MW_TS', 'OP_TS', 'LM_TS', 'MT_TS', 'LD_TS', 'IF_TS', 'RW_TS', 'PB_TS', 'LC_TS'];
      const week = '2020-10-05';
      const lines = readFileSync(sharedData(survey)!, 'utf8').trim().split(/\r?\n/).slice(1);
      // The file also has the mean and the median of all organizations as if they were organizations.
      const scores = lines
        .map((line) => line.split(',') as [string, string, string])
        .filter(
          ([code, measure, value]) => !code.startsWith('CS_M') && measures.includes(measure) && value !== '',
        );
      const codes = [...new Set(scores.map(([code]) => code))];
      expect(codes).toHaveLength(109);
      // A score is the share of positive answers. The file has no numbers of answers; different ones make small and large groups.
      const figureOf = (group: number, questionId: number, yes: number, answers: number) => ({
        week,
        group,
        question: questionId,
        value: yes / answers,
        answers,
        asked: null,
        distribution: { yes, no: answers - yes },
      });
      const own = scores.map(([code, measure, value]) => {
        const place = codes.indexOf(code);
        const answers = 8 + 13 * (place % 17);
        return figureOf(
          place + 2,
          measures.indexOf(measure) + 1,
          Math.round(Number(value) * answers),
          answers,
        );
      });
      const wholes = measures.map((_, i) => {
        const parts = own.filter((one) => one.question === i + 1);
        const sumOf = (of: (one: (typeof own)[number]) => number) =>
          parts.reduce((sum, one) => sum + of(one), 0);
        const yes = sumOf(({ distribution }) => distribution.yes);
        return figureOf(
          1,
          i + 1,
          yes,
          sumOf(({ answers }) => answers),
        );
      });
      const figures = [...wholes, ...own];
      const groupIds = [1, ...codes.map((_, i) => i + 2)];
      const parentOf = (groupId: number) => (groupId === 1 ? null : 1);
      const published: Published = {
        groups: Object.fromEntries(groupIds.map((id) => [id, parentOf(id)])),
        questions: Object.fromEntries(measures.map((_, i) => [i + 1, 4])),
        weeks: [{ week, kpiWeeks: 13, kpis: {}, figures }],
      };
      const reference = await recomputed<Weeks>('statistics.py', [JSON.stringify(published)]);
      skip(reference === undefined, noPython);
      const theirs = reference![week]!;

      const readings = new Map(
        groupIds.map((id) => [
          id,
          new Map(
            figures
              .filter(({ group }) => group === id)
              .map(({ question: questionId, value, answers }) => [
                questionId,
                { week, value, answers, asked: null, handedOut: false },
              ]),
          ),
        ]),
      );
      const history = emptyHistory();
      const { questions } = weekStatistics(
        history,
        {
          week,
          readings,
          distributions: Map.groupBy(
            figures.map(({ group: groupId, question: questionId, distribution }) => ({
              groupId,
              questionId,
              distribution,
            })),
            ({ questionId }) => questionId,
          ),
        },
        { parentOf, typeOf: () => 4, kpis: [], kpiWeeks: 13 },
      );
      expectEqual(
        Object.fromEntries(questions.map(({ questionId, ...one }) => [questionId, one])),
        theirs.questions,
      );
      const whole = history.readings.get(1)!;
      const marks = own.map(({ group, question: questionId }) => {
        const reading = readings.get(group)!.get(questionId)!;
        const difference = kpiDifference([{ questionId, reading }], whole, variationIn(history))!;
        const { cutoffs } = questions.find((one) => one.questionId === questionId)!;
        const { value, by } = difference;
        return [group, questionId, { value, by, verdict: verdictOf(difference, cutoffs.company) }] as const;
      });
      expect(marks).toHaveLength(9 * 109);
      for (const [group, id, mark] of marks)
        expectEqual(mark, theirs.groups[group]!.questions[id]!['company']);
      const clear = marks.filter(([, , { verdict }]) => verdict !== 'unclear');
      expect(clear.length).toBeGreaterThan(50);
      expect(clear.length).toBeLessThan(marks.length);
    },
  );
});
