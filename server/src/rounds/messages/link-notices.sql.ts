// SQL of the notices that a link was replaced. Writers: link-notices.ts, which only adds jobs.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** Queues an email to each address. */
export async function addNotices(
  tx: Transaction,
  { accountId, userId, week }: { accountId: AccountId; userId: number; week: Week },
  addresses: string[],
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             'mail link notice',
             json_build_object('accountId', ${accountId}::integer, 'userId', ${userId}::integer,
                               'week', ${week}::text, 'to', n.address), queue_name := 'mail')
    from   unnest(${addresses}::text[]) as n(address)`;
}

/** Returns what the email needs to address the person; undefined if the person no longer exists. */
export async function selectNoticeReader(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<{ company: string; firstName: string; language: string } | undefined> {
  const [row] = await db<{ company: string; firstName: string; language: string }[]>`
    select a.name                           as "company",
           u.first_name                     as "firstName",
           coalesce(u.language, a.language) as "language"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row;
}
