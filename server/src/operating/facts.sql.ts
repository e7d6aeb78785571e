// SQL of facts about an installation for operators: reading only, of all accounts together.
import type { Db } from '../db/db.ts';
import type { Waiting } from './waiting.ts';

/** Returns how many runs of any account, apart from sandboxes, await approval, and how long the oldest has. */
export async function selectPendingRuns(db: Db): Promise<Waiting> {
  const [row] = await db<Waiting[]>`
    select count(*)::integer as "count",
           coalesce(extract(epoch from clock_timestamp() - min(at)), 0)::float8 as "oldestSeconds"
    from   runs
    where  outcome = 'pending' and account_id in (select account_id from accounts where kind = 'company')`;
  return row!;
}

/** Returns when the first account was created, apart from sandboxes; null: there is none. */
export async function selectFirstUse(db: Db): Promise<Date | null> {
  const [row] = await db<{ at: Date | null }[]>`
    select min(created_at) as "at" from accounts where kind = 'company' -- account_id: of all accounts`;
  return row!.at;
}

/** Returns the version of PostgreSQL, such as "18.4", and the size of the database in bytes. */
export async function selectDatabase(db: Db): Promise<{ version: string; bytes: number }> {
  const [row] = await db<{ version: string; bytes: number }[]>`
    select split_part(current_setting('server_version'), ' ', 1) as "version",
           pg_database_size(current_database())::float8          as "bytes" -- account_id: of all accounts`;
  return row!;
}
