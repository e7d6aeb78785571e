// The dialog to create a kiosk: its name and who can answer there. Afterwards it shows its address once, and how to set up the device.
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { ShownOnceDialog } from '../../../ui/dialog/ShownOnceDialog.tsx';
import { FormDialog } from '../../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import { useForm } from '../../../ui/form/Form.tsx';
import { GroupCombobox } from '../../../ui/form/group-combobox/GroupCombobox.tsx';
import css from './cards.module.css';

type CreatedKiosk = { name: string; address: string };

export function NewKiosk({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<CreatedKiosk>();
  return created ? (
    <ShownKiosk created={created} onClose={onClose} />
  ) : (
    <KioskForm onCreated={setCreated} onClose={onClose} />
  );
}

function KioskForm({
  onCreated,
  onClose,
}: {
  onCreated: (created: CreatedKiosk) => void;
  onClose: () => void;
}) {
  const t = useText();
  const refresh = useRefresh();
  const form = useForm({
    initial: { name: '', groupId: undefined as number | undefined },
    warn: false,
    submit: async ({ name, groupId }) => {
      const { address } = await api('POST /kiosks', { body: { name, groupId: groupId ?? null } });
      await refresh('GET /cards');
      return { name, address };
    },
    onDone: onCreated,
  });
  return (
    <FormDialog
      staysWhileBusy
      form={form}
      onClose={onClose}
      title={t('kiosks.createTitle')}
      confirm={t('kiosks.create')}
    >
      <TextField
        label={t('kiosks.name')}
        hint={t('kiosks.nameHint')}
        required
        autoFocus
        maxLength={100}
        {...form.field('name')}
      />
      <GroupCombobox
        label={t('kiosks.who')}
        hint={t('kiosks.whoHint')}
        allowNone={t('kiosks.everyone')}
        {...form.field('groupId')}
      />
    </FormDialog>
  );
}

function ShownKiosk({ created: { name, address }, onClose }: { created: CreatedKiosk; onClose: () => void }) {
  const t = useText();
  return (
    <ShownOnceDialog
      wide
      onClose={onClose}
      title={t('kiosks.createdTitle', { name })}
      description={t('kiosks.createdText')}
      done={t('kiosks.done')}
    >
      <div className={css['plan']}>
        <Copy text={address} label={t('kiosks.address')} />
        <h3 className={css['heading']}>{t('kiosks.device')}</h3>
        <ul className={css['others']}>
          <li>{t('kiosks.devicePinned')}</li>
          <li>{t('kiosks.deviceKeyboard')}</li>
          <li>{t('kiosks.devicePlace')}</li>
        </ul>
      </div>
    </ShownOnceDialog>
  );
}
