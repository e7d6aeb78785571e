// Durable and recurring work, on graphile-worker: it survives a stop, and of several processes one does it.
import { Logger, parseCronItems, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import { EventEmitter } from 'node:events';
import { Pool } from 'pg';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { ofEveryConnection } from '../db/db.ts';
import { countDeadJobs, deleteDeadJobs, freeLostJobs, insertWorker } from './jobs.sql.ts';

/** Recurring work: a name, when (cron, in UTC), and what. */
export type Recurring = { name: string; cron: string; work: () => Promise<void> };

/** What is done when it is asked for (`graphile_worker.add_job`), by name; tried again, ever later, when it fails. */
export type Tasks = Record<string, (payload: unknown) => Promise<void>>;

export type Work = { recurring: Recurring[]; tasks: Tasks };

export type Jobs = {
  /** How many jobs have failed for good, and are still kept. `accountId`: of those of the account, and of none. */
  dead(accountId?: number): Promise<number>;
  stop(): Promise<void>;
};

/** So long a job that has failed for good is kept, so that someone sees it. */
const deadJobDays = 7;
const hour = 3_600_000;

/** Starts doing jobs. Installs or updates graphile-worker's own schema first. */
export async function startJobs(databaseUrl: string, { recurring, tasks }: Work, log: Log): Promise<Jobs> {
  const taskList: TaskList = {
    ...Object.fromEntries(recurring.map(({ name, work }) => [name, async () => work()])),
    ...tasks,
  };
  const settings = Object.entries(ofEveryConnection)
    .map(([name, value]) => `set ${name} = ${value}`)
    .join(';');
  // A pool of our own: graphile-worker leaves the end of its connections unheard, and a server that stops in that moment
  // would end this process.
  const ownName = `soundings jobs ${newId()}`;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 5,
    application_name: ownName,
    verify: (client, done) => client.query(settings, (error) => done(error)),
  });
  const onLost = () => log.debug('A connection of the jobs was lost');
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  const events = new EventEmitter() as WorkerEvents;
  // What it locks jobs by is the id of the pool of its workers.
  const workers: string[] = [];
  const note = () => Promise.all(workers.map((id) => insertWorker(pool, id, ownName)));
  events.on('pool:create', ({ workerPool }) => {
    workers.push(workerPool.id);
    note().catch(onLost);
  });
  const runner = await run({
    concurrency: 4,
    pgPool: pool,
    events,
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
  // Noted again each time: the table is empty after a crash of the database.
  const freeing = setInterval(() => {
    note()
      .then(() => freeLostJobs(pool))
      .catch(onLost);
  }, 10_000).unref();
  const forgetting = setInterval(() => void deleteDeadJobs(pool, deadJobDays).catch(onLost), hour).unref();
  await freeLostJobs(pool);
  await deleteDeadJobs(pool, deadJobDays);
  return {
    dead: (accountId) => countDeadJobs(pool, accountId),
    async stop() {
      clearInterval(freeing);
      clearInterval(forgetting);
      await runner.stop();
      await runner.promise.catch(() => {});
      await pool.end();
    },
  };
}
