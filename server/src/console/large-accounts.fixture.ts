// An account with more groups than the console loads as a whole, written with a few statements: three trees, with figures of two weeks.
import { question, kpi, round, answerLine, importLines } from '../testing/surveys.ts';
import type { TestAccount, World } from '../testing/world.ts';

/** Two more than the console loads as a whole, so that removing a few leaves a tree that is loaded as a whole. */
export const largeTree = 2_502;

/**
 * Fills an account: group 0 to 2 are at the top, and each group has up to eight subgroups. The names are in the order of the numbers. The
 * person `member-N` is a member of group N, for the first 500 groups.
 */
export async function fillLargeTree({ pool, keys }: World, { id }: TestAccount): Promise<void> {
  await pool`
    insert into groups (account_id, external_id, managed, name)
    select ${id}, 'g' || i, i % 2 = 0, 'Unit ' || i from generate_series(0, ${largeTree}::integer - 1) i`;
  await pool`
    update groups g
    set    parent_id = p.group_id
    from   groups p
    where  g.account_id = ${id} and p.account_id = ${id}
      and  substring(g.external_id from 2)::integer >= 3
      and  p.external_id = 'g' || (substring(g.external_id from 2)::integer / 3 - 1) / 8 * 3
                                  + substring(g.external_id from 2)::integer % 3`;
  await pool`
    with people as (
      insert into users (account_id, external_id, managed, first_name, last_name, active, role)
      select ${id}, 'member-' || i, true, 'Member', i::text, true, 'User' from generate_series(0, 499) i
      returning account_id, user_id, last_name
    )
    insert into memberships (account_id, user_id, kind, group_id)
    select p.account_id, p.user_id, 'memberOf', g.group_id
    from   people p join groups g on g.account_id = p.account_id and g.external_id = 'g' || p.last_name`;
  const people = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`member-${i * 3}`, ['g0']]));
  await importLines({ pool, keys } as World, id, [
    question('a', 1),
    question('b', 1),
    kpi('K', ['a']),
    kpi('L', ['b']),
    ...['2026-W40', '2026-W41'].flatMap((week, w) => [
      round(week, 'g0', ['a', 'b'], people),
      ...Object.keys(people).flatMap((person, i) => [
        answerLine(week, 'g0', person, 'a', 1 + ((i + w) % 5)),
        answerLine(week, 'g0', person, 'b', 1 + (i % 5)),
      ]),
    ]),
  ]);
  // All other groups of the tree have figures that grow with their numbers, except each seventh, whose figures are withheld.
  const value = pool`case when n % 7 <> 0 then n / ${largeTree}::double precision end`;
  const others = pool`
    (select group_id, substring(external_id from 2)::integer as n from groups
     where  account_id = ${id} and external_id <> 'g0') g
    join (select group_id from groups where account_id = ${id} and external_id = 'g0') top on true`;
  await pool`
    insert into results (account_id, group_id, week, question_id, value, answers)
    select r.account_id, g.group_id, r.week, r.question_id, ${value}, case when n % 7 <> 0 then 8 end
    from   ${others} join results r on r.account_id = ${id} and r.group_id = top.group_id
    on conflict (account_id, group_id, week, question_id) do update set value = excluded.value, answers = excluded.answers`;
  await pool`
    insert into response_rates (account_id, group_id, week, value, asked, answered)
    select r.account_id, g.group_id, r.week, ${value}, 10, 8
    from   ${others} join response_rates r on r.account_id = ${id} and r.group_id = top.group_id
    on conflict (account_id, group_id, week) do update set value = excluded.value, asked = excluded.asked, answered = excluded.answered`;
  await pool`vacuum analyze groups, memberships, users, results, response_rates`;
  await pool`update accounts set version = version + 1 where account_id = ${id}`;
}
