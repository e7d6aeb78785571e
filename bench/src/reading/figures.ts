// Writes weeks of figures for all groups of an account, as if they had been published. Closing that many weeks would take minutes, and reading them
// does not depend on where they come from.
import { addWeeks, type Week } from '@soundings/contract/weeks.ts';
import { type Fragment, inTransaction, type Transaction } from '@soundings/server/src/db/db.ts';
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
      select account_id, group_id, week, answered / 97.0, 97, 97, answered
      from   (select account_id, group_id, week, ${chance(tx, tx`group_id`, tx`week`)} % 98 as answered
              from   groups, asked_weeks where account_id = ${accountId}) r
      order  by week, group_id`;
    await tx`
      insert into kpi_values (account_id, kpi_id, group_id, week, value)
      select g.account_id, kpi_id, group_id, week, ${chance(tx, tx`group_id`, tx`week`, tx`kpi_id`)} % 100003 / 100003.0
      from   groups g join kpis k using (account_id), asked_weeks
      where  account_id = ${accountId} order by week, kpi_id, group_id`;
    await tx`
      insert into results (account_id, group_id, week, question_id, value, answers, distribution)
      select account_id, group_id, week, question_id, (sum::float8 / number - low) / (high - low), number, distribution
      from   groups join questions using (account_id)
      cross  join asked_weeks
      cross  join lateral (select case when type = 2 then 0 else 1 end as low, case when type = 2 then 10 else 5 end as high) s
      cross  join lateral (
        select sum(choice * count) as sum, sum(count) as number,
               '{' || string_agg('"' || choice || '":' || count, ',' order by choice) || '}' as distribution
        from   (select choice, 1 + ${chance(tx, tx`group_id`, tx`week`, tx`question_id`, tx`choice`)} % 12 as count
                from   generate_series(low, high) as choice) c
      ) d
      where  account_id = ${accountId} and question_id = any(question_ids) order by week, group_id, question_id`;
  });
  await pool`vacuum analyze`;
}

/** Returns a number that looks random, but depends only on these values. Figures that repeat would be stored in less space than real ones. */
const chance = (tx: Transaction, ...values: Fragment[]): Fragment =>
  tx`(hashtext(concat_ws(' ', ${values.map((value, i) => (i === 0 ? value : tx`, ${value}`))})) & 2147483647)`;
