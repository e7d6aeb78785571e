// Computes charts: bounds and ticks of an axis, and the segments of a line with its gaps. Pure.

/** A value of a series in a week; null: withheld, undefined: not asked. */
export type Point = number | null | undefined;

/** An interval around a value. */
export type Range = { low: number; high: number };

/** Returns all values that a series draws: its line, its intervals and its dots. */
export function valuesIn(series: {
  points: readonly Point[];
  band?: readonly (Range | undefined)[];
  dots?: readonly Point[];
}): number[] {
  const { points, band = [], dots = [] } = series;
  return [
    ...[...points, ...dots].filter((point) => typeof point === 'number'),
    ...band.flatMap((range) => (range ? [range.low, range.high] : [])),
  ];
}

export type Bounds = { low: number; high: number; ticks: number[] };

/** Returns round bounds around values, within limits, with ticks at round steps. */
export function axisOf(values: readonly number[], limits: { low: number; high: number }): Bounds {
  const [lowest, highest] =
    values.length > 0 ? [Math.min(...values), Math.max(...values)] : [limits.low, limits.high];
  const span = highest - lowest;
  const step = span <= 12 ? 5 : span <= 45 ? 10 : span <= 90 ? 20 : 50;
  let low = Math.max(limits.low, Math.floor((lowest - 1) / step) * step);
  let high = Math.min(limits.high, Math.ceil((highest + 1) / step) * step);
  while (high - low < 3 * step) {
    if (high < limits.high) high = Math.min(limits.high, high + step);
    if (high - low < 3 * step && low > limits.low) low = Math.max(limits.low, low - step);
    if (high >= limits.high && low <= limits.low) break;
  }
  const ticks: number[] = [];
  for (let tick = low; tick <= high; tick += step) ticks.push(tick);
  return { low, high, ticks };
}

export type LineSegment = { from: number; to: number; isGap: boolean };

/**
 * Returns the segments of a line between the points that are shown, by index. A segment is a gap if it spans withheld weeks, or unusually
 * many weeks in which nothing was asked: more than four, and more than twice the median step.
 */
export function lineSegmentsOf(points: readonly Point[]): LineSegment[] {
  const highest = Math.max(4, 2 * middleStep(points));
  const lineSegments: LineSegment[] = [];
  let last = -1;
  let hasHidden = false;
  for (const [i, point] of points.entries()) {
    if (point === null) hasHidden = true;
    if (typeof point !== 'number') continue;
    if (last >= 0) lineSegments.push({ from: last, to: i, isGap: hasHidden || i - last > highest });
    last = i;
    hasHidden = false;
  }
  return lineSegments;
}

/** Returns the median number of weeks between two weeks that asked; 0 if there are no such steps. */
function middleStep(points: readonly Point[]): number {
  const asked = points.flatMap((point, i) => (point === undefined ? [] : [i]));
  const steps = asked.slice(1).map((at, i) => at - (asked[i] as number));
  return steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
}

/** Returns the points to mark: those without a solid segment on either side, and all if there are few. */
export function markedPoints(
  points: readonly Point[],
  lineSegments: readonly LineSegment[],
  few = 0,
): number[] {
  const isFew = points.filter((point) => typeof point === 'number').length <= few;
  const isJoined = (i: number) =>
    lineSegments.some(({ from, to, isGap }) => !isGap && (from === i || to === i));
  return points.flatMap((point, i) => (typeof point === 'number' && (isFew || !isJoined(i)) ? [i] : []));
}

/** Returns which labels fit side by side: always the last one, and others at a regular distance before it. */
export function labelsThatFit(count: number, width: number, each: number): number[] {
  const every = Math.max(1, Math.ceil((count * each) / Math.max(width, each)));
  const labels: number[] = [];
  for (let i = count - 1; i >= 0; i -= every) labels.unshift(i);
  return labels;
}

/** Returns the SVG path of line segments; `place` positions each point. */
export function pathOf(
  lineSegments: readonly LineSegment[],
  place: (index: number) => [x: number, y: number],
): string {
  let path = '';
  let end = -1;
  for (const { from, to } of lineSegments) {
    if (from !== end) path += `M${place(from).map(tenth).join(' ')}`;
    path += `L${place(to).map(tenth).join(' ')}`;
    end = to;
  }
  return path;
}

/** Returns the SVG path of the area between the bounds of intervals, one shape per run of segments that have them. */
export function bandPathOf(
  lineSegments: readonly LineSegment[],
  band: readonly (Range | undefined)[],
  x: (index: number) => number,
  y: (value: number) => number,
): string {
  const runs: number[][] = [];
  for (const { from, to } of lineSegments) {
    if (!band[from] || !band[to]) continue;
    const run = runs.at(-1);
    if (run?.at(-1) === from) run.push(to);
    else runs.push([from, to]);
  }
  const side = (run: number[], bound: keyof Range) =>
    run.map((index) => `${tenth(x(index))} ${tenth(y((band[index] as Range)[bound]))}`);
  return runs
    .map((run) => `M${[...side(run, 'high'), ...side(run, 'low').toReversed()].join('L')}Z`)
    .join('');
}

const tenth = (value: number) => Math.round(value * 10) / 10;
