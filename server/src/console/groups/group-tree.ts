// The group tree as the console shows it: in order, with the number of people in each group and its subgroups. Pure.
import type { TreeGroup } from '@soundings/contract/console/groups.ts';
import { nearestStaying, parentsIn, type TreeNode, ancestorsOf } from '../../people/tree.ts';

/**
 * Returns for each group how many people are in it or its subgroups, each counted once. `memberships`: for each set of groups, how
 * many people are members of exactly these groups.
 */
export function peopleInSubtrees(
  nodes: readonly TreeNode<number>[],
  memberships: readonly { groupIds: number[]; people: number }[],
): Map<number, number> {
  const parents = parentsIn(nodes);
  const counts = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { groupIds, people } of memberships) {
    const counted = new Set<number>();
    for (const groupId of groupIds) for (const at of ancestorsOf(groupId, parents)) counted.add(at);
    for (const at of counted) counts.set(at, (counts.get(at) ?? 0) + people);
  }
  return counts;
}

/**
 * Returns the open groups (undefined: all), each after its parent, siblings sorted by name in a language. A group whose parent is
 * not open becomes a subgroup of the nearest open group above it, or moves to the top.
 */
export function inTreeOrder(
  groups: readonly TreeGroup[],
  language: string,
  open?: ReadonlySet<number>,
): TreeGroup[] {
  const shown = open ? groups.filter(({ id }) => open.has(id)) : groups;
  const present = new Set(shown.map(({ id }) => id));
  const parents = parentsIn(groups);
  const parentOf = (id: number) => parents.get(id) ?? null;
  const { compare } = new Intl.Collator(language, { numeric: true });
  const childrenOf = new Map<number | null, TreeGroup[]>();
  for (const group of shown.toSorted((a, b) => compare(a.name, b.name) || a.id - b.id)) {
    const parentId = nearestStaying(group.parentId, parentOf, (id) => present.has(id));
    const siblings = childrenOf.get(parentId) ?? [];
    siblings.push({ ...group, parentId });
    childrenOf.set(parentId, siblings);
  }
  const ordered: TreeGroup[] = [];
  const add = (parentId: number | null) => {
    for (const group of childrenOf.get(parentId) ?? []) {
      ordered.push(group);
      add(group.id);
    }
  };
  add(null);
  return ordered;
}
