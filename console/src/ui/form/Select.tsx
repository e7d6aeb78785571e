// A choice between a few options, as a toolbar filter and as a form field.
import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../cx.ts';
import { type ControlProps, Field, type FieldProps } from './FieldFrame.tsx';
import css from './Select.module.css';

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

function List<Value extends string>({ options }: { options: readonly Option<Value>[] }) {
  return (
    <Base.Portal>
      <Base.Positioner
        sideOffset={4}
        align="start"
        alignItemWithTrigger={false}
        className={css['positioner']}
      >
        <Base.Popup className={css['popup']}>
          <Base.List>
            {options.map(({ value, label, hint, disabled }) => (
              <Base.Item key={value} value={value} disabled={disabled} className={css['item']}>
                <Base.ItemIndicator className={css['tick']}>
                  <Check aria-hidden size={16} />
                </Base.ItemIndicator>
                <span className={css['option']}>
                  <Base.ItemText>{label}</Base.ItemText>
                  {hint !== undefined && <span className={css['hint']}>{hint}</span>}
                </span>
              </Base.Item>
            ))}
          </Base.List>
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  );
}

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
      <List options={options} />
    </Base.Root>
  );
}

const arrows = (
  <Base.Icon className={css['arrows']}>
    <ChevronsUpDown aria-hidden size={14} strokeWidth={1.75} />
  </Base.Icon>
);

/** A toolbar filter: "Role Any ⌄". */
export function Select<Value extends string>({
  label,
  hideLabel,
  ...shared
}: Shared<Value> & { label: string; hideLabel?: boolean }): ReactElement {
  const chosen = shared.options.find(({ value }) => value === shared.value);
  return (
    <Root {...shared}>
      <Base.Trigger className={css['filter']} aria-label={`${label}: ${chosen?.label ?? ''}`}>
        {!hideLabel && <span className={css['name']}>{label}</span>}
        <span className={css['value']}>
          <Base.Value />
        </span>
        {arrows}
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
          <Base.Trigger {...control} className={cx(className, css['trigger'])}>
            <span className={css['chosen']}>
              <Base.Value>
                {(value: Value) =>
                  shared.options.find((option) => option.value === value)?.label ?? (
                    <span className={css['placeholder']}>{placeholder}</span>
                  )
                }
              </Base.Value>
            </span>
            {arrows}
          </Base.Trigger>
        </Root>
      )}
    </Field>
  );
}
