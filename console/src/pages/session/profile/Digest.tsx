// Whether you get the weekly digest. Only managers and administrators get one.
import type { Profile } from '@soundings/contract/console/session.ts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useText } from '../../../text/text.tsx';
import { useErrorText } from '../../../ui/faults.ts';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { SwitchField } from '../../../ui/form/Field.tsx';
import { Section } from '../../../ui/page/Section.tsx';

export function Digest({ profile: { digest } }: { profile: Profile }) {
  const t = useText();
  const toast = useToast();
  const errorText = useErrorText();
  const queries = useQueryClient();
  const [busy, setBusy] = useState(false);
  if (digest === null) return null;
  const change = (wanted: boolean) => {
    setBusy(true);
    api('PUT /profile/digest', { body: { wanted } })
      .then((saved) => {
        queries.setQueryData(['GET /profile', undefined], saved);
        toast({ text: t(wanted ? 'profile.digestOn' : 'profile.digestOff') });
      })
      .catch((error: unknown) => toast({ text: errorText(error), tone: 'bad' }))
      .finally(() => setBusy(false));
  };
  return (
    <Section title={t('profile.digest')}>
      <SwitchField
        label={t('profile.digestWanted')}
        hint={t('profile.digestHint')}
        value={digest}
        onChange={change}
        disabled={busy}
      />
    </Section>
  );
}
