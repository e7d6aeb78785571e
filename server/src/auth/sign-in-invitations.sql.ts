// SQL for invitations to sign in, and for the jobs that email them. Writers: sign-in-invitations.ts, sign-in.ts.
import type { Role } from '@soundings/contract/people/roles.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { selectPreviousAddressRule } from './sign-in-links.sql.ts';

export type InvitationState = 'waiting' | 'sending' | 'sent' | 'refused' | 'unknown' | 'handed out';

/**
 * Joins the invitation `i` of people `u` if it still applies: it was sent to their current address, and not before they
 * last became active.
 */
export const selectCurrentInvitation = (db: Db) => db`
  left join sign_in_invitations i
         on i.account_id = u.account_id and i.user_id = u.user_id and i.email_key = u.email_key
        and i.invited_at >= u.active_since`;

/** What decides whether a person can be invited. `email`: where the invitation would go. */
export type Invitee = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  role: Role;
  active: boolean;
  isRolePending: boolean;
  hasPassword: boolean;
  /** The latest invitation. */
  invitedAt: Date | null;
  state: InvitationState | null;
  /** Whether an invitation by email was requested in the last `hours`, and the mail server has not refused it. */
  isRecent: boolean;
};

/** Returns the people of the account among `userIds`, by name. */
export async function selectInvitees(
  db: Db,
  accountId: AccountId,
  userIds: number[],
  hours: number,
): Promise<Invitee[]> {
  return db<Invitee[]>`
    select u.user_id      as "id",
           u.first_name   as "firstName",
           u.last_name    as "lastName",
           case when p.is_previous then u.email_before else u.email end as "email",
           u.role         as "role",
           u.active       as "active",
           u.role_pending as "isRolePending",
           w.hash is not null as "hasPassword",
           i.invited_at   as "invitedAt",
           i.state        as "state",
           coalesce(i.state in ('waiting', 'sending', 'sent', 'unknown')
                    and i.invited_at > now() - ${hours}::integer * interval '1 hour', false) as "isRecent"
    from   users u
    left   join passwords w on w.account_id = u.account_id and w.user_id = u.user_id
    ${selectCurrentInvitation(db)}
    ${selectPreviousAddressRule(db, accountId)}
    where  u.account_id = ${accountId} and u.user_id = any(${userIds})
    order  by u.search_text, u.user_id`;
}

/**
 * Stores that people are invited, replacing their earlier invitations. Someone whose invitation by email was requested less than
 * `gap` seconds ago is left out, and keeps it. Returns the ids of the others.
 */
export async function upsertInvitations(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
  { state, request, gap }: { state: 'waiting' | 'handed out'; request: string; gap: number },
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    insert into sign_in_invitations as i (account_id, user_id, email_key, state, request_id, invited_at)
    select u.account_id, u.user_id, u.email_key, ${state}, ${request}, statement_timestamp()
    from   users u
    where  u.account_id = ${accountId} and u.user_id = any(${userIds}) and u.email_key is not null
    on     conflict (account_id, user_id) do update
    set    email_key = excluded.email_key, state = excluded.state, request_id = excluded.request_id,
           reminder = i.email_key = excluded.email_key and i.state not in ('waiting', 'refused'),
           invited_at = excluded.invited_at
    where  i.email_key <> excluded.email_key or i.state not in ('waiting', 'sending', 'sent', 'unknown')
       or  extract(epoch from excluded.invited_at - i.invited_at) >= ${gap}::integer
    returning user_id as "id"`;
  return rows.map(({ id }) => id);
}

/** Adds a job for each person, which emails the invitation. Jobs of links that people request themselves go first. */
export async function addInvitationMails(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
  request: string,
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             'mail sign-in invitation',
             json_build_object('accountId', ${accountId}::integer, 'userId', u.id, 'request', ${request}::text),
             queue_name := 'mail', priority := 10)
    from   unnest(${userIds}::integer[]) with ordinality as u(id, place)
    order  by u.place`;
}

/** The invitation of a person that a job is for, locked until the transaction ends. */
export type DueInvitation = { state: InvitationState; isReminder: boolean; canBeSent: boolean };

/**
 * Returns the invitation if it still belongs to this request. `canBeSent`: the address is still the one that the administrator saw,
 * and the person has no password yet.
 */
export async function selectDueInvitation(
  tx: Transaction,
  accountId: AccountId,
  userId: number,
  request: string,
): Promise<DueInvitation | undefined> {
  const [row] = await tx<DueInvitation[]>`
    select i.state    as "state",
           i.reminder as "isReminder",
           u.email_key is not distinct from i.email_key
           and not exists (select 1 from passwords p where p.account_id = ${accountId} and p.user_id = u.user_id)
                      as "canBeSent"
    from   sign_in_invitations i
    join   users u on u.account_id = i.account_id and u.user_id = i.user_id
    where  i.account_id = ${accountId} and i.user_id = ${userId} and i.request_id = ${request}
    for    update of i`;
  return row;
}

/** Stores the outcome of an invitation, if it still belongs to this request. */
export async function updateInvitation(
  db: Db,
  accountId: AccountId,
  userId: number,
  { request, state }: { request: string; state: InvitationState },
): Promise<void> {
  await db`
    update sign_in_invitations set state = ${state}
    where  account_id = ${accountId} and user_id = ${userId} and request_id = ${request}`;
}

/** Deletes the invitation of a person, who has set a password or can't be invited any more. */
export async function deleteInvitation(db: Db, accountId: AccountId, userId: number): Promise<void> {
  await db`delete from sign_in_invitations where account_id = ${accountId} and user_id = ${userId}`;
}
