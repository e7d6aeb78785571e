// The class of errors that the caller or operator can fix. It is independent of HTTP: each interface maps the kinds to its own
// responses. Any other error is a bug: it is logged in full, and the response contains only the request id.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';

/** The kind of a fault, by what callers can do about it. */
export type FaultKind =
  | 'invalid' // the request cannot be understood or breaks a rule
  | 'unauthenticated' // no valid token
  | 'forbidden' // a valid token without permission for this
  | 'not_found' // does not exist, or belongs to another account; both get the same message
  | 'conflict' // the state has changed in the meantime
  | 'stale' // the caller stated another version than the current one
  | 'too_large' // larger than the documented limit
  | 'too_many' // the rate limit is exceeded; try again later
  | 'unavailable'; // cannot be handled now; try again

/** An error with a message and details for the caller. The cause is only logged. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  /** docs/integrators/errors.md lists the codes, which are the types of details. Their meaning never changes. */
  readonly code: DetailType;
  readonly details: Detail[];
  /** The number of seconds after which to try again, if known. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: FaultKind,
    code: DetailType,
    message: string,
    options: { details?: Detail[]; retryAfter?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.code = code;
    this.details = options.details ?? [];
    this.retryAfter = options.retryAfter;
  }
}

/**
 * Returns the Fault for one field. `path`: a JSON pointer into the body, or the name of a parameter. Without a path, the fault
 * concerns the whole request.
 */
export const faultAtField = (
  kind: FaultKind,
  type: DetailType,
  path: string | undefined,
  message: string,
): Fault => new Fault(kind, type, message, path === undefined ? {} : { details: [{ type, message, path }] });

/** Returns the Fault for a required field without a value. */
export const missingField = (
  kind: FaultKind,
  path: string | undefined,
  message = 'This field is required.',
): Fault => faultAtField(kind, 'missing field', path, message);

/**
 * Returns the Fault for a change that is refused because something has changed since the caller saw it. `what`: what has changed, as
 * the beginning of a sentence.
 */
export const changedSince = (what = 'Someone else has changed this', path?: string): Fault =>
  faultAtField(
    'conflict',
    'changed since',
    path,
    `${what} in the meantime, so nothing was saved. Reload it and try again.`,
  );

/** Returns the Fault for an upload that is not accepted. */
export const uploadRefusal = (message: string): Fault =>
  new Fault('invalid', 'file validation', message, { details: [{ type: 'file validation', message }] });

const invalidParameters = (message: string, details: Detail[]) =>
  new Fault('invalid', 'invalid parameter', message, { details });

/** Throws a Fault with all details, if there are any. */
export function refuseParameters(details: Detail[]): void {
  if (details[0]) throw invalidParameters(details[0].message, details);
}

/** Returns the Fault for a parameter with a value that is not allowed. */
export const invalidParameter = (path: string, message: string): Fault =>
  invalidParameters(message, [{ type: 'invalid parameter', message, path }]);

const onlyForOperators: readonly DetailType[] = [
  'invalid configuration',
  'backup failed',
  'database too new',
];

/**
 * Returns the exit status of a service that ends because of this error: 78 (EX_CONFIG in sysexits.h) if another start fails in the same
 * way until the operator has repaired something, otherwise 1. Service managers then know whether to try again.
 */
export const exitStatusOf = (error: unknown): 1 | 78 =>
  error instanceof Fault && onlyForOperators.includes(error.code) ? 78 : 1;
