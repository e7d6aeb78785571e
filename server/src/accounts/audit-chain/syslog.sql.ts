// SQL of what the syslog server has received. Writer: syslog.ts.
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** Returns the accounts, apart from sandboxes, that have chained entries which the syslog server has not received. */
export async function selectAccountsToSend(db: Db): Promise<AccountId[]> {
  const rows = await db<{ accountId: AccountId }[]>`
    select h.account_id as "accountId"
    from   audit_heads h
    join   accounts a on a.account_id = h.account_id and a.kind = 'company'
    left   join audit_syslog_cursors c on c.account_id = h.account_id
    where  h.position > coalesce(c.position, 0)
    order  by h.account_id`;
  return rows.map(({ accountId }) => accountId);
}

/**
 * Locks the cursor of an account until the end of the transaction, and returns the position of the last entry that was received.
 * Undefined if another process is sending the entries of this account.
 */
export async function lockCursor(tx: Transaction, accountId: AccountId): Promise<number | undefined> {
  await tx`insert into audit_syslog_cursors (account_id) values (${accountId}) on conflict do nothing`;
  const [row] = await tx<{ position: number }[]>`
    select position::float8 as "position" from audit_syslog_cursors where account_id = ${accountId}
    for    update skip locked`;
  return row?.position;
}

export async function updateCursor(tx: Transaction, accountId: AccountId, position: number): Promise<void> {
  await tx`update audit_syslog_cursors set position = ${position} where account_id = ${accountId}`;
}

/** Returns how many entries of all accounts the syslog server has not received, and how long the oldest has waited. */
export async function selectUnsent(db: Db): Promise<{ count: number; oldestSeconds: number }> {
  const [row] = await db<{ count: number; oldestSeconds: number }[]>`
    select coalesce(sum(count), 0)::float8 as "count",
           greatest(0, coalesce(extract(epoch from now() - min(oldest)), 0))::float8 as "oldestSeconds"
    from   (select h.position - coalesce(c.position, 0) as count,
                   (select e.at from audit_entries e
                    where  e.account_id = h.account_id and e.position = coalesce(c.position, 0) + 1) as oldest
            from   audit_heads h
            join   accounts a on a.account_id = h.account_id and a.kind = 'company'
            left   join audit_syslog_cursors c on c.account_id = h.account_id
            where  h.position > coalesce(c.position, 0)
            union all
            select count(*), min(at) from audit_entries join accounts a using (account_id)
            where  position is null and a.kind = 'company') unsent`;
  return row ?? { count: 0, oldestSeconds: 0 };
}
