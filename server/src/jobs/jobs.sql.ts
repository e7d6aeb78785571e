// SQL for the jobs of graphile-worker, which don't belong to accounts, and for the workers that use them. Uses its public view and
// functions where it can. Only this file uses its private tables (docs/decisions/0025).
import type { Pool } from 'pg';
import type { AccountId, Db } from '../db/db.ts';

/** Records which process a worker belongs to, by the name of its connections. */
export async function insertWorker(pool: Pool, worker: string, process: string): Promise<void> {
  await pool.query(
    'insert into job_workers (worker, process) values ($1, $2) on conflict (worker) do update set process = $2',
    [worker, process],
  );
}

/** Returns how many jobs have failed permanently. `accountId`: counts only jobs of this account and jobs without an account. */
export async function countDeadJobs(db: Db, accountId: AccountId | null = null): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as count
    from   graphile_worker._private_jobs
    where  attempts >= max_attempts and locked_at is null
      and  (${accountId}::integer is null or coalesce((payload ->> 'accountId')::integer, ${accountId}) = ${accountId})`;
  return row!.count;
}

/**
 * Deletes the notices to earlier addresses (rounds/messages/link-notices.ts) about links of a week, or of people, that are not being sent at
 * this moment. They are found by their payload, because PostgreSQL's statistics would contain keys.
 */
export async function deleteLinkNotices(
  db: Db,
  accountId: AccountId,
  of: { week: string } | { userIds: number[] },
): Promise<void> {
  // The tables of jobs do not exist before the service has started for the first time.
  const [tables] = await db`select 1 where to_regclass('graphile_worker._private_jobs') is not null`;
  if (!tables) return;
  await db`
    select graphile_worker.complete_jobs(array_agg(j.id))
    from   graphile_worker.jobs j
    join   graphile_worker._private_jobs p on p.id = j.id
    where  j.task_identifier = 'mail link notice' and p.payload ->> 'accountId' = ${String(accountId)}
      and  ${'week' in of ? db`p.payload ->> 'week' = ${of.week}` : db`p.payload ->> 'userId' = any(${of.userIds.map(String)})`}
    having count(*) > 0`;
}

/** Deletes permanently failed jobs `days` after their last failure. graphile-worker would keep them forever. */
export async function deleteDeadJobs(pool: Pool, days: number): Promise<void> {
  await pool.query(
    `select graphile_worker.complete_jobs(array_agg(id))
     from   graphile_worker.jobs
     where  attempts >= max_attempts and locked_at is null and updated_at < now() - make_interval(days => $1)
     having count(*) > 0`,
    [days],
  );
}

/**
 * Releases jobs that killed processes had started; graphile-worker itself would wait four hours. A process counts as gone if it
 * has no connection. Jobs of a worker that is not recorded are released only after 30 seconds, because it may just be starting.
 */
export async function freeLostJobs(pool: Pool): Promise<void> {
  await pool.query(
    `select graphile_worker.force_unlock_workers(array_agg(locked_by))
     from   (select locked_by, locked_at from graphile_worker.jobs
             union
             select locked_by, locked_at from graphile_worker._private_job_queues) locked
     left   join job_workers w on w.worker = locked.locked_by
     where  not exists (select 1 from pg_stat_activity a
                        where  a.application_name = w.process and a.datname = current_database())
       and  (w.worker is not null or locked_at < now() - interval '30 seconds')
     having count(*) > 0`,
  );
  await pool.query(
    `delete from job_workers w
     where  not exists (select 1 from pg_stat_activity a
                        where  a.application_name = w.process and a.datname = current_database())
       and  not exists (select 1 from graphile_worker.jobs where locked_by = w.worker)`,
  );
}
