// SQL of runs as the console shows them: reading only.
import type { RemovedGroup, Run, RunChange, RunRow } from '@soundings/contract/console/runs.ts';
import type { Settings } from '@soundings/contract/organization.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import type { AccountId, Db } from '../../db/db.ts';

export type RunFilter = {
  outcome: string | null;
  source: string | null;
  dryRun: boolean | null;
  /** Part of the name of the file or of the token. */
  search: string | null;
};
export type RowWindow = { offset: number; limit: number };

const filtered = (db: Db, accountId: AccountId, { outcome, source, dryRun, search }: RunFilter) => db`
  from   runs r
  left   join tokens t on t.account_id = r.account_id and t.token_id = r.token_id
  where  r.account_id = ${accountId}
    and  (${outcome}::text is null or r.outcome = ${outcome})
    and  (${source}::text is null or r.source = ${source})
    and  (${dryRun}::boolean is null or r.validate_only = ${dryRun})
    and  (${search}::text is null
          or position(folded(${search}) in folded(coalesce(r.file, '') || chr(10) || coalesce(t.name, ''))) > 0
          or r.run_id::text = lower(${search}))`;

/** The columns of a run `r`. */
const runColumns = (db: Db) => db`
  r.run_id::text                                           as "runId",
  r.at                                                     as "at",
  r.source                                                 as "source",
  coalesce(r.via, f.via)                                   as "via",
  t.name                                                   as "token",
  nullif(trim(u.first_name || ' ' || u.last_name), '')     as "sentBy",
  r.file                                                   as "file",
  r.validate_only                                          as "validateOnly",
  r.outcome                                                as "outcome",
  r.decided_at                                             as "decidedAt",
  r.summary                                                as "summary",
  coalesce(json_array_length(r.details), 0)                as "faults",
  coalesce(json_array_length(r.warnings), 0)               as "warnings"`;

const runSources = (db: Db) => db`
  left   join tokens t on t.account_id = r.account_id and t.token_id = r.token_id
  left   join users u on u.account_id = r.account_id and u.user_id = r.user_id
  left   join files f on f.account_id = r.account_id and f.run_id = r.run_id`;

/** Returns a window of the runs of an account, newest first, and how many match in total. */
export async function selectRunRows(
  db: Db,
  accountId: AccountId,
  filter: RunFilter,
  { offset, limit }: RowWindow,
): Promise<{ total: number; rows: RunRow[] }> {
  const [[count], rows] = await Promise.all([
    db<{ total: number }[]>`select count(r.account_id)::integer as total ${filtered(db, accountId, filter)}`,
    db<RunRow[]>`
      with page as (
        select r.account_id, r.run_id ${filtered(db, accountId, filter)}
        order  by r.run_id desc
        limit  ${limit} offset ${offset}
      )
      select ${runColumns(db)}
      from   page
      join   runs r using (account_id, run_id)
      ${runSources(db)}
      where  r.account_id = ${accountId}
      order  by r.run_id desc`,
  ]);
  return { total: count!.total, rows: [...rows] };
}

export type RunFound = Omit<
  Run,
  'limits' | 'details' | 'notices' | 'lost' | 'lostCount' | 'people' | 'managersRemoved' | 'changeCount'
> & {
  settings: Settings | null;
  message: string | null;
  details: Detail[] | null;
  notices: Detail[] | null;
};

/** Returns a run. While its file is kept, the faults include their values. */
export async function selectRun(db: Db, accountId: AccountId, runId: string): Promise<RunFound | undefined> {
  const [row] = await db<RunFound[]>`
    select ${runColumns(db)},
           r.settings                                            as "settings",
           r.message                                             as "message",
           nullif(trim(d.first_name || ' ' || d.last_name), '')  as "decidedBy",
           f.file_id                                             as "fileId",
           coalesce(f.report -> 'details', r.details)            as "details",
           coalesce(f.report -> 'warnings', r.warnings)          as "notices"
    from   runs r
    ${runSources(db)}
    left   join users d on d.account_id = r.account_id and d.user_id = r.decided_by
    where  r.account_id = ${accountId} and r.run_id = ${runId}`;
  return row;
}

/**
 * Returns the groups with results that a run removes, at most `limit`, and how many there are. Returns none for an applied run, because
 * their results are already deleted.
 */
export async function selectRemovedGroups(
  db: Db,
  accountId: AccountId,
  runId: string,
  limit: number,
): Promise<{ lostCount: number; lost: RemovedGroup[] }> {
  const [row] = await db<{ lostCount: number; lost: RemovedGroup[] }[]>`
    with lost as (
      select g.group_id, g.name, c.external_id
      from   run_changes c
      join   groups g on g.account_id = c.account_id and g.external_id = c.external_id
      where  c.account_id = ${accountId} and c.run_id = ${runId} and c.entity = 'group' and c.action = 'delete'
        and  exists (select 1 from results s where s.account_id = ${accountId} and s.group_id = g.group_id)
    ), listed as (
      select external_id, name,
             (select count(distinct s.week)::integer
              from   results s
              where  s.account_id = ${accountId} and s.group_id = lost.group_id) as weeks
      from   (select * from lost order by name limit ${limit}) lost
    )
    select (select count(*)::integer from lost) as "lostCount",
           coalesce((select json_agg(json_build_object('externalId', external_id, 'name', name, 'weeks', weeks)
                                     order by weeks desc, name)
                     from   listed), '[]')       as "lost"`;
  return row!;
}

/**
 * Returns how many active people the account has, and which responsible people a run removes: managers, administrators, and people
 * with more than a membership in a group. Names at most `limit` of them. Returns none for applied runs, which have already removed
 * them.
 */
export async function selectRemovedManagers(
  db: Db,
  accountId: AccountId,
  runId: string,
  limit: number,
): Promise<Pick<Run, 'people' | 'managersRemoved'>> {
  const [row] = await db<Pick<Run, 'people' | 'managersRemoved'>[]>`
    with removed as (
      select u.user_id, trim(u.first_name || ' ' || u.last_name) as name
      from   run_changes c
      join   users u on u.account_id = c.account_id and u.external_id = c.external_id
      where  c.account_id = ${accountId} and c.run_id = ${runId} and c.entity = 'user' and c.action = 'delete'
        and  (u.role in ('Manager', 'Administrator')
              or exists (select 1 from memberships m
                         where  m.account_id = ${accountId} and m.user_id = u.user_id and m.kind <> 'memberOf'))
    ), named as (
      select name from removed order by name, user_id limit ${limit}
    )
    select (select count(*)::integer from users where account_id = ${accountId} and active) as "people",
           json_build_object(
             'count', (select count(*)::integer from removed),
             'names', (select coalesce(json_agg(name order by name), '[]') from named)
           )                                                                                as "managersRemoved"`;
  return row!;
}

export type ChangeFilter = { action: string | null; entity: string | null; search: string | null };

/**
 * Joins the names of changes `c`: the current names of users, the names of users that a pending run would create, and the names that groups
 * had at the time of the run.
 */
const namesOf = (db: Db, accountId: AccountId, runId: string) => db`
    left   join users u on c.entity = 'user' and u.account_id = c.account_id and u.external_id = c.external_id
    left   join groups g on c.entity = 'group' and g.account_id = c.account_id and g.external_id = c.external_id
    left   join (select key, value as name
                 from   pending_runs h cross join json_each_text(h.names)
                 where  h.account_id = ${accountId} and h.run_id = ${runId}) n
             on  c.entity = 'user' and c.action = 'create' and n.key = c.external_id`;

const nameOf = (db: Db) => db`
  coalesce(c.name, g.name, nullif(trim(u.first_name || ' ' || u.last_name), ''), n.name)`;

/** The changes of a run, removals first. Their names are joined only if they are searched: a run can have a million changes. */
const changesOf = (
  db: Db,
  accountId: AccountId,
  runId: string,
  { action, entity, search }: ChangeFilter,
) => db`
  arrivals as (
    select distinct on (entity, external_id)
           coalesce(w ->> 'entity', 'user') as entity, w ->> 'externalId' as external_id, w ->> 'arrivesAs' as arrives_as
    from   runs r cross join json_array_elements(coalesce(r.warnings, '[]')) w
    where  r.account_id = ${accountId} and r.run_id = ${runId} and w ->> 'type' = 'new externalId'
  ), matching as (
    select c.position, c.entity, a.arrives_as,
           case c.action when 'delete' then 0 when 'update' then 1 else 2 end as rank
    from   run_changes c
    ${search === null ? db`` : namesOf(db, accountId, runId)}
    left   join arrivals a on a.entity = c.entity and c.action = 'delete' and a.external_id = c.external_id
    where  c.account_id = ${accountId} and c.run_id = ${runId}
      and  (${action}::text is null or c.action = ${action})
      and  (${entity}::text is null or c.entity = ${entity})
      and  ${
        search === null
          ? true
          : db`position(folded(${search}) in folded(coalesce(${nameOf(db)}, '') || chr(10) || c.external_id)) > 0`
      }
  )`;

/** Returns a window of the changes of a run, removals first, and how many match in total. */
export async function selectRunChanges(
  db: Db,
  accountId: AccountId,
  runId: string,
  filter: ChangeFilter,
  { offset, limit }: RowWindow,
): Promise<{ total: number; rows: RunChange[] }> {
  const [total, rows] = await Promise.all([
    countChanges(db, accountId, runId, filter),
    db<RunChange[]>`
      with ${changesOf(db, accountId, runId, filter)},
      page as (
        select * from matching order by rank, entity, arrives_as is null, position limit ${limit} offset ${offset}
      )
      select c.position    as "position",
             c.entity      as "entity",
             c.external_id as "externalId",
             c.action      as "action",
             c.fields      as "fields",
             ${nameOf(db)} as "name",
             case when c.action = 'delete' and g.group_id is not null then
               (select count(distinct s.week)::integer
                from   results s
                where  s.account_id = ${accountId} and s.group_id = g.group_id)
             end           as "weeks",
             p.arrives_as  as "arrivesAs"
      from   page p
      join   run_changes c on c.account_id = ${accountId} and c.run_id = ${runId} and c.position = p.position
      ${namesOf(db, accountId, runId)}
      order  by p.rank, p.entity, p.arrives_as is null, p.position`,
  ]);
  return { total, rows: rows.map(withoutNull) };
}

async function countChanges(
  db: Db,
  accountId: AccountId,
  runId: string,
  filter: ChangeFilter,
): Promise<number> {
  if (Object.values(filter).every((one) => one === null)) return countRunChanges(db, accountId, runId);
  const [row] = await db<{ total: number }[]>`
    with ${changesOf(db, accountId, runId, filter)}
    select count(*)::integer as total from matching`;
  return row!.total;
}

const withoutNull = ({ fields, ...row }: RunChange): RunChange => ({ ...row, ...(fields && { fields }) });

/** Returns how many changes a run has. Their positions have no gaps, and counting a million changes would take longer than a page. */
export async function countRunChanges(db: Db, accountId: AccountId, runId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select coalesce(max(position) - min(position) + 1, 0)::integer as count
    from   run_changes
    where  account_id = ${accountId} and run_id = ${runId}`;
  return row!.count;
}
