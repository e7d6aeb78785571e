// SQL of the console's pages about groups and attributes: reading only.
import type { AttributeRow, GroupDetails, LastPush, Named } from '@soundings/contract/console/groups.ts';
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { AccountId, Db } from '../../db/db.ts';

/** How many active people are members of exactly these groups. There is one such row for each set of groups that has members. */
export type MemberCount = { groupIds: number[]; people: number };

export async function selectMemberCounts(db: Db, accountId: AccountId): Promise<MemberCount[]> {
  return db<MemberCount[]>`
    select "groupIds", count(*)::integer as "people"
    from  (select array_agg(m.group_id order by m.group_id) as "groupIds"
           from   memberships m
           join   users u on u.account_id = m.account_id and u.user_id = m.user_id
           where  m.account_id = ${accountId} and m.kind = 'memberOf' and u.active
           group  by m.user_id) as each
    group  by "groupIds"`;
}

/**
 * Returns how many active people are members of one of the groups. The query uses an index whatever the tables' statistics say: in
 * the first minute after a push, they say that both tables are empty.
 */
export async function countPeopleIn(db: Db, accountId: AccountId, groupIds: number[]): Promise<number> {
  const [row] = await db<{ people: number }[]>`
    select count(*)::integer as "people"
    from   users u
    where  u.account_id = ${accountId} and u.active
      and  u.user_id in (select m.user_id
                         from   memberships m
                         where  m.account_id = ${accountId} and m.group_id = any(${groupIds}::integer[])
                           and  m.kind = 'memberOf')`;
  return row!.people;
}

/** Returns facts about one group that the tree does not contain. `above`: the groups above it. */
export async function selectGroupFacts(
  db: Db,
  accountId: AccountId,
  groupId: number,
  above: number[],
): Promise<{ createdAt: Date; weeks: number; administratorsAbove: number }> {
  const [row] = await db<{ createdAt: Date; weeks: number; administratorsAbove: number }[]>`
    select created_at as "createdAt",
           (select count(*)::integer
            from   asked a
            join   weeks w on w.account_id = a.account_id and w.week = a.week and w.closed_at is not null
            where  a.account_id = ${accountId} and a.group_id = ${groupId}) as "weeks",
           (select count(distinct m.user_id)::integer
            from   memberships m
            join   users u on u.account_id = m.account_id and u.user_id = m.user_id
            where  m.account_id = ${accountId} and m.group_id = any(${above}::integer[])
              and  m.kind = 'inheritedAdminOf' and u.active) as "administratorsAbove"
    from   groups
    where  account_id = ${accountId} and group_id = ${groupId}`;
  return row!;
}

type Holder = { kind: MembershipKind; count: number; id: number; name: string; active: boolean };

/**
 * Returns, for each kind of membership in a group, how many people have it, and the first of these people: active people first, by
 * name.
 */
export async function selectHolders(
  db: Db,
  accountId: AccountId,
  groupId: number,
  first: number,
): Promise<GroupDetails['holders']> {
  const rows = await db<Holder[]>`
    select "kind", "count", "id", "name", "active"
    from  (select m.kind                                                                 as "kind",
                  u.user_id                                                              as "id",
                  coalesce(nullif(trim(u.first_name || ' ' || u.last_name), ''), u.email, u.external_id, '') as "name",
                  u.active                                                               as "active",
                  count(*) over (partition by m.kind)::integer                           as "count",
                  row_number() over (partition by m.kind
                                     order by u.active desc, u.first_name, u.last_name, u.user_id) as place
           from   memberships m
           join   users u on u.account_id = m.account_id and u.user_id = m.user_id
           where  m.account_id = ${accountId} and m.group_id = ${groupId}) as each
    where  place <= ${first}
    order  by place`;
  const of = (kind: MembershipKind) => {
    const those = rows.filter((row) => row.kind === kind);
    return {
      count: those[0]?.count ?? 0,
      first: those.map(({ id, name, active }) => ({ id, name, active })),
    };
  };
  return {
    memberOf: of('memberOf'),
    adminOf: of('adminOf'),
    inheritedAdminOf: of('inheritedAdminOf'),
    interestOf: of('interestOf'),
  };
}

/** Returns the last applied run that listed groups. */
export async function selectLastPush(db: Db, accountId: AccountId): Promise<LastPush | null> {
  const [row] = await db<(Omit<LastPush, 'at'> & { at: Date })[]>`
    select run_id as "runId", at as "at", source as "source", sets_tree as "setsTree"
    from   runs
    where  account_id = ${accountId} and outcome = 'applied'
      and  (sets_tree is not null or (summary -> 'groups' ->> 'unchanged')::integer > 0
            or (summary -> 'groups' ->> 'created')::integer > 0)
    order  by run_id desc
    limit  1`;
  return row ? { ...row, at: row.at.toISOString() } : null;
}

export type AskingSchedule = Named & { groupIds: number[]; withoutGroupIds: number[] };

/** Returns the schedules that have not ended, with the groups they ask and the groups they exclude. */
export async function selectSchedulesOfGroups(db: Db, accountId: AccountId): Promise<AskingSchedule[]> {
  return db<AskingSchedule[]>`
    select schedule_id       as "id",
           name              as "name",
           group_ids         as "groupIds",
           without_group_ids as "withoutGroupIds"
    from   schedules
    where  account_id = ${accountId}
      and  (until_day is null
            or until_day >= (select (now() at time zone timezone)::date from accounts where account_id = ${accountId}))
    order  by name, schedule_id`;
}

/**
 * Returns how many managers own one of the groups `groupIds`, including its subgroups, and none of the groups `others`.
 * Administrators see all groups anyway, and users with other roles see none.
 */
export async function selectAdministratorsOnlyOf(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
  others: number[],
): Promise<number> {
  if (groupIds.length === 0) return 0;
  const [row] = await db<{ count: number }[]>`
    select count(distinct m.user_id)::integer as "count"
    from   memberships m
    join   users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.account_id = ${accountId} and m.kind = 'inheritedAdminOf' and u.active and u.role = 'Manager'
      and  m.group_id = any(${groupIds})
      and  not exists (select 1
                       from   memberships o
                       where  o.account_id = ${accountId} and o.user_id = m.user_id and o.kind = m.kind
                         and  o.group_id = any(${others}::integer[]))`;
  return row?.count ?? 0;
}

/** Returns how many people have any membership in a group. */
export async function selectPeopleOf(db: Db, accountId: AccountId, groupId: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(distinct user_id)::integer as "count"
    from   memberships
    where  account_id = ${accountId} and group_id = ${groupId}`;
  return row?.count ?? 0;
}

/**
 * Returns the attributes by name, with the number of people who have a value and the number of people whose value is no longer
 * allowed.
 */
export async function selectAttributeRows(db: Db, accountId: AccountId): Promise<AttributeRow[]> {
  return db<AttributeRow[]>`
    with used as (
      select e.key, e.value, count(*)::integer as people
      from   users u, jsonb_each_text(u.attributes) e
      where  u.account_id = ${accountId}
      group  by e.key, e.value
    )
    select a.name                                                                          as "name",
           a.allowed_values                                                                as "allowedValues",
           coalesce(sum(h.people), 0)::integer                                             as "people",
           coalesce(sum(h.people) filter (where h.value <> all(a.allowed_values)), 0)::integer as "disallowedValues"
    from   attributes a
    left   join used h on h.key = a.name
    where  a.account_id = ${accountId}
    group  by a.name, a.allowed_values
    order  by a.name`;
}
