// The trees of groups that users of the console see, with the number of people in each group. Reading and sorting a tree of 60,000 groups
// and counting a million people takes seconds, so large trees are kept in memory until the account changes.
import type { Named } from '@soundings/contract/console/groups.ts';
import { maxWholeTree } from '@soundings/contract/limits.ts';
import { placed, type PlacedGroup, type TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { accountById } from '../../accounts/accounts.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import type { AccountId, Db, Pool } from '../../db/db.ts';
import { parentsIn } from '../../people/tree.ts';
import type { Who } from '../core/console.ts';
import {
  byNameIn,
  flattened,
  peopleInSubtrees,
  searchTextsOf,
  type Siblings,
  siblingsIn,
} from './group-tree.ts';
import {
  countPeopleWithin,
  type GroupHead,
  type MemberCount,
  selectGroupHeads,
  selectMemberCounts,
  selectTopGroups,
} from './groups.sql.ts';
import { openGroups } from './open-groups.ts';
import { inTurns, sortedInSlices, sortSlice } from './sorting.ts';

/** A group with what a search for groups looks through. */
export type SearchedGroup = { group: PlacedGroup; searchText: string };

/** The groups that a user sees. */
export type SeenTree = {
  /** Each after its parent, siblings sorted by name. */
  groups: readonly PlacedGroup[];
  /** Returns a group; undefined if the user doesn't see it. */
  get(groupId: number): PlacedGroup | undefined;
  /** Returns the index of a group that the user sees. */
  placeOf: (groupId: number) => number;
  /** The parent of each group that is read, whether the user sees it or not. These are all groups above those that the user sees. */
  parents: ReadonlyMap<number, number | null>;
  /** The top groups of those that are read, whether the user sees them or not. */
  tops: readonly Named[];
  /** The largest top group of the account, if the user sees it. */
  company: PlacedGroup | null;
  /** Each group with what a search looks through. Computed when it is first needed. */
  searched: () => Promise<readonly SearchedGroup[]>;
  /** Replaces the numbers of people. */
  setPeople(counted: ReadonlyMap<number, number>): void;
};

export type Trees = {
  /** Returns the tree of a user, sorted for a language: by default that of the account. */
  of(db: Db, who: Who, language?: string): Promise<SeenTree>;
  /** Returns how many active people are in a group that the user sees, including its subgroups. */
  peopleIn(db: Db, who: Who, groupId: number): Promise<number>;
};

/** How many groups of all trees in memory there are at most. 60,000 groups take about 30 MB. */
const mostKept = 150_000;

type Kept = { version: string; reading: Promise<SeenTree>; size: number };

/** `pool`: for counting people while no request waits for it. */
export function openTrees(pool: Promise<Pool>): Trees {
  // In order of last use, because a Map keeps its insertion order.
  const kept = new Map<string, Kept>();
  const counts = openCounts(pool);
  function makeRoom(key: string, one: Kept, { groups }: SeenTree): void {
    if (kept.get(key) !== one) return;
    one.size = groups.length;
    if (one.size <= maxWholeTree) kept.delete(key);
    let size = [...kept.values()].reduce((sum, each) => sum + each.size, 0);
    for (const [oldest, each] of kept) {
      if (size <= mostKept || oldest === key) break;
      kept.delete(oldest);
      size -= each.size;
    }
  }
  async function readNew(db: Db, who: Who, language: string, key: string): Promise<SeenTree> {
    const one: Kept = { version: who.version, reading: readTree(db, who, language, counts.of), size: 0 };
    kept.set(key, one);
    try {
      const tree = await one.reading;
      makeRoom(key, one, tree);
      counts.renew(who, tree);
      return tree;
    } catch (error) {
      if (kept.get(key) === one) kept.delete(key);
      throw error;
    }
  }
  return {
    async of(db, who, language) {
      const sorted = language ?? (await accountById(db, who.accountId)).language;
      const key = `${viewOf(who)} ${sorted}`;
      const found = kept.get(key);
      kept.delete(key);
      if (found?.version !== who.version) return readNew(db, who, sorted, key);
      kept.set(key, found);
      // The request that began to read it may have lost its connection, or taken too long.
      const tree = await found.reading.catch(() => readNew(db, who, sorted, key));
      counts.renew(who, tree);
      return tree;
    },
    peopleIn: async (db, who, groupId) =>
      counts.known(who, groupId) ?? countPeopleWithin(db, who.accountId, groupId),
  };
}

/** What a user sees: administrators of an account see the same. */
const viewOf = ({ accountId, role, userId }: Who): string =>
  hasRole({ role }, 'Administrator') ? `${accountId}` : `${accountId} ${role} ${userId}`;

type People = ReadonlyMap<number, number>;

/** The groups that a user is allowed to see; undefined: all. */
type Open = ReadonlySet<number> | undefined;

/** Groups to count the people in: the groups themselves, which may still be loading, and the function that reads who is in them. */
type Counted = { open: Open; heads: Promise<readonly GroupHead[]>; members: () => Promise<MemberCount[]> };
type Count = (who: Who, groups: Counted) => Promise<People>;

const countNow: Count = async (_, groups) => {
  const [heads, members] = await Promise.all([groups.heads, groups.members()]);
  return inTurns(peopleInSubtrees(heads, members));
};

type Counts = {
  of: Count;
  /** Counts the people of a tree again in the background, and puts the new numbers into it, if the account has changed since. */
  renew(who: Who, tree: SeenTree): void;
  /** Returns the last number of people in a group, unless the account has changed and no one counts them again. */
  known(who: Who, groupId: number): number | undefined;
};

/** How many counts of large trees are kept. */
const countsKept = 8;

/**
 * Keeps the numbers of people in the groups of large trees. After a change of the account, the last numbers are shown until they are
 * counted again in the background, which takes seconds with a million people. In small trees, they are counted for each reading.
 */
function openCounts(pool: Promise<Pool>): Counts {
  const kept = new Map<string, { version: string; people: People; open: Open }>();
  const counting = new Set<string>();
  /** The version of the numbers in each tree. Without it, those who use more trees than there are counts would count them each time. */
  const countedAt = new WeakMap<SeenTree, string>();
  const keep = (who: Who, people: People, open: Open) => {
    const key = viewOf(who);
    kept.delete(key);
    kept.set(key, { version: who.version, people, open });
    for (const oldest of kept.keys()) {
      if (kept.size <= countsKept) break;
      kept.delete(oldest);
    }
  };
  async function recount(who: Who, tree: SeenTree): Promise<void> {
    const db = await pool;
    const open = await openGroups(db, who);
    const { members } = await readMembers(db, who.accountId, open);
    const heads = [...tree.parents].map(([id, parentId]) => ({ id, parentId }));
    const people = await inTurns(peopleInSubtrees(heads, await members()));
    keep(who, people, open);
    tree.setPeople(people);
    countedAt.set(tree, who.version);
  }
  return {
    async of(who, groups) {
      const last = kept.get(viewOf(who));
      // In groups that the user could not see before, no one was counted.
      const isUsable = last !== undefined && isSameSet(last.open, groups.open);
      if (isUsable && (await groups.heads).length > maxWholeTree) return last.people;
      const people = await countNow(who, groups);
      if ((await groups.heads).length > maxWholeTree) keep(who, people, groups.open);
      return people;
    },
    renew(who, tree) {
      const key = viewOf(who);
      if (tree.parents.size <= maxWholeTree || counting.has(key)) return;
      if (countedAt.get(tree) === who.version) return;
      const last = kept.get(key);
      if (last?.version === who.version) {
        // Another tree of the same groups, in another language, may have been the one to count them.
        tree.setPeople(last.people);
        countedAt.set(tree, who.version);
        return;
      }
      counting.add(key);
      // If counting fails, the next request for the tree counts again.
      recount(who, tree)
        .catch(() => {})
        .finally(() => counting.delete(key));
    },
    known(who, groupId) {
      const key = viewOf(who);
      const last = kept.get(key);
      if (last?.open && !last.open.has(groupId)) return undefined;
      return last?.version === who.version || counting.has(key) ? last?.people.get(groupId) : undefined;
    },
  };
}

const isSameSet = (a: Open, b: Open): boolean =>
  a === b || (a?.size === b?.size && a?.isSubsetOf(b as ReadonlySet<number>) === true);

/** Reads the tree of a user in slices, so that other requests are handled between them. */
export async function readTree(
  db: Db,
  who: Who,
  language: string,
  count: Count = countNow,
): Promise<SeenTree> {
  const open = await openGroups(db, who);
  const { heads: readHeads, members } = await readMembers(db, who.accountId, open);
  const heads = readHeads();
  const [tree, people] = await Promise.all([
    heads.then((found) => sortedTree(found, open, language)),
    count(who, { open, heads, members }),
  ]);
  for (const group of tree.groups) group.people = people.get(group.id) ?? 0;
  return seenTree({ ...tree, people });
}

/** Sorts the groups of a tree, which have no numbers of people yet. */
async function sortedTree(
  heads: readonly GroupHead[],
  open: Open,
  language: string,
): Promise<Omit<Read, 'people'>> {
  const rows = heads.map(({ id, parentId, name, externalId, managed }): TreeGroup => ({
    id,
    parentId,
    name,
    externalId,
    managed,
    people: 0,
  }));
  await nextTurn();
  const siblings = await inTurns(siblingsIn(rows, open));
  await sortSiblings(siblings, byNameIn(language));
  const groups = placed(await inTurns(flattened(siblings)));
  await nextTurn();
  const places = new Map(groups.map(({ id }, place) => [id, place]));
  await nextTurn();
  const tops = rows.filter(({ parentId }) => parentId === null);
  return { groups, places, parents: parentsIn(heads), tops };
}

type Read = {
  groups: readonly PlacedGroup[];
  places: ReadonlyMap<number, number>;
  parents: SeenTree['parents'];
  tops: readonly TreeGroup[];
  people: People;
};

function seenTree({ groups, places, parents, tops, people }: Read): SeenTree {
  let shown = people;
  let searched: ReturnType<SeenTree['searched']> | undefined;
  let company: number | undefined;
  const groupOf = (id: number) => groups[places.get(id) ?? -1];
  return {
    groups,
    get: groupOf,
    placeOf: (id) => places.get(id) as number,
    parents,
    tops: tops.map(({ id, name }) => ({ id, name })),
    get company() {
      company ??= largestOf(tops, shown);
      return groupOf(company ?? 0) ?? null;
    },
    searched: () => (searched ??= inTurns(searchTextsOf(groups))),
    setPeople(counted) {
      if (counted === shown) return;
      shown = counted;
      company = undefined;
      for (const group of groups) group.people = counted.get(group.id) ?? 0;
    },
  };
}

/** Returns the id of the largest group, or of the first of several; undefined if there are none. */
function largestOf(groups: readonly { id: number }[], people: People): number | undefined {
  const size = (id: number | undefined) => (id === undefined ? -1 : (people.get(id) ?? 0));
  let largest: number | undefined;
  for (const { id } of groups) if (size(id) > size(largest)) largest = id;
  return largest;
}

/** Reads the groups that a user sees, and who is in them. If one of them is at the top, reads the whole account, to know the largest. */
async function readMembers(db: Db, accountId: AccountId, open: ReadonlySet<number> | undefined) {
  const { tops } = open ? await selectTopGroups(db, accountId) : { tops: [] };
  const isWhole = open === undefined || (tops.length > 1 && tops.some(({ id }) => open.has(id)));
  const ids = isWhole ? undefined : [...open];
  return {
    heads: () => selectGroupHeads(db, accountId, ids),
    members: () => selectMemberCounts(db, accountId, ids),
  };
}

async function sortSiblings(
  siblings: Siblings,
  compare: (a: TreeGroup, b: TreeGroup) => number,
): Promise<void> {
  let sorted = 0;
  for (const [parentId, some] of siblings) {
    if (some.length > sortSlice) siblings.set(parentId, await sortedInSlices(some, compare));
    else some.sort(compare);
    sorted += some.length;
    if (sorted < sortSlice) continue;
    sorted = 0;
    await nextTurn();
  }
}
