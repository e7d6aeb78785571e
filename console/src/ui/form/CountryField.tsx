// A field for a country, found by typing part of its name.
import { useId, useState } from 'react';
import { useCountryNames } from '../../text/countries.ts';
import { Field } from './FieldFrame.tsx';

type Props = {
  label: string;
  hint?: string;
  error?: string | undefined;
  name?: string;
  /** A code such as SE; null: none. Other text is passed on as typed, so that the service refuses it. */
  value: string | null;
  onChange: (value: string | null) => void;
  optional?: boolean;
};

export function CountryField({ label, hint, error, name, value, onChange, optional }: Props) {
  const list = useId();
  const { all, codeOf, nameOf } = useCountryNames();
  const [typed, setTyped] = useState<string>();
  const isTyped = typed !== undefined && (codeOf(typed) || null) === value;
  return (
    <Field {...{ label, hint, error, optional }}>
      {(control) => (
        <>
          <input
            type="text"
            name={name}
            {...control}
            list={list}
            autoComplete="off"
            spellCheck={false}
            maxLength={60}
            value={isTyped ? typed : value === null ? '' : nameOf(value)}
            onChange={({ target }) => {
              setTyped(target.value);
              onChange(codeOf(target.value) || null);
            }}
          />
          <datalist id={list}>
            {all.map(({ code, name: countryName }) => (
              <option key={code}>{countryName}</option>
            ))}
          </datalist>
        </>
      )}
    </Field>
  );
}
