// A short message about what was just done, with Undo if possible.
import { Toast as Base } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, X } from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import { useText } from '../../text/text.tsx';
import css from './Toast.module.css';

type ToastOptions = {
  text: string;
  tone?: 'good' | 'bad';
  /** Undoes the action. If set, Undo is offered. */
  undo?: () => void;
};

export function ToastProvider({ children }: { children: ReactNode }) {
  return (
    <Base.Provider limit={3}>
      {children}
      <Base.Portal>
        <Base.Viewport className={css['viewport']}>
          <Toasts />
        </Base.Viewport>
      </Base.Portal>
    </Base.Provider>
  );
}

/** Shows `toast({ text, undo })` for 6 seconds, or 10 with Undo or for an error. It stays while hovered. */
export function useToast(): (options: ToastOptions) => void {
  const t = useText();
  const { add, close } = Base.useToastManager();
  return useCallback(
    ({ text, tone = 'good', undo }) => {
      const id: string = add({
        title: text,
        type: tone,
        priority: tone === 'bad' ? 'high' : 'low',
        timeout: undo || tone === 'bad' ? 10_000 : 6000,
        ...(undo && {
          actionProps: {
            children: t('action.undo'),
            onClick: () => {
              close(id);
              undo();
            },
          },
        }),
      });
    },
    [add, close, t],
  );
}

function Toasts() {
  const t = useText();
  const { toasts } = Base.useToastManager();
  return toasts.map((toast) => (
    <Base.Root key={toast.id} toast={toast} className={css['toast']} swipeDirection={['down', 'right']}>
      <Base.Content className={css['content']}>
        {toast.type === 'bad' ? <CircleAlert aria-hidden size={18} /> : <CircleCheck aria-hidden size={18} />}
        <Base.Title render={<p />} className={css['title']} />
        {toast.actionProps && <Base.Action className={css['action']} />}
        <Base.Close className={css['close']} aria-label={t('action.close')}>
          <X aria-hidden size={16} />
        </Base.Close>
      </Base.Content>
    </Base.Root>
  ));
}
