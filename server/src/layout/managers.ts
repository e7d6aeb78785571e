// Determines who manages which groups, from columns such as IsManager and Manager. Pure.
import { emailKey } from '@soundings/contract/formats.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { quote } from '../base/text.ts';
import { noteNumbers, placeAt, type Row, rowsOf, textIn } from './cells.ts';
import { type Entity, isNoted, type Task, yesOrNoIn } from './entities.ts';
import { type Entry, groupsIn, hasRoom, type Person } from './memberships.ts';
import { placesOf } from './noted-values.ts';
import { type Column, repeatedColumn, type Table } from './tables.ts';
import { isPlaceholder, type MappedValues, meaningOfValue, shown } from './values.ts';

/**
 * Reads who manages what, from columns such as IsManager and from columns that name the manager of a person or group.
 * Returns whether the file names all managers: at least one is named, and every name is known. Only then do people who are not
 * named lose their groups, so that a misspelt name takes no groups away from anyone.
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

/** Whether all values of a column such as Manager are yes or no. The id of a person counts as a name, even if it is 1. */
function isYesOrNo(
  rows: Row[],
  column: Column,
  byId: ReadonlyMap<string, Person>,
  values: MappedValues,
): boolean {
  const isKnown = (text: string) =>
    meaningOfValue('isManager', text, values) !== undefined && !byId.has(text);
  const hasValue = (text: string) => text !== '' && (isKnown(text) || !isPlaceholder(text));
  const texts = rows.map((row) => textIn(row, column)).filter(hasValue);
  return texts.length > 0 && texts.every(isKnown);
}

/** Reads columns such as IsManager: a person with yes manages the groups of that row. */
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

/** SuccessFactors writes this for people without a manager. */
const noManager = 'NO_MANAGER';

/** A manager name that no person has, or that several people have. */
type Unknown = { row: Row; column: Column; name: string; candidates: readonly Person[] };

/** A row whose cells name the manager of groups. */
type Mention = { row: Row; columns: Column[]; managed: Entry[] };

/** Gives managers their groups. Warns about names that no person in the file has, or that several people have. */
function nameManagers(
  mentions: Mention[],
  people: Person[],
  byId: ReadonlyMap<string, Person>,
  task: Task,
): boolean {
  // Few files name managers.
  if (mentions.length === 0) return false;
  const candidatesFor = candidatesAmong(people, byId);
  const unsolved: Unknown[] = [];
  let isAnyKnown = false;
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
    isAnyKnown ||= known.size > 0;
    // If another column identifies the manager, for example by id, an unknown name isn't a problem.
    const isElsewhere = (column: Column) => known.size > (known.has(column) ? 1 : 0);
    for (const one of unknown) if (!isElsewhere(one.column)) unsolved.push(one);
  }
  noteUnsolved(unsolved, isAnyKnown, task);
  return isAnyKnown && unsolved.length === 0;
}

/** Finds the people that a name can mean: by id, email address or full name, or by an id in parentheses after the name. */
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
 * Warns about names that are ignored, once for each column and name. The messages don't quote the names: runs keep messages
 * longer than personal data may be kept.
 */
function noteUnsolved(unsolved: Unknown[], isAnyKnown: boolean, { notes }: Task): void {
  const note = (type: DetailType, { row, column, name }: Unknown, rows: Row[], message: string) =>
    notes.warn({ type, message, count: rows.length, ...placeAt(row, column), value: shown(name) });
  for (const [column, of] of Map.groupBy(unsolved, (one) => one.column)) {
    const names = [...Map.groupBy(of, ({ name }) => nameKey(name)).values()];
    for (const found of names.toSorted((a, b) => b.length - a.length)) {
      const [first] = found as [Unknown];
      const rows = found.map(({ row }) => row);
      if (first.candidates.length > 1) note('ambiguous name', first, rows, ambiguous(first, rows));
      else if (isAnyKnown) note('invalid value', first, rows, unknownManager(rows));
    }
    const unmatched = isAnyKnown ? [] : of.filter(({ candidates }) => candidates.length === 0);
    const message = `${quote(column.header)} contains no ID, email address or full name of a person in this file. The column is ignored.`;
    if (unmatched[0])
      note(
        'invalid value',
        unmatched[0],
        unmatched.map(({ row }) => row),
        message,
      );
  }
}

/** The effect of a manager name that is ignored. */
const ignoredName = 'The name is ignored. While a manager is unknown, current managers keep their groups.';

const unknownManager = (rows: Row[]) =>
  `The manager in ${placesOf(rows)} is unknown: no person in this file has this ID, email address or full name. ${ignoredName}`;

/** The maximum number of rows of candidates that a message lists. */
const maxCandidates = 5;

function ambiguous({ candidates }: Unknown, named: Row[]): string {
  const rows = candidates.slice(0, maxCandidates).map(({ rows: [first] }) => (first as Row).index + 1);
  const more = candidates.length > rows.length ? ', …' : '';
  return (
    `The manager in ${placesOf(named)} is ambiguous: ${candidates.length} people in this file have that full name (rows ` +
    `${rows.join(', ')}${more}). ${ignoredName} Enter the manager's employee ID or email address, or add the ID after ` +
    'the name, as in "Anna Berg (1001)".'
  );
}

/** Returns the people by full name. Several people may share a name. */
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

/** Returns the form in which names are compared: "Berg, Anna" equals "Berg Anna". */
const nameKey = (name: string): string =>
  name
    .normalize('NFC')
    .toLowerCase()
    .replace(/[\s,]+/g, ' ')
    .trim();

/** Returns the role of a person whose role no column gives. */
export function inferredRole({ isManager, isNamed }: Person, isManaged: boolean): string | undefined {
  if (isManager === true || isNamed) return 'Manager';
  return isManager === false || isManaged ? 'User' : undefined;
}
