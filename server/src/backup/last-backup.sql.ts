// When the installation was last backed up with Soundings, which the audit log records.
import type { Db } from '../db/db.ts';

/** Returns when the last backup was created; undefined if there has been none. Backups with other programs are not known. */
export async function selectLastBackup(db: Db): Promise<Date | undefined> {
  const [row] = await db<{ at: Date | null }[]>`
    select max(at) as "at" from audit_entries where action = 'backup created' -- account_id: of all accounts`;
  return row?.at ?? undefined;
}
