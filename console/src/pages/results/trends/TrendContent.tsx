// A trend of several groups, or segments, as a chart and as a table.
import type {
  Figure,
  ResultWeek,
  RollingFigure,
  Trend,
} from '@soundings/contract/console/results/results.ts';
import { X } from 'lucide-react';
import type { CSSProperties } from 'react';
import { useMedia } from '../../../hooks/media.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { IconButton } from '../../../ui/Button.tsx';
import { Swatch } from '../../../ui/charts/Swatch.tsx';
import { LineChart } from '../../../ui/charts/LineChart.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Toggletip } from '../../../ui/floating/Toggletip.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import { Margin } from '../clear.tsx';
import { pointsOn, rollingOn, score } from '../figures.ts';
import { HandedOut, HandedOutNote } from '../HandedOut.tsx';
import css from '../results.module.css';
import { useAnsweredOf, usePointText, useRateNotes, useRollingNotes } from '../texts.ts';

type ContentProps = {
  trend: Trend;
  onRemove: (id: number) => void;
  /** Why a figure of a series is withheld. */
  reasonOf: (week: ResultWeek, people: number) => string;
};

/** The chart with its legend, and the table of weeks. */
export function TrendContent({ trend, onRemove, reasonOf }: ContentProps) {
  const t = useText();
  const { number } = useFormat();
  const { axis } = useWeekText();
  const textOf = usePointText();
  const rateNotesOn = useRateNotes();
  const rollingNotesOn = useRollingNotes();
  const { weeks, series } = trend;
  const name = trend.kpi?.name ?? t('results.response');
  return (
    <>
      <Section title={name} description={trend.kpi ? t('results.rollingHelp') : t('results.percentOfAsked')}>
        <ul className={css['chips']}>
          {series.map(({ group }, i) => (
            <li key={group.id} className={css['chip']}>
              <Swatch colour={i + 1} />
              <span>{group.name}</span>
              {group.people > 0 && <span className={css['people']}>{number(group.people)}</span>}
              {series.length > 1 && (
                <IconButton
                  icon={X}
                  label={t('results.removeGroup', { name: group.name })}
                  onClick={() => onRemove(group.id)}
                />
              )}
            </li>
          ))}
        </ul>
        <LineChart
          label={t('results.trendByWeek')}
          weeks={axis(weeks)}
          series={series.map(({ group, values, rolling }, i) => ({
            key: group.id,
            name: group.name,
            colour: i + 1,
            ...(trend.kpi
              ? {
                  ...rollingOn(weeks, rolling),
                  dots: pointsOn(weeks, values),
                  notes: rollingNotesOn(weeks, values, rolling),
                }
              : { points: pointsOn(weeks, values), notes: rateNotesOn(weeks, values) }),
          }))}
          textOf={textOf}
          height={320}
        />
        {series.some(({ values, rolling }) => [...values, ...rolling].some(({ handedOut }) => handedOut)) && (
          <HandedOutNote />
        )}
      </Section>
      <Section title={t('results.byWeek')} flush>
        <WeekTable trend={trend} reasonOf={reasonOf} />
      </Section>
    </>
  );
}

/** A table with a row for each week that asked, newest first, and a column for each group. */
function WeekTable({ trend: { kpi, weeks, series }, reasonOf }: Omit<ContentProps, 'onRemove'>) {
  const t = useText();
  const { full } = useWeekText();
  const byGroup = series.map(({ group, values, rolling }) => ({
    group,
    values: new Map(values.map((figure) => [figure.week, figure])),
    rolling: new Map(rolling.map((figure) => [figure.week, figure])),
  }));
  // On phones, the table of several series scrolls sideways.
  const scrolls = useMedia('(max-width: 720px)') && series.length > 1;
  return (
    <div
      className={css['weekTable']}
      style={{ '--series-count': series.length } as CSSProperties}
      {...(scrolls && { tabIndex: 0, role: 'group', 'aria-label': t('results.byWeek') })}
    >
      <DataTable<ResultWeek>
        label={t('results.byWeek')}
        rowHeight={36}
        rows={weeks.filter(({ week }) => byGroup.some(({ values }) => values.has(week))).toReversed()}
        rowKey={({ week }) => week}
        columns={[
          { key: 'week', title: t('results.weekName'), width: 140, cell: (week) => full(week) },
          ...byGroup.map(({ group, values, rolling }) => ({
            key: String(group.id),
            title: group.name,
            align: 'end' as const,
            cell: (week: ResultWeek) =>
              kpi ? (
                <Rolling
                  figure={rolling.get(week.week)}
                  own={values.get(week.week)}
                  reason={reasonOf(week, group.people)}
                />
              ) : (
                <Rate figure={values.get(week.week)} reason={reasonOf(week, group.people)} />
              ),
          })),
        ]}
      />
    </div>
  );
}

type RollingProps = { figure: RollingFigure | undefined; own: Figure | undefined; reason: string };

/** The rolling value with its margin, and the value of the week alone. */
function Rolling({ figure, own, reason }: RollingProps) {
  const t = useText();
  return (
    <span className={css['rolling']}>
      <span>
        <Value figure={figure} reason={reason} /> {figure && <Margin margin={figure.margin} />}
      </span>{' '}
      {own && (own.value !== null || figure?.value !== null) && (
        <span className={css['alone']}>
          {own.value === null
            ? t('results.thatWeek', { value: t('results.withheldShort') })
            : t('results.thatWeek', { value: String(score(own.value)) })}
        </span>
      )}
    </span>
  );
}

type RateProps = { figure: Trend['series'][number]['values'][number] | undefined; reason: string };

/** The response rate, and how many of the people asked answered. */
function Rate({ figure, reason }: RateProps) {
  const people = useAnsweredOf()(figure);
  return (
    <span className={css['rolling']}>
      <span>
        <Value figure={figure} reason={reason} />
      </span>{' '}
      {people !== undefined && <span className={css['alone']}>{people}</span>}
    </span>
  );
}

function Value({ figure, reason }: { figure: Figure | undefined; reason: string }) {
  const t = useText();
  if (typeof figure?.value === 'number') {
    return (
      <>
        {figure.handedOut && <HandedOut />} {Math.round(figure.value * 100)}
      </>
    );
  }
  if (figure === undefined) {
    return (
      <>
        <span aria-hidden className={css['soft']}>
          ·
        </span>
        <span className="visually-hidden">{t('results.notAsked')}</span>
      </>
    );
  }
  return (
    <Toggletip text={reason} className={css['hiddenWord']}>
      {t('results.withheldShort')}
    </Toggletip>
  );
}
