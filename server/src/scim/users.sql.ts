// SQL for the users of a directory. Writers: users.ts. applying/apply.sql.ts notes what was applied.
import type { JsonObject } from '../base/json/json.ts';
import type { AccountId, Db, Fragment } from '../db/db.ts';
import type { Candidates } from './protocol/candidates.ts';

/** A resource of the directory, as it is stored. */
export type StoredResource = {
  id: string;
  externalId: string | null;
  resource: JsonObject;
  createdAt: Date;
  changedAt: Date;
  revision: number;
};
export type StoredUser = StoredResource & { groups: { value: string; display: string }[] | null };

/** What the columns hold of a user, besides the resource. */
export type UserColumns = {
  userName: string;
  userNameKey: string;
  externalId: string | null;
  displayNameKey: string | null;
  emailKeys: string[];
  active: boolean;
  managerId: string | null;
  tokenId: number;
};

export type Written = Pick<StoredResource, 'createdAt' | 'changedAt' | 'revision'>;

const written = (db: Db) => db`created_at as "createdAt", changed_at as "changedAt", revision as "revision"`;

/**
 * Creates a user. If the directory deleted a user of this name and the person still exists, the new user is this person, who then keeps
 * their history.
 */
export async function insertScimUser(
  db: Db,
  accountId: AccountId,
  id: string,
  { resource, ...user }: UserColumns & { resource: JsonObject },
): Promise<Written> {
  const [row] = await db<Written[]>`
    with revived as (
      delete from scim_users
      where  account_id = ${accountId}
        and  scim_id = (select scim_id from scim_users
                        where  account_id = ${accountId} and user_name_key = ${user.userNameKey} and deleted_at is not null
                        order  by deleted_at desc
                        limit  1)
      returning scim_id, person_key
    ), moved as (
      update scim_members m
      set    member_id = ${id}
      from   revived r
      where  m.account_id = ${accountId} and m.member_id = r.scim_id::text
    )
    insert into scim_users (account_id, scim_id, user_name, user_name_key, external_id, display_name_key, email_keys, active,
                            manager_id, resource, person_key, removed_at, token_id)
    values (${accountId}, ${id}, ${user.userName}, ${user.userNameKey}, ${user.externalId}, ${user.displayNameKey},
            ${user.emailKeys}, ${user.active}, ${user.managerId}, ${db.json(resource)},
            coalesce((select person_key from revived), ${id}),
            case when not ${user.active} then statement_timestamp() end, ${user.tokenId})
    returning ${written(db)}`;
  return row!;
}

/** Replaces a user that still has a revision. Returns undefined if it was changed or deleted in the meantime. */
export async function updateScimUser(
  db: Db,
  accountId: AccountId,
  { id, revision }: { id: string; revision: number },
  { resource, ...user }: UserColumns & { resource: JsonObject },
): Promise<Written | undefined> {
  const [row] = await db<Written[]>`
    update scim_users
    set    user_name        = ${user.userName},
           user_name_key    = ${user.userNameKey},
           external_id      = ${user.externalId},
           display_name_key = ${user.displayNameKey},
           email_keys       = ${user.emailKeys},
           active           = ${user.active},
           manager_id       = ${user.managerId},
           resource         = ${db.json(resource)},
           changed_at       = greatest(date_trunc('milliseconds', statement_timestamp()), changed_at),
           revision         = revision + 1,
           changes          = changes + 1,
           is_blocked       = false,
           failures         = 0,
           retry_at         = null,
           is_kept          = is_kept and not ${user.active},
           removed_at       = case when not ${user.active} then coalesce(removed_at, statement_timestamp()) end,
           token_id         = ${user.tokenId}
    where  account_id = ${accountId} and scim_id = ${id} and deleted_at is null and revision = ${revision}
    returning ${written(db)}`;
  return row;
}

/**
 * Deletes a user for the directory. Its memberships stay in effect until the removal is decided. Returns whether it existed with this
 * revision (null: any).
 */
export async function deleteScimUser(
  db: Db,
  accountId: AccountId,
  id: string,
  { revision, tokenId }: { revision: number | null; tokenId: number },
): Promise<boolean> {
  const rows = await db`
    with gone as (
      update scim_users
      set    deleted_at = statement_timestamp(), removed_at = coalesce(removed_at, statement_timestamp()), revision = revision + 1,
             changes = changes + 1, is_kept = false, token_id = ${tokenId}
      where  account_id = ${accountId} and scim_id = ${id} and deleted_at is null
        and  (${revision}::integer is null or revision = ${revision})
      returning account_id, scim_id
    ), left_groups as (
      update scim_members m
      set    left_at = statement_timestamp()
      from   gone
      where  m.account_id = ${accountId} and m.member_id = gone.scim_id::text and m.left_at is null
    )
    select 1 from gone`;
  return rows.length > 0;
}

const columns = (db: Db, withGroups: boolean) => db`
  u.scim_id     as "id",
  u.external_id as "externalId",
  u.resource    as "resource",
  u.created_at  as "createdAt",
  u.changed_at  as "changedAt",
  u.revision    as "revision",
  ${withGroups ? groupsOf(db) : db`null`} as "groups"`;

/** Each group is looked up by its id: without `offset 0`, all groups of the account could be read, for each user. */
const groupsOf = (db: Db) => db`
  (select json_agg(json_build_object('value', g.scim_id, 'display', g.name) order by g.position)
   from   scim_members m
   cross  join lateral (select scim_id, position, resource->>'displayName' as name
                        from   scim_groups
                        where  account_id = m.account_id and scim_id = m.group_id and removed_at is null
                        offset 0) g
   where  m.account_id = u.account_id and m.member_id = u.scim_id::text and m.left_at is null)`;

export async function selectScimUser(
  db: Db,
  accountId: AccountId,
  id: string,
  withGroups: boolean,
): Promise<StoredUser | undefined> {
  const [row] = await db<StoredUser[]>`
    select ${columns(db, withGroups)}
    from   scim_users u
    where  u.account_id = ${accountId} and u.scim_id = ${id} and u.deleted_at is null`;
  return row;
}

/** The conditions of the candidates of a filter. Each kind of condition has one form, so that there are few different statements. */
function conditions(
  db: Db,
  { id, userName, externalId, displayName, email, active, changedFrom, changedTo }: Candidates,
): Fragment {
  return db`
    ${id ? db`and u.scim_id = any(${id.filter(isUuid)}::uuid[])` : db``}
    ${userName ? db`and u.user_name_key = any(${userName})` : db``}
    ${externalId ? db`and u.external_id = any(${externalId})` : db``}
    ${displayName ? db`and u.display_name_key = any(${displayName})` : db``}
    ${email ? db`and u.email_keys && ${email}::text[]` : db``}
    ${active === undefined ? db`` : db`and u.active = ${active}`}
    ${changedFrom === undefined ? db`` : db`and u.changed_at >= ${timeAt(changedFrom)}::timestamptz`}
    ${changedTo === undefined ? db`` : db`and u.changed_at <= ${timeAt(changedTo)}::timestamptz`}`;
}

/** Returns a time in ms as the database reads it, within its range. */
export const timeAt = (ms: number): string =>
  new Date(Math.min(Math.max(ms, -62_135_596_800_000), 253_402_300_799_999)).toISOString();

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Returns whether a text can be the id of a resource. */
export const isUuid = (text: string): boolean => uuid.test(text);

export type Page = { offset: number; limit: number };

/**
 * The condition that a user is not deleted. Only lists without a value to look up say that positions are above 0, so that only they use the
 * index by position (migration 64), which has all users of the account.
 */
const isListed = (db: Db, { id, userName, externalId, displayName, email }: Candidates): Fragment =>
  id || userName || externalId || displayName || email
    ? db`u.deleted_at is null`
    : db`u.position > 0 and u.deleted_at is null`;

/** Returns how many users are candidates. */
export async function countScimUsers(db: Db, accountId: AccountId, candidates: Candidates): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count"
    from   scim_users u
    where  u.account_id = ${accountId} and ${isListed(db, candidates)} ${conditions(db, candidates)}`;
  return row!.count;
}

/** Returns a page of the candidates, in the order of their creation. */
export async function selectScimUsers(
  db: Db,
  accountId: AccountId,
  candidates: Candidates,
  { offset, limit }: Page,
  withGroups: boolean,
): Promise<StoredUser[]> {
  return db<StoredUser[]>`
    select ${columns(db, withGroups)}
    from   scim_users u
    where  u.account_id = ${accountId} and ${isListed(db, candidates)} ${conditions(db, candidates)}
    order  by u.position
    limit  ${limit} offset ${offset}`;
}

/** The texts of a row as they are compared when case does not matter. */
export type StoredKeysRow = { userNameKey?: string; displayNameKey: string | null };

/** Returns the next candidates after a position, with their positions and keys, to compare them one by one. */
export async function selectScimUsersAfter(
  db: Db,
  accountId: AccountId,
  candidates: Candidates,
  { after, limit }: { after: string; limit: number },
  withGroups: boolean,
): Promise<(StoredUser & StoredKeysRow & { position: string })[]> {
  return db<(StoredUser & StoredKeysRow & { position: string })[]>`
    select ${columns(db, withGroups)}, u.position as "position", u.user_name_key as "userNameKey",
           u.display_name_key as "displayNameKey"
    from   scim_users u
    where  u.account_id = ${accountId} and ${isListed(db, candidates)} and u.position > ${after} ${conditions(db, candidates)}
    order  by u.position
    limit  ${limit}`;
}
