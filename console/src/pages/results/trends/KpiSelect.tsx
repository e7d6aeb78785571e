// Chooses what a trend shows: a KPI or the response rate.
import type { ResultKpi } from '@soundings/contract/console/results/results.ts';
import { useText } from '../../../text/text.tsx';
import { Select } from '../../../ui/form/Select.tsx';

/** The value for the response rate. No KPI has this id, because ids are never empty. */
export const rateId = '';

type Props = {
  kpis: readonly ResultKpi[];
  value: string;
  /** Called with the changes to the URL. */
  onChange: (changes: { of: 'response' | undefined; kpi: string | undefined }) => void;
};

export function KpiSelect({ kpis, value, onChange }: Props) {
  const t = useText();
  return (
    <Select
      label={t('results.shows')}
      value={value}
      onChange={(id) =>
        onChange(id === rateId ? { of: 'response', kpi: undefined } : { kpi: id, of: undefined })
      }
      options={[
        ...kpis.map(({ id, name }) => ({ value: id, label: name })),
        { value: rateId, label: t('results.response') },
      ]}
    />
  );
}
