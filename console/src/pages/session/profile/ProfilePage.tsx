// Your profile: your details, how and where you sign in, and the questions your groups were asked.
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { Digest } from './Digest.tsx';
import { Identities } from './Identities.tsx';
import { Password } from './Password.tsx';
import { PastWeeks } from './PastWeeks.tsx';
import { Person } from './Person.tsx';
import { TwoFactor } from './TwoFactor.tsx';
import { Sessions } from './Sessions.tsx';

export function ProfilePage() {
  const t = useText();
  const profile = useData('GET /profile');
  return (
    <Page title={t('nav.profile')} narrow>
      <Loaded response={profile}>
        {(data) => (
          <>
            <Person profile={data} />
            <Digest profile={data} />
            <Password profile={data} />
            <TwoFactor profile={data} />
            <Identities />
            <Sessions />
            <PastWeeks />
          </>
        )}
      </Loaded>
    </Page>
  );
}
