// SQL of reading published figures together with the statistics of their weeks.
import type { Kind } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Window } from './window.ts';

/**
 * The readings of a group: one list per field, each as the inside of a JSON array, because the driver takes much longer to parse one row
 * per figure. `days`: since the first day of the window. `asked`: how many people were asked in the weeks of `askedDays`; null: no week.
 * `shown`: how many of the figures are not withheld.
 */
export type ReadingsRow = {
  groupId: number;
  questionIds: string;
  days: string;
  values: string;
  answers: string;
  handedOut: string;
  askedDays: string | null;
  asked: string | null;
  shown: number;
};

/**
 * `groupIds`: undefined means all. `kind`: whether they are groups, the default, or segments. `only`: the only weeks that are needed;
 * undefined means all weeks of the window.
 */
export type ReadingsWanted = {
  groupIds: readonly number[] | undefined;
  questionIds: readonly number[];
  kind?: Kind;
  only?: readonly Week[];
};

/**
 * Returns the published figures of questions in groups, or segments, that exist, including withheld ones. The lists are built group by
 * group, without a join: PostgreSQL plans a prepared statement without knowing how many groups, questions and weeks there are, and then
 * reads thousands of groups several times slower.
 */
export async function selectReadings(
  db: Db,
  accountId: AccountId,
  { groupIds, questionIds, kind = 'group', only }: ReadingsWanted,
  { first, last }: Window,
): Promise<ReadingsRow[]> {
  const existing =
    kind === 'group' ? db`groups` : db`(select account_id, segment_id as group_id from segments)`;
  const inWeeks = db`
      r.week between ${first} and ${last} and ${only ? db`r.week = any(${only as Week[]}::date[])` : true}`;
  return db<ReadingsRow[]>`
    select g.group_id as "groupId", f.*, a.*
    from   ${existing} g
    cross  join lateral (
      select array_to_string(array_agg(r.question_id), ',')         as "questionIds",
             array_to_string(array_agg(r.week - ${first}::date), ',') as "days",
             array_to_string(array_agg(r.value), ',', 'null')       as "values",
             array_to_string(array_agg(r.answers), ',', 'null')     as "answers",
             array_to_string(array_agg(r.handed_out::integer), ',') as "handedOut",
             count(r.value + r.answers)::integer                    as "shown"
      from   results r
      where  r.account_id = ${accountId} and r.group_id = g.group_id and ${inWeeks}
        and  r.question_id = any(${questionIds as number[]}::integer[])
    ) f
    cross  join lateral (
      select array_to_string(array_agg(r.week - ${first}::date), ',')                as "askedDays",
             array_to_string(array_agg(coalesce(r.asked, r.people)), ',', 'null')    as "asked"
      from   response_rates r
      where  r.account_id = ${accountId} and r.group_id = g.group_id and ${inWeeks}
    ) a
    where  g.account_id = ${accountId}
      and  ${groupIds === undefined ? true : db`g.group_id = any(${groupIds as number[]}::integer[])`}
      and  f."questionIds" is not null`;
}

/** `kpiWeeks`: how many weeks rolling values cover. `kpiQuestions`: the questions of each KPI by its id. Null: not stored. */
export type AskedWeek = {
  week: Week;
  kpiWeeks: number | null;
  kpiQuestions: Record<string, number[]> | null;
  isComputed: boolean;
  questionIds: number[];
};

/** Returns the published weeks with the questions that were asked, oldest first. */
export async function selectAskedWeeks(
  db: Db,
  accountId: AccountId,
  { first, last }: Window,
): Promise<AskedWeek[]> {
  return db<AskedWeek[]>`
    select w.week                      as "week",
           w.kpi_weeks                 as "kpiWeeks",
           w.kpi_questions             as "kpiQuestions",
           w.statistics_at is not null as "isComputed",
           array(select distinct q
                 from   rounds r, unnest(r.question_ids) as q
                 where  r.account_id = ${accountId} and r.week = w.week) as "questionIds"
    from   weeks w
    where  w.account_id = ${accountId} and w.week between ${first} and ${last}
      and  (w.closed_at is not null or w.shown_at is not null)
    order  by w.week`;
}
