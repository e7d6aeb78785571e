// SQL of personal links. Writers: links.ts, and messages/link-notices.sql.ts and card-links.sql.ts for other ways in which links end or
// begin; closing deletes them (results/close-week.sql.ts).
import type { Week } from '@soundings/contract/weeks.ts';
import type { Channels } from '../base/messages/channels.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { channelOf, canBeReached } from './reach.sql.ts';

type NewLink = { accountId: AccountId; userId: number; week: Week; hash: Buffer; sentTo: string | null };

/**
 * Stores the hashes of links, each for an existing participant. First those of participants that no one is deleting: the removal of people and the
 * closing of a week lock them in another order, so a statement that waited for one of several would end in a deadlock. Then the others, one by one.
 */
export async function insertLinks(
  db: Db,
  links: NewLink[],
  handedOut: { by: number | null } | undefined,
): Promise<void> {
  const stored = await insertLinksNow(db, links, handedOut, links.length > 1);
  if (stored === links.length || links.length < 2) return;
  const [accountIds, userIds] = [links.map(({ accountId }) => accountId), links.map(({ userId }) => userId)];
  const rows = await db<{ hash: Buffer }[]>`
    select hash as "hash" from links where account_id = any(${accountIds}) and user_id = any(${userIds})`;
  const known = new Set(rows.map(({ hash }) => hash.toString('hex')));
  for (const link of links.filter(({ hash }) => !known.has(hash.toString('hex'))))
    await insertLinksNow(db, [link], handedOut, false);
}

/** Returns how many were stored. `skips`: without those of participants that someone is deleting. */
async function insertLinksNow(
  db: Db,
  links: NewLink[],
  handedOut: { by: number | null } | undefined,
  skips: boolean,
): Promise<number> {
  const rows = links.map(({ hash, ...one }) => ({ ...one, hash: hash.toString('hex') }));
  // On Citus, a link can be left if its participant is deleted meanwhile. The week is closed then, so the link opens nothing.
  const onCitus = await isOnCitus(db);
  const { count } = await db`
    insert into links (hash, account_id, user_id, week, is_exported, sent_to, handed_by)
    select decode(n.hash, 'hex'), n."accountId", n."userId", n.week, ${handedOut !== undefined}, n."sentTo",
           ${handedOut?.by ?? null}
    from   jsonb_to_recordset(${db.json(rows)})
             as n(hash text, "accountId" integer, "userId" integer, week date, "sentTo" text)
    join   participants p on p.account_id = n."accountId" and p.user_id = n."userId" and p.week = n.week
    ${onCitus ? db`` : db`for key share of p`} ${skips && !onCitus ? db`skip locked` : db``}`;
  return count;
}

/** Deletes a link. */
export async function deleteByHash(db: Db, accountId: AccountId, hash: Buffer): Promise<void> {
  await db`delete from links where account_id = ${accountId} and hash = ${hash}`;
}

/** Deletes the links of a week that were handed out to these people, except those of their cards. */
export async function deleteHandedOut(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  userIds: number[],
): Promise<void> {
  await tx`
    delete from links
    where  account_id = ${accountId} and week = ${week} and user_id = any(${userIds})
      and  is_exported and not from_card`;
}

/**
 * Condition: the service can write to participant p, who is user u, or has written to them in the week. In both cases no link is
 * handed out to them (P14). `channels`: what is configured, as far as the caller knows; messages that were sent count in any
 * case. A reminder counts from its due time, even if it was not sent, because whether it was sent depends on whether the person
 * had answered (P18). Text messages count only if one was planned for the week: when an account turns them on, people who were
 * asked before can still answer with their cards.
 */
export const canWriteTo = (db: Db, channels: Channels, accountId: AccountId) => db`
  (${canBeReached(db, channels, accountId)}
   and (${channelOf(db, channels, accountId)} = 'mail'
        or exists (select 1 from messages m
                   where  m.account_id = ${accountId} and m.user_id = p.user_id and m.week = p.week))
   or exists (select 1 from messages m
              where  m.account_id = ${accountId} and m.user_id = p.user_id and m.week = p.week
                and  case m.kind
                       when 'reminder' then m.state <> 'waiting' or coalesce(m.late_since, m.due_at) <= now()
                       else m.state in ('sending', 'sent', 'unknown') end))`;

export type LinkedPerson = {
  userId: number;
  externalId: string | null;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  language: string;
};

/**
 * Returns the active people asked in an open week, by default the latest one. `isWrittenTo`: whether the service can write to them
 * or has written to them in that week (P14). `channels`: see `canWriteTo`.
 */
export async function selectLinked(
  db: Db,
  accountId: AccountId,
  week: Week | undefined,
  channels: Channels,
): Promise<(LinkedPerson & { week: Week; isWrittenTo: boolean })[]> {
  return db`
    select p.week                           as "week",
           u.user_id                        as "userId",
           u.external_id                    as "externalId",
           u.first_name                     as "firstName",
           u.last_name                      as "lastName",
           u.email                          as "email",
           u.phone                          as "phone",
           coalesce(u.language, a.language) as "language",
           ${canWriteTo(db, channels, accountId)} as "isWrittenTo"
    from   participants p
    join   users u on u.account_id = p.account_id and u.user_id = p.user_id
    join   accounts a on a.account_id = p.account_id
    where  p.account_id = ${accountId} and u.active
      and  p.week = (select max(w.week)
                     from   weeks w
                     where  w.account_id = ${accountId} and w.closed_at is null
                       and  (${week ?? null}::date is null or w.week = ${week ?? null}::date)
                       and  exists (select 1
                                    from   participants q
                                    where  q.account_id = ${accountId} and q.week = w.week))
    order  by u.user_id`;
}
