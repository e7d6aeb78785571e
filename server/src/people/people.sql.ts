// SQL of users, groups, memberships and attributes that are made by hand, and of reading groups. Writers: people.ts;
// what is managed is written by sync/sync.sql.ts.
import type { MembershipKind, Role } from '@soundings/contract/organization.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Attribute } from './attributes.ts';

export type GroupRow = {
  id: number;
  externalId: string | null;
  managed: boolean;
  name: string;
  description: string | null;
  parentId: number | null;
};

/** All groups of the account, by id. */
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

/** Makes a group by hand and returns its id. */
export async function insertGroup(
  tx: Transaction,
  accountId: AccountId,
  group: { externalId: string | null; name: string; parentId: number | null },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into groups (account_id, external_id, managed, name, parent_id)
    values (${accountId}, ${group.externalId}, false, ${group.name}, ${group.parentId})
    returning group_id as id`;
  return row!.id;
}

/** Makes a user by hand and returns the id. */
export async function insertUser(
  tx: Transaction,
  accountId: AccountId,
  user: {
    externalId: string | null;
    firstName: string;
    lastName: string;
    email: string | null;
    emailKey: string | null;
    role: Role;
    timezone: string | null;
    language: string | null;
  },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, active, role,
                       timezone, language)
    values (${accountId}, ${user.externalId}, false, ${user.firstName}, ${user.lastName}, ${user.email},
            ${user.emailKey}, true, ${user.role}, ${user.timezone}, ${user.language})
    returning user_id as id`;
  return row!.id;
}

export async function insertMemberships(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  kind: MembershipKind,
  groupIds: number[],
): Promise<void> {
  await tx`
    insert into memberships (account_id, user_id, kind, group_id)
    select ${accountId}, ${userId}, ${kind}, id
    from   unnest(${groupIds}::integer[]) as id
    on conflict do nothing`;
}

/** Which of the ids are groups of the account. */
export async function selectGroupIds(db: Db, accountId: AccountId, groupIds: number[]): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and group_id = any(${groupIds})`;
  return rows.map(({ id }) => id);
}

/** Whether a user has the externalId, and whether one has the address (in its compared form). */
export async function selectUserClash(
  db: Db,
  accountId: AccountId,
  externalId: string | null,
  emailKey: string | null,
): Promise<{ externalId: boolean; email: boolean }> {
  const [row] = await db<{ externalId: boolean; email: boolean }[]>`
    select coalesce(bool_or(external_id = ${externalId}), false) as "externalId",
           coalesce(bool_or(email_key = ${emailKey}), false)     as "email"
    from   users
    where  account_id = ${accountId} and (external_id = ${externalId} or email_key = ${emailKey})`;
  return row!;
}

export async function selectGroupTaken(db: Db, accountId: AccountId, externalId: string): Promise<boolean> {
  const rows = await db`select 1 from groups where account_id = ${accountId} and external_id = ${externalId}`;
  return rows.length > 0;
}

/** Defining an attribute again replaces its allowed values. */
export async function upsertAttribute(
  tx: Transaction,
  accountId: AccountId,
  name: string,
  allowedValues: string[] | null,
): Promise<void> {
  await tx`
    insert into attributes (account_id, name, allowed_values)
    values (${accountId}, ${name}, ${allowedValues})
    on conflict (account_id, name) do update set allowed_values = excluded.allowed_values`;
}

/** Users who have the attribute are to be compared anew: what was sent of them may no longer be allowed. */
export async function clearFingerprints(
  tx: Transaction,
  accountId: AccountId,
  attribute: string,
): Promise<void> {
  await tx`
    update users
    set    fingerprint = null
    where  account_id = ${accountId} and fingerprint is not null and attributes ? ${attribute}`;
}

export async function selectAttributes(db: Db, accountId: AccountId): Promise<Attribute[]> {
  return db<Attribute[]>`
    select name, allowed_values as "allowedValues" from attributes where account_id = ${accountId} order by name`;
}

/**
 * The groups that a person who is no administrator of the account may see: those that the person owns or may read, and
 * those that the person administers with all beneath.
 */
export async function selectGroupsOpenTo(db: Db, accountId: AccountId, userId: number): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with recursive open as (
      select group_id, kind = 'inheritedAdminOf' as beneath
      from   memberships
      where  account_id = ${accountId} and user_id = ${userId}
        and  kind in ('adminOf', 'inheritedAdminOf', 'interestOf')
      union
      select g.group_id, true
      from   open o
      join   groups g on g.account_id = ${accountId} and g.parent_id = o.group_id
      where  o.beneath
    )
    select distinct group_id as id from open order by id`;
  return rows.map(({ id }) => id);
}
