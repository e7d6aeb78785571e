// SQL of the keys of open weeks. Writers: answer-keys.ts; closing deletes a week's key (results/publish.sql.ts).
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/**
 * Which epoch key wraps the keys of open weeks. `secret`: the key itself, where it is kept in the database. `exportedAt`: when a
 * key was exported last; `exportedUntil`: when the last chain ended of which a key had been exported; `inDatabaseUntil`: when the
 * secret left the database last; `tried`: the latest epoch that was tried (decisions/0016).
 */
export type ChainRow = {
  chain: Buffer;
  epoch: number;
  isSpent: boolean;
  secret: Buffer | null;
  exportedAt: Date | null;
  exportedUntil: Date | null;
  inDatabaseUntil: Date | null;
  tried: number;
};

type WrittenChain = Pick<ChainRow, 'chain' | 'epoch' | 'secret'>;

/**
 * The installation's chain of epoch keys. 'share': no one moves it forward until the transaction ends; 'update': nor opens or
 * closes a week. Undefined before the first start.
 */
export async function selectChain(db: Db, lock?: 'share' | 'update'): Promise<ChainRow | undefined> {
  const locking = { share: db`for share`, update: db`for update` };
  const [row] = await db<ChainRow[]>`
    select chain             as "chain",
           epoch             as "epoch",
           is_spent          as "isSpent",
           secret            as "secret",
           exported_at       as "exportedAt",
           exported_until    as "exportedUntil",
           in_database_until as "inDatabaseUntil",
           tried             as "tried"
    from   answer_keys
    ${lock ? locking[lock] : db``}`;
  return row;
}

/** False when there is a chain already. */
export async function insertChain(db: Db, { chain, epoch, secret }: WrittenChain): Promise<boolean> {
  const rows = await db`
    insert into answer_keys (chain, epoch, secret)
    values (${chain}, ${epoch}, ${secret})
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

/** Also notes when the secret leaves the database, and when a chain ends of which a key was exported. */
export async function updateChain(tx: Transaction, { chain, epoch, secret }: WrittenChain): Promise<void> {
  await tx`
    update answer_keys
    set    exported_until = case when chain <> ${chain}::bytea and exported_at > coalesce(exported_until, '-infinity') then clock_timestamp()
                                 else exported_until end,
           in_database_until = case when secret is not null and ${secret}::bytea is null then now()
                                    else in_database_until end,
           chain = ${chain},
           epoch = ${epoch},
           secret = ${secret},
           is_spent = false`;
}

/** Notes that a key of a chain is exported. False when the chain is no longer the present one. */
export async function noteExport(db: Db, chain: Uint8Array): Promise<boolean> {
  const rows = await db`update answer_keys set exported_at = now() where chain = ${chain} returning 1`;
  return rows.length > 0;
}

/** Notes that a week's key was wrapped by the present epoch key and is to be forgotten: the epoch is to end. */
export async function spendEpoch(tx: Transaction): Promise<void> {
  await tx`update answer_keys set is_spent = true`;
}

/**
 * Returns the number of an epoch that no one has tried yet, which is noted; undefined when the present epoch is not spent. It must
 * have committed before a key is wrapped for that epoch.
 */
export async function tryEpoch(db: Db): Promise<number | undefined> {
  const [row] = await db<{ tried: number }[]>`
    update answer_keys set tried = greatest(tried, epoch) + 1 where is_spent returning tried as "tried"`;
  return row?.tried;
}

/** Any number, the same in every process. */
const keyFileLock = 7302;

/** Waits until no other process writes a key file, which may be the same one on a shared volume; until the transaction ends. */
export async function lockKeyFiles(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${keyFileLock}::bigint) as answer_keys`;
}

export type WeekKeyRow = { accountId: AccountId; week: Week; wrapped: Buffer };

/** The wrapped keys of the open weeks of all accounts. */
export async function selectWeekKeys(db: Db): Promise<WeekKeyRow[]> {
  return db<WeekKeyRow[]>`
    select account_id as "accountId", week as "week", wrapped as "wrapped"
    from   week_keys
    order  by account_id, week`;
}

/** The wrapped key of an open week; undefined when the week has closed. */
export async function selectWeekKey(db: Db, accountId: AccountId, week: Week): Promise<Buffer | undefined> {
  const [row] = await db<{ wrapped: Buffer }[]>`
    select wrapped as "wrapped" from week_keys where account_id = ${accountId} and week = ${week}`;
  return row?.wrapped;
}

export async function insertWeekKey(
  tx: Transaction,
  { accountId, week, wrapped }: WeekKeyRow,
): Promise<void> {
  await tx`insert into week_keys (account_id, week, wrapped) values (${accountId}, ${week}, ${wrapped})`;
}

/** Notes that what unwraps a week's key is in the database as well. */
export async function noteInDatabase(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`update week_keys set in_database = true where account_id = ${accountId} and week = ${week}`;
}

/** The keys of open weeks, wrapped again. `inDatabase`: what unwraps them is there as well, which stays noted. */
export async function updateWeekKeys(
  tx: Transaction,
  rows: WeekKeyRow[],
  { inDatabase }: { inDatabase: boolean },
): Promise<void> {
  if (rows.length === 0) return;
  const texts = rows.map((row) => ({ ...row, wrapped: row.wrapped.toString('hex') }));
  await tx`
    update week_keys k
    set    wrapped = decode(n.wrapped, 'hex'), in_database = k.in_database or ${inDatabase}
    from   jsonb_to_recordset(${tx.json(texts)}) as n("accountId" integer, week date, wrapped text)
    where  k.account_id = n."accountId" and k.week = n.week`;
}

/** Forgets the key of a week that closes. */
export async function deleteWeekKey(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`delete from week_keys where account_id = ${accountId} and week = ${week}`;
}

/** A process that has a copy of the epoch key, and which epoch it had when it was last seen. */
export type ProcessRow = { name: string; epoch: number; seenAt: Date };

/** Notes which epoch key a process has. One that is not seen any more is kept: so may be its copy. */
export async function upsertProcess(db: Db, name: string, epoch: number): Promise<void> {
  await db`
    insert into key_processes (name, epoch, seen_at)
    values (${name}, ${epoch}, now())
    on conflict (name) do update set epoch = excluded.epoch, seen_at = excluded.seen_at`;
}

/** False when there is no such process. */
export async function deleteProcess(db: Db, name: string): Promise<boolean> {
  const rows = await db`delete from key_processes where name = ${name} returning 1`;
  return rows.length > 0;
}

export async function selectProcesses(db: Db): Promise<ProcessRow[]> {
  return db<ProcessRow[]>`
    select name as "name", epoch as "epoch", seen_at as "seenAt" from key_processes order by name`;
}
