// Builds the rows of a sheet within the documented limits. Empty cells are null, and empty cells and rows at the end are
// dropped. A cell beyond a limit is an error that names its place.
import { maxCellLength, maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import type { Fault } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { damaged, type Place, placeText, unreadable } from './faults.ts';
import type { Cell, Sheet } from './sheet.ts';

/** The maximum number of sheets of a workbook, including hidden ones. */
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
    `${placeText(place)} has more than ${formatted(maxSheetColumns)} columns, which is the maximum. Remove the ` +
      'columns that do not belong to the list.',
    place,
  );

const tooLong = (place: Place): Fault =>
  unreadable(
    `${placeText(place)} has more than ${formatted(maxCellLength)} characters, which is the maximum. ` +
      (place.sheet === ''
        ? 'Check whether a closing quotation mark (") is missing in this cell or before it.'
        : 'Shorten it.'),
    place,
  );

const formatted = (count: number): string => count.toLocaleString('en');
