// The columns of a file, shown to whoever is to say what they mean: each with an example and what it would be read as; and
// whether what was said can be so. Pure.
import {
  type MappedColumn,
  type MappedSheet,
  repeatableMeanings,
  type SheetColumns,
} from '@soundings/contract/console.runs.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { columnMeanings } from '@soundings/contract/words.ts';
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
  type Mappings,
  type Recognised,
  rowsToHeaders,
  startOf,
  tableOf,
} from './headers.ts';
import type { Sheet } from './sheet.ts';
import type { Kind, Meaning } from './spellings.ts';
import { shown, textOf } from './values.ts';

/** As many sheets as are shown. */
const maxSheets = 20;

/** How long an example may be. */
const maxExample = 60;

/** The sheets of a file that hold anything, with their columns. Examples are from the first rows that have some. */
export function columnsIn(
  sheets: Sheet[],
  attributeNames: readonly string[],
  mappings: Mappings,
): SheetColumns[] {
  const attributes = attributesBy(attributeNames);
  return sheets
    .filter(({ rows }) => rows.some((row) => headerTexts(row).length > 1))
    .slice(0, maxSheets)
    .map((sheet) => sheetColumns(sheet, attributes, mappings));
}

function sheetColumns(sheet: Sheet, attributes: Attributes, mappings: Mappings): SheetColumns {
  const best = headersIn(sheet, attributes, mappings) ?? likeliest(sheet, attributes);
  const row = sheet.rows[best.index] ?? [];
  const texts = headerTexts(row);
  const means = best.hasId ? meaningsOf(sheet, best) : guessesOf(best);
  const start = startOf(sheet, best.index, best.kind);
  const isMapped = mappings.has(headersKey(texts.map(({ text }) => text)));
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
      example: exampleIn(sheet, start, index),
    })),
  };
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
function meaningsOf(sheet: Sheet, best: Recognised): Map<number, string> {
  const table = tableOf(sheet, best, { fault: () => {}, warn: () => {} });
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
  for (const row of rows.slice(start, start + 1000)) {
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
  const names = count('groupName');
  if (names > 0 && names !== count('memberOf')) {
    const message =
      'There must be as many columns with the names of groups as with their ids. Ignore the others.';
    return { type: 'invalid value', message };
  }
  return undefined;
}
