// A choice between very many options, such as languages, by typing part of a name: as a form field, and as a button to add one.
import { Combobox as Base } from '@base-ui/react/combobox';
import { Check, ChevronsUpDown, Search } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { useText } from '../../text/text.tsx';
import { cx } from '../cx.ts';
import { type ControlProps, Field, type FieldProps } from './FieldFrame.tsx';
import { folded } from './find-groups.ts';
import css from './GroupFinder.module.css';
import select from './Select.module.css';

/** `words`: returns further search terms; called once, when the user starts to type. */
export type SearchOption = { value: string; label: string; words?: () => string };

type Shared = {
  value: string;
  onChange: (value: string) => void;
  options: readonly SearchOption[];
  /** The placeholder of the search box. */
  search: string;
  disabled?: boolean;
  name?: string;
};

const wordsOf = new WeakMap<SearchOption, string[]>();

/** Whether every typed word begins a word of the option. */
function isFound(option: SearchOption, typed: string): boolean {
  const own =
    wordsOf.get(option) ?? folded(`${option.label} ${option.words?.() ?? ''}`).split(/[^\p{L}\p{N}]+/u);
  wordsOf.set(option, own);
  return folded(typed)
    .split(/\s+/)
    .every((part) => own.some((word) => word.startsWith(part)));
}

function Root({
  value,
  onChange,
  options,
  search,
  disabled,
  label,
  children,
}: Shared & { label: string; children: ReactNode }) {
  return (
    <Base.Root
      items={options}
      value={options.find((option) => option.value === value) ?? null}
      onValueChange={(chosen: SearchOption | null) => chosen && onChange(chosen.value)}
      isItemEqualToValue={(one: SearchOption, other: SearchOption) => one.value === other.value}
      itemToStringLabel={({ label: words }: SearchOption) => words}
      filter={(option: SearchOption, typed: string) => isFound(option, typed.trim())}
      autoHighlight
      disabled={disabled}
    >
      {children}
      <List label={label} search={search} />
    </Base.Root>
  );
}

function List({ label, search }: { label: string; search: string }) {
  const t = useText();
  return (
    <Base.Portal>
      <Base.Positioner sideOffset={4} align="start" className={select['positioner']}>
        <Base.Popup className={css['popup']} aria-label={label}>
          <div className={css['search']}>
            <Search aria-hidden size={16} strokeWidth={1.75} />
            <Base.Input className={css['input']} aria-label={search} placeholder={search} />
          </div>
          <Base.Empty className={css['empty']}>{t('select.noMatch')}</Base.Empty>
          <Base.List className={css['list']}>
            {(option: SearchOption) => (
              <Base.Item key={option.value} value={option} className={select['item']}>
                <Base.ItemIndicator className={select['tick']}>
                  <Check aria-hidden size={16} />
                </Base.ItemIndicator>
                <span className={select['option']}>{option.label}</span>
              </Base.Item>
            )}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}

const arrows = <ChevronsUpDown aria-hidden size={14} strokeWidth={1.75} className={css['arrows']} />;

export function SearchSelectField(
  props: Omit<FieldProps, 'label'> & Shared & { label: string },
): ReactElement {
  const { label, hint, error, optional, hideLabel, name, ...shared } = props;
  const chosen = shared.options.find(({ value }) => value === shared.value);
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {({ className, ...control }: ControlProps) => (
        <Root {...shared} label={label}>
          <Base.Trigger {...control} name={name} className={cx(className, select['trigger'])}>
            <span className={select['chosen']}>{chosen?.label}</span>
            {arrows}
          </Base.Trigger>
        </Root>
      )}
    </Field>
  );
}

/** A button such as "Add language ⌄". Nothing stays selected. */
export function SearchAdd({ label, ...shared }: Omit<Shared, 'value'> & { label: string }): ReactElement {
  return (
    <Root {...shared} value="" label={label}>
      <Base.Trigger className={select['filter']} aria-label={label}>
        <span className={select['value']}>{label}</span>
        {arrows}
      </Base.Trigger>
    </Root>
  );
}
