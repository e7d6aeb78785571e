// The providers with which you can sign in: connecting and disconnecting your identity there.
import type { OwnIdentity } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useAddress, useData, useRefresh } from '../../../hooks/data.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { refusalIn, RefusedNotice } from '../Refused.tsx';
import css from './Profile.module.css';

/** Nothing if the company has no provider. */
export function Identities() {
  const t = useText();
  const { data } = useData('GET /profile/identities');
  const [{ sso }] = useAddress<'sso'>();
  const refusal = refusalIn(sso);
  if (!data || data.length === 0) return null;
  return (
    <Section title={t('sso.title')} description={t('sso.identitiesText')} id="single-sign-on">
      {refusal && <RefusedNotice refusal={refusal} />}
      <ul className={css['sessions']}>
        {data.map((identity) => (
          <Identity key={identity.providerId} identity={identity} />
        ))}
      </ul>
    </Section>
  );
}

function Identity({ identity: { providerId, name, linkedAt } }: { identity: OwnIdentity }) {
  const t = useText();
  const format = useFormat();
  const refresh = useRefresh();
  const { busy, once } = useOnce();
  const [isAsking, setIsAsking] = useState(false);
  const params = { providerId };
  const connect = async () =>
    location.assign((await api('POST /profile/identities/{providerId}', { params })).address);
  async function disconnect() {
    await api('DELETE /profile/identities/{providerId}', { params });
    await refresh('GET /profile/identities');
    return t('sso.disconnected', { name });
  }
  return (
    <li className={css['session']}>
      <div>
        <p className={css['head']}>
          {name}
          {linkedAt !== null && <Badge tone="good">{t('sso.connected')}</Badge>}
        </p>
        <p className={css['soft']}>
          {linkedAt === null ? t('sso.notConnected') : t('sso.connectedOn', { day: format.day(linkedAt) })}
        </p>
      </div>
      {linkedAt === null ? (
        <Button busy={busy} onClick={() => once(connect)}>
          {t('sso.connect')}
        </Button>
      ) : (
        <Button kind="quiet" onClick={() => setIsAsking(true)}>
          {t('sso.disconnect')}
        </Button>
      )}
      <ConfirmDialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        title={t('sso.disconnectTitle', { name })}
        text={t('sso.disconnectText')}
        confirm={t('sso.disconnect')}
        onConfirm={disconnect}
      />
    </li>
  );
}
