// What the headers of a sheet say: whether it is a sheet of users or of groups, and what each of its columns means. Pure.
import { maxNameLength } from '@soundings/contract/limits.ts';
import { membershipKinds } from '@soundings/contract/words.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import type { Cell, Sheet } from './sheet.ts';
import { type Field, keyOf, type Kind, type Meaning, meaning, vocabularies, type Word } from './spellings.ts';
import { shown, textOf } from './values.ts';

/** Where faults and warnings go, each with its place in the file. */
export type Notes = {
  fault(detail: Detail & { type: DetailType }): void;
  warn(detail: Detail & { type: DetailType }): void;
};

export type Column = {
  index: number;
  /** As written, cut where it is long. */
  header: string;
  field: Field;
  /** The attribute that it sets, where the field is one. */
  attribute?: string;
};

/** A sheet of users or of groups, with the columns that mean something. */
export type Table = {
  kind: Kind;
  sheet: Sheet;
  /** The index of the row of headers; what is above is no data. */
  headers: number;
  /** The index of the first row of data. */
  start: number;
  /** What identifies a row: the id, or of a group the name where there is no column of ids. */
  id: Column;
  /** Columns that hold one value each; not that of the ids. */
  fields: Column[];
  /** Columns that hold lists of groups: adminOf, inheritedAdminOf, interestOf. */
  lists: Column[];
  /** The groups that somebody is a member of: columns of ids, each with that of their names where there is one. */
  memberOf: { id: Column; name: Column | undefined }[];
  isManager: Column[];
  managers: Column[];
};

/** What the columns of a sheet with certain headers are read as, because somebody has said so. */
export type HeaderMapping = {
  kind: Kind;
  /** `means`: a field, `attribute:` and a name, or `ignore`. */
  columns: readonly { header: string; means: string }[];
};

/** By the keys of the headers that they are for. */
export type Mappings = ReadonlyMap<string, HeaderMapping>;

/** Whether there is already a person or group with an id: so a column of ids is told from another. */
export type IsThere = (kind: Kind, id: string) => boolean;

/** What is the same of sheets with the same headers, in whatever order these stand. */
export const headersKey = (headers: readonly string[]): string => JSON.stringify(headers.toSorted());

// --- What the headers of a row mean.

/** The attributes of an account, by their names and by the keys of these: null where several have the same. */
export type Attributes = { exact: ReadonlySet<string>; byKey: ReadonlyMap<string, string | null> };

export function attributesBy(names: readonly string[]): Attributes {
  const byKey = new Map<string, string | null>();
  for (const name of names) byKey.set(keyOf(name), byKey.has(keyOf(name)) ? null : name);
  byKey.delete('');
  return { exact: new Set(names), byKey };
}

/**
 * What a header means: a field of ours by its very name; else an attribute; else what it is usually called. A list may be
 * numbered: Department 1, Department 2.
 */
function meaningOf(header: string, kind: Kind, attributes: Attributes): Meaning | undefined {
  const key = keyOf(header);
  const { own, usual } = vocabularies[kind];
  const field = own.get(key);
  if (field) return field;
  const attribute = attributes.exact.has(header) ? header : attributes.byKey.get(key);
  if (kind === 'users' && attribute) return { ...meaning('attribute'), attribute };
  const [number] = /\d+/.exec(key) ?? [];
  if (kind === 'groups' || usual.has(key) || number === undefined) return usual.get(key);
  const plain = key.replace(number, '');
  const numbered = own.get(plain) ?? usual.get(plain);
  return numbered && listWords.includes(numbered.word)
    ? { ...numbered, number: String(Number(number)) }
    : undefined;
}

/** Of which there may be several columns. */
const listWords: Word[] = ['group', 'groupId', 'groupName', ...membershipKinds];

type Header = { index: number; text: string; means: Meaning | undefined };

/** The texts of a row that can be headers, and where they stand. */
export const headerTexts = (row: Cell[]): { index: number; text: string }[] =>
  row.flatMap((cell, index) => {
    const text = typeof cell === 'string' && cell.length <= maxHeaderLength ? textOf(cell) : '';
    return text === '' ? [] : [{ index, text }];
  });

export const headersOf = (row: Cell[], kind: Kind, attributes: Attributes): Header[] =>
  headerTexts(row).map((header) => ({ ...header, means: meaningOf(header.text, kind, attributes) }));

/** What is longer is no header: an attribute's name may have so many characters. */
const maxHeaderLength = 2 * maxNameLength;

const hasAny = (headers: Header[], ...words: Word[]) =>
  headers.some(({ means }) => means && words.includes(means.word));

const groupIds: Word[] = ['externalId', 'id', 'groupId', 'name', 'groupName', 'group'];
const userIds: Word[] = ['externalId', 'employeeId', 'id'];

/** What only people have, though a list of other things may have a column that is called so. */
const personal: Word[] = [
  ...(['email', 'phone', 'timezone', 'language', 'role', 'isManager'] as const),
  ...membershipKinds,
];

export type Recognised = { index: number; kind: Kind; headers: Header[]; hasId: boolean };

/** What a row of headers heads: at least two must be known, and tell users from groups. */
function recognise(row: Cell[], index: number, attributes: Attributes): Recognised | undefined {
  const read = (kind: Kind, ids: Word[]): Recognised | undefined => {
    const headers = headersOf(row, kind, attributes);
    const isEnough = headers.filter(({ means }) => means).length > 1;
    return isEnough ? { index, kind, headers, hasId: hasAny(headers, ...ids) } : undefined;
  };
  const users = read('users', userIds);
  const groups = read('groups', groupIds);
  const { headers: ofUsers = [] } = users ?? {};
  const { headers: ofGroups = [] } = groups ?? {};
  if (hasAny(ofUsers, 'employeeId', 'firstName', 'lastName', 'fullName')) return users;
  if (hasAny(ofGroups, 'parent', 'parentName')) return groups;
  if (users?.hasId && hasAny(ofUsers, ...personal)) return users;
  const isOurs = hasAny(ofGroups, 'externalId') && hasAny(ofGroups, 'name');
  return isOurs || hasAny(ofGroups, 'groupId', 'groupName') ? groups : undefined;
}

/** What a row of headers heads that somebody has said the meaning of. */
function recogniseMapped(
  row: Cell[],
  index: number,
  attributes: Attributes,
  mappings: Mappings,
): Recognised | undefined {
  const texts = headerTexts(row);
  const mapping = mappings.get(headersKey(texts.map(({ text }) => text)));
  if (!mapping) return undefined;
  const left = Map.groupBy(mapping.columns, ({ header }) => header);
  const headers = texts.flatMap((header) => {
    const means = left.get(header.text)?.shift()?.means ?? 'ignore';
    return means === 'ignore' ? [] : [{ ...header, means: meaningBy(means, attributes) }];
  });
  return { index, kind: mapping.kind, headers, hasId: true };
}

/** Of an attribute that is no longer defined it is undefined. */
function meaningBy(means: string, { exact }: Attributes): Meaning | undefined {
  if (!means.startsWith('attribute:')) return meaning(means as Word);
  const attribute = means.slice('attribute:'.length);
  return exact.has(attribute) ? { ...meaning('attribute'), attribute } : undefined;
}

// --- Sheets.

/** Within so many rows the headers must be: a title and blank lines may be above. */
export const rowsToHeaders = 20;

/**
 * The sheets of users and of groups, with what their columns mean: as somebody has said of these headers, else as headers
 * are usually called. Warns of sheets and columns that mean nothing here, and of columns that mean the same, of which one is
 * read. Faults: no sheet of either kind, one without a column of ids.
 */
export function tablesOf(
  sheets: Sheet[],
  attributeNames: readonly string[],
  notes: Notes,
  mappings: Mappings = new Map(),
  isThere: IsThere = () => false,
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
      const unread = headers.filter(({ means }) => !means).map(({ text }) => text);
      const found = foundHeaders(
        headers.map(({ text }) => text),
        unread,
      );
      const message = `The headers are those of ${kind}, but no column has their ids. ${found} ${idNeeded[kind]}`;
      notes.fault({ type: 'unknown layout', message, ...placeIn(sheet, best.index) });
    }
  }
  if (tables.length === 0 && faults === 0) notes.fault(noTables(unknown[0] ?? sheets[0]));
  else for (const sheet of unknown) notes.warn(unknownSheet(sheet));
  return tables;
}

/**
 * The row of headers of a sheet: one that somebody has said the meaning of; else the first that has one for the ids, else
 * the first that has others.
 */
export function headersIn(
  { rows }: Sheet,
  attributes: Attributes,
  mappings: Mappings,
): Recognised | undefined {
  const count = Math.min(rows.length, rowsToHeaders);
  for (let index = 0; mappings.size > 0 && index < count; index++) {
    const mapped = recogniseMapped(rows[index] as Cell[], index, attributes, mappings);
    if (mapped) return mapped;
  }
  let first: Recognised | undefined;
  for (let index = 0; index < count; index++) {
    const recognised = recognise(rows[index] as Cell[], index, attributes);
    if (recognised?.hasId) return recognised;
    first ??= recognised;
  }
  return first;
}

const idNeeded: Record<Kind, string> = {
  users: 'Add one with what never changes about a person, with the header EmployeeID.',
  groups: 'Add one with what never changes about a group, with the header DepartmentID.',
};

/** Which headers a row has, and which of them are not read: one of them may be what is missing. */
export function foundHeaders(found: string[], unread: string[]): string {
  const all = `Found: ${listed(found)}.`;
  return unread.length === 0 || unread.length === found.length ? all : `${all} Not read: ${listed(unread)}.`;
}

/** As many headers as are repeated in a message. */
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
      `No row of the first ${rowsToHeaders} has the headers of users or of groups. Users need a column with the header ` +
      'EmployeeID (or externalId) beside others such as FirstName, LastName, Email and Department; groups need ' +
      `DepartmentID or DepartmentName beside ParentDepartment, or externalId and name.` +
      (headers.length > 0 ? ` ${foundHeaders(headers, [])}` : ''),
    ...(sheet && placeIn(sheet, Math.max(first, 0))),
  };
}

const unknownSheet = (sheet: Sheet): Detail & { type: DetailType } => ({
  type: 'unknown layout',
  message: `No row of the first ${rowsToHeaders} has the headers of users or of groups; the sheet is ignored.`,
  ...placeIn(
    sheet,
    sheet.rows.findIndex((row) => row.length > 0),
  ),
});

/** The place of a row by its index. A file that is one sheet gives it no name. */
export const placeIn = ({ name }: Sheet, index: number): { sheet?: string; row: number } => ({
  ...(name !== '' && { sheet: shown(name) }),
  row: index + 1,
});

export function tableOf(
  sheet: Sheet,
  { index, kind, headers }: Recognised,
  notes: Notes,
  isThere: IsThere,
): Table {
  const place = placeIn(sheet, index);
  const unknown = (header: string, why: string) => {
    const message = `${quote(header)} ${why}; the column is ignored.`;
    notes.warn({ type: 'unknown column', message, ...place, column: shown(header) });
  };
  const known: Known[] = [];
  for (const { means, ...header } of headers) {
    if (means) known.push({ ...header, means });
    else unknown(header.text, 'is no field and no attribute that is known here');
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

/** Whether two cells differ where both have something. */
function isOther(one: Cell | undefined, other: Cell | undefined): boolean {
  const [a, b] = [textOf(one), textOf(other)];
  return b !== '' && a !== b;
}

/** The warning that of columns that mean the same one is read, and how to choose another. */
export function repeatedColumn(
  { sheet, headers }: Pick<Table, 'sheet' | 'headers'>,
  { header }: Column,
  others: string[],
): Detail & { type: DetailType } {
  const named = others
    .map((one) => (one === header ? `another column ${quote(one)}` : quote(one)))
    .join(', ');
  const message =
    `${quote(header)} and ${named} mean the same. ${quote(header)} is read, and not the other. To choose, open the file in ` +
    'the console, press “Columns and values”, and say what each column is: later files with these headers are read in the same way.';
  return { type: 'repeated column', message, ...placeIn(sheet, headers), column: others[0] ?? header };
}

/** What says of columns that mean the same which of them is probably meant. */
const preferred: Partial<Record<Word, RegExp>> = {
  phone: /mobil|cell|handy|matkapuhelin/,
  email: /work|business|primary|arbet|jobb|company/,
};

/**
 * Columns that mean the same, the one first that is probably meant. Of ids: the one that has those of people or groups that
 * are there; then one that every row has; then by its header. Of others: by the header, then the one with most values.
 */
function likeliestFirst(columns: Known[], rows: Cell[][], kind: Kind, isThere: IsThere): Known[] {
  const filled = rows.filter((row) => row.some((cell) => textOf(cell) !== ''));
  const scored = columns.map((column) => {
    const { text, index, means } = column;
    const values = filled.map((row) => textOf(row[index])).filter((value) => value !== '');
    const isId = idRank.includes(means.word);
    const known = isId ? values.filter((value) => isThere(kind, value)).length : 0;
    const isWhole = isId && values.length === filled.length;
    const isPreferred = values.length > 0 && preferred[means.word]?.test(keyOf(text)) === true;
    const rank = isId ? -idRank.indexOf(means.word) : Number(isPreferred);
    return { column, score: [known, Number(isWhole), rank, values.length] };
  });
  const compare = (a: number[], b: number[]) =>
    a.map((one, i) => (b[i] ?? 0) - one).find((by) => by !== 0) ?? 0;
  return scored.toSorted((a, b) => compare(a.score, b.score)).map(({ column }) => column);
}

/** The words for ids, the surest first. */
const idRank: Word[] = ['externalId', 'employeeId', 'groupId', 'id'];

/**
 * The index of the first row of data. Some programs write two rows of headers: names of fields, and beneath them what these
 * are called.
 */
export function startOf({ rows }: Sheet, index: number, kind: Kind): number {
  const wordsIn = (row: Cell[] = []) =>
    new Map(headersOf(row, kind, attributesBy([])).map(({ index: at, means }) => [at, means?.word]));
  const labels = wordsIn(rows[index + 1]);
  const known = [...wordsIn(rows[index])].filter(([, word]) => word !== undefined);
  const same = known.filter(([at, word]) => labels.get(at) === word);
  return same.length > 2 && same.length > known.length / 2 ? index + 2 : index + 1;
}

type Known = { index: number; text: string; means: Meaning };
type Say = {
  unknown(header: string, why: string): void;
  /** Of columns that mean the same only one is read. */
  repeated(read: Column, others: Column[]): void;
  /** Which of columns that mean the same is read. */
  choose(columns: Known[], field: Field): Column | undefined;
};
type Columns = Omit<Table, 'kind' | 'sheet' | 'headers' | 'start'>;

const columnOf = ({ index, text, means }: Known, field: Field): Column => ({
  index,
  header: shown(text),
  field,
  ...(means.attribute !== undefined && { attribute: means.attribute }),
});

function usersTable(known: Known[], say: Say): Columns {
  const of = (...words: Word[]) => known.filter(({ means }) => words.includes(means.word));
  const columns = (field: Field, ...words: Word[]) => of(...words).map((header) => columnOf(header, field));
  const [firstNames, lastNames, names] = [of('firstName'), of('lastName'), of('name')];
  // In German the last name is often just called Name.
  const isLastName = firstNames.some(({ text }) => keyOf(text) === 'vorname') && lastNames.length === 0;
  const isWhole = firstNames.length === 0 && lastNames.length === 0;
  const whole = [...of('fullName'), ...(isLastName ? [] : names)];
  for (const { text } of isWhole ? [] : whole) say.unknown(text, 'is not read: FirstName and LastName are');
  const attributes = Map.groupBy(of('attribute'), ({ means }) => means.attribute);
  const fields: (Column | undefined)[] = [
    ...(['firstName', 'email', 'phone', 'active', 'timezone', 'language', 'role'] as const).map((field) =>
      say.choose(of(field), field),
    ),
    say.choose([...lastNames, ...(isLastName ? names : [])], 'lastName'),
    isWhole ? say.choose(whole, 'fullName') : undefined,
    ...[...attributes.values()].map((found) => say.choose(found, 'attribute')),
  ];
  return {
    id: say.choose(of(...userIds), 'externalId') as Column,
    fields: fields.filter((column) => column !== undefined),
    lists: (['adminOf', 'inheritedAdminOf', 'interestOf'] as const).flatMap((kind) => columns(kind, kind)),
    memberOf: membershipsOf(known, say),
    isManager: columns('isManager', 'isManager'),
    managers: columns('manager', 'manager'),
  };
}

/** Which columns say what groups somebody is in. Ids and names go together by their words, and by their order. */
function membershipsOf(known: Known[], say: Say): Table['memberOf'] {
  const plain = known.filter(({ means }) => means.word === 'memberOf');
  const pairs: Table['memberOf'] = [];
  const lone: Known[] = [];
  const ofFamilies = known.filter(({ means }) => ['group', 'groupId', 'groupName'].includes(means.word));
  for (const family of Map.groupBy(ofFamilies, ({ means }) => `${means.family} ${means.number}`).values()) {
    const of = (word: Word) => family.filter(({ means }) => means.word === word);
    const { ids, names, rest } = rolesOf(of('groupId'), of('groupName'), of('group'));
    for (const header of rest) say.repeated(columnOf(ids[0]!, 'memberOf'), [columnOf(header, 'memberOf')]);
    for (const header of ids.length === 0 ? [] : names.slice(ids.length)) {
      say.repeated(columnOf(names[0]!, 'groupName'), [columnOf(header, 'groupName')]);
    }
    if (ids.length === 0) lone.push(...names);
    for (const [i, id] of ids.entries()) pairs.push(pairOf(id, names[i]));
  }
  // DepartmentName beside memberOf: the names of those groups.
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

/** A word such as Department alone is the id, or the name where another column has the ids; or it is one too many. */
function rolesOf(
  ids: Known[],
  names: Known[],
  bare: Known[],
): { ids: Known[]; names: Known[]; rest: Known[] } {
  if (ids.length === 0) return { ids: bare, names, rest: [] };
  return names.length === 0 ? { ids, names: bare, rest: [] } : { ids, names, rest: bare };
}

function groupsTable(known: Known[], say: Say): Columns {
  const of = (...words: Word[]) => known.filter(({ means }) => words.includes(means.word));
  const bare = of('group');
  const { ids, names, rest } = rolesOf(of('externalId', 'id', 'groupId'), of('name', 'groupName'), bare);
  // Without a column of ids or one of names, the word alone is the name.
  const isName = names.length === 0 && ids === bare;
  const name = say.choose(isName ? bare : names, 'name');
  const id = isName ? undefined : say.choose(ids, 'externalId');
  for (const header of rest) say.repeated((name ?? id) as Column, [columnOf(header, 'name')]);
  const parents = of('parent');
  const parentNames = of('parentName');
  for (const { text } of parents.length > 0 ? parentNames : []) {
    say.unknown(text, `is not read: ${quote(parents[0]!.text)} is`);
  }
  return {
    id: (id ?? name) as Column,
    fields: [
      name,
      say.choose(of('description'), 'description'),
      say.choose(parents.length > 0 ? parents : parentNames, 'parent'),
    ].filter((column) => column !== undefined),
    lists: [],
    memberOf: [],
    isManager: [],
    managers: of('manager').map((header) => columnOf(header, 'manager')),
  };
}
