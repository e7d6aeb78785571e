// The thread for pulls: fetches one list and stores it as a file.
import type { LogLevel } from './base/config.ts';
import { openLog } from './base/log.ts';
import { openPool, retryLostConnections } from './db/db.ts';
import { serveThread } from './jobs/threads.ts';
import { fetchPull } from './pulls/fetch-pull.ts';
import type { ClaimedPull } from './pulls/claims.sql.ts';
import { AnswerKeys } from './sealing/answer-keys.ts';
import type { KeyPlace } from './sealing/epoch-chain.ts';

/** `networks`: OUTGOING_NETWORKS. `start`: the time in ms, by the clock of the service. `logLevel` is that of the service. */
export type PullsWork = {
  databaseUrl: string;
  answerKeys: KeyPlace;
  claimed: ClaimedPull;
  networks: string[];
  canMail: boolean;
  start: number;
  logLevel: LogLevel;
};

retryLostConnections(() => {});
serveThread(async ({ databaseUrl, answerKeys, claimed, start, logLevel, ...options }: PullsWork) => {
  const pool = openPool(databaseUrl, 2);
  const began = performance.now();
  const now = () => Math.round(start + performance.now() - began);
  try {
    const { secrets } = new AnswerKeys(pool, answerKeys);
    await fetchPull({ ...options, pool, secrets, log: openLog(logLevel), now }, claimed);
  } finally {
    await pool.end({ timeout: 5 });
  }
});
