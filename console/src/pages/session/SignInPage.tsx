// The sign-in page. Afterwards the requested page is shown.
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAddress, useData } from '../../hooks/data.ts';
import { useMaybeSession } from '../../session.tsx';
import { useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { OrDivider, SignedOutLayout, Stacked } from './Outside.tsx';
import { ownPath, useSignedIn } from './signed-in.ts';
import { SignInForm } from './SignInForm.tsx';

export function SignInPage() {
  const t = useText();
  const session = useMaybeSession();
  const router = useRouter();
  const [{ to }] = useAddress<'to'>();
  const signedIn = useSignedIn();
  const { data } = useData('GET /sign-in');
  useEffect(() => {
    if (session) router.history.replace(ownPath(to));
  }, [session, router, to]);
  return (
    <SignedOutLayout title={t('session.signInTitle')} {...(data?.company && { subtitle: data.company })}>
      {data?.isEmpty ? (
        <Notice title={t('session.empty')}>{t('session.emptyText')}</Notice>
      ) : (
        <SignInForm onDone={(next) => signedIn(next, to)}>
          <OrDivider>{t('session.or')}</OrDivider>
          <Stacked>
            <LinkButton to="/password">{t('session.forgotten')}</LinkButton>
          </Stacked>
        </SignInForm>
      )}
    </SignedOutLayout>
  );
}
