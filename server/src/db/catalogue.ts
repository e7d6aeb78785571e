// The tables of an installation as PostgreSQL's catalogue lists them: copying them all as they are at one moment, and copying rows into new tables.
import { type AccountId, copyBytes, copyOut, type Db, type Transaction } from './db.ts';

/**
 * A table. `of`: whether it is one of ours, or belongs to the job queue. `columns`: those that can be copied, in order. `size`: in
 * bytes, approximately.
 */
export type Table = { of: TableOwner; name: string; columns: string[]; size: number };
export type TableOwner = 'soundings' | 'jobs';

const jobSchema = 'graphile_worker';

/** Returns the tables of our schema and of the job queue, without those of extensions, in order. */
export async function selectTables(db: Db): Promise<Table[]> {
  return db<Table[]>`
    select case when n.nspname = ${jobSchema} then 'jobs' else 'soundings' end as "of",
           c.relname::text as "name",
           array(select attname::text from pg_attribute
                 where  attrelid = c.oid and attnum > 0 and not attisdropped and attgenerated = ''
                 order  by attnum) as "columns",
           pg_table_size(c.oid)::float8 as "size"
    from   pg_class c join pg_namespace n on n.oid = c.relnamespace
    where  c.relkind = 'r' and (n.nspname = current_schema() or n.nspname = ${jobSchema})
      and  not (n.nspname = ${jobSchema} and c.relname = 'migrations')
      and  not exists (select 1 from pg_depend d
                       where  d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
    order  by n.nspname = ${jobSchema}, c.relname collate "C"`;
}

/** Returns the accounts of sandboxes and their templates. In a schema without sandboxes, there are none. */
export async function selectSandboxAccounts(db: Db, tables: readonly Table[]): Promise<AccountId[]> {
  const accounts = tables.find(({ of, name }) => of === 'soundings' && name === 'accounts');
  if (!accounts?.columns.includes('kind')) return [];
  const rows = await db<{ id: AccountId }[]>`
    select account_id as id from accounts where kind <> 'company' order by account_id`;
  return rows.map(({ id }) => id);
}

/** The state of a sequence. Ids are never reused, so a new table continues where the old one was. */
export type Sequence = { of: TableOwner; name: string; last: string; isCalled: boolean };

/** Returns all sequences. They are not part of a snapshot, so read them after the tables. */
export async function selectSequences(tx: Transaction): Promise<Sequence[]> {
  const found = await tx<{ of: TableOwner; name: string }[]>`
    select case when n.nspname = ${jobSchema} then 'jobs' else 'soundings' end as "of", c.relname::text as "name"
    from   pg_class c join pg_namespace n on n.oid = c.relnamespace
    where  c.relkind = 'S' and (n.nspname = current_schema() or n.nspname = ${jobSchema})
    order  by n.nspname = ${jobSchema}, c.relname collate "C"`;
  const sequences: Sequence[] = [];
  for (const { of, name } of found) {
    // There are a few dozen of them, and one connection.
    const [row] = await tx.unsafe<{ last: string; isCalled: boolean }[]>(
      `select last_value::text as "last", is_called as "isCalled" from ${nameOf({ of, name })}`,
    );
    if (row) sequences.push({ of, name, ...row });
  }
  return sequences;
}

/** Sets sequences of our schema and of the job queue. Names that don't exist are left out. */
export async function setSequences(tx: Transaction, sequences: readonly Sequence[]): Promise<void> {
  await tx`
    select setval(c.oid::regclass, s.last::bigint, s.called::boolean)
    from   unnest(${sequences.map(({ of }) => of)}::text[], ${sequences.map(({ name }) => name)}::text[],
                  ${sequences.map(({ last }) => last)}::text[], ${sequences.map((one) => String(one.isCalled))}::text[])
             as s(owner, name, last, called)
    join   pg_class c on c.relname = s.name and c.relkind = 'S'
    join   pg_namespace n on n.oid = c.relnamespace
     and   n.nspname = case when s.owner = 'jobs' then ${jobSchema} else current_schema() end`;
}

/**
 * Begins to read all tables at one moment, in a transaction that has run no statement yet. No migration is applied until it ends
 * (migrate.ts locks the same table), and everything else goes on. Texts are written so that any PostgreSQL reads them.
 */
export async function beginSnapshot(tx: Transaction): Promise<void> {
  await tx`set transaction isolation level repeatable read, read only`;
  await tx`lock table migrations in share mode`; // a lock takes no snapshot, so nothing is missed while it waits
  await useFixedFormats(tx);
}

/** Makes the texts of values independent of the settings of the database and the role. */
export async function useFixedFormats(tx: Transaction): Promise<void> {
  await tx.unsafe(
    `set local datestyle = 'ISO, YMD'; set local intervalstyle = 'postgres'; set local extra_float_digits = 1;
     set local bytea_output = 'hex'; set local statement_timeout = 0; set local lock_timeout = 0;`,
  );
}

/**
 * Yields the rows of a table as COPY writes them. `expressions`: what to write instead of a column, in SQL. `isEmpty`: writes no row.
 * `without`: the accounts whose rows are left out. `only`: a condition for rows, in SQL.
 */
export async function* copyTable(
  tx: Transaction,
  { of, name, columns }: Table,
  {
    expressions = {},
    isEmpty = false,
    without = [],
    only,
  }: {
    expressions?: Record<string, string>;
    isEmpty?: boolean;
    without?: readonly AccountId[];
    only?: string;
  },
): AsyncGenerator<Buffer, void> {
  if (isEmpty) return;
  const list = columns.map((column) => expressions[column] ?? quoted(column)).join(', ');
  const table = nameOf({ of, name });
  const ofOthers =
    without.length > 0 && columns.includes('account_id')
      ? `account_id not in (${without.map(Math.trunc).join(', ')})`
      : undefined;
  const conditions = [ofOthers, only].filter((one) => one !== undefined);
  const isPlain = conditions.length === 0 && columns.every((column) => expressions[column] === undefined);
  const rows = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  // A plain table is copied without a query, which is faster.
  const source = isPlain ? `${table} (${list})` : `(select ${list} from ${table}${rows})`;
  yield* copyOut(tx.unsafe(`copy ${source} to stdout`));
}

/** Writes rows in COPY's format into a table that was created or truncated in this transaction. */
export async function copyIntoTable(
  tx: Transaction,
  { of, name, columns }: Table,
  rows: AsyncIterable<Buffer>,
): Promise<void> {
  const list = columns.map(quoted).join(', ');
  await copyBytes(tx.unsafe(`copy ${nameOf({ of, name })} (${list}) from stdin with (freeze)`), rows);
}

/** Empties tables, whatever their triggers say, and turns these off. */
export async function emptyTables(tx: Transaction, tables: readonly Table[]): Promise<void> {
  const names = tables.map(nameOf);
  if (names.length === 0) return;
  await tx.unsafe(
    `${names.map((name) => `alter table ${name} disable trigger user;`).join('\n')} truncate ${names.join(', ')}`,
  );
}

/** Turns the triggers of tables on again. */
export async function enableTriggers(tx: Transaction, tables: readonly Table[]): Promise<void> {
  const names = tables.map(nameOf);
  await tx.unsafe(names.map((name) => `alter table ${name} enable trigger user;`).join('\n'));
}

/**
 * Drops all foreign keys of our tables, and returns the statements that create them again. Checked once for all rows, they take a
 * fraction of the time of a check for each row.
 */
export async function dropForeignKeys(tx: Transaction): Promise<string[]> {
  const keys = await tx<{ drop: string; create: string }[]>`
    select format('alter table %s drop constraint %I', conrelid::regclass, conname) as "drop",
           format('alter table %s add constraint %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) as "create"
    from   pg_constraint
    where  contype = 'f' and connamespace = current_schema()::regnamespace and conparentid = 0
    order  by conrelid::regclass::text, conname`;
  if (keys.length > 0) await tx.unsafe(keys.map((key) => key.drop).join(';\n'));
  return keys.map(({ create }) => create);
}

/** Returns whether a service has this database open. */
export async function isServed(db: Db): Promise<boolean> {
  const rows = await db`
    select 1 from pg_stat_activity
    where  datname = current_database() and application_name like 'soundings jobs %' limit 1`;
  return rows.length > 0;
}

/** Collects statistics of all tables. Without them, the first statements after a restore would be planned for empty tables. */
export async function analyze(db: Db): Promise<void> {
  await db`analyze`;
}

/** The tables, views and functions of our schema by kind, without those of extensions. */
type SchemaObject = { kind: 'table' | 'view' | 'routine'; name: string; identity: string };

/** Returns the tables, views and functions of our schema, without those of extensions. */
export async function selectObjects(db: Db): Promise<SchemaObject[]> {
  return db<SchemaObject[]>`
    select kind, name, identity from (
      select case when relkind in ('r', 'p', 'f') then 'table' else 'view' end as kind, relname::text as name,
             c.oid::regclass::text as identity, 'pg_class'::regclass as class, c.oid
      from   pg_class c
      where  relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'f', 'v', 'm')
      union  all
      select 'routine', proname::text, oid::regprocedure::text, 'pg_proc'::regclass, oid
      from   pg_proc where pronamespace = current_schema()::regnamespace) as found
    where  not exists (select 1 from pg_depend d where d.classid = class and d.objid = oid and d.deptype = 'e')
    order  by kind, name`;
}

/** Drops tables and functions. Fails if anything else depends on them. */
export async function dropObjects(tx: Transaction, objects: readonly SchemaObject[]): Promise<void> {
  const of = (kind: SchemaObject['kind']) =>
    objects.filter((one) => one.kind === kind).map(({ identity }) => identity);
  const [tables, routines] = [of('table'), of('routine')];
  if (tables.length > 0) await tx.unsafe(`drop table ${tables.join(', ')}`);
  if (routines.length > 0) await tx.unsafe(`drop routine ${routines.join(', ')}`);
}

/** Returns how many rows a table has; undefined if it doesn't exist. */
export async function countRows(db: Db, of: TableOwner, name: string): Promise<number | undefined> {
  const table = (await selectTables(db)).find((one) => one.of === of && one.name === name);
  if (!table) return undefined;
  const [row] = await db.unsafe<{ count: number }[]>(
    `select count(*)::float8 as count from ${nameOf({ of, name })}`,
  );
  return row?.count;
}

/** Returns a quoted name of a table or column. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** Returns the quoted name of a table or sequence. Ours are in the first schema of the search path, where migrations create them. */
const nameOf = ({ of, name }: Pick<Table, 'of' | 'name'>) =>
  of === 'jobs' ? `${jobSchema}.${quoted(name)}` : quoted(name);
