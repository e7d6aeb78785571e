// The overview of a group: its KPIs and response rate over several weeks, and the results of its last week.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type {
  GroupResults,
  KpiPlaces,
  ResultGroup,
  ResultsStart,
} from '@soundings/contract/console/results/results.ts';
import type { Db } from '../../db/db.ts';
import { selectNewestComments } from '../../results/data/comments.sql.ts';
import {
  readKpiValues,
  readRates,
  readResults,
  type ShownQuestion,
} from '../../results/data/read-results.ts';
import { selectValuedKpis, type KpiTexts } from '../../results/data/results.sql.ts';
import type { Window } from '../../results/data/window.ts';
import { kpiPlacesOf } from '../../results/data/kpi-places.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import {
  kpiDifferenceShown,
  kpiEstimate,
  neededFor,
  noReadings,
  questionMeasures,
  readingsShown,
  rollingFigure,
} from '../../results/data/statistics-shown.ts';
import type { Who } from '../core/console.ts';
import {
  allowedComparisons,
  type Comparing,
  comparisonOf,
  readComparing,
  withoutHalfYear,
} from './comparing.ts';
import type { Trees } from '../groups/trees.ts';
import { findingsOf, mostChanged } from './findings.ts';
import {
  commentOf,
  figuresOf,
  headOf,
  questionHead,
  readFirstGroup,
  readGroup,
  readWeeks,
  withPeople,
} from './reading.ts';
import { type Weeks, windowOfWeeks } from './weeks.ts';

/** Returns what every results page needs first. */
export async function readStart(db: Db, who: Who, trees: Trees, language: string): Promise<ResultsStart> {
  const [weeks, groups, kpis] = await Promise.all([
    readWeeks(db, who),
    readFirstGroup(db, who, trees),
    selectValuedKpis(db, who.accountId),
  ]);
  return {
    weeks: weeks.shown,
    running: weeks.running,
    kpis: kpis.map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, language) })),
    group: groups.first ? headOf(groups.first) : null,
    groups: groups.open,
  };
}

type Wanted = { groupId: string; weeks: number; language: string; compare: Comparison | undefined };

/** Returns the overview of a group. Throws a Fault if the caller may not see the group. */
export async function readOverview(db: Db, who: Who, trees: Trees, wanted: Wanted): Promise<GroupResults> {
  const { accountId } = who;
  const { groups, group, company, weeks, questions } = await readGroup(db, who, wanted);
  const axis = weeks.span(wanted.weeks);
  const window = windowOfWeeks(axis);
  const about = {
    path: groups.above(group.id),
    company: company && headOf(company),
    weeks: axis,
    running: weeks.running,
  };
  const people = withPeople(db, who, trees, group);
  const nothing = {
    findings: [],
    kpis: [],
    rates: [],
    last: null,
    comments: { total: 0, ofLastWeek: 0, newest: [] },
  };
  if (!window) {
    const comparison = comparisonOf(
      groups,
      group.id,
      withoutHalfYear(await allowedComparisons(db, who)),
      wanted.compare,
    );
    return { group: await people, ...about, comparison, ...nothing };
  }
  const { compare, language } = wanted;
  const comparing = await readComparing(db, who, {
    groups,
    groupId: group.id,
    window,
    questions: questions.values(),
    compare,
  });
  const [counted, kpis, rates, last, comments] = await Promise.all([
    people,
    readKpis(db, who, { groupId: group.id, language, axis }, comparing),
    readRates(db, accountId, group.id, window),
    readLast(db, who, group.id, { window, weeks, questions, language }, comparing),
    selectNewestComments(db, accountId, group.id, { window, questionIds: undefined }, 4),
  ]);
  const lastWeek = last && { first: last.week.week, last: last.week.week };
  const ofLastWeek =
    lastWeek &&
    (await selectNewestComments(db, accountId, group.id, { window: lastWeek, questionIds: undefined }, 0));
  const places = await readPlaces(db, who, groups.children(group.id), kpis, comparing);
  const questionIdsOf = (kpiId: string) =>
    comparing.statistics.questionsOf(kpiId, last?.week.week ?? window.last);
  return {
    group: counted,
    ...about,
    comparison: comparing.comparison,
    findings: findingsOf({ kpis, places, questionIdsOf, last, rates }),
    kpis,
    rates,
    last,
    comments: {
      total: comments.total,
      ofLastWeek: ofLastWeek?.total ?? 0,
      newest: comments.rows.map((row) => commentOf(row, questions)),
    },
  };
}

/**
 * Returns the KPIs that the group was asked, each with each week's own value, the rolling values, and the difference of the last
 * rolling value from the comparison.
 */
async function readKpis(
  db: Db,
  { accountId }: Who,
  { groupId, language, axis }: { groupId: number; language: string; axis: GroupResults['weeks'] },
  { statistics, readings, compared, parent }: Comparing,
): Promise<GroupResults['kpis']> {
  const window = windowOfWeeks(axis) as Window;
  const read = async (kpi: KpiTexts) => {
    const values = await readKpiValues(db, accountId, groupId, kpi.id, window);
    const rolling = axis.flatMap(({ week }) => rollingFigure(kpi.id, week, readings, statistics) ?? []);
    const last = rolling.findLast(({ value }) => value !== null)?.week;
    return {
      id: kpi.id,
      name: kpiNameIn(kpi, language),
      values,
      rolling,
      difference:
        last === undefined ? null : kpiDifferenceShown(kpi.id, last, readings, compared, statistics),
      bestEstimate:
        last === undefined || !parent ? null : kpiEstimate(kpi.id, last, readings, parent, statistics),
    };
  };
  const kpis = await Promise.all((await selectValuedKpis(db, accountId)).map(read));
  return kpis.filter(({ values, rolling }) => values.length > 0 || rolling.length > 0);
}

/** Returns the direct subgroups that the caller may see and in which the KPI with the largest change has clearly changed. */
async function readPlaces(
  db: Db,
  { accountId }: Who,
  children: ResultGroup[],
  kpis: GroupResults['kpis'],
  { statistics }: Comparing,
): Promise<KpiPlaces> {
  const changed = mostChanged(kpis);
  const rolling = changed?.rolling.at(-1);
  const direction = rolling?.change?.verdict ?? 'unclear';
  if (!changed || !rolling || direction === 'unclear' || children.length === 0)
    return { clearIn: [], mostIn: null };
  const { week } = rolling;
  const ids = children.map(({ id }) => id);
  const window = neededFor({ first: week, last: week });
  const readings = await readingsShown(
    db,
    accountId,
    { groupIds: ids, questionIds: statistics.questionsOf(changed.id, week) },
    window,
  );
  const subgroups = children.map((group) => ({ group, readings: readings.get(group.id) ?? noReadings }));
  return kpiPlacesOf(changed.id, week, direction, subgroups, statistics);
}

/** Returns the results of the last week that asked the group anything; null if there is none. */
async function readLast(
  db: Db,
  { accountId }: Who,
  groupId: number,
  {
    window,
    weeks,
    questions,
    language,
  }: { window: Window; weeks: Weeks; questions: ReadonlyMap<number, ShownQuestion>; language: string },
  { statistics, readings, compared, parent }: Comparing,
): Promise<GroupResults['last']> {
  const results = await readResults(db, accountId, groupId, window, questions);
  const last = results.reduce((latest, { week }) => (week > latest ? week : latest), '');
  if (last === '') return null;
  return {
    week: weeks.named(last),
    questions: results
      .filter(({ week }) => week === last)
      .map((result) => {
        const question = questions.get(result.questionId) as ShownQuestion;
        const measures = questionMeasures(question.id, last, readings, { compared, parent }, statistics);
        return { ...questionHead(question, language), ...figuresOf(question, result, measures) };
      }),
  };
}
