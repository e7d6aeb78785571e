// Whether you get the weekly digest. Only managers and administrators get one.
import type { Profile } from '@soundings/contract/console/session.ts';
import { useQueryClient } from '@tanstack/react-query';
import { api } from '../../../api.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useText } from '../../../text/text.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { SwitchField } from '../../../ui/form/Field.tsx';
import { Section } from '../../../ui/page/Section.tsx';

export function Digest({ profile: { digest } }: { profile: Profile }) {
  const t = useText();
  const toast = useToast();
  const queries = useQueryClient();
  const { busy, once } = useOnce();
  if (digest === null) return null;
  const change = async (wanted: boolean) => {
    const saved = await api('PUT /profile/digest', { body: { wanted } });
    queries.setQueryData(['GET /profile', undefined], saved);
    toast({ text: t(wanted ? 'profile.digestOn' : 'profile.digestOff') });
  };
  return (
    <Section title={t('profile.digest')}>
      <SwitchField
        label={t('profile.digestWanted')}
        hint={t('profile.digestHint')}
        value={digest}
        onChange={(wanted) => once(() => change(wanted))}
        disabled={busy}
      />
    </Section>
  );
}
