// SQL of reading published figures. Every statement starts from existing groups, so a deleted group immediately disappears from
// every response.
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type Db, inBatches, type Pool } from '../../db/db.ts';
import type { Window } from './window.ts';

/** A group, with its descendants if `withSubgroups`; all groups if `groupId` is undefined. */
export type Scope = { groupId: number | undefined; withSubgroups: boolean };

/** Returns the CTE `scope` with the groups of a scope, to start a statement with. */
export const groupsIn = (db: Db, accountId: AccountId, { groupId, withSubgroups }: Scope) => db`
  recursive scope as (
    select group_id
    from   groups
    where  account_id = ${accountId} and ${groupId === undefined ? db`parent_id is null` : db`group_id = ${groupId}`}
    union  all
    select g.group_id
    from   scope s
    join   groups g on g.account_id = ${accountId} and g.parent_id = s.group_id
    where  ${withSubgroups}
  )`;

/** The number of rows per batch of a large response. */
export const batch = 2_000;

/** Returns the ids of the groups in a scope, ascending. Empty if the group does not exist. */
export async function selectScope(db: Db, accountId: AccountId, scope: Scope): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with ${groupsIn(db, accountId, scope)}
    select group_id as id from scope order by group_id`;
  return rows.map(({ id }) => id);
}

/** Returns the id of the group with this externalId. */
export async function selectGroupIdOf(
  db: Db,
  accountId: AccountId,
  externalId: string,
): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and external_id = ${externalId}`;
  return row?.id;
}

export type KpiHead = { id: string; name: string; imageUrl: string | null };

/** With its translated names, which the data interface does not return. */
export type KpiWords = KpiHead & { translations: Record<string, string> };

/** Returns the KPIs that have ever had a value. */
export async function selectValuedKpis(db: Db, accountId: AccountId): Promise<KpiWords[]> {
  return db<KpiWords[]>`
    select kpi_id as "id", name as "name", translations as "translations", image_url as "imageUrl"
    from   kpis
    where  account_id = ${accountId} and has_values
    order  by kpi_id`;
}

export async function selectKpi(db: Db, accountId: AccountId, kpiId: string): Promise<KpiWords | undefined> {
  const [row] = await db<KpiWords[]>`
    select kpi_id as "id", name as "name", translations as "translations", image_url as "imageUrl"
    from   kpis
    where  account_id = ${accountId} and kpi_id = ${kpiId}`;
  return row;
}

export type ValueRow = { groupId: number; week: Week; value: number | null };

/** `handedOut`: see Result in figures.ts (P14); null if there is no row. */
export type Marked = { week: Week | null; value: number | null; handedOut: boolean | null };

/** Yields KPI values of the groups, ordered by group and week; without a window, the latest one of each group. */
export const selectKpiValues = (
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  kpiId: string,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> => {
  const values = pool`kpi_values v where v.account_id = ${accountId} and v.kpi_id = ${kpiId}`;
  // A week that asked only part of a group must not hide an earlier value of the whole group.
  return selectValues(pool, accountId, scope, { values, preferred: pool`v.asked_whole` }, window);
};

/** Returns for each KPI the last week in which one of the groups was asked it, preferably as a whole. */
export async function selectKpiLastWeeks(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  { first, last }: Window,
): Promise<Map<string, Week>> {
  const rows = await db<{ kpiId: string; week: Week }[]>`
    select v.kpi_id as "kpiId", coalesce(max(v.week) filter (where v.asked_whole), max(v.week)) as "week"
    from   kpis k
    join   kpi_values v on v.account_id = k.account_id and v.kpi_id = k.kpi_id
    join   groups g on g.account_id = v.account_id and g.group_id = v.group_id
    where  k.account_id = ${accountId} and k.has_values and g.group_id = any(${groupIds as number[]})
      and  v.week between ${first} and ${last}
    group  by v.kpi_id`;
  return new Map(rows.map(({ kpiId, week }) => [kpiId, week]));
}

/**
 * `values`: a JSON array with one entry per column: a number, null if it is withheld, or "none" if the KPI was not asked.
 * `handedOut`: a JSON array with the indexes of the columns marked as handed out (P14); null if there are none.
 */
export type KpiWeekRow = { groupId: number; values: string; handedOut: string | null };

/**
 * Returns the values of several KPIs, each of one week, with one row per group. With 2,000 groups and 12 KPIs, the driver would
 * take longer to parse one row per value than the server takes for the whole query.
 */
export async function selectKpiWeeks(
  db: Db,
  accountId: AccountId,
  scope: Scope,
  columns: readonly { kpiId: string; week: Week }[],
): Promise<KpiWeekRow[]> {
  return db<KpiWeekRow[]>`
    with ${groupsIn(db, accountId, scope)}
    select s.group_id as "groupId",
           '[' || string_agg(case when v.week is null then '"none"' else coalesce(v.value::text, 'null') end, ','
                             order by c.place) || ']' as "values",
           '[' || string_agg((c.place - 1)::text, ',' order by c.place) filter (where v.handed_out) || ']' as "handedOut"
    from   scope s
    cross  join unnest(${columns.map(({ kpiId }) => kpiId)}::text[], ${columns.map(({ week }) => week)}::date[])
                with ordinality as c(kpi_id, week, place)
    left   join lateral (
      select v.week, v.value, v.handed_out
      from   kpi_values v
      where  v.account_id = ${accountId} and v.kpi_id = c.kpi_id and v.group_id = s.group_id and v.week = c.week
      offset 0
    ) v on true
    group  by s.group_id`;
}

/** Returns the response rates of all groups in a week. */
export async function selectWeekRates(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ groupId: number; value: number | null; handedOut: boolean }[]> {
  return db<{ groupId: number; value: number | null; handedOut: boolean }[]>`
    select g.group_id as "groupId", r.value as "value", r.handed_out as "handedOut"
    from   groups g
    join   response_rates r on r.account_id = g.account_id and r.group_id = g.group_id and r.week = ${week}
    where  g.account_id = ${accountId}`;
}

/** Yields response rates of the groups, ordered by group and week; without a window, the latest one of each group. */
export const selectRates = (
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> =>
  selectValues(
    pool,
    accountId,
    scope,
    { values: pool`response_rates v where v.account_id = ${accountId}`, preferred: pool`true` },
    window,
  );

/**
 * Yields values of the groups. `values`: the table as v and a condition on its rows. `preferred`: which rows of a group take
 * precedence when only the latest is wanted. `offset 0` makes PostgreSQL look the rows up group by group; a generic plan would
 * read the rows of all groups and weeks. The latest week of a group is first searched among the last five weeks, which takes half
 * as long as among 156 weeks, because an index reads whole pages. `union all` reads its parts one after another until one has a
 * row.
 */
function selectValues(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { values, preferred }: { values: ReturnType<typeof groupsIn>; preferred: ReturnType<typeof groupsIn> },
  window: Window | undefined,
): AsyncIterable<ValueRow[]> {
  const found = pool`
    select v.week, v.value from ${values} and v.account_id = ${accountId} and v.group_id = s.group_id`;
  const recent = pool`(select max(w.week) - 28 from weeks w where w.account_id = ${accountId})`;
  return inBatches(
    pool<ValueRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select s.group_id as "groupId", v.week as "week", v.value as "value"
    from   scope s
    cross  join lateral (${
      window
        ? pool`${found} and v.week between ${window.first} and ${window.last} offset 0`
        : pool`
      (${found} and ${preferred} and v.week >= ${recent} order by v.week desc limit 1)
      union all
      (${found} and ${preferred} and v.week < ${recent} order by v.week desc limit 1)
      union all
      (${found} order by v.week desc limit 1)
      limit 1`
    }) v
    order  by s.group_id, v.week`,
    batch,
  );
}

export type ResultRow = {
  questionId: number;
  groupId: number;
  week: Week;
  value: number | null;
  answers: number | null;
  distribution: string | null;
};

/** Yields results of the groups, ordered by question, group and week. `questionIds`: only these questions. */
export function selectResults(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { first, last }: Window,
  questionIds: number[] | undefined,
): AsyncIterable<ResultRow[]> {
  return inBatches(
    pool<ResultRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select r.question_id as "questionId",
           r.group_id    as "groupId",
           r.week        as "week",
           r.value       as "value",
           r.answers     as "answers",
           r.distribution      as "distribution"
    from   scope s
    join   results r on r.account_id = ${accountId} and r.group_id = s.group_id
                    and r.week between ${first} and ${last}
    where  ${questionIds ? pool`r.question_id = any(${questionIds})` : true}
    order  by r.question_id, r.group_id, r.week`,
    batch,
  );
}

export type CommentRow = { questionId: number; groupId: number; week: Week; text: string };
/** `handedOut`: whether the group's comments on the question are marked as handed out (P14). */
export type MarkedComment = CommentRow & { handedOut: boolean };

/** Joins the comments shown in the groups of `scope`: g is the group's row, c the text. */
const commentsIn = (
  db: Db,
  accountId: AccountId,
  { first, last }: Window,
  questionIds: number[] | undefined,
) => db`
    scope s
    join   comment_groups g on g.account_id = ${accountId} and g.group_id = s.group_id
                           and g.week between ${first} and ${last}
    join   comments c on c.account_id = ${accountId} and c.week = g.week and c.question_id = g.question_id
                     and c.position = g.position
    where  ${questionIds ? db`g.question_id = any(${questionIds})` : true}`;

/** Yields the comments shown in the groups by question, group and week, in their published order. */
export function selectComments(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  window: Window,
  questionIds: number[] | undefined,
): AsyncIterable<CommentRow[]> {
  return inBatches(
    pool<CommentRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select g.question_id as "questionId",
           g.group_id    as "groupId",
           g.week        as "week",
           c.text        as "text"
    from   ${commentsIn(pool, accountId, window, questionIds)}
    order  by g.question_id, g.group_id, g.week, g.position`,
    batch,
  );
}

/** `search`: part of the text, in any case. `undefined` means no restriction. */
export type CommentFilter = {
  window: Window;
  questionIds: number[] | undefined;
  search: string | undefined;
};

/** Returns a page of the comments shown in a group, newest week first with questions mixed, and their total number. */
export async function selectCommentPage(
  db: Db,
  accountId: AccountId,
  groupId: number,
  { window, questionIds, search }: CommentFilter,
  { offset, limit }: { offset: number; limit: number },
): Promise<{ total: number; rows: MarkedComment[] }> {
  const scope = { groupId, withSubgroups: false };
  const found = db`
    from   ${commentsIn(db, accountId, window, questionIds)}
      and  ${search === undefined ? true : db`strpos(lower(c.text), lower(${search})) > 0`}`;
  const [counted, rows] = await Promise.all([
    db<{ total: number }[]>`
    with ${groupsIn(db, accountId, scope)}
    select count(*)::integer as "total" ${found}`,
    db<MarkedComment[]>`
    with ${groupsIn(db, accountId, scope)}
    select g.question_id as "questionId",
           g.group_id    as "groupId",
           g.week        as "week",
           c.text        as "text",
           g.handed_out  as "handedOut"
    ${found}
    order  by g.week desc, g.position, g.question_id
    offset ${offset} limit ${limit}`,
  ]);
  return { total: counted[0]!.total, rows };
}

/** `questionIds`: ascending, as the inside of a JSON array, because the driver takes much longer to parse an array. */
export type AskedRow = { groupId: number; week: Week; questionIds: string };

/** Yields what was asked of the groups, ordered by group and week, including open weeks. */
export function selectAsked(
  pool: Pool,
  accountId: AccountId,
  scope: Scope,
  { first, last }: Window,
): AsyncIterable<AskedRow[]> {
  return inBatches(
    pool<AskedRow[]>`
    with ${groupsIn(pool, accountId, scope)}
    select a.group_id     as "groupId",
           a.week         as "week",
           array_to_string(a.question_ids, ',') as "questionIds"
    from   scope s
    join   asked a on a.account_id = ${accountId} and a.group_id = s.group_id
                  and a.week between ${first} and ${last}
    order  by a.group_id, a.week`,
    batch,
  );
}
