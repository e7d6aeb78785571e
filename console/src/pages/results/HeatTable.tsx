// The table of the heat map: a number in every cell, a text for withheld figures. Draws only the rows in view of thousands.
import type { HeatMap, HeatRow } from '@soundings/contract/console/results.ts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp } from 'lucide-react';
import { createContext, type CSSProperties, type ReactNode, useContext, useEffect, useState } from 'react';
import { useFormat, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { useMedia } from '../../hooks/media.ts';
import { usePrinting } from '../../hooks/printing.ts';
import { cx } from '../../ui/cx.ts';
import { createReasons, ManyReasons, OneReason } from '../../ui/floating/Reason.tsx';
import { useScroller } from '../../ui/table/scroller.ts';
import { heatStep } from './figures.ts';
import css from './HeatTable.module.css';
import results from './results.module.css';
import { useWithheldText, useSigned } from './texts.ts';

export type HeatTableProps = {
  map: HeatMap;
  rows: readonly HeatRow[];
  company: HeatRow | undefined;
  bounds: { low: number; high: number };
  /** Returns the content of a cell for a value of 0 to 1 and the index of its KPI; null: it can't be shown. */
  valueOf: (value: number, kpi: number) => number | null;
  isDifference: boolean;
  /** Whether rows are in tree order and indented. */
  isTree: boolean;
  sort: string;
  onSort: (sort: string) => void;
};

/**
 * What every row and cell needs. Shared through a context, because creating number formats takes longer than drawing a cell, and
 * because React's tools inspect the properties of each component.
 */
type Shared = HeatTableProps & {
  t: ReturnType<typeof useText>;
  number: (value: number) => string;
  signed: (value: number) => string;
  hidden: ReturnType<typeof useWithheldText>;
  /** The popup with the reasons of withheld cells. */
  reasons: ReturnType<typeof createReasons>;
};
const HeatContext = createContext<Shared | undefined>(undefined);
const useHeat = (): Shared => useContext(HeatContext) as Shared;

/** In px, as in results.module.css; on phones the response rate is below the name. */
const [rowHeight, phoneRowHeight] = [34, 48];
/** From this number of rows, only those in view are drawn. */
const long = 120;

/** Returns the ref of the rows' container, which rows to draw, and the space before and after them. */
function useVisible(count: number, height: number) {
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
  if (count <= long || isPrinting) return { body, first: 0, last: count - 1, before: 0, after: 0 };
  const items = virtual.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  return { body, first, last, before: first * height, after: (count - 1 - last) * height };
}

export function HeatTable(props: HeatTableProps) {
  // On narrow screens the table scrolls on its own in both directions, so that names and headings stay visible.
  const isNarrow = useMedia('(max-width: 960px)');
  return <Heat key={String(isNarrow)} {...props} isNarrow={isNarrow} />;
}

function Heat({ isNarrow, ...props }: HeatTableProps & { isNarrow: boolean }) {
  const { map, rows, company } = props;
  const t = useText();
  const { number } = useFormat();
  const [reasons] = useState(createReasons);
  const shared = { ...props, t, number, signed: useSigned(), hidden: useWithheldText(), reasons };
  const isPhone = useMedia('(max-width: 720px)');
  const { body, first, last, before, after } = useVisible(rows.length, isPhone ? phoneRowHeight : rowHeight);
  const above = company ? 3 : 2;
  return (
    // oxlint-disable-next-line react/jsx-no-constructed-context-values -- any change here changes every cell
    <HeatContext value={shared}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolling areas must be reachable by keyboard */}
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
          className={css['heat']}
          style={{ '--kpis': map.kpis.length } as CSSProperties}
          aria-label={t('nav.heatMap')}
          aria-rowcount={rows.length + above - 1}
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
            {rows.slice(first, last + 1).map((row, i) => (
              <Row key={row.id} row={row} index={first + i + above} />
            ))}
            {after > 0 && <Room height={after} columns={map.kpis.length + 2} />}
          </tbody>
        </table>
        <ManyReasons reasons={reasons} />
      </div>
    </HeatContext>
  );
}

const Room = ({ height, columns }: { height: number; columns: number }) => (
  <tr aria-hidden>
    {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell is no control */}
    <td colSpan={columns} style={{ blockSize: height, padding: 0 }} />
  </tr>
);

function Head() {
  const { map, company, t } = useHeat();
  const { label } = useWeekText();
  return (
    <thead>
      <tr aria-rowindex={1}>
        <Title sortKey="name" className={css['nameHead']}>
          {t('results.group')}
        </Title>
        <Title sortKey="rate" className={css['rateHead']}>
          {t('results.responseShort')}
        </Title>
        {map.kpis.map(({ id, name, week }, i) => (
          <Title key={id} sortKey={`kpi:${i}`} className={css['kpiHead']}>
            {name}
            {week.week !== map.week?.week && (
              <span className={css['kpiWeek']}>{label(week, map.week ?? undefined)}</span>
            )}
          </Title>
        ))}
      </tr>
      {company && <Row row={company} index={2} isCompany />}
    </thead>
  );
}

type TitleProps = { sortKey: string; className: string | undefined; children: ReactNode };

/** Sorts in descending order first (names ascending), then reversed, then in tree order again. */
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

const indentOf = (levels: number) => `calc(var(--heat-indent) * ${Math.min(levels, 6)})`;

type RowProps = { row: HeatRow; index: number; isCompany?: boolean };

function Row({ row, index, isCompany }: RowProps) {
  const { map, isTree, number, t } = useHeat();
  const indent = isTree && !isCompany ? row.level - 1 : 0;
  return (
    <tr aria-rowindex={index} className={cx(isCompany && css['company'])}>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell is no control */}
      <th scope="row" className={cx(css['name'], (isCompany || (isTree && row.level <= 2)) && css['strong'])}>
        <span className={css['nameLine']} style={{ paddingInlineStart: indentOf(indent) }}>
          <Link to="/" search={{ group: row.id } as never} className={results['plain']} title={row.name}>
            {row.name}
          </Link>
          <span
            className={css['people']}
            title={t('results.people', { count: row.people, number: number(row.people) })}
          >
            {number(row.people)}
          </span>
        </span>
        <PhoneRate row={row} indent={indent} />
      </th>
      <Rate row={row} />
      {map.kpis.map(({ id }, i) => (
        <Cell key={id} row={row} kpi={i} isCompany={isCompany} />
      ))}
    </tr>
  );
}

/** The response rate below the name, instead of the column, on phones. */
function PhoneRate({ row, indent }: { row: HeatRow; indent: number }) {
  const { t, number } = useHeat();
  const value = typeof row.rate === 'number' ? `${Math.round(row.rate * 100)} %` : '';
  const isHandedOut = row.handedOut.includes('rate');
  return (
    <span className={css['phoneRate']} style={{ paddingInlineStart: indentOf(indent) }}>
      {value && <span className="visually-hidden">{t('results.responseShort')} </span>}
      <span className={cx(isHandedOut && css['handedOutRate'])}>{value}</span>
      {isHandedOut && <span className="visually-hidden"> {t('results.handedOutShort')}</span>}
      {value && ' · '}
      <span aria-hidden>{number(row.people)}</span>
      <span className="visually-hidden">
        {t('results.people', { count: row.people, number: number(row.people) })}
      </span>
    </span>
  );
}

function Rate({ row }: { row: HeatRow }) {
  const { map, t, hidden, reasons } = useHeat();
  const { rate } = row;
  if (typeof rate !== 'number') {
    return (
      <td className={css['rateCell']}>
        {rate === null ? (
          <OneReason
            reasons={reasons}
            text={hidden.figure(map.week, row.people)}
            className={css['hatchRateButton']}
          >
            <span className="visually-hidden">{hidden.figure(map.week, row.people)}</span>
            <span aria-hidden className={css['hatchRate']} />
          </OneReason>
        ) : (
          <span className="visually-hidden">{t('results.notAsked')}</span>
        )}
      </td>
    );
  }
  const value = Math.round(rate * 100);
  return (
    <td className={css['rateCell']}>
      <span className={css['rateLine']}>
        <span className={css['rateBar']} aria-hidden>
          <span style={{ inlineSize: `${value}%` }} />
        </span>
        {row.handedOut.includes('rate') ? (
          <OneReason reasons={reasons} text={t('results.handedOut')} className={css['handedOutRate']}>
            {value}
            <span className="visually-hidden"> {t('results.handedOutShort')}</span>
          </OneReason>
        ) : (
          value
        )}
      </span>
    </td>
  );
}

type CellProps = Omit<RowProps, 'index'> & { kpi: number };

function Cell({ row, kpi, isCompany }: CellProps) {
  const { map, company, bounds, valueOf, isDifference, t, signed, hidden, reasons } = useHeat();
  const value = row.values[kpi];
  if (value === 'none' || value === undefined) {
    return (
      <td>
        <span className="visually-hidden">{t('results.notAsked')}</span>
      </td>
    );
  }
  const figure =
    value === null ? null : isDifference && isCompany ? Math.round(value * 100) : valueOf(value, kpi);
  if (figure === null) {
    const reason =
      value === null ? hidden.figure(map.kpis[kpi]?.week ?? null, row.people) : t('results.companyWithheld');
    return (
      // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell is no control
      <td>
        <OneReason reasons={reasons} text={reason} className={cx(css['score'], css['hatch'])}>
          <span aria-hidden>–</span>
          <span className="visually-hidden">{reason}</span>
        </OneReason>
      </td>
    );
  }
  const isHandedOut =
    row.handedOut.includes(kpi) || (isDifference && company?.handedOut.includes(kpi) === true);
  const shown = isDifference && !isCompany ? signed(figure) : figure;
  const step = isDifference && isCompany ? 5 : heatStep(figure, bounds.low, bounds.high);
  return (
    <td>
      {isHandedOut ? (
        <OneReason
          reasons={reasons}
          text={t('results.handedOut')}
          className={cx(css['score'], css['handedOutScore'])}
          style={{ background: `var(--heat-${step})` }}
        >
          {shown}
          <span className="visually-hidden"> {t('results.handedOutShort')}</span>
        </OneReason>
      ) : (
        <span className={css['score']} style={{ background: `var(--heat-${step})` }}>
          {shown}
        </span>
      )}
    </td>
  );
}
