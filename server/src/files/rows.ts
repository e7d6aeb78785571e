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

export type Filling = {
  readonly sheet: Sheet;
  /** Sets the row of an index, which is not before that of the last. Throws a Fault where it is beyond a limit. */
  set(index: number, cells: readonly Cell[]): void;
};

/** A sheet that is filled row by row. */
export function newSheet(name: string): Filling {
  const rows: Cell[][] = [];
  return {
    sheet: { name, rows },
    set(index, cells) {
      const row = rowOf(cells, { sheet: name, row: index + 1 });
      if (row.length === 0) return;
      if (index >= maxSheetRows) throw tooManyRows(name);
      while (rows.length < index) rows.push([]);
      rows[index] = row;
    },
  };
}

function rowOf(cells: readonly Cell[], place: Place): Cell[] {
  const row: Cell[] = [];
  for (const [i, cell] of cells.entries()) {
    if (cell === undefined || cell === null || cell === '') continue;
    if (i >= maxSheetColumns) throw tooManyColumns(place);
    if (typeof cell === 'string' && cell.length > maxCellLength) throw tooLong({ ...place, column: i + 1 });
    while (row.length < i) row.push(null);
    row.push(cell);
  }
  return row;
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
