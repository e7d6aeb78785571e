// Finds a group among thousands by part of its name or externalId, with its place in the tree.
import type { TreeGroup } from '@soundings/contract/console/groups.ts';

export type FoundGroup = {
  id: number;
  name: string;
  people: number;
  /** The names of the groups above it, from the top. */ way: string;
};

/** Removes accents and capitals. */
export const folded = (text: string): string => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();

/** Returns the groups of a tree as options, each with the groups above it. */
export function groupsToFind(groups: readonly TreeGroup[]): (FoundGroup & { searchText: string })[] {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const ways = new Map<number, string>();
  const wayOf = (id: number | null): string => {
    const group = id === null ? undefined : byId.get(id);
    if (!group) return '';
    const known = ways.get(group.id);
    if (known !== undefined) return known;
    const above = wayOf(group.parentId);
    const way = above ? `${above} / ${group.name}` : group.name;
    ways.set(group.id, way);
    return way;
  };
  return groups.map(({ id, name, people, parentId, externalId }) => ({
    id,
    name,
    people,
    way: wayOf(parentId),
    searchText: folded(`${name} ${externalId ?? ''}`),
  }));
}

/** Returns at most `most` groups that contain every search word, names that begin with it first, and the total number. */
export function findGroups<Group extends { searchText: string }>(
  groups: readonly Group[],
  sought: string,
  most: number,
): { found: Group[]; total: number } {
  const text = folded(sought).trim();
  if (text === '') return { found: groups.slice(0, most), total: groups.length };
  const words = text.split(/\s+/);
  const matching = groups.filter((group) => words.every((word) => group.searchText.includes(word)));
  const rank = (group: Group) =>
    group.searchText.startsWith(text) ? 0 : group.searchText.includes(` ${words[0]}`) ? 1 : 2;
  return { found: matching.toSorted((a, b) => rank(a) - rank(b)).slice(0, most), total: matching.length };
}
