// The dialog to change your password. It asks for the current password, and ends every other session.
import type { Profile } from '@soundings/contract/console.session.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useFormat, useText } from '../../../text/text.tsx';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialog/Dialog.tsx';
import { Form, useForm } from '../../../ui/form/Form.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
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
      <Dialog
        open={isOpen}
        onClose={() => setIsOpen(false)}
        title={t('profile.changePasswordTitle')}
        description={t('profile.changePasswordText')}
      >
        <ChangeForm email={email ?? ''} onClose={() => setIsOpen(false)} />
      </Dialog>
    </Section>
  );
}

function ChangeForm({ email, onClose }: { email: string; onClose: () => void }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const form = useForm({
    initial: { password: '', newPassword: '' },
    submit: (body) => api('PUT /profile/password', { body }),
    onDone: () => {
      onClose();
      toast({ text: t('profile.passwordChanged') });
      void refresh('GET /profile', 'GET /profile/sessions');
    },
    warn: false,
  });
  return (
    <Form
      form={form}
      actions={
        <>
          <Button type="submit" kind="primary" busy={form.busy}>
            {t('profile.setNewPassword')}
          </Button>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
        </>
      }
    >
      <Username email={email} />
      <PasswordField {...form.field('password')} label={t('profile.presentPassword')} />
      <PasswordField
        {...form.field('newPassword')}
        label={t('session.newPassword')}
        hint={t('session.passwordHint')}
        isNew
      />
    </Form>
  );
}
