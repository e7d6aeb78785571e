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
export async function foundIn(tree: SeenTree, search: string): Promise<FoundGroups> {
  const wanted = folded(search);
  const matches = (await tree.searched()).filter(
    ({ group, searchText }) => searchText.includes(wanted) || `${group.id}` === wanted,
  );
  const some = matches.slice(0, maxGroupsFound).map(({ group }) => group);
  const shown = new Set(some.flatMap((group) => [group, ...aboveIn(tree, group)]).map(({ id }) => id));
  const places = [...shown].map((id) => tree.placeOf(id)).toSorted((a, b) => a - b);
  return {
    groups: places.map((place) => tree.groups[place]!),
    matches: some.map(({ id }) => id),
    total: matches.length,
  };
}

/** Returns the groups to choose from: those with the ids, or those that match, the best first. */
export async function optionsIn(
  tree: SeenTree,
  search: string,
  ids: readonly number[] | undefined,
): Promise<GroupOptions> {
  if (ids) {
    const options = ids.flatMap((id) => tree.get(id) ?? []).map((group) => optionIn(tree, group));
    return { options, total: options.length };
  }
  const { found, total } = findGroups(await tree.searched(), search, maxGroupOptions);
  return { options: found.map(({ group }) => optionIn(tree, group)), total };
}

function optionIn(tree: SeenTree, group: PlacedGroup): GroupOption {
  const above = aboveIn(tree, group);
  return {
    id: group.id,
    name: group.name,
    people: group.people,
    path: above
      .map(({ name }) => name)
      .toReversed()
      .join(' / '),
    managed: group.managed,
    above: above.map(({ id }) => id),
  };
}

/** Returns the groups above a group that the user sees, nearest first. */
function aboveIn(tree: SeenTree, { parentId }: PlacedGroup): PlacedGroup[] {
  const above: PlacedGroup[] = [];
  for (let at = parentId; at !== null; at = above.at(-1)!.parentId) above.push(tree.get(at)!);
  return above;
}
