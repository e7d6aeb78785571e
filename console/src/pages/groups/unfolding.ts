// Which groups of the tree are expanded. Stored until the browser tab is closed.
import { useCallback, useState } from 'react';
import { withStorage } from '../../hooks/browser-storage.ts';
import type { Tree } from './tree.ts';

const key = 'groups.open';

/** Returns the groups expanded at first: the top level, and one more level in a small tree. */
const firstOpen = ({ rows }: Tree): number[] =>
  rows.filter(({ level }) => level === 1 || (level === 2 && rows.length <= 200)).map(({ id }) => id);

const kept = (): number[] | undefined =>
  withStorage(() => (JSON.parse(sessionStorage.getItem(key) ?? 'null') as number[] | null) ?? undefined);

export function useUnfolding(tree: Tree) {
  const [open, setOpen] = useState<ReadonlySet<number>>(() => new Set(kept() ?? firstOpen(tree)));
  const change = useCallback((next: (before: ReadonlySet<number>) => Iterable<number>) => {
    setOpen((before) => {
      const after = new Set(next(before));
      withStorage(() => sessionStorage.setItem(key, JSON.stringify([...after])));
      return after;
    });
  }, []);
  return {
    open,
    unfold: useCallback((...ids: number[]) => change((before) => [...before, ...ids]), [change]),
    fold: useCallback((id: number) => change((before) => [...before].filter((one) => one !== id)), [change]),
    unfoldAll: () => change(() => tree.rows.filter(({ children }) => children > 0).map(({ id }) => id)),
    foldAll: () => change(() => []),
  };
}
