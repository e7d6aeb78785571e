// The trend of a KPI, or of the response rate, in up to six segments of a breakdown.
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { spanIn, useSpanOptions } from '../url-choices.ts';
import { KpiSelect, rateId } from '../trends/KpiSelect.tsx';
import { TrendContent } from '../trends/TrendContent.tsx';
import { BreakdownSelect, useSegmentReason } from './breakdowns.tsx';

const most = 6;

export function SegmentTrends({ start }: { start: ResultsStart }) {
  const t = useText();
  const language = useLanguage();
  const [address, setAddress] = useAddress<'breakdown' | 'kpi' | 'segments' | 'weeks' | 'of'>();
  const kpiId = address.of === 'response' ? rateId : (address.kpi ?? start.kpis[0]?.id ?? rateId);
  const span = spanIn(address.weeks);
  const params = { breakdownId: address.breakdown ?? '' };
  const query = { segmentIds: address.segments, kpiId: kpiId || undefined, weeks: span, language };
  const read = useData('GET /breakdowns/{breakdownId}/trends', { params, query } as never);
  const spanOptions = useSpanOptions();
  const reason = useSegmentReason();
  const shown = read.data?.trend.series.map(({ group }) => group.id) ?? [];
  const others = (read.data?.segments ?? []).filter(({ id }) => !shown.includes(id));
  const setSegments = (ids: number[]) => setAddress({ segments: ids.join() });
  return (
    <Page
      title={t('nav.trends')}
      subtitle={t('results.segmentTrendsText')}
      actions={<CsvLink name="GET /breakdowns/{breakdownId}/trends/csv" params={params} query={query} />}
      toolbar={
        <>
          <BreakdownSelect />
          <KpiSelect kpis={start.kpis} value={kpiId} onChange={setAddress} />
          <Select
            label={t('results.span')}
            hideLabel
            value={span}
            onChange={(value) => setAddress({ weeks: value })}
            options={spanOptions}
          />
          {shown.length < most && others.length > 0 && (
            <Select
              label={t('results.addSegment')}
              value=""
              onChange={(id) => id !== '' && setSegments([...shown, Number(id)])}
              options={[
                { value: '', label: t('results.chooseSegment') },
                ...others.map(({ id, name }) => ({ value: String(id), label: name })),
              ]}
            />
          )}
        </>
      }
    >
      <Loaded response={read}>
        {({ trend }) => (
          <TrendContent
            trend={trend}
            onRemove={(id) => setSegments(shown.filter((one) => one !== id))}
            reasonOf={reason}
          />
        )}
      </Loaded>
    </Page>
  );
}
