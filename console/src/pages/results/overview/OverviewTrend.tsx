// The trends of all KPIs, each in its own chart on the same scale: the rolling line with its interval, and each week's own value.
import type { GroupResults } from '@soundings/contract/console/results/results.ts';
import { Link } from '@tanstack/react-router';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { valuesIn } from '../../../ui/charts/scale.ts';
import { Section } from '../../../ui/page/Section.tsx';
import { LineChart } from '../../../ui/charts/LineChart.tsx';
import { pointsOn, rollingOn } from '../figures.ts';
import { HandedOutNote } from '../HandedOut.tsx';
import { usePointText, useRollingNotes } from '../texts.ts';
import css from '../results.module.css';

export function OverviewTrend({ results: { weeks, kpis, group } }: { results: GroupResults }) {
  const t = useText();
  const { axis } = useWeekText();
  const textOf = usePointText();
  const notesOn = useRollingNotes();
  const names = axis(weeks);
  const charts = kpis.map(({ id, name, values, rolling }) => ({
    id,
    name,
    isHandedOut: [...values, ...rolling].some(({ handedOut }) => handedOut),
    series: {
      key: id,
      name,
      colour: 1,
      ...rollingOn(weeks, rolling),
      dots: pointsOn(weeks, values),
      notes: notesOn(weeks, values, rolling),
    },
  }));
  const shown = charts.flatMap(({ series }) => valuesIn(series));
  const range = { low: Math.min(...shown), high: Math.max(...shown) };
  return (
    <Section title={t('results.trend')} description={t('results.rollingHelp')}>
      <ul className={css['trends']}>
        {charts.map(({ id, name, series }) => (
          <li key={id}>
            <h3 className={css['trendName']}>
              <Link className={css['plain']} to="/trends" search={{ kpi: id, groups: group.id } as never}>
                {name}
              </Link>
            </h3>
            <LineChart
              label={`${name}: ${t('results.trendByWeek')}`}
              weeks={names}
              series={[series]}
              covers={shown.length > 0 ? range : undefined}
              textOf={textOf}
              height={132}
            />
          </li>
        ))}
      </ul>
      {charts.some(({ isHandedOut }) => isHandedOut) && <HandedOutNote />}
    </Section>
  );
}
