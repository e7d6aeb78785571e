// What shows whether a change or difference is clear: arrows and colours for clear ones, words for all others, and an explanation.
import { clearPoints, pointsOf } from '@soundings/contract/console/results/points.ts';
import type {
  BestEstimate,
  FigureChange,
  ChosenComparison,
  Difference,
} from '@soundings/contract/console/results/results.ts';
import { ArrowDownRight, ArrowUpRight, CircleHelp } from 'lucide-react';
import { useFormat, useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { cx } from '../../ui/cx.ts';
import { Popover } from '../../ui/floating/Popover.tsx';
import { Select } from '../../ui/form/Select.tsx';
import css from './clear.module.css';
import { directionOf, score } from './figures.ts';
import { HandedOut } from './HandedOut.tsx';
import { useComparisonName, useMargin, useSigned } from './texts.ts';

/**
 * A change with an arrow and a sign, so that colour is never the only hint; in words if it is not clear. Renders nothing if there is no
 * change.
 */
export function ChangeMark({
  change,
  since,
  brief,
  isMarked,
}: {
  change: FigureChange | null;
  /** Such as "since week 38". */
  since: string;
  brief?: boolean;
  /** The figure beside it already says that it is based on handed-out links. */
  isMarked?: boolean;
}) {
  const t = useText();
  const signed = useSigned();
  const direction = directionOf(change);
  if (!change || (brief && !direction)) return null;
  const mark = change.handedOut && !isMarked && <HandedOut />;
  if (!direction)
    return (
      <span className={css['unclear']}>
        {t('results.noClearChange')} {mark}
      </span>
    );
  const Arrow = direction === 'up' ? ArrowUpRight : ArrowDownRight;
  return (
    <>
      <span className={cx(css['change'], css[direction])}>
        <Arrow aria-hidden size={14} strokeWidth={2} />
        {signed(clearPoints(change))}
        <span className="visually-hidden"> {since}</span>
      </span>{' '}
      {mark}
    </>
  );
}

/** A difference in points. Only a clear one has a colour: blue-green above, clay below. */
export function DifferenceMark({
  difference,
  isMarked,
}: {
  difference: Difference;
  /** The figure beside it already says that it is based on handed-out links. */
  isMarked?: boolean;
}) {
  const t = useText();
  const signed = useSigned();
  const direction = directionOf(difference);
  return (
    <>
      <span className={cx(css['difference'], direction && css[direction === 'up' ? 'above' : 'below'])}>
        {signed(clearPoints(difference))}
        {!direction && <span className="visually-hidden"> ({t('results.noClearDifference')})</span>}
      </span>{' '}
      {difference.handedOut && !isMarked && <HandedOut />}
    </>
  );
}

/** "± 3", half the width of the 95% interval. */
export function Margin({ margin }: { margin: number | null }) {
  const text = useMargin();
  return margin === null ? null : <span className={css['margin']}>{text(margin)}</span>;
}

/** "68 ± 2 (62% from the group's own answers)". */
export function useBestEstimate(): (estimate: BestEstimate) => string {
  const t = useText();
  const { number } = useFormat();
  return ({ value, margin, weight }) =>
    t('results.bestEstimateText', {
      value: number(score(value)),
      margin: number(pointsOf(margin, true)),
      weight: Math.round(100 * weight),
    });
}

/** Chooses what to compare with, of what the caller may choose. Nothing is shown if there is no choice. */
export function ComparisonSelect(props: {
  comparison: ChosenComparison | undefined;
  /** The choice in the URL. */
  wanted: string | undefined;
  onChange: (kind: string) => void;
}) {
  const { comparison, wanted, onChange } = props;
  const t = useText();
  if (!comparison || comparison.available.length < 2) return null;
  return (
    <Select
      label={t('results.compareWith')}
      // Shown even while its figures are loading.
      value={comparison.available.find((kind) => kind === wanted) ?? comparison.kind}
      onChange={onChange}
      options={comparison.available.map((kind) => ({ value: kind, label: t(`compare.${kind}`) }))}
    />
  );
}

/** A row of figures in a popup: what it is, and its text. */
export type FigureDetail = [label: string, text: string | undefined];

/** Returns how a difference is described: its value, the sign and whether it is clear. */
export function useDifferenceDetail(): (
  difference: Difference | null,
  comparison: ChosenComparison,
) => FigureDetail | undefined {
  const t = useText();
  const signed = useSigned();
  const nameOf = useComparisonName();
  return (difference, comparison) => {
    const name = nameOf(comparison);
    if (!difference || name === undefined) return undefined;
    const clear = directionOf(difference) ? t('results.clearDifference') : t('results.noClearDifference');
    const by = `${signed(clearPoints(difference))} (${score(difference.value)})`;
    return [t('results.differenceFrom', { name }), `${by}: ${clear}`];
  };
}

/** Explains what a clear change is. Every results page has it once. */
export function ClearHelp() {
  const t = useText();
  return (
    <Popover
      align="end"
      title={t('results.clearHelp')}
      trigger={
        <Button kind="quiet" icon={CircleHelp}>
          {t('results.clearHelp')}
        </Button>
      }
    >
      <p>{t('results.clearHelpText')}</p>
      <p>{t('results.clearHelpInterval')}</p>
      <p>{t('results.clearHelpRolling')}</p>
      <p>{t('results.clearHelpEstimate')}</p>
      <p className={css['docs']}>{t('results.clearHelpDocs')}</p>
    </Popover>
  );
}
