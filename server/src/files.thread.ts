// The thread for files: processes the waiting files of an account, or applies an approved run.
import type { LogLevel } from './base/config.ts';
import { openLog } from './base/log.ts';
import { forWholeLists, openPool, retryLostConnections } from './db/db.ts';
import { serveThread } from './jobs/threads.ts';
import { type Approval, approveRun } from './files/approval.ts';
import { processFiles } from './files/queue.ts';
import { deleteGroupResults } from './results/published-figures.ts';
import { refuseOutdated } from './scim/applying/removals.ts';

/** `logLevel` is that of the service, and `turnId` the id of the turn in which files are processed. */
export type FilesWork = { databaseUrl: string; accountId: number } & (
  { approve: { runId: string; approval: Approval } } | { turnId: string; logLevel: LogLevel }
);

const hooks = { deleteGroupResults, refuseOutdated };
retryLostConnections(() => {});
serveThread(async ({ databaseUrl, accountId, ...work }: FilesWork) => {
  const pool = openPool(databaseUrl, 3, forWholeLists); // One connection keeps the lock that is the turn.
  try {
    if ('approve' in work) {
      await approveRun(pool, accountId, work.approve.runId, hooks, work.approve.approval);
    } else await processFiles(pool, accountId, deleteGroupResults, openLog(work.logLevel), work.turnId);
  } finally {
    await pool.end({ timeout: 5 });
  }
});
