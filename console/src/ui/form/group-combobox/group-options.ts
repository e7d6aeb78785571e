// The groups that a GroupCombobox lists, and its properties.
import type { TreeOfGroups } from '@soundings/contract/console/groups.ts';
import { maxGroupOptions } from '@soundings/contract/limits.ts';
import { useMemo } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useRested } from '../../../hooks/rested.ts';
import { useText } from '../../../text/text.tsx';
import type { FieldProps } from '../FieldFrame.tsx';
import { findGroups, type GroupOption, groupOptions } from '@soundings/contract/people/find-groups.ts';

export type GroupComboboxProps = FieldProps & {
  /** The text of the option for no group, such as "Whole company", listed first. */
  allowNone?: boolean | string;
  /** Groups that can't be chosen, such as the subgroups of a group that is moved. */
  exclude?: (group: GroupOption) => boolean;
  placeholder?: string;
  /** Shows the button as a toolbar filter: "Group Whole company ⌄". */
  filter?: boolean;
  name?: string;
  disabled?: boolean;
} & (
    | { multiple?: false; value: number | undefined; onChange: (value: number | undefined) => void }
    | { multiple: true; value: readonly number[]; onChange: (value: number[]) => void }
  );

/** The number of groups whose names are requested together. */
const mostNamed = 1_000;

/** Returns the groups with these ids. Those that have not loaded yet are placeholders. */
export function useGroupsChosen(ids: readonly number[]): GroupOption[] {
  const { data } = useData('GET /groups/tree');
  const all = useMemo(() => new Map(optionsOf(data).map((group) => [group.id, group])), [data]);
  const missing = ids.filter((id) => !all.has(id)).toSorted((a, b) => a - b);
  const { data: found } = useData(
    'GET /groups/options',
    { query: { ids: missing.slice(0, mostNamed).join() } },
    { when: data?.isWhole === false && missing.length > 0 },
  );
  return ids.map(
    (id) =>
      all.get(id) ??
      found?.options.find((group) => group.id === id) ?? {
        id,
        name: '…',
        people: 0,
        path: '',
        managed: false,
        above: [],
      },
  );
}

// All comboboxes of a page share the tree, so its options are computed once.
const computed = new WeakMap<TreeOfGroups, ReturnType<typeof groupOptions>>();

/** Returns the groups of a tree that has loaded as a whole. */
function optionsOf(tree: TreeOfGroups | undefined): ReturnType<typeof groupOptions> {
  if (!tree?.isWhole) return [];
  const options = computed.get(tree) ?? groupOptions(tree.groups);
  computed.set(tree, options);
  return options;
}

/** Returns the groups that match a text, at most `maxGroupOptions`, and how many there are. In large trees, the server searches. */
export function useGroupsFound(text: string, exclude: GroupComboboxProps['exclude']) {
  const { data, error } = useData('GET /groups/tree');
  const isWhole = data?.isWhole !== false;
  const rested = useRested(text.trim());
  const search = useData('GET /groups/options', { query: { search: rested } }, { when: !isWhole });
  if (!isWhole) {
    const { options = [], total = 0 } = search.data ?? {};
    const found = exclude ? options.filter((group) => !exclude(group)) : options;
    return {
      found,
      total: total - (options.length - found.length),
      isWaiting: !search.data && !search.error,
      error: search.error,
    };
  }
  const all = optionsOf(data);
  const open = exclude ? all.filter((group) => !exclude(group)) : all;
  return { ...findGroups(open, text, maxGroupOptions), isWaiting: !data && !error, error };
}

/** Returns the text of the option for no group. */
export function useNoneText(allowNone: GroupComboboxProps['allowNone']): string {
  const t = useText();
  return typeof allowNone === 'string' ? allowNone : t('group.none');
}
