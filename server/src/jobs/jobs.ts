// Durable and recurring work, on graphile-worker: it survives a stop, and of several processes one does it.
import { Logger, parseCronItems, run, type TaskList } from 'graphile-worker';
import type { Log } from '../base/log.ts';

/** Recurring work: a name, when (cron, in UTC), and what. */
export type Recurring = { name: string; cron: string; work: () => Promise<void> };

export type Jobs = { stop(): Promise<void> };

/** Starts doing jobs. Installs or updates graphile-worker's own schema first. */
export async function startJobs(databaseUrl: string, recurring: Recurring[], log: Log): Promise<Jobs> {
  const taskList: TaskList = Object.fromEntries(
    recurring.map(({ name, work }) => [name, async () => work()]),
  );
  const runner = await run({
    connectionString: databaseUrl,
    concurrency: 4,
    maxPoolSize: 5,
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
      await runner.promise.catch(() => {}); // its connections are closed then
    },
  };
}
