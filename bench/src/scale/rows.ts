// What the parts of the benchmark have in common: its steps, and rows of its table.
import { sizeText } from '@soundings/server/src/base/sizes.ts';
import type { BenchRow } from '../measuring/measure.ts';

/** What is measured at each size: the milliseconds and those of the floor. */
export type Step =
  | 'first push'
  | 'unchanged push'
  | 'the same push once more'
  | 'push with one person changed'
  | 'push with 1% changed'
  | 'opening a round'
  | 'closing the week'
  | 'reading';

/** Notes the milliseconds of a step, and those of its floor. */
export type Note = (step: Step, ms: number, floor?: number) => void;

export const withThousands = (value: number): string => value.toLocaleString('en');

export const memoryRow = (what: string, bytes: number, atMost?: number): BenchRow => ({
  what,
  measured: sizeText(bytes),
  ...(atMost !== undefined && { target: `≤ ${sizeText(atMost)}`, met: bytes <= atMost }),
});

export const statementsRow = (what: string, statements: number): BenchRow => ({
  what,
  measured: withThousands(statements),
});
