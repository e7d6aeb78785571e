// The heat map: groups by the rolling values of KPIs, as scores or as differences from the comparison.
import type { HeatMap, HeatRow, ResultsStart } from '@soundings/contract/console/results/results.ts';
import { periodOfWeek } from '@soundings/contract/periods.ts';
import { shownRows } from '@soundings/contract/heat-rows.ts';
import { Navigate } from '@tanstack/react-router';
import { FileText } from 'lucide-react';
import { useMemo } from 'react';
import { addressOf } from '../../../api.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useWindows } from '../../../hooks/windows.ts';
import { useFormat, useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Empty } from '../../../ui/page/Empty.tsx';
import { GroupCombobox } from '../../../ui/form/group-combobox/GroupCombobox.tsx';
import { Page, ToolbarGap } from '../../../ui/page/Page.tsx';
import { ToggleGroup } from '../../../ui/form/ToggleGroup.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Failed, Loaded, Skeleton } from '../../../ui/page/States.tsx';
import { ClearHelp, ComparisonSelect } from '../clear.tsx';
import { colourBoundsOf, differenceBounds, heatFigure, score } from '../figures.ts';
import { HeatNotes, HeatSubtitle } from './HeatNotes.tsx';
import { type HeatRows, loadedRows } from './HeatCell.tsx';
import { HeatTable } from './HeatTable.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { Started } from '../Started.tsx';
import { comparisonIn } from '../url-choices.ts';
import { BreakdownSelect, useBreakdowns, useChosenBreakdown } from '../segments/breakdowns.tsx';
import { SegmentHeatMap } from '../segments/SegmentHeatMap.tsx';

export function HeatMapPage() {
  const t = useText();
  // The map is the largest response of all, so it is requested together with what every page needs first.
  useMapOfGroups(useChosenBreakdown() === undefined);
  return <Started title={t('nav.heatMap')}>{(start) => <Chosen start={start} />}</Started>;
}

/** The map of groups, or of the breakdown in the address. */
function Chosen({ start }: { start: ResultsStart }) {
  const breakdown = useChosenBreakdown();
  const breakdowns = useBreakdowns();
  return breakdown !== undefined ? (
    <SegmentHeatMap start={start} breakdownId={breakdown} />
  ) : (
    <Map start={start} hasBreakdowns={breakdowns.length > 0} />
  );
}

type Key = 'week' | 'compare' | 'level' | 'subtreeOf' | 'by' | 'sort';

/** Loads the map of the week and comparison in the address. */
function useMapOfGroups(when = true) {
  const language = useLanguage();
  const [address] = useAddress<Key>();
  const query = { week: address.week, compare: comparisonIn(address.compare), language };
  return { query, map: useData('GET /results/heat-map', { query } as never, { when }) };
}

function Map({ start, hasBreakdowns }: { start: ResultsStart; hasBreakdowns: boolean }) {
  const t = useText();
  const language = useLanguage();
  const [address, setAddress] = useAddress<Key>();
  const { query, map } = useMapOfGroups();
  const week = map.data?.week;
  const only = map.data?.count === 1 ? map.data.rows[0] : undefined;
  // A map of a single group shows nothing that its overview doesn't.
  if (only && !hasBreakdowns) return <Navigate to="/" search={{ group: only.id } as never} replace />;
  return (
    <Page
      title={t('nav.heatMap')}
      waits={!map.data}
      subtitle={week && <HeatSubtitle week={week} firstWeek={map.data?.firstWeek ?? null} />}
      actions={
        <>
          {week && (
            <LinkButton
              href={addressOf('GET /results/reports.zip', {
                query: { period: periodOfWeek(week.week).name, compare: query.compare, language },
              })}
              download
              icon={FileText}
            >
              {t('results.allReports')}
            </LinkButton>
          )}
          <CsvLink name="GET /results/heat-map/csv" query={{ ...query, ...filtersOf(address) }} />
        </>
      }
      toolbar={
        map.data ? (
          <Toolbar start={start} map={map.data} address={address} setAddress={setAddress} />
        ) : (
          <ToolbarGap />
        )
      }
    >
      <Loaded response={map}>
        {(read) => <Content map={read} address={address} setAddress={setAddress} />}
      </Loaded>
    </Page>
  );
}

/** The filters and the order, which also apply to the file. */
const filtersOf = ({ level, subtreeOf, by, sort }: Address['address']) => ({ level, subtreeOf, by, sort });

type Address = {
  address: Partial<Record<Key, string>>;
  setAddress: (changes: Partial<Record<Key, string | undefined>>) => void;
};

function Toolbar({ start, map, address, setAddress }: Address & { start: ResultsStart; map: HeatMap }) {
  const t = useText();
  const { full } = useWeekText();
  const weeks = start.weeks.map((one) => ({ value: one.week, label: full(one) }));
  return (
    <>
      <BreakdownSelect />
      <Select
        label={t('results.weekName')}
        value={weekIn(start, map, address.week)}
        onChange={(value) => setAddress({ week: value === start.weeks[0]?.week ? undefined : value })}
        options={weeks}
      />
      {map.levels.length > 1 && (
        <Select
          label={t('results.levels')}
          value={address.level ?? ''}
          onChange={(value) => setAddress({ level: value })}
          options={[
            { value: '', label: t('results.allLevels') },
            ...map.levels.map((names, i) => ({
              value: String(i + 1),
              label: t('results.level', { level: i + 1 }),
              hint: names.join(', '),
            })),
          ]}
        />
      )}
      {start.groups > 1 && (
        <GroupCombobox
          label={t('results.within')}
          filter
          allowNone={t('results.wholeTree')}
          value={address.subtreeOf === undefined ? undefined : Number(address.subtreeOf)}
          onChange={(id) => setAddress({ subtreeOf: id === undefined ? undefined : String(id) })}
        />
      )}
      <ComparisonSelect
        comparison={map.comparison}
        wanted={comparisonIn(address.compare)}
        onChange={(kind) => setAddress({ compare: kind })}
      />
      {map.comparison.kind !== 'none' && (
        <ToggleGroup
          label={t('results.colourBy')}
          value={address.by ?? 'score'}
          onChange={(value) => setAddress({ by: value === 'score' ? undefined : value })}
          options={[
            { value: 'score', label: t('results.score') },
            { value: 'difference', label: t('results.difference') },
          ]}
        />
      )}
      <ToolbarGap />
      <ClearHelp />
    </>
  );
}

/** Returns the week in the URL, even while its map is loading. If that week is not offered, returns the week of the map. */
const weekIn = ({ weeks }: ResultsStart, map: HeatMap, wanted = weeks[0]?.week): string =>
  weeks.find(({ week }) => week === wanted)?.week ?? map.week?.week ?? '';

type Filters = { level?: number; subtreeOf?: number; sort: string; isDifference: boolean };

/** Returns the filters and the order of the address. */
function useFilters(map: HeatMap, address: Address['address']): Filters {
  const { level, subtreeOf, sort = 'tree', by } = address;
  const isDifference = by === 'difference' && map.comparison.kind !== 'none';
  return useMemo(
    () => ({
      ...(level !== undefined && { level: Number(level) }),
      ...(subtreeOf !== undefined && { subtreeOf: Number(subtreeOf) }),
      sort,
      isDifference,
    }),
    [level, subtreeOf, sort, isDifference],
  );
}

function Content(props: Address & { map: HeatMap }) {
  const t = useText();
  const { map } = props;
  if (map.kpis.length === 0) return <Empty title={t('results.noKpis')} text={t('results.noKpisText')} />;
  return map.isWhole ? <WholeMap {...props} /> : <MapInParts {...props} />;
}

function WholeMap(props: Address & { map: HeatMap }) {
  const { map, address } = props;
  const language = useLanguage();
  const filters = useFilters(map, address);
  const rows = useMemo(() => {
    const { compare } = new Intl.Collator(language, { numeric: true });
    return loadedRows(shownRows(map, filters, compare));
  }, [map, filters, language]);
  return <Shown {...props} rows={rows} />;
}

/** A map of very many groups: the server filters and sorts the rows, and only those in view are loaded. */
function MapInParts(props: Address & { map: HeatMap }) {
  const { map, address } = props;
  const language = useLanguage();
  const { level, subtreeOf, by, sort } = address;
  const query = { week: map.week?.week, compare: map.comparison.kind, language, level, subtreeOf, by, sort };
  const windows = useWindows('GET /results/heat-map/rows', { query } as never);
  const { count = 0, rowAt, onVisible, isOld } = windows;
  if (windows.isFirst) return <Skeleton rows={14} />;
  if (windows.error) return <Failed error={windows.error} onRetry={windows.retry} />;
  return (
    <>
      <Shown {...props} rows={{ count, rowAt, onVisible, isOld }} />
      {windows.gap && <Failed error={windows.gap.error} onRetry={windows.gap.retry} />}
    </>
  );
}

function Shown({ map, address, setAddress, rows }: Address & { map: HeatMap; rows: HeatRows }) {
  const t = useText();
  const { number } = useFormat();
  const { sort, isDifference } = useFilters(map, address);
  const company = map.rows.find(({ id }) => id === map.companyId);
  const bounds = useMemo(() => {
    if (isDifference) return differenceBounds;
    const values = map.rows.flatMap((row) => row.values);
    return colourBoundsOf(values.filter((value) => typeof value === 'number').map(score));
  }, [map, isDifference]);
  const of = map.count - (company ? 1 : 0);
  return (
    <>
      <HeatNotes map={map} bounds={bounds} isDifference={isDifference}>
        {t('results.groupsShown', { shown: number(rows.count), count: of })}
      </HeatNotes>
      <HeatTable
        map={map}
        rows={rows}
        company={company}
        figureOf={(row, kpi) =>
          isDifference && !isComparable(map, row)
            ? // The score of the company, without an arrow, as in all other rows.
              heatFigure({ ...row, changes: [], changesHandedOut: [] }, kpi, {
                bounds: undefined,
                isDifference: false,
              })
            : heatFigure(row, kpi, { bounds, isDifference })
        }
        isTree={sort === 'tree' && address.level === undefined}
        sort={sort}
        onSort={(next) => setAddress({ sort: next === 'tree' ? undefined : next })}
      />
      {rows.count === 0 && (
        <Empty
          title={t('state.noMatch')}
          action={
            <Button onClick={() => setAddress({ level: undefined, subtreeOf: undefined })}>
              {t('action.clearFilters')}
            </Button>
          }
        />
      )}
    </>
  );
}

/**
 * Whether a row can have a difference. The company can't be compared with itself and has no parent group, so its row shows scores.
 */
const isComparable = ({ companyId, comparison }: HeatMap, { id }: HeatRow) =>
  id !== companyId || comparison.kind === 'halfYear';
