// The thread of files: processes those of an account that wait, or applies a held one that somebody has approved.
import { workerData } from 'node:worker_threads';
import { forWholeLists, openPool, surviveLostConnections } from './db/db.ts';
import { type Approval, approveRun, processFiles } from './files/process.ts';
import { forgetGroups } from './results/publish.ts';

export type FilesWork = {
  databaseUrl: string;
  accountId: number;
  approve?: { runId: string; approval: Approval };
};

const { databaseUrl, accountId, approve } = workerData as FilesWork;
surviveLostConnections(() => {});
const pool = openPool(databaseUrl, 2, forWholeLists);
try {
  if (approve) await approveRun(pool, accountId, approve.runId, forgetGroups, approve.approval);
  else await processFiles(pool, accountId, forgetGroups);
} finally {
  await pool.end({ timeout: 5 });
}
