// Turns the objects of a JSON list into rows: each value gets a column with a dotted name, such as manager.id. Pure.
import { maxSheetColumns, maxSheetRows } from '@soundings/contract/limits.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { PullFault } from './pull-fault.ts';

/** The values of an object by the names of their columns. A map, because a key can be __proto__. */
export type FlatRow = Map<string, string>;

/** Keys that describe the response and not the object: annotations of OData, and links of HAL. */
const isAbout = (key: string): boolean => key === '_links' || key === '_meta' || key.includes('@odata.');

/**
 * Returns an object as a row. Nested objects get dotted names, and several values in one place are joined with semicolons. Two usual forms
 * of attributes lose their frames: {"label": …, "value": …} is its value, and {"type": …, "attributes": {…}} is its attributes.
 */
export function flatRowOf(object: JsonObject): FlatRow {
  const row: FlatRow = new Map();
  addObject(row, '', object);
  return row;
}

function addObject(row: FlatRow, prefix: string, object: JsonObject): void {
  const entries = Object.entries(unframed(object));
  const taken = namesIn(entries);
  for (const [key, value] of entries) {
    if (!isAbout(key)) addValue(row, prefix + nameOf(key, value, taken), valueIn(value));
  }
}

function addValue(row: FlatRow, name: string, value: JsonValue): void {
  if (isJsonObject(value)) return addObject(row, `${name}.`, value);
  if (Array.isArray(value)) {
    if (value.length === 0) put(row, name, '');
    for (const one of value) addValue(row, name, valueIn(one));
    return;
  }
  put(row, name, textOf(value, name));
}

/** Adds a value to a column. Several values in one place are joined. */
function put(row: FlatRow, name: string, text: string): void {
  const before = row.get(name) ?? '';
  row.set(name, before === '' || text === '' ? before + text : `${before}; ${text}`);
}

function textOf(value: string | number | boolean | null, name: string): string {
  if (value === null) return '';
  // JSON.parse rounds such numbers, so two different IDs could become the same.
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new PullFault(
      'json',
      `${name} has a number with more than 15 digits. Let the source send it as text.`,
    );
  return String(value);
}

/** {"label": "Department", "value": …} as Personio has it. */
const isLabelled = (value: JsonValue): value is JsonObject =>
  isJsonObject(value) && Object.hasOwn(value, 'label') && Object.hasOwn(value, 'value');

const valueIn = (value: JsonValue): JsonValue => (isLabelled(value) ? (value['value'] ?? null) : value);

/** Returns a name as it is compared: first_name is First name. */
const plainOf = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Returns the label of an attribute that a company has added; undefined for others. Personio numbers them (dynamic_123). */
function labelOf(key: string, value: JsonValue): string | undefined {
  const label = isLabelled(value) && key.startsWith('dynamic_') ? value['label'] : undefined;
  return typeof label === 'string' && label.trim() !== '' ? label : undefined;
}

/** Returns how often each name is a key or a label. */
function namesIn(entries: [string, JsonValue][]): Map<string, number> {
  const taken = new Map<string, number>();
  for (const [key, value] of entries) {
    const name = plainOf(labelOf(key, value) ?? key);
    taken.set(name, (taken.get(name) ?? 0) + 1);
  }
  return taken;
}

/** Returns the name of a column: the label, which says what it is, or the key, if something else has the same name. */
function nameOf(key: string, value: JsonValue, taken: Map<string, number>): string {
  const label = labelOf(key, value);
  return label !== undefined && taken.get(plainOf(label)) === 1 ? label : key;
}

/** Returns the attributes of {"type": …, "attributes": {…}} (JSON:API, Personio) together with its other keys, except the type. */
function unframed(object: JsonObject): JsonObject {
  const { type, attributes, ...others } = object;
  if (typeof type !== 'string' || !isJsonObject(attributes)) return object;
  return Object.fromEntries([...Object.entries(others), ...Object.entries(attributes)]);
}

/** Returns the items of a list as rows. Throws a PullFault if one is not an object, or if there are more than a file can have. */
export function flatRowsOf(items: JsonValue[], before: number): FlatRow[] {
  if (before + items.length > maxSheetRows)
    throw new PullFault('large', `More than ${maxSheetRows} entries.`);
  return items.map((item, i) => {
    if (isJsonObject(item)) return flatRowOf(item);
    throw new PullFault('list', `Entry ${before + i + 1} of the list is not an object.`);
  });
}

/**
 * Returns the columns of rows, in order of appearance after the `known` ones. If there are known ones and the columns must not grow
 * (`canGrow`), they are the only ones, because a column mapping is for a set of headers. A column that is empty everywhere is left out if it is
 * only the name of an object that is null in some rows. Throws a PullFault if there are more than a file can have.
 */
export function columnsOfRows(rows: FlatRow[], known: readonly string[], canGrow = true): string[] {
  if (known.length > 0 && !canGrow) return [...known];
  const filled = new Map<string, boolean>(known.map((name) => [name, true]));
  for (const row of rows) {
    for (const [name, text] of row) filled.set(name, (filled.get(name) ?? false) || text !== '');
    // Checked for each row, because a million rows with different keys would fill the memory.
    if (filled.size > 2 * maxSheetColumns) throw tooManyColumns();
  }
  const objects = new Set([...filled.keys()].flatMap(prefixesOf));
  const columns = [...filled]
    .filter(([name, hasText]) => hasText || !objects.has(name))
    .map(([name]) => name);
  if (columns.length > maxSheetColumns) throw tooManyColumns();
  return columns;
}

/** Returns manager and manager.address for manager.address.city. */
const prefixesOf = (name: string): string[] => {
  const parts = name.split('.');
  return parts.slice(1).map((_, i) => parts.slice(0, i + 1).join('.'));
};

const tooManyColumns = () => new PullFault('large', `More than ${maxSheetColumns} different fields.`);

/**
 * Returns rows as a CSV file that reads exactly as they are. Unlike base/csv.ts, it does not protect spreadsheet programs from formulas: no
 * one downloads it. The first line declares the delimiter, so that it is not guessed.
 */
export function csvFileOf(columns: readonly string[], rows: readonly FlatRow[]): Buffer {
  const lines = [columns, ...rows.map((row) => columns.map((name) => row.get(name) ?? ''))];
  return Buffer.from(`sep=,\r\n${lines.map((cells) => `${cells.map(cellOf).join()}\r\n`).join('')}`);
}

const cellOf = (text: string): string =>
  /^\s|[",\r\n]|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
