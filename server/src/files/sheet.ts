// Reading files: the rows of a CSV file or workbook, as a person sees them. What others sent is read in a child process, so
// that no file can stop, fill or hold up the service.
import type { Detail } from '@soundings/contract/problem.ts';
import { Fault } from '../base/errors.ts';
import { type Ended, type Limits, runConfined } from './confined.ts';
import type { FileKind } from './names.ts';
import { unread, unreadable } from './rows.ts';

/**
 * A cell: text as it stands, a number of a numeric cell, true/false of a boolean cell; dates come as text (YYYY-MM-DD, or
 * YYYY-MM-DD HH:MM:SS when a time is there, or HH:MM:SS alone); an error as Excel shows it, #N/A; null: empty.
 */
export type Cell = string | number | boolean | null;

/**
 * `rows[i]` is row i + 1 of the sheet as a person sees it (of a CSV: record i + 1); rows may be shorter than others; empty
 * rows are []. The sheet of a CSV has no name.
 */
export type Sheet = { name: string; rows: Cell[][] };

/** What reading a file may take: at most 512 MB of memory and 30 s. */
export const readingLimits: Limits = {
  memory: 480e6, // it may have some more by the time that is seen
  heap: 320 * 2 ** 20,
  milliseconds: 30_000,
  output: 64 * 2 ** 20,
};

/** What the child answers, a line each: a fault, or sheets and their rows. */
export type Line =
  { fault: { message: string; details: Detail[]; cause?: string } } | { sheet: string } | Cell[];

/**
 * Reads a file: all sheets that are not hidden, with rows and columns that are. Throws a Fault: `unreadable file`, in words
 * for whoever sent it, where the content is not of the kind, is damaged, or exceeds a limit; unavailable when reading was
 * stopped from outside, and may be tried again.
 */
export async function readSheets(bytes: Buffer, kind: FileKind, within = readingLimits): Promise<Sheet[]> {
  const module = new URL('sheet.child.ts', import.meta.url);
  const ended = await runConfined(module, [kind], bytes, within);
  if ('end' in ended) throw faultOf(ended.end);
  return sheetsOf(ended.output);
}

function sheetsOf(output: Buffer): Sheet[] {
  const sheets: Sheet[] = [];
  for (let at = 0, end; (end = output.indexOf(10, at)) >= 0; at = end + 1) {
    const line = JSON.parse(output.toString('utf8', at, end)) as Line;
    if (Array.isArray(line)) sheets.at(-1)?.rows.push(line);
    else if ('sheet' in line) sheets.push({ name: line.sheet, rows: [] });
    else throw new Fault('invalid', 'unreadable file', line.fault.message, line.fault);
  }
  return sheets;
}

function faultOf(end: Extract<Ended, { end: unknown }>['end']): Fault {
  const remedy = 'Keep only the list, in a file of its own, or save it as CSV.';
  switch (end) {
    case 'memory':
      return unreadable(`Reading the file takes more than 512 MB of memory. ${remedy}`);
    case 'time':
      return unreadable(`Reading the file takes longer than 30 seconds. ${remedy}`);
    case 'output':
      return unreadable(`The file holds more than 64 MB of text. ${remedy}`);
    case 'crash':
      return unread('The process has crashed');
    case 'stopped':
      return new Fault(
        'unavailable',
        'file not processed',
        'Reading the file was stopped. It can be tried again.',
      );
  }
}
