// The dialog to add a sign-in provider. The service requests its address before it is saved.
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../../ui/form/Field.tsx';

export function NewProvider({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const form = useDialogForm({
    initial: { name: '', issuer: '', clientId: '', clientSecret: '' },
    submit: (body) => api('POST /sso/providers', { body }),
    done: async (_, { name }) => {
      await refresh('GET /sso');
      return t('signOn.added', { name });
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      staysWhileBusy
      onClose={onClose}
      title={t('signOn.addTitle')}
      description={t('signOn.addText')}
      confirm={t('signOn.add')}
    >
      <TextField
        label={t('signOn.name')}
        hint={t('signOn.nameHint')}
        required
        autoFocus
        maxLength={60}
        {...form.field('name')}
      />
      <TextField
        label={t('signOn.issuer')}
        hint={t('signOn.issuerHint')}
        placeholder="https://login.example.com"
        type="url"
        mono
        required
        {...form.field('issuer')}
      />
      <TextField label={t('signOn.clientId')} mono required autoComplete="off" {...form.field('clientId')} />
      <TextField
        label={t('signOn.clientSecret')}
        hint={t('signOn.clientSecretHint')}
        type="password"
        autoComplete="new-password"
        mono
        required
        {...form.field('clientSecret')}
      />
    </FormDialog>
  );
}
