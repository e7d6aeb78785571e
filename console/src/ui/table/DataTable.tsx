// DataTable: a table whose rows are all given. VirtualTable: a table of very many rows, of which only those in view are drawn and
// requested. Rows that open something are links.
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type CSSProperties, type ReactNode, useEffect } from 'react';
import type { ApiError } from '../../api.ts';
import type { Gap } from '../../hooks/window-pages.ts';
import { usePrinting } from '../../hooks/printing.ts';
import { useText } from '../../text/text.tsx';
import { cx } from '../cx.ts';
import { useScroller } from './scroller.ts';
import { heightOf, rowsInView, tallest } from './tall-list.ts';
import { Bar, Failed } from '../page/States.tsx';
import css from './DataTable.module.css';

export type Column<Row> = {
  key: string;
  title: string;
  /** Hides the title visually, for example above checkboxes or menus. */
  hideTitle?: boolean;
  /** Pixels, or a CSS grid size such as 'minmax(160px, 2fr)'. Without one, the column shares the remaining space. */
  width?: number | string;
  align?: 'end';
  sortable?: boolean;
  /** Hides the column on phones. 'medium': also in narrow windows; 'large': also in windows narrower than 1280 px. */
  wideOnly?: boolean | 'medium' | 'large';
  /** Makes this column the row's link, instead of the first column with a title. */
  leads?: boolean;
  cell: (row: Row) => ReactNode;
  /** Content beside the cell and outside of the row's link: locks, badges with tooltips. */
  beside?: (row: Row) => ReactNode;
};

type Shared<Row> = {
  /** What the table lists, for screen readers. */
  label: string;
  columns: Column<Row>[];
  rowKey: (row: Row) => string | number;
  /** The page that a row opens. The first column with a title becomes a link over the whole row. */
  to?: (row: Row) => string | undefined;
  onRow?: (row: Row) => void;
  /** The row height in pixels, 44 by default. In short tables, the minimum height. */
  rowHeight?: number;
  /** The key of the sorted column, with a minus for descending order. */
  sort?: string;
  onSort?: (sort: string) => void;
  /** Shown if there are no rows. */
  empty?: ReactNode;
  /** Whether a row is highlighted, for example because it is selected. */
  isMarked?: (row: Row) => boolean;
};

export type DataTableProps<Row> = Shared<Row> & { rows: readonly Row[] };
export type VirtualTableProps<Row> = Shared<Row> & {
  /** How many rows there are in total; undefined: not known yet. */
  count: number | undefined;
  /** Returns a row if it has been fetched. */
  rowAt: (index: number) => Row | undefined;
  onVisible: (first: number, last: number) => void;
  /** Whether the rows still belong to the previous filters. */
  isOld?: boolean;
  /** The error, if some of the rows in view could not be loaded. */
  gap?: Gap<ApiError> | undefined;
};

/** From this number of rows, only those in view are drawn, each on one line. */
export const longTable = 150;

const tracksOf = (columns: Column<never>[]) =>
  columns.map(({ width = 'minmax(0, 1fr)' }) => (typeof width === 'number' ? `${width}px` : width)).join(' ');

/** Returns the tracks of phones narrower than 360 px: no minimum is more than an equal share of the row. */
const smallTracksOf = (columns: Column<never>[]) =>
  tracksOf(columns).replace(/minmax\((\d+px),/g, `minmax(min($1, ${Math.floor(84 / columns.length)}%),`);

/** Returns the columns that are always shown, and those with a `wideOnly` of `widths`. */
const shownWith = <Row,>(columns: Column<Row>[], widths: Column<Row>['wideOnly'][]) =>
  columns.filter(({ wideOnly = false }) => !wideOnly || widths.includes(wideOnly)) as Column<never>[];

const styleOf = <Row,>({ columns, rowHeight = 44 }: Shared<Row>) =>
  ({
    '--tracks': tracksOf(columns as Column<never>[]),
    '--tracks-medium': tracksOf(shownWith(columns, ['medium', true])),
    '--tracks-narrow': tracksOf(shownWith(columns, [true])),
    '--tracks-on-phones': tracksOf(shownWith(columns, [])),
    '--tracks-on-small-phones': smallTracksOf(shownWith(columns, [])),
    '--row': `${rowHeight}px`,
  }) as CSSProperties;

const cellClass = (column: Column<never>) =>
  cx(
    css['cell'],
    column.align === 'end' && css['end'],
    column.wideOnly && css['wideOnly'],
    column.wideOnly === 'medium' && css['medium'],
    column.wideOnly === 'large' && css['large'],
  );

function Head<Row>({ columns, sort, onSort }: Shared<Row>) {
  return (
    <div role="rowgroup" className={css['head']}>
      <div role="row" aria-rowindex={1} className={css['row']}>
        {columns.map((column) => (
          <Title key={column.key} column={column as Column<never>} sort={sort} onSort={onSort} />
        ))}
      </div>
    </div>
  );
}

function Title({ column, sort, onSort }: { column: Column<never> } & Pick<Shared<never>, 'sort' | 'onSort'>) {
  const { key, title, hideTitle, sortable } = column;
  const isUp = sort === key;
  const isDown = sort === `-${key}`;
  if (!sortable || !onSort)
    return (
      <div role="columnheader" className={cellClass(column)}>
        <span className={hideTitle ? 'visually-hidden' : undefined}>{title}</span>
      </div>
    );
  const Arrow = isDown ? ArrowDown : ArrowUp;
  return (
    <div
      role="columnheader"
      className={cellClass(column)}
      aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}
    >
      <button type="button" className={css['sort']} onClick={() => onSort(isUp ? `-${key}` : key)}>
        {title}
        <Arrow aria-hidden size={14} className={cx(!isUp && !isDown && css['unsorted'])} />
      </button>
    </div>
  );
}

type RowProps<Row> = Shared<Row> & { row: Row; index: number };

function Cells<Row>({ columns, row, to, onRow }: RowProps<Row>) {
  const target = to?.(row);
  const leading = columns.find(({ leads }) => leads) ?? columns.find(({ hideTitle }) => !hideTitle);
  return columns.map((column) => {
    const inside = column.cell(row);
    const content = typeof inside === 'string' ? <span className={css['text']}>{inside}</span> : inside;
    const isLeading = column === leading;
    return (
      <div role="cell" key={column.key} className={cellClass(column as Column<never>)}>
        {isLeading && target !== undefined ? (
          <Link to={target} className={css['whole']}>
            {content}
          </Link>
        ) : isLeading && onRow ? (
          <button type="button" className={css['whole']} onClick={() => onRow(row)}>
            {content}
          </button>
        ) : (
          content
        )}
        {column.beside?.(row)}
      </div>
    );
  });
}

function Row<Row>(props: RowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={props.index + 2}
      className={cx(css['row'], props.isMarked?.(props.row) && css['marked'])}
    >
      <Cells {...props} />
    </div>
  );
}

export function DataTable<Row>({ rows, ...shared }: DataTableProps<Row>) {
  if (rows.length >= longTable)
    return (
      <VirtualTable {...shared} count={rows.length} rowAt={(index) => rows[index]} onVisible={() => {}} />
    );
  return (
    <div role="table" aria-label={shared.label} className={css['table']} style={styleOf(shared)}>
      <Head {...shared} />
      <div role="rowgroup">
        {rows.map((row, index) => (
          <Row key={shared.rowKey(row)} {...shared} row={row} index={index} />
        ))}
      </div>
      {rows.length === 0 && <Nothing>{shared.empty}</Nothing>}
    </div>
  );
}

/** The empty state as a table row, because a table may contain only rows. */
const Nothing = ({ children }: { children: ReactNode }) => (
  <div role="rowgroup">
    <div role="row">
      <div role="cell">{children}</div>
    </div>
  </div>
);

/** A row that is still loading. */
function Waiting({ columns, index }: { columns: Column<never>[]; index: number }) {
  const t = useText();
  return columns.map((column) => (
    <div role="cell" key={column.key} className={cellClass(column)}>
      {!column.hideTitle && <Bar width={40 + ((index * 7 + column.key.length * 11) % 40)} />}
      <span className="visually-hidden">{t('state.loading')}</span>
    </div>
  ));
}

/** Returns all loaded rows, which are all drawn for print. */
const loadedOf = (count: number, rowAt: (index: number) => unknown, height: number, margin: number) =>
  Array.from({ length: count }, (_, index) => ({ index, start: margin + index * height })).filter(
    ({ index }) => rowAt(index) !== undefined,
  );

/** Returns which rows are drawn: those in view, or all loaded ones for print. Reports the first and last of those in view. */
function useDrawnRows<Row>({
  shown,
  rowAt,
  height,
  onVisible,
}: Pick<VirtualTableProps<Row>, 'rowAt' | 'onVisible'> & { shown: number; height: number }) {
  const { body, scroller, margin } = useScroller();
  const virtual = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller,
    estimateSize: () => (shown > 0 ? heightOf(shown, height) / shown : height),
    scrollMargin: margin,
    overscan: 8,
  });
  const isPrinting = usePrinting();
  const drawn = virtual.getVirtualItems();
  const items = isPrinting
    ? loadedOf(shown, rowAt, height, margin)
    : shown * height <= tallest
      ? drawn
      : rowsInView({
          offset: (virtual.scrollOffset ?? 0) - margin,
          view: virtual.scrollRect?.height ?? 0,
          count: shown,
          rowHeight: height,
          overscan: 8,
        }).map(({ index, start }) => ({ index, start: start + margin }));
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (!isPrinting) onVisible(first, last);
  }, [first, last, onVisible, isPrinting]);
  useEffect(() => virtual.measure(), [virtual, height]);
  return { body, margin, items, isPrinting };
}

export function VirtualTable<Row>({
  count,
  rowAt,
  onVisible,
  isOld,
  gap,
  ...shared
}: VirtualTableProps<Row>) {
  const t = useText();
  const height = shared.rowHeight ?? 44;
  const shown = count ?? 12;
  const { body, margin, items, isPrinting } = useDrawnRows({ shown, rowAt, height, onVisible });
  const printed = items.length;
  return (
    <div
      role="table"
      aria-label={shared.label}
      aria-rowcount={count === undefined ? -1 : count + 1}
      aria-busy={count === undefined || isOld}
      className={cx(css['table'], css['fixed'], isOld && css['old'])}
      style={styleOf(shared)}
    >
      <Head {...shared} />
      <div role="rowgroup" ref={body} className={css['body']} style={{ blockSize: heightOf(shown, height) }}>
        {items.map(({ index, start }) => {
          const row = count === undefined ? undefined : rowAt(index);
          return (
            <div
              key={row === undefined ? `waiting ${index}` : shared.rowKey(row)}
              role="row"
              aria-rowindex={index + 2}
              className={cx(css['row'], css['placed'], row && shared.isMarked?.(row) && css['marked'])}
              style={{ transform: `translateY(${start - margin}px)` }}
            >
              {row === undefined ? (
                <Waiting columns={shared.columns as Column<never>[]} index={index} />
              ) : (
                <Cells {...shared} row={row} index={index} />
              )}
            </div>
          );
        })}
      </div>
      {isPrinting && count !== undefined && printed < count && (
        <Nothing>{t('print.partly', { printed, count })}</Nothing>
      )}
      {count === 0 && <Nothing>{shared.empty}</Nothing>}
      {gap && (
        <div className={css['gap']}>
          <Nothing>
            <Failed error={gap.error} onRetry={gap.retry} />
          </Nothing>
        </div>
      )}
    </div>
  );
}
