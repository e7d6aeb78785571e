// A choice between a few options, as a toolbar filter and as a form field.
import { Select as Base } from '@base-ui/react/select';
import type { ReactElement, ReactNode } from 'react';
import { Floating } from '../floating/Floating.tsx';
import { OptionItem } from '../floating/Item.tsx';
import { type ControlProps, Field, type FieldProps } from './FieldFrame.tsx';
import {
  FieldTriggerContent,
  fieldClass,
  FilterTriggerContent,
  filterClass,
  Placeholder,
} from './TriggerContent.tsx';

export type Option<Value extends string = string> = {
  value: Value;
  label: string;
  hint?: ReactNode;
  disabled?: boolean;
};

type Shared<Value extends string> = {
  value: Value;
  onChange: (value: Value) => void;
  options: readonly Option<Value>[];
  disabled?: boolean;
};

/** Positions the list below the button, like every other list, and not over it. */
const Positioner = (props: Base.Positioner.Props) => (
  <Base.Positioner {...props} alignItemWithTrigger={false} />
);
const parts = { ...Base, Positioner };

function Root<Value extends string>(props: Shared<Value> & { name?: string; children: ReactNode }) {
  const { value, onChange, options, disabled, name, children } = props;
  return (
    <Base.Root
      items={options}
      value={value}
      onValueChange={(chosen) => onChange(chosen as Value)}
      disabled={disabled}
      name={name}
      modal={false}
    >
      {children}
      <Floating of={parts} kind="options" align="start">
        <Base.List>
          {options.map(({ value: each, label, hint, disabled: isOff }) => (
            <OptionItem key={each} of={Base} value={each} disabled={isOff} hint={hint}>
              <Base.ItemText>{label}</Base.ItemText>
            </OptionItem>
          ))}
        </Base.List>
      </Floating>
    </Base.Root>
  );
}

const labelOf = <Value extends string>({ options, value }: Shared<Value>) =>
  options.find((option) => option.value === value)?.label;

/** A toolbar filter: "Role Any ⌄". */
export function Select<Value extends string>({
  label,
  hideLabel,
  ...shared
}: Shared<Value> & { label: string; hideLabel?: boolean }): ReactElement {
  const chosen = labelOf(shared);
  return (
    <Root {...shared}>
      <Base.Trigger className={filterClass} aria-label={`${label}: ${chosen ?? ''}`}>
        <FilterTriggerContent label={hideLabel ? undefined : label}>{chosen}</FilterTriggerContent>
      </Base.Trigger>
    </Root>
  );
}

export function SelectField<Value extends string>(
  props: FieldProps & Shared<Value> & { name?: string; placeholder?: string },
): ReactElement {
  const { label, hint, error, optional, hideLabel, placeholder, ...shared } = props;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {({ className, ...control }: ControlProps) => (
        <Root {...shared}>
          <Base.Trigger {...control} className={fieldClass(className)}>
            <FieldTriggerContent>
              {labelOf(shared) ?? <Placeholder>{placeholder}</Placeholder>}
            </FieldTriggerContent>
          </Base.Trigger>
        </Root>
      )}
    </Field>
  );
}
