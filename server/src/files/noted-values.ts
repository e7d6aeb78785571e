// What a report says of values that are not known and of phone numbers without a country prefix: one warning for each column,
// with counts, and what to do. Pure.
import { quote } from '../base/text.ts';
import type { ValueField } from '@soundings/contract/words.ts';
import { placeAt, type Row, type Task, textIn } from './entities.ts';
import type { Column } from './headers.ts';

/** As many values, and as many rows, as are named. */
const mostNamed = 10;

const kept: Record<ValueField, string> = {
  active: 'People who are there already stay as they are, and new people are created inactive',
  role: 'These cells count as empty',
  isManager: 'These cells count as empty',
};

/** Warns of what the columns of a file hold that is not known. */
export function noteValues(task: Task): void {
  for (const [column, { field, words }] of task.unknown) noteUnknown(column, field, words, task);
  for (const [column, { rows, wrong }] of task.local) noteLocal(column, rows, wrong, task);
}

function noteUnknown(
  column: Column,
  field: ValueField,
  words: ReadonlyMap<string, { row: Row; count: number }>,
  { notes }: Task,
): void {
  const all = [...words.values()].toSorted((a, b) => b.count - a.count);
  const [first] = all as [{ row: Row; count: number }];
  const listed = all
    .slice(0, mostNamed)
    .map(({ row, count }) => `${quote(textIn(row, column))} (${inRows(count)})`);
  const rest = all.length > listed.length ? ` and ${inWords(all.length - listed.length)} more` : '';
  const message =
    `${quote(column.header)} has ${all.length === 1 ? 'a value that is not known' : 'values that are not known'}: ` +
    `${listed.join(', ')}${rest}. ${kept[field]} until you say what they mean: open the file in the console and press ` +
    `“Columns and values”, or use \`npx soundings value map --field ${field}\`.`;
  const count = all.reduce((sum, one) => sum + one.count, 0);
  notes.warn({ type: 'unknown value', message, count, ...placeAt(first.row, column) });
}

function noteLocal(column: Column, rows: Row[], wrong: Row[], { notes, reading }: Task): void {
  const { country } = reading;
  const note = (of: Row[], what: string) => {
    if (of.length === 0) return;
    const { value: _, ...place } = placeAt(of[0] as Row, column);
    const message = `${quote(column.header)}: ${numbers(of.length)} without a country prefix, in ${placesOf(of)}. ${what}`;
    notes.warn({
      type: country === null ? 'local number' : 'default country',
      message,
      count: of.length,
      ...place,
    });
  };
  if (country === null) {
    const remedy =
      'They are not read. Set the default country of the account, in the console under Settings or with ' +
      '`npx soundings account set --country SE`, or write the numbers with their prefix.';
    return note(rows, remedy);
  }
  note(rows, `They are read as numbers of ${country}, the default country of the account.`);
  note(
    wrong,
    `They are not read: ${country}, the default country of the account, has no numbers of this length.`,
  );
}

const inWords = (count: number) => count.toLocaleString('en');
const inRows = (count: number) => `${inWords(count)} ${count === 1 ? 'row' : 'rows'}`;
const numbers = (count: number) => `${inWords(count)} ${count === 1 ? 'number' : 'numbers'}`;

function placesOf(rows: Row[]): string {
  const named = rows.slice(0, mostNamed).map(({ index }) => index + 1);
  const rest = rows.length - named.length;
  return `${rows.length === 1 ? 'row' : 'rows'} ${named.join(', ')}${rest > 0 ? ` and ${inWords(rest)} more` : ''}`;
}
