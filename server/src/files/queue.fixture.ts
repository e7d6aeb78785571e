// A process that only processes files, as the service does, for tests that kill it.
import { openLog } from '../base/log.ts';
import { openPool } from '../db/db.ts';
import { startJobs } from '../jobs/jobs.ts';
import { runOnThread } from '../jobs/threads.ts';
import { processInTurn } from './queue.ts';

const [databaseUrl] = process.argv.slice(2) as [string];
const log = openLog('error', 2);
const pool = openPool(databaseUrl, 4);
const thread = new URL('../files.thread.ts', import.meta.url);
await startJobs(
  databaseUrl,
  {
    recurring: [],
    tasks: {
      'process files': async (payload) => {
        const { accountId } = payload as { accountId: number };
        const work = (turnId: string) =>
          runOnThread(thread, { databaseUrl, accountId, turnId, logLevel: 'error' });
        await processInTurn(pool, accountId, work, log);
      },
    },
  },
  log,
);
process.stdout.write('ready\n');
