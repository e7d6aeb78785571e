// The table of the heat map: its headings and rows. Draws only the rows in view of thousands.
import type { HeatRow } from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { type CSSProperties, type ReactNode, useEffect, useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { useMedia } from '../../../hooks/media.ts';
import { usePrinting } from '../../../hooks/printing.ts';
import { cx } from '../../../ui/cx.ts';
import { createToggletipHandle, SharedToggletip } from '../../../ui/floating/Toggletip.tsx';
import { Bar } from '../../../ui/page/States.tsx';
import { useScroller } from '../../../ui/table/scroller.ts';
import {
  Cell,
  HeatContext,
  type HeatRows,
  type HeatTableProps,
  indentOf,
  PhoneRate,
  Rate,
  useHeat,
  useTrendLink,
} from './HeatCell.tsx';
import css from './HeatTable.module.css';
import results from '../results.module.css';
import { useSegmentReason } from '../segments/breakdowns.tsx';
import { useWithheldText, useSigned } from '../texts.ts';

/** In px, as in results.module.css; on phones the response rate is below the name. */
const [rowHeight, phoneRowHeight] = [34, 56];
/** From this number of rows, only those in view are drawn. */
const long = 120;

/** Returns the ref of the rows' container, which rows to draw, and the space before and after them. */
function useVisible({ count, onVisible }: HeatRows, height: number) {
  const { body, scroller, margin } = useScroller<HTMLTableSectionElement>();
  const isPrinting = usePrinting();
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller,
    estimateSize: () => height,
    scrollMargin: margin,
    overscan: 12,
    enabled: count > long,
  });
  useEffect(() => virtual.measure(), [virtual, count, height]);
  const items = virtual.getVirtualItems();
  const isDrawnWhole = count <= long || (isPrinting && !onVisible);
  const first = isDrawnWhole ? 0 : (items[0]?.index ?? 0);
  const last = isDrawnWhole ? count - 1 : (items.at(-1)?.index ?? 0);
  useEffect(() => onVisible?.(first, Math.max(first, last)), [first, last, onVisible]);
  if (isDrawnWhole) return { body, first, last, before: 0, after: 0 };
  return { body, first, last, before: first * height, after: (count - 1 - last) * height };
}

/**
 * Returns how many KPIs there are, and how many letters the longest word of their names has. Where the table scrolls on its own, its columns are
 * wide enough for that word, because not every browser can hyphenate it. Words of more than 20 letters break anyway.
 */
function sizesOf(kpis: readonly { name: string }[]) {
  const longest = Math.max(0, ...kpis.flatMap(({ name }) => name.split(/[\s-]+/).map((word) => word.length)));
  return { '--kpis': kpis.length, '--longest-word': Math.min(20, longest) } as CSSProperties;
}

export function HeatTable(props: HeatTableProps) {
  // On narrow screens the table scrolls on its own in both directions, so that names and headings stay visible.
  const isNarrow = useMedia('(max-width: 1100px)');
  return <Heat key={String(isNarrow)} {...props} isNarrow={isNarrow} />;
}

function Heat({ isNarrow, ...props }: HeatTableProps & { isNarrow: boolean }) {
  const { map, rows, company } = props;
  const t = useText();
  const { number, percent } = useFormat();
  const [toggletip] = useState(createToggletipHandle);
  const withheld = useWithheldText();
  const segmentReason = useSegmentReason();
  const { breakdown } = props;
  const shared = {
    ...props,
    t,
    number,
    percent,
    signed: useSigned(),
    reasonOf: (row: HeatRow) => (breakdown ? segmentReason(map.week) : withheld.figure(map.week, row.people)),
    toggletip,
    trendOf: useTrendLink(breakdown),
  };
  const isPhone = useMedia('(max-width: 720px)');
  const { body, first, last, before, after } = useVisible(rows, isPhone ? phoneRowHeight : rowHeight);
  const above = company ? 3 : 2;
  return (
    <HeatContext value={shared}>
      <div
        className={css['heatFrame']}
        data-above
        {...(isNarrow && {
          'data-scroller': true,
          tabIndex: 0,
          role: 'group',
          'aria-label': t('results.heatScrolls'),
        })}
      >
        <table
          className={cx(css['heat'], rows.count > long && css['fixed'])}
          style={sizesOf(map.kpis)}
          aria-label={t('nav.heatMap')}
          aria-rowcount={rows.count + above - 1}
          aria-busy={rows.isOld || undefined}
        >
          <colgroup>
            <col className={css['nameColumn']} />
            <col className={css['rateColumn']} />
            {map.kpis.map(({ id }) => (
              <col key={id} />
            ))}
          </colgroup>
          <Head />
          <tbody ref={body}>
            {before > 0 && <Room height={before} columns={map.kpis.length + 2} />}
            {Array.from({ length: Math.max(0, last + 1 - first) }, (_, i) => {
              const row = rows.rowAt(first + i);
              return row ? (
                <Row key={row.id} row={row} index={first + i + above} />
              ) : (
                <WaitingRow key={`waiting ${first + i}`} index={first + i + above} />
              );
            })}
            {after > 0 && <Room height={after} columns={map.kpis.length + 2} />}
          </tbody>
        </table>
        <SharedToggletip handle={toggletip} />
      </div>
    </HeatContext>
  );
}

const Room = ({ height, columns }: { height: number; columns: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell isn't a control */}
    <td colSpan={columns} style={{ blockSize: height, padding: 0 }} />
  </tr>
);

function Head() {
  const { map, breakdown, company, t } = useHeat();
  return (
    <thead>
      <tr aria-rowindex={1}>
        <Title sortKey="name" className={css['nameHead']}>
          {breakdown?.name ?? t('results.group')}
        </Title>
        <Title sortKey="rate" className={css['rateHead']}>
          {t('results.responseShort')}
        </Title>
        {map.kpis.map(({ id, name }, i) => (
          <Title key={id} sortKey={`kpi:${i}`} className={css['kpiHead']}>
            {name}
          </Title>
        ))}
      </tr>
      {company && <Row row={company} index={2} isCompany />}
    </thead>
  );
}

type TitleProps = { sortKey: string; className: string | undefined; children: ReactNode };

/**
 * A column heading that sorts the rows: the first press sorts in descending order (names in ascending order), the second reverses
 * the order, and the third returns to tree order.
 */
function Title({ sortKey, className, children }: TitleProps) {
  const { sort, onSort } = useHeat();
  const isUp = sort === sortKey;
  const isDown = sort === `-${sortKey}`;
  const order = sortKey === 'name' ? ['tree', 'name', '-name'] : ['tree', `-${sortKey}`, sortKey];
  const next = order[(Math.max(0, order.indexOf(sort)) + 1) % 3] as string;
  const Arrow = isDown ? ArrowDown : ArrowUp;
  return (
    <th scope="col" className={className} aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}>
      <button type="button" className={css['sort']} onClick={() => onSort(next)}>
        <span className={css['sortName']}>{children}</span>
        {(isUp || isDown) && <Arrow aria-hidden size={13} />}
      </button>
    </th>
  );
}

/** A row that is still loading. */
function WaitingRow({ index }: { index: number }) {
  const { map, t } = useHeat();
  return (
    <tr aria-rowindex={index}>
      <th scope="row" className={css['name']}>
        <span className={css['nameLine']}>
          <Bar width={40 + ((index * 7) % 40)} />
          <span className="visually-hidden">{t('state.loading')}</span>
        </span>
      </th>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell isn't a control */}
      <td colSpan={map.kpis.length + 1} />
    </tr>
  );
}

function Row({ row, index, isCompany }: { row: HeatRow; index: number; isCompany?: boolean }) {
  const { map, breakdown, isTree, number, t } = useHeat();
  const indent = isTree && !isCompany ? row.level - 1 : 0;
  return (
    <tr aria-rowindex={index} className={cx(isCompany && css['company'])}>
      <th scope="row" className={cx(css['name'], (isCompany || (isTree && row.level <= 2)) && css['strong'])}>
        <span className={css['nameLine']} style={{ paddingInlineStart: indentOf(indent) }}>
          {breakdown ? (
            <span className={css['segment']} title={row.name}>
              {row.name}
            </span>
          ) : (
            <>
              {' '}
              <Link to="/" search={{ group: row.id } as never} className={results['plain']} title={row.name}>
                {row.name}
              </Link>
              <span
                className={css['people']}
                title={t('results.people', { count: row.people, number: number(row.people) })}
              >
                {number(row.people)}
              </span>
            </>
          )}
        </span>
        <PhoneRate row={row} indent={indent} />
      </th>
      <Rate row={row} />
      {map.kpis.map(({ id }, i) => (
        <Cell key={id} row={row} kpi={i} />
      ))}
    </tr>
  );
}
