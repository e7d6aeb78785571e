// What every benchmark needs: medians and percentiles, and a table that can be pasted into a README.
import { cpus, totalmem } from 'node:os';

/** One line of the table. What has no floor or no demand is there to be known. */
export type Row = {
  what: string;
  measured: string;
  floor?: string;
  ratio?: string;
  /** Of the service at its peak, above idle. */
  memory?: string;
  demand?: string;
  holds?: boolean;
};

/** The smallest value that at least `share` (0 to 1) of the values do not exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(Math.ceil(share * sorted.length) - 1, 0)];
  if (value === undefined) throw new Error('There is nothing to take a percentile of');
  return value;
}

export function median(values: number[]): number {
  // The middle one, or the mean of the two in the middle.
  return (percentile(values, 0.5) + percentile(values, 0.5 + 1 / (2 * values.length))) / 2;
}

/** Runs `work` and returns its result with the milliseconds that it took. */
export async function timed<T>(work: () => Promise<T> | T): Promise<[ms: number, result: T]> {
  const begun = performance.now();
  const result = await work();
  return [performance.now() - begun, result];
}

/** A line that compares the medians of times (ms) with a floor measured beside them. */
export function against(what: string, times: number[], floor: number[], atMost?: number): Row {
  const ratio = median(times) / median(floor);
  return {
    what,
    measured: time(median(times)),
    floor: time(median(floor)),
    ratio: ratioText(ratio),
    ...(atMost !== undefined && { demand: `≤ ${atMost.toFixed(1)}×`, holds: ratio <= atMost }),
  };
}

export function time(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

/** How many times the floor something is: 1.17×, 14.0×, and never 0.00×. */
export function ratioText(ratio: number): string {
  return `${ratio >= 0.1 && ratio < 10 ? ratio.toFixed(2) : ratio.toPrecision(3)}×`;
}

/** Rows of too small a run for their targets to mean anything: without them. */
export const withoutTargets = (rows: Row[]): Row[] =>
  rows.map(({ demand: _demand, holds: _holds, ...row }) => row);

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

/** What it was measured on. */
export function machine(): string {
  const [cpu] = cpus();
  const memory = (totalmem() / 2 ** 30).toFixed(0);
  return `${cpu?.model.trim() ?? 'unknown CPU'}, ${cpus().length} cores, ${memory} GB; Node ${process.versions.node}`;
}

export function table(rows: Row[]): string {
  const lines = rows.map(({ what, measured, floor = '', ratio = '', memory = '', demand = '', holds }) => [
    what,
    measured,
    floor,
    ratio,
    memory,
    demand,
    holds === undefined ? '' : holds ? 'yes' : '**no**',
  ]);
  const head = ['', 'Measured', 'Floor', 'Ratio', 'Memory', 'Demand', 'Holds'];
  const widths = head.map((name, i) =>
    Math.max(3, name.length, ...lines.map((line) => line[i]?.length ?? 0)),
  );
  const print = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] as number) : cell.padStart(widths[i] as number))).join(' | ')} |`;
  const rule = widths.map((width, i) => (i === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [print(head), print(rule), ...lines.map(print)].join('\n');
}
