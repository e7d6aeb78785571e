// SQL for defining attributes and reading groups. Writers: people.ts.
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

/** Defines an attribute, or replaces the allowed values of an existing one. */
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

/** Makes the next push compare users with this attribute again, because their values may no longer be allowed. */
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
 * Returns the groups that a person without the role Administrator can see: groups they administer or have access to, and groups
 * they administer with all subgroups.
 */
export async function selectGroupsOpenTo(db: Db, accountId: AccountId, userId: number): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    with recursive open as (
      select group_id, kind = 'inheritedAdminOf' as "withSubgroups"
      from   memberships
      where  account_id = ${accountId} and user_id = ${userId}
        and  kind in ('adminOf', 'inheritedAdminOf', 'interestOf')
      union
      select g.group_id, true
      from   open o
      join   groups g on g.account_id = ${accountId} and g.parent_id = o.group_id
      where  o."withSubgroups"
    )
    select distinct group_id as id from open order by id`;
  return rows.map(({ id }) => id);
}
