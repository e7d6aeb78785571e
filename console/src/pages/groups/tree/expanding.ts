// Keeps which groups of the tree are expanded, until the browser tab is closed.
import { useCallback, useState } from 'react';
import { withStorage } from '../../../hooks/browser-storage.ts';
import {
  allExpanded,
  firstExpanded,
  storedIn,
  storedText,
  withCollapsed,
  withExpanded,
} from './expanded-groups.ts';
import type { Tree } from './tree.ts';

const key = 'groups.open';

const kept = () => withStorage(() => storedIn(sessionStorage.getItem(key)));

export function useExpandedGroups(tree: Tree) {
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(() => kept() ?? firstExpanded(tree));
  const change = useCallback((next: (before: ReadonlySet<number>) => Set<number>) => {
    setExpanded((before) => {
      const after = next(before);
      withStorage(() => sessionStorage.setItem(key, storedText(after)));
      return after;
    });
  }, []);
  return {
    expanded,
    expand: useCallback((...ids: number[]) => change((before) => withExpanded(before, ids)), [change]),
    collapse: useCallback((id: number) => change((before) => withCollapsed(before, id)), [change]),
    expandAll: () => change(() => allExpanded(tree)),
    collapseAll: () => change(() => new Set()),
  };
}
