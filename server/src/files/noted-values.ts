// What a report says of cells that were not read as they stand: values that aren't known, phone numbers without a country
// prefix, placeholders, and what can't be read. One warning for each column, or for each value of it, with counts. Pure.
import { quote } from '../base/text.ts';
import type { ValueField } from '@soundings/contract/words.ts';
import { placeAt, type Row, type Task, textIn, type ValueRows } from './entities.ts';
import type { Column } from './headers.ts';
import { shown } from './values.ts';

/** As many values, and as many rows, as are named. */
const mostNamed = 10;

/** Of a value that is ignored so many rows are named, and so many values of a column have a warning of their own. */
const mostRows = 50;
const mostIgnored = 100;

const kept: Record<ValueField, string> = {
  active: 'People who are there already stay as they are, and new people are created inactive',
  role: 'These cells count as empty',
  isManager: 'These cells count as empty',
};

/** Warns of what the columns of a file hold that is not known. */
export function noteValues(task: Task): void {
  for (const [column, { field, words }] of task.unknown) noteUnknown(column, field, words, task);
  for (const [column, of] of task.local) noteLocal(column, of, task);
  for (const [column, values] of task.placeholders) notePlaceholders(column, values, task);
  for (const [column, values] of task.ignored) noteIgnored(column, values, task);
}

const byCount = (values: ValueRows) => [...values.values()].toSorted((a, b) => b.rows.length - a.rows.length);

function notePlaceholders(column: Column, values: ValueRows, { notes }: Task): void {
  const all = byCount(values);
  const [{ rows: first }] = all as [{ value: string; rows: Row[] }];
  const listed = all.slice(0, mostNamed).map(({ value, rows }) => `${quote(value)} (${inRows(rows.length)})`);
  const rest = all.length > listed.length ? ` and ${inWords(all.length - listed.length)} more` : '';
  const effect = column.field === 'parent' ? '' : ': what is there already stays as it is';
  const message =
    `${quote(column.header)} has cells that only say that there is no value: ${listed.join(', ')}${rest}. They count as ` +
    `empty${effect}.`;
  const count = all.reduce((sum, { rows }) => sum + rows.length, 0);
  notes.warn({ type: 'placeholder', message, count, ...placeAt(first[0] as Row, column) });
}

/** What the cells of a column should be, and what people have instead where they can't be read. */
const meant: Record<string, { what: string; instead: string }> = {
  email: {
    what: 'an email address',
    instead: 'people who are there already keep their email address, and new people have none',
  },
  phone: {
    what: 'a phone number',
    instead: 'people who are there already keep their phone number, and new people have none',
  },
  timezone: {
    what: 'a time zone such as Europe/Stockholm',
    instead: 'people who are there already keep their time zone, and new people have that of the account',
  },
  language: {
    what: 'a language such as sv or Swedish',
    instead: 'people who are there already keep their language, and new people have that of the account',
  },
};

/**
 * Warns of cells that can't be read, by their values. The messages don't quote these: runs keep them longer than the people
 * may stay, and the value beside a message only as long as the file is kept.
 */
function noteIgnored(column: Column, values: ValueRows, { notes, reading }: Task): void {
  const allowed = reading.allowedValues.get(column.attribute ?? '');
  const { what, instead } = meant[column.field] ?? {
    what: allowed ? `one of the values ${allowed.slice(0, mostNamed).map(quote).join(', ')}` : 'a value',
    instead: 'what is there already stays as it is',
  };
  const note = (rows: Row[], value: string | undefined) => {
    const { value: _, ...place } = placeAt(rows[0] as Row, column);
    const cells = `${inWords(rows.length)} ${rows.length === 1 ? 'cell' : 'cells'}`;
    const message =
      `${cells}${value === undefined ? ' with other values' : ''} of ${quote(column.header)}, in ${placesOf(rows, mostRows)}, ` +
      `can't be read as ${what}, and ${rows.length === 1 ? 'is' : 'are'} ignored: ${instead}.`;
    notes.warn({
      type: 'ignored value',
      message,
      count: rows.length,
      ...place,
      ...(value !== undefined && { value: shown(value) }),
    });
  };
  const all = byCount(values);
  for (const { value, rows } of all.slice(0, mostIgnored)) note(rows, value);
  const others = all.slice(mostIgnored).flatMap(({ rows }) => rows);
  if (others.length > 0) note(others, undefined);
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

type Local = { rows: Row[]; wrong: Row[]; unsure: Row[] };

function noteLocal(column: Column, { rows, wrong, unsure }: Local, { notes, reading }: Task): void {
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
    unsure,
    `They are read as numbers of ${country}, the default country of the account, but could also be numbers of another ` +
      'country that lack only the +. Write them with their prefix.',
  );
  note(
    wrong,
    `They are not read: ${country}, the default country of the account, has no numbers of this length.`,
  );
}

const inWords = (count: number) => count.toLocaleString('en');
const inRows = (count: number) => `${inWords(count)} ${count === 1 ? 'row' : 'rows'}`;
const numbers = (count: number) => `${inWords(count)} ${count === 1 ? 'number' : 'numbers'}`;

/** The rows, such as: rows 2, 5, 9 and 31 more. */
export function placesOf(rows: Row[], most = mostNamed): string {
  const named = rows.slice(0, most).map(({ index }) => index + 1);
  const rest = rows.length - named.length;
  return `${rows.length === 1 ? 'row' : 'rows'} ${named.join(', ')}${rest > 0 ? ` and ${inWords(rest)} more` : ''}`;
}
