// A modal dialog. The focus stays inside and returns to where it was.
import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, useId, useRef, useState } from 'react';
import { useAction } from '../../hooks/act.ts';
import { useText } from '../../text/text.tsx';
import { Button, IconButton } from '../Button.tsx';
import { cx } from '../cx.ts';
import css from './Dialog.module.css';
import { Failed } from '../page/States.tsx';

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  /** The buttons at the foot. A `Form` inside has its own. */
  actions?: ReactNode;
  wide?: boolean;
  /** Neither a press outside nor Esc closes it, for example while it shows a secret once. */
  stays?: boolean;
  children?: ReactNode;
};

const focusable = ['[data-scroller]', '[data-form-foot]']
  .flatMap((part) =>
    ['input:not([type=hidden], :disabled)', 'textarea', '[role=combobox]', 'button'].map(
      (kind) => `${part} ${kind}`,
    ),
  )
  .join(', ');

export function Dialog({ open, onClose, title, description, actions, wide, stays, children }: DialogProps) {
  const t = useText();
  const popup = useRef<HTMLDivElement>(null);
  /** Focuses the first field or button. On touch screens focuses the dialog itself, so that no keyboard covers it. */
  const firstFocus = (by: string) =>
    by === 'touch' ? popup.current : (popup.current?.querySelector<HTMLElement>(focusable) ?? popup.current);
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && !stays && onClose()}>
      <Base.Portal>
        <Base.Backdrop className={css['backdrop']} />
        <Base.Viewport className={css['viewport']}>
          <Base.Popup
            ref={popup}
            initialFocus={firstFocus}
            className={cx(css['dialog'], wide && css['wide'])}
          >
            <div className={css['head']}>
              <div>
                <Base.Title className={css['title']}>{title}</Base.Title>
                {description !== undefined && (
                  <Base.Description render={<div />} className={css['description']}>
                    {description}
                  </Base.Description>
                )}
              </div>
              {!stays && <IconButton icon={X} label={t('action.close')} onClick={onClose} />}
            </div>
            {children !== undefined && (
              <div className={css['body']} data-scroller>
                {children}
              </div>
            )}
            {actions && (
              <div className={css['foot']} data-form-foot>
                {actions}
              </div>
            )}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

type ConfirmProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  /** What the action does, and its consequences. */
  text?: ReactNode;
  /** The text of the button: a verb with an object. */
  confirm: string;
  danger?: boolean;
  /** Texts to type before the action is possible, such as the number of groups to remove, each with a label. */
  typed?: string | readonly { text: string; label?: string | undefined }[];
  /** The dialog closes when the promise is fulfilled. If it is rejected, the dialog stays and shows the error. */
  onConfirm: () => unknown;
};

function Confirm({ onClose, text, confirm, danger, typed, onConfirm }: ConfirmProps) {
  const t = useText();
  const id = useId();
  const { busy, error, act } = useAction();
  const wanted = typeof typed === 'string' ? [{ text: typed, label: undefined }] : (typed ?? []);
  const [words, setWords] = useState<readonly string[]>([]);
  const isReady = wanted.every(({ text: one }, i) => words[i]?.trim() === one);
  const write = (index: number, value: string) =>
    setWords(wanted.map((_, i) => (i === index ? value : (words[i] ?? ''))));
  async function confirmed() {
    await onConfirm();
    onClose();
  }
  return (
    <form
      className={css['confirm']}
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog may be inside another form, which must not be submitted.
        event.stopPropagation();
        if (isReady && !busy) act(confirmed);
      }}
    >
      {text !== undefined && <div className={css['text']}>{text}</div>}
      {wanted.map(({ text: one, label }, i) => (
        <label key={label ?? one} htmlFor={`${id}-${i}`} className={css['typed']}>
          <span>{label ?? t('dialog.type', { text: one })}</span>
          <input
            id={`${id}-${i}`}
            value={words[i] ?? ''}
            autoComplete="off"
            onChange={({ target }) => write(i, target.value)}
          />
        </label>
      ))}
      {error !== undefined && <Failed error={error} />}
      <div className={css['foot']}>
        <Button onClick={onClose}>{t('action.cancel')}</Button>
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={busy} disabled={!isReady}>
          {confirm}
        </Button>
      </div>
    </form>
  );
}

/** Asks for confirmation before an action that can't be undone. */
export function ConfirmDialog(props: ConfirmProps) {
  return (
    <Dialog open={props.open} onClose={props.onClose} title={props.title}>
      <Confirm {...props} />
    </Dialog>
  );
}
