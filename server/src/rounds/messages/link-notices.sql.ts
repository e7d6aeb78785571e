// SQL of replacing links, and of the notices about that. Writers: messages.ts and deliver.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../../db/db.ts';

/**
 * Deletes people's links of a week that were sent to other addresses than `address`, if there is a link sent to `address`, and queues a
 * message to each of these addresses. A link sent to a new address replaces the old one (P13). The jobs are deleted with the week and with
 * the user (jobs.sql.ts), and left out of backups.
 */
export async function replaceLinks(db: Db, people: Recipient[]): Promise<void> {
  const rows = people.map(({ accountId, userId, week, address }, place) => ({
    accountId,
    userId,
    week,
    address,
    place,
  }));
  const found = await db<{ place: number }[]>`
    select distinct n.place as "place"
    from   jsonb_to_recordset(${db.json(rows)})
             as n("accountId" integer, "userId" integer, week date, address text, place integer)
    join   links l on l.account_id = n."accountId" and l.user_id = n."userId" and l.week = n.week
    where  lower(l.sent_to) <> lower(n.address)`;
  // Few have any. One person at a time, because the removal of people and the closing of a week lock links in another order.
  for (const { place } of found) await replaceLinksOf(db, people[place] as Recipient);
}

type Recipient = { accountId: AccountId; userId: number; week: Week; address: string };

async function replaceLinksOf(db: Db, { accountId, userId, week, address }: Recipient): Promise<void> {
  await db`
    with gone as (delete from links l
                  where  l.account_id = ${accountId} and l.user_id = ${userId} and l.week = ${week}
                    and  lower(l.sent_to) <> lower(${address})
                    and  exists (select 1
                                 from   links k
                                 where  k.account_id = ${accountId} and k.user_id = ${userId} and k.week = ${week}
                                   and  lower(k.sent_to) = lower(${address}))
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
