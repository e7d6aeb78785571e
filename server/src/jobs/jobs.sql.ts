// SQL of graphile-worker's own tables, which know no account.
import type { Pool } from 'pg';

/**
 * Gives back what a process that was killed had begun: graphile-worker itself waits four hours. Only while no other process
 * is there whose connections have a name with the prefix: what another has begun may still be done by it. `workers`: our own.
 */
export async function freeLostJobs(
  pool: Pool,
  { namePrefix, name, workers }: { namePrefix: string; name: string; workers: string[] },
): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(locked_by))
     from   (select locked_by from graphile_worker._private_jobs
             union
             select locked_by from graphile_worker._private_job_queues) held
     where  locked_by <> all ($1)
       and  not exists (select 1
                        from   pg_stat_activity
                        where  datname = current_database() and application_name like $2 || '%'
                          and  application_name <> $3)
     having count(*) > 0`,
    [workers, namePrefix, name],
  );
}
