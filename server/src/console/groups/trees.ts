// The trees of groups that users of the console see, with the number of people in each group. Reading and sorting a tree of 60,000 groups
// and counting a million people takes seconds, so large trees are kept in memory until the account changes.
import type { Named, TreeGroup } from '@soundings/contract/console/groups.ts';
import { maxWholeTree } from '@soundings/contract/limits.ts';
import { type GroupOption, groupOptions } from '@soundings/contract/people/find-groups.ts';
import { placed, type PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { accountById } from '../../accounts/accounts.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { parentsIn } from '../../people/tree.ts';
import type { Who } from '../core/console.ts';
import { byNameIn, flattened, peopleInSubtrees, type Siblings, siblingsIn } from './group-tree.ts';
import { selectGroupHeads, selectMemberCounts, selectTopGroups } from './groups.sql.ts';
import { openGroups } from './open-groups.ts';
import { sortedInSlices, sortSlice } from './sorting.ts';

/** The groups that a user sees. */
export type SeenTree = {
  /** Each after its parent, siblings sorted by name. */
  groups: readonly PlacedGroup[];
  byId: ReadonlyMap<number, PlacedGroup>;
  /** Returns the index of a group that the user sees. */
  placeOf: (groupId: number) => number;
  /** The parent of each group that is read, whether the user sees it or not. These are all groups above those that the user sees. */
  parents: ReadonlyMap<number, number | null>;
  /** The top groups of those that are read, whether the user sees them or not. */
  tops: readonly Named[];
  /** The largest top group of the account, if the user sees it. */
  company: PlacedGroup | null;
  /** What a search looks through. Computed when it is first needed. */
  options: () => (GroupOption & { searchText: string })[];
};

export type Trees = {
  /** Returns the tree of a user, sorted for a language: by default that of the account. */
  of(db: Db, who: Who, language?: string): Promise<SeenTree>;
};

/** How many groups of all trees in memory there are at most. 60,000 groups take about 30 MB. */
const mostKept = 150_000;

type Kept = { version: string; reading: Promise<SeenTree>; size: number };

export function openTrees(): Trees {
  // In order of last use, because a Map keeps its insertion order.
  const kept = new Map<string, Kept>();
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
  return {
    async of(db, who, language) {
      const sorted = language ?? (await accountById(db, who.accountId)).language;
      const key = `${who.accountId} ${who.role} ${who.userId} ${sorted}`;
      const found = kept.get(key);
      kept.delete(key);
      if (found?.version === who.version) {
        kept.set(key, found);
        return found.reading;
      }
      const one: Kept = { version: who.version, reading: readTree(db, who, sorted), size: 0 };
      kept.set(key, one);
      try {
        const tree = await one.reading;
        makeRoom(key, one, tree);
        return tree;
      } catch (error) {
        if (kept.get(key) === one) kept.delete(key);
        throw error;
      }
    },
  };
}

/** Reads the tree of a user, in slices, so that other requests are handled between them. */
export async function readTree(db: Db, who: Who, language: string): Promise<SeenTree> {
  const { accountId } = who;
  const open = await openGroups(db, who);
  const { heads, memberships } = await readMembers(db, accountId, open);
  const people = peopleInSubtrees(heads, memberships);
  await nextTurn();
  const rows = heads.map((group): TreeGroup => ({ ...group, people: people.get(group.id) ?? 0 }));
  const siblings = siblingsIn(rows, open);
  await sortSiblings(siblings, byNameIn(language));
  const groups = placed(flattened(siblings));
  await nextTurn();
  const tops = rows.filter(({ parentId }) => parentId === null);
  const [largest] = tops.toSorted((a, b) => b.people - a.people || a.id - b.id);
  const byId = new Map(groups.map((group) => [group.id, group]));
  const places = new Map(groups.map(({ id }, place) => [id, place]));
  let options: ReturnType<SeenTree['options']> | undefined;
  return {
    groups,
    byId,
    placeOf: (id) => places.get(id) as number,
    parents: parentsIn(heads),
    tops: tops.map(({ id, name }) => ({ id, name })),
    company: (largest && byId.get(largest.id)) ?? null,
    options: () => (options ??= groupOptions(groups)),
  };
}

/** Reads the groups that a user sees, and who is in them. If one of them is at the top, reads the whole account, to know the largest. */
async function readMembers(db: Db, accountId: AccountId, open: ReadonlySet<number> | undefined) {
  const { tops } = open ? await selectTopGroups(db, accountId) : { tops: [] };
  const isWhole = open === undefined || (tops.length > 1 && tops.some(({ id }) => open.has(id)));
  const ids = isWhole ? undefined : [...open];
  const [heads, memberships] = await Promise.all([
    selectGroupHeads(db, accountId, ids),
    selectMemberCounts(db, accountId, ids),
  ]);
  return { heads, memberships };
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
