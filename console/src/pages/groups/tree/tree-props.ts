// What the group tree, its rows and its keys work with.
import type { PointerEvent } from 'react';
import type { GroupAction } from '../actions.ts';
import type { Drag } from './dragging.ts';
import type { Tree, TreeRow } from './tree.ts';

export type TreeProps = {
  tree: Tree;
  /** The visible rows, in order. */
  rows: readonly TreeRow[];
  /** The ids of rows that match the search; undefined: there is no search. */
  matches: ReadonlySet<number> | undefined;
  open: ReadonlySet<number>;
  onExpand: (...ids: number[]) => void;
  onCollapse: (id: number) => void;
  /** The id of the group that is being moved. */
  moving: number | undefined;
  drag: Drag | undefined;
  mayDrop: (target: number | null) => boolean;
  /** Whether groups can be changed here. */
  isEditable: boolean;
  onLift: (id: number) => void;
  onDrop: (target: number) => void;
  onCancel: () => void;
  onGrab: (event: PointerEvent, id: number) => void;
  onAction: (action: GroupAction, row: TreeRow) => void;
  onScroller: (scroller: HTMLElement) => void;
};
