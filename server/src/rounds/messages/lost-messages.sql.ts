// SQL of messages that a process was sending when it stopped. Writer: messages.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Channels } from '../../base/messages/channels.ts';
import { isOnCitus, ofAccount, takenInTurn } from '../../db/citus/distribution.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { channelOf } from '../reach.sql.ts';

/**
 * Marks messages of all accounts as unknown if the process that was sending them stopped before the receiver replied. Returns
 * their people, with the address to which each message may have been sent. Skips messages that another process is changing; the next call
 * ends those that are left. The removal of people and the closing of a week lock the same messages in another order.
 */
export async function endLost(db: Db, channels: Channels): Promise<LostMessage[]> {
  const accounts = async () => {
    const rows = await db<{ id: AccountId }[]>`
      select distinct account_id as "id" from messages where ${isLost(db, 'messages')}`;
    return rows.map(({ id }) => id);
  };
  return takenInTurn(db, Infinity, accounts, (accountId) => endLostOf(db, channels, accountId));
}

type LostMessage = { accountId: AccountId; userId: number; week: Week; address: string | null };

const isLost = (db: Db, messages: string) => db`
  ${db(messages)}.state = 'sending' and ${db(messages)}.begun_at < now() - interval '15 minutes'`;

async function endLostOf(db: Db, channels: Channels, accountId: AccountId | null): Promise<LostMessage[]> {
  const channel = channelOf(db, channels, accountId ?? db`u.account_id`);
  const onCitus = await isOnCitus(db);
  return db<LostMessage[]>`
    with mine as (select account_id, user_id, week, schedule_id, kind
                  from   messages m
                  where  ${isLost(db, 'm')} ${ofAccount(db, 'm', accountId)}
                  ${onCitus ? db`` : db`for update skip locked`}),
         lost as (update messages m
                  set    state = 'unknown'
                  from   mine
                  where  m.account_id = mine.account_id and m.user_id = mine.user_id and m.week = mine.week
                    and  m.schedule_id = mine.schedule_id and m.kind = mine.kind
                    and  ${isLost(db, 'm')} ${ofAccount(db, 'm', accountId)}
                  returning m.account_id, m.user_id, m.week)
    select lost.account_id as "accountId",
           lost.user_id    as "userId",
           lost.week       as "week",
           case ${channel} when 'mail' then u.email when 'sms' then u.phone end as "address"
    from   lost
    join   users u on u.account_id = lost.account_id and u.user_id = lost.user_id
    where  true ${ofAccount(db, 'u', accountId)}`;
}
