// What Citus would demand of our tables, read from PostgreSQL's catalogue (docs/decisions/0060): which tables could be distributed by account,
// and what stands in the way.
import type { Db } from '../../db/db.ts';

/** `distributed`: by account_id. `local`: only on the coordinator, because they are searched without knowing the account. */
export type Kinds = { distributed: string[]; local: string[] };

/** Returns the tables by kind. A table can be distributed if its primary key has the account. */
export async function kindsOf(db: Db): Promise<Kinds> {
  const rows = await db<{ name: string; isDistributed: boolean }[]>`
    select c.relname::text as "name",
           exists (select from pg_constraint k
                   join   pg_attribute a on a.attrelid = k.conrelid and a.attnum = any(k.conkey)
                   where  k.conrelid = c.oid and k.contype = 'p' and a.attname = 'account_id') as "isDistributed"
    from   pg_class c
    where  c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    order  by c.relname collate "C"`;
  const namesOf = (isDistributed: boolean) =>
    rows.filter((row) => row.isDistributed === isDistributed).map(({ name }) => name);
  return { distributed: namesOf(true), local: namesOf(false) };
}

/** Returns what Citus refuses, one line each, in order. */
export async function obstaclesIn(db: Db): Promise<string[]> {
  const { distributed } = await kindsOf(db);
  const rows = await db<{ line: string }[]>`
    with tables as (
      select c.oid, c.relname::text as name, c.relname = any(${distributed}) as is_distributed,
             (select attnum from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id') as account
      from   pg_class c where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    )
    select format('unique without the account: %s', i.indexrelid::regclass) as line
    from   pg_index i join tables t on t.oid = i.indrelid
    where  i.indisunique and t.is_distributed and not t.account = any(i.indkey::smallint[])
    union  all
    select format('foreign key between kinds: %s of %s to %s', k.conname, t.name, r.name)
    from   pg_constraint k join tables t on t.oid = k.conrelid join tables r on r.oid = k.confrelid
    where  k.contype = 'f' and t.is_distributed <> r.is_distributed
    union  all
    select format('foreign key without the account: %s of %s', k.conname, t.name)
    from   pg_constraint k join tables t on t.oid = k.conrelid join tables r on r.oid = k.confrelid
    where  k.contype = 'f' and t.is_distributed and r.is_distributed
      and  array_position(k.conkey, t.account) is distinct from array_position(k.confkey, r.account)
    union  all
    select format('foreign key that sets the account to null: %s of %s', k.conname, t.name)
    from   pg_constraint k join tables t on t.oid = k.conrelid
    where  k.contype = 'f' and t.is_distributed and k.confdeltype = 'n' and k.confdelsetcols is null
    union  all
    select format('foreign key that updates the account: %s of %s', k.conname, t.name)
    from   pg_constraint k join tables t on t.oid = k.conrelid
    where  k.contype = 'f' and t.is_distributed and k.confupdtype in ('c', 'n', 'd')
    union  all
    select format('trigger: %s on %s', g.tgname, t.name)
    from   pg_trigger g join tables t on t.oid = g.tgrelid
    where  not g.tgisinternal and t.is_distributed
    union  all
    select format('nullable account: %s', t.name)
    from   tables t join pg_attribute a on a.attrelid = t.oid and a.attnum = t.account
    where  t.is_distributed and not a.attnotnull
    order  by line`;
  return rows.map(({ line }) => line);
}
