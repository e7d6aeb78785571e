// SQL of reading published figures together with the statistics of their weeks.
import type { Kind } from '@soundings/contract/data.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Window } from './window.ts';

/**
 * The readings of a group: one list per field, each as the inside of a JSON array, because the driver takes much longer to parse one row
 * per figure. `days`: since the first day of the window.
 */
export type ReadingsRow = {
  groupId: number;
  questionIds: string;
  days: string;
  values: string;
  answers: string;
  asked: string;
  handedOut: string;
};

/**
 * `groupIds`: undefined means all. `kind`: whether they are groups, the default, or segments. `only`: these weeks of each question;
 * undefined means all weeks of the window.
 */
export type ReadingsWanted = {
  groupIds: readonly number[] | undefined;
  questionIds: readonly number[];
  kind?: Kind;
  only?: readonly QuestionWeek[];
};

export type QuestionWeek = readonly [questionId: number, week: Week];

/**
 * Returns the published figures of questions in groups, or segments, that exist, including withheld ones.
 * `offset 0` makes PostgreSQL look the rows up group by group; otherwise it may read those of all groups and weeks.
 */
export async function selectReadings(
  db: Db,
  accountId: AccountId,
  { groupIds, questionIds, kind = 'group', only }: ReadingsWanted,
  { first, last }: Window,
): Promise<ReadingsRow[]> {
  const existing =
    kind === 'group' ? db`groups` : db`(select account_id, segment_id as group_id from segments)`;
  const chosen = only
    ? db`
    join   unnest(${only.map(([id]) => id)}::integer[], ${only.map(([, week]) => week)}::date[]) as o (question_id, week)
           on o.question_id = r.question_id and o.week = r.week`
    : db``;
  return db<ReadingsRow[]>`
    select r.group_id                                             as "groupId",
           array_to_string(array_agg(r.question_id), ',')         as "questionIds",
           array_to_string(array_agg(r.week - ${first}::date), ',')     as "days",
           array_to_string(array_agg(r.value), ',', 'null')       as "values",
           array_to_string(array_agg(r.answers), ',', 'null')     as "answers",
           array_to_string(array_agg(coalesce(a.asked, a.people)), ',', 'null')      as "asked",
           array_to_string(array_agg(r.handed_out::integer), ',') as "handedOut"
    from   ${existing} g
    cross  join lateral (
      select r.group_id, r.week, r.question_id, r.value, r.answers, r.handed_out
      from   results r
      where  r.account_id = ${accountId} and r.group_id = g.group_id and r.week between ${first} and ${last}
        and  r.question_id = any(${questionIds as number[]}::integer[])
      offset 0
    ) r
    ${chosen}
    left   join response_rates a on a.account_id = ${accountId} and a.group_id = r.group_id and a.week = r.week
    where  g.account_id = ${accountId}
      and  ${groupIds === undefined ? true : db`g.group_id = any(${groupIds as number[]}::integer[])`}
    group  by r.group_id`;
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
