// Results by segment: the heat map of a breakdown, trends of segments, and the answers to a question by segment. Administrators only.
import { selectBreakdowns, selectSegments } from '../../rounds/segments/breakdowns.sql.ts';
import type { RollingFigure } from '@soundings/contract/console/results/results.ts';
import type { Named } from '@soundings/contract/console/groups.ts';
import type {
  SegmentAnswers,
  SegmentMap,
  SegmentTrend,
} from '@soundings/contract/console/results/segments.ts';
import type { Db } from '../../db/db.ts';
import { kpiNameIn, kpiNotFound, questionNotFound } from '../../questions/questions.ts';
import {
  allTime,
  readKpiValues,
  shownQuestions,
  rateOf,
  readRates,
  readResults,
} from '../../results/data/read-results.ts';
import { selectKpi, selectValuedKpis, selectWeekRates } from '../../results/data/results.sql.ts';
import {
  kpiCell,
  neededFor,
  noReadings,
  questionMeasures,
  readingsShown,
  rollingFigure,
  statisticsShown,
} from '../../results/data/statistics-shown.ts';
import { neededForWeek } from '../../results/data/week-readings.ts';
import { segmentNotFound, breakdownNotFound } from '../../rounds/segments/breakdowns.ts';
import type { Who } from '../core/console.ts';
import { idIn } from '../core/ids.ts';
import { figuresOf, questionHead, readWeeks, weekIn } from './reading.ts';
import { inOrder, segmentText } from './segment-texts.ts';
import { windowOfWeeks, type Weeks } from './weeks.ts';

/** Segments are not compared with anything. */
const uncompared = { kind: 'none' as const, whole: noReadings };

/** Returns a breakdown and its segments in order. Throws a Fault if the account has no such breakdown. */
async function readBreakdown(
  db: Db,
  { accountId }: Who,
  { breakdownId, language }: { breakdownId: string; language: string },
): Promise<{ breakdown: Named; segments: Named[] }> {
  const [breakdowns, segments] = await Promise.all([
    selectBreakdowns(db, accountId),
    selectSegments(db, accountId, idIn(breakdownId)),
  ]);
  const breakdown = breakdowns.find(({ id }) => id === idIn(breakdownId));
  if (!breakdown) throw breakdownNotFound();
  const named = inOrder(segments).map(({ id, value }) => ({ id, name: segmentText(value, language) }));
  return { breakdown: { id: breakdown.id, name: breakdown.name }, segments: named };
}

/** Returns the requested week, or else the newest closed week. Only closed weeks have figures of segments. */
const chosenWeek = (weeks: Weeks, wanted: string | undefined) =>
  weekIn(weeks, wanted) ?? weeks.shown.find(({ state }) => state === 'final')?.week;

type MapWanted = { breakdownId: string; week: string | undefined; language: string };

export async function readSegmentMap(db: Db, who: Who, wanted: MapWanted): Promise<SegmentMap> {
  const { accountId } = who;
  const [{ breakdown, segments }, weeks] = await Promise.all([
    readBreakdown(db, who, wanted),
    readWeeks(db, who),
  ]);
  const week = chosenWeek(weeks, wanted.week);
  const about = {
    companyId: null,
    isWhole: true,
    count: segments.length,
    levels: [],
    comparison: { kind: 'none' as const, group: null, available: ['none' as const] },
  };
  if (week === undefined)
    return { breakdown, map: { ...about, week: null, firstWeek: null, kpis: [], rows: [] } };
  const [valued, statistics, rates] = await Promise.all([
    selectValuedKpis(db, accountId),
    statisticsShown(db, accountId, { first: week, last: week }),
    selectWeekRates(db, accountId, week, { kind: 'segment' }),
  ]);
  const ids = [...new Set(valued.flatMap(({ id }) => statistics.questionsOf(id, week)))];
  const segmentIds = segments.map(({ id }) => id);
  const window = neededForWeek(week, statistics, 'none', ids);
  const readings = await readingsShown(
    db,
    accountId,
    { groupIds: segmentIds, questionIds: ids, kind: 'segment' },
    window,
  );
  const cellsOf = (segmentId: number) =>
    valued.map(({ id }) => kpiCell(id, week, readings.get(segmentId) ?? noReadings, uncompared, statistics));
  const cells = new Map(segmentIds.map((id) => [id, cellsOf(id)]));
  const isAsked = valued.map((_, i) => segmentIds.some((id) => cells.get(id)?.[i]?.value !== 'none'));
  const rateIn = new Map(rates.map((rate) => [rate.groupId, rateOf(rate)]));
  return {
    breakdown,
    map: {
      ...about,
      week: weeks.named(week),
      firstWeek: weeks.named(statistics.windowOf(week).first),
      kpis: valued
        .filter((_, i) => isAsked[i])
        .map((kpi) => ({ id: kpi.id, name: kpiNameIn(kpi, wanted.language) })),
      rows: segments.map((segment) =>
        mapRow(
          segment,
          (cells.get(segment.id) ?? []).filter((_, i) => isAsked[i]),
          rateIn.get(segment.id),
        ),
      ),
    },
  };
}

function mapRow(
  { id, name }: { id: number; name: string },
  cells: ReturnType<typeof kpiCell>[],
  rate: ReturnType<typeof rateOf> | undefined,
): SegmentMap['map']['rows'][number] {
  const marked = cells.flatMap(({ handedOut }, i) => (handedOut ? [i] : []));
  return {
    id,
    name,
    parentId: null,
    level: 1,
    people: rate?.asked ?? 0,
    ...(rate && { rate: rate.value }),
    ...(rate &&
      rate.asked !== null &&
      rate.answered !== null && { asked: rate.asked, answered: rate.answered }),
    values: cells.map(({ value }) => value),
    changes: cells.map(() => null),
    differences: cells.map(() => null),
    clear: [],
    handedOut: [...(rate?.handedOut ? (['rate'] as const) : []), ...marked],
    changesHandedOut: [],
    differencesHandedOut: [],
  };
}

type TrendWanted = {
  breakdownId: string;
  kpiId: string | undefined;
  segmentIds: string | undefined;
  weeks: number;
  language: string;
};

/** How many segments a trend shows if none are chosen. */
const firstSegments = 3;

/** Returns a trend. Throws a Fault if the KPI, or one of the segments, does not exist in this breakdown. */
export async function readSegmentTrend(db: Db, who: Who, wanted: TrendWanted): Promise<SegmentTrend> {
  const { accountId } = who;
  const { kpiId, language } = wanted;
  const [{ breakdown, segments }, weeks, kpi] = await Promise.all([
    readBreakdown(db, who, wanted),
    readWeeks(db, who),
    kpiId === undefined ? null : selectKpi(db, accountId, kpiId),
  ]);
  if (kpi === undefined) throw kpiNotFound();
  const ids = wanted.segmentIds?.split(',') ?? segments.slice(0, firstSegments).map(({ id }) => String(id));
  const chosen = [...new Set(ids)].map((text) => {
    const segment = segments.find(({ id }) => id === idIn(text));
    if (!segment) throw segmentNotFound();
    return segment;
  });
  const axis = weeks.span(wanted.weeks);
  const window = windowOfWeeks(axis);
  const valuesOf = (id: number) => {
    if (!window) return [];
    return kpi === null
      ? readRates(db, accountId, id, window)
      : readKpiValues(db, accountId, id, kpi.id, window);
  };
  const rollingOf = await readRolling();
  return {
    breakdown,
    segments,
    trend: {
      kpi: kpi && { id: kpi.id, name: kpiNameIn(kpi, language) },
      weeks: axis,
      series: await Promise.all(
        chosen.map(async (segment) => ({
          group: { ...segment, people: 0 },
          values: await valuesOf(segment.id),
          rolling: rollingOf(segment.id),
        })),
      ),
    },
  };

  /** Returns a function that returns the rolling values of a segment, without changes. For the response rate it returns none. */
  async function readRolling(): Promise<(segmentId: number) => RollingFigure[]> {
    if (!window || !kpi) return () => [];
    const statistics = await statisticsShown(db, accountId, window);
    const segmentIds = chosen.map(({ id }) => id);
    const readings = await readingsShown(
      db,
      accountId,
      { groupIds: segmentIds, questionIds: statistics.questionsOf(kpi.id), kind: 'segment' },
      neededFor(window),
    );
    return (segmentId) =>
      axis.flatMap(({ week }) => {
        const figure = rollingFigure(kpi.id, week, readings.get(segmentId) ?? noReadings, statistics);
        return figure ? { ...figure, change: null } : [];
      });
  }
}

type AnswersWanted = MapWanted & { questionId: string };

/** Returns the answers to a question by segment. Throws a Fault if there is no such question. */
export async function readSegmentAnswers(db: Db, who: Who, wanted: AnswersWanted): Promise<SegmentAnswers> {
  const { accountId } = who;
  const [{ breakdown, segments }, weeks, questions] = await Promise.all([
    readBreakdown(db, who, wanted),
    readWeeks(db, who),
    shownQuestions(db, accountId, wanted.language),
  ]);
  const question = questions.get(Number(wanted.questionId));
  if (!question) throw questionNotFound();
  const only = new Map([[question.id, question]]);
  const all = await Promise.all(
    segments.map(async (segment) => ({
      segment,
      results: await readResults(db, accountId, segment.id, allTime, only),
    })),
  );
  const found = [...new Set(all.flatMap(({ results }) => results.map(({ week }) => week)))].toSorted();
  const wantedWeek = weekIn(weeks, wanted.week);
  const week = wantedWeek ?? found.at(-1);
  const about = { breakdown, question: questionHead(question, wanted.language) };
  const named = found.toReversed().map((one) => weeks.named(one));
  if (week === undefined) return { ...about, week: null, weeks: named, rows: [] };
  const window = { first: week, last: week };
  const [statistics, readings] = await Promise.all([
    statisticsShown(db, accountId, window),
    readingsShown(
      db,
      accountId,
      { groupIds: segments.map(({ id }) => id), questionIds: [question.id], kind: 'segment' },
      window,
    ),
  ]);
  return {
    ...about,
    week: weeks.named(week),
    weeks: named,
    rows: all.flatMap(({ segment, results }) => {
      const own = results.find((one) => one.week === week);
      if (!own) return [];
      const measures = questionMeasures(
        question.id,
        week,
        readings.get(segment.id) ?? noReadings,
        { compared: uncompared, parent: undefined },
        statistics,
      );
      return { ...segment, figures: figuresOf(question, own, { ...measures, change: null }) };
    }),
  };
}
