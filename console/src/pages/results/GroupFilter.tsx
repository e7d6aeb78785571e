// The group that a page of results shows, chosen from those that the user may see and kept in the address.
import { useText } from '../../text/text.tsx';
import { GroupCombobox } from '../../ui/form/group-combobox/GroupCombobox.tsx';

/**
 * `among`: the number of groups that the user may see. With a single one there is nothing to choose, so nothing is shown. `group`: an id, as
 * in the address.
 */
export function GroupFilter({
  among,
  group,
  onChange,
}: {
  among: number;
  group: string;
  onChange: (group: string | undefined) => void;
}) {
  const t = useText();
  if (among <= 1) return null;
  return (
    <GroupCombobox
      filter
      label={t('results.group')}
      value={Number(group)}
      onChange={(id) => onChange(id === undefined ? undefined : String(id))}
    />
  );
}
