// A form that asks for the password again, before a dangerous action.
import { useText } from '../../text/text.tsx';
import { DialogForm } from '../../ui/dialog/FormDialog.tsx';
import { useForm } from '../../ui/form/Form.tsx';
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
    <DialogForm form={form} confirm={action} danger={isDanger} onClose={onClose}>
      <Username email={email} />
      <PasswordField {...form.field('password')} label={t('session.password')} autoFocus />
    </DialogForm>
  );
}
