// The choice of a group whose people get cards, or lose them.
import type { Chosen } from '@soundings/contract/console/people.ts';
import { useState } from 'react';
import { useText } from '../../../text/text.tsx';
import { GroupCombobox } from '../../../ui/form/group-combobox/GroupCombobox.tsx';

type Choice = { chosen: Chosen; group: number | undefined; setGroup: (group: number | undefined) => void };

export function useGroupChoice(): Choice {
  const [group, setGroup] = useState<number>();
  return { chosen: { filters: group === undefined ? {} : { group: String(group) } }, group, setGroup };
}

export function GroupChoice({ group, setGroup }: Choice) {
  const t = useText();
  return (
    <GroupCombobox
      label={t('cards.group')}
      allowNone={t('cards.everyGroup')}
      value={group}
      onChange={setGroup}
    />
  );
}
