// What the results pages share about segments: which kinds have any, choosing one of them, and why a figure is withheld.
import type { ResultWeek } from '@soundings/contract/console/results.ts';
import type { SegmentKindRow } from '@soundings/contract/console/segments.ts';
import { useAddress, useData } from '../../../hooks/data.ts';
import { hasRole } from '@soundings/contract/people/roles.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { Select } from '../../../ui/form/Select.tsx';

/** Returns the kinds that have segments, for administrators; none for others, and while they are loading. */
export function useKinds(): SegmentKindRow[] {
  const isAdministrator = hasRole(useSession().user, 'Administrator');
  const { data } = useData('GET /segments', undefined, { when: isAdministrator });
  return (data?.kinds ?? []).filter(({ segments }) => segments > 0);
}

/** Chooses between groups and a kind of segments. Missing if there is nothing to choose. */
export function KindSelect() {
  const t = useText();
  const kinds = useKinds();
  const [address, setAddress] = useAddress<'kind' | 'segments' | 'sort'>();
  if (kinds.length === 0) return null;
  return (
    <Select
      label={t('results.rows')}
      value={kinds.find(({ id }) => String(id) === address.kind) ? (address.kind ?? '') : ''}
      onChange={(kind) => setAddress({ kind, segments: undefined, sort: undefined })}
      options={[
        { value: '', label: t('results.groups') },
        ...kinds.map(({ id, name }) => ({ value: String(id), label: name })),
      ]}
    />
  );
}

/** Returns a text for why a figure of a segment is withheld. The stored data does not contain the reason. */
export function useSegmentReason(): (week: ResultWeek | null) => string {
  const t = useText();
  return (week) => t('results.segmentWithheld', { minimum: week?.thresholds?.figures ?? 5 });
}
