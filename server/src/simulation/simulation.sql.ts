// SQL of simulations: who is in which group, and what a week asks. Read-only.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';

/** `person`: the name that seeds the person's sentiment. It is the externalId, otherwise the email address, otherwise the name. */
export type SimulatedPerson = {
  userId: number;
  person: string;
  language: string;
  timezone: string | null;
  memberOf: number[];
};

/** Returns the active members of groups. Uses two statements, because a join takes seconds until PostgreSQL has statistics of new tables. */
export async function selectSimulatedPeople(db: Db, accountId: AccountId): Promise<SimulatedPerson[]> {
  const people = await db<Omit<SimulatedPerson, 'memberOf'>[]>`
    select u.user_id                                                            as "userId",
           coalesce(u.external_id, u.email, u.first_name || ' ' || u.last_name) as "person",
           coalesce(u.language, a.language)                                     as "language",
           u.timezone                                                           as "timezone"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.active
    order  by u.user_id`;
  const memberships = await db<{ userId: number; groupId: number }[]>`
    select user_id as "userId", group_id as "groupId"
    from   memberships
    where  account_id = ${accountId} and kind = 'memberOf'
    order  by group_id`;
  const groupsOf = Map.groupBy(memberships, ({ userId }) => userId);
  return people.flatMap((one) => {
    const memberOf = groupsOf.get(one.userId)?.map(({ groupId }) => groupId);
    return memberOf ? [{ ...one, memberOf }] : [];
  });
}

/** Returns all groups, each with its parent. `name`: the externalId, otherwise the name. */
export async function selectSimulatedGroups(
  db: Db,
  accountId: AccountId,
): Promise<{ id: number; parentId: number | null; name: string }[]> {
  return db`
    select group_id as "id", parent_id as "parentId", coalesce(external_id, name) as "name"
    from   groups
    where  account_id = ${accountId}
    order  by group_id`;
}

/** Returns the rounds of a week in their order, with the groups whose members are not asked. */
export async function selectRoundsOf(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ groupId: number; questionIds: number[]; withoutGroupIds: number[] }[]> {
  return db`
    select r.group_id                               as "groupId",
           r.question_ids                           as "questionIds",
           coalesce(s.without_group_ids, '{}')      as "withoutGroupIds"
    from   rounds r
    left   join schedules s on s.account_id = r.account_id and s.schedule_id = r.schedule_id
    where  r.account_id = ${accountId} and r.week = ${week}
    order  by r.round_id`;
}
