// The one class of errors that are somebody's to mend. It knows no HTTP: each interface gives a kind its own
// face. Whatever else is thrown is a defect: logged whole, answered with a request id and nothing more.
import type { Detail, DetailType } from '@soundings/contract/problem.ts';

/** What went wrong, as far as a caller can act on it. */
export type FaultKind =
  | 'invalid' // the request cannot be understood or breaks a rule
  | 'unauthenticated' // no valid token
  | 'forbidden' // a valid token that may not do this
  | 'not_found' // absent, or another account's: the same words
  | 'conflict' // the state has moved on
  | 'too_large' // beyond a stated size
  | 'too_many' // more in a time than allowed; try again when it is over
  | 'unavailable'; // cannot be served now; try again

/** Codes are the types of details: listed in docs/errors.md and never given a second meaning. */
export type FaultCode = DetailType;

/** Message and details are for the caller; the cause is for us. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly kind: FaultKind;
  readonly code: FaultCode;
  readonly details: Detail[];
  /** Seconds after which to try again, where they are known. */
  readonly retryAfter: number | undefined;

  constructor(
    kind: FaultKind,
    code: FaultCode,
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
