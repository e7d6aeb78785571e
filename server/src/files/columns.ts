// The columns of a file, shown to whoever is to say what they mean: each with an example and what it would be read as; and
// whether what was said can be so. Pure.
import {
  type ColumnValue,
  type MappedColumn,
  type MappedSheet,
  repeatableMeanings,
  type SheetColumns,
} from '@soundings/contract/console.runs.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import {
  columnMeanings,
  type ValueField,
  valueFields,
  type ValueMeaning,
} from '@soundings/contract/words.ts';
import { quote } from '../base/text.ts';
import { columnsOf } from './entities.ts';
import {
  type Attributes,
  attributesBy,
  type Column,
  headersIn,
  headersKey,
  headersOf,
  headerTexts,
  type Recognised,
  rowsToHeaders,
  startOf,
  tableOf,
} from './headers.ts';
import type { Knowledge } from './layout.ts';
import type { Cell, Sheet } from './sheet.ts';
import type { Kind, Meaning } from './spellings.ts';
import {
  isLocalNumber,
  maxValueLength,
  meaningOfValue,
  phoneOf,
  proposalOf,
  type SaidValues,
  shown,
  textOf,
  wordOf,
} from './values.ts';

/** As many sheets as are shown. */
const maxSheets = 20;

/** How long an example may be. */
const maxExample = 60;

/** In how many rows examples are sought. */
const maxSought = 1000;

/** So many values of a column are listed, of more only those that aren't known; from so many on they aren't even counted. */
const maxWords = 40;
const maxCounted = 1000;

/** The sheets of a file that hold anything, with their columns. Examples are from the first rows that have some. */
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
  const means = best.hasId ? meaningsOf(sheet, best, knowledge) : guessesOf(best);
  const could = alternativesOf(best, means);
  const start = startOf(sheet, best.index, best.kind);
  const isMapped = mappings.has(headersKey(texts.map(({ text }) => text)));
  const rows = sheet.rows.slice(start);
  const isPhone = (index: number) => means.get(index) === 'phone' || could.get(index) === 'phone';
  return {
    sheet: shown(sheet.name),
    row: best.index + 1,
    kind: best.kind,
    isMapped,
    isKnown: best.hasId && (isMapped || texts.every(({ index }) => means.has(index))),
    columns: texts.map(({ index, text }) => ({
      header: text,
      means: means.get(index) ?? 'ignore',
      isKnown: isMapped || means.has(index),
      couldBe: isMapped ? null : (could.get(index) ?? null),
      example: exampleIn(sheet, start, index),
      ...wordsIn(rows, index, values),
      // Of other columns only so many rows are looked at: reading numbers takes time.
      localNumbers: localNumbersIn(isPhone(index) ? rows : rows.slice(0, maxSought), index),
    })),
  };
}

/**
 * The values of a column, and how many there are. Where there are many, only the most frequent of those that aren't known in
 * some field are listed; where there are very many, none, as they are no words.
 */
function wordsIn(
  rows: Cell[][],
  index: number,
  said: SaidValues,
): { values: ColumnValue[]; valueCount: number | null } {
  const counts = new Map<string, { value: string; count: number }>();
  for (const row of rows) {
    const value = textOf(row[index]);
    if (value === '') continue;
    const one = counts.get(wordOf(value)) ?? { value, count: 0 };
    one.count++;
    counts.set(wordOf(value), one);
    if (counts.size > maxCounted) return { values: [], valueCount: null };
  }
  const all = [...counts.values()].toSorted((a, b) => b.count - a.count);
  // A longer one can't be mapped.
  const short = all.filter(({ value }) => value.length <= maxValueLength);
  const unknownIn = (field: ValueField) =>
    short.filter(({ value }) => meaningOfValue(field, value, said) === undefined).slice(0, maxWords);
  const listed = new Set(all.length <= maxWords ? short : valueFields.flatMap(unknownIn));
  return {
    values: short.filter((one) => listed.has(one)).map((one) => described(one, said)),
    valueCount: all.length,
  };
}

function described({ value, count }: { value: string; count: number }, said: SaidValues): ColumnValue {
  const byField = (of: (field: ValueField) => ValueMeaning | undefined) =>
    Object.fromEntries(valueFields.map((field) => [field, of(field) ?? null])) as ColumnValue['means'];
  return {
    value,
    count,
    means: byField((field) => meaningOfValue(field, value, said)),
    proposed: byField((field) => proposalOf(field, value)),
  };
}

/** How many cells of a column are phone numbers without a country prefix. */
const localNumbersIn = (rows: Cell[][], index: number): number =>
  rows.filter((row) => isLocalNumber(phoneOf(row[index], false))).length;

/** What columns that are not read would be read as, if others were not read so. */
function alternativesOf(
  { kind, headers }: Recognised,
  read: ReadonlyMap<number, string>,
): Map<number, string> {
  const taken = new Set(read.values());
  return new Map(
    headers.flatMap(({ index, means }) => {
      const guess = read.has(index) || !means ? undefined : guessOf(means, kind);
      return guess !== undefined && taken.has(guess) && !repeatableMeanings.includes(guess)
        ? [[index, guess] as const]
        : [];
    }),
  );
}

/** Where the headers seem to be when none are known: the first row with nearly as many texts as the one that has most. */
function likeliest({ rows }: Sheet, attributes: Attributes): Recognised {
  const counts = rows.slice(0, rowsToHeaders).map((row) => headerTexts(row).length);
  const index = counts.findIndex((count) => count > 1 && count >= 0.6 * Math.max(...counts));
  const of = (kind: Kind) => headersOf(rows[index] ?? [], kind, attributes);
  const known = (kind: Kind) => of(kind).filter(({ means }) => means).length;
  const kind = known('groups') > known('users') ? 'groups' : 'users';
  return { index, kind, headers: of(kind), hasId: false };
}

/** What the columns are read as, by where they stand; those that are not read are missing. */
function meaningsOf(sheet: Sheet, best: Recognised, { isThere }: Knowledge): Map<number, string> {
  const table = tableOf(sheet, best, { fault: () => {}, warn: () => {} }, isThere);
  const meansOf = ({ field, attribute }: Column) =>
    field === 'attribute' ? `attribute:${attribute}` : field;
  return new Map(columnsOf(table).map((column) => [column.index, meansOf(column)]));
}

/** What each header by itself is likely to mean. */
function guessesOf({ kind, headers }: Recognised): Map<number, string> {
  const allowed: readonly string[] = columnMeanings[kind];
  const guesses = new Map<number, string>();
  for (const { index, means } of headers) {
    const guess = means && guessOf(means, kind);
    const isTaken = [...guesses.values()].includes(guess ?? '') && !repeatableMeanings.includes(guess ?? '');
    if (guess === undefined || isTaken) continue;
    if (allowed.includes(guess) || guess.startsWith('attribute:')) guesses.set(index, guess);
  }
  return guesses;
}

function guessOf({ word, attribute }: Meaning, kind: Kind): string {
  if (word === 'attribute') return `attribute:${attribute}`;
  if (word === 'employeeId' || word === 'id') return 'externalId';
  if (word === 'parentName') return 'parent';
  if (word === 'groupName' || word === 'group') return kind === 'groups' ? 'name' : 'memberOf';
  if (word === 'groupId') return kind === 'groups' ? 'externalId' : 'memberOf';
  return word;
}

function exampleIn({ rows }: Sheet, start: number, index: number): string | null {
  for (const row of rows.slice(start, start + maxSought)) {
    const text = textOf(row[index]);
    if (text !== '') return text.length <= maxExample ? text : `${text.slice(0, maxExample).toWellFormed()}…`;
  }
  return null;
}

/** What is wrong with what was said of the columns of a sheet; `path` is its place. */
export function mappingFaults(
  { kind, columns }: MappedSheet,
  attributes: readonly string[],
  path: string,
): (Detail & { type: DetailType })[] {
  const seen = new Map<string, string>();
  const faults = columns.flatMap(({ header, means }, i) => {
    const fault = meaningFault({ header, means }, kind, attributes, seen);
    seen.set(means, header);
    return fault ? [{ ...fault, path: `${path}/columns/${i}/means` }] : [];
  });
  const whole = wholeFault(kind, columns);
  return whole ? [...faults, { ...whole, path: `${path}/columns` }] : faults;
}

type Found = { type: DetailType; message: string };

function meaningFault(
  { header, means }: MappedColumn,
  kind: Kind,
  attributes: readonly string[],
  seen: ReadonlyMap<string, string>,
): Found | undefined {
  if (seen.has(means) && !repeatableMeanings.includes(means)) {
    const message = `${quote(seen.get(means) ?? '')} and ${quote(header)} cannot both be this. Ignore one of them.`;
    return { type: 'repeated column', message };
  }
  if (means === 'ignore' || (columnMeanings[kind] as readonly string[]).includes(means)) return undefined;
  const isAttribute = kind === 'users' && means.startsWith('attribute:');
  if (!isAttribute) return { type: 'invalid value', message: 'A column cannot be read as this.' };
  if (attributes.includes(means.slice('attribute:'.length))) return undefined;
  return { type: 'unknown attribute', message: 'There is no such attribute.' };
}

function wholeFault(kind: Kind, columns: MappedColumn[]): Found | undefined {
  const count = (...means: string[]) => columns.filter((column) => means.includes(column.means)).length;
  const ids = kind === 'users' ? count('externalId') : count('externalId', 'name');
  if (ids === 0) {
    const what = kind === 'users' ? 'the externalIds of people' : 'the externalIds or the names of groups';
    return { type: 'unknown layout', message: `Say which column has ${what}.` };
  }
  if (columns.length - count('ignore') < 2)
    return { type: 'unknown layout', message: 'At least two columns must be read.' };
  if (count('fullName') > 0 && count('firstName', 'lastName') > 0) {
    const message = 'A column has full names. Ignore it, or ignore the columns of first and last names.';
    return { type: 'repeated column', message };
  }
  const names = count('groupName');
  if (names > 0 && names !== count('memberOf')) {
    const message =
      'There must be as many columns with the names of groups as with their ids. Ignore the others.';
    return { type: 'invalid value', message };
  }
  return undefined;
}
