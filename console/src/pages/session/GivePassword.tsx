// A dialog that asks for the password again or, if the user signed in with a provider, to confirm there. Afterwards the waiting request
// continues.
import type { Session } from '@soundings/contract/console/session.ts';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { ConfirmWithProvider } from './ConfirmWithProvider.tsx';
import { PasswordForm } from './PasswordForm.tsx';

type Props = { session: Session; onDone: (isGiven: boolean) => void };

export function GivePassword({ session, onDone }: Props) {
  const t = useText();
  const [provider, setProvider] = useState(session.provider);
  return (
    <Dialog
      open
      onClose={() => onDone(false)}
      title={t(provider ? 'sso.confirmTitle' : 'session.givePassword')}
      description={t(provider ? 'sso.confirmText' : 'session.givePasswordText')}
    >
      {provider ? (
        <>
          <ConfirmWithProvider
            provider={provider}
            begin={async () => (await api('POST /session/proof/provider')).address}
            onDone={() => onDone(true)}
          />
          <div>
            <Button kind="quiet" onClick={() => setProvider(null)}>
              {t('sso.usePassword')}
            </Button>
          </div>
        </>
      ) : (
        <PasswordForm
          email={session.user.email ?? ''}
          action={t('session.confirmPassword')}
          send={(password) => api('POST /session/proof', { body: { password } })}
          onDone={() => onDone(true)}
          onClose={() => onDone(false)}
        />
      )}
    </Dialog>
  );
}
