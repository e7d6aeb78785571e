// The pages to request a link and to set a password with it. The link's secret follows # in the URL, so browsers never send it.
import { useLocation, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useData } from '../../hooks/data.ts';
import { useText } from '../../text/text.tsx';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { TextField } from '../../ui/form/Field.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { Failed, Skeleton } from '../../ui/page/States.tsx';
import css from './Outside.module.css';
import { SignedOutLayout, Stacked } from './Outside.tsx';
import { PasswordField, Username } from './PasswordField.tsx';
import { useSignedIn } from './signed-in.ts';

export function PasswordPage() {
  const { hash } = useLocation();
  return hash === '' ? <RequestLink /> : <SetByLink key={hash} secret={hash.replace(/^#/, '')} />;
}

/** Requests an email with a link. The message is the same whether or not the address exists. */
function RequestLink() {
  const t = useText();
  const { data } = useData('GET /sign-in');
  const [sentTo, setSentTo] = useState<string>();
  const form = useForm({
    initial: { email: '' },
    submit: (body) => api('POST /password/forgotten', { body }),
    onDone: (_, { email }) => setSentTo(email),
    warn: false,
  });
  const { error, ...email } = form.field('email');
  const back = <LinkButton to="/sign-in">{t('session.toSignIn')}</LinkButton>;
  if (data?.canMail === false)
    return (
      <SignedOutLayout title={t('session.requestTitle')}>
        <Notice title={t('session.noMail')}>{t('session.noMailText')}</Notice>
        <Stacked>{back}</Stacked>
      </SignedOutLayout>
    );
  if (sentTo !== undefined)
    return (
      <SignedOutLayout title={t('session.sentTitle')}>
        <p role="status">{t('session.sentText', { email: sentTo })}</p>
        <p className={css['soft']}>{t('session.sentHint')}</p>
        <Stacked>{back}</Stacked>
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout title={t('session.requestTitle')} subtitle={t('session.requestText')}>
      <Form
        form={form}
        actions={
          <>
            <Button type="submit" kind="primary" busy={form.busy}>
              {t('session.requestSend')}
            </Button>
            {back}
          </>
        }
      >
        <TextField
          {...email}
          {...(error !== undefined && { error })}
          label={t('session.email')}
          type="email"
          autoComplete="username"
          required
          autoFocus
        />
      </Form>
    </SignedOutLayout>
  );
}

function SetByLink({ secret }: { secret: string }) {
  const t = useText();
  const { data, error, refetch } = useData('POST /password/link', { body: { secret } }, { once: true });
  if (!data && error && error.status !== 404 && error.status !== 400)
    return (
      <SignedOutLayout title={t('session.setTitle')}>
        <Failed error={error} onRetry={() => void refetch()} />
      </SignedOutLayout>
    );
  if (!data && error)
    return (
      <SignedOutLayout title={t('session.deadTitle')}>
        <p>{t('session.deadText')}</p>
        <Stacked>
          <LinkButton to="/password" kind="primary">
            {t('session.requestAgain')}
          </LinkButton>
          <LinkButton to="/sign-in">{t('session.toSignIn')}</LinkButton>
        </Stacked>
      </SignedOutLayout>
    );
  if (!data)
    return (
      <SignedOutLayout title={t('session.setTitle')}>
        <Skeleton rows={2} />
      </SignedOutLayout>
    );
  return (
    <SignedOutLayout
      title={t(data.hasPassword ? 'session.setTitle' : 'session.setFirstTitle')}
      subtitle={t('session.setFor', { email: data.email, company: data.company })}
    >
      <SetForm secret={secret} email={data.email} hasPassword={data.hasPassword} />
    </SignedOutLayout>
  );
}

function SetForm({ secret, email, hasPassword }: { secret: string; email: string; hasPassword: boolean }) {
  const t = useText();
  const navigate = useNavigate();
  const signedIn = useSignedIn();
  const form = useForm({
    initial: { password: '' },
    submit: ({ password }) => api('POST /password', { body: { secret, password } }),
    onDone: ({ session }) => {
      if (session) signedIn(session);
      else void navigate({ to: '/sign-in', replace: true });
    },
    warn: false,
  });
  return (
    <Form
      form={form}
      actions={
        <Button type="submit" kind="primary" busy={form.busy}>
          {t('session.setPassword')}
        </Button>
      }
    >
      <Username email={email} />
      <PasswordField
        {...form.field('password')}
        label={t('session.newPassword')}
        hint={t('session.passwordHint')}
        isNew
        autoFocus
      />
      {hasPassword && <p className={css['soft']}>{t('session.setEnds')}</p>}
    </Form>
  );
}
