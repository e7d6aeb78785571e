// The thread of files: processes those of an account that wait, or applies a held one that somebody has approved.
import { workerData } from 'node:worker_threads';
import type { LogLevel } from './base/config.ts';
import { openLog } from './base/log.ts';
import { forWholeLists, openPool, surviveLostConnections } from './db/db.ts';
import { type Approval, approveRun, processFiles } from './files/process.ts';
import { forgetGroups } from './results/publish.ts';

/** `logLevel`: of the service. */
export type FilesWork = { databaseUrl: string; accountId: number } & (
  { approve: { runId: string; approval: Approval } } | { logLevel: LogLevel }
);

const { databaseUrl, accountId, ...work } = workerData as FilesWork;
surviveLostConnections(() => {});
const pool = openPool(databaseUrl, 2, forWholeLists);
try {
  if ('approve' in work) {
    await approveRun(pool, accountId, work.approve.runId, forgetGroups, work.approve.approval);
  } else await processFiles(pool, accountId, forgetGroups, openLog(work.logLevel));
} finally {
  await pool.end({ timeout: 5 });
}
