// SQL for handing people over to a directory, and for the users who wait for that. Writers: takeover.ts, waiting-users.ts.
import type { TakeoverPerson } from '@soundings/contract/scim/directory.ts';
import type { JsonObject } from '../../base/json/json.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** A user of the directory who waits, or whose person an administrator has kept. `isPerson`: there is a person of the directory that it is. */
export type BlockedUser = {
  id: string;
  userName: string;
  personKey: string;
  resource: JsonObject;
  isBlocked: boolean;
  isActive: boolean;
  isPerson: boolean;
  keptUserId: number | null;
};

const columns = (db: Db) => db`
  s.scim_id      as "id",
  s.user_name    as "userName",
  s.person_key   as "personKey",
  s.resource     as "resource",
  s.is_blocked   as "isBlocked",
  s.active       as "isActive",
  exists (select 1 from users u
          where  u.account_id = s.account_id and u.external_id = s.person_key and u.by_scim) as "isPerson",
  s.kept_user_id as "keptUserId"`;

/**
 * Returns the users who wait because the person exists already and belongs to others, and those whose person was kept. `locks`: the directory
 * does not change them meanwhile.
 */
export async function selectBlockedUsers(
  db: Db,
  accountId: AccountId,
  { limit, locks }: { limit: number; locks: boolean },
): Promise<BlockedUser[]> {
  return db<BlockedUser[]>`
    select ${columns(db)}
    from   scim_users s
    where  s.account_id = ${accountId} and (s.is_blocked or s.kept_user_id is not null) and s.deleted_at is null
    order  by s.position
    limit  ${limit}
    ${locks ? db`for update of s` : db``}`;
}

/** Returns the users who can be a person of another source: by the externalId, or because they wait and have the address. */
export async function selectUsersLike(
  db: Db,
  accountId: AccountId,
  { externalId, emailKey }: { externalId: string | null; emailKey: string | null },
): Promise<BlockedUser[]> {
  return db<BlockedUser[]>`
    select ${columns(db)}
    from   scim_users s
    where  s.account_id = ${accountId} and s.deleted_at is null
      and  (s.person_key = ${externalId}
            or s.is_blocked and (s.email_keys @> array[${emailKey}::text] or s.user_name_key = ${emailKey}))
    order  by s.position
    limit  100`;
}

/** Returns a user that the directory has not deleted, and locks it, so that the directory does not change it meanwhile. */
export async function selectUserToDecide(
  tx: Transaction,
  accountId: AccountId,
  id: string,
): Promise<BlockedUser | undefined> {
  const [row] = await tx<BlockedUser[]>`
    select ${columns(tx)}
    from   scim_users s
    where  s.account_id = ${accountId} and s.scim_id = ${id} and s.deleted_at is null
    for    update of s`;
  return row;
}

/** `isBreakGlass`: a break-glass administrator. `keyOwner`: the user of the directory that the person already is, by the externalId. */
export type ForeignPerson = TakeoverPerson & {
  emailKey: string | null;
  externalId: string | null;
  active: boolean;
  isBreakGlass: boolean;
  keyOwner: string | null;
};

/** Returns the people with these addresses or externalIds who don't belong to the directory. */
export async function selectForeignPeople(
  db: Db,
  accountId: AccountId,
  { emailKeys, personKeys }: { emailKeys: string[]; personKeys: string[] },
): Promise<ForeignPerson[]> {
  return db<ForeignPerson[]>`
    select u.user_id as "id", u.email_key as "emailKey", u.external_id as "externalId", u.active as "active",
           concat_ws(' ', u.first_name, u.last_name) as "name", u.email as "email", u.role as "role",
           case when u.managed then 'push' else 'manual' end as "source",
           exists (select 1 from break_glass_administrators b
                   where  b.account_id = ${accountId} and b.user_id = u.user_id) as "isBreakGlass",
           (select s.scim_id::text from scim_users s
            where  s.account_id = ${accountId} and s.person_key = u.external_id) as "keyOwner"
    from   users u
    where  u.account_id = ${accountId} and not u.by_scim
      and  (u.email_key = any(${emailKeys}) or u.external_id = any(${personKeys}))
    order  by u.user_id`;
}

/** Hands people over to the directory. Those without an externalId get the key of their user, which no one has. */
export async function updateTakenOver(
  tx: Transaction,
  accountId: AccountId,
  pairs: { id: string; userId: number }[],
): Promise<void> {
  if (pairs.length === 0) return;
  await tx`
    update users u
    set    managed = true, by_scim = true, external_id = coalesce(u.external_id, s.person_key), fingerprint = null
    from   jsonb_to_recordset(${tx.json(pairs)}) as p(id uuid, "userId" integer)
    join   scim_users s on s.account_id = ${accountId} and s.scim_id = p.id
    where  u.account_id = ${accountId} and u.user_id = p."userId"`;
  await tx`
    update scim_users s
    set    person_key = u.external_id, is_blocked = false, kept_user_id = null, changes = s.changes + 1
    from   jsonb_to_recordset(${tx.json(pairs)}) as p(id uuid, "userId" integer)
    join   users u on u.account_id = ${accountId} and u.user_id = p."userId"
    where  s.account_id = ${accountId} and s.scim_id = p.id`;
}

/** Notes that the person is not handed over to this user (null: can be again). */
export async function updateKeptPerson(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  userId: number | null,
): Promise<void> {
  await tx`
    update scim_users set kept_user_id = ${userId} where account_id = ${accountId} and scim_id = ${id}`;
}

/** Notes for each of these people who is a user of the directory that they are not handed over to it. */
export async function updateKeptPeople(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<void> {
  await tx`
    update scim_users s
    set    kept_user_id = u.user_id
    from   users u
    where  s.account_id = ${accountId} and u.account_id = s.account_id and u.external_id = s.person_key
      and  u.user_id = any(${userIds}) and not u.by_scim`;
}
