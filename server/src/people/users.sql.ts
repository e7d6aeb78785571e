// SQL for creating and changing users manually, one at a time, and for handing many over. Writers: users.ts, handover.ts, administrators.ts.
// sync/sync.sql.ts writes managed people.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';
import type { Role } from '@soundings/contract/people/roles.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { deleteLinkNotices } from '../jobs/jobs.sql.ts';

/** The fields of a person. */
export type UserFields = {
  externalId: string | null;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: Role;
  attributes: Record<string, string>;
};
export type UserRow = UserFields & { id: number; managed: boolean };

export async function selectUser(db: Db, accountId: AccountId, userId: number): Promise<UserRow | undefined> {
  const [row] = await db<UserRow[]>`
    select user_id     as "id",
           managed     as "managed",
           external_id as "externalId",
           first_name  as "firstName",
           last_name   as "lastName",
           email       as "email",
           phone       as "phone",
           active      as "active",
           timezone    as "timezone",
           language    as "language",
           role        as "role",
           attributes  as "attributes"
    from   users
    where  account_id = ${accountId} and user_id = ${userId}`;
  return row;
}

/** Creates a manual user and returns the id. */
export async function insertUser(
  tx: Transaction,
  accountId: AccountId,
  user: UserFields & { emailKey: string | null },
): Promise<number> {
  const [row] = await tx<{ id: number }[]>`
    insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, phone, active, role,
                       timezone, language, attributes)
    values (${accountId}, ${user.externalId}, false, ${user.firstName}, ${user.lastName}, ${user.email},
            ${user.emailKey}, ${user.phone}, ${user.active}, ${user.role}, ${user.timezone}, ${user.language},
            ${tx.json(user.attributes)})
    returning user_id as id`;
  return row!.id;
}

/** Updates all fields and clears the fingerprint, so that the next push compares the person again. */
export async function updateUser(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  user: UserFields & { emailKey: string | null },
): Promise<void> {
  await tx`
    update users
    set    external_id = ${user.externalId},
           first_name  = ${user.firstName},
           last_name   = ${user.lastName},
           email       = ${user.email},
           email_key   = ${user.emailKey},
           phone       = ${user.phone},
           active      = ${user.active},
           timezone    = ${user.timezone},
           language    = ${user.language},
           role        = ${user.role},
           role_pending = role_pending and ${user.role} = 'Administrator',
           attributes  = ${tx.json(user.attributes)},
           fingerprint = null
    where  account_id = ${accountId} and user_id = ${userId}`;
}

/**
 * Deletes users with their memberships, passwords, sessions, links and other personal data. Participants, cards and messages come before the users: a
 * sender that makes a link, or records that a message was rejected, locks these rows first and then the user, and must not wait for a deletion
 * that waits for it.
 */
export async function deleteUsers(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  if (userIds.length === 0) return;
  await tx`delete from memberships where account_id = ${accountId} and user_id = any(${userIds})`;
  await tx`delete from participants where account_id = ${accountId} and user_id = any(${userIds})`;
  await tx`delete from cards where account_id = ${accountId} and user_id = any(${userIds})`;
  await tx`delete from messages where account_id = ${accountId} and user_id = any(${userIds})`;
  await tx`delete from users where account_id = ${accountId} and user_id = any(${userIds})`;
  await tx`delete from sent_texts where account_id = ${accountId}`; // they have digests of the users
  await deleteLinkNotices(tx, accountId, { userIds });
}

/** Returns whether another user has the externalId or the normalized address. */
export async function selectClash(
  db: Db,
  accountId: AccountId,
  { userId, externalId, emailKey }: { userId: number; externalId: string | null; emailKey: string | null },
): Promise<{ externalId: boolean; email: boolean }> {
  const [row] = await db<{ externalId: boolean; email: boolean }[]>`
    select coalesce(bool_or(external_id = ${externalId}), false) as "externalId",
           coalesce(bool_or(email_key = ${emailKey}), false)     as "email"
    from   users
    where  account_id = ${accountId} and user_id <> ${userId}
      and  (external_id = ${externalId} or email_key = ${emailKey})`;
  return row!;
}

export async function selectHasOtherAdministrator(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<boolean> {
  const rows = await db`
    select 1
    from   users
    where  account_id = ${accountId} and user_id <> ${userId} and role = 'Administrator' and not role_pending and active
    limit  1`;
  return rows.length > 0;
}

export type PersonMembership = { kind: MembershipKind; groupId: number; isManaged: boolean };

export async function selectMemberships(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<PersonMembership[]> {
  return db<PersonMembership[]>`
    select m.kind as "kind", m.group_id as "groupId", g.managed as "isManaged"
    from   memberships m
    join   groups g on g.account_id = m.account_id and g.group_id = m.group_id
    where  m.account_id = ${accountId} and m.user_id = ${userId}`;
}

/** Returns which of the ids are groups of the account, and whether each is managed. */
export async function selectGroupsOf(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
): Promise<Map<number, boolean>> {
  const rows = await db<{ id: number; managed: boolean }[]>`
    select group_id as "id", managed as "managed"
    from   groups
    where  account_id = ${accountId} and group_id = any(${groupIds})`;
  return new Map(rows.map(({ id, managed }) => [id, managed]));
}

/** Replaces a user's memberships of one kind. */
export async function replaceMemberships(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  kind: MembershipKind,
  groupIds: number[],
): Promise<void> {
  await tx`
    delete from memberships
    where  account_id = ${accountId} and user_id = ${userId} and kind = ${kind} and group_id <> all(${groupIds})`;
  await tx`
    insert into memberships (account_id, user_id, kind, group_id)
    select ${accountId}, ${userId}, ${kind}, id
    from   unnest(${groupIds}::integer[]) as id
    on conflict do nothing`;
}

/** Returns which of the given people can be handed over, and how many others can't, by reason (like Handover in the contract). */
export async function selectHandover(
  db: Db,
  accountId: AccountId,
  { userIds, toManaged, by }: { userIds: number[]; toManaged: boolean; by: number },
): Promise<{ changing: number[]; already: number; withoutExternalId: number; ownAccount: number }> {
  const [row] = await db<
    { changing: number[]; already: number; withoutExternalId: number; ownAccount: number }[]
  >`
    select coalesce(array_agg(user_id order by user_id) filter (where reason = 'changing'), '{}') as "changing",
           count(*) filter (where reason = 'already')::integer                                 as "already",
           count(*) filter (where reason = 'without')::integer                                 as "withoutExternalId",
           count(*) filter (where reason = 'own')::integer                                     as "ownAccount"
    from  (select user_id,
                  case when managed = ${toManaged}                     then 'already'
                       when ${toManaged} and user_id = ${by}           then 'own'
                       when ${toManaged} and external_id is null       then 'without'
                       else 'changing' end as reason
           from   users
           where  account_id = ${accountId} and user_id = any(${userIds})) as each`;
  return row!;
}

/** Returns the id of the person with this normalized address. */
export async function selectUserIdOf(
  db: Db,
  accountId: AccountId,
  emailKey: string,
): Promise<number | undefined> {
  const [row] = await db<{ id: number }[]>`
    select user_id as "id" from users where account_id = ${accountId} and email_key = ${emailKey}`;
  return row?.id;
}

/** Confirms a pending role. Returns whether it was pending. */
export async function updateConfirmed(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
): Promise<boolean> {
  const rows = await tx`
    update users set role_pending = false
    where  account_id = ${accountId} and user_id = ${userId} and role_pending
    returning 1`;
  return rows.length > 0;
}

/**
 * Deletes previous addresses that were replaced more than 30 days ago, in all accounts (account_id). Skips people that others are changing; the next
 * call deletes theirs. A push locks many people, in another order.
 */
export async function deleteEmailsBefore(db: Db): Promise<void> {
  const onCitus = await isOnCitus(db);
  const isOld = db`email_changed_at < now() - interval '30 days'`;
  await db`
    with old as (select account_id, user_id from users where ${isOld} ${onCitus ? db`` : db`for no key update skip locked`})
    update users u
    set    email_before = null, email_changed_at = null
    from   old
    where  u.account_id = old.account_id and u.user_id = old.user_id and ${isOld}`;
}

export async function updateUsersManaged(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
  managed: boolean,
): Promise<void> {
  await tx`
    update users
    set    managed = ${managed}, by_scim = false, fingerprint = null
    where  account_id = ${accountId} and user_id = any(${userIds})`;
}
