// SQL of weeks whose key is lost. Writers: lost-weeks.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Transaction } from '../db/db.ts';

/** Records that a week was closed without results. */
export async function updateLost(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`update weeks set is_lost = true where account_id = ${accountId} and week = ${week}`;
}

/** Queues an email to each administrator. Does nothing if the service has never run, because the job tables don't exist yet. */
export async function addLostMails(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  const jobs =
    await tx`select from pg_namespace where nspname = 'graphile_worker' -- account_id: of no account`;
  if (jobs.length === 0) return;
  await tx`
    select graphile_worker.add_job(
      'mail lost week', json_build_object('accountId', account_id, 'week', ${week}::text, 'to', email),
      queue_name := 'mail')
    from   users
    where  account_id = ${accountId} and role = 'Administrator' and not role_pending and active and email is not null`;
}
