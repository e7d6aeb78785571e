// What pages show of a tree of groups: all of it, the subgroups of a group, or what a search finds.
import type {
  FoundGroups,
  GroupOptions,
  TreeOfGroups,
  Subgroups,
} from '@soundings/contract/console/groups.ts';
import {
  maxGroupOptions,
  maxGroupsFound,
  maxSubgroupsListed,
  maxWholeTree,
} from '@soundings/contract/limits.ts';
import { findGroups, folded, type GroupOption } from '@soundings/contract/people/find-groups.ts';
import type { PlacedGroup, TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import { groupNotFound } from '../../people/faults.ts';
import type { SeenTree } from './trees.ts';

/** Returns the whole tree, or only its top level if there are many groups. */
export function treeOf({ groups }: SeenTree): TreeOfGroups {
  const about = { count: groups.length, managed: groups.filter(({ managed }) => managed).length };
  return groups.length <= maxWholeTree
    ? { ...about, isWhole: true, groups: groups.map(withoutPlace) }
    : { ...about, isWhole: false, groups: levelIn(groups, 0, groups.length) };
}

// The browser computes the places of a tree that it has as a whole, because sending them would double the response.
const withoutPlace = ({ id, parentId, name, externalId, managed, people }: PlacedGroup): TreeGroup => ({
  id,
  parentId,
  name,
  externalId,
  managed,
  people,
});

/** Returns the subgroups of a group. Throws a Fault if it is not in the tree. */
export function subgroupsIn({ groups, get, placeOf }: SeenTree, groupId: number): Subgroups {
  const group = get(groupId);
  if (!group) throw groupNotFound();
  const start = placeOf(groupId) + 1;
  return { groups: levelIn(groups, start, start + group.descendants), total: group.children };
}

/** Returns the groups on the first level of a range, at most as many as are listed. */
function levelIn(groups: SeenTree['groups'], start: number, end: number): PlacedGroup[] {
  const level: PlacedGroup[] = [];
  for (let i = start; i < end && level.length < maxSubgroupsListed; i += 1 + groups[i]!.descendants)
    level.push(groups[i]!);
  return level;
}

/** Returns the groups whose name, externalId or id matches, and the groups above them. */
export function foundIn(tree: SeenTree, search: string): FoundGroups {
  const wanted = folded(search);
  const matches = tree
    .options()
    .filter(({ id, searchText }) => searchText.includes(wanted) || `${id}` === wanted);
  const some = matches.slice(0, maxGroupsFound);
  const shown = new Set(some.flatMap(({ id, above }) => [id, ...above]));
  const places = [...shown].map((id) => tree.placeOf(id)).toSorted((a, b) => a - b);
  return {
    groups: places.map((place) => tree.groups[place]!),
    matches: some.map(({ id }) => id),
    total: matches.length,
  };
}

/** Returns the groups to choose from: those with the ids, or those that match, the best first. */
export function optionsIn(tree: SeenTree, search: string, ids: readonly number[] | undefined): GroupOptions {
  const all = tree.options();
  if (ids) {
    const wanted = ids.filter((id) => tree.get(id));
    return { options: wanted.map((id) => optionOf(all[tree.placeOf(id)]!)), total: wanted.length };
  }
  const { found, total } = findGroups(all, search, maxGroupOptions);
  return { options: found.map(optionOf), total };
}

const optionOf = ({ id, name, people, path, managed, above }: GroupOption): GroupOption => ({
  id,
  name,
  people,
  path,
  managed,
  above,
});
