// A dialog that asks for the password again. Afterwards the waiting request continues.
import type { Session } from '@soundings/contract/console/session.ts';
import { api } from '../../api.ts';
import { useText } from '../../text/text.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { PasswordForm } from './PasswordForm.tsx';

type Props = { session: Session; onDone: (isGiven: boolean) => void };

export function GivePassword({ session, onDone }: Props) {
  const t = useText();
  return (
    <Dialog
      open
      onClose={() => onDone(false)}
      title={t('session.givePassword')}
      description={t('session.givePasswordText')}
    >
      <PasswordForm
        email={session.user.email ?? ''}
        action={t('session.confirmPassword')}
        send={(password) => api('POST /session/proof', { body: { password } })}
        onDone={() => onDone(true)}
        onClose={() => onDone(false)}
      />
    </Dialog>
  );
}
