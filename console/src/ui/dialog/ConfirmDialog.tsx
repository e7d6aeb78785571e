// The dialog before an action: shows what would happen, which the service may have computed, and asks. It then runs the action,
// closes, and reports the result in a toast. If the action fails, the dialog stays and shows the error.
import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useEffect, useId, useState } from 'react';
import type { ApiError } from '../../api.ts';
import { useAction } from '../../hooks/action.ts';
import { useText } from '../../text/text.tsx';
import { useToast } from '../floating/Toast.tsx';
import { Failed, Skeleton } from '../page/States.tsx';
import css from './ConfirmDialog.module.css';
import { Dialog, type DialogProps } from './Dialog.tsx';
import { DialogFooter, type DialogFooterProps } from './DialogFooter.tsx';
import { isAllTyped, type Typed } from './typed.ts';

type ConfirmProps = DialogFooterProps & {
  /** What would happen. If this is a function, it shows the error of the last try itself. */
  text?: ReactNode | ((error: unknown) => ReactNode);
  typed?: string | readonly Typed[] | undefined;
  /** Runs the action, and returns the text of the toast, if any. */
  onConfirm: () => Promise<string | void> | void;
};

type Frame = Pick<DialogProps, 'open' | 'title' | 'description' | 'wide'>;

/** Asks before an action whose consequences are known. */
export function ConfirmDialog({ open, title, description, wide, ...action }: Frame & ConfirmProps) {
  const [isBusy, setIsBusy] = useState(false);
  const stays = action.staysWhileBusy === true && isBusy;
  return (
    <Dialog
      {...{ ...(open !== undefined && { open }), title, description, stays }}
      wide={wide ?? false}
      onClose={action.onClose}
    >
      <Confirm {...action} onBusy={setIsBusy} />
    </Dialog>
  );
}

type PlanDialogProps<Plan> = Frame & {
  onClose: () => void;
  /** What the service says would happen. */
  plan: UseQueryResult<Plan, ApiError>;
  /** Shown above the placeholder while the plan loads. */
  waiting?: ReactNode;
  /** Shows the plan in a `Confirm`. */
  children: (plan: Plan) => ReactNode;
};

/** Requests from the service what would happen, and shows it. */
export function PlanDialog<Plan>({ plan, waiting, children, ...frame }: PlanDialogProps<Plan>) {
  // While another plan loads, the previous one is a placeholder, which must not be confirmed.
  const data = plan.isPlaceholderData ? undefined : plan.data;
  return (
    <Dialog {...frame} isLoading={data === undefined}>
      {data !== undefined ? (
        children(data)
      ) : plan.error ? (
        <Failed error={plan.error} onRetry={() => void plan.refetch()} />
      ) : (
        <>
          {waiting}
          <Skeleton rows={3} />
        </>
      )}
    </Dialog>
  );
}

/** The content of a dialog before an action. */
export function Confirm(props: ConfirmProps & { onBusy?: (isBusy: boolean) => void }) {
  const { text, typed, onConfirm, onBusy, ...foot } = props;
  const toast = useToast();
  const { busy, error, run } = useAction();
  const wanted = typeof typed === 'string' ? [{ text: typed }] : (typed ?? []);
  const [inputs, setInputs] = useState<readonly string[]>([]);
  const isReady = foot.confirm !== undefined && !foot.disabled && isAllTyped(wanted, inputs);
  useEffect(() => {
    onBusy?.(busy);
    return () => onBusy?.(false);
  }, [busy, onBusy]);
  async function confirmed() {
    const done = await onConfirm();
    foot.onClose();
    if (typeof done === 'string') toast({ text: done });
  }
  const content = typeof text === 'function' ? text(error) : text;
  return (
    <form
      className={css['confirm']}
      onSubmit={(event) => {
        event.preventDefault();
        // The dialog may be inside another form, which must not be submitted.
        event.stopPropagation();
        if (isReady && !busy) run(confirmed);
      }}
    >
      {content !== undefined && <div className={css['text']}>{content}</div>}
      <TypedFields wanted={wanted} inputs={inputs} onChange={setInputs} />
      {error !== undefined && typeof text !== 'function' && <Failed error={error} />}
      <div data-form-foot>
        <DialogFooter {...foot} busy={busy} disabled={!isReady} />
      </div>
    </form>
  );
}

type TypedFieldsProps = {
  wanted: readonly Typed[];
  inputs: readonly string[];
  onChange: (inputs: readonly string[]) => void;
};

function TypedFields({ wanted, inputs, onChange }: TypedFieldsProps) {
  const t = useText();
  const id = useId();
  const write = (index: number, value: string) =>
    onChange(wanted.map((_, i) => (i === index ? value : (inputs[i] ?? ''))));
  return wanted.map(({ text, label }, i) => (
    <label key={label ?? text} htmlFor={`${id}-${i}`} className={css['typed']}>
      <span>{label ?? t('dialog.type', { text })}</span>
      <input
        id={`${id}-${i}`}
        value={inputs[i] ?? ''}
        autoComplete="off"
        onChange={({ target }) => write(i, target.value)}
      />
    </label>
  ));
}
