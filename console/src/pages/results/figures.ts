// Computations of the results pages: scores, intervals, clear changes. Pure. Weeks are only compared here; the service computes
// them.
import type {
  Figure,
  GroupResults,
  HeatRow,
  QuestionFigures,
  ResultComment,
  ResultQuestion,
  ResultWeek,
  RollingFigure,
  Verdict,
} from '@soundings/contract/console/results/results.ts';
import {
  agreementScale,
  fourStepScale,
  type QuestionType,
  recommendation,
  type ScaledType,
  scaleOf,
  tenStepScale,
  yesNo,
} from '@soundings/contract/question-types.ts';
import { pointsOf } from '@soundings/contract/console/results/points.ts';
import type { BarPart } from '../../ui/charts/StackedBar.tsx';
import type { Point, Range } from '../../ui/charts/scale.ts';

/** Converts 0 to 1 into a score from 0 to 100. */
export const score = (value: number): number => Math.round(value * 100);

/** Returns figures as scores on an axis of weeks. */
export function pointsOn(weeks: readonly ResultWeek[], values: readonly Figure[]): Point[] {
  const byWeek = new Map(values.map(({ week, value }) => [week, value]));
  return weeks.map(({ week }) => {
    const value = byWeek.get(week);
    return typeof value === 'number' ? value * 100 : value;
  });
}

/** Returns the index of the last point that is shown; -1 if there is none. */
export const lastShown = (points: readonly Point[]): number =>
  points.findLastIndex((point) => typeof point === 'number');

/** Returns rolling values as scores on an axis of weeks, with the bounds of their intervals where these are known. */
export function rollingOn(
  weeks: readonly ResultWeek[],
  rolling: readonly RollingFigure[],
): { points: Point[]; band: (Range | undefined)[] } {
  const byWeek = new Map(rolling.map((figure) => [figure.week, figure]));
  return { points: pointsOn(weeks, rolling), band: weeks.map(({ week }) => intervalOf(byWeek.get(week))) };
}

/** A figure with half the width of its interval. Both can be withheld or unknown. */
type Measured = { value: number | null; margin: number | null };

/** Returns the interval of a figure as scores, within 0 to 100; undefined if it is not known. */
export function intervalOf(figure: Measured | undefined): Range | undefined {
  if (figure === undefined || figure.value === null || figure.margin === null) return undefined;
  const { value, margin } = figure;
  return { low: Math.max(0, 100 * (value - margin)), high: Math.min(100, 100 * (value + margin)) };
}

/** Returns the last rolling value that is shown. */
export const lastRolling = (rolling: readonly RollingFigure[]): RollingFigure | undefined =>
  rolling.findLast(({ value }) => value !== null);

/** Returns the direction of a change or difference that is clear; undefined for all others, which get no arrow and no colour. */
export const directionOf = (one: { verdict: Verdict } | null | undefined): 'up' | 'down' | undefined =>
  one && one.verdict !== 'unclear' ? one.verdict : undefined;

/**
 * Returns the KPIs with the highest and the lowest difference from the comparison or, without a comparison, with the highest and
 * the lowest value. Each list has at most three KPIs, and no KPI is in both. The first list begins with the highest, the second
 * with the lowest.
 */
export function extremesOf(
  kpis: GroupResults['kpis'],
  most = 3,
): { highest: GroupResults['kpis']; lowest: GroupResults['kpis'] } {
  const shown = kpis.filter(({ rolling }) => lastRolling(rolling) !== undefined);
  const compared = shown.filter(({ difference }) => difference !== null);
  const rankOf = (kpi: GroupResults['kpis'][number]) =>
    compared.length > 0 ? (kpi.difference?.by ?? 0) : (lastRolling(kpi.rolling)?.value ?? 0);
  const ranked = (compared.length > 0 ? compared : shown).toSorted((a, b) => rankOf(b) - rankOf(a));
  const count = Math.min(most, Math.floor(ranked.length / 2));
  return { highest: ranked.slice(0, count), lowest: ranked.slice(ranked.length - count).toReversed() };
}

/** Returns the newest comments that belong to the last week; all of them if none do. */
export function lastComments({ comments, last }: GroupResults): {
  week: string | undefined;
  rows: ResultComment[];
} {
  const rows = comments.newest.filter(({ week }) => week === last?.week.week);
  return rows.length > 0 ? { week: last?.week.week, rows } : { week: undefined, rows: comments.newest };
}

/** Whether a group was asked, but none of its figures can be shown. */
export const isTooFew = ({ kpis, rates, last, comments }: GroupResults): boolean =>
  (kpis.length > 0 || rates.length > 0 || last !== null) &&
  [...kpis.flatMap(({ values, rolling }) => [...values, ...rolling]), ...rates].every(
    ({ value }) => value === null,
  ) &&
  (last?.questions ?? []).every(({ answers }) => answers === null) &&
  comments.total === 0;

/** Returns the colour for a value between two bounds: one of nine steps from clay to sea. */
export function heatStep(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.max(1, Math.min(9, 1 + Math.round(share * 8)));
}

/**
 * Returns the bounds of the colours for scores: the range of 95% of the scores, in steps of five, so that an outlier doesn't make
 * all other colours pale.
 */
export function colourBoundsOf(scores: number[]): { low: number; high: number } {
  if (scores.length === 0) return { low: 40, high: 90 };
  const sorted = scores.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
  const low = Math.floor(at(0.025) / 5) * 5;
  return { low, high: Math.max(low + 10, Math.ceil(at(0.975) / 5) * 5) };
}

/**
 * What a cell of the heat map shows. `step`: its colour; null: no colour, because the difference is not clear. `change`: a clear change
 * of a score, -1 to 1. `incomparable`: it has a value, but there is nothing to compare it with.
 */
export type HeatFigure =
  | { kind: 'none' | 'withheld' | 'incomparable' }
  | {
      kind: 'shown';
      value: number;
      isDifference: boolean;
      step: number | null;
      change: number | null;
      isHandedOut: boolean;
    };

/** The colour bounds of differences, in points. */
export const differenceBounds: Range = { low: -20, high: 20 };

/**
 * Returns what a cell shows: a score, or the difference from the comparison, which only has a colour if it is clear. `bounds`: the
 * bounds of the colours; undefined: cells have no colours.
 */
export function heatFigure(
  row: HeatRow,
  kpi: number,
  { bounds, isDifference }: { bounds: Range | undefined; isDifference: boolean },
): HeatFigure {
  const value = row.values[kpi];
  if (value === 'none' || value === undefined) return { kind: 'none' };
  if (value === null) return { kind: 'withheld' };
  const marked = [row.handedOut, isDifference ? row.differencesHandedOut : row.changesHandedOut];
  const isHandedOut = marked.some((kpis) => (kpis as (number | 'rate')[]).includes(kpi));
  // An arrow next to a difference would look like that of the difference.
  const about = { change: isDifference ? null : (row.changes[kpi] ?? null), isHandedOut };
  const stepOf = (shown: number) => (bounds ? heatStep(shown, bounds.low, bounds.high) : null);
  if (!isDifference) {
    return { kind: 'shown', value: score(value), isDifference, step: stepOf(score(value)), ...about };
  }
  const by = row.differences[kpi] ?? null;
  if (by === null) return { kind: 'incomparable' };
  const isClear = row.clear.includes(kpi);
  const step = isClear ? stepOf(100 * by) : null;
  return { kind: 'shown', value: pointsOf(by, isClear), isDifference, step, ...about };
}

/** The five colour steps of a stacked bar. */
const steps = [1, 3, 5, 7, 9];

/**
 * Returns the answers on a scale as parts of a bar, lowest agreement first: each of five values, ten values in pairs,
 * recommendations as detractors, passives and promoters. `labels`: the texts for these three groups. Other types have no bar, and
 * don't compile.
 */
export function barPartsOf(
  type: ScaledType,
  scale: ResultQuestion['scale'],
  distribution: NonNullable<QuestionFigures['distribution']>,
  labels: { detractors: string; passives: string; promoters: string },
): BarPart[] {
  const countOf = (keys: number[]) =>
    distribution.reduce((sum, { key, count }) => sum + (keys.includes(Number(key)) ? count : 0), 0);
  const of = (name: string) => distribution.find(({ key }) => key === name)?.count ?? 0;
  const textOf = (value: number) => scale.find((one) => one.value === value)?.text ?? String(value);
  switch (type) {
    case agreementScale:
      return scale.map(({ value, text }, i) => ({
        key: String(value),
        label: text,
        count: countOf([value]),
        heat: steps[i] ?? 5,
      }));
    case fourStepScale:
      return scale.map(({ value, text }) => ({
        key: String(value),
        label: text,
        count: countOf([value]),
        heat: heatStep(value, 1, 4),
      }));
    case tenStepScale:
      return steps.map((heat, i) => ({
        key: String(i),
        label: `${2 * i + 1}–${2 * i + 2}`,
        count: countOf([2 * i + 1, 2 * i + 2]),
        heat,
      }));
    case recommendation:
      return [
        { key: 'detractors', label: labels.detractors, count: countOf([0, 1, 2, 3, 4, 5, 6]), heat: 2 },
        { key: 'passives', label: labels.passives, count: countOf([7, 8]), heat: 5 },
        { key: 'promoters', label: labels.promoters, count: countOf([9, 10]), heat: 8 },
      ];
    case yesNo:
      return [
        { key: 'no', label: textOf(0), count: of('no'), heat: 3 },
        { key: 'yes', label: textOf(1), count: of('yes'), heat: 8 },
      ];
  }
}

/** Returns the colour of a value, by its position on the scale; undefined for types without a scale. */
export function heatOfKey(type: QuestionType, key: string): number | undefined {
  if (type === yesNo) return key === 'yes' ? 8 : 3;
  const scale = scaleOf(type);
  return scale ? heatStep(Number(key), scale.low, scale.high) : undefined;
}
