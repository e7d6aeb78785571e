// Keeps which groups of the tree are expanded, until the browser tab is closed.
import { useCallback, useState } from 'react';
import { withStorage } from '../../../hooks/browser-storage.ts';
import { allExpanded, storedIn, storedText, withCollapsed, withExpanded } from './expanded-groups.ts';
import type { Tree } from './tree.ts';

const key = 'groups.open';

const kept = () => withStorage(() => storedIn(sessionStorage.getItem(key)));

/** `first`: returns the groups that are expanded at first. */
export function useExpandedGroups(first: () => Set<number>) {
  const [expanded, setExpanded] = useState<ReadonlySet<number>>(() => kept() ?? first());
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
    expandAll: (tree: Tree) => change(() => allExpanded(tree)),
    collapseAll: () => change(() => new Set()),
  };
}
