// The group hierarchy, computed from parent links. Pure.

export type TreeNode<Id> = { id: Id; parentId: Id | null };

/**
 * Returns for each group the ids of its descendants at any depth, in ascending order (decision A1). Each group adds its id to
 * all its ancestors; processing the groups in ascending order keeps each list sorted.
 */
export function subgroupsOf(nodes: readonly TreeNode<number>[]): Map<number, number[]> {
  const parents = parentsIn(nodes);
  const descendants = new Map<number, number[]>(nodes.map(({ id }) => [id, []]));
  for (const { id, parentId } of nodes.toSorted((a, b) => a.id - b.id)) {
    for (const ancestor of ancestorsOf(parentId, parents)) descendants.get(ancestor)?.push(id);
  }
  return descendants;
}

/** Returns the parent of each group, by id. */
export const parentsIn = <Id>(nodes: readonly TreeNode<Id>[]): Map<Id, Id | null> =>
  new Map(nodes.map(({ id, parentId }) => [id, parentId]));

/** Returns a group and all its ancestors, from the nearest to the top. Empty if `groupId` is null. */
export function ancestorsOf(groupId: number | null, parents: ReadonlyMap<number, number | null>): number[] {
  const path: number[] = [];
  for (let at = groupId; at !== null; at = parents.get(at) ?? null) path.push(at);
  return path;
}

/**
 * Returns each cycle of parent links once, starting and ending with the same group, and the groups that are nested deeper than
 * `maxDepth` levels. Both are empty for a valid hierarchy.
 */
export function treeFaults<Id>(
  nodes: readonly TreeNode<Id>[],
  maxDepth: number,
): { cycles: Id[][]; tooDeep: Id[] } {
  const parents = parentsIn(nodes);
  const depths = new Map<Id, number>(); // 1 for a top-level group; Infinity for groups in or under a cycle
  const cycles: Id[][] = [];
  for (const { id } of nodes) {
    const path: Id[] = [];
    const place = new Map<Id, number>();
    let at: Id | null = id;
    while (at !== null && parents.has(at) && !depths.has(at) && !place.has(at)) {
      place.set(at, path.length);
      path.push(at);
      at = parents.get(at) ?? null;
    }
    const cycleStart = at === null ? undefined : place.get(at);
    if (cycleStart !== undefined) cycles.push([...path.slice(cycleStart), at as Id]);
    let depth = cycleStart !== undefined ? Infinity : at === null ? 0 : (depths.get(at) ?? 0);
    for (const one of path.toReversed()) depths.set(one, ++depth);
  }
  const tooDeep = [...depths].filter(([, depth]) => depth > maxDepth && depth < Infinity).map(([id]) => id);
  return { cycles, tooDeep };
}

/** Returns the nearest ancestor that stays, starting with `parentId` itself; null if none does. */
export function nearestStaying<Id>(
  parentId: Id | null,
  parentOf: (id: Id) => Id | null,
  stays: (id: Id) => boolean,
): Id | null {
  let at = parentId;
  while (at !== null && !stays(at)) at = parentOf(at);
  return at;
}
