// Which groups of the tree are expanded.
import type { Tree } from './tree.ts';

/** Up to this number of groups, a tree is small. */
const smallTree = 200;

/** Returns the groups expanded at first: the top level, and one more level in a small tree. */
export const firstExpanded = ({ rows }: Tree): Set<number> =>
  new Set(
    rows.filter(({ level }) => level === 1 || (level === 2 && rows.length <= smallTree)).map(({ id }) => id),
  );

/** How many groups at the top of a tree that is loaded in parts are expanded at first. Each is a request. */
const fewTops = 5;

/** The same in a tree that is loaded in parts: the groups at the top, if they are few. */
export const firstExpandedOf = (tops: readonly { id: number }[]): Set<number> =>
  new Set(tops.length <= fewTops ? tops.map(({ id }) => id) : []);

/** Returns every group that has subgroups. */
export const allExpanded = ({ rows }: Tree): Set<number> =>
  new Set(rows.filter(({ children }) => children > 0).map(({ id }) => id));

export const withExpanded = (before: ReadonlySet<number>, ids: readonly number[]): Set<number> =>
  new Set([...before, ...ids]);

export const withCollapsed = (before: ReadonlySet<number>, id: number): Set<number> =>
  new Set([...before].filter((one) => one !== id));

/** Returns the text to store. */
export const storedText = (expanded: ReadonlySet<number>): string => JSON.stringify([...expanded]);

/** Returns the stored groups; undefined if nothing was stored. Throws if the text is not JSON. */
export const storedIn = (text: string | null): Set<number> | undefined => {
  const ids = JSON.parse(text ?? 'null') as number[] | null;
  return ids === null ? undefined : new Set(ids);
};
