// The one error of the client: what a service refused, or why there is no response.
import type { components } from './api-types.ts';
import { perhapsProcessed } from './retries.ts';

/** One error of a request: what is wrong, how to fix it, and where (a JSON pointer, a parameter, or a row and column of a file). */
export type ErrorPlace = components['schemas']['Detail'];

/** Types of errors that the client finds itself. All others come from the service, which lists them in docs/integrators/errors.md. */
export const clientErrors = {
  'connection lost': 'The service can’t be reached, or the connection was lost.',
  'untrusted certificate': 'The certificate of the service isn’t trusted, so nothing was sent.',
  'timed out': 'The service sent nothing for longer than `timeoutMs`.',
  redirected: 'The address redirects to another one. The token isn’t sent there.',
  'unexpected response': 'The response isn’t from Soundings, for example because a proxy wrote it.',
  'response changed':
    'The data changed while it was read, so the rest of it doesn’t fit. Read it again from the start.',
} as const;

export type ErrorFacts = {
  type: string;
  title: string;
  status?: number | undefined;
  errors?: ErrorPlace[] | undefined;
  requestId?: string | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
};

/** A request that failed. It never contains the token or what was sent. */
export class SoundingsError extends Error {
  override readonly name = 'SoundingsError';
  /** The kind of error, for programs, such as `limit exceeded`. It never gets a second meaning. */
  readonly type: string;
  /** The HTTP status. Undefined if there was no response. */
  readonly status: number | undefined;
  /** What went wrong, in one sentence. */
  readonly title: string;
  /** What is wrong with the first place, and how to fix it. */
  readonly detail: string;
  /** Everything that is wrong, each with its place. */
  readonly errors: readonly ErrorPlace[];
  /** The ID of the request, which is also in the log of the service. For a push, it is the ID of the run. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait before the request is sent again, in ms. */
  readonly retryAfterMs: number | undefined;
  /** Whether the plan of a push may have been applied although the push failed: the response to one of its attempts was lost. */
  mayBeApplied = false;

  constructor({ type, title, status, errors = [], requestId, retryAfterMs, cause }: ErrorFacts) {
    super(title, cause === undefined ? undefined : { cause });
    this.type = type;
    this.title = title;
    this.status = status;
    this.errors = errors;
    this.detail = errors[0]?.message ?? title;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }

  toJSON(): object {
    const { name, type, status, title, detail, errors, requestId, mayBeApplied } = this;
    return { name, type, status, title, detail, errors, requestId, ...(mayBeApplied && { mayBeApplied }) };
  }
}

/** Returns the error of a response that is not a success. `text`: its body. */
export function errorOfResponse(response: Response, text: string, retryAfterMs?: number): SoundingsError {
  const { status } = response;
  const common = { status, retryAfterMs, requestId: response.headers.get('x-request-id') ?? undefined };
  const problem = problemIn(text);
  if (problem) {
    const [first] = problem.details;
    const type = first?.type ?? 'unexpected response';
    return new SoundingsError({
      ...common,
      type,
      title: problem.message,
      errors: problem.details,
      requestId: problem.id,
    });
  }
  // The upload interface reveals nothing to callers without a valid token.
  if (status === 400 && text === '' && common.requestId !== undefined)
    return new SoundingsError({
      ...common,
      type: 'invalid token',
      title: 'The token is invalid, or your IP address isn’t allowed to upload files.',
    });
  const title = `The response with status ${status} isn’t from Soundings. Check the address, and any proxy in front of it.`;
  return new SoundingsError({ ...common, type: 'unexpected response', title });
}

function problemIn(text: string): components['schemas']['Problem'] | undefined {
  try {
    const value = JSON.parse(text) as Partial<components['schemas']['Problem']> | null;
    const isProblem =
      typeof value?.id === 'string' && typeof value.message === 'string' && Array.isArray(value.details);
    return isProblem ? (value as components['schemas']['Problem']) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the connection ended before the response was complete, so that no one knows what the service did. */
export const isLost = (error: unknown): boolean =>
  error instanceof SoundingsError && (error.type === 'connection lost' || error.type === 'timed out');

/** Returns an error of a push whose plan may have been applied nevertheless. The reason of a caller's signal stays as it is. */
export function uncertain(error: unknown): unknown {
  if (error instanceof SoundingsError) error.mayBeApplied = true;
  return error;
}

/** Whether a request failed in a way in which the service may have processed it. */
export const isPerhapsProcessed = (error: unknown): boolean =>
  isLost(error) || (error instanceof SoundingsError && perhapsProcessed.includes(error.status ?? 0));
