// Computations of the results pages: scores, changes, differences. Pure. Weeks are compared, never computed.
import type {
  Figure,
  GroupResults,
  QuestionFigures,
  ResultQuestion,
  ResultWeek,
} from '@soundings/contract/console/results.ts';
import type { Part } from '../../ui/charts/StackedBar.tsx';
import type { Point } from '../../ui/charts/scale.ts';

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

export type Change = { by: number; from: number; to: number };

/** Returns the change since the last value at least `weeks` and at most three times as many weeks earlier, in rounded scores. */
export function changeOver(points: readonly Point[], weeks: number): Change | undefined {
  const to = lastShown(points);
  if (to < 0) return undefined;
  for (let from = to - weeks; from >= 0 && from >= to - 3 * weeks; from--) {
    if (typeof points[from] === 'number') return changeBetween(points, from, to);
  }
  return undefined;
}

/** Returns the change since the first value in the `weeks` weeks before the last one. */
export function changeWithin(points: readonly Point[], weeks: number): Change | undefined {
  const to = lastShown(points);
  const from = points.findIndex((point, i) => i >= to - weeks && typeof point === 'number');
  return from >= 0 && from < to ? changeBetween(points, from, to) : undefined;
}

const changeBetween = (points: readonly Point[], from: number, to: number): Change => ({
  by: Math.round(points[to] as number) - Math.round(points[from] as number),
  from,
  to,
});

/** Returns the difference of two values in rounded scores; null if one of them is not shown. */
export const difference = (value: number | null | undefined, other: number | null | undefined) =>
  typeof value === 'number' && typeof other === 'number' ? score(value) - score(other) : null;

/** Whether a group was asked, but none of its figures can be shown. */
export const isTooFew = ({ kpis, rates, last, comments }: GroupResults): boolean =>
  (kpis.length > 0 || rates.length > 0 || last !== null) &&
  [...kpis.flatMap(({ values }) => values), ...rates].every(({ value }) => value === null) &&
  (last?.questions ?? []).every(({ answers }) => answers === null) &&
  comments.total === 0;

/** Returns the colour for a value between two bounds: one of nine steps from clay to sea. */
export function heatStep(value: number, low: number, high: number): number {
  const share = high > low ? (value - low) / (high - low) : 0.5;
  return Math.max(1, Math.min(9, 1 + Math.round(share * 8)));
}

/** Returns the colour bounds for scores: those of 95 %, in steps of five, so that an outlier does not make all others pale. */
export function boundsOf(scores: number[]): { low: number; high: number } {
  if (scores.length === 0) return { low: 40, high: 90 };
  const sorted = scores.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.round(share * (sorted.length - 1))] as number;
  const low = Math.floor(at(0.025) / 5) * 5;
  return { low, high: Math.max(low + 10, Math.ceil(at(0.975) / 5) * 5) };
}

/** The five colour steps of a stacked bar. */
const steps = [1, 3, 5, 7, 9];

/**
 * Returns the answers of types 1 to 4 as parts of a bar, lowest agreement first: five values singly, ten in pairs, recommendations
 * as detractors, passives and promoters. `labels`: texts for the latter.
 */
export function partsOf(
  { type, scale }: ResultQuestion,
  distribution: NonNullable<QuestionFigures['distribution']>,
  labels: { detractors: string; passives: string; promoters: string },
): Part[] {
  const countOf = (keys: number[]) =>
    distribution.reduce((sum, { key, count }) => sum + (keys.includes(Number(key)) ? count : 0), 0);
  if (type === 1) {
    return scale.map(({ value, text }, i) => ({
      key: String(value),
      label: text,
      count: countOf([value]),
      heat: steps[i] ?? 5,
    }));
  }
  if (type === 2) {
    return steps.map((heat, i) => ({
      key: String(i),
      label: `${2 * i + 1}–${2 * i + 2}`,
      count: countOf([2 * i + 1, 2 * i + 2]),
      heat,
    }));
  }
  if (type === 3) {
    return [
      { key: 'detractors', label: labels.detractors, count: countOf([0, 1, 2, 3, 4, 5, 6]), heat: 2 },
      { key: 'passives', label: labels.passives, count: countOf([7, 8]), heat: 5 },
      { key: 'promoters', label: labels.promoters, count: countOf([9, 10]), heat: 8 },
    ];
  }
  const of = (name: string) => distribution.find(({ key }) => key === name)?.count ?? 0;
  const textOf = (value: number) => scale.find((one) => one.value === value)?.text ?? String(value);
  return [
    { key: 'no', label: textOf(0), count: of('no'), heat: 3 },
    { key: 'yes', label: textOf(1), count: of('yes'), heat: 8 },
  ];
}

/** Returns the colour of a value of types 1 to 3, by its position on the scale. */
export function heatOfKey(type: number, key: string): number | undefined {
  if (type === 4) return key === 'yes' ? 8 : 3;
  const [low, high] = { 1: [1, 5], 2: [1, 10], 3: [0, 10] }[type] ?? [0, 0];
  return high === low ? undefined : heatStep(Number(key), low as number, high as number);
}
