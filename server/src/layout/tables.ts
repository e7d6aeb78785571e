// Reads the header row of each sheet as a table: which columns are read, and which of several columns with the same meaning. Pure.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import type { Cell, Sheet } from '../sheets/sheet.ts';
import { type Field, type HeaderMeaning, keyOf, type Kind, type Meaning } from './header-aliases.ts';
import {
  attributesBy,
  headersIn,
  type Mappings,
  type RecognizedHeaders,
  rowsToHeaders,
  startOf,
  userIds,
} from './headers.ts';
import { shown, textOf } from './values.ts';

/** Collects errors and warnings, each with its place in the file. */
export type Notes = {
  fault(detail: Detail & { type: DetailType }): void;
  warn(detail: Detail & { type: DetailType }): void;
};

export type Column = {
  index: number;
  /** The text of the header, shortened if it is long. */
  header: string;
  field: Field;
  /** The name of the attribute, if the field is one. */
  attribute?: string;
};

/** A sheet of users or groups, with the columns that are read. */
export type Table = {
  kind: Kind;
  sheet: Sheet;
  /** The index of the header row. Rows above it are ignored. */
  headers: number;
  /** The index of the first row of data. */
  start: number;
  /** The column that identifies a row: the id, or the name for groups without an id column. */
  id: Column;
  /** Columns with one value each, apart from the id. */
  fields: Column[];
  /** Columns with lists of groups: adminOf, inheritedAdminOf, interestOf. */
  lists: Column[];
  /** The columns with the groups that a person is a member of, each with the column of their names, if there is one. */
  memberOf: { id: Column; name: Column | undefined }[];
  isManager: Column[];
  managers: Column[];
};

/** Whether a person or group with this id exists. This helps to recognize the id column. */
export type Exists = (kind: Kind, id: string) => boolean;

/** Returns all columns that are read, the id first. */
export const columnsOf = ({ id, fields, lists, memberOf, isManager, managers }: Table): Column[] => [
  id,
  ...fields.filter((column) => column !== id),
  ...lists,
  ...memberOf.flatMap((pair) => (pair.name ? [pair.id, pair.name] : [pair.id])),
  ...isManager,
  ...managers,
];

/**
 * Returns the sheets of users and groups, with the meanings of their columns: from the account's mappings, or else from the
 * usual names of headers. Warns about unknown sheets and columns, and about columns with the same meaning, of which one is
 * read. Reports an error if no sheet lists users or groups, or if such a sheet has no id column.
 */
export function tablesOf(
  sheets: Sheet[],
  attributeNames: readonly string[],
  notes: Notes,
  mappings: Mappings = new Map(),
  isThere: Exists = () => false,
): Table[] {
  const attributes = attributesBy(attributeNames);
  const tables: Table[] = [];
  const unknown: Sheet[] = [];
  let faults = 0;
  for (const sheet of sheets) {
    const best = headersIn(sheet, attributes, mappings);
    if (!best) {
      if (sheet.rows.some((row) => row.length > 0)) unknown.push(sheet);
    } else if (best.hasId) {
      tables.push(tableOf(sheet, best, notes, isThere));
    } else {
      faults++;
      const { kind, headers } = best;
      const ignored = headers.filter(({ meaning }) => !meaning).map(({ text }) => text);
      const found = foundHeaders(
        headers.map(({ text }) => text),
        ignored,
      );
      const message = `This sheet lists ${kind}, but no column contains their IDs. ${found} ${idRequired[kind]}`;
      notes.fault({ type: 'unknown layout', message, ...placeIn(sheet, best.index) });
    }
  }
  if (tables.length === 0 && faults === 0) notes.fault(noTables(unknown[0] ?? sheets[0]));
  else for (const sheet of unknown) notes.warn(unknownSheet(sheet));
  return tables;
}

const idRequired: Record<Kind, string> = {
  users: "Add a column with the EmployeeID header. A person's ID must never change.",
  groups: "Add a column with the DepartmentID header. A group's ID must never change.",
};

/** Lists the headers that were found, and which of them are ignored. One of these may be the missing one. */
export function foundHeaders(found: string[], ignored: string[]): string {
  const all = `Found: ${listed(found)}.`;
  return ignored.length === 0 || ignored.length === found.length
    ? all
    : `${all} Ignored: ${listed(ignored)}.`;
}

/** The maximum number of headers that a message lists. */
const mostListed = 10;

function listed(headers: string[]): string {
  const first = headers.slice(0, mostListed).map((text) => quote(shown(text)));
  const rest = headers.length - first.length;
  return rest > 0 ? `${first.join(', ')} and ${rest} more` : first.join(', ');
}

function noTables(sheet: Sheet | undefined): Detail & { type: DetailType } {
  const first = sheet?.rows.findIndex((row) => row.length > 0) ?? -1;
  const headers = (sheet?.rows[first] ?? []).map((cell) => textOf(cell)).filter((text) => text !== '');
  return {
    type: 'unknown layout',
    message:
      `The first ${rowsToHeaders} rows contain no headers for users or groups. A list of users needs a column with the ` +
      'EmployeeID (or externalId) header, and others such as FirstName, LastName, Email and Department. A list of groups needs ' +
      'either the externalId and name headers, or the ParentDepartment header together with DepartmentID or DepartmentName.' +
      (headers.length > 0 ? ` ${foundHeaders(headers, [])}` : ''),
    ...(sheet && placeIn(sheet, Math.max(first, 0))),
  };
}

const unknownSheet = (sheet: Sheet): Detail & { type: DetailType } => ({
  type: 'unknown layout',
  message: `The first ${rowsToHeaders} rows contain no headers for users or groups. The sheet is ignored.`,
  ...placeIn(
    sheet,
    sheet.rows.findIndex((row) => row.length > 0),
  ),
});

/** Returns the place of a row by its index. The single sheet of a CSV file has no name. */
export const placeIn = ({ name }: Sheet, index: number): { sheet?: string; row: number } => ({
  ...(name !== '' && { sheet: shown(name) }),
  row: index + 1,
});

export function tableOf(
  sheet: Sheet,
  { index, kind, headers }: RecognizedHeaders,
  notes: Notes,
  isThere: Exists,
): Table {
  const place = placeIn(sheet, index);
  const unknown = (header: string, why: string) => {
    const message = `${quote(header)} ${why}. The column is ignored.`;
    notes.warn({ type: 'unknown column', message, ...place, column: shown(header) });
  };
  const known: Known[] = [];
  for (const { meaning, ...header } of headers) {
    if (meaning) known.push({ ...header, meaning });
    else unknown(header.text, 'is not a known field or attribute');
  }
  const start = startOf(sheet, index, kind);
  const rows = sheet.rows.slice(start);
  const repeated = (read: Column, others: Column[]) => {
    const differ = others.filter((other) => rows.some((row) => isOther(row[read.index], row[other.index])));
    if (differ.length > 0)
      notes.warn(
        repeatedColumn(
          { sheet, headers: index },
          read,
          differ.map(({ header }) => header),
        ),
      );
  };
  const choose = (columns: Known[], field: Field) => {
    const [first, ...others] = columns.length > 1 ? likeliestFirst(columns, rows, kind, isThere) : columns;
    if (!first) return undefined;
    const read = columnOf(first, field);
    if (others.length > 0)
      repeated(
        read,
        others.map((other) => columnOf(other, field)),
      );
    return read;
  };
  const arrange = kind === 'users' ? usersTable : groupsTable;
  return { kind, sheet, headers: index, start, ...arrange(known, { unknown, repeated, choose }) };
}

/** Whether the other cell has a value that differs from that of the first. */
function isOther(one: Cell | undefined, other: Cell | undefined): boolean {
  const [a, b] = [textOf(one), textOf(other)];
  return b !== '' && a !== b;
}

/** Returns the warning that only one of several columns with the same meaning is read. */
export function repeatedColumn(
  { sheet, headers }: Pick<Table, 'sheet' | 'headers'>,
  { header }: Column,
  others: string[],
): Detail & { type: DetailType } {
  const named = others
    .map((one) => (one === header ? `another column ${quote(one)}` : quote(one)))
    .join(', ');
  const message =
    `${quote(header)} and ${named} have the same meaning. Only ${quote(header)} is read. To change this, open the file in ` +
    'the console, press “Columns and values” and choose what each column means. This also applies to later files with these headers.';
  return { type: 'repeated column', message, ...placeIn(sheet, headers), column: others[0] ?? header };
}

/** Headers to prefer among columns with the same meaning. */
const preferred: Partial<Record<HeaderMeaning, RegExp>> = {
  phone: /mobil|cell|handy|matkapuhelin/,
  email: /work|business|primary|arbet|jobb|company/,
};

/**
 * Sorts columns with the same meaning, the likeliest first. For ids: the column with the most ids of existing people or groups,
 * then a column without empty cells, then by header. For others: by header, then by the number of values.
 */
function likeliestFirst(columns: Known[], rows: Cell[][], kind: Kind, isThere: Exists): Known[] {
  const filled = rows.filter((row) => row.some((cell) => textOf(cell) !== ''));
  const scored = columns.map((column) => {
    const { text, index, meaning } = column;
    const values = filled.map((row) => textOf(row[index])).filter((value) => value !== '');
    const isId = idRank.includes(meaning.name);
    const known = isId ? values.filter((value) => isThere(kind, value)).length : 0;
    const isWhole = isId && values.length === filled.length;
    const isPreferred = values.length > 0 && preferred[meaning.name]?.test(keyOf(text)) === true;
    const rank = isId ? -idRank.indexOf(meaning.name) : Number(isPreferred);
    return { column, score: [known, Number(isWhole), rank, values.length] };
  });
  const compare = (a: number[], b: number[]) =>
    a.map((one, i) => (b[i] ?? 0) - one).find((by) => by !== 0) ?? 0;
  return scored.toSorted((a, b) => compare(a.score, b.score)).map(({ column }) => column);
}

/** The meanings that are ids, the most certain first. */
const idRank: HeaderMeaning[] = ['externalId', 'employeeId', 'groupId', 'id'];

type Known = { index: number; text: string; meaning: Meaning };
type Resolver = {
  /** Warns about a column that is ignored. */
  unknown(header: string, why: string): void;
  /** Warns that only one of several columns with the same meaning is read. */
  repeated(read: Column, others: Column[]): void;
  /** Returns which of several columns with the same meaning is read. */
  choose(columns: Known[], field: Field): Column | undefined;
};
type Columns = Omit<Table, 'kind' | 'sheet' | 'headers' | 'start'>;

const columnOf = ({ index, text, meaning }: Known, field: Field): Column => ({
  index,
  header: shown(text),
  field,
  ...(meaning.attribute !== undefined && { attribute: meaning.attribute }),
});

function usersTable(known: Known[], resolver: Resolver): Columns {
  const of = (...meanings: HeaderMeaning[]) => known.filter(({ meaning }) => meanings.includes(meaning.name));
  const columns = (field: Field, ...meanings: HeaderMeaning[]) =>
    of(...meanings).map((header) => columnOf(header, field));
  const [firstNames, lastNames, names] = [of('firstName'), of('lastName'), of('name')];
  // In German the last name is often just called Name.
  const isLastName = firstNames.some(({ text }) => keyOf(text) === 'vorname') && lastNames.length === 0;
  const isWhole = firstNames.length === 0 && lastNames.length === 0;
  const whole = [...of('fullName'), ...(isLastName ? [] : names)];
  for (const { text } of isWhole ? [] : whole) {
    resolver.unknown(text, 'is not needed, because first and last names have separate columns');
  }
  const attributes = Map.groupBy(of('attribute'), ({ meaning }) => meaning.attribute);
  const fields: (Column | undefined)[] = [
    ...(['firstName', 'email', 'phone', 'active', 'timezone', 'language', 'role'] as const).map((field) =>
      resolver.choose(of(field), field),
    ),
    resolver.choose([...lastNames, ...(isLastName ? names : [])], 'lastName'),
    isWhole ? resolver.choose(whole, 'fullName') : undefined,
    ...[...attributes.values()].map((found) => resolver.choose(found, 'attribute')),
  ];
  return {
    id: resolver.choose(of(...userIds), 'externalId') as Column,
    fields: fields.filter((column) => column !== undefined),
    lists: (['adminOf', 'inheritedAdminOf', 'interestOf'] as const).flatMap((kind) => columns(kind, kind)),
    memberOf: membershipsOf(known, resolver),
    isManager: columns('isManager', 'isManager'),
    managers: columns('manager', 'manager'),
  };
}

/** Returns the columns with the groups of a person. Columns of ids and names are paired by their header aliases, then by order. */
function membershipsOf(known: Known[], resolver: Resolver): Table['memberOf'] {
  const plain = known.filter(({ meaning }) => meaning.name === 'memberOf');
  const pairs: Table['memberOf'] = [];
  const lone: Known[] = [];
  const ofFamilies = known.filter(({ meaning }) => ['group', 'groupId', 'groupName'].includes(meaning.name));
  for (const family of Map.groupBy(
    ofFamilies,
    ({ meaning }) => `${meaning.family} ${meaning.number}`,
  ).values()) {
    const of = (name: HeaderMeaning) => family.filter(({ meaning }) => meaning.name === name);
    const { ids, names, rest } = rolesOf(of('groupId'), of('groupName'), of('group'));
    for (const header of rest)
      resolver.repeated(columnOf(ids[0]!, 'memberOf'), [columnOf(header, 'memberOf')]);
    for (const header of ids.length === 0 ? [] : names.slice(ids.length)) {
      resolver.repeated(columnOf(names[0]!, 'groupName'), [columnOf(header, 'groupName')]);
    }
    if (ids.length === 0) lone.push(...names);
    for (const [i, id] of ids.entries()) pairs.push(pairOf(id, names[i]));
  }
  // A DepartmentName column next to a memberOf column has the names of those groups.
  const isNamed = plain.length > 0 && lone.length === plain.length;
  return [
    ...plain.map((id, i) => pairOf(id, isNamed ? lone[i] : undefined)),
    ...pairs,
    ...(isNamed ? [] : lone.map((id) => pairOf(id, undefined))),
  ];
}

const pairOf = (id: Known, name: Known | undefined) => ({
  id: columnOf(id, 'memberOf'),
  name: name && columnOf(name, 'groupName'),
});

/**
 * Decides what columns with a bare header such as Department contain: ids, or names if other columns have the ids. If other
 * columns have both, these columns are redundant.
 */
function rolesOf(
  ids: Known[],
  names: Known[],
  bare: Known[],
): { ids: Known[]; names: Known[]; rest: Known[] } {
  if (ids.length === 0) return { ids: bare, names, rest: [] };
  return names.length === 0 ? { ids, names: bare, rest: [] } : { ids, names, rest: bare };
}

function groupsTable(known: Known[], resolver: Resolver): Columns {
  const of = (...meanings: HeaderMeaning[]) => known.filter(({ meaning }) => meanings.includes(meaning.name));
  const bare = of('group');
  const { ids, names, rest } = rolesOf(of('externalId', 'id', 'groupId'), of('name', 'groupName'), bare);
  // Without columns for ids or names, the bare header is the name.
  const isName = names.length === 0 && ids === bare;
  const name = resolver.choose(isName ? bare : names, 'name');
  const id = isName ? undefined : resolver.choose(ids, 'externalId');
  for (const header of rest) resolver.repeated((name ?? id) as Column, [columnOf(header, 'name')]);
  const parents = of('parent');
  const parentNames = of('parentName');
  for (const { text } of parents.length > 0 ? parentNames : []) {
    resolver.unknown(text, `is not needed, because ${quote(parents[0]!.text)} is read`);
  }
  return {
    id: (id ?? name) as Column,
    fields: [
      name,
      resolver.choose(of('description'), 'description'),
      resolver.choose(parents.length > 0 ? parents : parentNames, 'parent'),
    ].filter((column) => column !== undefined),
    lists: [],
    memberOf: [],
    isManager: [],
    managers: of('manager').map((header) => columnOf(header, 'manager')),
  };
}
