// A form that asks for the password again, before a dangerous action.
import { useText } from '../../text/text.tsx';
import { Button } from '../../ui/Button.tsx';
import { Form, useForm } from '../../ui/form/Form.tsx';
import { PasswordField, Username } from './PasswordField.tsx';

type PasswordFormProps<Answer> = {
  email: string;
  action: string;
  isDanger?: boolean;
  send: (password: string) => Promise<Answer>;
  onDone: (answer: Answer) => void;
  onClose: () => void;
};

export function PasswordForm<Answer>(props: PasswordFormProps<Answer>) {
  const { email, action, isDanger, send, onDone, onClose } = props;
  const t = useText();
  const form = useForm<{ password: string }, Answer>({
    initial: { password: '' },
    submit: ({ password }) => send(password),
    onDone: (answer) => onDone(answer),
    warn: false,
  });
  return (
    <Form
      form={form}
      actions={
        <>
          <Button type="submit" kind={isDanger ? 'danger' : 'primary'} busy={form.busy}>
            {action}
          </Button>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
        </>
      }
    >
      <Username email={email} />
      <PasswordField {...form.field('password')} label={t('session.password')} autoFocus />
    </Form>
  );
}
