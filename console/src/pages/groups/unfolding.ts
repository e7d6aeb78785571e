// Which groups of the tree are unfolded: kept until the browser's tab is closed.
import { useCallback, useState } from 'react';
import type { Tree } from './tree.ts';

const key = 'groups.open';

/** At first: the top, and one level more of a small tree. */
const firstOpen = ({ rows }: Tree): number[] =>
  rows.filter(({ level }) => level === 1 || (level === 2 && rows.length <= 200)).map(({ id }) => id);

function kept(): number[] | undefined {
  try {
    const text = sessionStorage.getItem(key);
    return text === null ? undefined : (JSON.parse(text) as number[]);
  } catch {
    return undefined;
  }
}

export function useUnfolding(tree: Tree) {
  const [open, setOpen] = useState<ReadonlySet<number>>(() => new Set(kept() ?? firstOpen(tree)));
  const change = useCallback((next: (before: ReadonlySet<number>) => Iterable<number>) => {
    setOpen((before) => {
      const after = new Set(next(before));
      try {
        sessionStorage.setItem(key, JSON.stringify([...after]));
      } catch {
        // Without storage it is forgotten with the page.
      }
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
