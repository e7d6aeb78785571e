// A dialog with a form. It sends the form, closes, and reports the result in a toast. Errors are shown at their fields.
import type { ReactNode } from 'react';
import { useToast } from '../floating/Toast.tsx';
import { Form, type FormState, useForm } from '../form/Form.tsx';
import { Dialog, type DialogProps } from './Dialog.tsx';
import { DialogFooter, type DialogFooterProps } from './DialogFooter.tsx';

type DialogFormOptions<Values, Response> = {
  initial: Values;
  submit: (values: Values) => Promise<Response>;
  /** Called after the form was sent: refetches what has changed, and returns the text of the toast. The dialog then closes. */
  done: (response: Response, values: Values) => Promise<string> | string;
  /** False: unsaved input is discarded without a question. */
  warn?: boolean;
  onClose: () => void;
};

/** Returns the state of a form in a dialog that closes once the form was sent. */
export function useDialogForm<Values extends object, Response = unknown>(
  options: DialogFormOptions<Values, Response>,
) {
  const { initial, submit, done, warn = true, onClose } = options;
  const toast = useToast();
  return useForm<Values, Response>({
    initial,
    submit,
    warn,
    onDone: async (response, values) => {
      const text = await done(response, values);
      onClose();
      toast({ text });
    },
  });
}

type DialogFormProps<Values extends object> = DialogFooterProps & {
  form: Pick<
    FormState<Values>,
    'submit' | 'refuse' | 'fault' | 'attempt' | 'isWarning' | 'mayWarn' | 'isDirty' | 'busy'
  >;
  children: ReactNode;
};

/** The form, with its buttons at the foot of the dialog. */
export const DialogForm = <Values extends object>({ form, children, ...foot }: DialogFormProps<Values>) => (
  <Form form={form} actions={<DialogFooter {...foot} busy={form.busy} />}>
    {children}
  </Form>
);

/** The dialog with its form. */
export const FormDialog = <Values extends object>({
  title,
  description,
  wide = false,
  ...form
}: Pick<DialogProps, 'title' | 'description' | 'wide'> & DialogFormProps<Values>) => (
  <Dialog
    {...{ title, description, wide }}
    stays={form.staysWhileBusy === true && form.form.busy}
    onClose={form.onClose}
  >
    <DialogForm {...form} />
  </Dialog>
);
