// The group tree as the console shows it: in order, with the number of people in each group and its subgroups. Pure.
import { searchTextOf } from '@soundings/contract/people/find-groups.ts';
import type { TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import { nearestStaying, parentsIn, type TreeNode, ancestorsOf } from '../../people/tree.ts';

/** How many entries are handled before other requests are. */
const slice = 2_000;

/**
 * Returns for each group how many people are in it or its subgroups, each counted once. `memberships`: for each set of groups, how
 * many people are members of exactly these groups. Yields now and then, so that other requests can be handled.
 */
export function* peopleInSubtrees(
  nodes: readonly TreeNode<number>[],
  memberships: readonly { groupIds: number[]; people: number }[],
): Generator<void, Map<number, number>> {
  const parents = parentsIn(nodes);
  const counts = new Map(nodes.map(({ id }) => [id, 0]));
  yield;
  const add = (groupId: number, people: number) => counts.set(groupId, (counts.get(groupId) ?? 0) + people);
  for (const [i, { groupIds, people }] of memberships.entries()) {
    const counted =
      groupIds.length === 1
        ? ancestorsOf(groupIds[0] as number, parents)
        : new Set(groupIds.flatMap((groupId) => ancestorsOf(groupId, parents)));
    for (const at of counted) add(at, people);
    if (i % slice === slice - 1) yield;
  }
  return counts;
}

/** Returns each group with what a search looks through. Yields now and then. */
export function* searchTextsOf<Group extends Pick<TreeGroup, 'name' | 'externalId'>>(
  groups: readonly Group[],
): Generator<void, { group: Group; searchText: string }[]> {
  const texts: { group: Group; searchText: string }[] = [];
  for (const group of groups) {
    texts.push({ group, searchText: searchTextOf(group) });
    if (texts.length % slice === 0) yield;
  }
  return texts;
}

/** Siblings by their parent; null: the top level. */
export type Siblings = Map<number | null, TreeGroup[]>;

/** Returns the order of siblings in a language. */
export function byNameIn(language: string): (a: TreeGroup, b: TreeGroup) => number {
  const { compare } = new Intl.Collator(language, { numeric: true });
  return (a, b) => compare(a.name, b.name) || a.id - b.id;
}

/**
 * Returns the open groups (undefined: all) by parent, not sorted yet. The parent of each is the nearest open group above it: a group whose
 * parents are not open moves to the top. Yields now and then.
 */
export function* siblingsIn(
  groups: readonly TreeGroup[],
  open?: ReadonlySet<number>,
): Generator<void, Siblings> {
  const parents = parentsIn(groups);
  yield;
  const parentOf = (id: number) => parents.get(id) ?? null;
  const isShown = (id: number) => parents.has(id) && open?.has(id) !== false;
  const siblings: Siblings = new Map();
  for (const [i, group] of groups.entries()) {
    if (i % slice === slice - 1) yield;
    if (!isShown(group.id)) continue;
    const parentId = nearestStaying(group.parentId, parentOf, isShown);
    const own = siblings.get(parentId);
    const shown = parentId === group.parentId ? group : { ...group, parentId };
    if (own) own.push(shown);
    else siblings.set(parentId, [shown]);
  }
  return siblings;
}

/** Returns all groups, each after its parent, with siblings in the order given. Yields now and then. */
export function* flattened(siblings: Siblings): Generator<void, TreeGroup[]> {
  const ordered: TreeGroup[] = [];
  // The groups whose turn comes later, the next one last.
  const later = siblings.get(null)?.toReversed() ?? [];
  for (let group = later.pop(); group; group = later.pop()) {
    ordered.push(group);
    const below = siblings.get(group.id);
    if (below) for (let i = below.length; i > 0; i--) later.push(below[i - 1] as TreeGroup);
    if (ordered.length % slice === 0) yield;
  }
  return ordered;
}
