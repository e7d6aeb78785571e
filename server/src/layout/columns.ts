// Describes the columns of a file to the administrator who maps them, each with an example and its proposed meaning, and
// validates the mapping. Pure.
import {
  type ColumnValue,
  type MappedColumn,
  type MappedSheet,
  repeatableMeanings,
  type SheetColumns,
} from '@soundings/contract/console/runs.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import {
  columnMeanings,
  type ValueField,
  valueFields,
  type ValueMeaning,
} from '@soundings/contract/people/meanings.ts';
import { quote } from '../base/text.ts';
import type { Cell, Sheet } from '../sheets/sheet.ts';
import type { Kind, Meaning } from './header-aliases.ts';
import {
  type Attributes,
  attributesBy,
  headersIn,
  headersKey,
  headersOf,
  headerTexts,
  type RecognizedHeaders,
  rowsToHeaders,
  startOf,
} from './headers.ts';
import type { Knowledge } from './layout.ts';
import { type Column, columnsOf, tableOf } from './tables.ts';
import {
  isLocalNumber,
  type MappedValues,
  maxValueLength,
  meaningOfValue,
  phoneOf,
  proposalOf,
  shown,
  textOf,
  valueKey,
} from './values.ts';

/** The maximum number of sheets to show. */
const maxSheets = 20;

/** The maximum length of an example. */
const maxExample = 60;

/** The number of rows to search for examples. */
const maxSearched = 1000;

/** A column with more values than this lists only unknown ones. With more than `maxCounted`, values are not counted either. */
const maxListed = 40;
const maxCounted = 1000;

/** Returns the sheets of a file that are not empty, with their columns. Examples come from the first rows that have a value. */
export function columnsIn(sheets: Sheet[], knowledge: Knowledge): SheetColumns[] {
  return sheets
    .filter(({ rows }) => rows.some((row) => headerTexts(row).length > 1))
    .slice(0, maxSheets)
    .map((sheet) => sheetColumns(sheet, attributesBy(knowledge.attributes), knowledge));
}

function sheetColumns(sheet: Sheet, attributes: Attributes, knowledge: Knowledge): SheetColumns {
  const { mappings, values } = knowledge;
  const best = headersIn(sheet, attributes, mappings) ?? likeliest(sheet, attributes);
  const row = sheet.rows[best.index] ?? [];
  const texts = headerTexts(row);
  const meanings = best.hasId ? meaningsOf(sheet, best, knowledge) : guessesOf(best);
  const could = alternativesOf(best, meanings);
  const start = startOf(sheet, best.index, best.kind);
  const isMapped = mappings.has(headersKey(texts.map(({ text }) => text)));
  const rows = sheet.rows.slice(start);
  const isPhone = (index: number) => meanings.get(index) === 'phone' || could.get(index) === 'phone';
  return {
    sheet: shown(sheet.name),
    row: best.index + 1,
    kind: best.kind,
    isMapped,
    isKnown: best.hasId && (isMapped || texts.every(({ index }) => meanings.has(index))),
    columns: texts.map(({ index, text }) => ({
      header: text,
      meaning: meanings.get(index) ?? 'ignore',
      isKnown: isMapped || meanings.has(index),
      couldBe: isMapped ? null : (could.get(index) ?? null),
      example: exampleIn(sheet, start, index),
      ...valuesIn(rows, index, values),
      // Other columns check only the first rows, because reading numbers takes time.
      localNumbers: localNumbersIn(isPhone(index) ? rows : rows.slice(0, maxSearched), index),
    })),
  };
}

/**
 * Returns the values of a column, and how many there are. If a column has many values, only those are listed that are
 * unknown to a field which the column could have, the most frequent ones of each field. A column with very many values
 * lists none, because it is not a column of fixed values.
 */
function valuesIn(
  rows: Cell[][],
  index: number,
  mapped: MappedValues,
): { values: ColumnValue[]; valueCount: number | null } {
  const counts = new Map<string, { value: string; count: number }>();
  for (const row of rows) {
    const value = textOf(row[index]);
    if (value === '') continue;
    const one = counts.get(valueKey(value)) ?? { value, count: 0 };
    one.count++;
    counts.set(valueKey(value), one);
    if (counts.size > maxCounted) return { values: [], valueCount: null };
  }
  const all = [...counts.values()].toSorted((a, b) => b.count - a.count);
  // Longer values can't be mapped.
  const short = all.filter(({ value }) => value.length <= maxValueLength);
  const unknownIn = (field: ValueField) =>
    short.filter(({ value }) => meaningOfValue(field, value, mapped) === undefined).slice(0, maxListed);
  const listed = new Set(all.length <= maxListed ? short : valueFields.flatMap(unknownIn));
  return {
    values: short.filter((one) => listed.has(one)).map((one) => described(one, mapped)),
    valueCount: all.length,
  };
}

function described({ value, count }: { value: string; count: number }, mapped: MappedValues): ColumnValue {
  const byField = (of: (field: ValueField) => ValueMeaning | undefined) =>
    Object.fromEntries(valueFields.map((field) => [field, of(field) ?? null])) as ColumnValue['meaning'];
  return {
    value,
    count,
    meaning: byField((field) => meaningOfValue(field, value, mapped)),
    proposed: byField((field) => proposalOf(field, value)),
  };
}

/** Returns how many cells of a column are phone numbers without a country code. */
const localNumbersIn = (rows: Cell[][], index: number): number =>
  rows.filter((row) => isLocalNumber(phoneOf(row[index], false))).length;

/** Returns what ignored columns would mean if no other column had that meaning. */
function alternativesOf(
  { kind, headers }: RecognizedHeaders,
  read: ReadonlyMap<number, string>,
): Map<number, string> {
  const taken = new Set(read.values());
  return new Map(
    headers.flatMap(({ index, meaning }) => {
      const guess = read.has(index) || !meaning ? undefined : guessOf(meaning, kind);
      return guess !== undefined && taken.has(guess) && !repeatableMeanings.includes(guess)
        ? [[index, guess] as const]
        : [];
    }),
  );
}

/** Guesses the header row if no header is known: the first row with nearly as many texts as the fullest row. */
function likeliest({ rows }: Sheet, attributes: Attributes): RecognizedHeaders {
  const counts = rows.slice(0, rowsToHeaders).map((row) => headerTexts(row).length);
  const index = counts.findIndex((count) => count > 1 && count >= 0.6 * Math.max(...counts));
  const of = (kind: Kind) => headersOf(rows[index] ?? [], kind, attributes);
  const known = (kind: Kind) => of(kind).filter(({ meaning }) => meaning).length;
  const kind = known('groups') > known('users') ? 'groups' : 'users';
  return { index, kind, headers: of(kind), hasId: false };
}

/** Returns what each column that is read means, by its index. */
function meaningsOf(sheet: Sheet, best: RecognizedHeaders, { isThere }: Knowledge): Map<number, string> {
  const table = tableOf(sheet, best, { fault: () => {}, warn: () => {} }, isThere);
  const meaningOf = ({ field, attribute }: Column) =>
    field === 'attribute' ? `attribute:${attribute}` : field;
  return new Map(columnsOf(table).map((column) => [column.index, meaningOf(column)]));
}

/** Returns the likely meaning of each header, without regard to the values. */
function guessesOf({ kind, headers }: RecognizedHeaders): Map<number, string> {
  const allowed: readonly string[] = columnMeanings[kind];
  const guesses = new Map<number, string>();
  for (const { index, meaning } of headers) {
    const guess = meaning && guessOf(meaning, kind);
    const isTaken = [...guesses.values()].includes(guess ?? '') && !repeatableMeanings.includes(guess ?? '');
    if (guess === undefined || isTaken) continue;
    if (allowed.includes(guess) || guess.startsWith('attribute:')) guesses.set(index, guess);
  }
  return guesses;
}

function guessOf({ name, attribute }: Meaning, kind: Kind): string {
  if (name === 'attribute') return `attribute:${attribute}`;
  if (name === 'employeeId' || name === 'id') return 'externalId';
  if (name === 'parentName') return 'parent';
  if (name === 'groupName' || name === 'group') return kind === 'groups' ? 'name' : 'memberOf';
  if (name === 'groupId') return kind === 'groups' ? 'externalId' : 'memberOf';
  return name;
}

function exampleIn({ rows }: Sheet, start: number, index: number): string | null {
  for (const row of rows.slice(start, start + maxSearched)) {
    const text = textOf(row[index]);
    if (text !== '') return text.length <= maxExample ? text : `${text.slice(0, maxExample).toWellFormed()}…`;
  }
  return null;
}

/** Returns the errors in the mapping of a sheet. `path` is the JSON pointer to the sheet. */
export function mappingFaults(
  { kind, columns }: MappedSheet,
  attributes: readonly string[],
  path: string,
): (Detail & { type: DetailType })[] {
  const seen = new Map<string, string>();
  const faults = columns.flatMap(({ header, meaning }, i) => {
    const fault = meaningFault({ header, meaning }, kind, attributes, seen);
    seen.set(meaning, header);
    return fault ? [{ ...fault, path: `${path}/columns/${i}/meaning` }] : [];
  });
  const whole = wholeFault(kind, columns);
  return whole ? [...faults, { ...whole, path: `${path}/columns` }] : faults;
}

type Found = { type: DetailType; message: string };

function meaningFault(
  { header, meaning }: MappedColumn,
  kind: Kind,
  attributes: readonly string[],
  seen: ReadonlyMap<string, string>,
): Found | undefined {
  if (seen.has(meaning) && !repeatableMeanings.includes(meaning)) {
    const message = `${quote(seen.get(meaning) ?? '')} and ${quote(header)} have the same meaning. Ignore one of them.`;
    return { type: 'repeated column', message };
  }
  if (meaning === 'ignore' || (columnMeanings[kind] as readonly string[]).includes(meaning)) return undefined;
  const isAttribute = kind === 'users' && meaning.startsWith('attribute:');
  if (!isAttribute) {
    return {
      type: 'invalid value',
      message: `Invalid meaning for ${quote(header)}. Choose one from the list.`,
    };
  }
  const attribute = meaning.slice('attribute:'.length);
  if (attributes.includes(attribute)) return undefined;
  return {
    type: 'unknown attribute',
    message: `Attribute ${quote(attribute)} does not exist. Create it first.`,
  };
}

function wholeFault(kind: Kind, columns: MappedColumn[]): Found | undefined {
  const count = (...meanings: string[]) => columns.filter(({ meaning }) => meanings.includes(meaning)).length;
  const ids = kind === 'users' ? count('externalId') : count('externalId', 'name');
  if (ids === 0) {
    const what = kind === 'users' ? 'the IDs of people' : 'the IDs or names of groups';
    return { type: 'unknown layout', message: `Choose which column contains ${what}.` };
  }
  if (columns.length - count('ignore') < 2)
    return { type: 'unknown layout', message: 'Choose a meaning for at least two columns.' };
  if (count('fullName') > 0 && count('firstName', 'lastName') > 0) {
    const message =
      'Names appear both as full names and as first or last names. Ignore the full names, or the first and last names.';
    return { type: 'repeated column', message };
  }
  const names = count('groupName');
  if (names > 0 && names !== count('memberOf')) {
    const message =
      'The number of columns with group names differs from the number of columns with group IDs. Ignore the extra ones.';
    return { type: 'invalid value', message };
  }
  return undefined;
}
