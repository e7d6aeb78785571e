// The list of a GroupFinder: shows the groups that match the typed text, each with the groups above it. It is open from the start,
// because the user has already pressed the button.
import { Combobox as Base } from '@base-ui/react/combobox';
import { type ReactNode, useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { OptionItem } from '../../floating/Item.tsx';
import { SearchList } from '../../floating/SearchList.tsx';
import { findGroups, type FoundGroup } from './find-groups.ts';
import css from './GroupFinder.module.css';
import { type GroupFinderProps, useGroups, useNoneText } from './groups-to-find.ts';

/** The maximum number of groups listed. Typing more narrows the list. */
const most = 80;
/** The value for no group. */
const none = 0;

/** Returns the groups that match the typed text. */
function useFound({ exclude, allowNone }: GroupFinderProps, text: string) {
  const { groups, ...rest } = useGroups();
  const open = exclude ? groups.filter(({ id }) => !exclude(id)) : groups;
  const { found, total } = findGroups(open, text, most);
  const noneItem: FoundGroup = { id: none, name: useNoneText(allowNone), people: 0, way: '' };
  const items: FoundGroup[] = allowNone && text.trim() === '' ? [noneItem, ...found] : found;
  return { ...rest, groups, items, more: total - found.length, noneItem };
}

type OpenedProps = GroupFinderProps & {
  /** The content and the properties of the button. */
  face: ReactNode;
  trigger: object;
};

export function GroupFinderOpened({ face, trigger, ...props }: OpenedProps) {
  const [text, setText] = useState('');
  const found = useFound(props, text);
  const shared = {
    items: found.groups,
    filteredItems: found.items,
    itemToStringLabel: ({ name }: FoundGroup) => name,
    itemToStringValue: ({ id }: FoundGroup) => String(id),
    isItemEqualToValue: (one: FoundGroup, other: FoundGroup) => one.id === other.id,
    inputValue: text,
    onInputValueChange: setText,
    onOpenChangeComplete: (isOpen: boolean) => !isOpen && setText(''),
    autoHighlight: true,
    defaultOpen: true,
    disabled: props.disabled,
    children: (
      <>
        <Base.Trigger {...trigger}>{face}</Base.Trigger>
        <List {...found} label={String(props.label)} />
      </>
    ),
  };
  if (props.multiple)
    return (
      <Base.Root
        {...shared}
        multiple
        value={props.value.map(found.itemOf)}
        onValueChange={(groups: FoundGroup[]) => props.onChange(groups.map(({ id }) => id))}
      />
    );
  const chosen =
    props.value === undefined ? (props.allowNone ? found.noneItem : null) : found.itemOf(props.value);
  return (
    <Base.Root
      {...shared}
      value={chosen}
      onValueChange={(group: FoundGroup | null) =>
        props.onChange(group && group.id !== none ? group.id : undefined)
      }
    />
  );
}

type ListProps = Pick<ReturnType<typeof useFound>, 'more' | 'isWaiting' | 'error'> & { label: string };

function List({ more, isWaiting, error, label }: ListProps) {
  const t = useText();
  const { number } = useFormat();
  return (
    <SearchList
      label={label}
      search={t('group.search')}
      empty={isWaiting ? t('state.loading') : error ? t('error.title') : t('group.noMatch')}
      more={more > 0 ? t('group.more', { count: more }) : undefined}
    >
      {(group: FoundGroup) => (
        <OptionItem key={group.id} of={Base} value={group} hint={group.way || undefined}>
          <span className={css['line']}>
            {group.name}
            {group.id !== none && <span className={css['people']}>{number(group.people)}</span>}
          </span>
        </OptionItem>
      )}
    </SearchList>
  );
}
