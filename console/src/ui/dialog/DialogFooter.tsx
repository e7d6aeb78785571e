// The buttons at the foot of a dialog: Cancel, and the one that does what the title asks.
import type { LucideIcon } from 'lucide-react';
import { useText } from '../../text/text.tsx';
import { Button } from '../Button.tsx';

export type DialogFooterProps = {
  onClose: () => void;
  /** The text of the button: a verb with an object. If it is undefined, nothing can be done, and Close is the only button. */
  confirm: string | undefined;
  icon?: LucideIcon | undefined;
  danger?: boolean | undefined;
  /** Whether the button is disabled. */
  disabled?: boolean | undefined;
  /** Cancel is disabled while the action runs. */
  staysWhileBusy?: boolean | undefined;
};

export function DialogFooter({
  onClose,
  confirm,
  icon,
  danger,
  disabled,
  staysWhileBusy,
  busy,
}: DialogFooterProps & { busy: boolean }) {
  const t = useText();
  if (confirm === undefined) return <Button onClick={onClose}>{t('action.close')}</Button>;
  return (
    <>
      <Button disabled={staysWhileBusy && busy} onClick={onClose}>
        {t('action.cancel')}
      </Button>
      <Button
        type="submit"
        kind={danger ? 'danger' : 'primary'}
        {...(icon && { icon })}
        busy={busy}
        disabled={disabled}
      >
        {confirm}
      </Button>
    </>
  );
}
