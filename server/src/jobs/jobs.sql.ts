// SQL of graphile-worker's own tables, which know no account, and of who works on them.
import type { Pool } from 'pg';

/** Notes that a worker is of a process, by the name of its connections. */
export async function insertWorker(pool: Pool, worker: string, process: string): Promise<void> {
  await pool.query(
    'insert into job_workers (worker, process) values ($1, $2) on conflict (worker) do update set process = $2',
    [worker, process],
  );
}

/** How many jobs have failed so often that they are not tried again. `accountId`: of those of the account, and of none. */
export async function countDeadJobs(pool: Pool, accountId?: number): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `select count(*)::integer as count
     from   graphile_worker._private_jobs
     where  attempts >= max_attempts and locked_at is null
       and  ($1::integer is null or coalesce((payload ->> 'accountId')::integer, $1) = $1)`,
    [accountId ?? null],
  );
  return rows[0]!.count;
}

/** Removes jobs that are not tried again, so many days after their last failure: graphile-worker keeps them for ever. */
export async function deleteDeadJobs(pool: Pool, days: number): Promise<void> {
  await pool.query(
    `select graphile_worker.complete_jobs(array_agg(id))
     from   graphile_worker._private_jobs
     where  attempts >= max_attempts and locked_at is null and updated_at < now() - make_interval(days => $1)
     having count(*) > 0`,
    [days],
  );
}

/**
 * Gives back what processes that were killed had begun: graphile-worker itself waits four hours. A process is gone when
 * it has no connection. What a worker has begun who is not noted is left for half a minute: it may be about to be.
 */
export async function freeLostJobs(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(locked_by))
     from   (select locked_by, locked_at from graphile_worker._private_jobs
             union
             select locked_by, locked_at from graphile_worker._private_job_queues) held
     left   join job_workers w on w.worker = held.locked_by
     where  not exists (select 1 from pg_stat_activity a
                        where  a.application_name = w.process and a.datname = current_database())
       and  (w.worker is not null or locked_at < now() - interval '30 seconds')
     having count(*) > 0`,
  );
  await pool.query(
    `delete from job_workers w
     where  not exists (select 1 from pg_stat_activity a
                        where  a.application_name = w.process and a.datname = current_database())
       and  not exists (select 1 from graphile_worker._private_jobs where locked_by = w.worker)`,
  );
}
