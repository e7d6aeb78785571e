// The rate limit of API tokens: requests per minute, counted across all processes of a database without storing each request.
import type { Log } from '../base/log.ts';
import { tooEarly, waitOf } from '../base/throttle.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { addTokenUsage } from './usage.sql.ts';

/** Counts a request of a token. Throws a Fault that says when to try again if the token has used up its requests. */
export type Meter = (caller: { accountId: AccountId; tokenId: number }) => Promise<void>;

/** The requests of a token in the current minute, as far as this process knows. */
type Use = {
  requests: number;
  /** Requests of this process that are not in the database yet. */
  unsaved: number;
  /** At this number of unsaved requests, the next request waits until they are saved. */
  saveAt: number;
  saving: Promise<void> | undefined;
};

const minuteMs = 60_000;

/**
 * Returns a meter that allows `limit` requests per token and clock minute; 0 means no limit.
 *
 * Each process counts by itself. After a batch (a twentieth of the limit, at least 1) it adds its count to the token's row and
 * reads the total of all processes. That is about twenty small writes per minute for a busy token and none for a quiet one. A
 * single process enforces the limit exactly. With n processes, each may be one batch behind, so a token can exceed the limit by
 * less than n batches. If the database is unavailable, each process counts alone.
 */
export function meterTokens(pool: Promise<Pool>, limit: number, now: () => number, log: Log): Meter {
  const quota = { free: limit, windowMs: minuteMs };
  const batch = Math.max(1, Math.floor(limit / 20));
  let minute = 0;
  let uses = new Map<string, Use>();

  function useOf(key: string): Use {
    const current = Math.floor(now() / minuteMs) * minuteMs;
    if (current !== minute) [minute, uses] = [current, new Map()];
    const use = uses.get(key) ?? { requests: 0, unsaved: 0, saveAt: batch, saving: undefined };
    uses.set(key, use);
    return use;
  }

  async function save(use: Use, accountId: AccountId, tokenId: number, of: Date): Promise<void> {
    try {
      // No requests are counted while these are being saved, so all of them are saved.
      const unsaved = { minute: of, requests: use.unsaved };
      use.requests = await addTokenUsage(await pool, accountId, tokenId, unsaved);
      use.unsaved = 0;
      use.saveAt = batch;
    } catch (error) {
      log.warn(
        { accountId, tokenId, cause: error },
        'The request count of a token could not be saved, so each process counts separately for now',
      );
      use.saveAt = use.unsaved + batch;
    }
    use.saving = undefined;
  }

  return async function count({ accountId, tokenId }) {
    if (limit === 0) return;
    const use = useOf(`${accountId}/${tokenId}`);
    const began = minute;
    while (use.requests < limit && use.unsaved >= use.saveAt) {
      use.saving ??= save(use, accountId, tokenId, new Date(began));
      // Only one batch of the waiting requests may continue.
      await use.saving;
    }
    // The request belongs to the minute in which it began, even if that minute has ended since.
    if (waitOf({ count: use.requests, at: began }, quota, began) > 0) {
      throw tooEarly(
        'too many requests',
        `Rate limit exceeded: this API token can send ${limit} ${limit === 1 ? 'request' : 'requests'} per minute.`,
        began + minuteMs - now(),
      );
    }
    use.requests++;
    use.unsaved++;
  };
}
