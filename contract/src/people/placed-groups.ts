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
  const rows = groups.map((group): PlacedGroup => ({
    ...group,
    level: 1,
    place: 1,
    siblings: 1,
    children: 0,
    descendants: 0,
    depth: 0,
  }));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const above = ({ parentId }: PlacedGroup) => (parentId === null ? undefined : byId.get(parentId));
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
  return rows;
}
