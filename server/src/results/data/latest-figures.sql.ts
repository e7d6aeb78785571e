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

/**
 * Returns the rolling value of some questions in each group: the mean of the latest figure that is shown of each question in the window. Only
 * for sorting many groups: the values are rounded. The latest figure is that with the largest sum of days and value, because a value
 * is less than a week; sorting the figures of each group by week would take several times as long.
 */
export async function selectRollingValues(
  db: Db,
  accountId: AccountId,
  questionIds: readonly number[],
  { first, last }: Window,
): Promise<ReadonlyMap<number, number>> {
  // Many groups come in one row, because with a row for each group the driver would take longer and block other requests meanwhile.
  const rows = await db<{ values: [groupId: number, value: number][] }[]>`
    select json_agg(json_build_array(group_id, value)) as "values"
    from  (select group_id, round(avg(latest - 7 * floor(latest / 7))::numeric, 9)::double precision as value
           from  (select r.group_id, max((r.week - ${first}::date) + r.value) as latest
                  from   results r
                  where  r.account_id = ${accountId} and r.week between ${first} and ${last}
                    and  r.question_id = any(${questionIds as number[]}::integer[]) and r.value is not null and r.answers is not null
                  group  by r.group_id, r.question_id) as figure
           group  by group_id) as each
    group  by group_id / 2000`;
  return new Map(rows.flatMap(({ values }) => values));
}
