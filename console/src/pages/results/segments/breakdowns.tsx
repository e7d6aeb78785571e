// What the results pages share about segments: which breakdowns have segments, the choice of a breakdown, and why a figure is
// withheld.
import type { ResultWeek } from '@soundings/contract/console/results/results.ts';
import type { BreakdownRow } from '@soundings/contract/console/results/segments.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { Select } from '../../../ui/form/Select.tsx';

/**
 * Returns the breakdowns that have segments. Returns none for users who are not administrators, and none while they are loading.
 */
export function useBreakdowns(): BreakdownRow[] {
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { data } = useData('GET /breakdowns', undefined, { when: isAdministrator });
  return (data?.breakdowns ?? []).filter(({ segments }) => segments > 0);
}

/** A choice between groups and breakdowns. Renders nothing if there is nothing to choose. */
export function BreakdownSelect() {
  const t = useText();
  const breakdowns = useBreakdowns();
  const [address, setAddress] = useAddress<'breakdown' | 'segments' | 'sort'>();
  if (breakdowns.length === 0) return null;
  return (
    <Select
      label={t('results.rows')}
      value={breakdowns.find(({ id }) => String(id) === address.breakdown) ? (address.breakdown ?? '') : ''}
      onChange={(breakdown) => setAddress({ breakdown, segments: undefined, sort: undefined })}
      options={[
        { value: '', label: t('results.groups') },
        ...breakdowns.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
    />
  );
}

/** Returns a text for why a figure of a segment is withheld. The stored data does not contain the reason. */
export function useSegmentReason(): (week: ResultWeek | null) => string {
  const t = useText();
  return (week) => t('results.segmentWithheld', { minimum: week?.thresholds?.figures ?? 5 });
}
