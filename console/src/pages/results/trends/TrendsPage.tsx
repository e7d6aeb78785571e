// The trend of a KPI, or of the response rate, in up to six groups or segments.
import type { ResultsStart } from '@soundings/contract/console/results/results.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { useLanguage, useText } from '../../../text/text.tsx';
import { GroupCombobox } from '../../../ui/form/group-combobox/GroupCombobox.tsx';
import { Page, ToolbarGap } from '../../../ui/page/Page.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { ClearHelp } from '../clear.tsx';
import { CsvLink } from '../CsvLink.tsx';
import { Started } from '../Started.tsx';
import { spanIn, useSpanOptions } from '../url-choices.ts';
import { BreakdownSelect, useChosenBreakdown } from '../segments/breakdowns.tsx';
import { SegmentTrends } from '../segments/SegmentTrends.tsx';
import { useWithheldText } from '../texts.ts';
import { KpiSelect, rateId } from './KpiSelect.tsx';
import { TrendContent } from './TrendContent.tsx';

export function TrendsPage() {
  const t = useText();
  return <Started title={t('nav.trends')}>{(start) => <Trends start={start} />}</Started>;
}

const most = 6;
type Start = ResultsStart & { group: { id: number; name: string } };

function Trends({ start }: { start: Start }) {
  return useChosenBreakdown() === undefined ? <GroupTrends start={start} /> : <SegmentTrends start={start} />;
}

function GroupTrends({ start }: { start: Start }) {
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
  const withheld = useWithheldText();
  return (
    <Page
      title={t('nav.trends')}
      subtitle={t('results.trendsText')}
      actions={<CsvLink name="GET /results/trends/csv" query={query} />}
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
          {groupIds.length < most && start.groups > 1 && (
            <GroupCombobox
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
          <TrendContent
            trend={read}
            onRemove={(id) => setGroups(groupIds.filter((one) => one !== String(id)))}
            reasonOf={withheld.figure}
          />
        )}
      </Loaded>
    </Page>
  );
}
