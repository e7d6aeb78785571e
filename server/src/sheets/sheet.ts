// Reads CSV files and workbooks: the rows as a person sees them. Files are read in a child process, so that no file can crash
// the service, exhaust its memory or block it.
import type { Detail } from '@soundings/contract/problem.ts';
import { Fault } from '../base/errors.ts';
import { moduleAt } from '../base/places.ts';
import { type Ended, type Limits, runConfined } from './confined.ts';
import { unread, unreadable } from './faults.ts';
import type { FileKind } from './file-names.ts';

/**
 * The value of a cell: text as written, a number or a boolean. Dates are text (YYYY-MM-DD, YYYY-MM-DD HH:MM:SS or HH:MM:SS).
 * Errors are text as Excel shows them, such as #N/A. Empty cells are null.
 */
export type Cell = string | number | boolean | null;

/**
 * `rows[i]` is row i + 1 of the sheet as a person sees it, or record i + 1 of a CSV file. Rows may differ in length, and empty
 * rows are []. The single sheet of a CSV file has the name ''.
 */
export type Sheet = { name: string; rows: Cell[][] };

/** The limits for reading a file: 512 MB of memory and 30 s. */
export const readingLimits: Limits = {
  memory: 480e6, // Leaves room for what the process allocates between two checks.
  heap: 320 * 2 ** 20,
  milliseconds: 30_000,
  output: 64 * 2 ** 20,
};

/** A line of the child's output: an error, or the name of a sheet followed by its rows. */
export type SheetLine =
  { fault: { message: string; details: Detail[]; cause?: string } } | { sheet: string } | Cell[];

/**
 * Reads a file: all visible sheets, including their hidden rows and columns. Throws a Fault (unreadable file) for the sender if
 * the content is of another type, is damaged or exceeds a limit. Throws a Fault (unavailable) if the process was killed from
 * outside, so that a retry may succeed.
 */
export async function readSheets(bytes: Buffer, kind: FileKind, within = readingLimits): Promise<Sheet[]> {
  const module = moduleAt('sheets/sheet.child');
  const ended = await runConfined(module, [kind], bytes, within);
  if ('end' in ended) throw faultOf(ended.end);
  return sheetsOf(ended.output);
}

function sheetsOf(output: Buffer): Sheet[] {
  const sheets: Sheet[] = [];
  for (let at = 0, end; (end = output.indexOf(10, at)) >= 0; at = end + 1) {
    const line = JSON.parse(output.toString('utf8', at, end)) as SheetLine;
    if (Array.isArray(line)) sheets.at(-1)?.rows.push(line);
    else if ('sheet' in line) sheets.push({ name: line.sheet, rows: [] });
    else throw new Fault('invalid', 'unreadable file', line.fault.message, line.fault);
  }
  return sheets;
}

function faultOf(end: Extract<Ended, { end: unknown }>['end']): Fault {
  const remedy = 'Copy the list to a new file, or save it as CSV.';
  switch (end) {
    case 'memory':
      return unreadable(`Reading the file takes more than 512 MB of memory. ${remedy}`);
    case 'time':
      return unreadable(`Reading the file takes longer than 30 seconds. ${remedy}`);
    case 'output':
      return unreadable(`The file contains more than 64 MB of text. ${remedy}`);
    case 'crash':
      return unread('The process has crashed');
    case 'stopped':
      return new Fault('unavailable', 'file not processed', 'Reading the file was interrupted. Try again.');
  }
}
