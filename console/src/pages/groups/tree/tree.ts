// The group tree as rows: which are visible, which match a search, and where a group may be moved.
import type { TreeGroup } from '@soundings/contract/console/groups.ts';
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import { folded } from '../../../ui/form/group-combobox/find-groups.ts';

export type TreeRow = TreeGroup & {
  /** 1 at the top. */
  level: number;
  /** Its position among its siblings, from 1, and the number of siblings. */
  place: number;
  siblings: number;
  children: number;
  /** The number of descendants, which are the rows that follow it. */
  descendants: number;
  /** The number of levels below it. */
  depth: number;
};

export type Tree = { rows: TreeRow[]; indexOf: ReadonlyMap<number, number> };

/** Builds the tree from groups in tree order, each after its parent. */
export function buildTree(groups: readonly TreeGroup[]): Tree {
  const rows: TreeRow[] = groups.map((group) => ({
    ...group,
    level: 1,
    place: 1,
    siblings: 1,
    children: 0,
    descendants: 0,
    depth: 0,
  }));
  const indexOf = new Map(rows.map(({ id }, index) => [id, index]));
  const above = (row: TreeRow) => (row.parentId === null ? undefined : rows[indexOf.get(row.parentId) ?? -1]);
  let atTop = 0;
  for (const row of rows) {
    const parent = above(row);
    row.level = parent ? parent.level + 1 : 1;
    row.place = parent ? ++parent.children : ++atTop;
  }
  for (const row of rows.toReversed()) {
    const parent = above(row);
    row.siblings = parent ? parent.children : atTop;
    if (!parent) continue;
    parent.descendants += 1 + row.descendants;
    parent.depth = Math.max(parent.depth, row.depth + 1);
  }
  return { rows, indexOf };
}

export function treeRowOf({ rows, indexOf }: Tree, id: number): TreeRow | undefined {
  return rows[indexOf.get(id) ?? -1];
}

/** Returns the rows that are visible when the groups in `open` are expanded. */
export function visibleRows({ rows }: Tree, open: ReadonlySet<number>): TreeRow[] {
  const seen: TreeRow[] = [];
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as TreeRow;
    seen.push(row);
    if (!open.has(row.id)) i += row.descendants;
  }
  return seen;
}

/** Returns the groups whose name, externalId or id contains the search text, and the rows of these groups and of those above them. */
export function found(tree: Tree, search: string): { rows: TreeRow[]; matches: Set<number> } {
  const wanted = folded(search);
  const matches = new Set<number>();
  const shown = new Set<number>();
  for (const row of tree.rows) {
    const { id, name, externalId } = row;
    if (!folded(name).includes(wanted) && !folded(externalId ?? '').includes(wanted) && `${id}` !== wanted)
      continue;
    matches.add(id);
    for (let at: TreeRow | undefined = row; at && !shown.has(at.id); at = parentOf(tree, at))
      shown.add(at.id);
  }
  return { rows: tree.rows.filter(({ id }) => shown.has(id)), matches };
}

export const parentOf = (tree: Tree, { parentId }: TreeGroup): TreeRow | undefined =>
  parentId === null ? undefined : treeRowOf(tree, parentId);

/**
 * Whether a group may be moved to another group or to the top. It can't be moved to where it is, into itself or its subgroups, or
 * too deep.
 */
export function mayMove(tree: Tree, id: number, targetId: number | null): boolean {
  const row = treeRowOf(tree, id);
  if (!row || row.parentId === targetId) return false;
  if (targetId === null) return true;
  const [from, at] = [tree.indexOf.get(id) as number, tree.indexOf.get(targetId)];
  if (at === undefined || (at >= from && at <= from + row.descendants)) return false;
  return (treeRowOf(tree, targetId)?.level ?? 0) + 1 + row.depth <= maxTreeDepth;
}

/** Returns the next row after `index` whose name begins with the text. After the last row, it continues with the first. */
export function typedTo(rows: readonly TreeRow[], index: number, typed: string): number {
  const wanted = folded(typed);
  const start = typed.length > 1 ? index : index + 1;
  for (let step = 0; step < rows.length; step++) {
    const at = (start + step) % rows.length;
    if (folded(rows[at]?.name ?? '').startsWith(wanted)) return at;
  }
  return index;
}
