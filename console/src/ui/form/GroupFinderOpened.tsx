// The list of a GroupFinder: shows the groups that match the typed text, each with the groups above it. It is open from the start,
// because the user has already pressed the button.
import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, Search } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useFormat, useText } from '../../text/text.tsx';
import { findGroups, type FoundGroup } from './find-groups.ts';
import { type FinderProps, useGroups, useNoneText } from './GroupFinder.tsx';
import css from './GroupFinder.module.css';
import select from './Select.module.css';

/** The maximum number of groups listed. Typing more narrows the list. */
const most = 80;
/** The value for no group. */
const none = 0;

/** Returns the groups that match the typed text. */
function useFound({ exclude, allowNone }: FinderProps, text: string) {
  const { groups, ...rest } = useGroups();
  const open = exclude ? groups.filter(({ id }) => !exclude(id)) : groups;
  const { found, total } = findGroups(open, text, most);
  const noneItem: FoundGroup = { id: none, name: useNoneText(allowNone), people: 0, way: '' };
  const items: FoundGroup[] = allowNone && text.trim() === '' ? [noneItem, ...found] : found;
  return { ...rest, groups, items, more: total - found.length, noneItem };
}

type OpenedProps = FinderProps & {
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
    <Base.Portal>
      <Base.Positioner sideOffset={4} align="start" className={select['positioner']}>
        <Base.Popup className={css['popup']} aria-label={label}>
          <div className={css['search']}>
            <Search aria-hidden size={16} strokeWidth={1.75} />
            <Base.Input
              className={css['input']}
              aria-label={t('group.search')}
              placeholder={t('group.search')}
            />
          </div>
          <Base.Empty className={css['empty']}>
            {isWaiting ? t('state.loading') : error ? t('error.title') : t('group.noMatch')}
          </Base.Empty>
          <Base.List className={css['list']}>
            {(group: FoundGroup) => (
              <Base.Item key={group.id} value={group} className={select['item']}>
                <Base.ItemIndicator className={select['tick']}>
                  <Check aria-hidden size={16} />
                </Base.ItemIndicator>
                <span className={select['option']}>
                  <span className={css['line']}>
                    {group.name}
                    {group.id !== none && <span className={css['people']}>{number(group.people)}</span>}
                  </span>
                  {group.way && <span className={select['hint']}>{group.way}</span>}
                </span>
              </Base.Item>
            )}
          </Base.List>
          {more > 0 && <p className={css['more']}>{t('group.more', { count: more })}</p>}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}
