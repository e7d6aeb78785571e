// A field for a time zone of the tz database, found by typing part of its name.
import { useId } from 'react';
import { Field } from '../../ui/form/FieldFrame.tsx';

type Props = {
  label: string;
  hint?: string;
  error?: string | undefined;
  name: string;
  value: string;
  onChange: (value: string) => void;
  required?: boolean;
  placeholder?: string;
};

export function TimezoneField({ label, hint, error, value, onChange, ...native }: Props) {
  const zones = useId();
  return (
    <Field label={label} hint={hint} {...(error !== undefined && { error })}>
      {(control) => (
        <>
          <input
            type="text"
            {...native}
            {...control}
            list={zones}
            autoComplete="off"
            spellCheck={false}
            maxLength={64}
            value={value}
            onChange={({ target }) => onChange(target.value.trim())}
          />
          <datalist id={zones}>
            {Intl.supportedValuesOf('timeZone').map((zone) => (
              <option key={zone}>{zone}</option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}

/** Returns the browser's time zone. */
export const ownTimezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
