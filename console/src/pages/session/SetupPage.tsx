// The first start: the link that the service printed creates the first company and its administrator.
import { defaultThreshold, minimumThreshold } from '@soundings/contract/limits.ts';
import { useLocation } from '@tanstack/react-router';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useLanguage, useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { NumberField, TextField } from '../../ui/form/Field.tsx';
import { FieldRow, Form, type FormState, useForm } from '../../ui/form/Form.tsx';
import { Failed, Skeleton } from '../../ui/page/States.tsx';
import css from './Outside.module.css';
import { SignedOutLayout, Stacked } from './Outside.tsx';
import { PasswordField } from './PasswordField.tsx';
import { useSignedIn } from './signed-in.ts';
import { ownTimezone, TimezoneField } from './TimezoneField.tsx';
import { LanguageField } from './LanguageField.tsx';

export function SetupPage() {
  const t = useText();
  const secret = useLocation().hash.replace(/^#/, '');
  const { data, error, refetch } = useData(
    'POST /setup/link',
    { body: { secret } },
    { when: secret !== '', once: true },
  );
  if (secret === '' || (data === undefined && (error?.status === 404 || error?.status === 400)))
    return (
      <SignedOutLayout title={t('session.deadTitle')}>
        <p>{t('session.deadFirst')}</p>
        <Stacked>
          <LinkButton to="/sign-in">{t('session.toSignIn')}</LinkButton>
        </Stacked>
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout title={t('session.setupTitle')} subtitle={t('session.setupText')} wide>
      {data !== undefined ? (
        <FirstForm secret={secret} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Skeleton rows={4} />
      )}
    </SignedOutLayout>
  );
}

/** The names are the paths of the fields in the request body, so that faults appear at their fields. */
type Values = {
  'account/name': string;
  'account/language': string;
  'account/timezone': string;
  'account/threshold': number | undefined;
  'administrator/firstName': string;
  'administrator/lastName': string;
  'administrator/email': string;
  'administrator/password': string;
};

function FirstForm({ secret }: { secret: string }) {
  const t = useText();
  const signedIn = useSignedIn();
  const form = useForm<Values, Awaited<ReturnType<typeof send>>>({
    initial: {
      'account/name': '',
      'account/language': useLanguage(),
      'account/timezone': ownTimezone(),
      'account/threshold': defaultThreshold,
      'administrator/firstName': '',
      'administrator/lastName': '',
      'administrator/email': '',
      'administrator/password': '',
    },
    submit: (values) => send(secret, values),
    onDone: ({ session }) => signedIn(session),
  });
  return (
    <Form
      form={form}
      actions={
        <Button type="submit" kind="primary" busy={form.busy}>
          {t('session.begin')}
        </Button>
      }
    >
      <CompanyFields form={form} />
      <YouFields form={form} />
    </Form>
  );
}

const send = (secret: string, values: Values) =>
  api('POST /setup', {
    body: {
      secret,
      account: {
        name: values['account/name'],
        language: values['account/language'],
        timezone: values['account/timezone'],
        threshold: values['account/threshold'] ?? 0,
      },
      administrator: {
        firstName: values['administrator/firstName'],
        lastName: values['administrator/lastName'],
        email: values['administrator/email'],
        password: values['administrator/password'],
      },
    },
  });

type Fields = { form: Pick<FormState<Values>, 'field' | 'values'> };

function CompanyFields({ form }: Fields) {
  const t = useText();
  const { error, ...name } = form.field('account/name');
  const { error: wrongNumber, ...threshold } = form.field('account/threshold');
  return (
    <fieldset className={css['group']}>
      <legend className={css['legend']}>{t('session.company')}</legend>
      <TextField
        {...name}
        {...(error !== undefined && { error })}
        label={t('session.companyName')}
        autoComplete="organization"
        maxLength={500}
        required
        autoFocus
      />
      <FieldRow>
        <LanguageField
          label={t('session.companyLanguage')}
          value={form.field('account/language').value}
          onChange={form.field('account/language').onChange}
        />
        <TimezoneField {...form.field('account/timezone')} label={t('session.timezone')} required />
      </FieldRow>
      <NumberField
        {...threshold}
        {...(wrongNumber !== undefined && { error: wrongNumber })}
        label={t('session.threshold')}
        hint={t('session.thresholdHint', { minimum: minimumThreshold })}
        min={minimumThreshold}
        max={1000}
        required
      />
    </fieldset>
  );
}

function YouFields({ form }: Fields) {
  const t = useText();
  const text = (name: 'firstName' | 'lastName' | 'email') => {
    const { error, ...field } = form.field(`administrator/${name}`);
    return { ...field, ...(error !== undefined && { error }), required: true };
  };
  return (
    <fieldset className={css['group']}>
      <legend className={css['legend']}>{t('session.you')}</legend>
      <FieldRow>
        <TextField {...text('firstName')} label={t('session.firstName')} autoComplete="given-name" />
        <TextField {...text('lastName')} label={t('session.lastName')} autoComplete="family-name" />
      </FieldRow>
      <TextField {...text('email')} label={t('session.email')} type="email" autoComplete="username" />
      <PasswordField
        {...form.field('administrator/password')}
        label={t('session.password')}
        hint={t('session.passwordHint')}
        isNew
      />
    </fieldset>
  );
}
