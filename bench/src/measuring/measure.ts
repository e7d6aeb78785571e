// Shared by all benchmarks: medians, percentiles, and a Markdown table of the results.
import { cpus, totalmem } from 'node:os';

/** A row of the table. The floor and the target are optional. */
export type BenchRow = {
  what: string;
  measured: string;
  floor?: string;
  ratio?: string;
  /** The peak memory of the service above idle. */
  memory?: string;
  target?: string;
  met?: boolean;
};

/** Returns the smallest value for which at least the share `share` (0 to 1) of all values are not larger. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)];
  if (value === undefined) throw new Error('There are no values');
  return value;
}

export function median(values: number[]): number {
  // The middle value, or the mean of the two middle values.
  return (percentile(values, 0.5) + percentile(values, 0.5 + 1 / (2 * values.length))) / 2;
}

/** Runs `work` and returns the milliseconds it took, with its result. */
export async function timed<T>(work: () => Promise<T> | T): Promise<[ms: number, result: T]> {
  const start = performance.now();
  const result = await work();
  return [performance.now() - start, result];
}

/** Returns a row that compares the median of times (ms) with that of the floor. */
export function against(what: string, times: number[], floor: number[], atMost?: number): BenchRow {
  const ratio = median(times) / median(floor);
  return {
    what,
    measured: time(median(times)),
    floor: time(median(floor)),
    ratio: ratioText(ratio),
    ...(atMost !== undefined && { target: `≤ ${atMost.toFixed(1)}×`, met: ratio <= atMost }),
  };
}

export function time(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

/** Formats a ratio: 1.17×, 14.0×, and never 0.00×. */
export function ratioText(ratio: number): string {
  return `${ratio >= 0.1 && ratio < 10 ? ratio.toFixed(2) : ratio.toPrecision(3)}×`;
}

/** Returns rows without targets, for runs that are too small for them. */
export const withoutTargets = (rows: BenchRow[]): BenchRow[] =>
  rows.map(({ target: _target, met: _met, ...row }) => row);

/** Describes the machine. */
export function machine(): string {
  const [cpu] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  return `${cpu?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ${memory} GB; Node ${process.versions.node}`;
}

export function resultTable(rows: BenchRow[]): string {
  const lines = rows.map(({ what, measured, floor = '', ratio = '', memory = '', target = '', met }) => [
    what,
    measured,
    floor,
    ratio,
    memory,
    target,
    met === undefined ? '' : met ? 'yes' : '**no**',
  ]);
  return markdownTable(['', 'Measured', 'Floor', 'Ratio', 'Memory', 'Target', 'Met'], lines);
}

/** Returns a Markdown table. All columns but the first are aligned to the right. */
export function markdownTable(head: string[], lines: string[][]): string {
  const widths = head.map((name, i) =>
    Math.max(3, name.length, ...lines.map((line) => line[i]?.length ?? 0)),
  );
  const print = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [print(head), print(rule), ...lines.map(print)].join('\n');
}
