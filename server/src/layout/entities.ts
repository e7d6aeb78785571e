// Groups the rows of a file by person or group, and reads their values. Each value keeps the cell that it comes from. Pure.
import { maxAttributeLength } from '@soundings/contract/limits.ts';
import { type MembershipKind, membershipKinds, type ValueField } from '@soundings/contract/shared-values.ts';
import { emailFault, type FieldFault, languageFault, lengthFault, phoneFault } from '../base/field-faults.ts';
import { withCountryPrefix } from '../base/phones.ts';
import { quote } from '../base/text.ts';
import { type Column, type Exists, type Notes, placeIn, type Table } from './headers.ts';
import type { Cell } from '../sheets/sheet.ts';
import { isLastFirst } from './header-aliases.ts';
import {
  hasCountryPrefix,
  isBeyondDigits,
  isClearMark,
  isErrorValue,
  isLocalNumber,
  isMissingWord,
  isNotId,
  isPlaceholder,
  isShortened,
  isStorable,
  languageOf,
  meaningOfValue,
  namesOf,
  partsOf,
  phoneOf,
  type MappedValues,
  shown,
  textOf,
  timeZoneOf,
  wordOf,
} from './values.ts';

/** A place in a file, with rows counted from 1. The single sheet of a CSV file has no name. */
export type FilePlace = { sheet?: string; row: number; column?: string; value?: string };

/** A row of data, by its index in the sheet. */
export type Row = { table: Table; index: number };

/** A value, and the first cell that contains it. */
export type Values = { value: string | boolean | null; row: Row; column: Column };

/** A group in a cell, with its name from the matching column of names. */
export type Entry = { group: string; name: string | undefined; row: Row; column: Column };

/** A person or group, with its rows and values. */
export type Entity = {
  id: string;
  rows: Row[];
  fields: Map<string, Values>;
  attributes: Map<string, Values>;
  /** Whether a row has a status with an unknown value. */
  hasUnknownStatus: boolean;
};

/** The settings of an account for reading cells. */
export type Reading = {
  /** The mapped values, such as what "Leave" means. */
  values: MappedValues;
  /** The country of phone numbers without a country code. */
  country: string | null;
  /** The allowed values of attributes that do not accept any text. */
  allowedValues: ReadonlyMap<string, readonly string[]>;
};

export type Person = Entity & {
  /** The groups that the person is a member of, by row. */
  groups: Entry[][];
  /** The lists in the file. An empty list clears the current one. */
  lists: Partial<Record<MembershipKind, Entry[]>>;
  /** The value of a column such as IsManager. */
  isManager: boolean | undefined;
  /** Whether a row names this person as manager. */
  isNamed: boolean;
  /** The groups of rows that have IsManager or name this person as manager. */
  manages: Entry[];
};

/** The rows of each value, by the comparable form of the value. `value` is the text in the first of these rows. */
export type ValueRows = Map<string, { value: string; rows: Row[] }>;

/** The state that the steps of a layout share. */
export type Task = {
  notes: Notes;
  reading: Reading;
  /** Columns of phone numbers that lack only the +. */
  prefixed: ReadonlySet<Column>;
  /** Unknown values by column and comparable form, each with its first row and the number of rows. */
  unknown: Map<Column, { field: ValueField; words: Map<string, { row: Row; count: number }> }>;
  /** Rows with phone numbers without a country code, by column. `wrong` are not valid in the default country. */
  local: Map<Column, { rows: Row[]; wrong: Row[]; unsure: Row[] }>;
  /** Cells with a placeholder for a missing value, such as "n/a", by column. */
  placeholders: Map<Column, ValueRows>;
  /** Cells of optional columns that can't be read, by column. */
  ignored: Map<Column, ValueRows>;
  /** Whether an existing group has this id, or a group in the file has this id or name. */
  isGroup: (id: string) => boolean;
  isThere: Exists;
  /** How many more group entries the file may have. */
  room: number;
};

/** The most group entries in one file. Without this limit, a small file could expand to billions of entries. */
export const maxEntries = 1_000_000;

// --- Cells.

const cellIn = ({ table, index }: Row, column: Column): Cell | undefined =>
  table.sheet.rows[index]?.[column.index];

export const textIn = (row: Row, column: Column): string => textOf(cellIn(row, column));

export function placeAt(row: Row, column: Column): FilePlace {
  const value = textIn(row, column);
  const place = { ...placeIn(row.table.sheet, row.index), column: column.header };
  return value === '' ? place : { ...place, value: shown(value) };
}

export const columnsOf = ({ id, fields, lists, memberOf, isManager, managers }: Table): Column[] => [
  id,
  ...fields.filter((column) => column !== id),
  ...lists,
  ...memberOf.flatMap((pair) => (pair.name ? [pair.id, pair.name] : [pair.id])),
  ...isManager,
  ...managers,
];

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
const optionalFields: ReadonlySet<string> = new Set(
  'email phone timezone language attribute description active role isManager manager'.split(' '),
);

/** Checks all cells for invalid text and formula errors. Returns the columns of phone numbers that lack only the +. */
export function inspect(table: Table, notes: Notes): Column[] {
  const rows = rowsOf(table);
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

// --- Rows of one person or group.

/** Returns the people or groups of a file, in the order of their first rows. Undefined if the file has no such sheet. */
export function entitiesOf(tables: Table[], kind: Table['kind'], task: Task): Entity[] | undefined {
  const ofKind = tables.filter((table) => table.kind === kind);
  if (ofKind.length === 0) return undefined;
  const entities = new Map<string, Entity>();
  let isEmpty = true;
  for (const row of ofKind.flatMap(rowsOf)) {
    const { table } = row;
    const id = textIn(row, table.id);
    if (id !== '' && !isClearMark(id) && (!isNotId(id) || task.isThere(kind, id))) {
      const entity: Entity = entities.get(id) ?? newEntity(id);
      entities.set(id, entity);
      entity.rows.push(row);
      readFields(entity, row, task);
    } else if (columnsOf(table).some((column) => textIn(row, column) !== '')) {
      const message = `This row has no ID. Fill in ${quote(table.id.header)}, or delete the row.`;
      task.notes.fault({ type: 'missing field', message, ...placeAt(row, table.id) });
    } else continue;
    isEmpty = false;
  }
  if (isEmpty) {
    const [{ sheet, headers }] = ofKind as [Table];
    const message =
      `The sheet has headers for ${kind} but no rows. Applying it would remove all ${kind}, so it is refused as a ` +
      'failed export. Add the rows, or remove the sheet.';
    task.notes.fault({ type: 'unknown layout', message, ...placeIn(sheet, headers) });
  }
  return [...entities.values()];
}

const newEntity = (id: string): Entity => ({
  id,
  rows: [],
  fields: new Map(),
  attributes: new Map(),
  hasUnknownStatus: false,
});

/** Reads the columns with one value each. The rows of an entity must have the same value, or none. */
function readFields(entity: Entity, row: Row, task: Task): void {
  const { id, fields, attributes } = entity;
  for (const column of row.table.fields) {
    const { field, attribute } = column;
    const set = (values: Map<string, Values>, key: string, value: Values['value']) => {
      const before = values.get(key);
      if (!before) values.set(key, { value, row, column });
      else if (before.value !== value) task.notes.fault(conflict(id, before, row, column));
    };
    const value = valueIn(row, column, task);
    if (value === undefined) {
      if (task.unknown.get(column)?.words.has(wordOf(textIn(row, column))) && field === 'active')
        entity.hasUnknownStatus = true;
    } else if (field === 'fullName') {
      const names = namesOf(String(value), isLastFirst(column.header));
      for (const [name, part] of Object.entries(names)) set(fields, name, part);
    } else if (attribute === undefined) set(fields, field, value);
    else set(attributes, attribute, value);
  }
}

function conflict(id: string, before: Values, row: Row, column: Column): Parameters<Notes['fault']>[0] {
  const { sheet } = before.row.table;
  const elsewhere = sheet === row.table.sheet ? '' : ` of the sheet ${quote(sheet.name)}`;
  const [first, second] = [quote(textIn(before.row, before.column)), quote(textIn(row, column))];
  const message =
    `Row ${before.row.index + 1}${elsewhere} has ${first} for ${quote(id)}, but this row has ${second}. Rows with the same ID ` +
    'must have the same value, or leave the cell empty.';
  return { type: 'conflicting rows', message, externalId: id, ...placeAt(row, column) };
}

const neverCleared = new Set<string>([
  'firstName',
  'lastName',
  'fullName',
  'name',
  'active',
  'timezone',
  'language',
  'role',
]);

/**
 * Returns the value of a cell. Null clears the current value. Undefined means that the cell is empty, has an error or is ignored;
 * errors and ignored cells are noted.
 */
function valueIn(row: Row, column: Column, task: Task): Values['value'] | undefined {
  const text = textIn(row, column);
  const { field } = column;
  if (text === '') return undefined;
  if (isClearMark(text)) {
    if (!neverCleared.has(field)) return null;
    const message = `${quote(column.header)} can't be cleared. Enter a value, or leave the cell empty to keep the current one.`;
    task.notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
    return undefined;
  }
  if (field === 'active') return yesOrNoIn(row, column, 'active', task);
  if (field === 'role') return meaningIn(row, column, 'role', task);
  if (field === 'parent') return isNoted(row, column, task, !task.isGroup(text)) ? undefined : text;
  if (field === 'phone') return phoneIn(row, column, task);
  return optionalFields.has(field) ? optionalIn(row, column, task) : text;
}

/** Returns the value of an optional cell. Returns undefined, and notes the cell, if it is a placeholder or can't be read. */
function optionalIn(row: Row, column: Column, task: Task): string | undefined {
  const text = textIn(row, column);
  const value = isErrorValue(text) ? undefined : readable(text, column, task);
  if (value === undefined && !isNoted(row, column, task)) note(task.ignored, row, column);
  return value;
}

/** Returns the value that a text has in a column. Undefined if it is not valid there. */
function readable(text: string, { field, attribute = '' }: Column, { reading }: Task): string | undefined {
  if (field === 'email') return unless(emailFault(text), text);
  if (field === 'timezone') return timeZoneOf(text);
  if (field === 'language') {
    const code = languageOf(text);
    return unless(languageFault(code), code);
  }
  const allowed = field === 'attribute' ? reading.allowedValues.get(attribute) : undefined;
  if (allowed) return allowedAs(text, allowed);
  if (isMissingWord(text)) return undefined;
  return field === 'attribute' ? unless(lengthFault(attribute, text, maxAttributeLength), text) : text;
}

const unless = (fault: FieldFault | undefined, text: string) => (fault ? undefined : text);

/** Returns the allowed value that equals the text, or else the only one that differs just in letter case and spaces. */
function allowedAs(text: string, allowed: readonly string[]): string | undefined {
  if (allowed.includes(text)) return text;
  const [value, ...others] = allowed.filter((one) => wordOf(one) === wordOf(text));
  return others.length === 0 ? value : undefined;
}

/** Whether a cell has a placeholder for a missing value, which is noted. `canBe` is false if the text has a meaning here. */
export function isNoted(row: Row, column: Column, task: Task, canBe = true): boolean {
  const text = textIn(row, column);
  if (!canBe || !isPlaceholder(text) || isErrorValue(text)) return false;
  note(task.placeholders, row, column);
  return true;
}

function note(noted: Map<Column, ValueRows>, row: Row, column: Column): void {
  const value = textIn(row, column);
  const values: ValueRows = noted.get(column) ?? new Map();
  noted.set(column, values);
  const one = values.get(wordOf(value));
  if (one) one.rows.push(row);
  else values.set(wordOf(value), { value, rows: [row] });
}

/** Returns what the value of a cell means. Returns undefined, and notes the cell, if that is unknown. */
function meaningIn(row: Row, column: Column, field: ValueField, task: Task): string | undefined {
  const text = textIn(row, column);
  const means = meaningOfValue(field, text, task.reading.values);
  if (means !== undefined) return means === 'ignore' ? undefined : means;
  const found = task.unknown.get(column) ?? { field, words: new Map() };
  task.unknown.set(column, found);
  const one = found.words.get(wordOf(text));
  found.words.set(wordOf(text), { row: one?.row ?? row, count: (one?.count ?? 0) + 1 });
  return undefined;
}

/** Like `meaningIn`, for a cell with yes or no. */
export function yesOrNoIn(
  row: Row,
  column: Column,
  field: 'active' | 'isManager',
  task: Task,
): boolean | undefined {
  const means = meaningIn(row, column, field, task);
  return means === undefined ? undefined : means === 'yes';
}

/** Returns a phone number with its country code. Returns undefined, and notes the cell, if there is none. */
function phoneIn(row: Row, column: Column, task: Task): string | undefined {
  const { prefixed, reading, local } = task;
  const phone = phoneOf(cellIn(row, column), prefixed.has(column));
  if (!isLocalNumber(phone)) {
    if (!phoneFault(phone)) return phone;
    if (!isNoted(row, column, task)) note(task.ignored, row, column);
    return undefined;
  }
  const found = local.get(column) ?? { rows: [], wrong: [], unsure: [] };
  local.set(column, found);
  const whole = reading.country === null ? undefined : withCountryPrefix(phone, reading.country);
  if (whole === undefined && reading.country !== null) found.wrong.push(row);
  else found.rows.push(row);
  if (whole?.isUnsure) found.unsure.push(row);
  return whole?.number;
}

/** Returns the ids and names in the sheets of groups. */
export function groupWordsIn(tables: Table[]): Set<string> {
  const columnsIn = ({ id, fields }: Table) => [id, ...fields.filter(({ field }) => field === 'name')];
  return new Set(
    tables
      .filter(({ kind }) => kind === 'groups')
      .flatMap((table) =>
        rowsOf(table).flatMap((row) => columnsIn(table).map((column) => textIn(row, column))),
      ),
  );
}

/** Returns the text of a cell with groups. Returns '', and notes the cell, if it has a placeholder for no groups. */
const groupTextIn = (row: Row, column: Column, task: Task): string => {
  const text = textIn(row, column);
  return isNoted(row, column, task, !task.isGroup(text)) ? '' : text;
};

export function personOf(entity: Entity, task: Task): Person {
  const lists: Person['lists'] = {};
  const groups = entity.rows.map((row) => {
    const { memberOf, lists: columns } = row.table;
    for (const column of columns) {
      const text = groupTextIn(row, column, task);
      if (text === '') continue;
      const list = (lists[column.field as MembershipKind] ??= []);
      for (const group of groupsIn(text, row, task)) list.push({ group, name: undefined, row, column });
    }
    // An empty cell keeps the current groups. A cell with "(empty)" gives an empty list.
    const given = memberOf
      .map((pair) => ({
        pair,
        ids: groupTextIn(row, pair.id, task),
        names: pair.name ? groupTextIn(row, pair.name, task) : '',
      }))
      .filter(({ ids, names }) => ids !== '' || names !== '');
    const entries = given.flatMap((texts) => entriesOf(row, texts, task));
    if (given.length > 0) lists.memberOf ??= [];
    for (const entry of entries) lists.memberOf?.push(entry);
    return entries;
  });
  return { ...entity, groups, lists, isManager: undefined, isNamed: false, manages: [] };
}

type GroupTexts = { pair: Table['memberOf'][number]; ids: string; names: string };

/** Returns the groups of a cell, with the names from the matching column. If there are only names, they serve as ids. */
function entriesOf(
  row: Row,
  { pair: { id, name }, ids: text, names: beside }: GroupTexts,
  task: Task,
): Entry[] {
  const ids = groupsIn(text, row, task);
  if (!name) return ids.map((group) => ({ group, name: undefined, row, column: id }));
  if (text === '') {
    return groupsIn(beside, row, task).map((group) => ({ group, name: group, row, column: name }));
  }
  const names = ids.length === 1 || beside === '' ? [beside] : partsOf(beside);
  const isNamed = beside !== '' && names.length === ids.length;
  if (beside !== '' && !isNamed && ids.length > 0) {
    const message =
      `${quote(id.header)} has ${ids.length} groups, but ${quote(name.header)} has ${names.length} names. The names are ` +
      'ignored. Enter one name for each group, in the same order.';
    task.notes.warn({ type: 'invalid value', message, ...placeAt(row, name) });
  }
  return ids.map((group, i) => ({ group, name: isNamed ? names[i] : undefined, row, column: id }));
}

/** Returns the groups or managers in the text of a cell. */
export function groupsIn(text: string, row: Row, task: Task): string[] {
  if (task.room < 0) return [];
  const groups = partsOf(text).filter((part) => !isClearMark(part));
  return hasRoom(groups.length, row, task) ? groups : [];
}

/** Whether the file may have `count` more group entries. Reports an error the first time it may not; no more are read then. */
export function hasRoom(count: number, row: Row, task: Task): boolean {
  const hadRoom = task.room >= 0;
  task.room -= count;
  if (task.room >= 0) return true;
  if (hadRoom) {
    const message = `The file has more than ${maxEntries.toLocaleString('en')} group entries up to this row, which is the maximum. Send the list over the organization interface instead.`;
    task.notes.fault({ type: 'too many values', message, ...placeIn(row.table.sheet, row.index) });
  }
  return false;
}
