// Builds the rows of a sheet within the documented limits. Empty cells are null, and empty cells and rows at the end are
// dropped. A cell beyond a limit is an error that names its place.
import { maxCellLength, maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { Cell, Sheet } from './sheet.ts';

/** A place in a file, with rows and columns counted from 1. The single sheet of a CSV file has no name. */
export type Place = { sheet: string; row?: number; column?: number };

/** Returns the Fault for a file that can't be read. The message is for the sender, the cause for the log. */
export function unreadable(message: string, place?: Place, cause?: unknown): Fault {
  const { sheet, row } = place ?? {};
  const detail = { type: 'unreadable file', message, ...(sheet && { sheet }), ...(row && { row }) };
  return new Fault('invalid', 'unreadable file', message, { details: [detail], cause });
}

/** Runs `read`. Any error other than a Fault means that the workbook is damaged. */
export function orDamaged<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof Fault ? error : damaged(error);
  }
}

/** The file can't be read for an unknown reason: a bug in our code or in a library. */
export const unread = (cause: unknown): Fault =>
  unreadable(
    "The file can't be read. Open it in Excel, save it as a new Excel workbook (.xlsx) or as CSV, and send the new file.",
    undefined,
    cause,
  );

/** Turns any error of a reader into a Fault, so that the sender learns what to do and sees nothing of our code. */
export const faultOf = (error: unknown): Fault => (error instanceof Fault ? error : unread(error));

export const damaged = (cause?: unknown): Fault =>
  unreadable(
    'The workbook is damaged. The upload may have been cut off. Open it in Excel, save it as a new .xlsx file and send the new file.',
    undefined,
    cause,
  );

export const lockedMessage =
  'The workbook is protected with a password. Remove the password and send the file again.';
export const locked = (): Fault => unreadable(lockedMessage);

/** The most sheets of a workbook, hidden ones included. */
const maxSheets = 255;

/** Throws a Fault if a workbook has too many sheets, or two sheets with the same name. */
export function refuseSheets(names: string[]): void {
  if (names.length > maxSheets) {
    throw unreadable(
      `The workbook has more than ${maxSheets} sheets. Copy the lists of people and groups to a new workbook.`,
    );
  }
  if (new Set(names).size < names.length) throw damaged('Two sheets have the same name');
}

export type Filling = {
  readonly sheet: Sheet;
  /** Sets a cell by its row and column index. Cells may come in any order. Throws a Fault if the cell exceeds a limit. */
  put(row: number, column: number, cell: Cell | undefined): void;
};

/** Returns an empty sheet to fill cell by cell. */
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
    `${sheet === '' ? 'The file' : `The sheet ${quote(sheet)}`} has more than ${formatted(maxSheetRows)} rows, which is ` +
      'the maximum. Send longer lists over the organization interface.',
    { sheet },
  );

const tooManyColumns = (place: Place): Fault =>
  unreadable(
    `${placeInWords(place)} has more than ${formatted(maxSheetColumns)} columns, which is the maximum. Remove the ` +
      'columns that do not belong to the list.',
    place,
  );

const tooLong = (place: Place): Fault =>
  unreadable(
    `${placeInWords(place)} has more than ${formatted(maxCellLength)} characters, which is the maximum. ` +
      (place.sheet === ''
        ? 'Check whether a closing quotation mark (") is missing in this cell or before it.'
        : 'Shorten it.'),
    place,
  );

/** Returns a text such as: Cell C7 of the sheet "Users". */
export function placeInWords({ sheet, row, column }: Place): string {
  const cell = column === undefined ? `Row ${row}` : `Cell ${lettersOf(column)}${row}`;
  return sheet === '' ? cell : `${cell} of the sheet ${quote(sheet)}`;
}

function lettersOf(column: number): string {
  const rest = (column - 1) % 26;
  const before = (column - 1 - rest) / 26;
  return (before > 0 ? lettersOf(before) : '') + String.fromCharCode(65 + rest);
}

const formatted = (count: number): string => count.toLocaleString('en');
