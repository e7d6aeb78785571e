// Limits how many long operations run at the same time: reading streamed responses, which use a database connection for as long as the
// client takes, and applying pushes. Otherwise one account or a few slow clients could block all others.
import type { FastifyReply } from 'fastify';
import { Fault } from '../base/errors.ts';

export type Concurrency = {
  /**
   * Waits for a slot and returns a function that releases it. Throws a Fault (unavailable) if none becomes free in time, and the
   * signal's reason if it aborts.
   */
  take(accountId: number, gone?: AbortSignal): Promise<() => void>;
};

export type ConcurrencyOptions = {
  /** How long to wait for a slot, in milliseconds. */
  timeout?: number;
  /** How many calls of one account may wait. Further calls are refused immediately. */
  queue?: number;
  /** The messages for calls that waited too long, and for calls that are refused because the queue is full. */
  late?: string;
  full?: string;
};

const tooMany = 'Too many large responses are being sent at the moment. Try again in a moment.';

/** Opens `total` slots, of which each account can use at most `each`. Waiting calls are served in order. */
export function limitConcurrency(
  total: number,
  each: number,
  {
    timeout = 30_000,
    queue = Infinity,
    late: lateMessage = tooMany,
    full = tooMany,
  }: ConcurrencyOptions = {},
): Concurrency {
  const taken = new Map<number, number>();
  const waiting = new Set<{ accountId: number; go: () => void }>();
  let all = 0;
  const isFree = (accountId: number) => all < total && (taken.get(accountId) ?? 0) < each;

  function occupy(accountId: number): () => void {
    all++;
    taken.set(accountId, (taken.get(accountId) ?? 0) + 1);
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      all--;
      const rest = (taken.get(accountId) as number) - 1;
      if (rest > 0) taken.set(accountId, rest);
      else taken.delete(accountId);
      const next = [...waiting].find((one) => isFree(one.accountId));
      next?.go();
    };
  }

  return {
    async take(accountId, gone) {
      gone?.throwIfAborted();
      if (isFree(accountId)) return occupy(accountId);
      if ([...waiting].filter((one) => one.accountId === accountId).length >= queue) throw unavailable(full);
      return new Promise((resolve, reject) => {
        const leave = () => {
          clearTimeout(late);
          gone?.removeEventListener('abort', abort);
          waiting.delete(one);
        };
        const abort = () => {
          leave();
          reject(gone?.reason as Error);
        };
        const late = setTimeout(() => {
          leave();
          reject(unavailable(lateMessage));
        }, timeout);
        const one = {
          accountId,
          go() {
            leave();
            resolve(occupy(accountId));
          },
        };
        gone?.addEventListener('abort', abort);
        waiting.add(one);
      });
    },
  };
}

/** Returns a signal that aborts, with a Fault, when the client disconnects before it has received the response. */
export function goneWith({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort(unavailable('The client disconnected before it received the response.'));
  raw.once('close', () => raw.writableFinished || abort());
  if (raw.destroyed) abort();
  return gone.signal;
}

const unavailable = (message: string) => new Fault('unavailable', 'unavailable', message);
