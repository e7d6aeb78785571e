// SQL of the keys of open weeks and of the epoch key. Writers: answer-keys.ts, epoch-chain.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { EpochKey } from './epoch-keys.ts';

/**
 * The epoch key that wraps the keys of open weeks. `secret`: the key itself, if it is stored in the database. `exportedAt`: when a
 * key was last exported. `exportedUntil`: when the last chain with an exported key ended. `inDatabaseUntil`: when the secret was
 * last removed from the database. `tried`: the latest epoch that was attempted (decisions/0016).
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

/** Returns the epoch key, if it is stored in the database. */
export const secretIn = (chain: ChainRow | undefined): EpochKey | undefined =>
  chain?.secret ? { ...chain, secret: chain.secret } : undefined;

/** Returns when the last chain with an exported key ended. Null if it is the current one, or no key was exported. */
export function exportedUntil(chain: ChainRow | undefined): string | null {
  const { exportedAt, exportedUntil: until } = chain ?? {};
  return exportedAt && until && exportedAt <= until ? until.toISOString() : null;
}

type WrittenChain = Pick<ChainRow, 'chain' | 'epoch' | 'secret'>;

/**
 * Returns the installation's chain of epoch keys; undefined before the first start. Until the transaction ends, 'share' prevents
 * others from moving it forward and from closing weeks, and 'update' also from opening them.
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

/**
 * Makes a transaction wait up to a minute for locks from now on, whatever its connection allows. Called at the end of opening or closing a week,
 * before the row of the chain is locked: giving up there would discard all work on the week, and everyone else has the row only for a moment.
 */
export async function waitLongForLocks(tx: Transaction): Promise<void> {
  await tx`set local lock_timeout = '60s'`;
}

/** Returns the name of the chain and its epoch, which any version of the table has. */
export async function selectChainName(db: Db): Promise<{ chain: Buffer; epoch: number } | undefined> {
  const [row] = await db<{ chain: Buffer; epoch: number }[]>`
    select chain as "chain", epoch as "epoch" from answer_keys`;
  return row;
}

/** Inserts a chain. Returns false if there already is one. */
export async function insertChain(db: Db, { chain, epoch, secret }: WrittenChain): Promise<boolean> {
  const rows = await db`
    insert into answer_keys (chain, epoch, secret)
    values (${chain}, ${epoch}, ${secret})
    on conflict do nothing
    returning 1`;
  return rows.length > 0;
}

/** Moves the chain forward. Records when the secret leaves the database, and when a chain with an exported key ends. */
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

/** Records that a key of a chain is exported. Returns false if the chain is no longer the current one. */
export async function noteExport(db: Db, chain: Uint8Array): Promise<boolean> {
  const rows = await db`update answer_keys set exported_at = now() where chain = ${chain} returning 1`;
  return rows.length > 0;
}

/** Marks the epoch as spent: it must end, because a week's key that its key has wrapped is to be destroyed. */
export async function spendEpoch(tx: Transaction): Promise<void> {
  await tx`update answer_keys set is_spent = true`;
}

/**
 * Reserves and returns the number of an epoch that has not been attempted yet; undefined if the current epoch is not spent. Must be
 * committed before a key is wrapped for that epoch.
 */
export async function tryEpoch(db: Db): Promise<number | undefined> {
  const [row] = await db<{ tried: number }[]>`
    update answer_keys set tried = greatest(tried, epoch) + 1 where is_spent returning tried as "tried"`;
  return row?.tried;
}

/** The id of an advisory lock, the same in every process. */
const keyFileLock = 7302;

/** Locks key files until the transaction ends, because processes can share one on a volume. Waits for other processes. */
export async function lockKeyFiles(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${keyFileLock}::bigint) as answer_keys`;
}

export type WeekKeyRow = { accountId: AccountId; week: Week; wrapped: Buffer };

/** Returns the wrapped keys of the open weeks of all accounts. */
export async function selectWeekKeys(db: Db): Promise<WeekKeyRow[]> {
  return db<WeekKeyRow[]>`
    select account_id as "accountId", week as "week", wrapped as "wrapped"
    from   week_keys
    order  by account_id, week`;
}

/** Returns the wrapped key of an open week; undefined if the week has closed. */
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

/** Records that the epoch key that wraps a week's key is in the database as well. */
export async function noteInDatabase(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`update week_keys set in_database = true where account_id = ${accountId} and week = ${week}`;
}

/** Replaces the wrapped keys of open weeks. `inDatabase`: the epoch key is in the database as well; once recorded, this stays. */
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

/** Deletes the key of a week that closes. */
export async function deleteWeekKey(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`delete from week_keys where account_id = ${accountId} and week = ${week}`;
}

/** A process with a copy of the epoch key. `epoch`: the epoch of its copy when it was last seen. */
export type ProcessRow = { name: string; epoch: number; seenAt: Date };

/** Records which epoch key a process has. Processes that are no longer seen stay recorded, because their copies may still exist. */
export async function upsertProcess(db: Db, name: string, epoch: number): Promise<void> {
  await db`
    insert into key_processes (name, epoch, seen_at)
    values (${name}, ${epoch}, now())
    on conflict (name) do update set epoch = excluded.epoch, seen_at = excluded.seen_at`;
}

/** Deletes a process. Returns false if it does not exist. */
export async function deleteProcess(db: Db, name: string): Promise<boolean> {
  const rows = await db`delete from key_processes where name = ${name} returning 1`;
  return rows.length > 0;
}

export async function selectProcesses(db: Db): Promise<ProcessRow[]> {
  return db<ProcessRow[]>`
    select name as "name", epoch as "epoch", seen_at as "seenAt" from key_processes order by name`;
}
