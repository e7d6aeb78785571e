// SQL for the reports of files.
import type { Change } from '@soundings/contract/organization.ts';
import type { AccountId, Db } from '../db/db.ts';
import type { StoredFileReport } from './process.sql.ts';

export type FileReportRow = {
  report: StoredFileReport | null;
  runId: string | null;
  arrivedAt: Date;
  /** The place of a waiting file in the queue. Null if the file is or has been processed. */
  place: number | null;
};

/** Returns the report of the latest file with a name, or undefined if there is none. */
export async function selectReportByName(
  db: Db,
  accountId: AccountId,
  name: string,
): Promise<FileReportRow | undefined> {
  const [row] = await db<FileReportRow[]>`
    select report     as "report",
           run_id     as "runId",
           arrived_at as "arrivedAt",
           (select count(*)::integer
            from   files before
            where  f.processed_at is null and f.turn is null
              and  before.account_id = ${accountId} and before.arrival <= f.arrival
              and  before.processed_at is null and before.turn is null
            having count(*) > 0) as "place"
    from   files f
    where  account_id = ${accountId} and name = ${name} and arrival is not null
    order  by arrival desc
    limit  1`;
  return row;
}

/** Returns the changes of a run, in order. */
export async function selectChanges(db: Db, accountId: AccountId, runId: string): Promise<Change[]> {
  const rows = await db<(Omit<Change, 'fields'> & { fields: Change['fields'] | null })[]>`
    select entity      as "entity",
           external_id as "externalId",
           action      as "action",
           fields      as "fields"
    from   run_changes
    where  account_id = ${accountId} and run_id = ${runId}
    order  by position`;
  return rows.map(({ fields, ...change }) => ({ ...change, ...(fields && { fields }) }));
}
