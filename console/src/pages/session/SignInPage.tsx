// The sign-in page. Afterwards the requested page is shown.
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { withStorage } from '../../hooks/browser-storage.ts';
import { useAddress, useData } from '../../hooks/data.ts';
import { useMaybeSession } from '../../session.tsx';
import { useText } from '../../text/text.tsx';
import { LinkButton } from '../../ui/Button.tsx';
import { Notice } from '../../ui/page/Notice.tsx';
import { OrDivider, SignedOutLayout, Stacked } from './Outside.tsx';
import { ProviderButtons } from './ProviderButtons.tsx';
import { refusalIn, RefusedNotice } from './Refused.tsx';
import { ownPath, useSignedIn } from './signed-in.ts';
import { SignInForm } from './SignInForm.tsx';

const companyKey = 'soundings.company';

/** Returns the key of the company in the address, or the last one that was chosen in this browser, so that its address has to be opened only once. */
const companyOf = (given: string | undefined): string | undefined =>
  given ?? withStorage(() => localStorage.getItem(companyKey)) ?? undefined;

export function SignInPage() {
  const t = useText();
  const session = useMaybeSession();
  const router = useRouter();
  const [{ to, company, sso }] = useAddress<'to' | 'company' | 'sso'>();
  const signedIn = useSignedIn();
  const key = companyOf(company);
  const { data } = useData('GET /sign-in', { query: { company: key?.slice(0, 40) } });
  const refusal = refusalIn(sso);
  const isAsking = refusal === 'other company';
  useEffect(() => {
    if (session && !isAsking) router.history.replace(ownPath(to));
  }, [session, isAsking, router, to]);
  const providers = data?.providers ?? [];
  return (
    <SignedOutLayout title={t('session.signInTitle')} {...(data?.company && { subtitle: data.company })}>
      {refusal && <RefusedNotice refusal={refusal} />}
      {session && isAsking && <p>{t('sso.signedInTo', { company: session.account.name })}</p>}
      {data?.isEmpty ? (
        <Notice title={t('session.empty')}>{t('session.emptyText')}</Notice>
      ) : (
        <>
          {providers.length > 0 && (
            <>
              <ProviderButtons
                providers={providers}
                to={ownPath(to)}
                onClick={() => key !== undefined && withStorage(() => localStorage.setItem(companyKey, key))}
              />
              <OrDivider>{t('session.or')}</OrDivider>
            </>
          )}
          <SignInForm onDone={(next) => signedIn(next, to)}>
            <OrDivider>{t('session.or')}</OrDivider>
            <Stacked>
              <LinkButton to="/password">{t('session.forgotten')}</LinkButton>
            </Stacked>
          </SignInForm>
        </>
      )}
    </SignedOutLayout>
  );
}
