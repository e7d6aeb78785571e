// Where groups are in a tree: their level, their siblings and what is below them. Pure.

/** A group as the tree shows it. */
export type TreeGroup = {
  id: number;
  /** The nearest group above it that the caller can see; null: there is none. */
  parentId: number | null;
  name: string;
  externalId: string | null;
  managed: boolean;
  /** Active people in the group or its subgroups, each counted once. */
  people: number;
};

/** A group with its place in the tree that the caller can see. */
export type PlacedGroup = TreeGroup & {
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

/** Returns where each group is in a tree. `groups`: each after its parent. */
export function placed(groups: readonly TreeGroup[]): PlacedGroup[] {
  // Each field is named, because copying groups with all their fields takes longer.
  const rows = groups.map(({ id, parentId, name, externalId, managed, people }): PlacedGroup => ({
    id,
    parentId,
    name,
    externalId,
    managed,
    people,
    level: 1,
    place: 1,
    siblings: 1,
    children: 0,
    descendants: 0,
    depth: 0,
  }));
  const byId = new Map<number, PlacedGroup>();
  const parents: (PlacedGroup | undefined)[] = [];
  let atTop = 0;
  for (const row of rows) {
    const parent = row.parentId === null ? undefined : byId.get(row.parentId);
    row.level = parent ? parent.level + 1 : 1;
    row.place = parent ? ++parent.children : ++atTop;
    parents.push(parent);
    byId.set(row.id, row);
  }
  for (let i = rows.length - 1; i >= 0; i--) {
    const [row, parent] = [rows[i] as PlacedGroup, parents[i]];
    row.siblings = parent ? parent.children : atTop;
    if (!parent) continue;
    parent.descendants += 1 + row.descendants;
    parent.depth = Math.max(parent.depth, row.depth + 1);
  }
  return rows;
}
