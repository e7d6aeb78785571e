// SQL for notices about changes to people's sign-in, and for those to all administrators. Notices are jobs and are not stored anywhere else.
// Writers: none.
import type { AccountId, Db, Transaction } from '../db/db.ts';
import type { Notice } from './noticed-changes.ts';

/**
 * Adds one job per email, for people who can sign in or have signed in before. An email goes to the current address, unless the
 * notice is about a changed address. It also goes to the previous address if the address was changed in the last 30 days. The job
 * contains everything that the email needs, because the person may be removed before it runs.
 */
export async function addNoticesTo(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
  { change, about }: Notice,
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             'mail account notice',
             json_build_object('accountId', u.account_id, 'userId', u.user_id, 'to', address.email, 'change', ${change}::text,
                               'about', ${about ?? null}::text, 'firstName', u.first_name, 'company', a.name,
                               'language', coalesce(u.language, a.language)),
             queue_name := 'mail')
    from   users u
    join   accounts a on a.account_id = u.account_id
    cross  join lateral (select u.email where ${change}::text <> 'address changed'
                         union
                         select u.email_before
                         where  u.email_changed_at > now() - interval '30 days') as address
    where  u.account_id = ${accountId} and u.user_id = any(${userIds}) and address.email is not null
      and  a.kind = 'company'
      and  (exists (select 1 from passwords p where p.account_id = ${accountId} and p.user_id = u.user_id)
            or exists (select 1 from audit_entries e
                       where  e.account_id = ${accountId} and e.user_id = u.user_id and e.action = 'signed in'))`;
}

/** Returns the active administrators of the account whose role is confirmed, except `but`. */
export async function selectAdministratorsToNotify(
  db: Db,
  accountId: AccountId,
  { but = null }: { but?: number | null },
): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select user_id as "id" from users
    where  account_id = ${accountId} and role = 'Administrator' and not role_pending and active
      and  user_id is distinct from ${but}`;
  return rows.map(({ id }) => id);
}

/** Returns the people among `userIds` whose address was changed in this transaction. */
export async function selectMovedNow(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<number[]> {
  const rows = await tx<{ id: number }[]>`
    select user_id as "id" from users
    where  account_id = ${accountId} and user_id = any(${userIds}) and email_changed_at = now()`;
  return rows.map(({ id }) => id);
}

/**
 * Adds one job for each active administrator with an address. The job gets the payload with the account and the address. The job tables exist:
 * see selectHasJobs.
 */
export async function addAdministratorMails(
  tx: Transaction,
  accountId: AccountId,
  task: string,
  payload: Record<string, string | number>,
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             ${task},
             (${tx.json(payload)}::jsonb || jsonb_build_object('accountId', account_id, 'to', email))::json,
             queue_name := 'mail')
    from   users
    where  account_id = ${accountId} and role = 'Administrator' and active and not role_pending and email is not null`;
}
