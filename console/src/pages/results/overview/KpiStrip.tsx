// The KPIs of a group in a row: the rolling value with its interval, its change and its difference from the comparison. What they
// are based on opens in a popup.
import { clearPoints } from '@soundings/contract/console/results/points.ts';
import type {
  FigureChange,
  GroupResults,
  RollingFigure,
} from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import type { CSSProperties } from 'react';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Popover } from '../../../ui/floating/Popover.tsx';
import { Sparkline } from '../../../ui/charts/Sparkline.tsx';
import {
  ChangeMark,
  DifferenceMark,
  type FigureDetail,
  Margin,
  useBestEstimate,
  useDifferenceDetail,
} from '../clear.tsx';
import { directionOf, lastRolling, pointsOn, score } from '../figures.ts';
import { FocusMark } from '../focus/FocusNotes.tsx';
import { HandedOut } from '../HandedOut.tsx';
import {
  useComparisonName,
  useInterval,
  useSigned,
  useSince,
  useWeekNames,
  useWithheldText,
} from '../texts.ts';
import css from './KpiStrip.module.css';
import shared from '../results.module.css';

/** Up to eight in one row, otherwise two rows of equal length. */
const columnsOf = (count: number) => (count <= 8 ? count : Math.ceil(count / 2));

export function KpiStrip({ results }: { results: GroupResults }) {
  const t = useText();
  const { kpis } = results;
  return (
    <section aria-label={t('nav.kpis')}>
      <ul className={css['strip']} style={{ '--columns': columnsOf(kpis.length) } as CSSProperties}>
        {kpis.map((kpi) => (
          <Tile key={kpi.id} kpi={kpi} results={results} />
        ))}
      </ul>
    </section>
  );
}

type TileProps = { kpi: GroupResults['kpis'][number]; results: GroupResults };

function Tile({ kpi, results }: TileProps) {
  const withheld = useWithheldText();
  const { weeks, group } = results;
  const last = lastRolling(kpi.rolling);
  return (
    <li className={css['tile']}>
      <p className={css['tileName']}>
        {kpi.name} <FocusMark groupId={group.id} kpiId={kpi.id} />
      </p>
      {last ? (
        <Shown kpi={kpi} results={results} last={last} />
      ) : (
        <p className={css['tileHidden']}>
          <span className={shared['hatchSmall']} aria-hidden />
          {withheld.figure(weeks.findLast(({ thresholds }) => thresholds) ?? null, group.people)}
        </p>
      )}
    </li>
  );
}

function Shown({ kpi, results, last }: TileProps & { last: RollingFigure }) {
  const t = useText();
  const { label } = useWeekText();
  const { weeks, comparison } = results;
  const newest = weeks.at(-1);
  const since = useSince(newest);
  const name = useComparisonName()(comparison);
  const week = weeks.find((one) => one.week === last.week);
  return (
    <>
      <p className={css['tileScore']}>
        <span className={shared['big']}>{score(last.value as number)}</span> <Margin margin={last.margin} />
        {last.handedOut && <HandedOut />}
        {week && week !== newest && <span className={css['tileWeek']}>{label(week, newest)}</span>}
      </p>
      <p className={css['tileChange']}>
        {last.change && (
          <ChangeMark change={last.change} since={since(last.change)} isMarked={last.handedOut} />
        )}
      </p>
      <p className={css['tileDifference']}>
        {kpi.difference && name !== undefined && (
          <>
            <DifferenceMark difference={kpi.difference} isMarked={last.handedOut} />{' '}
            <span>{t('results.versus', { name })}</span>
          </>
        )}
      </p>
      <Sparkline points={pointsOn(weeks, kpi.rolling)} />
      <Details kpi={kpi} results={results} last={last} />
    </>
  );
}

/** Where the value comes from, its interval, what it is compared with, and the best estimate. */
function Details({ kpi, results: { weeks, group, comparison }, last }: TileProps & { last: RollingFigure }) {
  const t = useText();
  const { span } = useWeekNames(weeks.at(-1));
  const interval = useInterval();
  const differenceOf = useDifferenceDetail();
  const estimateOf = useBestEstimate();
  const changeOf = useChangeDetail(useSince(weeks.at(-1)));
  const items: (FigureDetail | undefined)[] = [
    [t('results.interval'), interval(last)],
    changeOf(last.change),
    differenceOf(kpi.difference, comparison),
    kpi.bestEstimate ? [t('results.bestEstimate'), estimateOf(kpi.bestEstimate)] : undefined,
  ];
  const count = t('results.questionCount', { count: last.questions });
  return (
    <Popover
      title={kpi.name}
      trigger={
        <button
          type="button"
          className={css['tileMore']}
          aria-label={`${t('results.detailsOf', { name: kpi.name })}: ${count}`}
        >
          {count} <ChevronDown aria-hidden size={13} />
        </button>
      }
    >
      <p>
        {t('results.fromQuestions', { count: last.questions, weeks: span(last.firstWeek, last.lastWeek) })}
      </p>
      <dl className={css['details']}>
        {items.map((item) =>
          item?.[1] === undefined ? null : (
            <div key={item[0]}>
              <dt>{item[0]}</dt>
              <dd>{item[1]}</dd>
            </div>
          ),
        )}
      </dl>
      <Link className={css['tileLink']} to="/trends" search={{ kpi: kpi.id, groups: group.id } as never}>
        {t('results.toTrend')}
      </Link>
    </Popover>
  );
}

function useChangeDetail(sinceOf: (change: FigureChange) => string) {
  const t = useText();
  const signed = useSigned();
  return (change: RollingFigure['change']): FigureDetail | undefined => {
    if (!change) return undefined;
    const by = signed(clearPoints(change));
    const text = t('results.changeSince', { by, since: sinceOf(change), count: change.questions });
    const clear = t(directionOf(change) ? 'results.clearChange' : 'results.noClearChange');
    return [t('results.change'), `${text}: ${clear}`];
  };
}
