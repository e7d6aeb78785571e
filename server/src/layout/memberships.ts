// Reads the groups of each person: the lists of group IDs and names in the cells of their rows. Pure.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import { quote } from '../base/text.ts';
import { placeAt, type Row, rowsOf, textIn } from './cells.ts';
import { type Entity, isNoted, type Task } from './entities.ts';
import { type Column, placeIn, type Table } from './tables.ts';
import { isClearMark, partsOf } from './values.ts';

/** A group in a cell, with its name from the matching column of names. */
export type Entry = { group: string; name: string | undefined; row: Row; column: Column };

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

/** The maximum number of group entries in one file. Without this limit, a small file could expand to billions of entries. */
export const maxEntries = 1_000_000;

/** Returns the ids and names in the sheets of groups. */
export function groupIdsAndNamesIn(tables: Table[]): Set<string> {
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

/**
 * Whether the file may have `count` more group entries. The first time that it may not, reports an error. After that, no
 * more entries are read.
 */
export function hasRoom(count: number, row: Row, task: Task): boolean {
  const hadRoom = task.room >= 0;
  task.room -= count;
  if (task.room >= 0) return true;
  if (hadRoom) {
    const message = `Up to this row, the file has more than ${maxEntries.toLocaleString('en')} group entries, the maximum. Send the list over the organization interface instead.`;
    task.notes.fault({ type: 'too many values', message, ...placeIn(row.table.sheet, row.index) });
  }
  return false;
}
