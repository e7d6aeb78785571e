// SQL of replacing links, and of the notices about that. Writers: messages.ts and deliver.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

/**
 * Deletes people's links of a week that were sent to other addresses than `address`, if there is a link sent to `address`, and queues a
 * message to each of these addresses. A link sent to a new address replaces the old one (P13). The jobs are deleted with the week and with
 * the user (jobs.sql.ts), and left out of backups.
 */
export async function replaceLinks(
  db: Db,
  people: { accountId: AccountId; userId: number; week: Week; address: string }[],
): Promise<void> {
  const rows = people.map(({ accountId, userId, week, address }) => ({ accountId, userId, week, address }));
  await db`
    with gone as (delete from links l
                  using  jsonb_to_recordset(${db.json(rows)})
                           as n("accountId" integer, "userId" integer, week date, address text)
                  where  l.account_id = n."accountId" and l.user_id = n."userId" and l.week = n.week
                    and  lower(l.sent_to) <> lower(n.address)
                    and  exists (select 1
                                 from   links k
                                 where  k.account_id = l.account_id and k.user_id = l.user_id and k.week = l.week
                                   and  lower(k.sent_to) = lower(n.address))
                  returning l.account_id, l.user_id, l.week, l.sent_to)
    select graphile_worker.add_job(
             'mail link notice',
             json_build_object('accountId', n.account_id, 'userId', n.user_id, 'week', n.week, 'to', n.sent_to),
             queue_name := 'mail')
    from   (select distinct account_id, user_id, week, sent_to from gone) n`;
}

/** Returns what the message needs to address the person; undefined if the person no longer exists, or the week has closed. */
export async function selectNoticeReader(
  db: Db,
  { accountId, userId, week }: { accountId: AccountId; userId: number; week: Week },
): Promise<{ company: string; firstName: string; language: string } | undefined> {
  const [row] = await db<{ company: string; firstName: string; language: string }[]>`
    select a.name                           as "company",
           u.first_name                     as "firstName",
           coalesce(u.language, a.language) as "language"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}
      and  exists (select 1 from weeks w where w.account_id = ${accountId} and w.week = ${week} and w.closed_at is null)`;
  return row;
}
