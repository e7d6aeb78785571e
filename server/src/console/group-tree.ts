// The tree of groups as the console shows it: in its order, with the people in and beneath each group. Pure.
import type { TreeGroup } from '@soundings/contract/console.groups.ts';
import { nearestStaying, parentsIn, type TreeNode, wayUp } from '../people/tree.ts';

/**
 * For each group how many people are in it or beneath it, each once. `memberships`: how many people are in exactly these
 * groups, for each set of groups.
 */
export function peopleBeneath(
  nodes: readonly TreeNode<number>[],
  memberships: readonly { groupIds: number[]; people: number }[],
): Map<number, number> {
  const parents = parentsIn(nodes);
  const counts = new Map(nodes.map(({ id }) => [id, 0]));
  for (const { groupIds, people } of memberships) {
    const met = new Set<number>();
    for (const groupId of groupIds) for (const at of wayUp(groupId, parents)) met.add(at);
    for (const at of met) counts.set(at, (counts.get(at) ?? 0) + people);
  }
  return counts;
}

/**
 * The groups that are open (undefined: all), each after the one above it, those beside each other by name in a language. A
 * group whose upper group is not open stands beneath the nearest one above it that is, else at the top.
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
  const beneath = new Map<number | null, TreeGroup[]>();
  for (const group of shown.toSorted((a, b) => compare(a.name, b.name) || a.id - b.id)) {
    const parentId = nearestStaying(group.parentId, parentOf, (id) => present.has(id));
    const siblings = beneath.get(parentId) ?? [];
    siblings.push({ ...group, parentId });
    beneath.set(parentId, siblings);
  }
  const ordered: TreeGroup[] = [];
  const add = (parentId: number | null) => {
    for (const group of beneath.get(parentId) ?? []) {
      ordered.push(group);
      add(group.id);
    }
  };
  add(null);
  return ordered;
}
