// The group tree: draws only the rows in view of thousands, follows the ARIA practices for the keyboard, and lets users pick up a
// group and drop it into another.
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { usePrinting } from '../../../hooks/printing.ts';
import { useText } from '../../../text/text.tsx';
import { useScroller } from '../../../ui/table/scroller.ts';
import { GroupRow } from './GroupRow.tsx';
import { useTreeKeys } from './keys.ts';
import type { TreeRow } from './tree.ts';
import type { TreeProps } from './tree-props.ts';
import css from './GroupTree.module.css';

const rowHeight = 36;

/** Returns the focused row of the tree, and a function to move the focus. */
function useActive(rows: readonly TreeRow[], body: React.RefObject<HTMLDivElement | null>) {
  const [activeId, setActiveId] = useState<number>();
  const wantsFocus = useRef(false);
  const index = Math.max(
    0,
    rows.findIndex(({ id }) => id === activeId),
  );
  const active = rows[index];
  useEffect(() => {
    if (!wantsFocus.current) return;
    wantsFocus.current = false;
    body.current?.querySelector<HTMLElement>(`[data-row="${active?.id}"]`)?.focus({ preventScroll: true });
  });
  return {
    index,
    active,
    setActiveId,
    focus(row: TreeRow | undefined) {
      if (!row) return;
      const shown = body.current?.querySelector<HTMLElement>(`[data-row="${row.id}"]`);
      if (shown) shown.focus({ preventScroll: true });
      else wantsFocus.current = true;
      setActiveId(row.id);
    },
  };
}

export function GroupTree(props: TreeProps) {
  const { tree, rows, moving, isEditable, onScroller } = props;
  const t = useText();
  const navigate = useNavigate();
  const { body, scroller, margin } = useScroller();
  useEffect(() => {
    if (scroller) onScroller(scroller);
  }, [scroller, onScroller]);
  const { index, active, setActiveId, focus } = useActive(rows, body);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller,
    estimateSize: () => rowHeight,
    scrollMargin: margin,
    scrollPaddingStart: margin,
    overscan: 10,
    getItemKey: (at) => rows[at]?.id ?? at,
    rangeExtractor: (range) =>
      [...new Set([...defaultRangeExtractor(range), Math.min(index, range.count - 1)])].toSorted(
        (a, b) => a - b,
      ),
  });
  const isPrinting = usePrinting();
  const items = isPrinting
    ? rows.map(({ id }, at) => ({ index: at, start: margin + at * rowHeight, key: id }))
    : virtual.getVirtualItems();
  const keys = useTreeKeys(props, index, {
    go(at) {
      focus(rows[at]);
      if (rows[at]) virtual.scrollToIndex(at);
    },
    enter: (row) => void navigate({ to: `/groups/${row.id}` }),
  });
  const levels = Math.max(...tree.rows.map(({ level }) => level));
  return (
    <>
      <p id="groups-keys" className="visually-hidden">
        {isEditable ? t('groups.keys') : t('groups.keysReading')}
      </p>
      <div
        ref={body}
        role="tree"
        tabIndex={-1}
        aria-label={t('groups.title')}
        aria-describedby="groups-keys"
        className={css['tree']}
        data-moving={moving !== undefined || undefined}
        style={{ blockSize: rows.length * rowHeight, '--levels': levels } as React.CSSProperties}
        onKeyDown={keys}
      >
        {items.map(({ index: at, start, key }) => (
          <GroupRow
            key={key}
            {...props}
            row={rows[at] as TreeRow}
            isActive={rows[at]?.id === active?.id}
            onFocus={setActiveId}
            start={start - margin}
          />
        ))}
      </div>
    </>
  );
}
