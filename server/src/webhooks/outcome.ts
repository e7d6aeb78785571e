// What the response of an endpoint means, and when the next attempt is. Pure.
import { maxFailingDays, minFailures, retryDelays } from '@soundings/contract/webhooks/events.ts';
import type { FailedAttempt } from './deliveries.sql.ts';

const [second, minute, day] = [1_000, 60_000, 86_400_000];

/** The longest wait that an endpoint can ask for, in ms. */
const maxWait = 24 * 60 * minute;

/** Statuses with which an endpoint, or something in front of it, says that it takes nothing at the moment. */
const unavailable = [429, 502, 503, 504];

/** How long nothing is sent to an endpoint after one, two, three … failures in a row, in ms. */
const pauses = [5 * second, 15 * second, minute, 2 * minute, 5 * minute];

export type Response = { status: number; retryAfter?: string | undefined } | { error: string };

/**
 * Returns what a response that is not a success means. `attempts`: how many attempts of this delivery there were before. `failures`: how many
 * attempts at this endpoint have failed in a row before. `random`: from 0 to 1. All times in ms.
 */
export function failureOf(
  response: Response,
  { attempts, failures, now, random }: { attempts: number; failures: number; now: number; random: number },
): FailedAttempt {
  const hasStatus = 'status' in response;
  const isUnavailable = !hasStatus || unavailable.includes(response.status);
  const asked = hasStatus ? waitIn(response.retryAfter, now) : 0;
  const delay = retryDelays[attempts];
  const pause = pauses[Math.min(failures, pauses.length - 1)] as number;
  return {
    status: hasStatus ? response.status : null,
    error: hasStatus ? `HTTP ${response.status}` : response.error,
    isUnavailable,
    next: delay === undefined ? null : now + Math.max(delay * second * (1 + random / 10), asked),
    pauseMs: isUnavailable ? Math.max(pause, asked) : 0,
  };
}

/** Returns how long a Retry-After header asks to wait, in ms: seconds or a date (RFC 9110 §10.2.3). */
function waitIn(header: string | undefined, now: number): number {
  const ms = /^\d{1,9}$/.test(header?.trim() ?? '')
    ? Number(header) * second
    : Date.parse(header ?? '') - now;
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), maxWait) : 0;
}

/** Returns why an endpoint must be turned off; undefined if it stays on. */
export function reasonToTurnOff(
  status: number | null,
  { failingSince, failures }: { failingSince: Date; failures: number },
  now: number,
): 'failing' | 'gone' | undefined {
  if (status === 410) return 'gone';
  const isFailing = now - failingSince.getTime() >= maxFailingDays * day && failures >= minFailures;
  return isFailing ? 'failing' : undefined;
}
