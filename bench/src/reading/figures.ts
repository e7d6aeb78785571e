// Writes weeks of figures for all groups of an account, as if they had been published. Closing that many weeks would take minutes, and reading them
// does not depend on where they come from.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { inTransaction } from '@soundings/server/src/db/db.ts';
import type { Service } from '../measuring/service.ts';

/** How many of the account's questions each week asks, in turn. */
const perWeek = 5;

/**
 * Writes the figures of `weeks` weeks, up to `last`. Each week asks the next five questions. The account has groups, questions and KPIs, and none
 * of these weeks.
 */
export async function fillWeeks(
  { pool }: Service,
  accountId: number,
  { weeks, last }: { weeks: number; last: Week },
): Promise<void> {
  const first = addWeeks(last, 1 - weeks);
  await inTransaction(pool, async (tx) => {
    await tx`
      create temp table asked_weeks on commit drop as
      select ${first}::date + 7 * i as week, array(
               select question_id
               from   (select question_id, row_number() over (order by question_id) - 1 as place, count(*) over () as number
                       from   questions where account_id = ${accountId}) q
               where  (place - i * ${perWeek} % number + number) % number < ${perWeek}
               order  by question_id) as question_ids
      from   generate_series(0, ${weeks - 1}) as i`;
    await tx`
      insert into weeks (account_id, week, threshold, distribution_threshold, comment_threshold, closed_at)
      select ${accountId}, week, 5, 5, 10, now() from asked_weeks`;
    await tx`
      insert into asked (account_id, group_id, week, question_ids)
      select account_id, group_id, week, question_ids from groups, asked_weeks where account_id = ${accountId} order by week, group_id`;
    await tx`
      insert into response_rates (account_id, group_id, week, value, people, asked, answered)
      select account_id, group_id, week, (group_id % 97) / 97.0, 97, 97, group_id % 97
      from   groups, asked_weeks where account_id = ${accountId} order by week, group_id`;
    await tx`
      insert into kpi_values (account_id, kpi_id, group_id, week, value)
      select g.account_id, kpi_id, group_id, week, (group_id * 31 + extract(doy from week)::integer) % 1009 / 1009.0
      from   groups g join kpis k using (account_id), asked_weeks
      where  account_id = ${accountId} order by week, kpi_id, group_id`;
    await tx`
      insert into results (account_id, group_id, week, question_id, value, answers, distribution)
      select account_id, group_id, week, question_id, (group_id * 17 + question_id) % 997 / 997.0, 12 + group_id % 50,
             case when type = 2 then '{"0":1,"1":0,"2":2,"3":0,"4":3,"5":4,"6":2,"7":8,"8":9,"9":' || group_id % 7 || ',"10":5}'
                  else '{"1":2,"2":' || group_id % 9 || ',"3":7,"4":11,"5":3}' end
      from   groups join questions using (account_id), asked_weeks
      where  account_id = ${accountId} and question_id = any(question_ids) order by week, group_id, question_id`;
  });
  await pool`vacuum analyze`;
}
