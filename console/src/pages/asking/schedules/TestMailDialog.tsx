// The dialog to send yourself a test email of a schedule.
import { Send } from 'lucide-react';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useSession } from '../../../session.tsx';
import { useText } from '../../../text/text.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { RadioField } from '../../../ui/form/Field.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';

type Kind = 'invitation' | 'reminder';

type Props = { scheduleId: number; hasMail: boolean; onClose: () => void };

export function TestMailDialog({ scheduleId, hasMail, onClose }: Props) {
  const t = useText();
  const { user } = useSession();
  const [kind, setKind] = useState<Kind>('invitation');
  const missing = !hasMail ? t('asking.noMailText') : user.email === null ? t('asking.noAddress') : undefined;
  async function send() {
    const { address } = await api('POST /schedules/{scheduleId}/test', {
      params: { scheduleId },
      body: { kind },
    });
    return t('asking.testSent', { address });
  }
  return (
    <ConfirmDialog
      onClose={onClose}
      title={t('asking.testTitle')}
      description={t('asking.testText')}
      text={
        <>
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
        </>
      }
      icon={Send}
      confirm={t('asking.testSend', { address: user.email ?? '–' })}
      disabled={missing !== undefined}
      onConfirm={send}
    />
  );
}
