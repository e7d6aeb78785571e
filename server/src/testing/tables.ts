// The whole content of a database, to compare before and after.
import type { Pool } from '../db/db.ts';

/**
 * Every row of every table, each with the transaction that wrote it last: equal before and after means that nothing was
 * written, not even with the same values. Left out are what locking an account changes, and when a process was seen last.
 */
export async function tablesOf(pool: Pool): Promise<string[]> {
  const tables = await pool<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where  table_schema = 'public' and table_type = 'BASE TABLE'
      and  table_name not in ('accounts', 'key_processes')`;
  const parts = tables.map(
    ({ name }) => `select '${name} ' || t.xmin || ' ' || to_jsonb(t)::text as row from ${name} t`,
  );
  const accounts = `select 'accounts ' || (to_jsonb(t) - 'version')::text as row from accounts t`;
  const rows = await pool.unsafe<{ row: string }[]>([...parts, accounts].join(' union all '));
  return rows.map(({ row }) => row).toSorted();
}
