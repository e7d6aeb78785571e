// A choice between a few visible options; arrow keys move between them.
import { type ReactNode, useId } from 'react';
import css from './ToggleGroup.module.css';

export function ToggleGroup<Value extends string>(props: {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly { value: Value; label: ReactNode; disabled?: boolean }[];
}) {
  const { label, value, onChange, options } = props;
  const name = useId();
  return (
    <fieldset className={css['group']}>
      <legend className="visually-hidden">{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={css['option']}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={option.disabled}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}
