// SQL of the notices that a link was replaced. Writers: link-notices.ts, which only adds jobs.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';

/** Queues a message to each address. */
export async function addNotices(
  tx: Transaction,
  notices: { accountId: AccountId; userId: number; week: Week; to: string }[],
): Promise<void> {
  await tx`
    select graphile_worker.add_job(
             'mail link notice',
             json_build_object('accountId', n."accountId", 'userId', n."userId", 'week', n.week, 'to', n."to"),
             queue_name := 'mail')
    from   jsonb_to_recordset(${tx.json(notices)})
             as n("accountId" integer, "userId" integer, week text, "to" text)`;
}

/** Returns what the message needs to address the person; undefined if the person no longer exists. */
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
