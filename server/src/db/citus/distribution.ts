// Distributes the tables by account over the servers of Citus, an extension of PostgreSQL (docs/decisions/0060).
import { type AccountId, type Db, poolOf, type Transaction } from '../db.ts';

/** Each server has a full copy of this table: people choose these names, so they must be unique in the whole service. */
const everywhere = 'sftp_usernames';

/** Returns whether the tables are distributed. */
export async function isDistributed(db: Db): Promise<boolean> {
  // The catalogue of Citus exists only with the extension, and a statement that names a table that does not exist is refused.
  const [row] = await db<{ hasCitus: boolean }[]>`
    select to_regclass('pg_catalog.pg_dist_partition') is not null as "hasCitus"`;
  if (row?.hasCitus !== true) return false;
  const rows = await db`
    select from pg_catalog.pg_dist_partition p join pg_class c on c.oid = p.logicalrelid
    where  c.relname = 'accounts' and c.relnamespace = current_schema()::regnamespace`;
  return rows.length > 0;
}

/** `citus`: the version of the extension; null without it. `undistributed`: tables that should be distributed, if others are. */
export type DistributionFacts = { citus: string | null; isDistributed: boolean; undistributed: string[] };

export async function distributionFacts(db: Db): Promise<DistributionFacts> {
  const [row] = await db<{ citus: string | null }[]>`
    select (select extversion from pg_extension where extname = 'citus') as "citus"`;
  const are = await isDistributed(db);
  return {
    citus: row!.citus,
    isDistributed: are,
    undistributed: are ? await selectUndistributed(db) : [],
  };
}

const found = new WeakMap<Db, Promise<boolean>>();

/**
 * Returns whether the tables are distributed, for the few statements that differ. Asks once in each pool. Citus refuses to lock rows of
 * several accounts, so such a statement must be right without: an update repeats the conditions for which its rows were found, as it may
 * have waited for another process that has changed them.
 */
export async function isOnCitus(db: Db): Promise<boolean> {
  const pool = poolOf(db);
  const asked = found.get(pool) ?? isDistributed(db);
  found.set(pool, asked);
  asked.catch(() => found.delete(pool));
  return asked;
}

/**
 * Takes at most `count` of what waits in several accounts. With Citus, a statement can lock rows of only one account, so `accounts` says which
 * have something waiting, and `take` is called for one after the other. Otherwise it is called once, with null for all accounts.
 */
export async function takenInTurn<T>(
  db: Db,
  count: number,
  accounts: () => Promise<AccountId[]>,
  take: (accountId: AccountId | null, count: number) => Promise<T[]>,
): Promise<T[]> {
  if (!(await isOnCitus(db))) return take(null, count);
  const taken: T[] = [];
  for (const accountId of await accounts()) {
    if (taken.length >= count) break;
    taken.push(...(await take(accountId, count - taken.length)));
  }
  return taken;
}

/** Condition after others: the table with this alias is read in one account, or in all. */
export const ofAccount = (db: Db, alias: string, accountId: AccountId | null) =>
  accountId === null ? db`` : db`and ${db(alias)}.account_id = ${accountId}`;

/** Settings of a transaction that distributes tables or changes distributed ones. */
export async function useDistributionSettings(tx: Transaction): Promise<void> {
  // Our triggers read and write rows of the same account, which are in the same shard.
  await tx.unsafe(
    `set local citus.enable_unsafe_triggers = on; set local citus.multi_shard_modify_mode = 'sequential';
     set local client_min_messages = warning;`,
  );
}

/** Distributes all tables with an account that are not distributed yet. Returns their names, in order. */
export async function distributeTables(tx: Transaction): Promise<string[]> {
  await useDistributionSettings(tx);
  const tables = await selectUndistributed(tx);
  if (tables.length === 0) return [];
  // Foreign keys can't lead from one kind of table to another, so they are created again when all tables are distributed.
  const keys = await selectForeignKeys(tx, tables);
  for (const { table, name } of keys) await tx.unsafe(`alter table ${table} drop constraint ${name}`);
  for (const { drop, create } of await selectUniques(tx, tables)) {
    await tx.unsafe(drop);
    await tx.unsafe(create);
  }
  for (const name of tables.toSorted((a, b) => Number(b === 'accounts') - Number(a === 'accounts'))) {
    if (name === everywhere) await tx`select create_reference_table(${name})`;
    else
      await tx`
        select create_distributed_table(${name}, 'account_id',
                                        colocate_with => ${name === 'accounts' ? 'none' : 'accounts'})`;
  }
  for (const { table, name, definition } of keys) {
    // Citus refuses to change an account in this way. No statement of this version needs it.
    const accepted = definition.replace(' ON UPDATE CASCADE', '');
    if (table !== everywhere) await tx.unsafe(`alter table ${table} add constraint ${name} ${accepted}`);
  }
  return tables;
}

async function selectUndistributed(db: Db): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select c.relname::text as "name"
    from   pg_class c
    where  c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
      and  exists (select from pg_attribute a
                   where  a.attrelid = c.oid and a.attname = 'account_id' and not a.attisdropped)
      and  not exists (select from pg_catalog.pg_dist_partition p where p.logicalrelid = c.oid)
    order  by c.relname collate "C"`;
  return rows.map(({ name }) => name);
}

type ForeignKey = { table: string; name: string; definition: string };

async function selectForeignKeys(tx: Transaction, tables: readonly string[]): Promise<ForeignKey[]> {
  return tx<ForeignKey[]>`
    select conrelid::regclass::text as "table", quote_ident(conname) as "name", pg_get_constraintdef(oid) as "definition"
    from   pg_constraint
    where  contype = 'f' and connamespace = current_schema()::regnamespace
      and  (conrelid::regclass::text = any(${tables as string[]}) or confrelid::regclass::text = any(${tables as string[]}))
    order  by 1, 2`;
}

/** A unique index has to contain the account, because each server knows only its own rows. */
async function selectUniques(
  tx: Transaction,
  tables: readonly string[],
): Promise<{ drop: string; create: string }[]> {
  return tx<{ drop: string; create: string }[]>`
    select format('alter table %I drop constraint %I', c.relname, k.conname) as "drop",
           format('alter table %I add constraint %I %s (%s, account_id)', c.relname, k.conname,
                  case k.contype when 'p' then 'primary key' else 'unique' end,
                  (select string_agg(quote_ident(a.attname), ', ' order by array_position(k.conkey, a.attnum))
                   from   pg_attribute a where a.attrelid = c.oid and a.attnum = any(k.conkey))) as "create"
    from   pg_constraint k join pg_class c on c.oid = k.conrelid
    where  c.relname = any(${tables as string[]}) and c.relname <> ${everywhere}
      and  k.contype in ('p', 'u') and k.connamespace = current_schema()::regnamespace
      and  not (select a.attnum from pg_attribute a where a.attrelid = c.oid and a.attname = 'account_id') = any(k.conkey)
    order  by 1`;
}
