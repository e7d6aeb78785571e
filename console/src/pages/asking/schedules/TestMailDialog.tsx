// The dialog to send yourself a test email of a schedule.
import { Send } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useAction } from '../../../hooks/act.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialog/Dialog.tsx';
import { RadioField } from '../../../ui/form/Field.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Failed } from '../../../ui/page/States.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from '../asking.module.css';

type Kind = 'invitation' | 'reminder';

type Props = { scheduleId: number; hasMail: boolean; onClose: () => void };

export function TestMailDialog({ scheduleId, hasMail, onClose }: Props) {
  const t = useText();
  const toast = useToast();
  const { user } = useSession();
  const [kind, setKind] = useState<Kind>('invitation');
  const { busy, error, act } = useAction();
  const missing = !hasMail ? t('asking.noMailText') : user.email === null ? t('asking.noAddress') : undefined;
  async function send() {
    const { address } = await api('POST /schedules/{scheduleId}/test', {
      params: { scheduleId },
      body: { kind },
    });
    toast({ text: t('asking.testSent', { address }) });
    onClose();
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('asking.testTitle')}
      description={t('asking.testText')}
      actions={
        <>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button
            kind="primary"
            icon={Send}
            busy={busy}
            disabled={missing !== undefined}
            onClick={() => act(send)}
          >
            {t('asking.testSend', { address: user.email ?? '–' })}
          </Button>
        </>
      }
    >
      <div className={css['stack']}>
        {missing !== undefined && <Notice tone="warn">{missing}</Notice>}
        <RadioField<Kind>
          label={t('asking.mail')}
          value={kind}
          onChange={setKind}
          options={[
            { value: 'invitation', label: t('asking.invitation') },
            { value: 'reminder', label: t('asking.reminder') },
          ]}
        />
        {error !== undefined && <Failed error={error} />}
      </div>
    </Dialog>
  );
}
