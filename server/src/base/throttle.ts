// The throttle: how many attempts are allowed, and how long to wait for the next one. Everything that limits attempts decides here:
// signing in, SFTP logins, invalid links, and the requests of a token. These differ in where their counts are stored: in memory
// (openThrottle), in the database, or with the connections of an address.
import type { DetailType } from '@soundings/contract/problem.ts';
import { Fault } from './errors.ts';

/**
 * Allows `free` attempts in a window, which starts with the first attempt. Further attempts have to wait for the end of the window.
 */
export type Quota = { free: number; windowMs: number };

/**
 * Makes attempts wait longer and longer. `free` attempts cost no wait. The next attempt waits for `firstWaitMs`. Each further
 * attempt waits twice as long as the one before, or `firstWaitMs` longer, up to `longestMs`. Attempts are forgotten `memoryMs`
 * after the last one.
 */
export type Backoff = {
  free: number;
  firstWaitMs: number;
  growth: 'doubles' | 'adds';
  longestMs: number;
  memoryMs: number;
};

export type Limit = Quota | Backoff;

/** The attempts of a key. `at`: for a quota the start of the window, otherwise the time of the last attempt, in ms. */
export type Attempts = { count: number; at: number };

/** Returns how many attempts still count. */
export function countOf(attempts: Attempts | undefined, limit: Limit, now: number): number {
  if (!attempts) return 0;
  const age = now - attempts.at;
  if ('windowMs' in limit) return age >= 0 && age < limit.windowMs ? attempts.count : 0;
  return age <= limit.memoryMs ? attempts.count : 0;
}

/** Returns the attempts after one more attempt. */
export function oneMore(attempts: Attempts | undefined, limit: Limit, now: number): Attempts {
  const count = countOf(attempts, limit, now);
  return { count: count + 1, at: 'windowMs' in limit && attempts && count > 0 ? attempts.at : now };
}

/** Returns how long the next attempt has to wait from now on, in ms; 0 if it is allowed. A clock that is set back makes no one wait longer. */
export function waitOf(attempts: Attempts | undefined, limit: Limit, now: number): number {
  const count = countOf(attempts, limit, now);
  if (!attempts || count < limit.free) return 0;
  if ('windowMs' in limit) return attempts.at + limit.windowMs - now;
  return Math.max(0, Math.min(attempts.at, now) + delayAfter(count, limit) - now);
}

/** Returns the whole wait that follows this number of attempts, in ms. */
export function delayAfter(count: number, { free, firstWaitMs, growth, longestMs }: Backoff): number {
  if (count < free) return 0;
  const excess = count - free;
  return Math.min(longestMs, firstWaitMs * (growth === 'doubles' ? 2 ** excess : excess + 1));
}

export type Throttle = {
  /** Counts an attempt of a key and returns 0. If it is too early, doesn't count it and returns how long to wait, in ms. */
  attempt(key: string): number;
  /** Takes back an attempt that turned out to be right. */
  forgive(key: string): void;
  /** The number of keys that are remembered. */
  readonly size: number;
};

/**
 * Opens a throttle that counts in memory. If there are more than `maxKeys` keys, it forgets the key whose last attempt is the
 * oldest.
 */
export function openThrottle(limit: Limit, maxKeys: number, now: () => number): Throttle {
  const known = new Map<string, Attempts>();
  return {
    attempt(key) {
      const time = now();
      const attempts = known.get(key);
      const wait = waitOf(attempts, limit, time);
      // The key is deleted and set again, so that it is last in the map and the least recently used key is dropped first.
      known.delete(key);
      known.set(key, attempts && wait > 0 ? attempts : oneMore(attempts, limit, time));
      if (known.size > maxKeys) known.delete(known.keys().next().value as string);
      return wait;
    },
    forgive(key) {
      const attempts = known.get(key);
      if (attempts && attempts.count > 0) known.set(key, { ...attempts, count: attempts.count - 1 });
    },
    get size() {
      return known.size;
    },
  };
}

/** Returns a wait as whole seconds for Retry-After: rounded up, and at least 1. */
export const retryAfterOf = (waitMs: number): number => Math.max(1, Math.ceil(waitMs / 1000));

/**
 * Returns the Fault for an attempt that is too early. `reason`: the first sentence of the message, before the sentence that says
 * when to try again.
 */
export function tooEarly(code: DetailType, reason: string, waitMs: number): Fault {
  const retryAfter = retryAfterOf(waitMs);
  const wait = retryAfter === 1 ? '1 second' : `${retryAfter} seconds`;
  return new Fault('too_many', code, `${reason} Try again in ${wait}.`, { retryAfter });
}
