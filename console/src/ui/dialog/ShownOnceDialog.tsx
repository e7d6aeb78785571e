// The dialog that shows a secret once after it was created: neither Esc nor a press outside closes it, only its button.
import type { ReactNode } from 'react';
import { Button } from '../Button.tsx';
import { Dialog, type DialogProps } from './Dialog.tsx';

type Props = Pick<DialogProps, 'title' | 'description' | 'wide' | 'onClose'> & {
  /** The text of the button that closes it. */
  done: string;
  /** Whether it can be closed. */
  canClose?: boolean;
  children: ReactNode;
};

export function ShownOnceDialog({ done, canClose = true, children, ...dialog }: Props) {
  return (
    <Dialog
      {...dialog}
      stays
      actions={
        <Button kind="primary" disabled={!canClose} onClick={dialog.onClose}>
          {done}
        </Button>
      }
    >
      {children}
    </Dialog>
  );
}
