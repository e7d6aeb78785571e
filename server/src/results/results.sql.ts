// SQL of reading what was published. Every statement begins at the groups that there are, so a group that is removed is
// gone from every answer at once.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Pool } from '../db/db.ts';
import type { Window } from './window.ts';

/** The group asked for and, when wanted, all beneath it; without a group, all that there are. */
export type Scope = { groupId: number | undefined; beneath: boolean };

/** The groups of a scope, to begin a statement with. */
export const groupsIn = (db: Db, accountId: AccountId, { groupId, beneath }: Scope) => db`
  recursive scope as (
    select group_id
    from   groups
    where  account_id = ${accountId} and ${groupId === undefined ? db`parent_id is null` : db`group_id = ${groupId}`}
    union  all
    select g.group_id
    from   scope s
    join   groups g on g.account_id = ${accountId} and g.parent_id = s.group_id
    where  ${beneath}
  )`;

/** Rows of large answers come so many at a time. */
const batch = 2_000;

export type Reader = { timezone: string; publication: 'weekly' | 'live'; version: string };

/** What an answer depends on besides what was published. */
export async function selectReader(db: Db, accountId: AccountId): Promise<Reader> {
  const [row] = await db<Reader[]>`
    select timezone    as "timezone",
           publication as "publication",
           version     as "version"
    from   accounts
    where  account_id = ${accountId}`;
  return row as Reader;
}

/** The groups of the scope, by id; none when the account has no such group. */
export async function selectScope(db: Db, accountId: AccountId, scope: Scope): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with ${groupsIn(db, accountId, scope)}
    select group_id as id from scope order by group_id`;
  return rows.map(({ id }) => id);
}

export type KpiHead = { id: string; name: string; imageUrl: string | null };

/** KPIs for which a value was ever created. */
export async function selectValuedKpis(db: Db, accountId: AccountId): Promise<KpiHead[]> {
  return db<KpiHead[]>`
    select kpi_id as "id", name as "name", image_url as "imageUrl"
    from   kpis
    where  account_id = ${accountId} and has_values
    order  by kpi_id`;
}

export async function selectKpi(db: Db, accountId: AccountId, kpiId: string): Promise<KpiHead | undefined> {
  const [row] = await db<KpiHead[]>`
    select kpi_id as "id", name as "name", image_url as "imageUrl"
    from   kpis
    where  account_id = ${accountId} and kpi_id = ${kpiId}`;
  return row;
}

export type ValueRow = { groupId: number; week: Week; value: number | null };

/** KPI values of the groups, by group and week; without a window the last one of each group. */
export function selectKpiValues(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  kpiId: string,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> {
  const columns = pool`s.group_id as "groupId", v.week as "week", v.value as "value"`;
  if (!window) {
    return pool<ValueRow[]>`
      with ${groupsIn(pool, accountId, scope)}
      select ${columns}
      from   scope s
      cross  join lateral (
        select week, value
        from   kpi_values v
        where  v.account_id = ${accountId} and v.kpi_id = ${kpiId} and v.group_id = s.group_id
        order  by week desc
        limit  1
      ) v
      order  by s.group_id`.cursor(batch);
  }
  return pool<ValueRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select ${columns}
    from   scope s
    join   kpi_values v on v.account_id = ${accountId} and v.kpi_id = ${kpiId} and v.group_id = s.group_id
                       and v.week between ${window.first} and ${window.last}
    order  by s.group_id, v.week`.cursor(batch);
}

/** Response rates of the groups, by group and week; without a window the last one of each group. */
export function selectRates(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> {
  const columns = pool`s.group_id as "groupId", v.week as "week", v.value as "value"`;
  if (!window) {
    return pool<ValueRow[]>`
      with ${groupsIn(pool, accountId, scope)}
      select ${columns}
      from   scope s
      cross  join lateral (
        select week, value
        from   response_rates v
        where  v.account_id = ${accountId} and v.group_id = s.group_id
        order  by week desc
        limit  1
      ) v
      order  by s.group_id`.cursor(batch);
  }
  return pool<ValueRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select ${columns}
    from   scope s
    join   response_rates v on v.account_id = ${accountId} and v.group_id = s.group_id
                           and v.week between ${window.first} and ${window.last}
    order  by s.group_id, v.week`.cursor(batch);
}

export type ResultRow = {
  questionId: number;
  groupId: number;
  week: Week;
  value: number | null;
  answers: number | null;
  spread: string | null;
};

/** Results of the groups, by question, group and week. `questionIds`: of these only. */
export function selectResults(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { first, last }: Window,
  questionIds: number[] | undefined,
): AsyncIterable<ResultRow[]> {
  return pool<ResultRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select r.question_id as "questionId",
           r.group_id    as "groupId",
           r.week        as "week",
           r.value       as "value",
           r.answers     as "answers",
           r.spread      as "spread"
    from   scope s
    join   results r on r.account_id = ${accountId} and r.group_id = s.group_id
                    and r.week between ${first} and ${last}
    where  ${questionIds ? pool`r.question_id = any(${questionIds})` : true}
    order  by r.question_id, r.group_id, r.week`.cursor(batch);
}

export type CommentRow = { questionId: number; groupId: number; week: Week; text: string };

/** Comments shown in the groups, by question, group and week, in their order. */
export function selectComments(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { first, last }: Window,
  questionIds: number[] | undefined,
): AsyncIterable<CommentRow[]> {
  return pool<CommentRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select g.question_id as "questionId",
           g.group_id    as "groupId",
           g.week        as "week",
           c.text        as "text"
    from   scope s
    join   comment_groups g on g.account_id = ${accountId} and g.group_id = s.group_id
                           and g.week between ${first} and ${last}
    join   comments c on c.account_id = ${accountId} and c.week = g.week and c.question_id = g.question_id
                     and c.position = g.position
    where  ${questionIds ? pool`g.question_id = any(${questionIds})` : true}
    order  by g.question_id, g.group_id, g.week, g.position`.cursor(batch);
}

export type AskedRow = { groupId: number; week: Week; questionIds: number[] };

/** What was asked of the groups, by group and week, open weeks included. */
export function selectAsked(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { first, last }: Window,
): AsyncIterable<AskedRow[]> {
  return pool<AskedRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select a.group_id     as "groupId",
           a.week         as "week",
           a.question_ids as "questionIds"
    from   scope s
    join   asked a on a.account_id = ${accountId} and a.group_id = s.group_id
                  and a.week between ${first} and ${last}
    order  by a.group_id, a.week`.cursor(batch);
}
