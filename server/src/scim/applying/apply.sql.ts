// SQL for applying a directory to the people and groups of an account. Writers: apply.ts, removals.ts, takeover.ts.
import type { JsonObject } from '../../base/json/json.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import type { TreeGroup } from './tree-rule.ts';

/** A user of the directory, and the person who is this user, if there is one. */
export type UserToApply = {
  id: string;
  personKey: string;
  resource: JsonObject;
  active: boolean;
  isDeleted: boolean;
  changes: number;
  tokenId: number | null;
  managerId: string | null;
  /** Whether the person exists, and whether it belongs to the directory. */
  isPresent: boolean;
  isOwn: boolean;
  isActiveNow: boolean;
  role: string | null;
};

const columns = (db: Db) => db`
  s.scim_id                      as "id",
  s.person_key                   as "personKey",
  s.resource                     as "resource",
  s.active                       as "active",
  s.deleted_at is not null       as "isDeleted",
  s.changes                      as "changes",
  s.token_id                     as "tokenId",
  lower(s.manager_id)            as "managerId",
  u.user_id is not null          as "isPresent",
  coalesce(u.by_scim, false)     as "isOwn",
  coalesce(u.active, false)      as "isActiveNow",
  u.role                         as "role"`;

/**
 * Returns users that have changed since they were applied and are due at a time, in the order of their creation. Those who were refused come
 * last, so that trying them again does not take the runs of the others.
 */
export async function selectUsersToApply(
  db: Db,
  accountId: AccountId,
  limit: number,
  at: Date,
): Promise<UserToApply[]> {
  return db<UserToApply[]>`
    select ${columns(db)}
    from   scim_users s
    left   join users u on u.account_id = s.account_id and u.external_id = s.person_key
    where  s.account_id = ${accountId} and s.changes <> s.applied
      and  (s.retry_at is null or s.retry_at <= ${at})
    order  by s.is_blocked, s.failures > 0, s.position
    limit  ${limit}`;
}

/** Returns these users. `at`: leaves out those who were refused and are not due at this time. */
export async function selectUsersById(
  db: Db,
  accountId: AccountId,
  ids: string[],
  at?: Date,
): Promise<UserToApply[]> {
  if (ids.length === 0) return [];
  return db<UserToApply[]>`
    select ${columns(db)}
    from   scim_users s
    left   join users u on u.account_id = s.account_id and u.external_id = s.person_key
    where  s.account_id = ${accountId} and s.scim_id = any(${ids}::uuid[]) and s.deleted_at is null
      and  (s.retry_at is null or ${at ?? null}::timestamptz is null or s.retry_at <= ${at ?? null})
    order  by s.position`;
}

/** Returns all users that are not deleted. */
export async function selectAllUsers(db: Db, accountId: AccountId): Promise<UserToApply[]> {
  return db<UserToApply[]>`
    select ${columns(db)}
    from   scim_users s
    left   join users u on u.account_id = s.account_id and u.external_id = s.person_key
    where  s.account_id = ${accountId} and s.deleted_at is null
    order  by s.position`;
}

/** Returns all users whose people exist or will: also those that the directory has deleted, until the removal is applied. */
export async function selectTreeUsers(db: Db, accountId: AccountId): Promise<UserToApply[]> {
  return db<UserToApply[]>`
    select ${columns(db)}
    from   scim_users s
    left   join users u on u.account_id = s.account_id and u.external_id = s.person_key
    where  s.account_id = ${accountId} and (s.deleted_at is null or u.by_scim)
    order  by s.position`;
}

/** A user who was applied, or can't be because it is blocked. `changes`: its changes at that time. */
export type AppliedUser = { id: string; changes: number; isBlocked: boolean };

/** Notes what was applied. A change that arrived since is still to be applied, and what another process has applied since stays noted. */
export async function updateUsersApplied(db: Db, accountId: AccountId, users: AppliedUser[]): Promise<void> {
  if (users.length === 0) return;
  await db`
    update scim_users s
    set    failures = 0, retry_at = null,
           applied = case when a."isBlocked" then s.applied else greatest(s.applied, a.changes) end,
           is_blocked = case when s.changes = a.changes then a."isBlocked" else s.is_blocked end
    from   jsonb_to_recordset(${db.json(users)}) as a(id uuid, changes integer, "isBlocked" boolean)
    where  s.account_id = ${accountId} and s.scim_id = any(${users.map(({ id }) => id)}::uuid[]) and s.scim_id = a.id
      and  (s.applied < a.changes or s.is_blocked <> a."isBlocked")`;
}

/** Notes that users were refused at a time: they are tried again after a minute, then two, four and so on, and at least once an hour. */
export async function updateUsersRefused(
  tx: Transaction,
  accountId: AccountId,
  ids: string[],
  at: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update scim_users
    set    failures = case when failures < 100 then failures + 1 else failures end,
           retry_at = ${at}::timestamptz + case when failures < 6 then 2 ^ failures else 60 end * interval '1 minute'
    where  account_id = ${accountId} and scim_id = any(${ids}::uuid[])`;
}

/** Marks users that could not be applied, so that they are tried again. */
export async function updateUsersToApply(
  tx: Transaction,
  accountId: AccountId,
  ids: string[],
): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    update scim_users
    set    changes = changes + 1
    where  account_id = ${accountId} and scim_id = any(${ids}::uuid[]) and changes = applied`;
}

/** A group that has changed since it was applied. `failures`: how often the tree was refused with this change. */
export type GroupToApply = {
  id: string;
  changes: number;
  tokenId: number | null;
  isDeleted: boolean;
  isDue: boolean;
  failures: number;
};

/** Returns the groups that have changed since they were applied. `at`: whether they are due at this time; undefined: they all are. */
export async function selectGroupsToApply(
  db: Db,
  accountId: AccountId,
  at: Date | null = null,
): Promise<GroupToApply[]> {
  return db<GroupToApply[]>`
    select scim_id as "id", changes as "changes", token_id as "tokenId", removed_at is not null as "isDeleted",
           ${at}::timestamptz is null or refused is distinct from changes or retry_at <= ${at} as "isDue",
           case when refused = changes then failures else 0 end as "failures"
    from   scim_groups
    where  account_id = ${accountId} and changes <> applied`;
}

/** Notes that the tree was refused with these groups: the same is tried again at `retryAt`. */
export async function updateGroupsRefused(
  tx: Transaction,
  accountId: AccountId,
  groups: readonly GroupToApply[],
  { failures, retryAt }: { failures: number; retryAt: Date },
): Promise<void> {
  await tx`
    update scim_groups g
    set    refused = a.changes, failures = ${failures}, retry_at = ${retryAt}
    from   jsonb_to_recordset(${tx.json(groups)}) as a(id uuid, changes integer)
    where  g.account_id = ${accountId} and g.scim_id = a.id`;
}

export async function updateGroupsApplied(
  db: Db,
  accountId: AccountId,
  groups: { id: string; changes: number }[],
): Promise<void> {
  if (groups.length === 0) return;
  await db`
    update scim_groups g
    set    applied = a.changes
    from   jsonb_to_recordset(${db.json(groups)}) as a(id uuid, changes integer)
    where  g.account_id = ${accountId} and g.scim_id = a.id and g.applied < a.changes`;
}

/** Returns the externalId of the group that a group `g` of the directory is. */
const groupKey = (db: Db) => db`coalesce(g.group_key, g.scim_id::text)`;

/**
 * Returns all groups of the directory, each with the groups that it is a member of. A group that the directory has deleted is there until its
 * removal is applied, so that the tree does not change before.
 */
export async function selectTreeGroups(db: Db, accountId: AccountId): Promise<TreeGroup[]> {
  return db<TreeGroup[]>`
    with tree as materialized (
      select g.scim_id, g.position, g.resource->>'displayName' as name, ${groupKey(db)} as group_key
      from   scim_groups g
      where  g.account_id = ${accountId}
        and  (g.removed_at is null
              or exists (select 1 from groups o
                         where  o.account_id = ${accountId} and o.external_id = ${groupKey(db)} and o.by_scim))
    ), above as (
      select m.member_id, array_agg(p.group_key order by p.group_key) as group_keys
      from   scim_members m
      join   tree p on p.scim_id = m.group_id
      join   tree c on c.scim_id::text = m.member_id
      where  m.account_id = ${accountId}
      group  by m.member_id
    )
    select t.group_key as "id", t.name as "name", coalesce(a.group_keys, '{}') as "parentIds"
    from   tree t
    left   join above a on a.member_id = t.scim_id::text
    order  by t.position`;
}

/** Returns the groups of each of these users, by externalId. */
export async function selectGroupsOfUsers(
  db: Db,
  accountId: AccountId,
  ids: string[],
): Promise<{ memberId: string; groupId: string }[]> {
  if (ids.length === 0) return [];
  return db<{ memberId: string; groupId: string }[]>`
    select m.member_id as "memberId", ${groupKey(db)} as "groupId"
    from   scim_members m
    join   scim_groups g on g.account_id = m.account_id and g.scim_id = m.group_id
    where  m.account_id = ${accountId} and m.member_id = any(${ids})
    order  by 2`;
}

/**
 * Ends the memberships that have stayed although the group or the member was deleted, if both exist again since a time: until then the
 * directory can write them again.
 */
export async function deleteLeftMembers(tx: Transaction, accountId: AccountId, since: Date): Promise<void> {
  await tx`
    with ended as (
      delete from scim_members m
      using  scim_groups g
      where  m.account_id = ${accountId} and m.left_at is not null
        and  g.account_id = m.account_id and g.scim_id = m.group_id and g.removed_at is null and g.created_at <= ${since}
        and  not exists (select 1 from scim_groups c
                         where  c.account_id = ${accountId} and c.scim_id::text = m.member_id
                           and  (c.removed_at is not null or c.created_at > ${since}))
        and  not exists (select 1 from scim_users u
                         where  u.account_id = ${accountId} and u.scim_id::text = m.member_id
                           and  (u.deleted_at is not null or u.created_at > ${since}))
      returning m.group_id
    )
    update scim_groups set changes = changes + 1
    where  account_id = ${accountId} and scim_id in (select group_id from ended)`;
}

/** Returns the users whose memberships in changed groups differ from those of their persons. */
export async function selectMovedMembers(db: Db, accountId: AccountId): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    with changed as materialized (
      select g.scim_id, ${groupKey(db)} as group_key
      from   scim_groups g
      where  g.account_id = ${accountId} and g.changes <> g.applied
    ), wanted as (
      select m.member_id, m.group_id
      from   scim_members m
      join   changed c on c.scim_id = m.group_id
      where  m.account_id = ${accountId}
    ), present as (
      select s.scim_id::text as member_id, c.scim_id as group_id
      from   changed c
      join   groups g on g.account_id = ${accountId} and g.external_id = c.group_key
      join   memberships m on m.account_id = ${accountId} and m.group_id = g.group_id and m.kind = 'memberOf'
      join   users u on u.account_id = ${accountId} and u.user_id = m.user_id and u.by_scim
      join   scim_users s on s.account_id = ${accountId} and s.person_key = u.external_id
    ), moved as (
      (select * from wanted except select * from present) union (select * from present except select * from wanted)
    )
    select distinct s.scim_id as "id"
    from   moved m
    join   scim_users s on s.account_id = ${accountId} and s.scim_id::text = m.member_id and s.deleted_at is null`;
  return rows.map(({ id }) => id);
}

/** Who has an address. `next`: the person as a user of the directory, if a change of that user is not applied yet. */
export type AddressOwner = { personKey: string | null; isOwn: boolean; next: JsonObject | null };

/** Returns who has each address now, by the normalized address, and whether that person belongs to the directory. */
export async function selectAddressOwners(
  db: Db,
  accountId: AccountId,
  emailKeys: string[],
): Promise<Map<string, AddressOwner>> {
  if (emailKeys.length === 0) return new Map();
  const rows = await db<(AddressOwner & { emailKey: string })[]>`
    select u.email_key as "emailKey", u.external_id as "personKey", u.by_scim as "isOwn", s.resource as "next"
    from   users u
    left   join scim_users s on s.account_id = u.account_id and s.person_key = u.external_id and u.by_scim
                            and s.changes <> s.applied and s.deleted_at is null
    where  u.account_id = ${accountId} and u.email_key = any(${emailKeys})`;
  return new Map(rows.map(({ emailKey, ...owner }) => [emailKey, owner]));
}

/** Returns which of these externalIds belong to groups that are not the directory's. */
export async function selectForeignGroups(
  db: Db,
  accountId: AccountId,
  keys: string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set();
  const rows = await db<{ key: string }[]>`
    select external_id as "key"
    from   groups
    where  account_id = ${accountId} and external_id = any(${keys}) and not by_scim`;
  return new Set(rows.map(({ key }) => key));
}

/** Returns the externalIds of all groups that belong to the directory. */
export async function selectOwnGroups(db: Db, accountId: AccountId): Promise<string[]> {
  const rows = await db<{ key: string }[]>`
    select external_id as "key" from groups where account_id = ${accountId} and by_scim order by group_id`;
  return rows.map(({ key }) => key);
}

/** A person or group whose removal or deactivation is not applied yet. */
export type Removal = {
  entity: 'user' | 'group';
  id: string;
  key: string;
  isDeleted: boolean;
  changes: number;
  tokenId: number | null;
  at: Date;
};

/** Returns the removals that are not applied and were not rejected. */
export async function selectRemovals(db: Db, accountId: AccountId): Promise<Removal[]> {
  return db<Removal[]>`
    select 'user' as "entity", s.scim_id::text as "id", s.person_key as "key", s.deleted_at is not null as "isDeleted",
           s.changes as "changes", s.token_id as "tokenId", s.removed_at as "at"
    from   scim_users s
    join   users u on u.account_id = s.account_id and u.external_id = s.person_key and u.by_scim
    where  s.account_id = ${accountId} and s.removed_at is not null and not s.is_kept
      and  (s.deleted_at is not null or u.active)
    union  all
    select 'group', g.scim_id::text, ${groupKey(db)}, true, g.changes, g.token_id, g.removed_at
    from   scim_groups g
    join   groups o on o.account_id = g.account_id and o.external_id = ${groupKey(db)} and o.by_scim
    where  g.account_id = ${accountId} and g.removed_at is not null and not g.is_kept
    order  by 1, 2`;
}

/** Deletes what the directory has deleted and no longer is, or never was, a person or group of the directory. */
export async function deleteApplied(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    with gone as (
      delete from scim_users s
      where  s.account_id = ${accountId} and s.deleted_at is not null
        and  not exists (select 1 from users u
                         where  u.account_id = ${accountId} and u.external_id = s.person_key and u.by_scim)
      returning s.scim_id
    )
    delete from scim_members m using gone where m.account_id = ${accountId} and m.member_id = gone.scim_id::text`;
  await tx`
    with gone as (
      delete from scim_groups g
      where  g.account_id = ${accountId} and g.removed_at is not null
        and  not exists (select 1 from groups o
                         where  o.account_id = ${accountId} and o.external_id = ${groupKey(tx)} and o.by_scim)
      returning g.scim_id
    )
    delete from scim_members m using gone where m.account_id = ${accountId} and m.member_id = gone.scim_id::text`;
}

/** Keeps the people and groups of a run that was rejected. */
export async function updateKept(tx: Transaction, accountId: AccountId, runId: string): Promise<void> {
  await tx`
    update scim_users s
    set    is_kept = true
    from   run_changes c
    where  s.account_id = ${accountId} and s.removed_at is not null
      and  c.account_id = ${accountId} and c.run_id = ${runId} and c.entity = 'user' and c.external_id = s.person_key`;
  await tx`
    update scim_groups g
    set    is_kept = true
    from   run_changes c
    where  g.account_id = ${accountId} and g.removed_at is not null
      and  c.account_id = ${accountId} and c.run_id = ${runId} and c.entity = 'group'
      and  c.external_id = ${groupKey(tx)}`;
}

/** Returns how many active people and how many groups belong to the directory. */
export async function countOwn(db: Db, accountId: AccountId): Promise<{ people: number; groups: number }> {
  const [row] = await db<{ people: number; groups: number }[]>`
    select (select count(*)::integer from users where account_id = ${accountId} and by_scim and active)  as "people",
           (select count(*)::integer from groups where account_id = ${accountId} and by_scim)            as "groups"`;
  return row!;
}
