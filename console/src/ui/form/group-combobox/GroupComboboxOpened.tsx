// The list of a GroupCombobox: shows the groups that match the typed text, each with the groups above it. It is open from the start,
// because the user has already pressed the button.
import { Combobox as Base } from '@base-ui/react/combobox';
import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import type { TypedAhead } from '../../../hooks/typed-ahead.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { OptionItem } from '../../floating/Item.tsx';
import { ComboboxPopup } from '../../floating/ComboboxPopup.tsx';
import type { GroupOption } from '@soundings/contract/people/find-groups.ts';
import css from './GroupCombobox.module.css';
import { type GroupComboboxProps, useGroupsChosen, useGroupsFound, useNoneText } from './group-options.ts';

/** The value for no group. */
const none = 0;

/** Returns the groups that match the typed text. */
function useItems({ exclude, allowNone }: GroupComboboxProps, text: string) {
  const { found, total, ...rest } = useGroupsFound(text, exclude);
  const noneItem: GroupOption = {
    id: none,
    name: useNoneText(allowNone),
    people: 0,
    path: '',
    managed: false,
    above: [],
  };
  const items: GroupOption[] = allowNone && text.trim() === '' ? [noneItem, ...found] : found;
  return { ...rest, items, more: total - found.length, noneItem };
}

type OpenedProps = GroupComboboxProps & {
  /** The content and the properties of the button. */
  content: ReactNode;
  trigger: object;
  typedAhead: TypedAhead;
};

export function GroupComboboxOpened({ content, trigger, typedAhead, ...props }: OpenedProps) {
  const [text, setText] = useState('');
  const takeTyped = () => {
    const typed = typedAhead.take();
    if (typed !== '') setText((current) => current + typed);
  };
  const triggerRef = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone, and this one takes its place. In a dialog, the focus would go to the dialog until the list has it.
  useLayoutEffect(() => {
    if (document.activeElement === document.body) triggerRef.current?.focus({ preventScroll: true });
    if (document.activeElement === triggerRef.current) typedAhead.start();
  }, [typedAhead]);
  const found = useItems(props, text);
  const chosenIds = props.multiple ? props.value : props.value === undefined ? [] : [props.value];
  const chosen = useGroupsChosen(chosenIds);
  const shared = {
    items: found.items,
    filteredItems: found.items,
    itemToStringLabel: ({ name }: GroupOption) => name,
    itemToStringValue: ({ id }: GroupOption) => String(id),
    isItemEqualToValue: (one: GroupOption, other: GroupOption) => one.id === other.id,
    inputValue: text,
    onInputValueChange: setText,
    onOpenChange: (isOpen: boolean) => void (isOpen ? typedAhead.start() : typedAhead.take()),
    // On a touch screen, the search field doesn't get the focus by itself.
    onOpenChangeComplete: (isOpen: boolean) => (isOpen ? takeTyped() : setText('')),
    autoHighlight: true,
    defaultOpen: true,
    disabled: props.disabled,
    children: (
      <>
        <Base.Trigger ref={triggerRef} {...trigger}>
          {content}
        </Base.Trigger>
        <List {...found} label={String(props.label)} onSearchFocus={takeTyped} />
      </>
    ),
  };
  if (props.multiple)
    return (
      <Base.Root
        {...shared}
        multiple
        value={chosen}
        onValueChange={(groups: GroupOption[]) => props.onChange(groups.map(({ id }) => id))}
      />
    );
  return (
    <Base.Root
      {...shared}
      value={chosen[0] ?? (props.allowNone ? found.noneItem : null)}
      onValueChange={(group: GroupOption | null) =>
        props.onChange(group && group.id !== none ? group.id : undefined)
      }
    />
  );
}

type ListProps = Pick<ReturnType<typeof useItems>, 'more' | 'isWaiting' | 'error'> & {
  label: string;
  onSearchFocus: () => void;
};

function List({ more, isWaiting, error, label, onSearchFocus }: ListProps) {
  const t = useText();
  const { number } = useFormat();
  return (
    <ComboboxPopup
      label={label}
      search={t('group.search')}
      onSearchFocus={onSearchFocus}
      empty={isWaiting ? t('state.loading') : error ? t('error.title') : t('group.noMatch')}
      more={more > 0 ? t('group.more', { count: more }) : undefined}
    >
      {(group: GroupOption) => (
        <OptionItem key={group.id} of={Base} value={group} hint={group.path || undefined}>
          <span className={css['line']}>
            {group.name}
            {group.id !== none && <span className={css['people']}>{number(group.people)}</span>}
          </span>
        </OptionItem>
      )}
    </ComboboxPopup>
  );
}
