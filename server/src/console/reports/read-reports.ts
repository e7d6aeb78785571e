// Reads the data of the reports of several groups. The number of statements does not depend on the number of groups, up to
// `groupsAtOnce`. All figures are published ones and are read by the same functions as those of the results pages.
import type { Comparison } from '@soundings/contract/comparisons.ts';
import type { GroupResults, ResultGroup } from '@soundings/contract/console/results/results.ts';
import { type Period, periodNamed, periodOfWeek } from '@soundings/contract/periods.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { type Week, weeksFrom } from '@soundings/contract/weeks.ts';
import { accountById } from '../../accounts/accounts.ts';
import { invalidParameter } from '../../base/errors.ts';
import { quote } from '../../base/text.ts';
import type { Pool } from '../../db/db.ts';
import { type FocusRow, selectFocuses } from '../../focus/focus.sql.ts';
import { groupNotFound } from '../../people/faults.ts';
import { kpiNameIn } from '../../questions/questions.ts';
import { kpiPlacesOf } from '../../results/data/kpi-places.ts';
import { rateOf, type ShownQuestion, shownQuestions } from '../../results/data/read-results.ts';
import { type KpiTexts, selectValuedKpis } from '../../results/data/results.sql.ts';
import {
  type ComparedWith,
  kpiDifferenceShown,
  neededFor,
  noReadings,
  questionMeasures,
  readingsShown,
  rollingFigure,
  type Statistics,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import type { Window } from '../../results/data/window.ts';
import type { Readings } from '../../results/statistics/readings.ts';
import type { Who } from '../core/console.ts';
import { allowedComparisons, comparisonOf, weeksShownIn, withFigures } from '../results/comparing.ts';
import { findingsOf, mostChanged } from '../results/findings.ts';
import {
  commentOf,
  headOf,
  type OpenGroups,
  readCountedGroups,
  readAllGroups,
  readGroups,
  readWeeks,
} from '../results/reading.ts';
import type { Weeks } from '../results/weeks.ts';
import type { ReportData, ReportKpi, ReportQuestion } from './report-data.ts';
import {
  type NotApplicableRow,
  selectNewestCommentsOfGroups,
  selectNotApplicableOfGroups,
  selectRatesOfGroups,
} from './reports.sql.ts';

/** How many groups are read together. Reading more at a time takes more memory and isn't faster. */
const groupsAtOnce = 100;

/** How many comments are read for each report, which is more than a page has room for. */
const mostComments = 15;

/** `period`: such as 2026-W38 or 2026-Q3; by default the last week with results. `day`: today, YYYY-MM-DD. */
export type ReportsWanted = {
  period: string | undefined;
  compare: Comparison | undefined;
  language: string;
  day: string;
};

/** What all reports of a period share. */
type Shared = {
  who: Who;
  company: string;
  groups: OpenGroups;
  /** The ids of all open groups, in the order of the tree. */
  openIds: readonly number[];
  weeks: Weeks;
  period: Period;
  /** The last week of the period with results. */
  week: Week;
  questions: ReadonlyMap<number, ShownQuestion>;
  kpis: readonly KpiTexts[];
  allowed: ReadonlySet<Comparison>;
  statistics: Statistics;
  wanted: ReportsWanted;
};

/**
 * Yields the data of the reports of open groups, in the order of `groupIds`. If that is undefined, yields the data of all groups
 * that the caller can see, in the order of the tree. Throws a Fault if a group is not open, or if the period has no results.
 */
export async function* readReports(
  pool: Pool,
  who: Who,
  groupIds: readonly number[] | undefined,
  wanted: ReportsWanted,
): AsyncGenerator<ReportData> {
  const shared = await readShared(pool, who, groupIds, wanted);
  const ids = groupIds ?? shared.openIds;
  for (const id of ids) {
    if (!shared.groups.byId.has(id)) throw groupNotFound();
  }
  for (let at = 0; at < ids.length; at += groupsAtOnce) {
    // Reads only as many groups at a time as fit in memory.
    yield* await readSome(pool, shared, ids.slice(at, at + groupsAtOnce));
  }
}

async function readShared(
  pool: Pool,
  who: Who,
  groupIds: readonly number[] | undefined,
  wanted: ReportsWanted,
): Promise<Shared> {
  const { accountId } = who;
  const [account, groups, rows, weeks, questions, kpis, allowed] = await Promise.all([
    accountById(pool, accountId),
    groupIds ? readGroups(pool, who, groupIds) : readAllGroups(pool, who),
    groupIds ? [] : readCountedGroups(pool, who, wanted.language).then((counted) => counted.rows),
    readWeeks(pool, who),
    shownQuestions(pool, accountId, wanted.language),
    selectValuedKpis(pool, accountId),
    allowedComparisons(pool, who),
  ]);
  const { period, week } = periodIn(weeks, wanted.period);
  return {
    who,
    company: account.name,
    groups,
    openIds: rows.map(({ id }) => id),
    weeks,
    period,
    week,
    questions,
    kpis,
    allowed,
    statistics: await statisticsShown(pool, accountId, { first: period.first, last: week }),
    wanted,
  };
}

/** Returns the period with a name, and its last week with results. Throws a Fault if there is no such period or week. */
export function periodIn(weeks: Weeks, name: string | undefined): { period: Period; week: Week } {
  const newest = weeks.shown[0];
  const period = name === undefined ? newest && periodOfWeek(newest.week) : periodNamed(name);
  // The newest week is first.
  const week = period && weeks.shown.find((one) => one.week >= period.first && one.week <= period.last)?.week;
  if (period && week) return { period, week };
  const message =
    name === undefined
      ? 'There are no results yet. Reports can be created when the first week has closed.'
      : `There are no results for ${quote(name)}. Choose a week or quarter with results.`;
  throw invalidParameter('period', message);
}

async function readSome(pool: Pool, shared: Shared, ids: readonly number[]): Promise<ReportData[]> {
  const { who, groups, period, week, questions } = shared;
  const scaled = [...questions.values()].filter(({ type }) => isScaled(type));
  const others = ids.flatMap((id) => [
    groups.topOf(id)?.id,
    groups.parentOf(id)?.id,
    ...groups.children(id).map((child) => child.id),
  ]);
  const all = [...new Set([...ids, ...others.filter((id) => id !== undefined)])];
  const window = { first: period.first, last: week };
  const [readings, rates, comments, focuses, counts] = await Promise.all([
    readingsShown(
      pool,
      who.accountId,
      { groupIds: all, questionIds: scaled.map(({ id }) => id) },
      neededFor(window),
    ),
    selectRatesOfGroups(pool, who.accountId, ids, window),
    selectNewestCommentsOfGroups(pool, who.accountId, ids, window, mostComments),
    selectFocuses(pool, who.accountId, ids, 0),
    selectNotApplicableOfGroups(pool, who.accountId, ids, questionWindow(shared)),
  ]);
  const ratesOf = Map.groupBy(rates, ({ groupId }) => groupId);
  const focusOf = Map.groupBy(focuses, ({ groupId }) => groupId);
  const commentsOf = Map.groupBy(comments, ({ groupId }) => groupId);
  const countsOf = Map.groupBy(counts, ({ groupId }) => groupId);
  return ids.map((id) => {
    const own = commentsOf.get(id) ?? [];
    return reportIn(shared, id, readings, {
      rates: (ratesOf.get(id) ?? []).map((rate) => rateOf(rate)),
      focus: (focusOf.get(id) ?? []).flatMap((one) => focusIn(shared, one)),
      comments: { total: own[0]?.total ?? 0, newest: own.map((one) => commentOf(one, questions)) },
      counts: countsOf.get(id) ?? [],
    });
  });
}

function reportIn(
  shared: Shared,
  groupId: number,
  readings: ReadonlyMap<number, Readings>,
  {
    rates,
    focus,
    comments,
    counts,
  }: Pick<ReportData, 'rates' | 'focus' | 'comments'> & { counts: readonly NotApplicableRow[] },
): ReportData {
  const { groups, period, week, weeks, wanted, statistics } = shared;
  const compares = { first: statistics.windowOf(period.first).first, last: week };
  const allowed = withFigures(shared.allowed, weeksShownIn(readings.get(groupId) ?? noReadings), compares);
  const comparison = comparisonOf(groups, groupId, allowed, wanted.compare);
  const readingsOf = (id: number | undefined) => readings.get(id ?? 0) ?? noReadings;
  const compared: ComparedWith = { kind: comparison.kind, whole: readingsOf(comparison.group?.id) };
  const own = readingsOf(groupId);
  const kpis = kpisOf(shared, own, compared);
  const { first } = questionWindow(shared);
  const children = groups.children(groupId);
  return {
    company: shared.company,
    group: headOf(groups.byId.get(groupId) as ResultGroup),
    path: groups.above(groupId),
    period,
    week,
    isLive: weeks.named(week).state === 'live',
    comparison,
    findings: findingsIn(shared, kpis, { own, compared, rates, children, readingsOf }),
    kpis,
    rates,
    focus,
    questions: questionsOf(shared, own, compared, counts),
    comments,
    thresholds: thresholdsIn(weeks, first < period.first ? first : period.first, week),
    day: wanted.day,
  };
}

/** Returns an open focus with the name of its KPI or question. */
function focusIn(
  { kpis, questions, wanted }: Shared,
  { kpiId, questionId, state, action, responsible, until, outlook }: FocusRow,
): ReportData['focus'] {
  if (state !== 'open') return [];
  const kpi = kpis.find(({ id }) => id === kpiId);
  const name = kpi ? kpiNameIn(kpi, wanted.language) : questions.get(questionId ?? 0)?.text;
  return [{ name: name ?? kpiId ?? '', action, responsible, until, outlook }];
}

function kpisOf(
  { kpis, statistics, week, wanted }: Shared,
  own: Readings,
  compared: ComparedWith,
): ReportKpi[] {
  return kpis.flatMap((definition) => {
    const rolling = rollingFigure(definition.id, week, own, statistics);
    if (!rolling) return [];
    const difference = kpiDifferenceShown(definition.id, week, own, compared, statistics);
    return [{ id: definition.id, name: kpiNameIn(definition, wanted.language), rolling, difference }];
  });
}

/**
 * Returns the weeks that the figures of questions come from. A single week asks only some of the questions. The figures of the other
 * questions come from the weeks of the rolling KPIs.
 */
const questionWindow = ({ period, statistics, week }: Shared): Window => ({
  first: period.kind === 'week' ? statistics.windowOf(week).first : period.first,
  last: week,
});

/** Returns the last shown figure of each question. */
function questionsOf(
  shared: Shared,
  own: Readings,
  compared: ComparedWith,
  counts: readonly NotApplicableRow[],
): ReportQuestion[] {
  const { questions, statistics } = shared;
  const { first, last } = questionWindow(shared);
  return [...own].flatMap(([id, readings]) => {
    const question = questions.get(id);
    const reading = readings.findLast((one) => one.week >= first && one.week <= last && one.value !== null);
    if (!question || !reading || reading.value === null) return [];
    const { week, value, answers, handedOut } = reading;
    const { margin, difference } = questionMeasures(
      id,
      week,
      own,
      { compared, parent: undefined },
      statistics,
    );
    const counted = counts.find((one) => one.questionId === id && one.week === week);
    const notApplicable = counted ? { count: counted.count, of: counted.of } : null;
    return [{ text: question.text, week, value, answers, margin, difference, handedOut, notApplicable }];
  });
}

/** Returns the findings of the overview, as they were in the last week of the period. */
function findingsIn(
  { statistics, week, weeks, questions }: Shared,
  kpis: readonly ReportKpi[],
  {
    own,
    compared,
    rates,
    children,
    readingsOf,
  }: {
    own: Readings;
    compared: ComparedWith;
    rates: ReportData['rates'];
    children: readonly ResultGroup[];
    readingsOf: (id: number) => Readings;
  },
): ReportData['findings'] {
  const rolled = kpis.map((one) => ({ ...one, rolling: [one.rolling] }));
  const changed = mostChanged(rolled);
  const direction = changed?.rolling.at(-1)?.change?.verdict ?? 'unclear';
  const subgroups = children.map((group) => ({ group, readings: readingsOf(group.id) }));
  const places =
    !changed || direction === 'unclear'
      ? { clearIn: [], mostIn: null }
      : kpiPlacesOf(changed.id, week, direction, subgroups, statistics);
  const asked = [...own].flatMap(([id, readings]) => {
    const question = questions.get(id);
    if (!question || !readings.some((one) => one.week === week)) return [];
    const measures = questionMeasures(id, week, own, { compared, parent: undefined }, statistics);
    return [{ id, text: question.text, week, ...measures }];
  });
  return findingsOf({
    kpis: rolled,
    places,
    questionIdsOf: (kpiId) => statistics.questionsOf(kpiId, week),
    last: { week: weeks.named(week), questions: asked } as GroupResults['last'],
    rates,
  });
}

/** Returns the smallest thresholds of the weeks behind a report. */
function thresholdsIn(weeks: Weeks, first: Week, last: Week): ReportData['thresholds'] {
  const all = weeksFrom(first, last).flatMap((week) => weeks.named(week).thresholds ?? []);
  if (all.length === 0) return null;
  return {
    figures: Math.min(...all.map(({ figures }) => figures)),
    comments: Math.min(...all.map(({ comments }) => comments)),
  };
}
