// A modal dialog. The focus stays inside and returns to where it was.
import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { type ReactNode, type RefObject, useEffect, useRef } from 'react';
import { useText } from '../../text/text.tsx';
import { IconButton } from '../Button.tsx';
import { cx } from '../cx.ts';
import css from './Dialog.module.css';

export type DialogProps = {
  /** Without it, the dialog is open as long as it is rendered. */
  open?: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  /** The buttons at the foot. A `Form` inside has its own. */
  actions?: ReactNode;
  wide?: boolean;
  /** Neither a press outside nor Esc closes it, for example while it shows a secret once. */
  stays?: boolean;
  /** True while the content loads. Afterwards the focus goes to the first field or button, as it does when the dialog opens. */
  isLoading?: boolean;
  children?: ReactNode;
};

const focusable = ['[data-scroller]', '[data-form-foot]']
  .flatMap((part) =>
    ['input:not([type=hidden], :disabled)', 'textarea', '[role=combobox]', 'button'].map(
      (kind) => `${part} ${kind}`,
    ),
  )
  .join(', ');

/** Returns the function that chooses what gets the focus when the dialog opens. Focuses it again once the content has loaded. */
function useFirstFocus(popup: RefObject<HTMLDivElement | null>, isLoading: boolean) {
  const openedBy = useRef('');
  const wasLoading = useRef(isLoading);
  // Focuses the first field or button. On touch screens, focuses the dialog itself, so that no keyboard covers it.
  const first = () =>
    openedBy.current === 'touch'
      ? popup.current
      : (popup.current?.querySelector<HTMLElement>(focusable) ?? popup.current);
  useEffect(() => {
    if (wasLoading.current && !isLoading) first()?.focus();
    wasLoading.current = isLoading;
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only the end of loading moves the focus
  }, [isLoading]);
  return (by: string) => {
    openedBy.current = by;
    return first();
  };
}

export function Dialog(props: DialogProps) {
  const {
    open = true,
    onClose,
    title,
    description,
    actions,
    wide,
    stays,
    isLoading = false,
    children,
  } = props;
  const t = useText();
  const popup = useRef<HTMLDivElement>(null);
  const firstFocus = useFirstFocus(popup, isLoading);
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
