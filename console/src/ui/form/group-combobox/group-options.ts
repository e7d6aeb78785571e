// The groups that a GroupCombobox lists, and its properties.
import { useMemo } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import type { FieldProps } from '../FieldFrame.tsx';
import { type GroupOption, groupOptions } from './find-groups.ts';

export type GroupComboboxProps = FieldProps & {
  /** The text of the option for no group, such as "Whole company", listed first. */
  allowNone?: boolean | string;
  /** Groups that can't be chosen, such as the subgroups of a group that is moved. */
  exclude?: (id: number) => boolean;
  placeholder?: string;
  /** Shows the button as a toolbar filter: "Group Whole company ⌄". */
  filter?: boolean;
  name?: string;
  disabled?: boolean;
} & (
    | { multiple?: false; value: number | undefined; onChange: (value: number | undefined) => void }
    | { multiple: true; value: readonly number[]; onChange: (value: number[]) => void }
  );

/** Returns the groups that the user may see; `itemOf` returns a placeholder until they have loaded. */
export function useGroups() {
  const { data, error } = useData('GET /groups/tree');
  const groups = useMemo(() => groupOptions(data?.groups ?? []), [data]);
  const itemOf = (id: number): GroupOption =>
    groups.find((group) => group.id === id) ?? { id, name: '…', people: 0, path: '' };
  return { groups, itemOf, isWaiting: !data && !error, error };
}

/** Returns the text of the option for no group. */
export function useNoneText(allowNone: GroupComboboxProps['allowNone']): string {
  const t = useText();
  return typeof allowNone === 'string' ? allowNone : t('group.none');
}
