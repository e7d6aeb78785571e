// Groups the rows of a file by person or group, and reads their values. Each value keeps the cell that it comes from. Pure.
import { maxAttributeLength } from '@soundings/contract/limits.ts';
import type { ValueField } from '@soundings/contract/people/meanings.ts';
import { emailFault, type FieldFault, languageFault, lengthFault, phoneFault } from '../base/field-faults.ts';
import { withCountryPrefix } from '../base/messages/phones.ts';
import { quote } from '../base/text.ts';
import { cellIn, optionalFields, placeAt, type Row, rowsOf, textIn } from './cells.ts';
import { isLastFirst } from './header-aliases.ts';
import { type Column, columnsOf, type Exists, type Notes, placeIn, type Table } from './tables.ts';
import {
  isClearMark,
  isErrorValue,
  isLocalNumber,
  isMissingValue,
  isNotId,
  isPlaceholder,
  languageOf,
  type MappedValues,
  meaningOfValue,
  namesOf,
  phoneOf,
  timeZoneOf,
  valueKey,
} from './values.ts';

/** A value, and the first cell that contains it. */
export type Values = { value: string | boolean | null; row: Row; column: Column };

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

/** The rows of each value, by the comparable form of the value. `value` is the text in the first of these rows. */
export type ValueRows = Map<string, { value: string; rows: Row[] }>;

/** The state that the steps of a layout share. */
export type Task = {
  notes: Notes;
  reading: Reading;
  /** Columns of phone numbers that lack only the +. */
  prefixed: ReadonlySet<Column>;
  /** Unknown values by column and comparable form, each with its first row and the number of rows. */
  unknown: Map<Column, { field: ValueField; values: Map<string, { row: Row; count: number }> }>;
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
      `The sheet has headers for ${kind} but no rows. Applying it would remove all ${kind}, so the file is refused. The ` +
      'export has probably failed. Add the rows, or remove the sheet.';
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
      if (task.unknown.get(column)?.values.has(valueKey(textIn(row, column))) && field === 'active')
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
  if (isMissingValue(text)) return undefined;
  return field === 'attribute' ? unless(lengthFault(attribute, text, maxAttributeLength), text) : text;
}

const unless = (fault: FieldFault | undefined, text: string) => (fault ? undefined : text);

/** Returns the allowed value that equals the text, or else the only one that differs just in letter case and spaces. */
function allowedAs(text: string, allowed: readonly string[]): string | undefined {
  if (allowed.includes(text)) return text;
  const [value, ...others] = allowed.filter((one) => valueKey(one) === valueKey(text));
  return others.length === 0 ? value : undefined;
}

/**
 * Whether a cell contains a placeholder for a missing value. If so, notes the cell. `canBe` is false if the text has a
 * meaning in this column.
 */
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
  const one = values.get(valueKey(value));
  if (one) one.rows.push(row);
  else values.set(valueKey(value), { value, rows: [row] });
}

/** Returns what the value of a cell means. Returns undefined, and notes the cell, if that is unknown. */
function meaningIn(row: Row, column: Column, field: ValueField, task: Task): string | undefined {
  const text = textIn(row, column);
  const meaning = meaningOfValue(field, text, task.reading.values);
  if (meaning !== undefined) return meaning === 'ignore' ? undefined : meaning;
  const found = task.unknown.get(column) ?? { field, values: new Map() };
  task.unknown.set(column, found);
  const one = found.values.get(valueKey(text));
  found.values.set(valueKey(text), { row: one?.row ?? row, count: (one?.count ?? 0) + 1 });
  return undefined;
}

/** Like `meaningIn`, for a cell with yes or no. */
export function yesOrNoIn(
  row: Row,
  column: Column,
  field: 'active' | 'isManager',
  task: Task,
): boolean | undefined {
  const meaning = meaningIn(row, column, field, task);
  return meaning === undefined ? undefined : meaning === 'yes';
}

/**
 * Returns a phone number with its country code. Returns undefined, and notes the cell, if it contains no phone number or
 * the country code is unknown.
 */
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
