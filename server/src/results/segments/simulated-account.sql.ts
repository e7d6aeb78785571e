// SQL of simulating a breakdown. Reads only.
import type { QuestionType } from '@soundings/contract/question-types.ts';
import type { AccountId, Db } from '../../db/db.ts';

/** Returns the groups that active people are members of. */
export async function selectAllMemberships(
  db: Db,
  accountId: AccountId,
): Promise<{ userId: number; memberOf: number[] }[]> {
  const rows = await db<{ userId: number; memberOf: string }[]>`
    select u.user_id as "userId", string_agg(m.group_id::text, ',') as "memberOf"
    from   users u
    join   memberships m on m.account_id = u.account_id and m.user_id = u.user_id and m.kind = 'memberOf'
    where  u.account_id = ${accountId} and u.active
    group  by u.account_id, u.user_id
    order  by u.user_id`;
  return rows.map(({ userId, memberOf }) => ({ userId, memberOf: memberOf.split(',').map(Number) }));
}

/** Returns how many people were asked and answered in each group, in the last closed weeks in which its response rate is shown. */
export async function selectRecentRates(
  db: Db,
  accountId: AccountId,
  weeks: number,
): Promise<{ groupId: number; asked: number; answered: number }[]> {
  return db<{ groupId: number; asked: number; answered: number }[]>`
    select g.group_id as "groupId", sum(r.asked)::integer as "asked", sum(r.answered)::integer as "answered"
    from   (select week from weeks where account_id = ${accountId} and closed_at is not null
            order by week desc limit ${weeks}) w
    join   response_rates r on r.account_id = ${accountId} and r.week = w.week and r.asked > 0
    join   groups g on g.account_id = r.account_id and g.group_id = r.group_id
    group  by g.group_id`;
}

/** Returns how many questions of each type the last closed weeks asked. A question counts once for each week. */
export async function selectRecentTypes(
  db: Db,
  accountId: AccountId,
  weeks: number,
): Promise<{ type: QuestionType; questions: number }[]> {
  return db<{ type: QuestionType; questions: number }[]>`
    select q.type as "type", count(distinct (w.week, q.question_id))::integer as "questions"
    from   (select week from weeks where account_id = ${accountId} and closed_at is not null
            order by week desc limit ${weeks}) w
    join   rounds r on r.account_id = ${accountId} and r.week = w.week
    join   questions q on q.account_id = ${accountId} and q.question_id = any(r.question_ids)
    group  by q.type`;
}
