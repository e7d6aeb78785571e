// SQL for the groups of a directory. Writers: groups.ts. applying/apply.sql.ts notes what was applied.
import type { JsonObject } from '../base/json/json.ts';
import type { AccountId, Db, Fragment, Transaction } from '../db/db.ts';
import type { Candidates } from './protocol/candidates.ts';
import {
  isUuid,
  type Page,
  type StoredKeysRow,
  type StoredResource,
  timeAt,
  type Written,
} from './users.sql.ts';

export type GroupColumns = {
  externalId: string | null;
  displayNameKey: string;
  resource: JsonObject;
  tokenId: number;
};

const written = (db: Db) => db`created_at as "createdAt", changed_at as "changedAt", revision as "revision"`;

export async function insertScimGroup(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  group: GroupColumns,
): Promise<Written> {
  const [row] = await tx<Written[]>`
    insert into scim_groups (account_id, scim_id, external_id, display_name_key, resource, token_id)
    values (${accountId}, ${id}, ${group.externalId}, ${group.displayNameKey}, ${tx.json(group.resource)}, ${group.tokenId})
    returning ${written(tx)}`;
  return row!;
}

/**
 * Creates a group that is one of the same name which the directory has deleted, if its removal is not applied: the new one takes its
 * place, and keeps what it is in Soundings. If there are several, it is the one with the same externalId or the most of these members.
 * Returns undefined if there is none.
 */
export async function reviveScimGroup(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  group: GroupColumns,
  memberIds: string[],
): Promise<Written | undefined> {
  const [former] = await tx<{ id: string }[]>`
    select g.scim_id as "id"
    from   scim_groups g
    where  g.account_id = ${accountId} and g.display_name_key = ${group.displayNameKey} and g.removed_at is not null
      and  exists (select 1 from groups o
                   where  o.account_id = ${accountId} and o.external_id = coalesce(g.group_key, g.scim_id::text) and o.by_scim)
    order  by (g.external_id = ${group.externalId}) desc nulls last,
              (select count(*) from scim_members m
               where  m.account_id = ${accountId} and m.group_id = g.scim_id and m.member_id = any(${memberIds})) desc,
              g.removed_at desc
    limit  1
    for    update`;
  if (!former) return undefined;
  // A copy with the new id gets the members before the former group is deleted. Citus refuses foreign keys that update what contains the account.
  const [revived] = await tx<Written[]>`
    insert into scim_groups (account_id, scim_id, group_key, external_id, display_name_key, resource, changes, applied, token_id,
                             refused, failures, retry_at)
    select account_id, ${id}::uuid, coalesce(group_key, scim_id::text), ${group.externalId}::text, ${group.displayNameKey}::text,
           ${tx.json(group.resource)}::jsonb, changes + 1, applied, ${group.tokenId}::integer, refused, failures, retry_at
    from   scim_groups
    where  account_id = ${accountId} and scim_id = ${former.id}
    returning ${written(tx)}`;
  await tx`
    update scim_members set group_id = ${id} where account_id = ${accountId} and group_id = ${former.id}`;
  await tx`
    update scim_members set member_id = ${id} where account_id = ${accountId} and member_id = ${former.id}`;
  await tx`delete from scim_groups where account_id = ${accountId} and scim_id = ${former.id}`;
  return revived!;
}

/** Replaces the attributes of a locked group, or only notes that its members have changed. */
export async function updateScimGroup(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  group: GroupColumns,
): Promise<Written> {
  const [row] = await tx<Written[]>`
    update scim_groups
    set    external_id      = ${group.externalId},
           display_name_key = ${group.displayNameKey},
           resource         = ${tx.json(group.resource)},
           changed_at       = greatest(date_trunc('milliseconds', statement_timestamp()), changed_at),
           revision         = revision + 1,
           changes          = changes + 1,
           token_id         = ${group.tokenId}
    where  account_id = ${accountId} and scim_id = ${id}
    returning ${written(tx)}`;
  return row!;
}

/**
 * Deletes a group for the directory. Its memberships stay in effect until the removal is decided. Returns whether it existed with this
 * revision (null: any).
 */
export async function deleteScimGroup(
  db: Db,
  accountId: AccountId,
  id: string,
  { revision, tokenId }: { revision: number | null; tokenId: number },
): Promise<boolean> {
  const rows = await db`
    with gone as (
      update scim_groups
      set    removed_at = statement_timestamp(), revision = revision + 1, changes = changes + 1, is_kept = false,
             token_id = ${tokenId}
      where  account_id = ${accountId} and scim_id = ${id} and removed_at is null
        and  (${revision}::integer is null or revision = ${revision})
      returning account_id, scim_id
    ), left_by_members as (
      update scim_members m
      set    left_at = statement_timestamp()
      from   gone
      where  m.account_id = ${accountId} and m.group_id = gone.scim_id and m.left_at is null
    ), left_groups as (
      update scim_members m
      set    left_at = statement_timestamp()
      from   gone
      where  m.account_id = ${accountId} and m.member_id = gone.scim_id::text and m.group_id <> gone.scim_id
        and  m.left_at is null
    )
    select 1 from gone`;
  return rows.length > 0;
}

const columns = (db: Db) => db`
  g.scim_id     as "id",
  g.external_id as "externalId",
  g.resource    as "resource",
  g.created_at  as "createdAt",
  g.changed_at  as "changedAt",
  g.revision    as "revision"`;

export async function selectScimGroup(
  db: Db,
  accountId: AccountId,
  id: string,
): Promise<StoredResource | undefined> {
  const [row] = await db<StoredResource[]>`
    select ${columns(db)}
    from   scim_groups g
    where  g.account_id = ${accountId} and g.scim_id = ${id} and g.removed_at is null`;
  return row;
}

/** Returns a group and locks it until the transaction ends, so that its changes come one after another. */
export async function lockScimGroup(
  tx: Transaction,
  accountId: AccountId,
  id: string,
): Promise<StoredResource | undefined> {
  const [row] = await tx<StoredResource[]>`
    select ${columns(tx)}
    from   scim_groups g
    where  g.account_id = ${accountId} and g.scim_id = ${id} and g.removed_at is null
    for    update`;
  return row;
}

function conditions(
  db: Db,
  { id, externalId, displayName, member, changedFrom, changedTo }: Candidates,
): Fragment {
  return db`
    ${id ? db`and g.scim_id = any(${id.filter(isUuid)}::uuid[])` : db``}
    ${externalId ? db`and g.external_id = any(${externalId})` : db``}
    ${displayName ? db`and g.display_name_key = any(${displayName})` : db``}
    ${
      member
        ? db`and exists (select 1 from scim_members m
                         where m.account_id = g.account_id and m.group_id = g.scim_id and m.member_id = any(${member})
                           and m.left_at is null)`
        : db``
    }
    ${changedFrom === undefined ? db`` : db`and g.changed_at >= ${timeAt(changedFrom)}::timestamptz`}
    ${changedTo === undefined ? db`` : db`and g.changed_at <= ${timeAt(changedTo)}::timestamptz`}`;
}

/** As for users: only lists without such conditions use the index by position. */
const isListed = (db: Db, { id, externalId, displayName, member }: Candidates): Fragment =>
  id || externalId || displayName || member
    ? db`g.removed_at is null`
    : db`g.position > 0 and g.removed_at is null`;

/** Returns how many groups are candidates. */
export async function countScimGroups(db: Db, accountId: AccountId, candidates: Candidates): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count"
    from   scim_groups g
    where  g.account_id = ${accountId} and ${isListed(db, candidates)} ${conditions(db, candidates)}`;
  return row!.count;
}

/** Returns a page of the candidates, in the order of their creation. */
export async function selectScimGroups(
  db: Db,
  accountId: AccountId,
  candidates: Candidates,
  { offset, limit }: Page,
): Promise<StoredResource[]> {
  return db<StoredResource[]>`
    select ${columns(db)}
    from   scim_groups g
    where  g.account_id = ${accountId} and ${isListed(db, candidates)} ${conditions(db, candidates)}
    order  by g.position
    limit  ${limit} offset ${offset}`;
}

/** Returns the next candidates after a position, with their positions and keys, to compare them one by one. */
export async function selectScimGroupsAfter(
  db: Db,
  accountId: AccountId,
  candidates: Candidates,
  { after, limit }: { after: string; limit: number },
): Promise<(StoredResource & StoredKeysRow & { position: string })[]> {
  return db<(StoredResource & StoredKeysRow & { position: string })[]>`
    select ${columns(db)}, g.position as "position", g.display_name_key as "displayNameKey"
    from   scim_groups g
    where  g.account_id = ${accountId} and ${isListed(db, candidates)} and g.position > ${after} ${conditions(db, candidates)}
    order  by g.position
    limit  ${limit}`;
}
