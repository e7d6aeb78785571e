// How much a token asks for: so many requests a minute, over all processes on one database, without writing each down.
import { Fault } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { AccountId, Pool } from '../db/db.ts';
import { addTokenUsage } from './usage.sql.ts';

/** Counts a request of a token. Throws a Fault, which says when to try again, when the token has no more. */
export type Meter = (caller: { accountId: AccountId; tokenId: number }) => Promise<void>;

/** What a token has made of the minute, as far as this process knows. */
type Use = {
  requests: number;
  /** Those of this process that the database has not been told of. */
  untold: number;
  /** With so many untold, the next request waits until they are told. */
  tellAt: number;
  telling: Promise<void> | undefined;
};

const minuteMs = 60_000;

/**
 * A meter of `limit` requests for each token and minute of the clock; 0: any number.
 *
 * Each process counts by itself. After a batch (a twentieth of the limit, at least one) it adds what it has counted to
 * the token's row and learns what the other processes have: at most some twenty small writes a minute for a busy token,
 * none for a quiet one. A single process keeps the limit to the letter; of n processes each may be behind by one batch,
 * so that a token gets fewer than n batches beyond the limit. Without the database each process counts alone.
 */
export function meterTokens(pool: Promise<Pool>, limit: number, now: () => number, log: Log): Meter {
  const batch = Math.max(1, Math.floor(limit / 20));
  let minute = 0;
  let uses = new Map<string, Use>();

  function useOf(key: string): Use {
    const current = Math.floor(now() / minuteMs) * minuteMs;
    if (current !== minute) [minute, uses] = [current, new Map()];
    const use = uses.get(key) ?? { requests: 0, untold: 0, tellAt: batch, telling: undefined };
    uses.set(key, use);
    return use;
  }

  async function tell(use: Use, accountId: AccountId, tokenId: number, of: Date): Promise<void> {
    try {
      // Nobody is counted meanwhile, so that what is told is all there is.
      const told = { minute: of, requests: use.untold };
      use.requests = await addTokenUsage(await pool, accountId, tokenId, told);
      use.untold = 0;
      use.tellAt = batch;
    } catch (error) {
      log.warn(
        { accountId, tokenId, cause: error },
        'The requests of a token were counted by this process alone',
      );
      use.tellAt = use.untold + batch;
    }
    use.telling = undefined;
  }

  return async function count({ accountId, tokenId }) {
    if (limit === 0) return;
    const use = useOf(`${accountId}/${tokenId}`);
    const began = minute;
    while (use.requests < limit && use.untold >= use.tellAt) {
      use.telling ??= tell(use, accountId, tokenId, new Date(began));
      // oxlint-disable-next-line no-await-in-loop -- of those who have waited, only a batch goes on
      await use.telling;
    }
    if (use.requests >= limit) {
      // At least one: the minute may have ended meanwhile.
      const seconds = Math.max(1, Math.ceil((began + minuteMs - now()) / 1000));
      throw new Fault(
        'too_many',
        'too many requests',
        `The token has made its ${limit} requests of this minute. Try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
        { retryAfter: seconds },
      );
    }
    use.requests++;
    use.untold++;
  };
}
