// The end of a visit to a sign-in provider in another tab: reports to the page that opened it, and closes.
import { useEffect } from 'react';
import { useAddress } from '../../hooks/data.ts';
import { reportVisit } from '../../hooks/provider-visit.ts';
import { useText } from '../../text/text.tsx';
import { SignedOutLayout } from './Outside.tsx';
import { refusalIn, RefusedNotice } from './Refused.tsx';

export function SignInDonePage() {
  const t = useText();
  const [{ sso }] = useAddress<'sso'>();
  const refusal = refusalIn(sso);
  useEffect(() => {
    reportVisit({ refusal: refusal ?? null });
    if (!refusal) window.close();
  }, [refusal]);
  return (
    <SignedOutLayout title={t(refusal ? 'sso.notDone' : 'sso.done')}>
      {refusal && <RefusedNotice refusal={refusal} />}
      <p>{t('sso.closeTab')}</p>
    </SignedOutLayout>
  );
}
