// Loads the levels of a tree of very many groups when they are opened.
import type { PlacedGroup } from '@soundings/contract/people/placed-groups.ts';
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, type ApiError } from '../../../api.ts';
import { buildTreeOfLevels, treeRowOf } from './tree.ts';

/** A group of which only the first subgroups are listed; null: the top level. */
export type Unlisted = { id: number | null; name: string; count: number };

/** How many levels are loaded: those opened last. */
const mostOpen = 200;

/** Returns the loaded part of the tree. `tops`: the groups at the top; `open`: the expanded groups. */
export function useTreeLevels(tops: readonly PlacedGroup[], open: ReadonlySet<number>) {
  const ids = [...open].slice(-mostOpen);
  const { levels, isWaiting, error } = useQueries({
    queries: ids.map((groupId) => ({
      queryKey: ['GET /groups/{groupId}/subgroups', { params: { groupId } }],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        api('GET /groups/{groupId}/subgroups', { params: { groupId }, signal } as never),
      // Don't show the subgroups of another group as placeholders.
      placeholderData: undefined as never,
    })),
    combine: (results) => ({
      levels: results.map(({ data }) => data),
      isWaiting: results.some(({ isPending }) => isPending),
      // A group that was removed, or is no longer open to the user, has no level.
      error: results.find(({ error: one }) => one && (one as ApiError).status !== 404)?.error ?? undefined,
    }),
  });
  return useMemo(() => {
    const loaded = new Map<number | null, readonly PlacedGroup[]>([[null, tops]]);
    for (const [i, level] of levels.entries()) if (level) loaded.set(ids[i] as number, level.groups);
    const tree = buildTreeOfLevels(loaded);
    const unlisted = levels.flatMap((level, i): Unlisted[] => {
      const row = treeRowOf(tree, ids[i] as number);
      return row && level && level.groups.length < level.total
        ? [{ id: row.id, name: row.name, count: level.groups.length }]
        : [];
    });
    const [top] = tops;
    if (top && top.siblings > tops.length) unlisted.unshift({ id: null, name: '', count: tops.length });
    return { tree, unlisted, isWaiting, error };
    // oxlint-disable-next-line react/exhaustive-deps -- the ids are those of `open`
  }, [tops, open, levels, isWaiting, error]);
}
