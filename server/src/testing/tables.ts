// The whole content of a database, for comparing before and after.
import type { Pool } from '../db/db.ts';

/**
 * Returns every row of every table, with the transaction that wrote it last. If the result is equal before and after,
 * nothing was written, not even the same values. Leaves out the columns that locking an account changes, the time at
 * which a process was last seen, and the chain of the audit log, which a job writes.
 */
export async function tablesOf(pool: Pool): Promise<string[]> {
  const tables = await pool<{ name: string }[]>`
    select table_name as name from information_schema.tables
    where  table_schema = 'public' and table_type = 'BASE TABLE'
      and  table_name not in ('accounts', 'audit_entries', 'audit_heads', 'key_processes')`;
  const parts = tables.map(
    ({ name }) => `select '${name} ' || t.xmin || ' ' || to_jsonb(t)::text as row from ${name} t`,
  );
  const accounts = `select 'accounts ' || (to_jsonb(t) - 'version')::text as row from accounts t`;
  const audit = `select 'audit_entries ' || (to_jsonb(t) - '{position,hash}'::text[])::text as row from audit_entries t`;
  // The statement is prepared, because planning a statement on all tables takes longer than reading them.
  const all = [...parts, accounts, audit].join(' union all ');
  const rows = await pool.unsafe<{ row: string }[]>(all, [], { prepare: true });
  return rows.map(({ row }) => row).toSorted();
}
