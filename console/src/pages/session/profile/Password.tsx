// The dialog to change your password. It asks for the current password, and ends every other session.
import type { Profile } from '@soundings/contract/console/session.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { PasswordField, Username } from '../PasswordField.tsx';

export function Password({ profile: { passwordSetAt, email } }: { profile: Profile }) {
  const t = useText();
  const format = useFormat();
  const [isOpen, setIsOpen] = useState(false);
  return (
    <Section
      title={t('session.password')}
      description={
        passwordSetAt === null ? undefined : t('profile.setOn', { day: format.day(passwordSetAt) })
      }
      actions={<Button onClick={() => setIsOpen(true)}>{t('profile.changePassword')}</Button>}
    >
      {isOpen && <PasswordDialog email={email ?? ''} onClose={() => setIsOpen(false)} />}
    </Section>
  );
}

function PasswordDialog({ email, onClose }: { email: string; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const form = useDialogForm({
    initial: { password: '', newPassword: '' },
    submit: (body) => api('PUT /profile/password', { body }),
    done: () => {
      void refresh('GET /profile', 'GET /profile/sessions');
      return t('profile.passwordChanged');
    },
    warn: false,
    onClose,
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t('profile.changePasswordTitle')}
      description={t('profile.changePasswordText')}
      confirm={t('profile.setNewPassword')}
    >
      <Username email={email} />
      <PasswordField {...form.field('password')} label={t('profile.currentPassword')} />
      <PasswordField
        {...form.field('newPassword')}
        label={t('session.newPassword')}
        hint={t('session.passwordHint')}
        isNew
      />
    </FormDialog>
  );
}
