// A password field that can show the password while it is typed.
import { Eye, EyeOff } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useText } from '../../text/text.tsx';
import { Field } from '../../ui/form/FieldFrame.tsx';
import css from './PasswordField.module.css';

type Props = {
  label: string;
  name: string;
  value: string;
  onChange: (value: string) => void;
  error?: string | undefined;
  hint?: ReactNode;
  /** Whether it is a new password: password managers then suggest one. */
  isNew?: boolean;
  autoFocus?: boolean;
};

export function PasswordField({ label, error, hint, isNew, value, onChange, ...native }: Props) {
  const t = useText();
  const [isShown, setIsShown] = useState(false);
  const Icon = isShown ? EyeOff : Eye;
  return (
    <Field label={label} hint={hint} {...(error !== undefined && { error })}>
      {(control) => (
        <span className={css['box']}>
          <input
            {...native}
            {...control}
            type={isShown ? 'text' : 'password'}
            required
            maxLength={500}
            autoComplete={isNew ? 'new-password' : 'current-password'}
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            value={value}
            onChange={({ target }) => onChange(target.value)}
          />
          <button
            type="button"
            className={css['show']}
            aria-label={t('session.showPassword')}
            aria-pressed={isShown}
            onClick={() => setIsShown(!isShown)}
          >
            <Icon aria-hidden size={16} strokeWidth={1.75} />
          </button>
        </span>
      )}
    </Field>
  );
}

/** A hidden user name field, so that password managers know which account the password belongs to. */
export const Username = ({ email }: { email: string }) => (
  <input
    type="email"
    className="visually-hidden"
    tabIndex={-1}
    aria-hidden
    autoComplete="username"
    value={email}
    readOnly
  />
);
