// SQL of defining attributes, and of reading groups. Writers: people.ts.
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
