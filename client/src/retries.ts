// When a request is sent again, and how long the client waits before.

/**
 * What a repeated request does, which decides when it is sent again.
 * - `safe`: it reads, or is a dry run. A retry changes nothing, so it is sent again after a lost connection.
 * - `once`: it changes something, and a retry would change it again. After a lost connection no one knows whether the service has
 *   processed it, so it is not sent again.
 * Both are sent again after 429, because the service hasn't processed such a request. After 503 it usually hasn't either, but it may: it sends
 * 503 if it loses the database while it stores the changes, and a proxy if it loses the service.
 */
export type Repeat = 'safe' | 'once';

/** The status of requests that the service has not processed. */
const notProcessed = 429;
/** Statuses of requests that the service may have processed. */
export const perhapsProcessed: readonly number[] = [502, 503, 504];

/** Whether a request is sent again after a response. */
export const isRepeatable = (status: number, repeat: Repeat): boolean =>
  status === notProcessed || (repeat === 'safe' && perhapsProcessed.includes(status));

/** The longest wait that a service can ask for, in ms. If it asks for more, the caller gets an error. */
export const longestWaitMs = 120_000;

/** Returns how long a Retry-After header asks to wait, in ms: seconds or an HTTP date. Undefined if it is missing or invalid. */
export function retryAfterIn(header: string | null, nowMs: number): number | undefined {
  const text = header?.trim() ?? '';
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  // Date.parse accepts more than HTTP does, such as a lone number. An HTTP date begins with the name of a day.
  const at = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}

/** The longest wait that the client chooses itself, in ms. */
const longestBackoffMs = 30_000;

/**
 * Returns the wait before a retry, in ms: at least what the service asked for, otherwise `firstMs` doubled each time. Both have a random
 * part, so that clients that failed together don't come back together. `repeats`: how many there were before.
 */
export function waitBefore(
  firstMs: number,
  repeats: number,
  askedMs: number | undefined,
  random = Math.random(),
): number {
  const backoff = Math.min(longestBackoffMs, firstMs * 2 ** Math.min(repeats, 20));
  return askedMs === undefined ? backoff * (0.5 + random / 2) : askedMs + random * Math.min(1000, backoff);
}

/** Waits. Rejects with the reason of the signal when it aborts. */
export function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
