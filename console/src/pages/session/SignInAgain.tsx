// A dialog to sign in again over the current page, so that nothing typed is lost.
import type { Session } from '@soundings/contract/console/session.ts';
import { api } from '../../api.ts';
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/dialog/Dialog.tsx';
import { ConfirmWithProvider } from './ConfirmWithProvider.tsx';
import { startAddress } from './ProviderButtons.tsx';
import { SignInForm } from './SignInForm.tsx';

type Props = { session: Session; onDone: (session: Session) => void };

export function SignInAgain({ session, onDone }: Props) {
  const t = useText();
  const { user, account, provider } = session;
  const other = <Button onClick={() => location.assign('/sign-in')}>{t('session.someoneElse')}</Button>;
  return (
    <Dialog
      open
      stays
      onClose={() => {}}
      title={t('session.again')}
      description={t('session.againText', { name: user.name, company: account.name })}
    >
      {provider ? (
        <>
          <ConfirmWithProvider
            provider={provider}
            begin={async () => startAddress(provider.key, '/sign-in/done')}
            onDone={() => void api('GET /session').then(onDone, () => {})}
          />
          <div>{other}</div>
        </>
      ) : (
        <SignInForm as={{ email: user.email ?? '', accountId: account.id }} onDone={onDone} other={other} />
      )}
    </Dialog>
  );
}
