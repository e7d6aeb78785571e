// A form. It keeps its input, shows the service's errors at their fields, moves to the first invalid field or to the error of the whole
// form, and asks before unsaved input is lost.
import { useBlocker } from '@tanstack/react-router';
import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiError } from '../../api.ts';
import { useFormat, useText } from '../../text/text.tsx';
import { ConfirmDialog } from '../dialog/ConfirmDialog.tsx';
import { useErrorText, useFaultText } from '../faults.ts';
import css from './Form.module.css';
import { refusalOf, type RefusedForm } from './form-faults.ts';
import {
  beginForm,
  type FormModel,
  isDirty,
  refused,
  responded,
  saved,
  sending,
  withValue,
  withValues,
} from './form-model.ts';
import { Notice } from '../page/Notice.tsx';

type Options<Values, Response> = {
  /** The initial values. Read once; `reset(values)` sets others. */
  initial: Values;
  /** Sends the values. Errors that it throws are shown. */
  submit: (values: Values) => Promise<Response>;
  onDone?: (response: Response, values: Values) => void;
  /** False: leaving with unsaved input does not ask. */
  warn?: boolean;
};

export type FieldState<Value> = {
  name: string;
  value: Value;
  onChange: (value: Value) => void;
  error: string | undefined;
};

/** Returns the function that puts the service's errors at the fields of a form. */
function useRefusal() {
  const faultText = useFaultText();
  const errorText = useErrorText();
  return (error: unknown, names: ReadonlySet<string>): RefusedForm =>
    !(error instanceof ApiError) || error.status === 0 || error.status >= 500
      ? { wrong: {}, whole: errorText(error) }
      : refusalOf(error.problem.details, names, faultText);
}

export type FormState<Values extends object> = ReturnType<typeof useForm<Values, unknown>>;

export function useForm<Values extends object, Response = unknown>(options: Options<Values, Response>) {
  const [state, setState] = useState(() => beginForm(options.initial));
  // The latest state, which is also read between renders: after saving, the page may be left before it renders again.
  const latest = useRef(state);
  const shown = useRef(new Set<string>());
  const refusalFor = useRefusal();

  function change(next: (before: FormModel<Values>) => FormModel<Values>) {
    latest.current = next(latest.current);
    setState(latest.current);
  }
  const set = <Name extends keyof Values>(name: Name, value: Values[Name]) =>
    change((form) => withValue(form, name, value));
  function field<Name extends keyof Values & string>(name: Name): FieldState<Values[Name]> {
    shown.current.add(name);
    return {
      name,
      value: state.values[name],
      onChange: (value) => set(name, value),
      error: state.errors[name],
    };
  }
  /** Shows errors by field name and for the form as a whole. Moves to the first invalid field, or else to the error of the whole. */
  const refuse = (wrong: Record<string, string>, whole?: string) =>
    change((form) => refused(form, wrong, whole));
  async function submit() {
    const busy = sending(latest.current);
    if (!busy) return;
    change(() => busy);
    const { values } = busy;
    try {
      const response = await options.submit(values);
      change((form) => saved(form, values));
      options.onDone?.(response, values);
    } catch (error) {
      const { wrong, whole } = refusalFor(error, shown.current);
      refuse(wrong, whole);
    } finally {
      change(responded);
    }
  }
  const mayWarn = options.warn ?? true;
  return {
    values: state.values,
    set,
    field,
    errors: state.errors,
    fault: state.fault,
    busy: state.isBusy,
    submit,
    isDirty: isDirty(state),
    reset: (next: Values = state.initial) => change((form) => withValues(form, next)),
    refuse,
    isWarning: () => mayWarn && isDirty(latest.current),
    mayWarn,
    attempt: state.attempt,
  };
}

/** Returns the message for a control the browser finds invalid: from the catalogue, or else the browser's own. */
function useNativeTexts() {
  const t = useText();
  const format = useFormat();
  // The day begins in the browser's time zone, because the format uses that zone for days.
  const dayOf = (day: string) => format.day(`${day}T00:00`);
  return (control: HTMLInputElement | HTMLTextAreaElement): string => {
    const { validity, type } = control;
    const isDay = type === 'date';
    const { min, max } = control instanceof HTMLInputElement ? control : { min: '', max: '' };
    if (validity.badInput) return t(isDay ? 'field.notDay' : 'field.notNumber');
    if (validity.valueMissing) return t('fault.missing field');
    if (validity.typeMismatch && type === 'email') return t('fault.invalid email');
    if (validity.tooLong) return t('fault.too long');
    if (validity.rangeUnderflow)
      return isDay ? t('field.notBefore', { day: dayOf(min) }) : t('field.atLeast', { minimum: Number(min) });
    if (validity.rangeOverflow)
      return isDay ? t('field.notAfter', { day: dayOf(max) }) : t('field.atMost', { most: Number(max) });
    if (validity.stepMismatch) return t('field.whole');
    return control.validationMessage;
  };
}

/** Returns the browser's own validation errors by field name. */
function useNativeFaults() {
  const nativeText = useNativeTexts();
  return (form: HTMLFormElement): Record<string, string> => {
    const wrong: Record<string, string> = {};
    for (const control of form.elements) {
      if (!(control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)) continue;
      const { validity, name } = control;
      if (!name || !control.willValidate || validity.valid) continue;
      wrong[name] = nativeText(control);
    }
    return wrong;
  };
}

export function Form<Values extends object>({
  form,
  actions,
  children,
}: {
  form: Pick<
    FormState<Values>,
    'submit' | 'refuse' | 'fault' | 'attempt' | 'isWarning' | 'mayWarn' | 'isDirty'
  >;
  /** The buttons at the foot; the one with type submit sends the form. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  const element = useRef<HTMLFormElement>(null);
  const fault = useRef<HTMLDivElement>(null);
  const findFaults = useNativeFaults();
  useEffect(() => {
    if (form.attempt === 0) return;
    const invalid = element.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    // The focus scrolls it into view.
    (invalid ?? fault.current)?.focus();
  }, [form.attempt]);
  function send(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    // A form in a dialog must not submit the form of the page around it.
    event.stopPropagation();
    const wrong = findFaults(event.currentTarget);
    if (Object.keys(wrong).length > 0) form.refuse(wrong);
    else void form.submit();
  }
  return (
    <form ref={element} className={css['form']} noValidate onSubmit={send}>
      {form.fault !== undefined && (
        <div className={css['fault']}>
          <Notice tone="bad" live ref={fault}>
            {form.fault}
          </Notice>
        </div>
      )}
      {children}
      {actions && (
        <div className={css['foot']} data-form-foot>
          {actions}
        </div>
      )}
      {form.mayWarn && form.isDirty && <LeaveGuard isWarning={form.isWarning} />}
    </form>
  );
}

/** Asks before the page is left with unsaved input. */
function LeaveGuard({ isWarning }: { isWarning: () => boolean }) {
  const t = useText();
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname && isWarning(),
    enableBeforeUnload: isWarning,
    withResolver: true,
  });
  return (
    <ConfirmDialog
      open={status === 'blocked'}
      onClose={() => reset?.()}
      title={t('dialog.leave')}
      text={t('dialog.leaveText')}
      confirm={t('dialog.leaveConfirm')}
      danger
      onConfirm={() => proceed?.()}
    />
  );
}

/** Places fields side by side if there is space. */
export const FieldRow = ({ children }: { children: ReactNode }) => (
  <div className={css['row']}>{children}</div>
);
