// The texts above and below a heat map: its weeks, and the meaning of colours, arrows and hatching.
import type { HeatMap, HeatRow, ResultWeek } from '@soundings/contract/console/results/results.ts';
import { ArrowDownRight, ArrowUpRight } from 'lucide-react';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { ToolbarGap, ToolbarText } from '../../../ui/page/Page.tsx';
import type { Range } from '../../../ui/charts/scale.ts';
import css from './HeatTable.module.css';
import results from '../results.module.css';
import { useSigned } from '../texts.ts';

/** "Results of week 47, final · rolling since week 35". */
export function HeatSubtitle({ week, firstWeek }: { week: ResultWeek; firstWeek: ResultWeek | null }) {
  const t = useText();
  const { short, sentence } = useWeekText();
  const state =
    week.state === 'live'
      ? t('results.live', { week: short(week) })
      : t('results.finalOf', { week: sentence(week, week) });
  return firstWeek ? `${state} · ${t('results.rollingFrom', { week: sentence(firstWeek, week) })}` : state;
}

type NotesProps = {
  map: HeatMap;
  bounds: Range;
  isDifference: boolean;
  isOfSegments?: boolean;
  children: string;
};

/** The meaning of colours, arrows and hatching. */
export function HeatNotes({ map, bounds, isDifference, isOfSegments = false, children }: NotesProps) {
  const t = useText();
  return (
    <div className={css['heatNotes']} data-above>
      <HeatLegend low={bounds.low} high={bounds.high} isDifference={isDifference} />
      <span className={css['note']}>
        <span className={results['hatchSmall']} aria-hidden />
        {isOfSegments ? t('results.withheldSegments') : t('results.withheldEither')}
      </span>
      {!isDifference && <span className={css['note']}>{t('results.colourIsScore')}</span>}
      {!isOfSegments && !isDifference && (
        <span className={css['note']}>
          <ArrowUpRight aria-hidden size={13} strokeWidth={2} />
          {t('results.clearUp')}
          <ArrowDownRight aria-hidden size={13} strokeWidth={2} />
          {t('results.clearDown')}
        </span>
      )}
      {isDifference && (
        <span className={css['note']}>
          <span className={css['noColour']} aria-hidden />
          {t('results.noColour')}
        </span>
      )}
      {isDifference && map.rows.some((row) => isIncomparable(map, row)) && (
        <span className={css['note']}>
          <span aria-hidden>–</span>
          {t('results.nothingToCompare')}
        </span>
      )}
      {map.rows.some(({ handedOut }) => handedOut.length > 0) && (
        <span className={css['note']}>
          <span className={css['handedOutSmall']} aria-hidden>
            00
          </span>
          {t('results.handedOut')}
        </span>
      )}
      <ToolbarGap />
      <ToolbarText>{children}</ToolbarText>
    </div>
  );
}

/** Whether a row has a value with nothing to compare it with. The company's row shows scores. */
const isIncomparable = ({ companyId, comparison }: HeatMap, { id, values, differences }: HeatRow) =>
  (id !== companyId || comparison.kind === 'halfYear') &&
  values.some((value, i) => typeof value === 'number' && differences[i] === null);

function HeatLegend({ low, high, isDifference }: { low: number; high: number; isDifference: boolean }) {
  const t = useText();
  const { number } = useFormat();
  const signed = useSigned();
  const textOf = isDifference ? signed : number;
  return (
    <span className={css['heatLegend']}>
      <span className="visually-hidden">{t('results.heatLegend')}</span>
      <span>{textOf(low)}</span>
      <span className={css['ramp']} aria-hidden>
        {Array.from({ length: 9 }, (_, i) => (
          <span key={i} style={{ background: `var(--heat-${i + 1})` }} />
        ))}
      </span>
      <span>{textOf(high)}</span>
    </span>
  );
}
