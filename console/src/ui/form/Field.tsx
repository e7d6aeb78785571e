// Form fields: texts, numbers, days, checkboxes and choices.
import { type ReactNode, useId } from 'react';
import { cx } from '../cx.ts';
import css from './Field.module.css';
import { FieldHelp, describedBy, Field, type FieldProps, Optional } from './FieldFrame.tsx';

type Native = {
  name?: string;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  autoComplete?: string;
  autoFocus?: boolean;
};

type TextFieldProps = FieldProps &
  Native & {
    value: string;
    onChange: (value: string) => void;
    type?: 'text' | 'email' | 'password' | 'tel' | 'url' | 'time';
    /** A text with several lines; a number sets how many are visible. */
    multiline?: boolean | number;
    mono?: boolean;
    maxLength?: number;
    minLength?: number;
    lang?: string;
    dir?: 'ltr' | 'rtl' | 'auto';
    inputMode?: 'numeric' | 'text';
  };

export function TextField(props: TextFieldProps) {
  const { label, hint, error, optional, hideLabel, value, onChange, multiline, mono, type, ...native } =
    props;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {(control) => {
        const shared = {
          ...native,
          ...control,
          className: cx(control.className, mono && css['mono']),
          value,
          onChange: (event: { target: { value: string } }) => onChange(event.target.value),
        };
        return multiline ? (
          <textarea rows={multiline === true ? 3 : multiline} {...shared} />
        ) : (
          <input type={type ?? 'text'} {...shared} />
        );
      }}
    </Field>
  );
}

type NumberFieldProps = FieldProps &
  Native & {
    value: number | undefined;
    /** Undefined: empty, or not a number. */
    onChange: (value: number | undefined) => void;
    min?: number;
    max?: number;
    step?: number;
    /** Returns the unit after the number, such as "days". An empty field has that of 0. */
    unit?: (count: number) => string;
  };

export function NumberField(props: NumberFieldProps) {
  const { label, hint, error, optional, hideLabel, value, onChange, unit, ...native } = props;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {(control) => (
        <span className={css['measure']}>
          <input
            type="number"
            inputMode="numeric"
            {...native}
            {...control}
            className={cx(control.className, css['number'])}
            value={value ?? ''}
            onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
          />
          {unit && <span className={css['unit']}>{unit(value || 0)}</span>}
        </span>
      )}
    </Field>
  );
}

type DateFieldProps = FieldProps &
  Native & { value: string; onChange: (value: string) => void; min?: string; max?: string };

/** A day in the service's format, 2026-11-21; '' for none. */
export function DateField(props: DateFieldProps) {
  const { label, hint, error, optional, hideLabel, onChange, ...native } = props;
  return (
    <Field {...{ label, hint, error, optional, hideLabel }}>
      {(control) => (
        <input
          type="date"
          {...native}
          {...control}
          className={cx(control.className, css['date'])}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}

type TickProps = Omit<FieldProps, 'optional' | 'hideLabel'> & {
  name?: string;
  value: boolean;
  onChange: (value: boolean) => void;
  disabled?: boolean;
};

function Tick({ label, hint, error, value, onChange, role, ...native }: TickProps & { role?: 'switch' }) {
  const id = useId();
  return (
    <div className={css['tick']}>
      <input
        type="checkbox"
        role={role}
        id={id}
        className={css[role ?? 'box']}
        checked={value}
        onChange={({ target }) => onChange(target.checked)}
        aria-describedby={describedBy({ id, hint, error })}
        aria-invalid={error ? true : undefined}
        {...native}
      />
      <div className={css['field']}>
        <label htmlFor={id}>{label}</label>
        <FieldHelp id={id} hint={hint} error={error} />
      </div>
    </div>
  );
}

export const CheckboxField = (props: TickProps) => <Tick {...props} />;
// oxlint-disable-next-line jsx-a11y/role-has-required-aria-props -- a checkbox has its own state
export const SwitchField = (props: TickProps) => <Tick {...props} role="switch" />;

/** A checkbox without a visible label, for example in a table row; screen readers read the label. */
export function Checkbox(props: {
  label: string;
  value: boolean;
  onChange: (value: boolean) => void;
  /** Whether some, but not all, of its items are selected. */
  some?: boolean;
  disabled?: boolean;
}) {
  const { label, value, onChange, some = false, disabled } = props;
  return (
    <input
      type="checkbox"
      className={css['box']}
      aria-label={label}
      checked={value}
      disabled={disabled}
      ref={(box) => {
        if (box) box.indeterminate = some;
      }}
      onChange={({ target }) => onChange(target.checked)}
    />
  );
}

type Choice<Value extends string> = { value: Value; label: ReactNode; hint?: ReactNode; disabled?: boolean };

export function RadioField<Value extends string>(
  props: FieldProps & {
    name?: string;
    value: Value;
    onChange: (value: Value) => void;
    options: readonly Choice<Value>[];
  },
) {
  const { label, hint, error, optional, hideLabel, value, onChange, options, name } = props;
  const id = useId();
  return (
    <fieldset className={css['field']} aria-describedby={describedBy({ id, hint, error })}>
      <legend className={hideLabel ? 'visually-hidden' : css['label']}>
        {label}
        {optional && <Optional />}
      </legend>
      {options.map((option) => (
        <div key={option.value} className={css['tick']}>
          <input
            type="radio"
            id={`${id}-${option.value}`}
            name={name ?? id}
            className={css['radio']}
            value={option.value}
            checked={option.value === value}
            disabled={option.disabled}
            onChange={() => onChange(option.value)}
            aria-describedby={option.hint ? `${id}-${option.value}-hint` : undefined}
          />
          <div className={css['field']}>
            <label htmlFor={`${id}-${option.value}`}>{option.label}</label>
            <FieldHelp id={`${id}-${option.value}`} hint={option.hint} />
          </div>
        </div>
      ))}
      <FieldHelp id={id} hint={hint} error={error} />
    </fieldset>
  );
}
