// A choice between very many options, such as languages, by typing part of a name: as a form field, and as a button to add one.
import { Combobox as Base } from '@base-ui/react/combobox';
import type { ReactElement, ReactNode } from 'react';
import { useText } from '../../text/text.tsx';
import { OptionItem } from '../floating/Item.tsx';
import { ComboboxPopup } from '../floating/ComboboxPopup.tsx';
import { type ControlProps, Field, type FieldProps } from './FieldFrame.tsx';
import { isFound, type ComboboxOption } from './find-options.ts';
import { FieldTriggerContent, fieldClass, FilterTriggerContent, filterClass } from './TriggerContent.tsx';

type Shared = {
  value: string;
  onChange: (value: string) => void;
  options: readonly ComboboxOption[];
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
      onValueChange={(chosen: ComboboxOption | null) => chosen && onChange(chosen.value)}
      isItemEqualToValue={(one: ComboboxOption, other: ComboboxOption) => one.value === other.value}
      itemToStringLabel={(option: ComboboxOption) => option.label}
      filter={(option: ComboboxOption, typed: string) => isFound(option, typed)}
      autoHighlight
      disabled={disabled}
    >
      {children}
      <ComboboxPopup label={label} search={search} empty={t('select.noMatch')}>
        {(option: ComboboxOption) => (
          <OptionItem key={option.value} of={Base} value={option}>
            {option.label}
          </OptionItem>
        )}
      </ComboboxPopup>
    </Base.Root>
  );
}

export function ComboboxField(props: Omit<FieldProps, 'label'> & Shared & { label: string }): ReactElement {
  const { label, hint, error, optional, hideLabel, name, ...shared } = props;
  const chosen = shared.options.find(({ value }) => value === shared.value);
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {({ className, ...control }: ControlProps) => (
        <Root {...shared} label={label}>
          <Base.Trigger {...control} name={name} className={fieldClass(className)}>
            <FieldTriggerContent>{chosen?.label}</FieldTriggerContent>
          </Base.Trigger>
        </Root>
      )}
    </Field>
  );
}

/** A button such as "Add language ⌄". Nothing stays selected. */
export const AddCombobox = ({
  label,
  ...shared
}: Omit<Shared, 'value'> & { label: string }): ReactElement => (
  <Root {...shared} value="" label={label}>
    <Base.Trigger className={filterClass} aria-label={label}>
      <FilterTriggerContent>{label}</FilterTriggerContent>
    </Base.Trigger>
  </Root>
);
