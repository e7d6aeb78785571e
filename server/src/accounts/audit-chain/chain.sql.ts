// SQL of the chain of audit entries. Writers: chain.ts, syslog.ts.
import type { AuditRecord } from '@soundings/contract/audit/audit.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import type { Content, Head } from './record.ts';

/** The columns of an entry as it is exported. Times keep their microseconds, so that no change of a time goes unnoticed. */
const content = (db: Db) => db`
  account_id        as "accountId",
  entry_id::float8  as "id",
  to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "at",
  origin            as "origin",
  user_id           as "userId",
  token_id          as "tokenId",
  address           as "address",
  action            as "action",
  subject           as "subject",
  details           as "details"`;

/** Returns whether an account has committed entries that are not chained yet. */
export async function hasUnchained(db: Db, accountId: AccountId): Promise<boolean> {
  const [row] = await db<{ has: boolean }[]>`
    select exists (select 1 from audit_entries where account_id = ${accountId} and position is null) as "has"`;
  return row?.has ?? false;
}

/** Returns the accounts that have committed entries that are not chained yet. */
export async function selectAccountsToChain(db: Db): Promise<AccountId[]> {
  const rows = await db<{ accountId: AccountId }[]>`
    select account_id as "accountId"
    from   accounts a
    where  exists (select 1 from audit_entries e where e.account_id = a.account_id and e.position is null)
    order  by account_id`;
  return rows.map(({ accountId }) => accountId);
}

/** Locks the chain of an account until the end of the transaction, and returns its last entry. */
export async function lockHead(tx: Transaction, accountId: AccountId): Promise<Head> {
  await tx`insert into audit_heads (account_id) values (${accountId}) on conflict do nothing`;
  const [head] = await tx<Head[]>`
    select position::float8 as "position", encode(hash, 'hex') as "hash"
    from   audit_heads where account_id = ${accountId}
    for    update`;
  return head as Head;
}

/** Returns the last chained entry of an account; undefined if the account has no chain yet. */
export async function selectHead(db: Db, accountId: AccountId): Promise<Head | undefined> {
  const [head] = await db<Head[]>`
    select position::float8 as "position", encode(hash, 'hex') as "hash"
    from   audit_heads where account_id = ${accountId}`;
  return head;
}

/** Returns the first entries of an account that are not chained yet. */
export async function selectUnchained(db: Db, accountId: AccountId, limit: number): Promise<Content[]> {
  return db<Content[]>`
    select ${content(db)}
    from   audit_entries
    where  account_id = ${accountId} and position is null
    order  by entry_id
    limit  ${limit}`;
}

/** Writes the position and hash of each entry. The last of them becomes the head of the chain. */
export async function updateChained(
  tx: Transaction,
  accountId: AccountId,
  entries: AuditRecord[],
): Promise<void> {
  await tx`
    update audit_entries e
    set    position = c.position, hash = decode(c.hash, 'hex')
    from   unnest(${entries.map(({ id }) => id)}::bigint[],
                  ${entries.map(({ position }) => position)}::bigint[],
                  ${entries.map(({ hash }) => hash)}::text[]) as c (entry_id, position, hash)
    where  e.account_id = ${accountId} and e.entry_id = c.entry_id`;
  const last = entries.at(-1) as AuditRecord;
  await tx`
    update audit_heads set position = ${last.position}, hash = decode(${last.hash}, 'hex')
    where  account_id = ${accountId}`;
}

/** Returns up to `limit` chained entries in order, from the position after `after` on, each with the hash of the entry before it. */
export async function selectChained(
  db: Db,
  accountId: AccountId,
  after: Head,
  limit: number,
): Promise<AuditRecord[]> {
  const rows = await db<(Content & Head)[]>`
    select ${content(db)},
           position::float8    as "position",
           encode(hash, 'hex') as "hash"
    from   audit_entries
    where  account_id = ${accountId} and position > ${after.position}
    order  by position
    limit  ${limit}`;
  return rows.map((row, i) => ({ ...row, previous: (rows[i - 1] ?? after).hash }));
}

/** Returns the hash of the entry at a position; undefined if there is none. */
export async function selectHashAt(
  db: Db,
  accountId: AccountId,
  position: number,
): Promise<string | undefined> {
  const [row] = await db<{ hash: string }[]>`
    select encode(hash, 'hex') as "hash" from audit_entries
    where  account_id = ${accountId} and position = ${position}`;
  return row?.hash;
}
