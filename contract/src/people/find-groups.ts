// Finds a group among thousands by part of its name or externalId, with its place in the tree.
import type { TreeGroup } from './placed-groups.ts';

export type GroupOption = {
  id: number;
  name: string;
  people: number;
  /** The names of the groups above it, from the top. */
  path: string;
  managed: boolean;
  /** The ids of the groups above it, nearest first. */
  above: number[];
};

const isPlain = /^[ -~]*$/;

/** Removes accents and converts to lower case. */
export const folded = (text: string): string =>
  (isPlain.test(text) ? text : text.normalize('NFD').replace(/\p{M}/gu, '')).toLowerCase();

/** Returns what a search for groups looks through. */
export const searchTextOf = ({ name, externalId }: Pick<TreeGroup, 'name' | 'externalId'>): string =>
  folded(`${name} ${externalId ?? ''}`);

/** Returns the groups of a tree as options, each with the groups above it. */
export function groupOptions(groups: readonly TreeGroup[]): (GroupOption & { searchText: string })[] {
  const byId = new Map(groups.map((group) => [group.id, group]));
  const known = new Map<number, { path: string; above: number[] }>();
  const placeOf = (id: number | null): { path: string; above: number[] } => {
    const group = id === null ? undefined : byId.get(id);
    if (!group) return { path: '', above: [] };
    const place = known.get(group.id) ?? placeBelow(group);
    known.set(group.id, place);
    return place;
  };
  const placeBelow = ({ id, name, parentId }: TreeGroup) => {
    const { path, above } = placeOf(parentId);
    return { path: path ? `${path} / ${name}` : name, above: [id, ...above] };
  };
  return groups.map(({ id, name, people, parentId, externalId, managed }) => ({
    id,
    name,
    people,
    managed,
    ...placeOf(parentId),
    searchText: searchTextOf({ name, externalId }),
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
