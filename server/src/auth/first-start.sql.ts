// SQL for the link that creates the first account. Writers: first-start.ts.
import type { Db } from '../db/db.ts';

/** Replaces the link if no account exists. Returns whether it was replaced. */
export async function replaceFirstStartLink(db: Db, hash: Buffer): Promise<boolean> {
  await db`delete from first_start_links`;
  const rows = await db`
    insert into first_start_links (hash)
    select ${hash} where not exists (select account_id from accounts)
    returning 1`;
  return rows.length > 0;
}

/** Returns whether this is the current link and no account exists. */
export async function selectFirstStartLink(db: Db, hash: Buffer): Promise<boolean> {
  const rows = await db`
    select 1 from first_start_links where hash = ${hash} and not exists (select account_id from accounts)`;
  return rows.length > 0;
}

/** Uses a link up. Returns false if it is not valid, or was already used. */
export async function deleteFirstStartLink(db: Db, hash: Buffer): Promise<boolean> {
  const rows = await db`
    delete from first_start_links where hash = ${hash} and not exists (select account_id from accounts) returning 1`;
  return rows.length > 0;
}
