// What the benchmark of statistics checks in a simulated week: which intervals contain the truth, and which comparisons mark anything.
import { bestEstimate } from '@soundings/server/src/results/statistics/best-estimates.ts';
import {
  type History,
  variationIn,
  type WeekStatistics,
} from '@soundings/server/src/results/statistics/history.ts';
import { isClear, type Cutoffs } from '@soundings/server/src/results/statistics/marks.ts';
import { marginOfMeasured, testOf } from '@soundings/server/src/results/statistics/measures.ts';
import type { Readings } from '@soundings/server/src/results/statistics/readings.ts';
import {
  halfYear,
  kpiDifference,
  kpiSinceHalfYear,
  type Latest,
  latestOf,
  rollingOf,
  windowEnding,
} from '@soundings/server/src/results/statistics/rolling.ts';
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { kpis, kpiWeeks, type SimulatedCompany, weekly } from './company.ts';

/** The true means of groups, by week and question. */
export type Truths = Map<Week, Map<number, ReadonlyMap<number, number>>>;

/** Adds the true means of the questions that a week asks. */
export function addTruths(
  truths: Truths,
  company: SimulatedCompany,
  { week, questions }: WeekStatistics,
): void {
  truths.set(week, new Map(questions.map(({ questionId }) => [questionId, company.truths(questionId)])));
}

export type Checked = 'question' | 'kpi' | 'questionEstimate' | 'kpiEstimate';

/**
 * Returns for each interval of a week whether it contains the truth: those of the weekly question and of the rotating KPI, and those of
 * their best estimates. The truth of a KPI is the mean of its questions' truths in the weeks of their figures.
 */
export function intervalsIn(
  history: History,
  { week, questions, kpis: ofKpis }: WeekStatistics,
  { parentOf }: SimulatedCompany['setting'],
  truths: Truths,
): { of: Checked; isHit: boolean }[] {
  const variationOf = variationIn(history);
  const question = questions.find(({ questionId }) => questionId === weekly);
  const kpi = ofKpis.find(({ kpiId }) => kpiId === rotating.id);
  return [...history.readings].flatMap(([groupId, readings]) => {
    const truthOf = ({ questionId, reading }: Latest) =>
      truths.get(reading.week)?.get(questionId)?.get(groupId);
    const checks = (
      names: readonly [Checked, Checked],
      latest: readonly Latest[],
      parameters: { factor: number; groupVariance: number | null } | undefined,
    ) => {
      const known = latest.map(truthOf).filter((one) => one !== undefined);
      if (!parameters || latest.length === 0 || known.length < latest.length) return [];
      const truth = known.reduce((sum, one) => sum + one, 0) / known.length;
      const { factor, groupVariance } = parameters;
      const rolling = rollingOf(latest, variationOf, factor);
      const parent = history.readings.get(parentOf(groupId) ?? 0) ?? new Map();
      const best = bestEstimate(latest, parent, { variationOf, factor }, groupVariance);
      const isIn = (value: number, margin: number) => Math.abs(value - truth) <= margin;
      return [
        ...(rolling.variance > 0
          ? [{ of: names[0], isHit: isIn(rolling.by, marginOfMeasured(rolling)) }]
          : []),
        ...(best ? [{ of: names[1], isHit: isIn(best.value, best.margin) }] : []),
      ];
    };
    return [
      ...checks(
        ['question', 'questionEstimate'],
        latestOf(readings, [weekly], windowEnding(week, 1)),
        question && { factor: 1, groupVariance: question.groupVariance },
      ),
      ...checks(
        ['kpi', 'kpiEstimate'],
        latestOf(readings, rotating.questionIds, windowEnding(week, kpiWeeks)),
        kpi,
      ),
    ];
  });
}

const rotating = kpis.find(({ id }) => id === 'rotating') as (typeof kpis)[number];

export type ComparedWith = 'company' | 'parent' | 'halfYear';
const comparisons: readonly ComparedWith[] = ['company', 'parent', 'halfYear'];

/**
 * Returns for each kind of comparison whether anything in a week is marked as clearly different: a question or a KPI of any group. Kinds
 * without anything to compare are left out.
 */
export function comparedIn(
  history: History,
  { week, questions, kpis: ofKpis }: WeekStatistics,
  { parentOf }: SimulatedCompany['setting'],
): { kind: ComparedWith; isMarked: boolean }[] {
  const variationOf = variationIn(history);
  const then = windowEnding(addWeeks(week, -halfYear), kpiWeeks);
  const metrics: { questionIds: readonly number[]; weeks: number; cutoffs: Cutoffs }[] = [
    ...questions.map(({ questionId, cutoffs }) => ({ questionIds: [questionId], weeks: 1, cutoffs })),
    ...ofKpis.map(({ kpiId, cutoffs }) => ({
      questionIds: kpis.find(({ id }) => id === kpiId)?.questionIds ?? [],
      weeks: kpiWeeks,
      cutoffs,
    })),
  ];
  const marked = new Map<ComparedWith, boolean>();
  for (const [groupId, readings] of history.readings) {
    const parentId = parentOf(groupId);
    const companyId = parentId === null ? null : (parentOf(parentId) ?? parentId);
    const difference = (kind: ComparedWith, latest: readonly Latest[], questionIds: readonly number[]) => {
      if (kind === 'halfYear')
        return kpiSinceHalfYear(latest, latestOf(readings, questionIds, then), variationOf);
      const other: Readings | undefined = history.readings.get(
        (kind === 'company' ? companyId : parentId) ?? 0,
      );
      return other && kpiDifference(latest, other, variationOf);
    };
    for (const { questionIds, weeks, cutoffs } of metrics) {
      const latest = latestOf(readings, questionIds, windowEnding(week, weeks));
      for (const kind of comparisons) {
        const differs = difference(kind, latest, questionIds);
        if (!differs || !(differs.variance > 0)) continue;
        marked.set(kind, (marked.get(kind) ?? false) || isClear(testOf(differs), cutoffs[kind]));
      }
    }
  }
  return [...marked].map(([kind, isMarked]) => ({ kind, isMarked }));
}
