// Rows as they are read, within the limits that customers see: empty cells are null, and no row or sheet ends with what is
// empty. What exceeds a limit is refused with its place.
import { maxCellLength, maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { Cell, Sheet } from './sheet.ts';

/** Where in a file; rows and columns are counted from 1. A sheet without a name is all of its file. */
export type Place = { sheet: string; row?: number; column?: number };

/** A file that cannot be read, in words for whoever sent it; the cause is for us. */
export function unreadable(message: string, place?: Place, cause?: unknown): Fault {
  const { sheet, row } = place ?? {};
  const detail = { type: 'unreadable file', message, ...(sheet && { sheet }), ...(row && { row }) };
  return new Fault('invalid', 'unreadable file', message, { details: [detail], cause });
}

/** What it returns; whatever it throws beside Faults comes of what is in the workbook. */
export function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Fault ? error : damaged(error);
  }
}

/** What can't be read for no reason that is known: the cause is a defect of ours, or of what we read with. */
export const unread = (cause: unknown): Fault =>
  unreadable(
    "The file can't be read. Open it in Excel, save it again as an Excel workbook (.xlsx) or as CSV, and send that.",
    undefined,
    cause,
  );

/** A fault for whatever a reader has thrown: whoever sent the file is to read what to do, and never of our code. */
export const faultOf = (error: unknown): Fault => (error instanceof Fault ? error : unread(error));

export const damaged = (cause?: unknown): Fault =>
  unreadable(
    'The workbook is damaged, perhaps cut off on its way. Open it in Excel, save it again as .xlsx, and send that.',
    undefined,
    cause,
  );

export const lockedMessage =
  'The workbook is protected with a password. Save it without one, and send it again.';
export const locked = (): Fault => unreadable(lockedMessage);

/** The most sheets of a workbook, hidden ones included. */
const maxSheets = 255;

/** Throws a Fault where a workbook has more sheets than are read, or two of one name. */
export function refuseSheets(names: string[]): void {
  if (names.length > maxSheets) {
    throw unreadable(
      `The workbook has more than ${maxSheets} sheets. Keep only the lists, in a workbook of their own.`,
    );
  }
  if (new Set(names).size < names.length) throw damaged('Two sheets of one name');
}

export type Filling = {
  readonly sheet: Sheet;
  /** Sets a cell by the indexes of its row and column, in any order. Throws a Fault where it is beyond a limit. */
  put(row: number, column: number, cell: Cell | undefined): void;
};

/** A sheet that is filled cell by cell. */
export function newSheet(name: string): Filling {
  const rows: Cell[][] = [];
  return {
    sheet: { name, rows },
    put(at, column, cell) {
      if (cell === undefined || cell === null || cell === '') return;
      const place = { sheet: name, row: at + 1 };
      if (column >= maxSheetColumns) throw tooManyColumns(place);
      if (at >= maxSheetRows) throw tooManyRows(name);
      if (typeof cell === 'string' && cell.length > maxCellLength) {
        throw tooLong({ ...place, column: column + 1 });
      }
      while (rows.length <= at) rows.push([]);
      const row = rows[at] as Cell[];
      while (row.length < column) row.push(null);
      row[column] = cell;
    },
  };
}

export const tooManyRows = (sheet: string): Fault =>
  unreadable(
    `${sheet === '' ? 'The file' : `The sheet ${quote(sheet)}`} has more than ${inWords(maxSheetRows)} rows, which is ` +
      'the most that is read. A longer list can be sent over the organization interface.',
    { sheet },
  );

const tooManyColumns = (place: Place): Fault =>
  unreadable(
    `${placeInWords(place)} has more than ${inWords(maxSheetColumns)} columns, which is the most that is read. Leave ` +
      'out those that do not belong to the list.',
    place,
  );

const tooLong = (place: Place): Fault =>
  unreadable(
    `${placeInWords(place)} has more than ${inWords(maxCellLength)} characters, which is the most that is read. ` +
      (place.sheet === ''
        ? 'Perhaps a quotation mark (") in it or before it lacks its counterpart.'
        : 'Shorten it.'),
    place,
  );

/** As spreadsheets name it: Cell C7 of the sheet "Users". */
export function placeInWords({ sheet, row, column }: Place): string {
  const cell = column === undefined ? `Row ${row}` : `Cell ${lettersOf(column)}${row}`;
  return sheet === '' ? cell : `${cell} of the sheet ${quote(sheet)}`;
}

function lettersOf(column: number): string {
  const rest = (column - 1) % 26;
  const before = (column - 1 - rest) / 26;
  return (before > 0 ? lettersOf(before) : '') + String.fromCharCode(65 + rest);
}

const inWords = (count: number): string => count.toLocaleString('en');
