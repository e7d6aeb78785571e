// Rolling KPI values, intervals, changes, differences and best estimates as they are shown: computed when they are read, from published
// figures and the few parameters that the account stores per question, KPI and week (docs/administrators/statistics.md).
import type {
  BestEstimate,
  FigureChange,
  Difference,
  RollingFigure,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import type { Comparison } from '@soundings/contract/comparisons.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { selectKpis } from '../../questions/questions.sql.ts';
import { bestEstimate } from '../statistics/best-estimates.ts';
import { type Cutoff, isClear, type Tested } from '../statistics/marks.ts';
import { marginOfMeasured, marginOf, type Measured, testOf } from '../statistics/measures.ts';
import {
  type AskedWeeks,
  comparableWeeks,
  isShown,
  type Reading,
  type Readings,
} from '../statistics/readings.ts';
import {
  type Compared,
  type Differing,
  halfYear,
  isAskedIn,
  isBetweenWeeks,
  kpiChange,
  kpiDifference,
  kpiSinceHalfYear,
  type KpiWindow,
  type Latest,
  latestOf,
  newestOf,
  questionChange,
  rollingOf,
  type VariationOf,
  valueOf,
  windowEnding,
} from '../statistics/rolling.ts';
import { maxKpiWeeks } from '../statistics/rotation.ts';
import { kpiWeeksOf } from '../statistics/statistics.ts';
import { selectKpiStatistics, selectQuestionStatistics } from '../statistics/statistics.sql.ts';
import { variationIn } from '../statistics/history.ts';
import { type QuestionsOf, questionsIn } from './kpi-questions.ts';
import {
  type ReadingsRow,
  type ReadingsWanted,
  selectAskedWeeks,
  selectReadings,
} from './statistics-shown.sql.ts';
import type { Window } from './window.ts';

/** What is known about the figures of an account in a span of weeks. */
export type Statistics = {
  questionsOf: QuestionsOf;
  asked: AskedWeeks;
  variationOf: VariationOf;
  /** Returns the window of rolling values in a week. */
  windowOf: (week: Week) => KpiWindow;
  /** Returns whether the statistics of a published week are computed, which takes up to some minutes after it was published. */
  isComputed: (week: Week) => boolean;
  /** Returns the cutoff of a question; undefined if the statistics of the week are not computed yet. */
  questionCutoff: (questionId: number, week: Week, kind: Tested) => Cutoff | undefined;
  groupVarianceOf: (questionId: number, week: Week) => number | null;
  /** Returns the parameters of a KPI's rolling value by the week of its newest figure: a value that stays the same keeps its verdict. */
  kpiAt: (kpiId: string, newest: Week) => KpiParameters;
};

type KpiParameters = {
  factor: number;
  groupVariance: number | null;
  cutoffOf: (kind: Tested) => Cutoff | undefined;
};

/** Returns the weeks whose figures are needed to show and compare those of a window. */
export const neededFor = ({ first, last }: Window): Window => ({
  // There is nothing before the first of all possible weeks.
  first: first < '1900' ? first : addWeeks(first, -comparableWeeks - maxKpiWeeks),
  last,
});

/** Reads the statistics that are needed for a window. */
export async function statisticsShown(db: Db, accountId: AccountId, window: Window): Promise<Statistics> {
  const { first, last } = neededFor(window);
  const [kpis, weeks, questions, kpiRows, currentWeeks] = await Promise.all([
    selectKpis(db, accountId),
    selectAskedWeeks(db, accountId, { first, last }),
    selectQuestionStatistics(db, accountId, first, last),
    selectKpiStatistics(db, accountId, first, last),
    kpiWeeksOf(db, accountId),
  ]);
  const asked = new Map<number, Week[]>();
  for (const { week, questionIds } of weeks) {
    for (const id of questionIds) asked.set(id, [...(asked.get(id) ?? []), week]);
  }
  const variations = new Map<number, Map<Week, (typeof questions)[number]>>();
  for (const one of questions) {
    const own = variations.get(one.questionId) ?? new Map<Week, (typeof questions)[number]>();
    variations.set(one.questionId, own.set(one.week, one));
  }
  const ofKpi = Map.groupBy(kpiRows, ({ kpiId }) => kpiId);
  const isDue = new Set(weeks.filter(({ isComputed }) => !isComputed).map(({ week }) => week));
  const kpiWeeksIn = (week: Week) =>
    weeks.findLast((one) => one.week <= week && one.kpiWeeks !== null)?.kpiWeeks ?? currentWeeks;
  const windows = new Map<Week, KpiWindow>();
  return {
    questionsOf: questionsIn(weeks, kpis),
    asked,
    variationOf: variationIn({ variations }),
    windowOf(week) {
      // A heat map asks for the same window for each of its cells.
      const known = windows.get(week) ?? windowEnding(week, kpiWeeksIn(week));
      windows.set(week, known);
      return known;
    },
    isComputed: (week) => !isDue.has(week),
    questionCutoff: (id, week, kind) =>
      isDue.has(week) ? undefined : variations.get(id)?.get(week)?.cutoffs[kind],
    groupVarianceOf: (id, week) => variations.get(id)?.get(week)?.groupVariance ?? null,
    kpiAt(kpiId, newest) {
      // A week that is not computed yet, or in which the KPI did not have the question, has no parameters.
      const row = ofKpi.get(kpiId)?.findLast((one) => one.week <= newest);
      const cutoffs = isDue.has(newest) ? {} : (row?.cutoffs ?? {});
      const cutoffOf = (kind: Tested) => cutoffs[kind];
      return { factor: row?.factor ?? 1, groupVariance: row?.groupVariance ?? null, cutoffOf };
    },
  };
}

const listOf = (text: string | null): (number | null)[] => JSON.parse(`[${text ?? ''}]`) as (number | null)[];

/** Returns the function that parses the readings of a group. `first`: the first week of the window that they are from. */
export function readingsParser(first: Week): (row: ReadingsRow) => Readings {
  const weeks = new Map<number, Week>();
  const weekAt = (days: number): Week => {
    const known = weeks.get(days) ?? addWeeks(first, days / 7);
    weeks.set(days, known);
    return known;
  };
  return (row) => {
    const [ids, days, values] = [listOf(row.questionIds), listOf(row.days), listOf(row.values)];
    const [answers, handedOut] = [listOf(row.answers), listOf(row.handedOut)];
    const [askedDays, asked] = [listOf(row.askedDays), listOf(row.asked)];
    const askedOn = new Map(askedDays.map((day, i) => [day, asked[i] as number | null]));
    const readings = new Map<number, Reading[]>();
    const unordered = new Set<Reading[]>();
    for (let i = 0; i < ids.length; i++) {
      const reading = {
        week: weekAt(days[i] as number),
        value: values[i] as number | null,
        answers: answers[i] as number | null,
        asked: askedOn.get(days[i] as number) ?? null,
        handedOut: handedOut[i] === 1,
      };
      const own = readings.get(ids[i] as number);
      if (own === undefined) readings.set(ids[i] as number, [reading]);
      else if (own.push(reading) > 1 && own.at(-2)!.week > reading.week) unordered.add(own);
    }
    for (const own of unordered) own.sort((a, b) => (a.week < b.week ? -1 : 1));
    return readings;
  };
}

/** Returns the readings of questions in a window, by group or by segment. Those without readings are missing. */
export async function readingsShown(
  db: Db,
  accountId: AccountId,
  wanted: ReadingsWanted,
  window: Window,
): Promise<Map<number, Readings>> {
  const parse = readingsParser(window.first);
  const rows = await selectReadings(db, accountId, wanted, window);
  return new Map(rows.map((row) => [row.groupId, parse(row)]));
}

export const noReadings: Readings = new Map();

/** Returns the verdict on a change or difference. */
export function verdictOf(measured: Measured, cutoff: Cutoff | undefined): Verdict {
  if (!(measured.variance > 0) || !isClear(testOf(measured), cutoff)) return 'unclear';
  return measured.by > 0 ? 'up' : 'down';
}

const marginIn = (measured: Measured): number | null =>
  measured.variance > 0 ? marginOfMeasured(measured) : null;

/** Returns the rolling value of a KPI in a group; undefined if none of its questions was asked in the window. */
export function rollingFigure(
  kpiId: string,
  week: Week,
  readings: Readings,
  statistics: Statistics,
): RollingFigure | undefined {
  const questionIds = statistics.questionsOf(kpiId, week);
  const window = statistics.windowOf(week);
  const latest = latestOf(readings, questionIds, window);
  if (latest.length === 0) {
    if (!isAskedIn(readings, questionIds, window)) return undefined;
    const { first: firstWeek, last: lastWeek } = window;
    return {
      week,
      value: null,
      handedOut: false,
      questions: 0,
      firstWeek,
      lastWeek,
      margin: null,
      change: null,
    };
  }
  const { factor, cutoffOf } = statistics.kpiAt(kpiId, newestOf(latest));
  const { variationOf, asked } = statistics;
  const weeks = latest.map(({ reading }) => reading.week).toSorted();
  const change = kpiChange(latest, readings, asked, { variationOf, factor });
  return {
    week,
    value: valueOf(latest),
    handedOut: latest.some(({ reading }) => reading.handedOut),
    questions: latest.length,
    firstWeek: weeks[0] as Week,
    lastWeek: weeks.at(-1) as Week,
    margin: marginIn(rollingOf(latest, variationOf, factor)),
    change: change ? { ...shownChange(change, cutoffOf('change')), ...firstOf(change) } : null,
  };

  function firstOf({ since, firstSince }: Compared): Pick<FigureChange, 'firstSince'> {
    const then = { questionIds: statistics.questionsOf(kpiId, since), window: statistics.windowOf(since) };
    return isBetweenWeeks(latest, readings, asked, then) ? {} : { firstSince };
  }
}

function shownChange(change: Compared, cutoff: Cutoff | undefined): FigureChange {
  const { by, since, questions, handedOut } = change;
  return { by, since, questions, verdict: verdictOf(change, cutoff), handedOut };
}

const shownDifference = (differing: Differing | undefined, cutoff: Cutoff | undefined): Difference | null =>
  differing
    ? {
        value: differing.value,
        by: differing.by,
        verdict: verdictOf(differing, cutoff),
        handedOut: differing.handedOut,
      }
    : null;

/** What a group is compared with. `whole`: the readings of the company or the parent. */
export type ComparedWith = { kind: Comparison; whole: Readings };

/** Returns the difference of a KPI's rolling value from a comparison; null if there is nothing to compare. */
export function kpiDifferenceShown(
  kpiId: string,
  week: Week,
  readings: Readings,
  { kind, whole }: ComparedWith,
  statistics: Statistics,
): Difference | null {
  if (kind === 'none') return null;
  const latest = latestOf(readings, statistics.questionsOf(kpiId, week), statistics.windowOf(week));
  if (latest.length === 0) return null;
  const cutoff = statistics.kpiAt(kpiId, newestOf(latest)).cutoffOf(kind);
  return shownDifference(differenceIn(latest, { kind, whole }, readings, week, statistics), cutoff);
}

function differenceIn(
  latest: readonly Latest[],
  { kind, whole }: ComparedWith,
  readings: Readings,
  week: Week,
  { variationOf, windowOf }: Statistics,
): Differing | undefined {
  if (kind !== 'halfYear') return kpiDifference(latest, whole, variationOf);
  const ids = latest.map(({ questionId }) => questionId);
  return kpiSinceHalfYear(latest, latestOf(readings, ids, halfYearBefore(windowOf(week))), variationOf);
}

// A heat map asks for the same window for each of its cells.
const halfYearsBefore = new WeakMap<Window, Window>();

/** Returns the weeks that the weeks of a window are compared with. */
export function halfYearBefore(window: Window): Window {
  const { first, last } = window;
  const known = halfYearsBefore.get(window) ?? {
    first: addWeeks(first, -halfYear),
    last: addWeeks(last, -halfYear),
  };
  halfYearsBefore.set(window, known);
  return known;
}

/** Returns the best estimate of a small group's rolling KPI value; null if the group is not small, or nothing is known about it. */
export function kpiEstimate(
  kpiId: string,
  week: Week,
  readings: Readings,
  parent: Readings,
  statistics: Statistics,
): BestEstimate | null {
  const latest = latestOf(readings, statistics.questionsOf(kpiId, week), statistics.windowOf(week));
  const { factor, groupVariance } = statistics.kpiAt(kpiId, newestOf(latest));
  return bestEstimate(latest, parent, { variationOf: statistics.variationOf, factor }, groupVariance);
}

/** The interval, change, difference and best estimate of a question in a week. */
export type QuestionMeasures = {
  margin: number | null;
  change: FigureChange | null;
  difference: Difference | null;
  bestEstimate: BestEstimate | null;
};

/** `parent`: the readings of the group above, for the best estimate; undefined: there is none that may be shown. */
export function questionMeasures(
  questionId: number,
  week: Week,
  readings: Readings,
  { compared, parent }: { compared: ComparedWith; parent: Readings | undefined },
  statistics: Statistics,
): QuestionMeasures {
  const reading = readings.get(questionId)?.find((one) => one.week === week);
  if (!reading || !isShown(reading))
    return { margin: null, change: null, difference: null, bestEstimate: null };
  const { asked, variationOf, questionCutoff, groupVarianceOf } = statistics;
  const latest = { questionId, reading };
  const variation = variationOf(questionId, week);
  const change = questionChange(latest, readings, asked, variationOf);
  const { kind } = compared;
  return {
    margin: variation ? marginOf(reading, variation) : null,
    change: change ? shownChange(change, questionCutoff(questionId, week, 'change')) : null,
    difference:
      kind === 'none'
        ? null
        : shownDifference(
            differenceIn([latest], compared, readings, week, statistics),
            questionCutoff(questionId, week, kind),
          ),
    bestEstimate: parent
      ? bestEstimate([latest], parent, { variationOf, factor: 1 }, groupVarianceOf(questionId, week))
      : null,
  };
}

/** A rolling value with the details that are shown next to other values. `value`: 'none' if it was not asked in the window. */
export type KpiCell = {
  value: number | null | 'none';
  handedOut: boolean;
  /** Null: none, or not clear. */
  clearChange: number | null;
  /** Whether the clear change is based on a marked figure, now or earlier (P14). */
  changeHandedOut: boolean;
  difference: Difference | null;
};

/** Returns the cell of a KPI and a group in a table of many groups. */
export function kpiCell(
  kpiId: string,
  week: Week,
  readings: Readings,
  compared: ComparedWith,
  statistics: Statistics,
): KpiCell {
  const questionIds = statistics.questionsOf(kpiId, week);
  const window = statistics.windowOf(week);
  const latest = latestOf(readings, questionIds, window);
  if (latest.length === 0) {
    const value = isAskedIn(readings, questionIds, window) ? null : 'none';
    return { value, handedOut: false, clearChange: null, changeHandedOut: false, difference: null };
  }
  const { factor, cutoffOf } = statistics.kpiAt(kpiId, newestOf(latest));
  const { variationOf, asked } = statistics;
  const cutoff = cutoffOf('change');
  // With a level of 0, no change of the week is clear.
  const change =
    cutoff && cutoff.level > 0 ? kpiChange(latest, readings, asked, { variationOf, factor }) : undefined;
  const isClearChange = change !== undefined && verdictOf(change, cutoff) !== 'unclear';
  const { kind } = compared;
  return {
    value: valueOf(latest),
    handedOut: latest.some(({ reading }) => reading.handedOut),
    clearChange: isClearChange ? change.by : null,
    changeHandedOut: isClearChange && change.handedOut,
    difference:
      kind === 'none'
        ? null
        : shownDifference(differenceIn(latest, compared, readings, week, statistics), cutoffOf(kind)),
  };
}
