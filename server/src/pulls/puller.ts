// Fetches due lists: each on its own thread, because reading a large list takes seconds, and only by one process at a time. If that is
// killed, another one goes on when its claim has run out.
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import type { Pool } from '../db/db.ts';
import { type ClaimedPull, claimPulls, releasePull } from './claims.sql.ts';

/** How many lists this process fetches at the same time. */
const maxAtOnce = 3;

/** How long fetching a list can take, in ms, and how long a claim lasts: longer. */
export const fetchLimitMs = 240_000;
const claimMs = fetchLimitMs + 60_000;

/** How many ms later a list is fetched again if Soundings itself was the reason for a failure, such as a lost database connection. */
const retryMs = 60_000;

export type Puller = {
  /** Starts fetching what is due, and returns without waiting for it. */
  wake(): Promise<void>;
  /** Resolves when nothing is being fetched. */
  settled(): Promise<void>;
  /** Starts nothing new, and waits up to `seconds` for what is being fetched. */
  close(seconds: number): Promise<void>;
};

/** Opens the puller of this process. `fetch` fetches one claimed pull and records the outcome. `now` returns the time in ms. */
export function openPuller(
  pool: Pool,
  fetch: (claimed: ClaimedPull) => Promise<void>,
  log: Log,
  now: () => number,
): Puller {
  const fetching = new Map<string, Promise<void>>();
  const state = { isWoken: false, isClaiming: false, isClosed: false };

  const wake = async (): Promise<void> => {
    state.isWoken = true;
    if (state.isClaiming) return; // the running call goes on
    state.isClaiming = true;
    try {
      while (state.isWoken && !state.isClosed && fetching.size < maxAtOnce) {
        state.isWoken = false;
        const count = maxAtOnce - fetching.size;
        for (const one of await claimPulls(pool, {
          claim: newId(),
          count,
          now: now(),
          until: now() + claimMs,
        }))
          start(one);
      }
    } finally {
      state.isClaiming = false;
    }
  };
  const start = (claimed: ClaimedPull): void => {
    const { accountId, pullId, claim } = claimed;
    const key = `${claim} ${pullId}`;
    const done = fetch(claimed)
      .catch(async (error: unknown) => {
        log.error({ accountId, pullId, err: error }, 'Fetching a list failed. It will be retried');
        await releasePull(pool, claimed, now() + retryMs);
      })
      .finally(() => fetching.delete(key))
      .then(wake)
      // The recurring job looks again within a minute.
      .catch((error: unknown) =>
        log.error({ accountId, pullId, err: error }, 'Fetching lists failed. It will be retried'),
      );
    fetching.set(key, done);
  };
  const settled = async (): Promise<void> => {
    while (fetching.size > 0) await Promise.all(fetching.values());
  };
  return {
    wake,
    settled,
    async close(seconds) {
      state.isClosed = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, seconds * 1000);
      await Promise.race([settled(), promise]);
      clearTimeout(timer);
    },
  };
}
