// SQL for the audit log. Writers: audit.ts.
import type { AccountId, Db } from '../db/db.ts';

export type NewAuditEntry = {
  origin: string;
  userId: number | null;
  tokenId: number | null;
  address: string | null;
  action: string;
  subject: string | null;
  details: Record<string, unknown>;
};

export async function insertAuditEntry(db: Db, accountId: AccountId, entry: NewAuditEntry): Promise<void> {
  await db`
    insert into audit_entries (account_id, origin, user_id, token_id, address, action, subject, details)
    values (${accountId}, ${entry.origin}, ${entry.userId}, ${entry.tokenId}, ${entry.address}, ${entry.action},
            ${entry.subject}, ${db.json(entry.details as never)})`;
}

/** Returns the ids of all accounts of the installation, apart from sandboxes. */
export async function selectAccountIds(db: Db): Promise<AccountId[]> {
  const rows = await db<
    { id: AccountId }[]
  >`select account_id as id from accounts where kind = 'company' order by account_id`;
  return rows.map(({ id }) => id);
}
