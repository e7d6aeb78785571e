// Sends requests to a service, again where that is safe, and turns what fails into errors.
import { isRepeatable, longestWaitMs, type Repeat, retryAfterIn, waitBefore, waitFor } from './retries.ts';
import { errorOfResponse, isLost, SoundingsError } from './soundings-error.ts';

export type ConnectionOptions = {
  /** The address of the service, such as https://soundings.example.com. */
  url: string;
  /** An API token with the scopes of the methods that you call. */
  token: string;
  /** Sends requests instead of the global `fetch`, for example through a proxy. */
  fetch?: typeof fetch;
  /** How long the service may send nothing, in ms. Default: 120,000, because a push can wait for other pushes. */
  timeoutMs?: number;
  /** How often a request is sent again, at most. Default: 5. 0 turns it off. */
  retries?: number;
  /** The wait before the first retry, in ms, if the service doesn’t ask for one. It doubles each time, up to 30 s. Default: 500. */
  backoffMs?: number;
  /** Allows http: to an address other than this machine. Anyone on the way can then read the token. */
  allowHttp?: boolean;
};

export type CallOptions = {
  /** Ends the call, also while it waits or streams. The call rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
};

export type Call = {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query?: Record<string, string | undefined>;
  headers?: Record<string, string>;
  /** Creates the body for each attempt. */
  body?: () => NonNullable<RequestInit['body']>;
  repeat: Repeat;
  /** Called before a request is sent again although the service may have processed it. */
  onUncertain?: () => void;
  signal: AbortSignal | undefined;
};

/** A response whose body is read with the time limit. `cancel` ends the connection. */
export type OpenResponse = { response: Response; chunks: AsyncGenerator<Uint8Array>; cancel: () => void };

export type Connection = {
  retries: number;
  backoffMs: number;
  /** Sends a request, again if necessary, and returns the body of its response as text. Throws a SoundingsError. */
  text: (call: Call) => Promise<string>;
  /** Like `text`, for a response that is JSON. */
  json: <T>(call: Call) => Promise<T>;
  /** Reads JSON. */
  read: <T>(path: string, options: CallOptions, query?: Call['query']) => Promise<T>;
  /** Sends a request, again if necessary, until its response begins. */
  open: (call: Call) => Promise<OpenResponse>;
};

/** Returns a connection to a service. It connects with the first request. Throws a TypeError for options that can't work. */
export function openConnection(options: ConnectionOptions): Connection {
  const { timeoutMs = 120_000, retries = 5, backoffMs = 500, token } = options;
  const base = addressOf(options);
  // The text of an invalid header would be in the error of fetch.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new TypeError('The token is empty, or has characters that no token has.');
  const fetchNow = options.fetch ?? globalThis.fetch.bind(globalThis);

  async function attempt({ method, path, query = {}, headers, body, signal }: Call): Promise<OpenResponse> {
    signal?.throwIfAborted();
    const url = new URL(base + path);
    for (const [name, value] of Object.entries(query))
      if (value !== undefined) url.searchParams.set(name, value);
    const watch = watchdog(timeoutMs, signal);
    try {
      const response = await fetchNow(url, {
        method,
        headers: { ...headers, authorization: token },
        ...(body && { body: body() }),
        signal: watch.signal,
        // A redirect could lead the token to another service.
        redirect: 'manual',
      });
      refuseRedirect(response);
      return { response, chunks: chunksOf(response, watch), cancel: watch.end };
    } catch (error) {
      watch.end();
      throw watch.errorOf(error, false);
    }
  }

  /** Sends a request until `use` can use its response. */
  async function repeated<T>(call: Call, use: (opened: OpenResponse) => Promise<T>): Promise<T> {
    for (let repeats = 0; ; repeats++) {
      try {
        return await use(await attempt(call));
      } catch (error) {
        if (!(error instanceof SoundingsError) || repeats >= retries) throw error;
        const isAgain = isLost(error) ? call.repeat === 'safe' : isRepeatable(error.status ?? 0, call.repeat);
        const asked = error.retryAfterMs;
        if (!isAgain || (asked ?? 0) > longestWaitMs) throw error;
        if (error.status !== 429) call.onUncertain?.();
        await waitFor(waitBefore(backoffMs, repeats, asked), call.signal);
      }
    }
  }

  const text = (call: Call) => repeated(call, async (opened) => textOf(await succeeded(opened)));
  const json = async <T>(call: Call) => parsed<T>(await text(call));
  return {
    retries,
    backoffMs,
    text,
    json,
    read: (path, { signal }, query = {}) => json(reading(path, query, signal)),
    open: (call) => repeated(call, succeeded),
  };
}

/** Returns a request that reads. That changes nothing, so it is safe to repeat. */
export const reading = (
  path: string,
  query: NonNullable<Call['query']>,
  signal: AbortSignal | undefined,
): Call => ({ method: 'GET', path, query, repeat: 'safe', signal });

/** Returns the value of a JSON text. */
export function parsed<T>(text: string): T {
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    const title = 'The response is not JSON. Check the address, and any proxy in front of the service.';
    throw new SoundingsError({ type: 'unexpected response', title, cause });
  }
}

/** Returns the address without a slash at its end. */
function addressOf({ url, allowHttp = false }: ConnectionOptions): string {
  if (!URL.canParse(url))
    throw new TypeError('The url must be an address such as https://soundings.example.com.');
  const { protocol, hostname, username, password, origin, pathname } = new URL(url);
  if (username !== '' || password !== '')
    throw new TypeError('The url must not contain a user name or password.');
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol !== 'https:' && !(protocol === 'http:' && (isHere || allowHttp)))
    throw new TypeError('The url must begin with https:, because each request contains the token.');
  return origin + pathname.replace(/\/+$/, '');
}

/** A signal that aborts when the caller's does, or after a time without a sign of life. */
function watchdog(ms: number, outer: AbortSignal | undefined) {
  const controller = new AbortController();
  let isLate = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const abort = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', abort, { once: true });
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      isLate = true;
      controller.abort();
    }, ms);
  };
  alive();
  return {
    signal: controller.signal,
    alive,
    /** Stops the clock, for as long as the caller does something else. */
    rest: () => clearTimeout(timer),
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
      controller.abort();
    },
    /** Returns the error for what fetch has thrown: the reason of the caller's signal, or a SoundingsError. */
    errorOf(cause: unknown, hasBegun: boolean): unknown {
      if (outer?.aborted) return outer.reason;
      if (cause instanceof SoundingsError) return cause;
      return isLate
        ? new SoundingsError({ type: 'timed out', title: `The service sent nothing for ${ms / 1000} s.` })
        : lostConnection(cause, hasBegun);
    },
  };
}

/** Codes of Node for certificates that it doesn't trust. A repeat wouldn't help. */
const untrusted = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(GET|VERIFY)_|ERR_TLS_CERT_)/;

function lostConnection(cause: unknown, hasBegun: boolean): SoundingsError {
  const { code, message } = ((cause as { cause?: unknown }).cause ?? {}) as {
    code?: string;
    message?: string;
  };
  const reason = code ?? message;
  const shown = reason === undefined ? '' : ` (${reason})`;
  if (untrusted.test(code ?? ''))
    return new SoundingsError({
      type: 'untrusted certificate',
      title: `The certificate of the service isn’t trusted${shown}. For your own authority, set NODE_EXTRA_CA_CERTS to its file.`,
      cause,
    });
  const title = hasBegun
    ? `The connection was lost${shown}.`
    : `The service can’t be reached${shown}. Check the address.`;
  return new SoundingsError({ type: 'connection lost', title, cause });
}

async function* chunksOf({ body }: Response, watch: ReturnType<typeof watchdog>): AsyncGenerator<Uint8Array> {
  const reader = body?.getReader();
  if (!reader) return watch.end();
  try {
    for (;;) {
      watch.alive();
      const { done, value } = await reader.read();
      watch.rest();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw watch.errorOf(error, true);
  } finally {
    watch.end();
    reader.cancel().catch(() => {});
  }
}

function refuseRedirect({ type, status, headers }: Response): void {
  if (type !== 'opaqueredirect' && !(status >= 300 && status < 400)) return;
  const location = headers.get('location');
  const where = location === null ? 'another address' : location;
  throw new SoundingsError({
    type: 'redirected',
    status,
    title: `The address redirects to ${where}. Use that one as the url.`,
  });
}

async function succeeded(opened: OpenResponse): Promise<OpenResponse> {
  const { response } = opened;
  if (response.ok) return opened;
  const asked = retryAfterIn(response.headers.get('retry-after'), Date.now());
  throw errorOfResponse(response, await textOf(opened), asked);
}

async function textOf({ chunks }: OpenResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of chunks) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}
