// The table of a comparison: Soundings, one or more peers, and ratios.
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import { markdownTable, ratioText, time } from '../measuring/measure.ts';

/** Milliseconds, things a second, or bytes. */
type Unit = 'time' | 'rate' | 'memory';

/** A value that is undefined was not measured, or doesn't exist. */
export type ComparedRow = {
  what: string;
  unit: Unit;
  soundings: number | undefined;
  peers: (number | undefined)[];
};

export type Comparison = {
  /** What is compared, as a heading. */
  title: string;
  peers: string[];
  rows: ComparedRow[];
};

const texts: Record<Unit, (value: number) => string> = {
  time,
  rate: (value) => value.toFixed(0),
  memory: (value) => sizeText(value),
};

export function comparisonTable({ peers, rows }: Comparison): string {
  const head = ['', 'Soundings', ...peers.flatMap((peer) => [peer, 'Ratio'])];
  const cell = (unit: Unit, value: number | undefined) => (value === undefined ? '–' : texts[unit](value));
  const lines = rows.map(({ what, unit, soundings, peers: values }) => [
    what,
    cell(unit, soundings),
    ...values.flatMap((value) => [cell(unit, value), ratioCell(unit, soundings, value)]),
  ]);
  return markdownTable(head, lines);
}

/** Returns how many times as much time or memory the peer takes, or how many times as many a second Soundings does. */
function ratioCell(unit: Unit, soundings: number | undefined, peer: number | undefined): string {
  if (soundings === undefined || peer === undefined) return '';
  return ratioText(unit === 'rate' ? soundings / peer : peer / soundings);
}
