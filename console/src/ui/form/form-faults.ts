// Which field of a form an error of the service belongs to.

type Fault = { path?: string | undefined };

/**
 * Returns the field that a JSON pointer points into: for /settings/threshold, settings/threshold if a field has that name, else
 * settings. Undefined if the form has neither.
 */
export function fieldAt(path: string, names: ReadonlySet<string>): string | undefined {
  const parts = path.split('/').slice(1);
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('/');
    if (names.has(name)) return name;
  }
  return undefined;
}

/** The messages of a request that was refused: by field name, the first of each field, and for the form as a whole. */
export type RefusedForm = { wrong: Record<string, string>; whole: string | undefined };

/** Returns each message at its field; those of no field together, without repetitions. */
export function refusalOf<One extends Fault>(
  faults: readonly One[],
  names: ReadonlySet<string>,
  textOf: (fault: One) => string,
): RefusedForm {
  const wrong: Record<string, string> = {};
  const whole = new Set<string>();
  for (const fault of faults) {
    const name = fieldAt(fault.path ?? '', names);
    if (name === undefined) whole.add(textOf(fault));
    else wrong[name] ??= textOf(fault);
  }
  return { wrong, whole: whole.size > 0 ? [...whole].join(' ') : undefined };
}
