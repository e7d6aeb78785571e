// SQL that reads the current state for a plan and applies the plan, with a fixed number of statements for any number of people.
// Writes managed users and groups, and all memberships in managed groups.
import { type MembershipKind, membershipKinds } from '@soundings/contract/people/memberships.ts';
import { type AccountId, copyBytes, copyFormat, copyInto, type Db, type Transaction } from '../db/db.ts';
import type { Administrator, CurrentGroup, CurrentUser, UserDetails } from './current-state.ts';
import type { WeeksOfGroup } from './plan-warnings.ts';

/** Returns all groups of the account, ordered by id. `isDirectory`: whether the directory (SCIM) is the sender. */
export async function selectCurrentGroups(
  db: Db,
  accountId: AccountId,
  isDirectory: boolean,
): Promise<CurrentGroup[]> {
  return db<CurrentGroup[]>`
    select group_id    as "id",
           external_id as "externalId",
           managed and by_scim = ${isDirectory}  as "managed",
           managed and by_scim <> ${isDirectory} as "isOthers",
           name        as "name",
           description as "description",
           parent_id   as "parentId"
    from   groups
    where  account_id = ${accountId}
    order  by group_id`;
}

/** Returns the number of weeks in which each group has results, by id. Groups without results are left out. */
export async function selectWeeksOfGroups(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
): Promise<WeeksOfGroup[]> {
  if (groupIds.length === 0) return [];
  // One index lookup per group and week, because a group has many results in a week.
  return db<WeeksOfGroup[]>`
    select g.id as "id", count(*)::integer as "weeks"
    from   unnest(${groupIds}::integer[]) as g (id)
    join   weeks w on w.account_id = ${accountId}
    where  exists (select 1 from results r
                   where  r.account_id = ${accountId} and r.group_id = g.id and r.week = w.week)
    group  by g.id
    order  by g.id`;
}

/** Which users are read: those with these externalIds, or with these ids. Undefined: all of the account. */
type Which = { externalIds: string[] } | { ids: number[] } | undefined;

/** Returns users of the account, ordered by id, with the fingerprint of what was last sent. `isDirectory`: as for groups. */
export async function selectCurrentUsers(
  db: Db,
  accountId: AccountId,
  isDirectory: boolean,
  which: Which,
): Promise<CurrentUser[]> {
  const only =
    which === undefined
      ? db``
      : 'ids' in which
        ? db`and user_id = any(${which.ids})`
        : db`and external_id = any(${which.externalIds})`;
  return db<CurrentUser[]>`
    select user_id     as "id",
           external_id as "externalId",
           managed and by_scim = ${isDirectory}  as "managed",
           managed and by_scim <> ${isDirectory} as "isOthers",
           fingerprint as "fingerprint"
    from   users
    where  account_id = ${accountId} ${only}
    order  by user_id`;
}

/** Like `selectCurrentUsers`, for the users with these externalIds, in no order. */
export async function selectUsersByExternalIds(
  db: Db,
  accountId: AccountId,
  externalIds: string[],
): Promise<CurrentUser[]> {
  return db<CurrentUser[]>`
    select user_id     as "id",
           external_id as "externalId",
           managed and not by_scim as "managed",
           managed and by_scim     as "isOthers",
           fingerprint as "fingerprint"
    from   users
    where  account_id = ${accountId} and external_id = any(${externalIds})`;
}

export async function selectAdministrators(
  db: Db,
  accountId: AccountId,
  isDirectory: boolean,
): Promise<Administrator[]> {
  return db<Administrator[]>`
    select u.user_id as "id", u.managed and u.by_scim = ${isDirectory} as "managed", u.active as "active",
           u.email_key as "emailKey",
           coalesce(r.requires_sso, false) and u.email_key is not null
             and exists (select 1 from break_glass_administrators b
                         join   passwords p on p.account_id = b.account_id and p.user_id = b.user_id
                         join   two_factor s on s.account_id = b.account_id and s.user_id = b.user_id and s.on_since is not null
                         where  b.account_id = ${accountId} and b.user_id = u.user_id) as "isBreakGlass"
    from   users u
    left   join sign_in_rules r on r.account_id = u.account_id
    where  u.account_id = ${accountId} and u.role = 'Administrator' and not u.role_pending`;
}

/** Returns the id of the user who has each address, by the normalized address. Unused addresses are left out. */
export async function selectEmailOwners(
  db: Db,
  accountId: AccountId,
  emailKeys: string[],
): Promise<Map<string, number>> {
  if (emailKeys.length === 0) return new Map();
  const rows = await db<{ emailKey: string; id: number }[]>`
    select email_key as "emailKey", user_id as "id"
    from   users
    where  account_id = ${accountId} and email_key = any(${emailKeys})`;
  return new Map(rows.map(({ emailKey, id }) => [emailKey, id]));
}

/** Returns the other fields of the given users, with their memberships. */
export async function selectUserDetails(
  db: Db,
  accountId: AccountId,
  userIds: number[],
): Promise<Map<number, UserDetails>> {
  if (userIds.length === 0) return new Map();
  const rows = await db<Omit<UserDetails, 'memberships'>[]>`
    select user_id    as "id",
           first_name as "firstName",
           last_name  as "lastName",
           email      as "email",
           email_key  as "emailKey",
           phone      as "phone",
           active     as "active",
           timezone   as "timezone",
           language   as "language",
           role       as "role",
           role_pending as "rolePending",
           attributes as "attributes"
    from   users
    where  account_id = ${accountId} and user_id = any(${userIds})`;
  const memberships = await db<{ userId: number; kind: MembershipKind; groupId: number }[]>`
    select user_id as "userId", kind as "kind", group_id as "groupId"
    from   memberships
    where  account_id = ${accountId} and user_id = any(${userIds})
    order  by group_id`;
  const details = new Map(rows.map((row) => [row.id, { ...row, memberships: noMemberships() }]));
  for (const { userId, kind, groupId } of memberships) details.get(userId)?.memberships[kind].push(groupId);
  return details;
}

const noMemberships = () =>
  Object.fromEntries(membershipKinds.map((kind) => [kind, [] as number[]])) as UserDetails['memberships'];

/** Reserves ids for new groups before the rows are written, so that new groups can be each other's parents. */
export const takeGroupIds = (tx: Transaction, count: number): Promise<number[]> =>
  takeIds(tx, { table: 'groups', column: 'group_id' }, count);

export const takeUserIds = (tx: Transaction, count: number): Promise<number[]> =>
  takeIds(tx, { table: 'users', column: 'user_id' }, count);

/** Reserves the next ids of a table. */
async function takeIds(
  tx: Transaction,
  { table, column }: { table: string; column: string },
  count: number,
): Promise<number[]> {
  if (count === 0) return [];
  const rows = await tx<{ id: number }[]>`
    with sequence as materialized (select pg_get_serial_sequence(${table}, ${column})::regclass as name)
    select nextval(name)::integer as id from sequence, generate_series(1, ${count})`;
  return rows.map(({ id }) => id);
}

export type NewGroupRow = {
  id: number;
  externalId: string;
  name: string;
  description: string | null;
  parentId: number | null;
};

export async function copyGroups(
  tx: Transaction,
  accountId: AccountId,
  groups: NewGroupRow[],
  isDirectory: boolean,
): Promise<void> {
  if (groups.length === 0) return;
  const rows = groups.map(
    ({ id, externalId, name, description, parentId }) =>
      [accountId, id, externalId, true, isDirectory, name, description, parentId] as const,
  );
  await copyInto(
    tx`copy groups (account_id, group_id, external_id, managed, by_scim, name, description, parent_id) from stdin`,
    rows,
  );
}

export async function updateGroups(
  tx: Transaction,
  accountId: AccountId,
  groups: { id: number; name: string; description: string | null; parentId: number | null }[],
): Promise<void> {
  if (groups.length === 0) return;
  await tx`
    update groups g
    set    name = s.name, description = s.description, parent_id = s."parentId"
    from   jsonb_to_recordset(${tx.json(groups)}) as s(id integer, name text, description text, "parentId" integer)
    where  g.account_id = ${accountId} and g.group_id = s.id`;
}

export async function updateGroupParents(
  tx: Transaction,
  accountId: AccountId,
  groups: { id: number; parentId: number | null }[],
): Promise<void> {
  if (groups.length === 0) return;
  await tx`
    update groups g
    set    parent_id = s."parentId"
    from   jsonb_to_recordset(${tx.json(groups)}) as s(id integer, "parentId" integer)
    where  g.account_id = ${accountId} and g.group_id = s.id`;
}

/** Deletes groups and their memberships. */
export async function deleteGroups(tx: Transaction, accountId: AccountId, groupIds: number[]): Promise<void> {
  if (groupIds.length === 0) return;
  await tx`delete from memberships where account_id = ${accountId} and group_id = any(${groupIds})`;
  await tx`delete from groups where account_id = ${accountId} and group_id = any(${groupIds})`;
}

export type WrittenUser = {
  id: number;
  externalId: string;
  firstName: string;
  lastName: string;
  email: string | null;
  emailKey: string | null;
  phone: string | null;
  active: boolean;
  timezone: string | null;
  language: string | null;
  role: string;
  rolePending: boolean;
  attributes: Record<string, string>;
  fingerprint: string;
};

/** Yields new users in the format of `copyUsers`. */
export const copiedUsers = (
  accountId: AccountId,
  users: WrittenUser[],
  isDirectory: boolean,
): Generator<Buffer> =>
  copyFormat(
    users.map(
      (user) =>
        [
          accountId,
          user.id,
          user.externalId,
          true,
          isDirectory,
          user.firstName,
          user.lastName,
          user.email,
          user.emailKey,
          user.phone,
          user.active,
          user.timezone,
          user.language,
          user.role,
          user.rolePending,
          JSON.stringify(user.attributes),
          user.fingerprint,
        ] as const,
    ),
  );

export async function copyUsers(tx: Transaction, users: Iterable<Uint8Array>): Promise<void> {
  await copyBytes(
    tx`copy users (account_id, user_id, external_id, managed, by_scim, first_name, last_name, email, email_key, phone,
                   active, timezone, language, role, role_pending, attributes, fingerprint) from stdin`,
    users,
  );
}

/** Clears the addresses of users who get another one, so that two users can swap addresses. */
export async function clearChangedEmails(
  tx: Transaction,
  accountId: AccountId,
  users: WrittenUser[],
): Promise<void> {
  if (users.length === 0) return;
  await tx`
    update users u
    set    email = null, email_key = null
    from   jsonb_to_recordset(${tx.json(users)}) as s(id integer, "emailKey" text)
    where  u.account_id = ${accountId} and u.user_id = s.id and u.email_key <> coalesce(s."emailKey", '')`;
}

export async function updateUsers(
  tx: Transaction,
  accountId: AccountId,
  users: WrittenUser[],
): Promise<void> {
  if (users.length === 0) return;
  await tx`
    update users u
    set    first_name = s."firstName", last_name = s."lastName", email = s.email, email_key = s."emailKey",
           phone = s.phone, active = s.active, timezone = s.timezone, language = s.language, role = s.role,
           role_pending = s."rolePending", attributes = s.attributes, fingerprint = s.fingerprint
    from   jsonb_to_recordset(${tx.json(users)})
           as s(id integer, "firstName" text, "lastName" text, email text, "emailKey" text, phone text, active boolean,
                timezone text, language text, role text, "rolePending" boolean, attributes jsonb, fingerprint text)
    where  u.account_id = ${accountId} and u.user_id = s.id`;
}

export async function updateFingerprints(
  tx: Transaction,
  accountId: AccountId,
  users: { id: number; fingerprint: string }[],
): Promise<void> {
  if (users.length === 0) return;
  await tx`
    update users u
    set    fingerprint = s.fingerprint
    from   jsonb_to_recordset(${tx.json(users)}) as s(id integer, fingerprint text)
    where  u.account_id = ${accountId} and u.user_id = s.id`;
}

export type MembershipRow = { userId: number; kind: MembershipKind; groupId: number };

/** Yields memberships in the format of `copyMemberships`. */
export const copiedMemberships = (accountId: AccountId, rows: MembershipRow[]): Generator<Buffer> =>
  copyFormat(rows.map(({ userId, kind, groupId }) => [accountId, userId, kind, groupId] as const));

export async function copyMemberships(tx: Transaction, rows: Iterable<Uint8Array>): Promise<void> {
  await copyBytes(tx`copy memberships (account_id, user_id, kind, group_id) from stdin`, rows);
}

export async function deleteMemberships(
  tx: Transaction,
  accountId: AccountId,
  rows: MembershipRow[],
): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    delete from memberships m
    using  jsonb_to_recordset(${tx.json(rows)}) as s("userId" integer, kind text, "groupId" integer)
    where  m.account_id = ${accountId} and m.user_id = s."userId" and m.kind = s.kind and m.group_id = s."groupId"`;
}
