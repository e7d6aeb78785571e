// The spans of statements. A statement is named after the function that sends it, which is different for each. Neither its text nor its
// values are recorded.
import { currentSpan, errorTypeOf } from '../base/tracing/spans.ts';

/**
 * Returns a function that begins the span of a statement, or undefined if there is no current span. That function returns what ends the span,
 * with the error if the statement failed. `strings`: the constant parts of the statement. `trap`: the function whose caller sends it.
 */
export function statementSpan(
  strings: readonly string[],
  trap: (...parts: never[]) => unknown,
): (() => ((error?: unknown) => void) | undefined) | undefined {
  const span = currentSpan();
  if (!span) return undefined;
  const sender = senderOf(strings, trap);
  return () => {
    const operation = operationOf(strings);
    const part = span.begin({
      name: sender ?? operation,
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.operation.name': operation,
        ...(sender !== undefined && { 'db.query.summary': sender }),
      },
    });
    return part && ((error) => part.end({ attributes: error === undefined ? {} : failureOf(error) }));
  };
}

function failureOf(error: unknown) {
  const type = errorTypeOf(error);
  const isState = /^[\dA-Z]{5}$/.test(type);
  return { 'error.type': type, ...(isState && { 'db.response.status_code': type }) };
}

/** Returns the first word of a statement, such as SELECT. */
const operationOf = (strings: readonly string[]) =>
  /^\s*([a-z]{1,20})\b/i.exec(strings[0] ?? '')?.[1]?.toUpperCase() ?? 'SQL';

/** The names of the functions that send statements, by the texts of these: each place in the code has its own. */
const senders = new WeakMap<readonly string[], { name: string | undefined }>();

function senderOf(strings: readonly string[], trap: (...parts: never[]) => unknown): string | undefined {
  const known = senders.get(strings);
  if (known) return known.name;
  const at: { stack?: string } = {};
  Error.captureStackTrace(at, trap);
  const name = nameIn(at.stack ?? '');
  senders.set(strings, { name });
  return name;
}

/** Returns the first name of a function in a stack, without the number that the build may add to it. */
const nameIn = (stack: string): string | undefined =>
  /^\s+at (?:async )?(?:Object\.|Module\.)?([A-Za-z_]\w*)(?:\$\d+)? \(/m.exec(stack)?.[1];
