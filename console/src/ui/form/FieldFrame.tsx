// The frame of a field: label, control, hint and error, connected for screen readers.
import { CircleAlert } from 'lucide-react';
import { type ReactNode, useId } from 'react';
import { useText } from '../../text/text.tsx';
import css from './Field.module.css';

/** The properties that the control of a field needs. */
export type ControlProps = {
  id: string;
  className: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
};

export type FieldProps = {
  label: ReactNode;
  hint?: ReactNode;
  error?: string;
  /** Shows "optional" beside the label, in forms where most fields are required. */
  optional?: boolean;
  /** Hides the label visually; screen readers still read it. */
  hideLabel?: boolean;
};

type Around = { hint?: ReactNode; error?: string; id: string };

export const describedBy = ({ id, hint, error }: Around) =>
  [error && `${id}-error`, hint && `${id}-hint`].filter(Boolean).join(' ') || undefined;

/** The hint and the error below a control. */
export function FieldHelp({ id, hint, error }: Around) {
  return (
    <>
      {error && (
        <p id={`${id}-error`} className={css['error']}>
          <CircleAlert aria-hidden size={14} strokeWidth={2} />
          <span>{error}</span>
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} className={css['hint']}>
          {hint}
        </p>
      )}
    </>
  );
}

export const Optional = () => <span className={css['optional']}> ({useText()('field.optional')})</span>;

export function Field(props: FieldProps & { children: (control: ControlProps) => ReactNode }) {
  const { label, hint, error, optional, hideLabel, children } = props;
  const id = useId();
  return (
    <div className={css['field']}>
      <label htmlFor={id} className={hideLabel ? 'visually-hidden' : css['label']}>
        {label}
        {optional && <Optional />}
      </label>
      {children({
        id,
        className: css['control'] as string,
        'aria-describedby': describedBy({ id, hint, error }),
        'aria-invalid': error ? true : undefined,
      })}
      <FieldHelp id={id} hint={hint} error={error} />
    </div>
  );
}
