// Keyboard handling of the group tree.
import { type KeyboardEvent, useRef } from 'react';
import type { TreeProps } from './tree-props.ts';
import { parentOf, type TreeRow, typedTo } from './tree.ts';

type Keys = Pick<
  TreeProps,
  | 'tree'
  | 'rows'
  | 'open'
  | 'matches'
  | 'moving'
  | 'isEditable'
  | 'onExpand'
  | 'onCollapse'
  | 'onLift'
  | 'onDrop'
  | 'onCancel'
>;
type Steps = { go: (index: number) => void; enter: (row: TreeRow) => void };

/** How long typing must pause before it starts a new search word, in ms. */
const rest = 600;

export function useTreeKeys(props: Keys, index: number, { go, enter }: Steps) {
  const typed = useRef({ text: '', at: 0 });
  return (event: KeyboardEvent) => {
    // Controls in a row, such as its menu, handle their own keys.
    if (!(event.target as HTMLElement).matches('[role="treeitem"]')) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = props.rows[index];
    if (!row) return;
    const step = stepOf(event.key, row, index, props);
    if (step !== undefined) go(step);
    else if (!act(event.key, row, props, enter) && !type(event, typed.current, props.rows, index, go)) return;
    event.preventDefault();
  };
}

/** Returns the index of the row that a key moves to. */
function stepOf(key: string, row: TreeRow, index: number, props: Keys): number | undefined {
  const { rows, tree, open, matches } = props;
  const isOpen = matches !== undefined || open.has(row.id);
  const isExpanded = isOpen && rows[index + 1]?.parentId === row.id;
  switch (key) {
    case 'ArrowDown':
      return Math.min(index + 1, rows.length - 1);
    case 'ArrowUp':
      return Math.max(index - 1, 0);
    case 'Home':
      return 0;
    case 'End':
      return rows.length - 1;
    case 'PageDown':
      return Math.min(index + 15, rows.length - 1);
    case 'PageUp':
      return Math.max(index - 15, 0);
    case 'ArrowRight':
      return isExpanded ? index + 1 : undefined;
    case 'ArrowLeft': {
      if (isExpanded && matches === undefined) return undefined;
      const parent = parentOf(tree, row);
      return parent ? rows.findIndex(({ id }) => id === parent.id) : index;
    }
    default:
      return undefined;
  }
}

/** Runs the action of a key on a row; returns false if the key has none. */
function act(key: string, row: TreeRow, props: Keys, enter: (row: TreeRow) => void): boolean {
  const { tree, open, moving } = props;
  if (key === 'ArrowRight') {
    if (row.children > 0 && !open.has(row.id)) props.onExpand(row.id);
  } else if (key === 'ArrowLeft') props.onCollapse(row.id);
  else if (key === '*') {
    const beside = tree.rows.filter(({ parentId, children }) => parentId === row.parentId && children > 0);
    props.onExpand(...beside.map(({ id }) => id));
  } else if (key === 'Escape' && moving !== undefined) props.onCancel();
  else if (key === 'Enter' || key === ' ') {
    if (moving !== undefined) props.onDrop(row.id);
    else if (key === 'Enter') enter(row);
    else if (props.isEditable) props.onLift(row.id);
  } else return false;
  return true;
}

/** Moves to the next row that begins with the typed text; returns false if the key isn't a letter. */
function type(
  { key, timeStamp }: KeyboardEvent,
  typed: { text: string; at: number },
  rows: readonly TreeRow[],
  index: number,
  go: (index: number) => void,
): boolean {
  if (!/^[\p{L}\p{N}]$/u.test(key)) return false;
  typed.text = timeStamp - typed.at > rest ? key : typed.text + key;
  typed.at = timeStamp;
  go(typedTo(rows, index, typed.text));
  return true;
}
