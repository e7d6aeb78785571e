// What the results pages share about segments: which breakdowns have segments, the choice of a breakdown, and why a figure is
// withheld.
import type { ResultWeek } from '@soundings/contract/console/results/results.ts';
import type { BreakdownRow } from '@soundings/contract/console/results/segments.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { Select } from '../../../ui/form/Select.tsx';

/** Returns the breakdowns that have segments: none for users who are not administrators; undefined while they are loading. */
function useLoadedBreakdowns(): BreakdownRow[] | undefined {
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { data, isPending } = useData('GET /breakdowns', undefined, { when: isAdministrator });
  if (isAdministrator && isPending) return undefined;
  return (data?.breakdowns ?? []).filter(({ segments }) => segments > 0);
}

const none: BreakdownRow[] = [];

/** Returns the breakdowns that have segments, none while they are loading. */
export const useBreakdowns = (): BreakdownRow[] => useLoadedBreakdowns() ?? none;

/**
 * Returns the id of the breakdown in the address; undefined: none, or one without segments. While the breakdowns are loading, it is
 * taken to be one of them, so that its figures load at the same time and those of groups don't load in vain.
 */
export function useChosenBreakdown(): string | undefined {
  const [{ breakdown }] = useAddress<'breakdown'>();
  const breakdowns = useLoadedBreakdowns();
  return breakdowns && !breakdowns.some(({ id }) => String(id) === breakdown) ? undefined : breakdown;
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
