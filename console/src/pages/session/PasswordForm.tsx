// A form that asks for the password again, before a dangerous action.
import { useText } from '../../text/text.tsx';
import { DialogForm } from '../../ui/dialog/FormDialog.tsx';
import { useForm } from '../../ui/form/Form.tsx';
import { PasswordField, Username } from './PasswordField.tsx';

type PasswordFormProps<Response> = {
  email: string;
  action: string;
  isDanger?: boolean;
  send: (password: string) => Promise<Response>;
  onDone: (response: Response) => void;
  onClose: () => void;
};

export function PasswordForm<Response>(props: PasswordFormProps<Response>) {
  const { email, action, isDanger, send, onDone, onClose } = props;
  const t = useText();
  const form = useForm<{ password: string }, Response>({
    initial: { password: '' },
    submit: ({ password }) => send(password),
    onDone: (response) => onDone(response),
    warn: false,
  });
  return (
    <DialogForm form={form} confirm={action} danger={isDanger} onClose={onClose}>
      <Username email={email} />
      <PasswordField {...form.field('password')} label={t('session.password')} autoFocus />
    </DialogForm>
  );
}
