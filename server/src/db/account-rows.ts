// The rows of a whole account, in all tables that have any: copying them to another account, measuring and deleting them. What tables there
// are comes from PostgreSQL's catalogue, so a new table is never forgotten.
import type { AccountId, Db, Transaction } from './db.ts';
import { quoted } from './catalogue.ts';

/** A table with an account_id. `columns`: those that can be copied, without account_id. `days`: those of them that are dates. */
export type AccountTable = { name: string; columns: string[]; days: string[] };

type Row = AccountTable & { parents: string[] };

/** Returns all tables with an account_id, each after those that it refers to. */
export async function selectAccountTables(db: Db): Promise<AccountTable[]> {
  const rows = await db<Row[]>`
    select c.relname::text as "name",
           array(select attname::text from pg_attribute a
                 where  a.attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = '' and attname <> 'account_id'
                 order  by attnum) as "columns",
           array(select attname::text from pg_attribute a
                 where  a.attrelid = c.oid and attnum > 0 and not attisdropped and atttypid = 'date'::regtype) as "days",
           array(select distinct p.relname::text from pg_constraint f join pg_class p on p.oid = f.confrelid
                 where  f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as "parents"
    from   pg_class c
    where  c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and  exists (select 1 from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id' and not attisdropped)
    order  by c.relname collate "C"`;
  const sorted: Row[] = [];
  const names = new Set(rows.map(({ name }) => name));
  for (let rest: Row[] = rows; rest.length > 0;) {
    const done = new Set(sorted.map(({ name }) => name));
    const ready = rest.filter(({ parents }) => parents.every((one) => done.has(one) || !names.has(one)));
    if (ready.length === 0)
      throw new Error(`Tables refer to each other: ${rest.map(({ name }) => name).join(', ')}.`);
    sorted.push(...ready);
    rest = rest.filter((row) => !ready.includes(row));
  }
  return sorted.map(({ name, columns, days }) => ({ name, columns, days }));
}

/**
 * Copies the rows of one account to another one that has none, in the tables with these names. Ids stay as they are: the keys of all tables
 * begin with the account. Dates are moved by `days`.
 */
export async function copyAccountRows(
  tx: Transaction,
  { from, to, days }: { from: AccountId; to: AccountId; days: number },
  tables: ReadonlySet<string>,
): Promise<void> {
  for (const { name, columns, days: dates } of await selectAccountTables(tx)) {
    if (!tables.has(name)) continue;
    const values = columns.map((column) =>
      dates.includes(column) ? `${quoted(column)} + ${Math.trunc(days)}` : quoted(column),
    );
    // A transaction runs one statement at a time.
    await tx.unsafe(
      `insert into ${quoted(name)} (account_id, ${columns.map(quoted).join(', ')})
       select $1, ${values.join(', ')} from ${quoted(name)} where account_id = $2`,
      [to, from],
    );
  }
}

/** Deletes an account with all its rows. The caller has locked the account for update. */
export async function deleteAccountRows(tx: Transaction, accountId: AccountId): Promise<void> {
  for (const { name } of (await selectAccountTables(tx)).toReversed())
    await tx.unsafe(`delete from ${quoted(name)} where account_id = $1`, [accountId]);
}

/** Returns the size of all rows of an account in bytes, without indexes. */
export async function measureAccountRows(db: Db, accountId: AccountId): Promise<number> {
  const tables = await selectAccountTables(db);
  const sizes = tables.map(
    ({ name }) =>
      `(select coalesce(sum(pg_column_size(t.*)), 0) from ${quoted(name)} t where t.account_id = $1)`,
  );
  const [row] = await db.unsafe<{ bytes: number }[]>(`select (${sizes.join(' + ')})::float8 as bytes`, [
    accountId,
  ]);
  return row?.bytes ?? 0;
}
