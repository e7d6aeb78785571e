// The cells of the heat map: the response, and a number for each KPI that leads to its trend. Withheld figures have a reason that
// opens when pressed.
import { pointsOf } from '@soundings/contract/console/results/points.ts';
import type { HeatMap, HeatRow } from '@soundings/contract/console/results/results.ts';
import type { Named } from '@soundings/contract/console/groups.ts';
import { useNavigate, useRouter } from '@tanstack/react-router';
import { ArrowDownRight, ArrowUpRight } from 'lucide-react';
import { createContext, type MouseEvent, useContext } from 'react';
import type { useText } from '../../../text/text.tsx';
import { cx } from '../../../ui/cx.ts';
import { type createToggletipHandle, ToggletipTrigger } from '../../../ui/floating/Toggletip.tsx';
import { type HeatFigure } from '../figures.ts';
import css from './HeatTable.module.css';

/** The rows of a heat map. If they are loaded in windows, `rowAt` returns undefined for those that have not loaded yet. */
export type HeatRows = {
  count: number;
  rowAt: (index: number) => HeatRow | undefined;
  /** Sets which rows are in view. */
  onVisible?: (first: number, last: number) => void;
  /** Whether the rows still belong to the previous filters. */
  isOld?: boolean;
};

/** Returns rows that have all loaded. */
export const loadedRows = (rows: readonly HeatRow[]): HeatRows => ({
  count: rows.length,
  rowAt: (index) => rows[index],
});

export type HeatTableProps = {
  map: HeatMap;
  /** What the rows are segments of; undefined: they are groups. */
  breakdown?: Named;
  rows: HeatRows;
  company: HeatRow | undefined;
  /** Returns what a cell of a KPI, by its index, shows. */
  figureOf: (row: HeatRow, kpi: number) => HeatFigure;
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
  percent: (share: number) => string;
  signed: (value: number) => string;
  /** Why figures of a row are withheld. */
  reasonOf: (row: HeatRow) => string;
  /** The toggletip that withheld cells show their reason in. */
  toggletip: ReturnType<typeof createToggletipHandle>;
  trendOf: ReturnType<typeof useTrendLink>;
};
export const HeatContext = createContext<Shared | undefined>(undefined);
export const useHeat = (): Shared => useContext(HeatContext) as Shared;

export const indentOf = (levels: number) => `calc(var(--heat-indent) * ${Math.min(levels, 6)})`;

/**
 * Returns the properties of a link to the trend of a KPI in a group or segment. The router's own links would take too long in each cell.
 */
export function useTrendLink(breakdown: Named | undefined) {
  const navigate = useNavigate();
  const { options } = useRouter();
  return (kpi: string, groupId: number) => {
    const search = breakdown ? { kpi, breakdown: breakdown.id, segments: groupId } : { kpi, groups: groupId };
    return {
      href: `/trends${options.stringifySearch(search)}`,
      onClick(event: MouseEvent) {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        void navigate({ to: '/trends', search: search as never });
      },
    };
  };
}

/** "389 of 474"; undefined if the numbers are not known. */
function answeredOf({ asked, answered }: HeatRow, t: Shared['t']): string | undefined {
  return asked === undefined || answered === undefined
    ? undefined
    : t('results.answeredOf', { answered, asked });
}

/** The response below the name, instead of the column, on phones. */
export function PhoneRate({ row, indent }: { row: HeatRow; indent: number }) {
  const { breakdown, t, number, percent } = useHeat();
  const value = typeof row.rate === 'number' ? percent(row.rate) : '';
  const isHandedOut = row.handedOut.includes('rate');
  const answered = value && answeredOf(row, t);
  return (
    <span className={css['phoneRate']} style={{ paddingInlineStart: indentOf(indent) }}>
      {value && <span className="visually-hidden">{t('results.responseShort')} </span>}
      <span className={cx(isHandedOut && css['handedOutRate'])}>{value}</span>
      {isHandedOut && <span className="visually-hidden"> {t('results.handedOutShort')}</span>}
      {value && (answered || !breakdown) && ' · '}
      {answered}
      {!answered && !breakdown && (
        <>
          <span aria-hidden>{number(row.people)}</span>
          <span className="visually-hidden">
            {t('results.people', { count: row.people, number: number(row.people) })}
          </span>
        </>
      )}
    </span>
  );
}

export function Rate({ row }: { row: HeatRow }) {
  const { reasonOf, t, percent, toggletip } = useHeat();
  const { rate } = row;
  if (typeof rate !== 'number') {
    return (
      <td className={css['rateCell']}>
        {rate === null ? (
          <ToggletipTrigger handle={toggletip} text={reasonOf(row)} className={css['hatchRateButton']}>
            <span className="visually-hidden">{reasonOf(row)}</span>
            <span aria-hidden className={css['hatchRate']} />
          </ToggletipTrigger>
        ) : (
          <span className="visually-hidden">{t('results.notAsked')}</span>
        )}
      </td>
    );
  }
  const value = percent(rate);
  return (
    <td className={css['rateCell']}>
      <span className={css['rateLine']}>
        {row.handedOut.includes('rate') ? (
          <ToggletipTrigger handle={toggletip} text={t('results.handedOut')} className={css['handedOutRate']}>
            {value}
            <span className="visually-hidden"> {t('results.handedOutShort')}</span>
          </ToggletipTrigger>
        ) : (
          <span>{value}</span>
        )}{' '}
        <span className={css['people']}>{answeredOf(row, t)}</span>
      </span>
    </td>
  );
}

export function Cell({ row, kpi }: { row: HeatRow; kpi: number }) {
  const { figureOf, t, reasonOf, toggletip } = useHeat();
  const figure = figureOf(row, kpi);
  if (figure.kind === 'none') {
    return (
      <td>
        <span className="visually-hidden">{t('results.notAsked')}</span>
      </td>
    );
  }
  if (figure.kind !== 'shown') {
    const reason = figure.kind === 'withheld' ? reasonOf(row) : t('results.nothingToCompare');
    return (
      // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell isn't a control
      <td>
        <ToggletipTrigger
          handle={toggletip}
          text={reason}
          className={cx(css['score'], css[figure.kind === 'withheld' ? 'hatch' : 'incomparable'])}
        >
          <span aria-hidden>–</span>
          <span className="visually-hidden">{reason}</span>
        </ToggletipTrigger>
      </td>
    );
  }
  return (
    <td>
      <Figure row={row} kpi={kpi} figure={figure} />
    </td>
  );
}

type FigureProps = { row: HeatRow; kpi: number; figure: Extract<HeatFigure, { kind: 'shown' }> };

/** A number that leads to the trend of its KPI in its group, with an arrow if it has changed clearly. */
function Figure({ row, kpi, figure: { value, isDifference, step, change, isHandedOut } }: FigureProps) {
  const { map, t, signed, trendOf } = useHeat();
  const { id, name } = map.kpis[kpi] as HeatMap['kpis'][number];
  const Arrow = change !== null && change < 0 ? ArrowDownRight : ArrowUpRight;
  const points = Math.abs(pointsOf(change ?? 0, true));
  return (
    <a
      {...trendOf(id, row.id)}
      className={cx(css['score'], css['toTrend'], isHandedOut && css['handedOutScore'])}
      style={{ background: step === null ? 'var(--well)' : `var(--heat-${step})` }}
    >
      <span>{isDifference ? signed(value) : value}</span>
      {change !== null && (
        <>
          <Arrow aria-hidden size={12} strokeWidth={2.25} />
          <span className="visually-hidden">
            {' '}
            {t(change < 0 ? 'results.fell' : 'results.rose', { points })}
          </span>
        </>
      )}
      {isHandedOut && <span className="visually-hidden"> {t('results.handedOutShort')}</span>}
      <span className="visually-hidden">, {t('results.trendOf', { kpi: name, group: row.name })}</span>
    </a>
  );
}
