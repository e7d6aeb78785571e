// SQL of facts about jobs for operators: reading only, through the public view of graphile-worker.
import type { Db } from '../db/db.ts';

/**
 * `waiting`: jobs that are due, and for how long the oldest has been. `dead`: jobs that have failed permanently. `processes`: how many running
 * services process jobs.
 */
export type JobFacts = {
  waiting: { count: number; oldestSeconds: number };
  dead: number;
  processes: number;
};

/** Returns the facts about jobs; undefined before the first start, when the queue doesn't exist yet. */
export async function selectJobFacts(db: Db): Promise<JobFacts | undefined> {
  const [queue] = await db<{ exists: boolean }[]>`
    select to_regclass('graphile_worker.jobs') is not null as "exists"`;
  if (!queue?.exists) return undefined;
  const [row] = await db<JobFacts[]>`
    select json_build_object(
             'count', count(*) filter (where not is_dead and run_at < clock_timestamp()),
             'oldestSeconds', coalesce(extract(epoch from clock_timestamp()
                                - min(run_at) filter (where not is_dead and run_at < clock_timestamp())), 0)) as "waiting",
           (count(*) filter (where is_dead))::integer                                                 as "dead",
           (select count(distinct application_name)::integer
            from   pg_stat_activity
            where  datname = current_database() and application_name like 'soundings jobs %')         as "processes"
    from   (select run_at, attempts >= max_attempts as is_dead
            from   graphile_worker.jobs
            where  locked_at is null) waiting`;
  return row!;
}
