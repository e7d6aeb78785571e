// Durable and recurring work, on graphile-worker: it survives a stop, and of several processes one does it.
import { Logger, parseCronItems, run, type TaskList } from 'graphile-worker';
import { Pool } from 'pg';
import type { Log } from '../base/log.ts';

/** Recurring work: a name, when (cron, in UTC), and what. */
export type Recurring = { name: string; cron: string; work: () => Promise<void> };

export type Jobs = { stop(): Promise<void> };

/** Starts doing jobs. Installs or updates graphile-worker's own schema first. */
export async function startJobs(databaseUrl: string, recurring: Recurring[], log: Log): Promise<Jobs> {
  const taskList: TaskList = Object.fromEntries(
    recurring.map(({ name, work }) => [name, async () => work()]),
  );
  // A pool of our own: graphile-worker leaves the end of its connections unheard, and a server that stops in that moment
  // would end this process.
  const pool = new Pool({ connectionString: databaseUrl, max: 5 });
  const onLost = () => log.debug('A connection of the jobs was lost');
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  const runner = await run({
    concurrency: 4,
    pgPool: pool,
    noHandleSignals: true,
    taskList,
    parsedCronItems: parseCronItems(recurring.map(({ name, cron }) => ({ task: name, match: cron }))),
    logger: new Logger(() => (level, message) => {
      if (level === 'error') log.error(`jobs: ${message}`);
      else if (level === 'warning') log.warn(`jobs: ${message}`);
      else log.debug(`jobs: ${message}`);
    }),
  });
  // Ends by itself only by an error, which it has logged; what cannot be done now is done after the next start.
  runner.promise.catch((error: unknown) => log.error({ err: error }, 'Jobs have stopped'));
  return {
    async stop() {
      await runner.stop();
      await runner.promise.catch(() => {});
      await pool.end();
    },
  };
}
