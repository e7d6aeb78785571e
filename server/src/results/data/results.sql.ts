// SQL of reading published figures. Every statement starts from existing groups or segments, so a deleted one immediately disappears
// from every response.
import type { Kind } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { type AccountId, type Db, inBatches } from '../../db/db.ts';
import type { ResultFields } from './shape.ts';
import type { Window } from './window.ts';

/**
 * A group, with its descendants if `withSubgroups`, or a segment, which has none. `kind`: which of the two; undefined: either. All
 * groups, or all segments, if `groupId` is undefined.
 */
export type GroupScope = { groupId: number | undefined; withSubgroups: boolean; kind?: Kind | undefined };

/** Returns the group or segment with an id, as a table with the column group_id. IDs of segments are never those of groups. */
export const groupWithId = (db: Db, accountId: AccountId, groupId: number, kind?: Kind) => db`
    (select group_id from groups
     where  account_id = ${accountId} and group_id = ${groupId} and ${kind !== 'segment'}
     union  all
     select segment_id from segments
     where  account_id = ${accountId} and segment_id = ${groupId} and ${kind !== 'group'})`;

function startOf(db: Db, accountId: AccountId, { groupId, kind }: GroupScope) {
  if (groupId !== undefined) return groupWithId(db, accountId, groupId, kind);
  return kind === 'segment'
    ? db`select segment_id from segments where account_id = ${accountId}`
    : db`select group_id from groups where account_id = ${accountId} and parent_id is null`;
}

/** Returns the CTE `scope` with the groups or segments of a scope, to start a statement with. */
export const groupsInScope = (db: Db, accountId: AccountId, scope: GroupScope) => db`
  recursive scope (group_id) as (
    ${startOf(db, accountId, scope)}
    union  all
    select g.group_id
    from   scope s
    join   groups g on g.account_id = ${accountId} and g.parent_id = s.group_id
    where  ${scope.withSubgroups}
  )`;

/** The number of rows per batch of a large response. */
export const batch = 2_000;

/** Returns the ids of the groups or segments in a scope, ascending. Empty if the group or segment does not exist. */
export async function selectScope(db: Db, accountId: AccountId, scope: GroupScope): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with ${groupsInScope(db, accountId, scope)}
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
export type KpiTexts = KpiHead & { translations: Record<string, string> };

/** Returns the KPIs that have ever had a value. */
export async function selectValuedKpis(db: Db, accountId: AccountId): Promise<KpiTexts[]> {
  return db<KpiTexts[]>`
    select kpi_id as "id", name as "name", translations as "translations", image_url as "imageUrl"
    from   kpis
    where  account_id = ${accountId} and has_values
    order  by kpi_id`;
}

export async function selectKpi(db: Db, accountId: AccountId, kpiId: string): Promise<KpiTexts | undefined> {
  const [row] = await db<KpiTexts[]>`
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
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  kpiId: string,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> => {
  const values = db`kpi_values v where v.account_id = ${accountId} and v.kpi_id = ${kpiId}`;
  // A week that asked only part of a group must not hide an earlier value of the whole group.
  return selectValues(db, accountId, scope, { values, preferred: db`v.asked_whole` }, window);
};

export type WeekRateRow = {
  groupId: number;
  week: Week;
  value: number | null;
  asked: number | null;
  answered: number | null;
  handedOut: boolean;
};

/** Returns the response rates of all groups, or of all segments, in a week, and how many people they are based on. */
export async function selectWeekRates(
  db: Db,
  accountId: AccountId,
  week: Week,
  { kind = 'group', groupIds }: { kind?: Kind; groupIds?: readonly number[] | undefined } = {},
): Promise<WeekRateRow[]> {
  const existing =
    kind === 'group' ? db`groups` : db`(select account_id, segment_id as group_id from segments)`;
  return db<WeekRateRow[]>`
    select g.group_id   as "groupId",
           r.week       as "week",
           r.value      as "value",
           r.asked      as "asked",
           r.answered   as "answered",
           r.handed_out as "handedOut"
    from   ${existing} g
    join   response_rates r on r.account_id = g.account_id and r.group_id = g.group_id and r.week = ${week}
    where  g.account_id = ${accountId}
      and  ${groupIds ? db`g.group_id = any(${groupIds as number[]}::integer[])` : true}`;
}

/** Yields response rates of the groups, ordered by group and week; without a window, the latest one of each group. */
export const selectRates = (
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  window: Window | undefined,
): AsyncIterable<ValueRow[]> =>
  selectValues(
    db,
    accountId,
    scope,
    { values: db`response_rates v where v.account_id = ${accountId}`, preferred: db`true` },
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
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  {
    values,
    preferred,
  }: { values: ReturnType<typeof groupsInScope>; preferred: ReturnType<typeof groupsInScope> },
  window: Window | undefined,
): AsyncIterable<ValueRow[]> {
  const found = db`
    select v.week, v.value from ${values} and v.account_id = ${accountId} and v.group_id = s.group_id`;
  const recent = db`(select max(w.week) - 28 from weeks w where w.account_id = ${accountId})`;
  return inBatches(
    db<ValueRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select s.group_id as "groupId", v.week as "week", v.value as "value"
    from   scope s
    cross  join lateral (${
      window
        ? db`${found} and v.week between ${window.first} and ${window.last} offset 0`
        : db`
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

export type ResultRow = ResultFields & { questionId: number; groupId: number; week: Week };

/** Yields results of the groups, ordered by question, group and week. `questionIds`: only these questions. */
export function selectResults(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  { first, last }: Window,
  questionIds: number[] | undefined,
): AsyncIterable<ResultRow[]> {
  return inBatches(
    db<ResultRow[]>`
    with ${groupsInScope(db, accountId, scope)}
    select r.question_id as "questionId",
           r.group_id    as "groupId",
           r.week        as "week",
           r.value       as "value",
           r.answers     as "answers",
           r.distribution      as "distribution",
           r.not_applicable    as "notApplicable",
           r.not_applicable_of as "notApplicableOf"
    from   scope s
    join   results r on r.account_id = ${accountId} and r.group_id = s.group_id
                    and r.week between ${first} and ${last}
    where  ${questionIds ? db`r.question_id = any(${questionIds})` : true}
    order  by r.question_id, r.group_id, r.week`,
    batch,
  );
}

/** `questionIds`: ascending, as the inside of a JSON array, because the driver takes much longer to parse an array. */
export type AskedRow = { groupId: number; week: Week; questionIds: string };

/** Yields what was asked of the groups, ordered by group and week, including open weeks. */
export function selectAskedOfGroups(
  db: Db,
  accountId: AccountId,
  scope: GroupScope,
  { first, last }: Window,
): AsyncIterable<AskedRow[]> {
  return inBatches(
    db<AskedRow[]>`
    with ${groupsInScope(db, accountId, scope)}
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
