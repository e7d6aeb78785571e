// Converts the sheets of a file to the data of an organization request (decision C8). Pure. Rows of one person become one
// user, cells become values, and each value keeps its place in the file. The sync validates the values.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import type { JsonObject } from '../base/json/json.ts';
import { quote } from '../base/text.ts';
import type { Sheet } from '../sheets/sheet.ts';
import { type FilePlace, inspect, placeAt, type Row } from './cells.ts';
import { entitiesOf, type Entity, type Reading, type Task } from './entities.ts';
import { headerTexts, type Mappings } from './headers.ts';
import { inferredRole, readManagers } from './managers.ts';
import { type Entry, groupIdsAndNamesIn, maxEntries, type Person, personOf } from './memberships.ts';
import { noteValues } from './noted-values.ts';
import {
  type Column,
  columnsOf,
  type Exists,
  foundHeaders,
  type Notes,
  placeIn,
  type Table,
  tablesOf,
} from './tables.ts';

export type LaidOutFile = {
  /**
   * The `data` of an organization request. Empty cells are left out, so the current values stay. A user may therefore lack
   * firstName and lastName, and a group its name.
   */
  data: { users?: JsonObject[]; groups?: JsonObject[] };
  /** Returns the place in the file for a JSON pointer such as /data/users/12/email. */
  placeOf(path: string): FilePlace | undefined;
  /** Returns the error for a missing value that no column gives. Undefined if a column exists and only the cell is empty. */
  missingColumnOf(path: string): (Detail & { type: DetailType }) | undefined;
  /** The groups that users belong to or manage, by externalId, with the name from the file or else the id. */
  named: Map<string, { name: string; path: string }>;
  /**
   * The indexes of users whose role is only inferred from columns of managers. A user who is an Administrator keeps that role.
   */
  inferredRoles: ReadonlySet<number>;
  /**
   * The indexes of users who keep the groups they manage now, besides those in the file. Some rows name these users as
   * managers, but other rows name an unknown manager, who may be the same person.
   */
  usersKeepingGroups: ReadonlySet<number>;
  /** The indexes of users whose only status is an unknown value. */
  unknownStatus: ReadonlySet<number>;
  /** Whether the groups in the file have names but no ids. */
  hasGroupNamesOnly: boolean;
};

/** The settings and data of an account that determine how its files are read. */
export type Knowledge = Reading & {
  /** The names of the attributes that the account defines. */
  attributes: readonly string[];
  mappings: Mappings;
  isThere: Exists;
};

/**
 * Returns the data of the sheets. Errors and warnings go to `notes`, each with its place. Returns undefined, and reports an
 * error, if no sheet can be used. Takes time in proportion to the size of the file.
 */
export function layOut(sheets: Sheet[], knowledge: Knowledge, notes: Notes): LaidOutFile | undefined {
  const { attributes, mappings, isThere } = knowledge;
  const tables = tablesOf(sheets, attributes, notes, mappings, isThere);
  if (tables.length === 0) return undefined;
  const prefixed = new Set(tables.flatMap((table) => inspect(table, notes)));
  const groupsOfFile = groupIdsAndNamesIn(tables);
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
  const usersKeepingGroups = new Set<number>();
  const data: LaidOutFile['data'] = {};
  if (groups) data.groups = groups.map((group) => withFields(group));
  if (people) {
    data.users = people.map((person, i) => {
      const role = inferredRole(person, isManaged);
      if (role !== undefined && !person.fields.has('role')) inferredRoles.add(i);
      if (person.hasUnknownStatus && !person.fields.has('active')) unknownStatus.add(i);
      if (person.isNamed && !isManaged && !person.lists.adminOf) usersKeepingGroups.add(i);
      return userOf(person, role);
    });
  }
  return {
    data,
    placeOf: (path) => placeOf(path, people ?? [], groups ?? []),
    missingColumnOf: (path) => missingColumnOf(path, people ?? [], groups ?? []),
    named: namedGroups(people ?? [], notes),
    inferredRoles,
    usersKeepingGroups,
    unknownStatus,
    hasGroupNamesOnly: tables.every(({ kind, id }) => kind !== 'groups' || id.field === 'name'),
  };
}

// --- Users and groups of the request.

/** Returns an object with the fields of an entity. We define the field names, so none can be __proto__. */
function withFields({ id, fields }: Entity): JsonObject {
  const object: JsonObject = { externalId: id };
  for (const [field, { value }] of fields) if (field !== 'role') object[field] = value;
  return object;
}

function userOf(person: Person, inferred: string | undefined): JsonObject {
  const { fields, attributes, lists, manages } = person;
  // As with any empty cell, managers keep their groups if their rows name no group.
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

/** Returns the groups that users name. The first name of a group in the file counts. Another name gives one warning. */
function namedGroups(people: Person[], notes: Notes): LaidOutFile['named'] {
  const named: LaidOutFile['named'] = new Map();
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
        const message = `Group ${quote(group)} is named ${quote(name)} here, but ${first}. The first name is used.`;
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

/** Whether the column contains full names, and the field is part of a full name. */
const isPartOf = (field: string, column: Column) =>
  column.field === 'fullName' && (field === 'firstName' || field === 'lastName');

/** The values that new people and groups require, and a header for each. */
const required: Record<string, { what: string; of: string; header: string }> = {
  firstName: { what: 'first name', of: 'people', header: 'FirstName' },
  lastName: { what: 'last name', of: 'people', header: 'LastName' },
  name: { what: 'name', of: 'groups', header: 'DepartmentName' },
};

function missingColumnOf(
  path: string,
  people: Person[],
  groups: Entity[],
): ReturnType<LaidOutFile['missingColumnOf']> {
  const [, data, kind, index, field = ''] = path.split('/');
  const entity = (kind === 'users' ? people : kind === 'groups' ? groups : [])[Number(index)];
  const lack = required[field];
  if (data !== 'data' || !entity || !lack) return undefined;
  const tables = new Set(entity.rows.map(({ table }) => table));
  const columns = [...tables].flatMap(columnsOf);
  if (columns.some((column) => column.field === field)) return undefined;
  const names = columns.find((column) => isPartOf(field, column));
  const [row] = entity.rows as [Row];
  if (names) {
    const message =
      'New people must have a first and a last name. Enter both, for example Anna Berg or Berg, Anna.';
    return { type: 'invalid value', message, ...placeAt(row, names) };
  }
  const [{ sheet, headers }] = tables as unknown as [Table];
  const found = headerTexts(sheet.rows[headers] ?? []);
  const ignored = found.filter(({ index: at }) => !columns.some((column) => column.index === at));
  const texts = (some: { text: string }[]) => some.map(({ text }) => text);
  return {
    type: 'missing column',
    message:
      `New ${lack.of} must have a ${lack.what}, but no column contains it. ${foundHeaders(texts(found), texts(ignored))} Add a ` +
      `column with the ${lack.header} header, or choose the right column in the console.`,
    ...placeIn(sheet, headers),
  };
}
