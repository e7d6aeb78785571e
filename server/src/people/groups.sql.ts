// SQL for reading groups and changing them manually. Writers: groups.ts.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type GroupRow = {
  id: number;
  externalId: string | null;
  managed: boolean;
  name: string;
  description: string | null;
  parentId: number | null;
};

/** Returns all groups of the account, ordered by id. */
export async function selectGroups(db: Db, accountId: AccountId): Promise<GroupRow[]> {
  return db<GroupRow[]>`
    select group_id    as "id",
           external_id as "externalId",
           managed     as "managed",
           name        as "name",
           description as "description",
           parent_id   as "parentId"
    from   groups
    where  account_id = ${accountId}
    order  by group_id`;
}

/**
 * Returns what moving a group concerns: the group with all groups below it, and all groups above it and above its new parent. `groupId`: 0
 * for a group that does not exist yet.
 */
export async function selectGroupsOfMove(
  db: Db,
  accountId: AccountId,
  groupId: number,
  parentId: number | null,
): Promise<{ id: number; parentId: number | null }[]> {
  return db<{ id: number; parentId: number | null }[]>`
    with recursive below as (
      select group_id, parent_id from groups where account_id = ${accountId} and group_id = ${groupId}
      union
      select g.group_id, g.parent_id
      from   below b
      join   groups g on g.account_id = ${accountId} and g.parent_id = b.group_id
    ), above as (
      select group_id, parent_id from groups
      where  account_id = ${accountId} and group_id = any(${[groupId, parentId ?? 0]}::integer[])
      union
      select g.group_id, g.parent_id
      from   above a
      join   groups g on g.account_id = ${accountId} and g.group_id = a.parent_id
    )
    select group_id as "id", parent_id as "parentId" from below
    union
    select group_id, parent_id from above`;
}

/** Returns how many direct subgroups a group has. */
export async function countSubgroups(db: Db, accountId: AccountId, groupId: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as count from groups where account_id = ${accountId} and parent_id = ${groupId}`;
  return row!.count;
}

/** Returns a group of the account. */
export async function selectGroup(
  db: Db,
  accountId: AccountId,
  groupId: number,
): Promise<GroupRow | undefined> {
  const [row] = await db<GroupRow[]>`
    select group_id    as "id",
           external_id as "externalId",
           managed     as "managed",
           name        as "name",
           description as "description",
           parent_id   as "parentId"
    from   groups
    where  account_id = ${accountId} and group_id = ${groupId}`;
  return row;
}

/**
 * Returns the groups that a person without the Administrator role can see: groups they own or have read access to,
 * and all subgroups of groups that they own including subgroups.
 */
export const selectGroupsOpenTo = (db: Db, accountId: AccountId, userId: number): Promise<number[]> =>
  selectGroupsByKind(db, accountId, userId, ['adminOf', 'inheritedAdminOf', 'interestOf']);

/** Returns the groups that a person owns: directly, or as subgroups of groups that they own including subgroups. */
export const selectGroupsOwnedBy = (db: Db, accountId: AccountId, userId: number): Promise<number[]> =>
  selectGroupsByKind(db, accountId, userId, ['adminOf', 'inheritedAdminOf']);

/** Returns the groups in which a person has one of these memberships, with the subgroups of `inheritedAdminOf`. */
async function selectGroupsByKind(
  db: Db,
  accountId: AccountId,
  userId: number,
  kinds: MembershipKind[],
): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with recursive open as (
      select group_id, kind = 'inheritedAdminOf' as "withSubgroups"
      from   memberships
      where  account_id = ${accountId} and user_id = ${userId} and kind = any(${kinds})
      union
      select g.group_id, true
      from   open o
      join   groups g on g.account_id = ${accountId} and g.parent_id = o.group_id
      where  o."withSubgroups"
    )
    select distinct group_id as id from open order by id`;
  return rows.map(({ id }) => id);
}

/** Creates a manual group and returns its id. */
export async function insertGroup(
  tx: Transaction,
  accountId: AccountId,
  group: { name: string; description: string | null; externalId: string | null; parentId: number | null },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into groups (account_id, external_id, managed, name, description, parent_id)
    values (${accountId}, ${group.externalId}, false, ${group.name}, ${group.description}, ${group.parentId})
    returning group_id as id`;
  return row!.id;
}

export async function updateGroup(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  group: { name: string; description: string | null; externalId: string | null },
): Promise<void> {
  await tx`
    update groups
    set    name = ${group.name}, description = ${group.description}, external_id = ${group.externalId}
    where  account_id = ${accountId} and group_id = ${groupId}`;
}

export async function updateGroupManaged(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  group: { managed: boolean; externalId: string | null },
): Promise<void> {
  await tx`
    update groups
    set    managed = ${group.managed}, by_scim = false, external_id = ${group.externalId}
    where  account_id = ${accountId} and group_id = ${groupId}`;
}

export async function updateParent(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
  parentId: number | null,
): Promise<void> {
  await tx`
    update groups set parent_id = ${parentId} where account_id = ${accountId} and group_id = ${groupId}`;
}

/** Deletes a group and its memberships. Its direct subgroups move up to its parent. */
export async function deleteGroup(tx: Transaction, accountId: AccountId, groupId: number): Promise<void> {
  await tx`
    update groups
    set    parent_id = (select parent_id from groups where account_id = ${accountId} and group_id = ${groupId})
    where  account_id = ${accountId} and parent_id = ${groupId}`;
  await tx`delete from memberships where account_id = ${accountId} and group_id = ${groupId}`;
  await tx`delete from groups where account_id = ${accountId} and group_id = ${groupId}`;
}

export async function selectExternalIdTaken(
  db: Db,
  accountId: AccountId,
  externalId: string,
): Promise<boolean> {
  const rows = await db`
    select 1 from groups where account_id = ${accountId} and external_id = ${externalId}`;
  return rows.length > 0;
}

/** Makes the next push compare the members of a group again, because the same list means something else once the group is managed. */
export async function clearFingerprintsIn(
  tx: Transaction,
  accountId: AccountId,
  groupId: number,
): Promise<void> {
  await tx`
    update users u
    set    fingerprint = null
    from   memberships m
    where  u.account_id = ${accountId} and u.fingerprint is not null
      and  m.account_id = ${accountId} and m.group_id = ${groupId} and m.user_id = u.user_id`;
}
