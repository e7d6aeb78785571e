// The browsers you are signed in with, and signing out of them.
import type { SessionSeen } from '@soundings/contract/console/session.ts';
import { Monitor, Smartphone } from 'lucide-react';
import { useState } from 'react';
import { api, ApiError } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { Loaded, Skeleton } from '../../../ui/page/States.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from './Profile.module.css';

export function Sessions() {
  const t = useText();
  const refresh = useRefresh();
  const response = useData('GET /profile/sessions');
  const [isAsking, setIsAsking] = useState(false);
  const others = (response.data ?? []).filter(({ isThis }) => !isThis).length;
  async function endOthers() {
    await api('DELETE /profile/sessions');
    await refresh('GET /profile/sessions');
    return t('profile.sessionsEnded', { count: others });
  }
  return (
    <Section
      title={t('profile.sessions')}
      description={t('profile.sessionsText')}
      actions={
        others > 0 && (
          <Button onClick={() => setIsAsking(true)}>{t('profile.endOthers', { count: others })}</Button>
        )
      }
    >
      <Loaded response={response} skeleton={<Skeleton rows={2} />}>
        {(sessions) => (
          <ul className={css['sessions']}>
            {sessions.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </ul>
        )}
      </Loaded>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setIsAsking(false)}
        title={t('profile.endOthersTitle', { count: others })}
        text={t('profile.endOthersText')}
        confirm={t('profile.endOthers', { count: others })}
        onConfirm={endOthers}
      />
    </Section>
  );
}

function Row({ session }: { session: SessionSeen }) {
  const t = useText();
  const format = useFormat();
  const toast = useToast();
  const refresh = useRefresh();
  const { busy, once } = useOnce();
  const { id, browser, system, address, signedInAt, seenAt, isThis, provider } = session;
  const Icon = ['iPhone', 'iPad', 'Android'].includes(system ?? '') ? Smartphone : Monitor;
  const name =
    browser && system
      ? t('profile.browserOn', { browser, system })
      : (browser ?? system ?? t('profile.unknownBrowser'));
  async function end() {
    try {
      await api('DELETE /profile/sessions/{sessionId}', { params: { sessionId: id } });
    } catch (error) {
      // The session has already ended, which is what the user wanted.
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    } finally {
      void refresh('GET /profile/sessions');
    }
    toast({ text: t('profile.sessionsEnded', { count: 1 }) });
  }
  return (
    <li className={css['session']}>
      <Icon aria-hidden size={20} strokeWidth={1.5} />
      <div>
        <p className={css['head']}>
          {name}
          {isThis && <Badge tone="accent">{t('profile.thisOne')}</Badge>}
        </p>
        <p className={css['soft']}>
          {t('profile.sessionSeen', {
            address,
            seen: isThis ? t('profile.now') : format.ago(seenAt),
            since: format.time(signedInAt),
          })}
          {provider !== null && ` · ${t('sso.signedInWith', { name: provider })}`}
        </p>
      </div>
      {!isThis && (
        <Button kind="quiet" busy={busy} onClick={() => once(end)} aria-label={t('profile.endOne', { name })}>
          {t('profile.end')}
        </Button>
      )}
    </li>
  );
}
