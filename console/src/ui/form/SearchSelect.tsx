// A choice between very many options, such as languages, by typing part of a name: as a form field, and as a button to add one.
import { Combobox as Base } from '@base-ui/react/combobox';
import type { ReactElement, ReactNode } from 'react';
import { useText } from '../../text/text.tsx';
import { OptionItem } from '../floating/Item.tsx';
import { SearchList } from '../floating/SearchList.tsx';
import { type ControlProps, Field, type FieldProps } from './FieldFrame.tsx';
import { isFound, type SearchOption } from './find-options.ts';
import { FieldFace, fieldClass, FilterFace, filterClass } from './SelectFace.tsx';

type Shared = {
  value: string;
  onChange: (value: string) => void;
  options: readonly SearchOption[];
  /** The placeholder of the search field. */
  search: string;
  disabled?: boolean;
  name?: string;
};

function Root(props: Shared & { label: string; children: ReactNode }) {
  const { value, onChange, options, search, disabled, label, children } = props;
  const t = useText();
  return (
    <Base.Root
      items={options}
      value={options.find((option) => option.value === value) ?? null}
      onValueChange={(chosen: SearchOption | null) => chosen && onChange(chosen.value)}
      isItemEqualToValue={(one: SearchOption, other: SearchOption) => one.value === other.value}
      itemToStringLabel={(option: SearchOption) => option.label}
      filter={(option: SearchOption, typed: string) => isFound(option, typed)}
      autoHighlight
      disabled={disabled}
    >
      {children}
      <SearchList label={label} search={search} empty={t('select.noMatch')}>
        {(option: SearchOption) => (
          <OptionItem key={option.value} of={Base} value={option}>
            {option.label}
          </OptionItem>
        )}
      </SearchList>
    </Base.Root>
  );
}

export function SearchSelectField(
  props: Omit<FieldProps, 'label'> & Shared & { label: string },
): ReactElement {
  const { label, hint, error, optional, hideLabel, name, ...shared } = props;
  const chosen = shared.options.find(({ value }) => value === shared.value);
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {({ className, ...control }: ControlProps) => (
        <Root {...shared} label={label}>
          <Base.Trigger {...control} name={name} className={fieldClass(className)}>
            <FieldFace>{chosen?.label}</FieldFace>
          </Base.Trigger>
        </Root>
      )}
    </Field>
  );
}

/** A button such as "Add language ⌄". Nothing stays selected. */
export const SearchAdd = ({ label, ...shared }: Omit<Shared, 'value'> & { label: string }): ReactElement => (
  <Root {...shared} value="" label={label}>
    <Base.Trigger className={filterClass} aria-label={label}>
      <FilterFace>{label}</FilterFace>
    </Base.Trigger>
  </Root>
);
