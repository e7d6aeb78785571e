// The thread of files: processes those of an account that wait.
import { workerData } from 'node:worker_threads';
import { forWholeLists, openPool, surviveLostConnections } from './db/db.ts';
import { processFiles } from './files/process.ts';
import { forgetGroups } from './results/publish.ts';

export type FilesWork = { databaseUrl: string; accountId: number };

const { databaseUrl, accountId } = workerData as FilesWork;
surviveLostConnections(() => {});
const pool = openPool(databaseUrl, 2, forWholeLists);
try {
  await processFiles(pool, accountId, forgetGroups);
} finally {
  await pool.end({ timeout: 5 });
}
