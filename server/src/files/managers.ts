// Who manages what, as columns such as IsManager and Manager tell it. Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import { quote } from '../base/text.ts';
import {
  type Entity,
  type Entry,
  groupsIn,
  hasRoom,
  noteNumbers,
  type Person,
  placeAt,
  type Row,
  rowsOf,
  type Task,
  textIn,
} from './entities.ts';
import { type Column, placeIn, type Table } from './headers.ts';
import { yesOrNo } from './values.ts';

/**
 * Reads who manages what, from columns such as IsManager, and from those that name the manager of a person or group.
 * Answers whether all managers are known by it: somebody is named, and nobody in vain. Only then those who are not named
 * manage nothing: a name that is misspelt must not take anybody's groups away.
 */
export function readManagers(tables: Table[], people: Person[], groups: Entity[], task: Task): boolean {
  const byId = new Map(people.map((person) => [person.id, person]));
  const naming = new Map<Table, Column[]>();
  const flags = new Map<Table, Column>();
  for (const table of tables) {
    const rows = rowsOf(table);
    const names = table.managers.filter(
      (column) => table.kind === 'groups' || !isYesOrNo(rows, column, byId),
    );
    for (const column of names) noteNumbers(rows, column, task.notes);
    naming.set(table, names);
    const [flag, ...others] = [
      ...table.isManager,
      ...table.managers.filter((column) => !names.includes(column)),
    ];
    if (flag) flags.set(table, flag);
    for (const { header } of others) {
      const message = `${quote(flag!.header)} and ${quote(header)} both say who is a manager. Keep one of them.`;
      task.notes.fault({
        type: 'repeated column',
        message,
        ...placeIn(table.sheet, table.headers),
        column: header,
      });
    }
  }
  for (const person of people) readFlags(person, flags, task);
  const mentions: Mention[] = [];
  const mention = (row: Row, managed: Entry[]) => {
    const columns = (naming.get(row.table) ?? []).filter((column) => textIn(row, column) !== '');
    if (columns.length > 0) mentions.push({ row, managed, columns });
  };
  for (const person of people) {
    for (const [i, row] of person.rows.entries()) mention(row, person.groups[i] as Entry[]);
  }
  for (const { id, rows } of groups) {
    for (const row of rows) mention(row, [{ group: id, name: undefined, row, column: row.table.id }]);
  }
  return nameManagers(mentions, people, byId, task);
}

/** Whether a column such as Manager has values, and each says yes or no. An id of somebody is a name, even if it is 1. */
function isYesOrNo(rows: Row[], column: Column, byId: ReadonlyMap<string, Person>): boolean {
  const texts = rows.map((row) => textIn(row, column)).filter((text) => text !== '');
  return texts.length > 0 && texts.every((text) => yesOrNo(text) !== undefined && !byId.has(text));
}

/** Reads columns such as IsManager: who is one administers the groups of that row. */
function readFlags(person: Person, flags: ReadonlyMap<Table, Column>, task: Task): void {
  for (const [i, row] of person.rows.entries()) {
    const flag = flags.get(row.table);
    const text = flag ? textIn(row, flag) : '';
    if (!flag || text === '') continue;
    const isManager = yesOrNo(text);
    if (isManager === undefined) {
      const message = `${quote(text)} does not say whether the person is a manager. Write yes or no.`;
      task.notes.fault({ type: 'invalid value', message, ...placeAt(row, flag) });
      continue;
    }
    person.isManager = person.isManager === true || isManager;
    if (isManager) manage(person, row, person.groups[i] as Entry[], task);
  }
}

function manage(manager: Person, row: Row, managed: Entry[], task: Task): void {
  if (!hasRoom(managed.length, row, task)) return;
  for (const entry of managed) manager.manages.push(entry);
}

/** What SuccessFactors writes for those who have none. */
const noManager = 'NO_MANAGER';

/** A row whose cells name the manager of groups. */
type Mention = { row: Row; columns: Column[]; managed: Entry[] };

/** Gives managers their groups. Warns of names that are nobody's of the file. */
function nameManagers(
  mentions: Mention[],
  people: Person[],
  byId: ReadonlyMap<string, Person>,
  task: Task,
): boolean {
  const byEmail = new Map<string, Person>();
  for (const person of people) {
    const email = person.fields.get('email')?.value;
    if (typeof email === 'string' && !byEmail.has(emailKey(email))) byEmail.set(emailKey(email), person);
  }
  const byName = peopleByName(people);
  const managerOf = (name: string): Person | undefined => {
    const [, before, id] = /^(.*\S)\s*\(([^()]+)\)$/.exec(name) ?? [];
    const found = byId.get(name) ?? byEmail.get(emailKey(name)) ?? (id && byId.get(id));
    return found || byName.get(nameKey(before ?? name)) || undefined;
  };
  const nobody: { row: Row; column: Column; name: string }[] = [];
  let isAnyone = false;
  for (const { row, columns, managed } of mentions) {
    const unknown: typeof nobody = [];
    const known = new Set<Column>();
    for (const column of columns) {
      for (const name of groupsIn(row, column, task)) {
        if (name === noManager) continue;
        const manager = managerOf(name);
        if (!manager) unknown.push({ row, column, name });
        else {
          known.add(column);
          manager.isNamed = true;
          manage(manager, row, managed, task);
        }
      }
    }
    isAnyone ||= known.size > 0;
    // A column of the names of managers, beside that of their ids, is as it should be.
    const isTold = (column: Column) => known.size > (known.has(column) ? 1 : 0);
    for (const one of unknown) if (!isTold(one.column)) nobody.push(one);
  }
  const columnsTold = new Set<Column>();
  const isFirst = ({ column }: { column: Column }) => !columnsTold.has(column) && columnsTold.add(column);
  for (const { row, column, name } of isAnyone ? nobody : nobody.filter(isFirst)) {
    const message = isAnyone
      ? `${quote(name)} is not the id, email address or full name of exactly one person in this file. The cell is ignored.`
      : `${quote(column.header)} has no id, email address or full name of a person in this file. The column is ignored.`;
    task.notes.warn({ type: 'invalid value', message, ...placeAt(row, column) });
  }
  return isAnyone && nobody.length === 0;
}

/** People by their full names; null where two have the same, which says of neither who is meant. */
function peopleByName(people: Person[]): Map<string, Person | null> {
  const byName = new Map<string, Person | null>();
  for (const person of people) {
    const [first, last] = [person.fields.get('firstName')?.value, person.fields.get('lastName')?.value];
    if (typeof first !== 'string' || typeof last !== 'string') continue;
    for (const key of new Set([nameKey(`${first} ${last}`), nameKey(`${last} ${first}`)])) {
      byName.set(key, byName.has(key) ? null : person);
    }
  }
  return byName;
}

/** A name as it is compared: Berg, Anna is Berg Anna. */
const nameKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s,]+/g, ' ')
    .trim();

/** The role of somebody for whom no column of roles gives one. */
export function inferredRole({ isManager, isNamed }: Person, isManaged: boolean): string | undefined {
  if (isManager === true || isNamed) return 'Manager';
  return isManager === false || isManaged ? 'User' : undefined;
}
