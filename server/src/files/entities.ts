// Who and what the rows of a file speak of: the rows of one person or group together, and what they say, each value with
// the cell that says it. Pure.
import { isEmail, isLanguage, normalisePhone } from '@soundings/contract/formats.ts';
import { maxAttributeLength } from '@soundings/contract/limits.ts';
import { type MembershipKind, membershipKinds, type ValueField } from '@soundings/contract/words.ts';
import { withCountryPrefix } from '../base/phones.ts';
import { quote } from '../base/text.ts';
import { type Column, type IsThere, type Notes, placeIn, type Table } from './headers.ts';
import type { Cell } from './sheet.ts';
import { isLastFirst } from './spellings.ts';
import {
  hasCountryPrefix,
  isBeyondDigits,
  isEmptyWord,
  isErrorValue,
  isLocalNumber,
  isMissingWord,
  isNoId,
  isPlaceholder,
  isShortened,
  isStorable,
  languageOf,
  meaningOfValue,
  namesOf,
  partsOf,
  phoneOf,
  type SaidValues,
  shown,
  textOf,
  timeZoneOf,
  wordOf,
} from './values.ts';

/** A place in a file; rows are counted from 1. A file that is one sheet without a name has no sheet. */
export type FilePlace = { sheet?: string; row: number; column?: string; value?: string };

/** A row of data, by its index in the sheet. */
export type Row = { table: Table; index: number };

/** A value, and the first cell that says it. */
export type Said = { value: string | boolean | null; row: Row; column: Column };

/** A group that is named in a cell, with the name that the cell beside gives it. */
export type Entry = { group: string; name: string | undefined; row: Row; column: Column };

/** A person or group: the rows that speak of it, and what they say. */
export type Entity = {
  id: string;
  rows: Row[];
  fields: Map<string, Said>;
  attributes: Map<string, Said>;
  /** Whether a row has a status that is not known. */
  hasUnknownStatus: boolean;
};

/** What an account has said of the cells of its files. */
export type Reading = {
  /** What values such as "Leave" mean. */
  values: SaidValues;
  /** The country of phone numbers without a country prefix. */
  country: string | null;
  /** The values of those attributes that allow only some. */
  allowedValues: ReadonlyMap<string, readonly string[]>;
};

export type Person = Entity & {
  /** The groups that the person is a member of, by row. */
  groups: Entry[][];
  /** The lists that are given, an empty one clearing what is there. */
  lists: Partial<Record<MembershipKind, Entry[]>>;
  /** What a column such as IsManager says. */
  isManager: boolean | undefined;
  /** Whether a row names this person as manager. */
  isNamed: boolean;
  /** The groups of rows that say IsManager, or name this person as manager. */
  manages: Entry[];
};

/** The rows that have a value, by its word: as it stands in the first of them. */
export type ValueRows = Map<string, { value: string; rows: Row[] }>;

/** What the parts of a layout share. */
export type Task = {
  notes: Notes;
  reading: Reading;
  /** Columns of phone numbers in which the numbers lack only a +. */
  prefixed: ReadonlySet<Column>;
  /** Values that are not known, by their columns and words: the first row of each, and how many there are. */
  unknown: Map<Column, { field: ValueField; words: Map<string, { row: Row; count: number }> }>;
  /** Rows with phone numbers without a country prefix, by their columns, and those that are no numbers of the country. */
  local: Map<Column, { rows: Row[]; wrong: Row[]; unsure: Row[] }>;
  /** Cells that only say that there is no value, such as "n/a", by their columns and words. */
  placeholders: Map<Column, ValueRows>;
  /** Cells of optional columns that can't be read, by their columns and words. */
  ignored: Map<Column, ValueRows>;
  /** Whether a group of the file, or one that is there already, has an id. Of the file it may also be a name. */
  isGroup: (id: string) => boolean;
  isThere: IsThere;
  /** How many more groups may be named. */
  room: number;
};

/** So often a file may name a group, in all: a small file could else be laid out as billions of entries. */
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

/** The rows of data, beneath the headers. */
export function rowsOf(table: Table): Row[] {
  const { rows } = table.sheet;
  const head = rows[table.headers] ?? [];
  // Lists that were put together have their headers again in between.
  const isHead = (index: number) => head.every((cell, i) => cell === (rows[index]?.[i] ?? null));
  const indexes = Array.from({ length: Math.max(rows.length - table.start, 0) }, (_, i) => table.start + i);
  return indexes.filter((index) => !isHead(index)).map((index) => ({ table, index }));
}

/** The fields whose values are ids. */
const idFields = new Set<string>(['externalId', 'parent', ...membershipKinds]);

/** Columns of which a cell that can't be read is ignored: without it the others of the row still make sense. */
const optionalFields: ReadonlySet<string> = new Set(
  'email phone timezone language attribute description active role isManager manager'.split(' '),
);

/** Looks at every cell for what no value may hold. Returns the columns of phone numbers in which numbers lack only a +. */
export function inspect(table: Table, notes: Notes): Column[] {
  const rows = rowsOf(table);
  const prefixed: Column[] = [];
  for (const column of columnsOf(table)) {
    for (const row of rows) {
      const cell = cellIn(row, column);
      if (typeof cell !== 'string') continue;
      if (!isStorable(cell)) {
        const message = 'The text holds what is no character: U+0000, or half of a pair. Write it anew.';
        notes.fault({ type: 'invalid text', message, ...placeAt(row, column) });
      } else if (isErrorValue(cell) && !optionalFields.has(column.field)) {
        const message = 'A formula has found nothing here. Mend it, or write the value itself.';
        notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
      }
    }
    if (idFields.has(column.field) || column === table.id) noteNumbers(rows, column, notes);
    if (column.field !== 'phone') continue;
    // One number without a prefix shows that the others have none either, whatever they look like.
    if (noteNumbers(rows, column, notes).every(hasCountryPrefix)) prefixed.push(column);
  }
  return prefixed;
}

/**
 * Warns, once a column, of ids and phone numbers that stand in it as numbers, and returns these, written out. Ids that have
 * lost digits are faults; in an optional column they are ignored when they are read.
 */
export function noteNumbers(rows: Row[], column: Column, notes: Notes): string[] {
  const numbers: string[] = [];
  for (const row of rows) {
    const cell = cellIn(row, column);
    const remedy = 'Format the column as text, and fill it in anew.';
    const isId = !optionalFields.has(column.field);
    if (isId && typeof cell === 'string' && isShortened(cell)) {
      const message = `A spreadsheet program has shortened a long number, and its last digits are lost. ${remedy}`;
      notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
    }
    if (typeof cell !== 'number') continue;
    if (numbers.push(textOf(cell)) === 1) {
      const message = `${quote(column.header)} holds numbers: a zero at the beginning, as in 00123, is lost. ${remedy}`;
      notes.warn({ type: 'number as text', message, ...placeAt(row, column) });
    }
    if (!isId || !isBeyondDigits(cell)) continue;
    const message = `A cell keeps only 15 digits of a number; the others have become zeros. ${remedy}`;
    notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
  }
  return numbers;
}

// --- Rows of one person, or of one group.

/** The people or groups of a file, in the order of their first rows; undefined: it has no such sheet. */
export function entitiesOf(tables: Table[], kind: Table['kind'], task: Task): Entity[] | undefined {
  const ofKind = tables.filter((table) => table.kind === kind);
  if (ofKind.length === 0) return undefined;
  const entities = new Map<string, Entity>();
  let isEmpty = true;
  for (const row of ofKind.flatMap(rowsOf)) {
    const { table } = row;
    const id = textIn(row, table.id);
    if (id !== '' && !isEmptyWord(id) && (!isNoId(id) || task.isThere(kind, id))) {
      const entity: Entity = entities.get(id) ?? newEntity(id);
      entities.set(id, entity);
      entity.rows.push(row);
      readFields(entity, row, task);
    } else if (columnsOf(table).some((column) => textIn(row, column) !== '')) {
      const message = `The row does not say of whom it speaks. Fill in ${quote(table.id.header)}, or remove the row.`;
      task.notes.fault({ type: 'missing field', message, ...placeAt(row, table.id) });
    } else continue;
    isEmpty = false;
  }
  if (isEmpty) {
    const [{ sheet, headers }] = ofKind as [Table];
    const message =
      `There are headers of ${kind}, but no rows beneath them. That would remove all ${kind}, so it is taken for an ` +
      'export that has failed. Send it with its rows, or without this sheet.';
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

/** Reads the columns of one value. The rows of an entity must agree where they say something. */
function readFields(entity: Entity, row: Row, task: Task): void {
  const { id, fields, attributes } = entity;
  for (const column of row.table.fields) {
    const { field, attribute } = column;
    const said = (values: Map<string, Said>, key: string, value: Said['value']) => {
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
      for (const [name, part] of Object.entries(names)) said(fields, name, part);
    } else if (attribute === undefined) said(fields, field, value);
    else said(attributes, attribute, value);
  }
}

function conflict(id: string, before: Said, row: Row, column: Column): Parameters<Notes['fault']>[0] {
  const { sheet } = before.row.table;
  const elsewhere = sheet === row.table.sheet ? '' : ` of the sheet ${quote(sheet.name)}`;
  const [first, second] = [quote(textIn(before.row, before.column)), quote(textIn(row, column))];
  const message =
    `Row ${before.row.index + 1}${elsewhere} has ${first} for ${quote(id)}, and this row ${second}. Rows with the same id ` +
    'must have the same value, or none.';
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

/** The value of a cell; null clears what is there; undefined: the cell is empty, or a fault, or ignored, which is noted. */
function valueIn(row: Row, column: Column, task: Task): Said['value'] | undefined {
  const text = textIn(row, column);
  const { field } = column;
  if (text === '') return undefined;
  if (isEmptyWord(text)) {
    if (!neverCleared.has(field)) return null;
    const message = `${quote(column.header)} cannot be cleared. Write a value, or nothing to keep the present one.`;
    task.notes.fault({ type: 'invalid value', message, ...placeAt(row, column) });
    return undefined;
  }
  if (field === 'active') return yesOrNoIn(row, column, 'active', task);
  if (field === 'role') return meaningIn(row, column, 'role', task);
  if (field === 'parent') return isNoted(row, column, task, !task.isGroup(text)) ? undefined : text;
  if (field === 'phone') return phoneIn(row, column, task);
  return optionalFields.has(field) ? optionalIn(row, column, task) : text;
}

/** The value of an optional cell; undefined, and noted: it says that there is none, or can't be read. */
function optionalIn(row: Row, column: Column, task: Task): string | undefined {
  const text = textIn(row, column);
  const value = isErrorValue(text) ? undefined : readable(text, column, task);
  if (value === undefined && !isNoted(row, column, task)) note(task.ignored, row, column);
  return value;
}

/** What a text says in a column; undefined: nothing that could be kept. */
function readable(text: string, { field, attribute = '' }: Column, { reading }: Task): string | undefined {
  if (field === 'email') return isEmail(text) ? text : undefined;
  if (field === 'timezone') return timeZoneOf(text);
  if (field === 'language') return isLanguage(languageOf(text)) ? languageOf(text) : undefined;
  const allowed = field === 'attribute' ? reading.allowedValues.get(attribute) : undefined;
  if (allowed) return allowedAs(text, allowed);
  if (isMissingWord(text)) return undefined;
  return field === 'attribute' && text.length > maxAttributeLength ? undefined : text;
}

/** The allowed value that a text is: the same, else the only one that differs in letter case and spaces alone. */
function allowedAs(text: string, allowed: readonly string[]): string | undefined {
  if (allowed.includes(text)) return text;
  const [value, ...others] = allowed.filter((one) => wordOf(one) === wordOf(text));
  return others.length === 0 ? value : undefined;
}

/** Whether a cell only says that there is no value, which is noted. `canBe`: whether it can say so at all. */
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

/** What the value of a cell means; undefined, and noted: it is not known. */
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

/** The same of a cell that says yes or no. */
export function yesOrNoIn(
  row: Row,
  column: Column,
  field: 'active' | 'isManager',
  task: Task,
): boolean | undefined {
  const means = meaningIn(row, column, field, task);
  return means === undefined ? undefined : means === 'yes';
}

/** A phone number; undefined, and noted: it can't be read, or has no country prefix, and none is known. */
function phoneIn(row: Row, column: Column, task: Task): string | undefined {
  const { prefixed, reading, local } = task;
  const phone = phoneOf(cellIn(row, column), prefixed.has(column));
  if (!isLocalNumber(phone)) {
    if (normalisePhone(phone) !== undefined) return phone;
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

/** The ids and names of the groups that sheets of groups list. */
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

/** The text of a cell that names groups; '' where it only says that there are none, which is noted. */
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
    // An empty cell says nothing; one that says (empty) gives a list without entries.
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

/** The groups of a cell, with the names of the cell beside it. Where only names are given, they are the ids. */
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
      `${quote(id.header)} has ${ids.length} groups here, and ${quote(name.header)} ${names.length}: which is called how ` +
      'cannot be told, and the names are not used.';
    task.notes.warn({ type: 'invalid value', message, ...placeAt(row, name) });
  }
  return ids.map((group, i) => ({ group, name: isNamed ? names[i] : undefined, row, column: id }));
}

/** The groups, or managers, that the text of a cell names. */
export function groupsIn(text: string, row: Row, task: Task): string[] {
  if (task.room < 0) return [];
  const groups = partsOf(text).filter((part) => !isEmptyWord(part));
  return hasRoom(groups.length, row, task) ? groups : [];
}

/** Whether so many more groups may be named. The first that may not is a fault, and no more are read. */
export function hasRoom(count: number, row: Row, task: Task): boolean {
  const hadRoom = task.room >= 0;
  task.room -= count;
  if (task.room >= 0) return true;
  if (hadRoom) {
    const message = `Up to here the file names groups more than ${maxEntries.toLocaleString('en')} times, which is the most that is read.`;
    task.notes.fault({ type: 'too many values', message, ...placeIn(row.table.sheet, row.index) });
  }
  return false;
}
