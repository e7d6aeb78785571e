// The sign-in form in steps: email and password, the company if they match several, and the two-factor code.
import type { Session, SignInResponse } from '@soundings/contract/console/session.ts';
import { ChevronRight } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { api } from '../../api.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Failed } from '../../ui/page/States.tsx';
import css from './Outside.module.css';
import { PasswordField, Username } from './PasswordField.tsx';

type Given = { email: string; password: string; accountId?: number };
type Step =
  | { kind: 'password' }
  | { kind: 'account'; given: Given; accounts: { id: number; name: string }[] }
  | { kind: 'code'; given: Given };

type Props = {
  /** The user who signs in, if known. */
  as?: { email: string; accountId: number };
  onDone: (session: Session) => void;
  /** An additional button in the first step. */
  other?: ReactNode;
  /** Content below the first step. */
  children?: ReactNode;
};

export function SignInForm({ as, onDone, other, children }: Props) {
  const [step, setStep] = useState<Step>({ kind: 'password' });
  const [email, setEmail] = useState(as?.email ?? '');
  function goOn(response: SignInResponse, given: Given) {
    setEmail(given.email);
    if (response.state === 'signed in') onDone(response.session);
    else if (response.state === 'choose account')
      setStep({ kind: 'account', given, accounts: response.accounts });
    else setStep({ kind: 'code', given: { ...given, accountId: response.accountId } });
  }
  const back = () => setStep({ kind: 'password' });
  if (step.kind === 'account') return <AccountStep {...step} onResponse={goOn} onBack={back} />;
  if (step.kind === 'code') return <CodeStep {...step} onResponse={goOn} onBack={back} />;
  return (
    <>
      <PasswordStep {...(as && { as })} begins={email} other={other} onResponse={goOn} />
      {children}
    </>
  );
}

type OnResponse = (response: SignInResponse, given: Given) => void;

type PasswordStepProps = Pick<Props, 'as' | 'other'> & {
  /** The initial email address, so that a user who goes back finds what they typed. */
  begins: string;
  onResponse: OnResponse;
};

function PasswordStep({ as, begins, other, onResponse }: PasswordStepProps) {
  const t = useText();
  const form = useForm({
    initial: { email: begins, password: '' },
    submit: (values) => api('POST /session', { body: { ...values, ...(as && { accountId: as.accountId }) } }),
    onDone: (response, values) => onResponse(response, { ...values, ...(as && { accountId: as.accountId }) }),
    warn: false,
  });
  const { error: emailError, ...email } = form.field('email');
  return (
    <Form
      form={form}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            {t('session.signIn')}
          </Button>
          {other}
        </>
      }
    >
      {as ? (
        // Lets password managers know which account the password belongs to.
        <Username email={as.email} />
      ) : (
        <TextField
          {...email}
          {...(emailError !== undefined && { error: emailError })}
          label={t('session.email')}
          type="email"
          autoComplete="username"
          required
          autoFocus={begins === ''}
        />
      )}
      <PasswordField {...form.field('password')} label={t('session.password')} autoFocus={begins !== ''} />
    </Form>
  );
}

type AccountStepProps = {
  given: Given;
  accounts: { id: number; name: string }[];
  onResponse: OnResponse;
  onBack: () => void;
};

function AccountStep({ given, accounts, onResponse, onBack }: AccountStepProps) {
  const t = useText();
  const [error, setError] = useState<unknown>();
  const choose = (accountId: number) =>
    api('POST /session', { body: { ...given, accountId } }).then(
      (response) => onResponse(response, { ...given, accountId }),
      setError,
    );
  return (
    <>
      <p id="choose-account">{t('session.chooseAccount')}</p>
      {error !== undefined && <Failed error={error} />}
      <ul className={css['accounts']} aria-labelledby="choose-account">
        {accounts.map(({ id, name }, i) => (
          <li key={id}>
            <button
              type="button"
              className={css['account']}
              autoFocus={i === 0}
              onClick={() => void choose(id)}
            >
              {name}
              <ChevronRight aria-hidden size={16} />
            </button>
          </li>
        ))}
      </ul>
      <Button onClick={onBack} kind="quiet">
        {t('action.back')}
      </Button>
    </>
  );
}

function CodeStep({
  given,
  onResponse,
  onBack,
}: {
  given: Given;
  onResponse: OnResponse;
  onBack: () => void;
}) {
  const t = useText();
  const [isRecovery, setIsRecovery] = useState(false);
  const form = useForm({
    initial: { code: '' },
    submit: ({ code }) => api('POST /session', { body: { ...given, code } }),
    onDone: (response) => onResponse(response, given),
    warn: false,
  });
  const { error, ...code } = form.field('code');
  return (
    <Form
      form={form}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            {t('session.signIn')}
          </Button>
          <Button onClick={onBack} kind="quiet">
            {t('action.back')}
          </Button>
        </>
      }
    >
      <TextField
        key={String(isRecovery)}
        {...code}
        {...(error !== undefined && { error })}
        label={t(isRecovery ? 'session.recoveryCode' : 'session.code')}
        hint={t(isRecovery ? 'session.recoveryCodeHint' : 'session.codeHint')}
        autoComplete={isRecovery ? 'off' : 'one-time-code'}
        inputMode={isRecovery ? 'text' : 'numeric'}
        maxLength={40}
        mono
        required
        autoFocus
      />
      <button
        type="button"
        className={css['linkish']}
        onClick={() => {
          form.reset({ code: '' });
          setIsRecovery(!isRecovery);
        }}
      >
        {t(isRecovery ? 'session.useApp' : 'session.useRecoveryCode')}
      </button>
    </Form>
  );
}
