// SQL of reading the published figures of a single group, or of a segment: one statement for the whole response. No row means that it
// does not exist.
import type { Kind } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { type AskedRow, groupWithId, type KpiHead, type Marked, type ResultRow } from './results.sql.ts';
import type { Window } from './window.ts';

/** `kind`: undefined if it may be either. */
export type GroupOrSegment = { groupId: number; kind?: Kind | undefined };

export type GroupValueRow = Marked & { kpi: KpiHead | null };

/** Returns the KPI and its values in a group or segment by week; without a window, the latest one. One row of nulls if there are no values. */
export async function selectGroupKpiValues(
  db: Db,
  accountId: AccountId,
  { groupId, kpiId, kind }: GroupOrSegment & { kpiId: string },
  window: Window | undefined,
): Promise<GroupValueRow[]> {
  const rows = await db<(KpiHead & Marked)[]>`
    select k.kpi_id    as "id",
           k.name      as "name",
           k.image_url as "imageUrl",
           v.week      as "week",
           v.value     as "value",
           v.handed_out as "handedOut"
    from   ${groupWithId(db, accountId, groupId, kind)} g
    left   join kpis k on k.account_id = ${accountId} and k.kpi_id = ${kpiId}
    left   join lateral (
      select v.week, v.value, v.handed_out
      from   kpi_values v
      where  v.account_id = ${accountId} and v.kpi_id = ${kpiId} and v.group_id = ${groupId}
        and  ${window ? db`v.week between ${window.first} and ${window.last}` : true}
      ${window ? db`order by v.week` : db`order by v.asked_whole desc, v.week desc limit 1`}
    ) v on true`;
  return rows.map(({ id, name, imageUrl, ...marked }) => ({
    ...marked,
    kpi: id === null ? null : { id, name, imageUrl },
  }));
}

/** How many people the rate is based on, and how many of them answered; null if it is withheld or the week closed before they were stored. */
export type GroupRateRow = Marked & { asked: number | null; answered: number | null };

/** Returns the response rates of a group or segment by week; without a window, the latest one. One row of nulls if there are none. */
export async function selectGroupRates(
  db: Db,
  accountId: AccountId,
  { groupId, kind }: GroupOrSegment,
  window: Window | undefined,
): Promise<GroupRateRow[]> {
  return db<GroupRateRow[]>`
    select v.week as "week", v.value as "value", v.asked as "asked", v.answered as "answered", v.handed_out as "handedOut"
    from   ${groupWithId(db, accountId, groupId, kind)} g
    left   join lateral (
      select v.week, v.value, v.asked, v.answered, v.handed_out
      from   response_rates v
      where  v.account_id = ${accountId} and v.group_id = ${groupId}
        and  ${window ? db`v.week between ${window.first} and ${window.last}` : true}
      ${window ? db`order by v.week` : db`order by v.week desc limit 1`}
    ) v on true`;
}

/** A result with its `handedOut` mark (P14), which the data interface does not return. */
export type GroupResultRow = ResultRow & { handedOut: boolean };

/** The version of the account in which rows were read. */
const versionOf = (db: Db, accountId: AccountId) =>
  db`(select version::text from accounts where account_id = ${accountId}) as "version"`;

/** Rows of one statement, and the version of the account in which it read them. */
export type AtOneVersion<Row> = { version: string; rows: Row[] };

/** Returns the results of a group or segment by question and week; undefined if it does not exist. `questionIds` undefined: of all. */
export async function selectGroupResults(
  db: Db,
  accountId: AccountId,
  { groupId, kind, questionIds }: GroupOrSegment & { questionIds: number[] | undefined },
  { first, last }: Window,
): Promise<AtOneVersion<GroupResultRow> | undefined> {
  const rows = await db<
    (Omit<GroupResultRow, 'questionId'> & { questionId: number | null; version: string })[]
  >`
    select r.question_id  as "questionId",
           g.group_id     as "groupId",
           r.week         as "week",
           r.value        as "value",
           r.answers      as "answers",
           r.distribution       as "distribution",
           r.not_applicable     as "notApplicable",
           r.not_applicable_of  as "notApplicableOf",
           r.handed_out   as "handedOut",
           ${versionOf(db, accountId)}
    from   ${groupWithId(db, accountId, groupId, kind)} g
    left   join results r on r.account_id = ${accountId} and r.group_id = ${groupId}
                         and r.week between ${first} and ${last}
                         and ${questionIds ? db`r.question_id = any(${questionIds})` : true}
    order  by r.question_id, r.week`;
  return (
    rows[0] && {
      version: rows[0].version,
      rows: rows.filter(({ questionId }) => questionId !== null) as GroupResultRow[],
    }
  );
}

/** Returns what was asked of a group, by week; undefined if the group does not exist. */
export async function selectGroupAsked(
  db: Db,
  accountId: AccountId,
  groupId: number,
  { first, last }: Window,
): Promise<AtOneVersion<AskedRow> | undefined> {
  const rows = await db<{ groupId: number; week: Week | null; questionIds: string; version: string }[]>`
    select g.group_id as "groupId",
           a.week     as "week",
           array_to_string(a.question_ids, ',') as "questionIds",
           ${versionOf(db, accountId)}
    from   groups g
    left   join asked a on a.account_id = ${accountId} and a.group_id = ${groupId}
                       and a.week between ${first} and ${last}
    where  g.account_id = ${accountId} and g.group_id = ${groupId}
    order  by a.week`;
  return (
    rows[0] && {
      version: rows[0].version,
      rows: rows.filter(({ week }) => week !== null) as AskedRow[],
    }
  );
}
