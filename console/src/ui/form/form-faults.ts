// Which field of a form an error of the service belongs to.

type Fault = { path?: string | undefined };

/**
 * Returns the field that a JSON pointer points into: for /settings/threshold, the field settings/threshold if the form has it,
 * otherwise the field settings. Undefined if the form has neither.
 */
export function fieldAt(path: string, names: ReadonlySet<string>): string | undefined {
  const parts = path.split('/').slice(1);
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('/');
    if (names.has(name)) return name;
  }
  return undefined;
}

/**
 * The messages of a request that was refused. `wrong`: the first message of each field, by field name. `whole`: the messages for
 * the form as a whole.
 */
export type RefusedForm = { wrong: Record<string, string>; whole: string | undefined };

/** Returns each message at its field. Messages that belong to no field are joined, without repetitions. */
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
