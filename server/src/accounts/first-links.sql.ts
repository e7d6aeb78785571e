// SQL of the link by which the first account is made. Writers: first-links.ts.
import type { Db } from '../db/db.ts';

/** Puts a link in the place of the one before, as long as there is no account; whether it did. */
export async function replaceFirstLink(db: Db, hash: Buffer): Promise<boolean> {
  await db`delete from first_links`;
  const rows = await db`
    insert into first_links (hash)
    select ${hash} where not exists (select account_id from accounts)
    returning 1`;
  return rows.length > 0;
}

/** Whether a link is the one that counts, and there is no account. */
export async function selectFirstLink(db: Db, hash: Buffer): Promise<boolean> {
  const rows = await db`
    select 1 from first_links where hash = ${hash} and not exists (select account_id from accounts)`;
  return rows.length > 0;
}

/** Uses a link up; false when it does not count, or somebody else has. */
export async function deleteFirstLink(db: Db, hash: Buffer): Promise<boolean> {
  const rows = await db`
    delete from first_links where hash = ${hash} and not exists (select account_id from accounts) returning 1`;
  return rows.length > 0;
}
