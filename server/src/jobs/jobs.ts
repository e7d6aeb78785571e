// Durable and recurring jobs, with graphile-worker. Jobs survive a restart, and each runs in only one of several processes.
import { Logger, parseCronItems, run, type TaskList, type WorkerEvents } from 'graphile-worker';
import { EventEmitter } from 'node:events';
import { Pool } from 'pg';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { inTrace, outsideOfSpans } from '../base/tracing/spans.ts';
import { tracedJobs } from '../base/tracing/what-is-traced.ts';
import { setEverySession } from '../db/connection-settings.ts';
import { deleteDeadJobs, freeLostJobs, insertWorker } from './jobs.sql.ts';

/** A recurring job: its name, its schedule (cron, in UTC) and its work. */
export type Recurring = { name: string; cron: string; work: () => Promise<void> };

/** Jobs that run on demand (`graphile_worker.add_job`), by name. A failed job is retried with increasing delays. */
export type Tasks = Record<string, (payload: unknown) => Promise<void>>;

export type Work = { recurring: Recurring[]; tasks: Tasks };

export type Jobs = {
  stop(): Promise<void>;
};

/** How many days a permanently failed job is kept, so that operators notice it. */
const deadJobDays = 7;
const hour = 3_600_000;

/** Starts processing jobs. Installs or updates the schema of graphile-worker first. */
export async function startJobs(databaseUrl: string, { recurring, tasks }: Work, log: Log): Promise<Jobs> {
  const taskList: TaskList = {
    ...Object.fromEntries(recurring.map(({ name, work }) => [name, async () => traced(name, work)])),
    ...Object.fromEntries(
      Object.entries(tasks).map(([name, work]) => [
        name,
        async (payload) => traced(name, () => work(payload)),
      ]),
    ),
  };
  // Our own pool, because graphile-worker doesn't handle errors of closed connections, so a database that stops at that moment
  // would crash this process.
  const ownName = `soundings jobs ${newId()}`;
  const pool = new Pool({
    connectionString: databaseUrl,
    max: 5,
    application_name: ownName,
    verify: (client, done) => client.query(setEverySession, (error) => done(error)),
  });
  const onLost = () => log.debug('A database connection of the job queue was lost');
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));
  const events = new EventEmitter() as WorkerEvents;
  // graphile-worker locks jobs by the id of its worker pool.
  const workers: string[] = [];
  const recordWorkers = () => Promise.all(workers.map((id) => insertWorker(pool, id, ownName)));
  events.on('pool:create', ({ workerPool }) => {
    workers.push(workerPool.id);
    recordWorkers().catch(onLost);
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
  // The runner ends by itself only after an error, which it has logged. Remaining jobs run after the next start.
  runner.promise.catch((error: unknown) =>
    log.error({ err: error }, 'The job queue has stopped. Restart the service to run the remaining jobs'),
  );
  // The workers are recorded again each time, because the table is empty after a crash of the database.
  const freeing = setInterval(() => {
    recordWorkers()
      .then(() => freeLostJobs(pool))
      .catch(onLost);
  }, 10_000).unref();
  const cleaning = setInterval(() => void deleteDeadJobs(pool, deadJobDays).catch(onLost), hour).unref();
  await freeLostJobs(pool);
  await deleteDeadJobs(pool, deadJobDays);
  return {
    async stop() {
      clearInterval(freeing);
      clearInterval(cleaning);
      await runner.stop();
      await runner.promise.catch(() => {});
      await pool.end();
    },
  };
}

/** Runs a job, as a trace if its kind is traced. It does not continue the trace of the request that added it, which may have ended long ago. */
const traced = (name: string, work: () => Promise<void>): Promise<void> =>
  tracedJobs.has(name) ? inTrace({ name: `job ${name}`, kind: 'internal' }, work) : outsideOfSpans(work);
