// SQL of the links of cards. Writer: card-links.ts.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Channels } from '../base/messages/channels.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { canWriteTo } from './links.sql.ts';

/**
 * Returns the latest open week in which a person is asked and can answer with a card, or null if they aren't asked now; undefined if
 * the card can't be used: the service can write to the person (P14), or they aren't in the group of the kiosk. `groupId`: the kiosk's
 * group, or null.
 */
export async function selectWeekForCard(
  db: Db,
  accountId: AccountId,
  userId: number,
  { channels, groupId }: { channels: Channels; groupId: number | null },
): Promise<Week | null | undefined> {
  const [row] = await db<{ week: Week | null }[]>`
    with recursive tree as (select ${groupId}::integer as group_id
                            union
                            select g.group_id
                            from   groups g
                            join   tree t on g.account_id = ${accountId} and g.parent_id = t.group_id)
    select p.week as "week"
    from   users u
    left   join lateral (select q.account_id, q.user_id, q.week
                         from   participants q
                         join   weeks w on w.account_id = q.account_id and w.week = q.week
                         where  q.account_id = ${accountId} and q.user_id = u.user_id and w.closed_at is null
                         order  by q.week desc
                         limit  1) p on true
    where  u.account_id = ${accountId} and u.user_id = ${userId} and u.active
      and  not ${canWriteTo(db, channels, accountId)}
      and  (${groupId}::integer is null
            or exists (select 1 from memberships m
                       join   tree t on t.group_id = m.group_id
                       where  m.account_id = ${accountId} and m.user_id = u.user_id and m.kind = 'memberOf'))`;
  return row?.week;
}

/** Returns whether a link is stored. */
export async function selectHasLink(db: Db, accountId: AccountId, hash: Buffer): Promise<boolean> {
  const [row] = await db<{ isStored: boolean }[]>`
    select exists (select 1 from links where hash = ${hash} and account_id = ${accountId}) as "isStored"`;
  return row!.isStored;
}

/** Returns the open weeks, of one account or of all, in which someone who has a card is asked, and has no link of a card yet. */
export async function selectWeeksWithoutCardLinks(
  db: Db,
  accountId?: AccountId,
): Promise<{ accountId: AccountId; week: Week }[]> {
  return db`
    select distinct w.account_id as "accountId", w.week as "week"
    from   weeks w
    join   cards c on c.account_id = w.account_id
    join   participants p on p.account_id = w.account_id and p.user_id = c.user_id and p.week = w.week
    where  w.closed_at is null and ${accountId === undefined ? true : db`w.account_id = ${accountId}`}
      and  not exists (select 1 from links l
                       where  l.account_id = w.account_id and l.user_id = c.user_id and l.week = w.week and l.from_card)
    order  by 1, 2`;
}

/** Returns the cards of the people who are asked in a week and have no link of a card yet. */
export async function selectCardsWithoutLink(
  db: Db,
  accountId: AccountId,
  week: Week,
): Promise<{ userId: number; digest: Buffer; by: number | null }[]> {
  return db`
    select c.user_id as "userId", c.digest as "digest", c.created_by as "by"
    from   cards c
    join   participants p on p.account_id = c.account_id and p.user_id = c.user_id and p.week = ${week}
    where  c.account_id = ${accountId}
      and  not exists (select 1 from links l
                       where  l.account_id = ${accountId} and l.user_id = c.user_id and l.week = ${week}
                         and  l.from_card)`;
}

/**
 * Stores links of cards in a week that is still open, except for cards that were replaced in the meantime. Links that exist stay as
 * they are. If someone else changes the week just now, such as by closing it, nothing is stored: waiting for them could last as long as a
 * large week is closed, and they may wait for the caller.
 */
export async function insertCardLinks(
  db: Db,
  accountId: AccountId,
  week: Week,
  links: { userId: number; digest: Buffer; hash: Buffer; by: number | null }[],
): Promise<void> {
  const rows = links.map(({ userId, digest, hash, by }) => ({
    userId,
    digest: digest.toString('hex'),
    hash: hash.toString('hex'),
    by,
  }));
  await db`
    with open_week as (select 1 from weeks
                       where  account_id = ${accountId} and week = ${week} and closed_at is null
                       for    share skip locked)
    insert into links (hash, account_id, user_id, week, is_exported, from_card, handed_by)
    select decode(n.hash, 'hex'), p.account_id, p.user_id, p.week, true, true, n.by
    from   open_week, jsonb_to_recordset(${db.json(rows)}) as n("userId" integer, digest text, hash text, by integer)
    join   cards c on c.account_id = ${accountId} and c.user_id = n."userId" and c.digest = decode(n.digest, 'hex')
    join   participants p on p.account_id = ${accountId} and p.user_id = n."userId" and p.week = ${week}
    order  by n."userId" -- prevents deadlocks
    for    share of c -- a card that is being replaced gets no link
    on     conflict (hash) do nothing`;
}

/**
 * Makes the links of these people's cards useless in all open weeks. Each stays as a row that no link leads to: someone had the person's card in
 * that week, so the week's response rates say so even if the card is removed or replaced before they are published (P14). A new card may get its link
 * only a minute later.
 */
export async function endCardLinks(tx: Transaction, accountId: AccountId, userIds: number[]): Promise<void> {
  await tx`
    update links
    set    hash = sha256('removed card' || hash), from_card = false
    where  account_id = ${accountId} and user_id = any(${userIds}) and from_card`;
}
