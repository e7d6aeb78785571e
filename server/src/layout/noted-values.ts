// Warns about cells that were not read as written: unknown values, phone numbers without a country code, placeholders and
// unreadable values. One warning for each column, or for each of its values, with counts. Pure.
import type { ValueField } from '@soundings/contract/people/meanings.ts';
import { formatName } from '../base/field-faults.ts';
import { quote } from '../base/text.ts';
import { placeAt, type Row, textIn } from './cells.ts';
import type { Task, ValueRows } from './entities.ts';
import type { Column } from './tables.ts';
import { shown } from './values.ts';

/** The maximum number of values, and of rows, that a warning lists. */
const maxListed = 10;

/**
 * The maximum number of rows that the warning about an ignored value lists, and the maximum number of values of a column
 * that get their own warning.
 */
const maxRows = 50;
const maxIgnored = 100;

const effects: Record<ValueField, string> = {
  active: 'existing people keep their status, and new people are created inactive',
  role: 'these cells count as empty',
  isManager: 'these cells count as empty',
};

/** Adds the warnings about the cells that the layout has collected in `task`. */
export function noteValues(task: Task): void {
  for (const [column, { field, values }] of task.unknown) noteUnknown(column, field, values, task);
  for (const [column, of] of task.local) noteLocal(column, of, task);
  for (const [column, values] of task.placeholders) notePlaceholders(column, values, task);
  for (const [column, values] of task.ignored) noteIgnored(column, values, task);
}

const byCount = (values: ValueRows) => [...values.values()].toSorted((a, b) => b.rows.length - a.rows.length);

function notePlaceholders(column: Column, values: ValueRows, { notes }: Task): void {
  const all = byCount(values);
  const [{ rows: first }] = all as [{ value: string; rows: Row[] }];
  const listed = all.slice(0, maxListed).map(({ value, rows }) => `${quote(value)} (${inRows(rows.length)})`);
  const rest = all.length > listed.length ? ` and ${formatted(all.length - listed.length)} more` : '';
  const effect = column.field === 'parent' ? '' : ', so existing values are kept';
  const message =
    `${quote(column.header)} has placeholders for missing values: ${listed.join(', ')}${rest}. They count as ` +
    `empty${effect}.`;
  const count = all.reduce((sum, { rows }) => sum + rows.length, 0);
  notes.warn({ type: 'placeholder', message, count, ...placeAt(first[0] as Row, column) });
}

/** What the cells of a column should contain, and what happens if they can't be read. */
const expected: Record<string, { what: string; instead: string }> = {
  email: {
    what: formatName('invalid email'),
    instead: 'Existing people keep their email address, and new people get none',
  },
  phone: {
    what: formatName('invalid phone'),
    instead: 'Existing people keep their phone number, and new people get none',
  },
  timezone: {
    what: formatName('invalid timezone'),
    instead: 'Existing people keep their time zone, and new people get the account’s time zone',
  },
  language: {
    what: formatName('invalid language'),
    instead: 'Existing people keep their language, and new people get the account’s language',
  },
};

/**
 * Warns about cells that can't be read, by value. The messages don't quote the values: runs keep messages longer than
 * personal data may be kept. A warning has the value in a separate field, which is deleted with the file.
 */
function noteIgnored(column: Column, values: ValueRows, { notes, reading }: Task): void {
  const allowed = reading.allowedValues.get(column.attribute ?? '');
  const { what, instead } = expected[column.field] ?? {
    what: allowed ? `one of the values ${allowed.slice(0, maxListed).map(quote).join(', ')}` : 'a value',
    instead: 'Existing values are kept',
  };
  const note = (rows: Row[], value: string | undefined) => {
    const { value: _, ...place } = placeAt(rows[0] as Row, column);
    const cells = `${formatted(rows.length)} ${rows.length === 1 ? 'cell' : 'cells'}`;
    const message =
      `${cells}${value === undefined ? ' with other values' : ''} of ${quote(column.header)}, in ${placesOf(rows, maxRows)}, ` +
      `can't be read as ${what} and ${rows.length === 1 ? 'is' : 'are'} ignored. ${instead}.`;
    notes.warn({
      type: 'ignored value',
      message,
      count: rows.length,
      ...place,
      ...(value !== undefined && { value: shown(value) }),
    });
  };
  const all = byCount(values);
  for (const { value, rows } of all.slice(0, maxIgnored)) note(rows, value);
  const others = all.slice(maxIgnored).flatMap(({ rows }) => rows);
  if (others.length > 0) note(others, undefined);
}

function noteUnknown(
  column: Column,
  field: ValueField,
  values: ReadonlyMap<string, { row: Row; count: number }>,
  { notes }: Task,
): void {
  const all = [...values.values()].toSorted((a, b) => b.count - a.count);
  const [first] = all as [{ row: Row; count: number }];
  const listed = all
    .slice(0, maxListed)
    .map(({ row, count }) => `${quote(textIn(row, column))} (${inRows(count)})`);
  const rest = all.length > listed.length ? ` and ${formatted(all.length - listed.length)} more` : '';
  const message =
    `${quote(column.header)} has ${all.length === 1 ? 'an unknown value' : 'unknown values'}: ` +
    `${listed.join(', ')}${rest}. To map ${all.length === 1 ? 'it' : 'them'}, open the file in the console and press ` +
    `“Columns and values”, or use \`npx soundings value map --field ${field}\`. Until then, ${effects[field]}.`;
  const count = all.reduce((sum, one) => sum + one.count, 0);
  notes.warn({ type: 'unknown value', message, count, ...placeAt(first.row, column) });
}

type Local = { rows: Row[]; wrong: Row[]; unsure: Row[] };

function noteLocal(column: Column, { rows, wrong, unsure }: Local, { notes, reading }: Task): void {
  const { country } = reading;
  const note = (of: Row[], what: string) => {
    if (of.length === 0) return;
    const { value: _, ...place } = placeAt(of[0] as Row, column);
    const message = `${quote(column.header)}: ${numbers(of.length)} without a country code, in ${placesOf(of)}. ${what}`;
    notes.warn({
      type: country === null ? 'local number' : 'default country',
      message,
      count: of.length,
      ...place,
    });
  };
  if (country === null) {
    const remedy =
      'They are ignored. Set a default country for the account, in the console under Settings or with ' +
      '`npx soundings account set --country SE`, or add the country codes to the file.';
    return note(rows, remedy);
  }
  note(rows, `They are read as numbers in ${country}, the account's default country.`);
  note(
    unsure,
    `They are read as numbers in ${country}, the account's default country, but may be numbers in another country that ` +
      'lack only the +. Add the country codes to the file.',
  );
  note(
    wrong,
    `They are ignored: numbers in ${country}, the account's default country, never have this length.`,
  );
}

const formatted = (count: number) => count.toLocaleString('en');
const inRows = (count: number) => `${formatted(count)} ${count === 1 ? 'row' : 'rows'}`;
const numbers = (count: number) => `${formatted(count)} ${count === 1 ? 'number' : 'numbers'}`;

/** Returns a text such as "rows 2, 5, 9 and 31 more". */
export function placesOf(rows: Row[], most = maxListed): string {
  const named = rows.slice(0, most).map(({ index }) => index + 1);
  const rest = rows.length - named.length;
  return `${rows.length === 1 ? 'row' : 'rows'} ${named.join(', ')}${rest > 0 ? ` and ${formatted(rest)} more` : ''}`;
}
