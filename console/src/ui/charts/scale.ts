// What charts reckon: bounds and ticks of an axis, and the pieces of a line with its gaps. Pure.

/** A value of a series in a week: null is withheld, undefined not asked. */
export type Point = number | null | undefined;

export type Bounds = { low: number; high: number; ticks: number[] };

/** Round bounds around values, within limits, with ticks at round steps. */
export function boundsOf(values: readonly number[], limits: { low: number; high: number }): Bounds {
  const [least, most] =
    values.length > 0 ? [Math.min(...values), Math.max(...values)] : [limits.low, limits.high];
  const span = most - least;
  const step = span <= 12 ? 5 : span <= 45 ? 10 : span <= 90 ? 20 : 50;
  let low = Math.max(limits.low, Math.floor((least - 1) / step) * step);
  let high = Math.min(limits.high, Math.ceil((most + 1) / step) * step);
  while (high - low < 3 * step) {
    if (high < limits.high) high = Math.min(limits.high, high + step);
    if (high - low < 3 * step && low > limits.low) low = Math.max(limits.low, low - step);
    if (high >= limits.high && low <= limits.low) break;
  }
  const ticks: number[] = [];
  for (let tick = low; tick <= high; tick += step) ticks.push(tick);
  return { low, high, ticks };
}

export type Piece = { from: number; to: number; isGap: boolean };

/**
 * The pieces of a line from one point that is shown to the next, by index. A piece over weeks that are withheld is a gap, and
 * one over more weeks in which nothing was asked than is usual: more than four, and than twice the middle step.
 */
export function piecesOf(points: readonly Point[]): Piece[] {
  const most = Math.max(4, 2 * middleStep(points));
  const pieces: Piece[] = [];
  let last = -1;
  let hasHidden = false;
  for (const [i, point] of points.entries()) {
    if (point === null) hasHidden = true;
    if (typeof point !== 'number') continue;
    if (last >= 0) pieces.push({ from: last, to: i, isGap: hasHidden || i - last > most });
    last = i;
    hasHidden = false;
  }
  return pieces;
}

/** From one week that asked to the next, in the middle of all such steps; 0: there are none. */
function middleStep(points: readonly Point[]): number {
  const asked = points.flatMap((point, i) => (point === undefined ? [] : [i]));
  const steps = asked.slice(1).map((at, i) => at - (asked[i] as number));
  return steps.toSorted((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 0;
}

/** Points to mark: those that no line without a gap leads to or from, and all where there are few. */
export function markedPoints(points: readonly Point[], pieces: readonly Piece[], few = 0): number[] {
  const isFew = points.filter((point) => typeof point === 'number').length <= few;
  const isJoined = (i: number) => pieces.some(({ from, to, isGap }) => !isGap && (from === i || to === i));
  return points.flatMap((point, i) => (typeof point === 'number' && (isFew || !isJoined(i)) ? [i] : []));
}

/** Which of so many labels fit beside each other: the last one always, and every so many before it. */
export function labelsThatFit(count: number, width: number, each: number): number[] {
  const every = Math.max(1, Math.ceil((count * each) / Math.max(width, each)));
  const labels: number[] = [];
  for (let i = count - 1; i >= 0; i -= every) labels.unshift(i);
  return labels;
}

/** The path of pieces, each point placed by `place`. */
export function pathOf(pieces: readonly Piece[], place: (index: number) => [x: number, y: number]): string {
  let path = '';
  let end = -1;
  for (const { from, to } of pieces) {
    if (from !== end) path += `M${place(from).map(tenth).join(' ')}`;
    path += `L${place(to).map(tenth).join(' ')}`;
    end = to;
  }
  return path;
}

const tenth = (value: number) => Math.round(value * 10) / 10;
