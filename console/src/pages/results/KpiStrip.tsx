// The KPIs of a group in a row: the last score shown, its change in four weeks, and a small chart.
import type { GroupResults } from '@soundings/contract/console/results.ts';
import type { CSSProperties } from 'react';
import { useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { Spark } from '../../ui/charts/Spark.tsx';
import { changeOver, lastShown, pointsOn } from './figures.ts';
import { ChangeMark, HandedOut } from './parts.tsx';
import css from './results.module.css';
import { useWithheldText } from './texts.ts';

type KpiStripProps = { results: GroupResults; colourOf: (kpiId: string) => number | undefined };

/** Up to eight in one row, otherwise two rows of equal length. */
const columnsOf = (count: number) => (count <= 8 ? count : Math.ceil(count / 2));

export function KpiStrip({ results, colourOf }: KpiStripProps) {
  const t = useText();
  const { kpis } = results;
  return (
    <section aria-label={t('nav.kpis')}>
      <ul className={css['strip']} style={{ '--columns': columnsOf(kpis.length) } as CSSProperties}>
        {kpis.map((kpi) => (
          <Tile key={kpi.id} kpi={kpi} results={results} colour={colourOf(kpi.id)} />
        ))}
      </ul>
    </section>
  );
}

type TileProps = { kpi: GroupResults['kpis'][number]; results: GroupResults; colour: number | undefined };

function Tile({ kpi, results: { weeks, group }, colour }: TileProps) {
  const t = useText();
  const { label } = useWeekText();
  const hidden = useWithheldText();
  const points = pointsOn(weeks, kpi.values);
  const last = lastShown(points);
  const change = changeOver(points, 4);
  const newest = weeks.at(-1);
  const week = weeks[last];
  const isHandedOut = kpi.values.some((one) => one.week === week?.week && one.handedOut);
  return (
    <li className={css['tile']}>
      <p className={css['tileName']}>{kpi.name}</p>
      {week ? (
        <>
          <p className={css['tileScore']}>
            <span className={css['big']} title={t('results.scoreOf100')}>
              {Math.round(points[last] as number)}
            </span>
            {change && <ChangeMark by={change.by} since={label(weeks[change.from] as typeof week, newest)} />}
            {isHandedOut && <HandedOut />}
            {week.week !== newest?.week && <span className={css['tileWeek']}>{label(week, newest)}</span>}
          </p>
          <Spark points={points} colour={colour} />
        </>
      ) : (
        <p className={css['tileHidden']}>
          <span className={css['hatchSmall']} aria-hidden />
          {hidden.figure(weeks.findLast(({ thresholds }) => thresholds) ?? null, group.people)}
        </p>
      )}
    </li>
  );
}
