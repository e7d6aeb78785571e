// SQL of reading the latest published figures of all groups in one statement, for key drivers.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { Window } from './window.ts';

/**
 * The latest shown figures of a group: a JSON array of `[question, value, answers]`. `questions`: how many there are. `weeks`: the weeks
 * that they come from, separated by commas. `handedOut`: whether one of them is marked (P14).
 */
export type LatestFigures = {
  groupId: number;
  figures: string;
  questions: number;
  weeks: string;
  handedOut: boolean;
};

/**
 * Returns, for each existing group and each of the questions, the latest figure that is shown in a closed week of the window. One row
 * per group, because the driver would take longer to parse one per figure than the server takes for the query. `only`: one
 * week of each question, in the same order; undefined means all weeks of the window. `except`: groups that are left out.
 */
export async function selectLatestFigures(
  db: Db,
  accountId: AccountId,
  questionIds: readonly number[],
  { first, last }: Window,
  { only, except = [] }: { only?: { questionIds: number[]; weeks: Week[] }; except?: number[] },
): Promise<LatestFigures[]> {
  return db<LatestFigures[]>`
    select g.group_id   as "groupId",
           l.figures    as "figures",
           l.questions  as "questions",
           l.weeks      as "weeks",
           l.handed_out as "handedOut"
    from   groups g
    cross  join lateral (
      select '[' || string_agg('[' || f.question_id || ',' || f.value || ',' || f.answers || ']', ','
                               order by f.question_id) || ']' as figures,
             count(*)::integer as questions,
             string_agg(distinct f.week::text, ',') as weeks,
             bool_or(f.handed_out) as handed_out
      from   (
        select distinct on (r.question_id) r.question_id, r.value, r.answers, r.week, r.handed_out
        from   results r
        where  r.account_id = ${accountId} and r.group_id = g.group_id and r.week between ${first} and ${last}
          and  ${
            only
              ? db`r.week = any(${only.weeks}::date[])
          and  r.week = (${only.weeks}::date[])[array_position(${only.questionIds}::integer[], r.question_id)]`
              : true
          }
          and  r.question_id = any(${questionIds as number[]}) and r.value is not null and r.answers is not null
          and  r.week = any(array(select w.week
                                  from   weeks w
                                  where  w.account_id = ${accountId} and w.closed_at is not null))
        order  by r.question_id, r.week desc
      ) f
    ) l
    where  g.account_id = ${accountId} and g.group_id <> all(${except}::integer[])
      and  l.figures is not null
    order  by g.group_id`;
}

/** A group, the average of figures, and how many figures these are. */
type AverageOfGroup = [groupId: number, value: number, figures: number];

/**
 * Returns the average of the figures of some questions that are shown, each in one week, by group. `weeks`: the week of each question, in their
 * order. PostgreSQL finds the figures of these weeks by week (results_by_week), not group by group. Many groups come in one row, because with a row
 * for each group the driver would take longer and block other requests meanwhile.
 */
export async function selectAveragesInWeeks(
  db: Db,
  accountId: AccountId,
  { questionIds, weeks }: { questionIds: readonly number[]; weeks: readonly Week[] },
): Promise<AverageOfGroup[]> {
  const rows = await db<{ averages: AverageOfGroup[] }[]>`
    with average as (
      select r.group_id, avg(r.value) as value, count(*)::integer as figures
      from   results r
      join   unnest(${questionIds as number[]}::integer[], ${weeks as Week[]}::date[]) as a(question_id, week)
             on a.question_id = r.question_id and a.week = r.week
      where  r.account_id = ${accountId} and r.week = any(${[...new Set(weeks)]}::date[])
        and  r.value is not null and r.answers is not null
      group  by r.group_id
    )
    select json_agg(json_build_array(group_id, value, figures)) as "averages"
    from   average
    group  by group_id / 2000`;
  return rows.flatMap(({ averages }) => averages);
}

/** Returns the average of the latest figures of questions that are shown in a window, for groups, which have few figures each. */
export async function selectLatestAverages(
  db: Db,
  accountId: AccountId,
  { groupIds, questionIds }: { groupIds: readonly number[]; questionIds: readonly number[] },
  { first, last }: Window,
): Promise<AverageOfGroup[]> {
  const rows = await db<{ averages: AverageOfGroup[] }[]>`
    with average as (
      select g.group_id, l.value, l.figures
      from   groups g
      cross  join lateral (
        select avg(f.value) as value, count(*)::integer as figures
        from   (
          select distinct on (r.question_id) r.value
          from   results r
          where  r.account_id = ${accountId} and r.group_id = g.group_id and r.week between ${first} and ${last}
            and  r.question_id = any(${questionIds as number[]}::integer[]) and r.value is not null and r.answers is not null
          order  by r.question_id, r.week desc
        ) f
      ) l
      where  g.account_id = ${accountId} and g.group_id = any(${groupIds as number[]}::integer[]) and l.figures > 0
    )
    select json_agg(json_build_array(group_id, value, figures)) as "averages"
    from   average
    group  by group_id / 2000`;
  return rows.flatMap(({ averages }) => averages);
}
