// Who manages what, as columns such as IsManager and Manager tell it. Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import {
  type Entity,
  type Entry,
  groupsIn,
  hasRoom,
  isNoted,
  noteNumbers,
  type Person,
  placeAt,
  type Row,
  rowsOf,
  type Task,
  textIn,
  yesOrNoIn,
} from './entities.ts';
import { type Column, repeatedColumn, type Table } from './headers.ts';
import { placesOf } from './noted-values.ts';
import { isPlaceholder, meaningOfValue, type SaidValues, shown } from './values.ts';

/**
 * Reads who manages what, from columns such as IsManager, and from those that name the manager of a person or group.
 * Answers whether all managers are known by it: somebody is named, and nobody in vain. Only then those who are not named
 * manage nothing: a name that is misspelt must not take anybody's groups away.
 */
export function readManagers(tables: Table[], people: Person[], groups: Entity[], task: Task): boolean {
  const byId = new Map(people.map((person) => [person.id, person]));
  const { values } = task.reading;
  const naming = new Map<Table, Column[]>();
  const flags = new Map<Table, Column>();
  for (const table of tables) {
    const rows = rowsOf(table);
    const names = table.managers.filter(
      (column) => table.kind === 'groups' || !isYesOrNo(rows, column, byId, values),
    );
    for (const column of names) noteNumbers(rows, column, task.notes);
    naming.set(table, names);
    const [flag, ...others] = [
      ...table.isManager,
      ...table.managers.filter((column) => !names.includes(column)),
    ];
    if (flag) flags.set(table, flag);
    for (const { header } of others) {
      task.notes.warn(repeatedColumn(table, flag as Column, [header]));
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
function isYesOrNo(
  rows: Row[],
  column: Column,
  byId: ReadonlyMap<string, Person>,
  values: SaidValues,
): boolean {
  const isKnown = (text: string) =>
    meaningOfValue('isManager', text, values) !== undefined && !byId.has(text);
  const isSaid = (text: string) => text !== '' && (isKnown(text) || !isPlaceholder(text));
  const texts = rows.map((row) => textIn(row, column)).filter(isSaid);
  return texts.length > 0 && texts.every(isKnown);
}

/** Reads columns such as IsManager: who is one administers the groups of that row. */
function readFlags(person: Person, flags: ReadonlyMap<Table, Column>, task: Task): void {
  for (const [i, row] of person.rows.entries()) {
    const flag = flags.get(row.table);
    const text = flag ? textIn(row, flag) : '';
    if (!flag || text === '') continue;
    const isManager = yesOrNoIn(row, flag, 'isManager', task);
    if (isManager === undefined) continue;
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

/** A name of a manager that is not one person's. */
type Unknown = { row: Row; column: Column; name: string; candidates: readonly Person[] };

/** A row whose cells name the manager of groups. */
type Mention = { row: Row; columns: Column[]; managed: Entry[] };

/** Gives managers their groups. Warns of names that are nobody's, or several people's, of the file. */
function nameManagers(
  mentions: Mention[],
  people: Person[],
  byId: ReadonlyMap<string, Person>,
  task: Task,
): boolean {
  const candidatesFor = candidatesAmong(people, byId);
  const unsolved: Unknown[] = [];
  let isAnyone = false;
  for (const { row, columns, managed } of mentions) {
    const unknown: Unknown[] = [];
    const known = new Set<Column>();
    for (const column of columns) {
      for (const name of groupsIn(textIn(row, column), row, task)) {
        if (name === noManager) continue;
        const candidates = candidatesFor(name);
        const [manager] = candidates;
        if (!manager && isNoted(row, column, task)) continue;
        if (!manager || candidates.length > 1) unknown.push({ row, column, name, candidates });
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
    for (const one of unknown) if (!isTold(one.column)) unsolved.push(one);
  }
  noteUnsolved(unsolved, isAnyone, task);
  return isAnyone && unsolved.length === 0;
}

/** Finds the people that a name can mean: by id, email address or full name, or by the id behind a name. */
function candidatesAmong(
  people: Person[],
  byId: ReadonlyMap<string, Person>,
): (name: string) => readonly Person[] {
  const byEmail = new Map<string, Person>();
  for (const person of people) {
    const email = person.fields.get('email')?.value;
    if (typeof email === 'string' && !byEmail.has(emailKey(email))) byEmail.set(emailKey(email), person);
  }
  const byName = peopleByName(people);
  return (name) => {
    const [, before, id] = /^(.*\S)\s*\(([^()]+)\)$/.exec(name) ?? [];
    const found = byId.get(name) ?? byEmail.get(emailKey(name)) ?? (id ? byId.get(id) : undefined);
    return found ? [found] : [...(byName.get(nameKey(before ?? name)) ?? [])];
  };
}

/**
 * Warns of names that are ignored, once for each column and name. The messages don't quote them: runs keep messages longer
 * than the people may stay.
 */
function noteUnsolved(unsolved: Unknown[], isAnyone: boolean, { notes }: Task): void {
  const note = (type: DetailType, { row, column, name }: Unknown, rows: Row[], message: string) =>
    notes.warn({ type, message, count: rows.length, ...placeAt(row, column), value: shown(name) });
  for (const [column, of] of Map.groupBy(unsolved, (one) => one.column)) {
    const names = [...Map.groupBy(of, ({ name }) => nameKey(name)).values()];
    for (const found of names.toSorted((a, b) => b.length - a.length)) {
      const [first] = found as [Unknown];
      const rows = found.map(({ row }) => row);
      if (first.candidates.length > 1) note('ambiguous name', first, rows, ambiguous(first, rows));
      else if (isAnyone) note('invalid value', first, rows, nobody(rows));
    }
    const inVain = isAnyone ? [] : of.filter(({ candidates }) => candidates.length === 0);
    const message = `${quote(column.header)} has no id, email address or full name of a person in this file. The column is ignored.`;
    if (inVain[0])
      note(
        'invalid value',
        inVain[0],
        inVain.map(({ row }) => row),
        message,
      );
  }
}

/** What is said of a manager who is not known. */
const ignoredName = 'The name is ignored. Until every name is known, no one loses a group that they manage.';

const nobody = (rows: Row[]) =>
  `The manager named in ${placesOf(rows)} is not the ID, email address or full name of a person in this file. ${ignoredName}`;

/** As many rows of candidates as are named. */
const candidatesNamed = 5;

function ambiguous({ candidates }: Unknown, named: Row[]): string {
  const rows = candidates.slice(0, candidatesNamed).map(({ rows: [first] }) => (first as Row).index + 1);
  const more = candidates.length > rows.length ? ', …' : '';
  return (
    `The manager named in ${placesOf(named)} has the full name of ${candidates.length} people in this file (rows ` +
    `${rows.join(', ')}${more}). ${ignoredName} Write the employee ID or the email address of the manager, or the ID ` +
    'behind the name, as in "Anna Berg (1001)".'
  );
}

/** People by their full names, which several may have. */
function peopleByName(people: Person[]): Map<string, Set<Person>> {
  const byName = new Map<string, Set<Person>>();
  for (const person of people) {
    const [first, last] = [person.fields.get('firstName')?.value, person.fields.get('lastName')?.value];
    if (typeof first !== 'string' || typeof last !== 'string') continue;
    for (const key of [nameKey(`${first} ${last}`), nameKey(`${last} ${first}`)]) {
      byName.set(key, (byName.get(key) ?? new Set()).add(person));
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
