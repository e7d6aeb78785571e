// The forest of groups, as pure functions over parent links.

export type TreeNode<Id> = { id: Id; parentId: Id | null };

/**
 * For each group the ids of all groups beneath it, at any depth, ascending (decision A1). Each group hands its id
 * to every group above it; going through them in ascending order makes each list ascending.
 */
export function subgroupsOf(nodes: readonly TreeNode<number>[]): Map<number, number[]> {
  const parents = parentsIn(nodes);
  const beneath = new Map<number, number[]>(nodes.map(({ id }) => [id, []]));
  for (const { id, parentId } of nodes.toSorted((a, b) => a.id - b.id)) {
    for (const above of wayUp(parentId, parents)) beneath.get(above)?.push(id);
  }
  return beneath;
}

/** The groups by id, each with the one above it. */
export const parentsIn = <Id>(nodes: readonly TreeNode<Id>[]): Map<Id, Id | null> =>
  new Map(nodes.map(({ id, parentId }) => [id, parentId]));

/** A group and all above it, up to the top. Without one: none. */
export function wayUp(groupId: number | null, parents: ReadonlyMap<number, number | null>): number[] {
  const way: number[] = [];
  for (let at = groupId; at !== null; at = parents.get(at) ?? null) way.push(at);
  return way;
}

/**
 * Each cycle of the parent links once, from any of its groups up to the same one again; and the groups that are on
 * a level beyond `maxDepth`. In a forest within the limit both are empty.
 */
export function treeFaults<Id>(
  nodes: readonly TreeNode<Id>[],
  maxDepth: number,
): { cycles: Id[][]; tooDeep: Id[] } {
  const parents = parentsIn(nodes);
  const depths = new Map<Id, number>(); // 1 for a group at the top; Infinity on and beneath a cycle
  const cycles: Id[][] = [];
  for (const { id } of nodes) {
    const way: Id[] = [];
    const place = new Map<Id, number>();
    let at: Id | null = id;
    while (at !== null && parents.has(at) && !depths.has(at) && !place.has(at)) {
      place.set(at, way.length);
      way.push(at);
      at = parents.get(at) ?? null;
    }
    const met = at === null ? undefined : place.get(at);
    if (met !== undefined) cycles.push([...way.slice(met), at as Id]);
    let depth = met !== undefined ? Infinity : at === null ? 0 : (depths.get(at) ?? 0);
    for (const one of way.toReversed()) depths.set(one, ++depth);
  }
  const tooDeep = [...depths].filter(([, depth]) => depth > maxDepth && depth < Infinity).map(([id]) => id);
  return { cycles, tooDeep };
}

/** The nearest group above, `parentId` itself included, that stays; null when none does: then it is at the top. */
export function nearestStaying<Id>(
  parentId: Id | null,
  parentOf: (id: Id) => Id | null,
  stays: (id: Id) => boolean,
): Id | null {
  let at = parentId;
  while (at !== null && !stays(at)) at = parentOf(at);
  return at;
}
