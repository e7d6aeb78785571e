// SQL of the console's pages about groups and attributes: reading only.
import type { AttributeRow, GroupDetails, LastPush, Named } from '@soundings/contract/console/groups.ts';
import type { TreeGroup } from '@soundings/contract/people/placed-groups.ts';
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { AccountId, Db } from '../../db/db.ts';

/** How many active people are members of exactly these groups. There is one such row for each set of groups that has members. */
export type MemberCount = { groupIds: number[]; people: number };

/** `groupIds`: only members of these groups and of all groups below them; undefined: everyone. */
export async function selectMemberCounts(
  db: Db,
  accountId: AccountId,
  groupIds?: readonly number[],
): Promise<MemberCount[]> {
  const within = groupIds
    ? db`and m.group_id = any(array(with recursive ${belowGroups(db, accountId, groupIds)} select group_id from below))`
    : db``;
  const isCounted = db`m.kind = 'memberOf' ${within} and ${isActive(db)}`;
  // Building lists of groups for everyone would take twice as long, and few people are members of several groups. Many groups come in one
  // row, because the driver would take longer for a row each than for everything else, without handling other requests.
  const [one, several] = await Promise.all([
    db<{ counts: [groupId: number, people: number][] }[]>`
      select json_agg(json_build_array(group_id, people)) as "counts"
      from  (select group_id, count(*) as people
             from  (select min(m.group_id) as group_id
                    from   memberships m
                    where  m.account_id = ${accountId} and ${isCounted}
                    group  by m.user_id
                    having count(*) = 1) as member
             group  by group_id) as each
      group  by group_id / ${groupsInRow}::integer`,
    db<MemberCount[]>`
      select "groupIds", count(*)::integer as "people"
      from  (select array_agg(m.group_id order by m.group_id) as "groupIds"
             from   memberships m
             where  m.account_id = ${accountId} and ${isCounted}
               and  m.user_id in (select m.user_id
                                  from   memberships m
                                  where  m.account_id = ${accountId} and ${isCounted}
                                  group  by m.user_id
                                  having count(*) > 1)
             group  by m.user_id) as each
      group  by "groupIds"`,
  ]);
  const ofOne = one.flatMap(({ counts }) =>
    counts.map(([groupId, people]): MemberCount => ({ groupIds: [groupId], people })),
  );
  return [...ofOne, ...several];
}

/** How many ids of groups one row of counts covers. */
const groupsInRow = 2_000;

/** Whether the person of a membership `m` is active. Reads an index of the few people who are not. */
const isActive = (db: Db) => db`
  not exists (select 1 from users u where u.account_id = m.account_id and u.user_id = m.user_id and not u.active)`;

/** Groups and all groups below them, as part of a recursive query. */
const belowGroups = (db: Db, accountId: AccountId, groupIds: readonly number[]) => db`
  below as (
    select group_id from groups where account_id = ${accountId} and group_id = any(${groupIds as number[]}::integer[])
    union
    select g.group_id
    from   below b
    join   groups g on g.account_id = ${accountId} and g.parent_id = b.group_id
  )`;

/** Groups and all groups above them, as part of a recursive query. */
const aboveGroups = (db: Db, accountId: AccountId, groupIds: readonly number[]) => db`
  above as (
    select group_id, parent_id from groups
    where  account_id = ${accountId} and group_id = any(${groupIds as number[]}::integer[])
    union
    select g.group_id, g.parent_id
    from   above a
    join   groups g on g.account_id = ${accountId} and g.group_id = a.parent_id
  )`;

export type GroupHead = Omit<TreeGroup, 'people'>;

/** Returns groups, all groups below them and all groups above them; undefined: all of the account. */
export async function selectGroupHeads(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[] | undefined,
): Promise<GroupHead[]> {
  const [all, some] = groupIds
    ? [
        db`with recursive ${belowGroups(db, accountId, groupIds)}, ${aboveGroups(db, accountId, groupIds)}`,
        db`and group_id = any(array(select group_id from below union all select group_id from above))`,
      ]
    : [db``, db``];
  return db<GroupHead[]>`
    ${all}
    select group_id    as "id",
           parent_id   as "parentId",
           name        as "name",
           external_id as "externalId",
           managed     as "managed"
    from   groups
    where  account_id = ${accountId} ${some}
    order  by group_id`;
}

/** Returns groups with all groups above them and their direct subgroups. */
export async function selectGroupsAround(
  db: Db,
  accountId: AccountId,
  groupIds: readonly number[],
): Promise<GroupHead[]> {
  return db<GroupHead[]>`
    with recursive ${aboveGroups(db, accountId, groupIds)}
    select group_id    as "id",
           parent_id   as "parentId",
           name        as "name",
           external_id as "externalId",
           managed     as "managed"
    from   groups
    where  account_id = ${accountId}
      and  group_id = any(array(
             select group_id from above
             union all
             select group_id from groups
             where  account_id = ${accountId} and parent_id = any(${groupIds as number[]}::integer[])))
    order  by group_id`;
}

/** Returns how many groups an account has, and those at the top. */
export async function selectTopGroups(
  db: Db,
  accountId: AccountId,
): Promise<{ count: number; tops: Named[] }> {
  const [row] = await db<{ count: number; tops: Named[] }[]>`
    select count(*)::integer as "count",
           coalesce(json_agg(json_build_object('id', group_id, 'name', name) order by group_id)
                    filter (where parent_id is null), '[]') as "tops"
    from   groups
    where  account_id = ${accountId}`;
  return row!;
}

/** Returns those of these groups in which a person has a membership that opens groups. */
export async function selectAccessIn(
  db: Db,
  accountId: AccountId,
  userId: number,
  groupIds: readonly number[],
): Promise<{ groupId: number; kind: MembershipKind }[]> {
  return db<{ groupId: number; kind: MembershipKind }[]>`
    select group_id as "groupId", kind as "kind"
    from   memberships
    where  account_id = ${accountId} and user_id = ${userId} and kind <> 'memberOf'
      and  group_id = any(${groupIds as number[]}::integer[])`;
}

/**
 * Returns how many active people are members of a group or of a group below it. The query uses an index whatever the tables' statistics
 * say: in the first minute after a push, they say that both tables are empty.
 */
export async function countPeopleWithin(db: Db, accountId: AccountId, groupId: number): Promise<number> {
  const [row] = await db<{ people: number }[]>`
    with recursive ${belowGroups(db, accountId, [groupId])}
    select count(distinct m.user_id)::integer as "people"
    from   memberships m
    where  m.account_id = ${accountId} and m.group_id = any(array(select group_id from below)) and m.kind = 'memberOf'
      and  ${isActive(db)}`;
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
