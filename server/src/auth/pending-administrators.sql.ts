// SQL for administrators who are not confirmed yet, and the emails that ask for confirmation. Writers: none.
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { selectHasJobs } from '../events/events.sql.ts';

/** Returns the ids of the people with these externalIds whose role is pending. */
export async function selectPendingOf(
  db: Db,
  accountId: AccountId,
  externalIds: string[],
): Promise<number[]> {
  const rows = await db<{ id: number }[]>`
    select user_id as "id" from users
    where  account_id = ${accountId} and external_id = any(${externalIds}) and role_pending
    order  by user_id`;
  return rows.map(({ id }) => id);
}

/**
 * Adds one job for each administrator, which emails that administrator. Adds none if the service, which creates the job queue, has
 * never run.
 */
export async function addPendingMails(
  tx: Transaction,
  accountId: AccountId,
  userIds: number[],
): Promise<void> {
  if (!(await selectHasJobs(tx))) return;
  await tx`
    select graphile_worker.add_job(
      'mail pending administrators',
      json_build_object('accountId', account_id, 'userId', user_id, 'pending', ${userIds}::integer[]),
      queue_name := 'mail')
    from   users
    where  account_id = ${accountId} and role = 'Administrator' and not role_pending and active
      and  email is not null`;
}

export type PendingMail = {
  to: string;
  language: string;
  company: string;
  /** The people who are still pending. */
  people: { name: string; email: string | null }[];
};

/** Returns the content of an email to an administrator, or undefined if nothing is pending any more or there is no such administrator. */
export async function selectPendingMail(
  db: Db,
  accountId: AccountId,
  userId: number,
  pending: number[],
): Promise<PendingMail | undefined> {
  const [row] = await db<PendingMail[]>`
    select u.email as "to", coalesce(u.language, a.language) as "language", a.name as "company",
           (select coalesce(json_agg(json_build_object('name', trim(p.first_name || ' ' || p.last_name), 'email', p.email)
                                     order by p.user_id), '[]')
            from   users p
            where  p.account_id = ${accountId} and p.user_id = any(${pending}) and p.role_pending) as "people"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.user_id = ${userId} and u.role = 'Administrator' and not u.role_pending
      and  u.active and u.email is not null and a.kind = 'company'`;
  return row && row.people.length > 0 ? row : undefined;
}
