// From the sheets of a file to what an organization request says (decision C8). Pure. It only lays out: rows of one person
// become one user, cells become values, and each keeps its place. What the values may be is checked by the sync.
import { type MembershipKind, membershipKinds } from '@soundings/contract/words.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import type { JsonValue } from '../base/json.ts';
import { quote } from '../base/text.ts';
import {
  columnsOf,
  type Entity,
  type Entry,
  entitiesOf,
  type FilePlace,
  groupWordsIn,
  inspect,
  maxEntries,
  type Person,
  personOf,
  placeAt,
  type Reading,
  type Row,
  type Task,
} from './entities.ts';
import {
  type Column,
  foundHeaders,
  headerTexts,
  type IsThere,
  type Mappings,
  type Notes,
  placeIn,
  type Table,
  tablesOf,
} from './headers.ts';
import { inferredRole, readManagers } from './managers.ts';
import { noteValues } from './noted-values.ts';
import type { Sheet } from './sheet.ts';

type JsonObject = { [key: string]: JsonValue };

export type Laid = {
  /**
   * As the `data` of an organization request. What a file leaves empty is left out, and shall stay as it is: a user may
   * lack firstName and lastName, a group its name.
   */
  data: { users?: JsonObject[]; groups?: JsonObject[] };
  /** The place in the file of what a JSON pointer such as /data/users/12/email points to. */
  placeOf(path: string): FilePlace | undefined;
  /** The fault for a value that is missing because no column gives it; undefined: one does, and a cell is empty. */
  lackOf(path: string): (Detail & { type: DetailType }) | undefined;
  /** The groups that users name, by externalId: the name that the file gives them, else the id; where they are named. */
  named: Map<string, { name: string; path: string }>;
  /**
   * The users, by their places in the list, whose role is only inferred from who manages whom: one who is an
   * Administrator shall stay so.
   */
  inferredRoles: ReadonlySet<number>;
  /**
   * The users, by their places in the list, who own the groups that they have already beside those that are listed: rows name
   * them as managers, but other rows name someone who is not known, and perhaps it is them.
   */
  keepingGroups: ReadonlySet<number>;
  /** The users, by their places in the list, whose status is not known and is not given otherwise. */
  unknownStatus: ReadonlySet<number>;
  /** Whether the groups of the file have no ids but their names. */
  hasGroupNamesOnly: boolean;
};

/** What an account has said of its files, and what it has: by it a file is read. */
export type Knowledge = Reading & {
  /** The names of the attributes that it defines. */
  attributes: readonly string[];
  mappings: Mappings;
  isThere: IsThere;
};

/**
 * Lays out the sheets of a file. Faults and warnings go to `notes`, each with its place. Undefined, with a fault: no sheet can
 * be laid out. The time it takes grows as the file.
 */
export function layOut(sheets: Sheet[], knowledge: Knowledge, notes: Notes): Laid | undefined {
  const { attributes, mappings, isThere } = knowledge;
  const tables = tablesOf(sheets, attributes, notes, mappings, isThere);
  if (tables.length === 0) return undefined;
  const prefixed = new Set(tables.flatMap((table) => inspect(table, notes)));
  const groupsOfFile = groupWordsIn(tables);
  const task: Task = {
    notes,
    reading: knowledge,
    prefixed,
    unknown: new Map(),
    local: new Map(),
    placeholders: new Map(),
    ignored: new Map(),
    isGroup: (id) => groupsOfFile.has(id) || isThere('groups', id),
    isThere,
    room: maxEntries,
  };
  const groups = entitiesOf(tables, 'groups', task);
  const people = entitiesOf(tables, 'users', task)?.map((entity) => personOf(entity, task));
  const isManaged = readManagers(tables, people ?? [], groups ?? [], task);
  noteValues(task);
  const inferredRoles = new Set<number>();
  const unknownStatus = new Set<number>();
  const keepingGroups = new Set<number>();
  const data: Laid['data'] = {};
  if (groups) data.groups = groups.map((group) => withFields(group));
  if (people) {
    data.users = people.map((person, i) => {
      const role = inferredRole(person, isManaged);
      if (role !== undefined && !person.fields.has('role')) inferredRoles.add(i);
      if (person.hasUnknownStatus && !person.fields.has('active')) unknownStatus.add(i);
      if (person.isNamed && !isManaged && !person.lists.adminOf) keepingGroups.add(i);
      return userOf(person, role);
    });
  }
  return {
    data,
    placeOf: (path) => placeOf(path, people ?? [], groups ?? []),
    lackOf: (path) => lackOf(path, people ?? [], groups ?? []),
    named: namedGroups(people ?? [], notes),
    inferredRoles,
    keepingGroups,
    unknownStatus,
    hasGroupNamesOnly: tables.every(({ kind, id }) => kind !== 'groups' || id.field === 'name'),
  };
}

// --- What comes of it.

/** An entity with its fields. Their names are ours, so none can be __proto__. */
function withFields({ id, fields }: Entity): JsonObject {
  const object: JsonObject = { externalId: id };
  for (const [field, { value }] of fields) if (field !== 'role') object[field] = value;
  return object;
}

function userOf(person: Person, inferred: string | undefined): JsonObject {
  const { fields, attributes, lists, manages } = person;
  // A manager of rows that name no group keeps what there is, as with any empty cell.
  if (inferred === 'User' || manages.length > 0) lists.adminOf = [...(lists.adminOf ?? []), ...manages];
  const accessInfo: JsonObject = {};
  for (const kind of membershipKinds) {
    const entries = lists[kind];
    if (!entries) continue;
    if (entries.length > 1) {
      const groups = new Set<string>();
      lists[kind] = entries.filter(({ group }) => !groups.has(group) && groups.add(group));
    }
    accessInfo[kind] = (lists[kind] ?? []).map(({ group }) => group);
  }
  const role = fields.get('role')?.value ?? inferred;
  if (role !== undefined) accessInfo['role'] = role;
  const user = withFields(person);
  if (Object.keys(accessInfo).length > 0) user['accessInfo'] = accessInfo;
  if (attributes.size > 0) {
    user['externalProperties'] = Object.fromEntries(
      [...attributes].map(([name, { value }]) => [name, value]),
    );
  }
  return user;
}

/** The groups that users name. The first name that the file gives a group counts; another is warned of, once. */
function namedGroups(people: Person[], notes: Notes): Laid['named'] {
  const named: Laid['named'] = new Map();
  const namings = new Map<string, Entry>();
  const warned = new Set<string>();
  for (const [i, { lists }] of people.entries()) {
    for (const kind of membershipKinds) {
      for (const [j, entry] of (lists[kind] ?? []).entries()) {
        const { group, name, row, column } = entry;
        const path = `/data/users/${i}/accessInfo/${kind}/${j}`;
        if (!named.has(group)) named.set(group, { name: group, path });
        const before = namings.get(group);
        if (name === undefined || name === before?.name || warned.has(group)) continue;
        if (!before) {
          namings.set(group, entry);
          named.get(group)!.name = name;
          continue;
        }
        warned.add(group);
        const first = `${quote(before.name as string)} in row ${before.row.index + 1}`;
        const message = `The group ${quote(group)} is called ${quote(name)} here, and ${first}. The first name counts.`;
        notes.warn({ type: 'conflicting rows', message, ...placeAt(row, column) });
      }
    }
  }
  return named;
}

function placeOf(path: string, people: Person[], groups: Entity[]): FilePlace | undefined {
  const [, data, kind, index, field = '', part = '', entry = '0'] = path
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (data !== 'data' || index === undefined) return undefined;
  const person = kind === 'users' ? people[Number(index)] : undefined;
  const entity = kind === 'groups' ? groups[Number(index)] : person;
  if (!entity) return undefined;
  const [row] = entity.rows as [Row];
  if (field === 'externalId') return placeAt(row, row.table.id);
  const isAttribute = field === 'externalProperties';
  const key = field === 'accessInfo' ? part : field;
  const found =
    (field === 'accessInfo' ? person?.lists[part as MembershipKind]?.[Number(entry)] : undefined) ??
    (isAttribute ? entity.attributes.get(part) : entity.fields.get(key));
  if (found) return placeAt(found.row, found.column);
  const empty = columnsOf(row.table).find((column) =>
    isAttribute ? column.attribute === part : column.field === key || isPartOf(key, column),
  );
  return empty ? placeAt(row, empty) : placeIn(row.table.sheet, row.index);
}

/** Whether a column of full names gives the field. */
const isPartOf = (field: string, column: Column) =>
  column.field === 'fullName' && (field === 'firstName' || field === 'lastName');

/** The values that new people and groups need, in words, and a header for each. */
const needed: Record<string, { what: string; header: string }> = {
  firstName: { what: 'first name, which new people need', header: 'FirstName' },
  lastName: { what: 'last name, which new people need', header: 'LastName' },
  name: { what: 'name, which new groups need', header: 'DepartmentName' },
};

function lackOf(path: string, people: Person[], groups: Entity[]): ReturnType<Laid['lackOf']> {
  const [, data, kind, index, field = ''] = path.split('/');
  const entity = (kind === 'users' ? people : kind === 'groups' ? groups : [])[Number(index)];
  const lack = needed[field];
  if (data !== 'data' || !entity || !lack) return undefined;
  const tables = new Set(entity.rows.map(({ table }) => table));
  const columns = [...tables].flatMap(columnsOf);
  if (columns.some((column) => column.field === field)) return undefined;
  const names = columns.find((column) => isPartOf(field, column));
  const [row] = entity.rows as [Row];
  if (names) {
    const message = 'New people need a first and a last name: write both, such as Anna Berg or Berg, Anna.';
    return { type: 'invalid value', message, ...placeAt(row, names) };
  }
  const [{ sheet, headers }] = tables as unknown as [Table];
  const found = headerTexts(sheet.rows[headers] ?? []);
  const unread = found.filter(({ index: at }) => !columns.some((column) => column.index === at));
  const texts = (some: { text: string }[]) => some.map(({ text }) => text);
  return {
    type: 'missing column',
    message:
      `No column gives the ${lack.what}. ${foundHeaders(texts(found), texts(unread))} Add a column with the header ` +
      `${lack.header}, or say in the console which column it is.`,
    ...placeIn(sheet, headers),
  };
}
