// The heat map of a breakdown: segments by the response and the rolling values of KPIs. Without comparisons and changes.
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import type { SegmentMap } from '@soundings/contract/console/results/segments.ts';
import { shownRows } from '@soundings/contract/heat-rows.ts';
import { useMemo } from 'react';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { colourBoundsOf, heatFigure, score } from '../figures.ts';
import { HeatNotes, HeatSubtitle } from '../heat-map/HeatNotes.tsx';
import { loadedRows } from '../heat-map/HeatCell.tsx';
import { HeatTable } from '../heat-map/HeatTable.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { BreakdownSelect } from './breakdowns.tsx';

export function SegmentHeatMap({ start, breakdownId }: { start: ResultsStart; breakdownId: string }) {
  const t = useText();
  const language = useLanguage();
  const { full } = useWeekText();
  const [address, setAddress] = useAddress<'week' | 'sort'>();
  const params = { breakdownId };
  const weeks = start.weeks.filter(({ state }) => state === 'final');
  const wanted = weeks.find(({ week }) => week === address.week)?.week;
  const query = { week: wanted, language };
  const read = useData('GET /breakdowns/{breakdownId}/heat-map', { params, query } as never);
  const map = read.data?.map;
  return (
    <Page
      title={t('nav.heatMap')}
      waits={!map}
      subtitle={map?.week && <HeatSubtitle week={map.week} firstWeek={map.firstWeek} />}
      actions={
        <CsvLink
          name="GET /breakdowns/{breakdownId}/heat-map/csv"
          params={params}
          query={{ ...query, sort: address.sort }}
        />
      }
      toolbar={
        <>
          <BreakdownSelect />
          <Select
            label={t('results.weekName')}
            value={wanted ?? weeks[0]?.week ?? ''}
            onChange={(value) => setAddress({ week: value === weeks[0]?.week ? undefined : value })}
            options={weeks.map((one) => ({ value: one.week, label: full(one) }))}
          />
        </>
      }
    >
      <Loaded response={read}>
        {(found) => (
          <Content
            read={found}
            sort={address.sort ?? 'tree'}
            onSort={(sort) => setAddress({ sort: sort === 'tree' ? undefined : sort })}
          />
        )}
      </Loaded>
    </Page>
  );
}

type ContentProps = { read: SegmentMap; sort: string; onSort: (sort: string) => void };

function Content({ read: { breakdown, map }, sort, onSort }: ContentProps) {
  const t = useText();
  const language = useLanguage();
  const { rows, bounds } = useMemo(() => {
    const { compare } = new Intl.Collator(language, { numeric: true });
    const scores = map.rows.flatMap(({ values }) =>
      values.filter((value) => typeof value === 'number').map(score),
    );
    return { rows: shownRows(map, { sort }, compare), bounds: colourBoundsOf(scores) };
  }, [map, sort, language]);
  if (map.rows.every(({ rate, values }) => rate === undefined && values.every((value) => value === 'none')))
    return (
      <Empty title={t('results.noSegments')} text={t('results.noSegmentsText', { name: breakdown.name })} />
    );
  return (
    <>
      <HeatNotes map={map} bounds={bounds} isDifference={false} isOfSegments>
        {t('results.segmentsShown', { count: rows.length })}
      </HeatNotes>
      <HeatTable
        map={map}
        breakdown={breakdown}
        rows={loadedRows(rows)}
        company={undefined}
        figureOf={(row, kpi) => heatFigure(row, kpi, { bounds, isDifference: false })}
        isTree={false}
        sort={sort}
        onSort={onSort}
      />
    </>
  );
}
