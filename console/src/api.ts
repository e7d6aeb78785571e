// Sends the console's requests to the service; the only file that uses fetch. Every operation comes from the contract, so requests
// and responses are typed.
import type { ConsoleOperationName, ConsoleOperations } from '@soundings/contract/console/operations.ts';
import type { ResultOf, BodyOf, ParamsOf, QueryOf } from '@soundings/contract/console/operation.ts';
import type { Problem } from '@soundings/contract/problem.ts';

/** A request that the service refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Problem;
  constructor(status: number, problem: Problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
  /** The faults by JSON pointer of their field, such as /name; without a path, a fault concerns the whole request. */
  get fields(): Map<string, { type: string; message: string; value?: string }> {
    return new Map(this.problem.details.map(({ path = '', ...fault }) => [path, fault]));
  }
}

/** Whether a change was refused because someone else has changed the same thing since it was shown. */
export const isConflict = (error: unknown): boolean => error instanceof ApiError && error.status === 409;

type Name = ConsoleOperationName;
type Loose<T> = { [Key in keyof T]?: string | number | boolean | undefined };
export type Sent<N extends Name> = (unknown extends ParamsOf<N>
  ? { params?: undefined }
  : { params: { [Key in keyof ParamsOf<N>]: string | number } }) & {
  query?: Loose<QueryOf<ConsoleOperations[N]>>;
} & (BodyOf<ConsoleOperations[N]> extends undefined
    ? { body?: BodyInit }
    : { body: BodyOf<ConsoleOperations[N]> }) & { signal?: AbortSignal };

type Rest<N extends Name> = {} extends Sent<N> ? [sent?: Sent<N>] : [sent: Sent<N>];

/** Returns the URL of an operation, for example for a download link. Undefined parameters are omitted. */
export function addressOf(
  name: Name,
  { params = {}, query = {} }: { params?: object | undefined; query?: object | undefined } = {},
): string {
  const path = name
    .slice(name.indexOf(' ') + 1)
    .replace(/\{(\w+)\}/g, (_, key: string) =>
      encodeURIComponent(String((params as Record<string, unknown>)[key])),
    );
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return `/api${path}${text && `?${text}`}`;
}

let signInAgain: (() => Promise<void>) | undefined;
let waiting: Promise<void> | undefined;

/** Sets the handler for an ended session. Requests wait until its promise is fulfilled, and are then sent again. */
export function onSessionEnd(signIn: () => Promise<void>): void {
  signInAgain = signIn;
}

let givePassword: (() => Promise<boolean>) | undefined;
let giving: Promise<boolean> | undefined;

/**
 * Sets the handler for requests that require the password. The request waits until the handler's promise is fulfilled. It is then
 * sent again if the password was given (true), or fails if it was not (false).
 */
export function onPasswordNeeded(enterPassword: () => Promise<boolean>): void {
  givePassword = enterPassword;
}

/** Sends a request and returns the response. Throws an ApiError. Waits for the user to sign in again if the session has ended. */
export async function api<N extends Name>(
  name: N,
  ...[sent = {} as Sent<N>]: Rest<N>
): Promise<ResultOf<ConsoleOperations[N]>> {
  const { body, signal, params, query } = sent as {
    body?: unknown;
    signal?: AbortSignal;
    params?: object;
    query?: object;
  };
  const isJson = body !== undefined && !(body instanceof Blob);
  const response = await send(
    addressOf(name, { params, query }),
    {
      method: name.slice(0, name.indexOf(' ')),
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as Blob) }),
      ...(isJson && { headers: { 'content-type': 'application/json' } }),
      ...(signal && { signal }),
    },
    name !== 'GET /session',
  );
  return (response.status === 204 ? undefined : await response.json()) as ResultOf<ConsoleOperations[N]>;
}

/** Fetches a file by its URL (`addressOf`) and returns it with its name. Throws and waits like `api`. */
export async function download(address: string): Promise<{ name: string; file: Blob }> {
  const response = await send(address, {});
  const [, name = ''] =
    /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  const file = await response.blob().catch(() => {
    throw new ApiError(0, plainProblem(0));
  });
  return { name: decodeURIComponent(name), file };
}

/** Returns a successful response. `waits`: whether the request waits for the user to sign in again if the session has ended. */
async function send(address: string, request: RequestInit, waits = true): Promise<Response> {
  const response = await fetch(address, request).catch((error: unknown) => {
    if (request.signal?.aborted) throw error;
    throw new ApiError(0, plainProblem(0));
  });
  if (response.ok) return response;
  const problem = await problemOf(response);
  if (isSignedOut(response.status, problem) && signInAgain && waits) {
    await signedInAgain(signInAgain);
    return send(address, request);
  }
  if (isPasswordNeeded(response.status, problem) && givePassword && (await passwordGiven(givePassword)))
    return send(address, request);
  throw new ApiError(response.status, problem);
}

async function problemOf(response: Response): Promise<Problem> {
  const problem = (await response.json().catch(() => undefined)) as Problem | undefined;
  return problem?.details ? problem : plainProblem(response.status);
}

/** Uploads a file and reports its progress, 0 to 1. Throws like `api`. */
export async function upload(
  name: string,
  file: Blob,
  onProgress: (share: number) => void,
): Promise<ResultOf<ConsoleOperations['POST /files']>> {
  const request = new XMLHttpRequest();
  request.open('POST', addressOf('POST /files', { query: { name } }));
  request.setRequestHeader('content-type', 'application/octet-stream');
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress(total > 0 ? loaded / total : 1),
  );
  await new Promise<void>((resolve) => {
    request.addEventListener('loadend', () => resolve());
    request.send(file);
  });
  const response = jsonOf(request.responseText);
  if (request.status >= 200 && request.status < 300)
    return response as ResultOf<ConsoleOperations['POST /files']>;
  const problem = response as Problem | undefined;
  if (isSignedOut(request.status, problem) && signInAgain) {
    await signedInAgain(signInAgain);
    return upload(name, file, onProgress);
  }
  if (isPasswordNeeded(request.status, problem) && givePassword && (await passwordGiven(givePassword)))
    return upload(name, file, onProgress);
  throw new ApiError(request.status, problem?.details ? problem : plainProblem(request.status));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const plainProblem = (status: number): Problem =>
  status === 0
    ? { id: '', message: 'offline', details: [{ type: 'offline', message: 'offline' }] }
    : { id: '', message: `${status}`, details: [{ type: 'internal error', message: '' }] };

const isSignedOut = (status: number, problem: Problem | undefined) =>
  status === 401 && problem?.details?.[0]?.type === 'not signed in';

const isPasswordNeeded = (status: number, problem: Problem | undefined) =>
  status === 403 && problem?.details?.[0]?.type === 'password required';

async function passwordGiven(enterPassword: () => Promise<boolean>): Promise<boolean> {
  giving ??= enterPassword().finally(() => {
    giving = undefined;
  });
  return giving;
}

async function signedInAgain(signIn: () => Promise<void>): Promise<void> {
  waiting ??= signIn().finally(() => {
    waiting = undefined;
  });
  await waiting;
}
