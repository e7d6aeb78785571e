// SQL of files and column mappings as the console shows them: reading only.
import type { FileDetails, FileRow, Mapping } from '@soundings/contract/console/runs.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { RowWindow } from './runs.sql.ts';

const fileColumns = (db: Db, accountId: AccountId) => db`
  f.file_id                                             as "fileId",
  f.name                                                as "name",
  f.size                                                as "size",
  f.via                                                 as "via",
  t.name                                                as "token",
  nullif(trim(u.first_name || ' ' || u.last_name), '')  as "sentBy",
  f.arrived_at                                          as "at",
  case when f.processed_at is not null then r.outcome
       when f.turn is null then 'waiting' else 'processing' end as "state",
  (select count(*)::integer
   from   files before
   where  f.processed_at is null and f.turn is null
     and  before.account_id = ${accountId} and before.arrival <= f.arrival
     and  before.processed_at is null and before.turn is null
   having count(*) > 0)                                 as "place",
  not f.is_refused                                      as "isKept",
  f.run_id::text                                        as "runId",
  r.summary                                             as "summary",
  c.faults                                              as "faults",
  c.warnings                                            as "warnings",
  c.has_unknown_columns                                 as "hasUnknownColumns"`;

/** Joins the senders and the reports of files `f`. A report may list 1,000 faults, so it is parsed only once. */
const sendersAndReports = (db: Db) => db`
  left   join tokens t on t.account_id = f.account_id and t.token_id = f.token_id
  left   join users u on u.account_id = f.account_id and u.user_id = f.user_id
  left   join lateral json_to_record(f.report)
           as r(outcome text, message text, summary json, details json, warnings json) on true
  cross  join lateral (
    select count(*) filter (where not is_warning)::integer as faults,
           count(*) filter (where is_warning)::integer     as warnings,
           coalesce(bool_or(type in ('unknown column', 'unknown layout', 'missing column', 'repeated column',
                                         'unknown value', 'local number')), false) as has_unknown_columns
    from   (select false as is_warning, type from json_to_recordset(r.details) as d(type text)
            union all
            select true, type from json_to_recordset(r.warnings) as w(type text)) found) c`;

/** Returns a window of the files of an account, newest first, how many files match, and how many are waiting or being processed. */
export async function selectFileRows(
  db: Db,
  accountId: AccountId,
  search: string | null,
  { offset, limit }: RowWindow,
): Promise<{ total: number; underWay: number; rows: FileRow[] }> {
  const [[counts], rows] = await Promise.all([
    db<{ total: number; underWay: number }[]>`
      select count(*) filter (where ${search}::text is null or position(folded(${search}) in folded(name)) > 0)::integer
                                                                       as "total",
             count(*) filter (where processed_at is null)::integer     as "underWay"
      from   files
      where  account_id = ${accountId} and arrival is not null`,
    db<FileRow[]>`
      with page as (
        select account_id, file_id
        from   files
        where  account_id = ${accountId} and arrival is not null
          and  (${search}::text is null or position(folded(${search}) in folded(name)) > 0)
        order  by arrival desc
        limit  ${limit} offset ${offset}
      )
      select ${fileColumns(db, accountId)}
      from   page
      join   files f using (account_id, file_id)
      ${sendersAndReports(db)}
      where  f.account_id = ${accountId}
      order  by f.arrival desc`,
  ]);
  return { ...counts!, rows: [...rows] };
}

export type FileFound = Omit<FileDetails, 'details' | 'notices' | 'message'> & {
  message: string | null;
  details: Detail[] | null;
  notices: Detail[] | null;
};

export async function selectFilePage(
  db: Db,
  accountId: AccountId,
  fileId: number,
): Promise<FileFound | undefined> {
  const [row] = await db<FileFound[]>`
    select ${fileColumns(db, accountId)},
           r.message   as "message",
           r.details   as "details",
           r.warnings  as "notices"
    from   files f
    ${sendersAndReports(db)}
    where  f.account_id = ${accountId} and f.file_id = ${fileId} and f.arrival is not null`;
  return row;
}

/** Returns the confirmed column mappings, newest first. */
export async function selectMappingList(db: Db, accountId: AccountId): Promise<Mapping[]> {
  return db<Mapping[]>`
    select m.mapping_id                                          as "mappingId",
           m.kind                                                as "kind",
           m.columns                                             as "columns",
           nullif(trim(u.first_name || ' ' || u.last_name), '')  as "confirmedBy",
           m.confirmed_at                                        as "confirmedAt"
    from   column_mappings m
    left   join users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId}
    order  by m.confirmed_at desc`;
}
