// The state of a form: its input, the errors at its fields, and whether it has unsaved input.

export type FormModel<Values extends object> = {
  /** What was loaded or saved last. */
  initial: Values;
  values: Values;
  /** The messages by field name. */
  errors: Record<string, string>;
  /** The message for the form as a whole. */
  fault: string | undefined;
  isBusy: boolean;
  /** Grows whenever errors are shown or cleared, so that the first invalid field, or the message, gets the focus. */
  attempt: number;
};

export const beginForm = <Values extends object>(initial: Values): FormModel<Values> => ({
  initial,
  values: initial,
  errors: {},
  fault: undefined,
  isBusy: false,
  attempt: 0,
});

/** Returns the form with a new value in a field. The error of that field is cleared, and other errors stay. */
export function withValue<Values extends object, Name extends keyof Values>(
  form: FormModel<Values>,
  name: Name,
  value: Values[Name],
): FormModel<Values> {
  const { [name as string]: _gone, ...errors } = form.errors;
  return { ...form, values: { ...form.values, [name]: value }, errors };
}

/** Returns the form with other values, as if they had just been loaded. */
export const withValues = <Values extends object>(
  form: FormModel<Values>,
  values: Values,
): FormModel<Values> => ({ ...form, initial: values, values, errors: {}, fault: undefined });

/** Returns the form with errors by field name and for the form as a whole. They replace the previous errors. */
export const refused = <Values extends object>(
  form: FormModel<Values>,
  errors: Record<string, string>,
  fault?: string,
): FormModel<Values> => ({ ...form, errors, fault, attempt: form.attempt + 1 });

/** Returns the form while it is being sent; undefined if it already is. */
export const sending = <Values extends object>(form: FormModel<Values>): FormModel<Values> | undefined =>
  form.isBusy ? undefined : { ...refused(form, {}), isBusy: true };

/** Returns the form after these values were saved. What the user has typed in the meantime stays. */
export const saved = <Values extends object>(form: FormModel<Values>, values: Values): FormModel<Values> => ({
  ...form,
  initial: values,
});

/** Returns the form after the response, whatever it was. */
export const responded = <Values extends object>(form: FormModel<Values>): FormModel<Values> => ({
  ...form,
  isBusy: false,
});

/** Returns whether leaving the page now would lose input. */
export const isDirty = <Values extends object>({ values, initial }: FormModel<Values>): boolean =>
  JSON.stringify(values) !== JSON.stringify(initial);
