// The trend of a KPI, or of the response rate, in up to six groups, as a chart and as a table.
import type {
  Figure,
  ResultsStart,
  ResultWeek,
  RollingFigure,
  Trend,
} from '@soundings/contract/console/results.ts';
import { X } from 'lucide-react';
import { useAddress, useData } from '../../hooks/data.ts';
import { useFormat, useLanguage, useText } from '../../text/text.tsx';
import { useWeekText } from '../../text/weeks.ts';
import { IconButton } from '../../ui/Button.tsx';
import { Swatch } from '../../ui/charts/Swatch.tsx';
import { Line } from '../../ui/charts/Line.tsx';
import { GroupFinder } from '../../ui/form/GroupFinder.tsx';
import { Page, ToolbarGap } from '../../ui/page/Page.tsx';
import { Section } from '../../ui/page/Section.tsx';
import { Reason } from '../../ui/floating/Reason.tsx';
import { Select } from '../../ui/form/Select.tsx';
import { Loaded } from '../../ui/page/States.tsx';
import { Table } from '../../ui/table/Table.tsx';
import { ClearHelp, Margin } from './clear.tsx';
import { pointsOn, rollingOn, score } from './figures.ts';
import { CsvLink, HandedOut, HandedOutNote, spanIn, Started, useSpanOptions } from './parts.tsx';
import css from './results.module.css';
import { useHandedOutNotes, usePointText, useRollingNotes, useWithheldText } from './texts.ts';

export function TrendsPage() {
  const t = useText();
  return <Started title={t('nav.trends')}>{(start) => <Trends start={start} />}</Started>;
}

const most = 6;
/** The value for the response rate. No KPI has this id, because ids are never empty. */
const rateId = '';

type Start = ResultsStart & { group: { id: number; name: string } };

function Trends({ start }: { start: Start }) {
  const t = useText();
  const language = useLanguage();
  const [address, setAddress] = useAddress<'kpi' | 'groups' | 'weeks' | 'of'>();
  const groupIds = (address.groups ?? String(start.group.id)).split(',').slice(0, most);
  const kpiId = address.of === 'response' ? rateId : (address.kpi ?? start.kpis[0]?.id ?? rateId);
  const span = spanIn(address.weeks);
  const query = { groupIds: groupIds.join(), kpiId: kpiId || undefined, weeks: span, language };
  const trend = useData('GET /results/trends', { query } as never);
  const setGroups = (ids: string[]) => setAddress({ groups: ids.join() });
  const spanOptions = useSpanOptions();
  return (
    <Page
      title={t('nav.trends')}
      subtitle={t('results.trendsText')}
      actions={<CsvLink name="GET /results/trends/csv" query={query} />}
      toolbar={
        <>
          <Select
            label={t('results.shows')}
            value={kpiId}
            onChange={(id) =>
              setAddress(id === rateId ? { of: 'response', kpi: undefined } : { kpi: id, of: undefined })
            }
            options={[
              ...start.kpis.map(({ id, name }) => ({ value: id, label: name })),
              { value: rateId, label: t('results.response') },
            ]}
          />
          <Select
            label={t('results.span')}
            hideLabel
            value={span}
            onChange={(value) => setAddress({ weeks: value })}
            options={spanOptions}
          />
          {groupIds.length < most && start.groups > 1 && (
            <GroupFinder
              label={t('results.addGroup')}
              filter
              value={undefined}
              onChange={(id) => id !== undefined && setGroups([...new Set([...groupIds, String(id)])])}
            />
          )}
          {kpiId !== rateId && (
            <>
              <ToolbarGap />
              <ClearHelp />
            </>
          )}
        </>
      }
    >
      <Loaded response={trend}>
        {(read) => (
          <Content trend={read} onRemove={(id) => setGroups(groupIds.filter((one) => one !== String(id)))} />
        )}
      </Loaded>
    </Page>
  );
}

function Content({ trend, onRemove }: { trend: Trend; onRemove: (id: number) => void }) {
  const t = useText();
  const { number } = useFormat();
  const { axis } = useWeekText();
  const textOf = usePointText();
  const handedOutOn = useHandedOutNotes();
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
              <span className={css['people']}>{number(group.people)}</span>
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
        <Line
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
              : { points: pointsOn(weeks, values), notes: handedOutOn(weeks, values) }),
          }))}
          textOf={textOf}
          height={320}
        />
        {series.some(({ values, rolling }) => [...values, ...rolling].some(({ handedOut }) => handedOut)) && (
          <HandedOutNote />
        )}
      </Section>
      <Section title={t('results.byWeek')} flush>
        <WeekTable trend={trend} />
      </Section>
    </>
  );
}

/** A row for each week that asked, newest first; a column for each group. */
function WeekTable({ trend: { kpi, weeks, series } }: { trend: Trend }) {
  const t = useText();
  const { full } = useWeekText();
  const withheld = useWithheldText();
  const byGroup = series.map(({ group, values, rolling }) => ({
    group,
    values: new Map<string, Figure>(values.map((figure) => [figure.week, figure])),
    rolling: new Map(rolling.map((figure) => [figure.week, figure])),
  }));
  return (
    <Table<ResultWeek>
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
                reason={withheld.figure(week, group.people)}
              />
            ) : (
              <Value figure={values.get(week.week)} reason={withheld.figure(week, group.people)} />
            ),
        })),
      ]}
    />
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
      {own && (
        <span className={css['alone']}>
          {own.value === null
            ? t('results.thatWeek', { value: t('results.withheldShort') })
            : t('results.thatWeek', { value: String(score(own.value)) })}
        </span>
      )}
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
    <Reason text={reason} className={css['hiddenWord']}>
      {t('results.withheldShort')}
    </Reason>
  );
}
