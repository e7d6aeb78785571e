// The group tree as rows: which are visible, which match a search, and where a group may be moved.
import { placed, type PlacedGroup, type TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import { maxTreeDepth } from '@soundings/contract/limits.ts';
import { folded, type GroupOption } from '@soundings/contract/people/find-groups.ts';

export type TreeRow = PlacedGroup;

export type Tree = { rows: TreeRow[]; indexOf: ReadonlyMap<number, number> };

/** Builds the tree from groups in tree order, each after its parent. */
export function buildTree(groups: readonly TreeGroup[]): Tree {
  return treeOfRows(placed(groups));
}

const treeOfRows = (rows: TreeRow[]): Tree => ({
  rows,
  indexOf: new Map(rows.map(({ id }, index) => [id, index])),
});

/**
 * Builds a tree of which only some levels are loaded: `levels` has the subgroups of groups, and those at the top under null. The places of
 * the rows are those in the whole tree; only their descendants are those that are loaded.
 */
export function buildTreeOfLevels(levels: ReadonlyMap<number | null, readonly PlacedGroup[]>): Tree {
  const loaded: PlacedGroup[] = [];
  // Levels that were loaded before and after a move can contain a group twice, or each other.
  const seen = new Set<number>();
  const add = (parentId: number | null) => {
    for (const group of levels.get(parentId) ?? []) {
      if (seen.has(group.id)) continue;
      seen.add(group.id);
      loaded.push(group);
      add(group.id);
    }
  };
  add(null);
  const rows = placed(loaded).map(({ descendants }, i) => ({ ...(loaded[i] as PlacedGroup), descendants }));
  return treeOfRows(rows);
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
  const target = treeRowOf(tree, targetId);
  if (!target) return false;
  for (let at: TreeRow | undefined = target; at; at = parentOf(tree, at)) if (at.id === id) return false;
  return target.level + 1 + row.depth <= maxTreeDepth;
}

/** The same for a group that a list offers, which may be missing in a tree that is loaded in parts. The server checks the depth then. */
export function mayBeParent(
  tree: Tree,
  { id, parentId }: Pick<TreeGroup, 'id' | 'parentId'>,
  target: GroupOption,
): boolean {
  if (treeRowOf(tree, id) && treeRowOf(tree, target.id)) return mayMove(tree, id, target.id);
  return target.id !== id && target.id !== parentId && !target.above.includes(id);
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
