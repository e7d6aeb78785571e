// SQL of reports: the response rates and comments of several groups in one statement each. Reads only published figures.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';
import type { MarkedComment } from '../../results/data/comments.sql.ts';
import type { WeekRate } from '../../results/data/read-results.ts';
import type { Window } from '../../results/data/window.ts';

/** Returns the response rates of groups in a window, oldest first. */
export async function selectRatesOfGroups(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  { first, last }: Window,
): Promise<(WeekRate & { groupId: number })[]> {
  return db<(WeekRate & { groupId: number; week: Week })[]>`
    select r.group_id   as "groupId",
           r.week       as "week",
           r.value      as "value",
           r.asked      as "asked",
           r.answered   as "answered",
           r.handed_out as "handedOut"
    from   groups g
    join   response_rates r on r.account_id = g.account_id and r.group_id = g.group_id
                           and r.week between ${first} and ${last}
    where  g.account_id = ${accountId} and g.group_id = any(${groupIds as number[]}::integer[])
    order  by r.group_id, r.week`;
}

/** `count`: how many people chose "not applicable"; `of`: how many chose it or answered. */
export type NotApplicableRow = { groupId: number; questionId: number; week: Week; count: number; of: number };

/** Returns how many people of groups chose "not applicable", for each question and week of a window in which this is published. */
export async function selectNotApplicableOfGroups(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  { first, last }: Window,
): Promise<NotApplicableRow[]> {
  return db<NotApplicableRow[]>`
    select r.group_id          as "groupId",
           r.question_id       as "questionId",
           r.week              as "week",
           r.not_applicable    as "count",
           r.not_applicable_of as "of"
    from   groups g
    join   results r on r.account_id = g.account_id and r.group_id = g.group_id
                    and r.week between ${first} and ${last}
    where  g.account_id = ${accountId} and g.group_id = any(${groupIds as number[]}::integer[])
    and    r.not_applicable is not null and r.not_applicable_of is not null
    order  by r.group_id, r.question_id, r.week`;
}

/** Returns the newest comments that are shown in each group, in the order of the comments page, and how many there are. */
export async function selectNewestCommentsOfGroups(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
  { first, last }: Window,
  most: number,
): Promise<(MarkedComment & { total: number })[]> {
  return db<(MarkedComment & { total: number })[]>`
    select n.group_id    as "groupId",
           n.week        as "week",
           n.question_id as "questionId",
           c.text        as "text",
           n.handed_out  as "handedOut",
           n.total       as "total"
    from   groups g
    cross  join lateral (
      select o.group_id, o.week, o.question_id, o.position, o.handed_out, count(*) over ()::integer as total
      from   comment_groups o
      where  o.account_id = ${accountId} and o.group_id = g.group_id and o.week between ${first} and ${last}
      order  by o.week desc, o.position, o.question_id
      limit  ${most}
    ) n
    join   comments c on c.account_id = ${accountId} and c.week = n.week and c.question_id = n.question_id
                     and c.position = n.position
    where  g.account_id = ${accountId} and g.group_id = any(${groupIds as number[]}::integer[])
    order  by n.group_id, n.week desc, n.position, n.question_id`;
}
