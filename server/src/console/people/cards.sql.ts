// The console's SQL of cards and kiosks: reading only.
import type { Channels } from '../../base/messages/channels.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { canBeReached } from '../../rounds/reach.sql.ts';

export type CardPerson = {
  userId: number;
  firstName: string;
  lastName: string;
  /** ISO 639-1. The person's language, or the account's. */
  language: string;
  /** The first group, by name, that the person is a member of. */
  group: string | null;
  isActive: boolean;
  hasCard: boolean;
  /** Whether the service sends the person the questions by email or text message. */
  isReachable: boolean;
};

/** Returns the people with these ids. `channels`: what is configured. */
export async function selectCardPeople(
  db: Db,
  accountId: AccountId,
  userIds: number[],
  channels: Channels,
): Promise<CardPerson[]> {
  return db<CardPerson[]>`
    select u.user_id                        as "userId",
           u.first_name                     as "firstName",
           u.last_name                      as "lastName",
           coalesce(u.language, a.language) as "language",
           (select min(g.name)
            from   memberships m
            join   groups g on g.account_id = m.account_id and g.group_id = m.group_id
            where  m.account_id = ${accountId} and m.user_id = u.user_id and m.kind = 'memberOf') as "group",
           u.active                         as "isActive",
           c.user_id is not null            as "hasCard",
           ${canBeReached(db, channels, accountId)}   as "isReachable"
    from   users u
    join   accounts a on a.account_id = u.account_id
    left   join cards c on c.account_id = u.account_id and c.user_id = u.user_id
    where  u.account_id = ${accountId} and u.user_id = any(${userIds})
    order  by u.user_id`;
}

/** Returns how many active people can have a card, how many of them do, and how many cards belong to people who get messages. */
export async function selectCardCounts(
  db: Db,
  accountId: AccountId,
  channels: Channels,
): Promise<{ people: number; withCard: number; resting: number }> {
  const [row] = await db<{ people: number; withCard: number; resting: number }[]>`
    select count(*) filter (where not w.is_reachable)::integer                as "people",
           count(*) filter (where not w.is_reachable and w.has_card)::integer as "withCard",
           count(*) filter (where w.is_reachable and w.has_card)::integer     as "resting"
    from   (select c.user_id is not null as has_card, ${canBeReached(db, channels, accountId)} as is_reachable
            from   users u
            left   join cards c on c.account_id = u.account_id and c.user_id = u.user_id
            where  u.account_id = ${accountId} and u.active) w`;
  return row!;
}

export type KioskShown = {
  id: number;
  name: string;
  groupId: number | null;
  group: string | null;
  createdAt: Date;
  createdBy: string | null;
};

/** Returns the kiosks, the newest first. */
export async function selectKiosks(db: Db, accountId: AccountId): Promise<KioskShown[]> {
  return db<KioskShown[]>`
    select k.kiosk_id   as "id",
           k.name       as "name",
           k.group_id   as "groupId",
           g.name       as "group",
           k.created_at as "createdAt",
           nullif(btrim(u.first_name || ' ' || u.last_name), '') as "createdBy"
    from   kiosks k
    left   join groups g on g.account_id = k.account_id and g.group_id = k.group_id
    left   join users u on u.account_id = k.account_id and u.user_id = k.created_by
    where  k.account_id = ${accountId}
    order  by k.created_at desc, k.kiosk_id desc`;
}
