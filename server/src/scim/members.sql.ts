// SQL for the members of the groups of a directory. Writers: groups.ts. users.sql.ts and groups.sql.ts mark memberships as left.
import type { AccountId, Db, Fragment, Transaction } from '../db/db.ts';
import type { Member } from './members.ts';

/**
 * Adds members. Returns how many were new. Someone who joins a group leaves the deleted groups, unless they
 * only come back to a group that was created again.
 */
export async function insertScimMembers(
  tx: Transaction,
  accountId: AccountId,
  groupId: string,
  members: Member[],
): Promise<number> {
  if (members.length === 0) return 0;
  const rows = await tx`with ${joining(tx, accountId, groupId, members)} select 1 from joined`;
  return rows.length;
}

/** The members who join a group, as `joined`. `only`: a condition that the group must fulfil. */
const joining = (
  db: Db,
  accountId: AccountId,
  groupId: string,
  members: Member[],
  only = db``,
): Fragment => db`
    former as (
      select member_id from scim_members
      where  account_id = ${accountId} and group_id = ${groupId} and left_at is not null
    ), joined as (
      insert into scim_members (account_id, group_id, member_id, display)
      select ${accountId}, ${groupId}, m.id, m.display
      from   jsonb_to_recordset(${db.json(members)}) as m(id text, display text)
      ${only}
      on conflict (account_id, group_id, member_id) do update set left_at = null, display = excluded.display
      where  scim_members.left_at is not null
      returning member_id
    ), moved as (
      delete from scim_members m
      using  joined j
      where  m.account_id = ${accountId} and m.member_id = j.member_id and m.group_id <> ${groupId} and m.left_at is not null
        and  j.member_id not in (select member_id from former)
    )`;

/** The id of a member, if it can be one of a user or a group. */
const idOfMember = (db: Db) =>
  db`case when m.member_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then m.member_id::uuid end`;

/** Returns the condition that the directory can end a membership: not if it has deleted the member, whose place then waits for the decision. */
const canEnd = (db: Db) => db`
  (m.left_at is null or not exists (
     select 1 from scim_groups c
     where  c.account_id = m.account_id and c.scim_id = ${idOfMember(db)} and c.removed_at is not null
     union  all
     select 1 from scim_users u
     where  u.account_id = m.account_id and u.scim_id = ${idOfMember(db)} and u.deleted_at is not null))`;

/** Removes these members. Returns how many there were. */
export async function deleteScimMembers(
  tx: Transaction,
  accountId: AccountId,
  groupId: string,
  memberIds: string[],
): Promise<number> {
  if (memberIds.length === 0) return 0;
  const rows = await tx`
    delete from scim_members m
    where  m.account_id = ${accountId} and m.group_id = ${groupId} and m.member_id = any(${memberIds}) and ${canEnd(tx)}
    returning 1`;
  return rows.length;
}

/** Removes all members but these. Returns how many there were. */
export async function deleteOtherScimMembers(
  tx: Transaction,
  accountId: AccountId,
  groupId: string,
  memberIds: string[],
): Promise<number> {
  const rows = await tx`
    delete from scim_members m
    where  m.account_id = ${accountId} and m.group_id = ${groupId} and m.member_id <> all(${memberIds}) and ${canEnd(tx)}
    returning 1`;
  return rows.length;
}

/**
 * Adds or removes members and notes that in the group, in one statement. If it makes no difference, nothing is written. Returns the version of
 * the group after that; undefined if there is no such group. Waits for other changes of the group.
 */
export async function changeScimMembers(
  db: Db,
  accountId: AccountId,
  groupId: string,
  { action, members }: { action: 'add' | 'remove'; members: Member[] },
  tokenId: number,
): Promise<number | undefined> {
  const changed =
    action === 'add'
      ? db`${joining(db, accountId, groupId, members, db`where exists (select 1 from locked)`)}, changed as (select 1 from joined)`
      : db`
    changed as (
      delete from scim_members m
      where  m.account_id = ${accountId} and m.group_id = ${groupId} and m.member_id = any(${members.map(({ id }) => id)})
        and  exists (select 1 from locked) and ${canEnd(db)}
      returning 1
    )`;
  const [row] = await db<{ revision: number }[]>`
    with locked as (
      select revision from scim_groups
      where  account_id = ${accountId} and scim_id = ${groupId} and removed_at is null
      for    update
    ), ${changed}, noted as (
      update scim_groups
      set    changed_at = greatest(date_trunc('milliseconds', statement_timestamp()), changed_at),
             revision   = revision + 1,
             changes    = changes + 1,
             token_id   = ${tokenId}
      where  account_id = ${accountId} and scim_id = ${groupId} and exists (select 1 from changed)
      returning revision
    )
    select coalesce(n.revision, l.revision) as "revision" from locked l left join noted n on true`;
  return row?.revision;
}

export type MemberRow = {
  groupId: string;
  memberId: string;
  display: string | null;
  type: 'User' | 'Group' | null;
};

/**
 * Returns the members of groups, with their names and types as far as they exist. Each is looked up by its id: without `offset 0`, all users of
 * the account could be read, for each group.
 */
export async function selectScimMembers(
  db: Db,
  accountId: AccountId,
  groupIds: string[],
): Promise<MemberRow[]> {
  if (groupIds.length === 0) return [];
  return db<MemberRow[]>`
    with named as (
      select m.account_id, m.group_id, m.member_id, m.display, ${idOfMember(db)} as scim_id
      from   scim_members m
      where  m.account_id = ${accountId} and m.group_id = any(${groupIds}::uuid[]) and m.left_at is null
    )
    select m.group_id  as "groupId",
           m.member_id as "memberId",
           coalesce(m.display, u.name, u.user_name, g.name) as "display",
           case when u.scim_id is not null then 'User' when g.scim_id is not null then 'Group' end as "type"
    from   named m
    left   join lateral (select scim_id, user_name, resource->>'displayName' as name from scim_users
                         where  account_id = m.account_id and scim_id = m.scim_id and deleted_at is null
                         offset 0) u on true
    left   join lateral (select scim_id, resource->>'displayName' as name from scim_groups
                         where  account_id = m.account_id and scim_id = m.scim_id and removed_at is null
                         offset 0) g on true
    order  by m.group_id, m.member_id`;
}
