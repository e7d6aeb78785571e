// Two-factor authentication: setting it up with an authenticator app, recovery codes, and turning it off.
import type { Profile, TwoFactorSetup } from '@soundings/contract/console/session.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialog/Dialog.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import { PasswordForm } from '../PasswordForm.tsx';
import css from './Profile.module.css';
import { RecoveryCodes } from './RecoveryCodes.tsx';
import { SetUpTwoFactor } from './SetUpTwoFactor.tsx';

type Doing = 'setting up' | 'turning off' | 'new codes';

export function TwoFactor({ profile: { twoFactor, email } }: { profile: Profile }) {
  const t = useText();
  const format = useFormat();
  const [doing, setDoing] = useState<Doing>();
  const close = () => setDoing(undefined);
  return (
    <Section
      title={t('profile.twoFactor')}
      description={t('profile.twoFactorText')}
      actions={
        twoFactor ? (
          <>
            <Button onClick={() => setDoing('new codes')}>{t('profile.newCodes')}</Button>
            <Button onClick={() => setDoing('turning off')}>{t('profile.turnOff')}</Button>
          </>
        ) : (
          <Button onClick={() => setDoing('setting up')}>{t('profile.setUp')}</Button>
        )
      }
    >
      <p className={css['state']}>
        {twoFactor ? (
          <>
            <Badge tone="good" dot>
              {t('profile.on')}
            </Badge>
            <span className={css['soft']}>
              {t('profile.onSince', { day: format.day(twoFactor.since) })}
              {' · '}
              {t('profile.codesLeft', { count: twoFactor.recoveryCodes })}
            </span>
          </>
        ) : (
          <Badge>{t('profile.off')}</Badge>
        )}
      </p>
      {doing === 'setting up' && <SettingUp email={email ?? ''} onClose={close} />}
      {doing === 'turning off' && <TurningOff email={email ?? ''} onClose={close} />}
      {doing === 'new codes' && <NewCodes email={email ?? ''} onClose={close} />}
    </Section>
  );
}

type DialogProps = { email: string; onClose: () => void };

/** The steps of setting it up: the password, then the secret and a first code, then the recovery codes. */
function SettingUp({ email, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const [setup, setSetup] = useState<TwoFactorSetup>();
  const [codes, setCodes] = useState<string[]>();
  const done = () => {
    onClose();
    void refresh('GET /profile');
  };
  if (codes) return <RecoveryCodes codes={codes} onDone={done} />;
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('profile.setUpTitle')}
      wide={setup !== undefined}
      description={setup ? undefined : t('profile.confirmPassword')}
    >
      {setup ? (
        <SetUpTwoFactor setup={setup} onCodes={setCodes} onClose={onClose} />
      ) : (
        <PasswordForm
          email={email}
          action={t('profile.continue')}
          send={(password) => api('POST /profile/two-factor', { body: { password } })}
          onDone={setSetup}
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function TurningOff({ email, onClose }: DialogProps) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  return (
    <Dialog open onClose={onClose} title={t('profile.turnOffTitle')} description={t('profile.turnOffText')}>
      <PasswordForm
        email={email}
        isDanger
        action={t('profile.turnOff')}
        send={(password) => api('POST /profile/two-factor/off', { body: { password } })}
        onDone={() => {
          onClose();
          toast({ text: t('profile.turnedOff') });
          void refresh('GET /profile');
        }}
        onClose={onClose}
      />
    </Dialog>
  );
}

function NewCodes({ email, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const [codes, setCodes] = useState<string[]>();
  const done = () => {
    onClose();
    void refresh('GET /profile');
  };
  if (codes) return <RecoveryCodes codes={codes} onDone={done} />;
  return (
    <Dialog open onClose={onClose} title={t('profile.newCodes')} description={t('profile.newCodesText')}>
      <PasswordForm
        email={email}
        action={t('profile.newCodes')}
        send={(password) => api('POST /profile/recovery-codes', { body: { password } })}
        onDone={({ recoveryCodes }) => setCodes(recoveryCodes)}
        onClose={onClose}
      />
    </Dialog>
  );
}
