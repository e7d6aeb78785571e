// The rows and cells of a table: their texts, their places in the file, and what damages them, such as formula errors and lost
// digits. Pure.
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { quote } from '../base/text.ts';
import type { Cell } from '../sheets/sheet.ts';
import { type Column, columnsOf, type Notes, placeIn, type Table } from './tables.ts';
import {
  hasCountryPrefix,
  isBeyondDigits,
  isErrorValue,
  isShortened,
  isStorable,
  shown,
  textOf,
} from './values.ts';

/** A place in a file, with rows counted from 1. The single sheet of a CSV file has no name. */
export type FilePlace = { sheet?: string; row: number; column?: string; value?: string };

/** A row of data, by its index in the sheet. */
export type Row = { table: Table; index: number };

export const cellIn = ({ table, index }: Row, column: Column): Cell | undefined =>
  table.sheet.rows[index]?.[column.index];

export const textIn = (row: Row, column: Column): string => textOf(cellIn(row, column));

export function placeAt(row: Row, column: Column): FilePlace {
  const value = textIn(row, column);
  const place = { ...placeIn(row.table.sheet, row.index), column: column.header };
  return value === '' ? place : { ...place, value: shown(value) };
}

/** Returns the rows of data below the headers. */
export function rowsOf(table: Table): Row[] {
  const { rows } = table.sheet;
  const head = rows[table.headers] ?? [];
  // Concatenated lists repeat their headers.
  const isHead = (index: number) => head.every((cell, i) => cell === (rows[index]?.[i] ?? null));
  const indexes = Array.from({ length: Math.max(rows.length - table.start, 0) }, (_, i) => table.start + i);
  return indexes.filter((index) => !isHead(index)).map((index) => ({ table, index }));
}

/** The fields whose values are ids. */
const idFields = new Set<string>(['externalId', 'parent', ...membershipKinds]);

/** Columns in which cells that can't be read are ignored, because the rest of the row makes sense without them. */
export const optionalFields: ReadonlySet<string> = new Set(
  'email phone timezone language attribute description active role isManager manager'.split(' '),
);

/** Checks all cells for invalid text and formula errors. Returns the columns of phone numbers that lack only the +. */
export function inspect(table: Table, notes: Notes): Column[] {
  const rows = rowsOf(table);
  noteCellsWithoutHeader(table, rows, notes);
  const prefixed: Column[] = [];
  for (const column of columnsOf(table)) {
    for (const row of rows) {
      const cell = cellIn(row, column);
      if (typeof cell !== 'string') continue;
      if (!isStorable(cell)) {
        const message = 'The text contains invalid characters. Enter it again.';
        notes.fault({ type: 'invalid text', message, ...placeAt(row, column) });
      } else if (isErrorValue(cell) && !optionalFields.has(column.field)) {
        const message = 'The formula in this cell has an error. Fix it, or enter the value itself.';
        notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
      }
    }
    if (idFields.has(column.field) || column === table.id) noteNumbers(rows, column, notes);
    if (column.field !== 'phone') continue;
    // One number without a country code shows that the others have none either, even if they seem to.
    if (noteNumbers(rows, column, notes).every(hasCountryPrefix)) prefixed.push(column);
  }
  return prefixed;
}

/** Warns, once for a table, about values in columns without a header. Their values may be notes about people, so the warning has none of them. */
function noteCellsWithoutHeader({ sheet, headers, start }: Table, rows: Row[], notes: Notes): void {
  const heads = sheet.rows.slice(headers, start);
  const hasHeader = (column: number) => heads.some((head) => textOf(head[column]) !== '');
  const width = rows.reduce((most, { index }) => Math.max(most, sheet.rows[index]?.length ?? 0), 0);
  const columns = Array.from({ length: width }, (_, i) => i).filter((i) => !hasHeader(i));
  if (columns.length === 0) return;
  const found = rows.filter(({ index }) => {
    const row = sheet.rows[index] as Cell[];
    return columns.some((column) => column < row.length && textOf(row[column]) !== '');
  });
  const [first] = found;
  if (!first) return;
  const [what, ignored] =
    found.length === 1
      ? ['A row has a value', 'The value is ignored.']
      : [`${found.length} rows have values`, 'The values are ignored.'];
  const remedy =
    sheet.name === ''
      ? 'If a value in the row contains the delimiter, put that value in quotation marks ("). Otherwise the values after it are in the wrong columns.'
      : 'To have the column read, enter a header above it.';
  notes.warn({
    type: 'cell without header',
    message: `${what} in a column without a header. ${ignored} ${remedy}`,
    ...placeIn(sheet, first.index),
  });
}

/**
 * Warns, once per column, about ids and phone numbers that are stored as numbers, and returns them as text. Ids that have lost
 * digits are errors. In an optional column such cells are ignored later.
 */
export function noteNumbers(rows: Row[], column: Column, notes: Notes): string[] {
  const numbers: string[] = [];
  for (const row of rows) {
    const cell = cellIn(row, column);
    const remedy = 'Format the column as text and enter the values again.';
    const isId = !optionalFields.has(column.field);
    if (isId && typeof cell === 'string' && isShortened(cell)) {
      const message = `A spreadsheet program has shortened this number, and its last digits are lost. ${remedy}`;
      notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
    }
    if (typeof cell !== 'number') continue;
    if (numbers.push(textOf(cell)) === 1) {
      const message = `${quote(column.header)} contains numbers, so leading zeros, as in 00123, are lost. ${remedy}`;
      notes.warn({ type: 'number as text', message, ...placeAt(row, column) });
    }
    if (!isId || !isBeyondDigits(cell)) continue;
    const message = `Spreadsheet programs keep only 15 digits of a number. The rest have become zeros. ${remedy}`;
    notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
  }
  return numbers;
}
