// SQL that counts the invitations and reminders of open weeks, for the console, the command and the metrics: reading only.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Channels } from '../../base/messages/channels.ts';
import type { AccountId, Db } from '../../db/db.ts';
import { type Channel, intendedChannelOf } from '../reach.sql.ts';

/**
 * An open week in which people are asked. `asked`: the number of active people asked. `atLeast`: at least this many of them
 * have answered, as counted on the day `countedOn` (participation.ts). `answered`: the exact number, only if answers are
 * not anonymous.
 */
export type RunningWeek = {
  week: Week;
  asked: number;
  atLeast: number | null;
  countedOn: string | null;
  answered: number | null;
};

/** Returns the open weeks of an account in which people are asked. */
export async function selectRunningWeeks(db: Db, accountId: AccountId): Promise<RunningWeek[]> {
  return db<RunningWeek[]>`
    select w.week             as "week",
           p.asked            as "asked",
           w.participation    as "atLeast",
           w.participation_on as "countedOn",
           case when w.threshold = 1
                then (select count(distinct a.respondent)::integer
                      from   answers a
                      where  a.account_id = ${accountId} and a.week = w.week) end as "answered"
    from   weeks w
    cross  join lateral (select count(*)::integer as asked
                         from   participants p
                         join   users u on u.account_id = p.account_id and u.user_id = p.user_id
                         where  p.account_id = ${accountId} and p.week = w.week and u.active) p
    where  w.account_id = ${accountId} and w.closed_at is null and p.asked > 0
    order  by w.week`;
}

export type MessageCount = {
  week: Week;
  kind: 'invitation' | 'reminder';
  state: 'waiting' | 'sending' | 'sent' | 'refused' | 'unknown' | 'unneeded';
  count: number;
  from: Date;
  until: Date;
};

/**
 * Counts the messages of open weeks by kind and state, and returns when they are due. A reminder that should already have been sent
 * counts as sent, because the number waiting for the mail server would reveal who has not answered (P18). `now`: ms since 1970.
 */
export async function selectMessageCounts(
  db: Db,
  accountId: AccountId,
  now: number,
): Promise<MessageCount[]> {
  return db<MessageCount[]>`
    select m.week            as "week",
           m.kind            as "kind",
           s.state           as "state",
           count(*)::integer as "count",
           min(m.due_at)     as "from",
           max(m.due_at)     as "until"
    from   messages m
    cross  join lateral (select case when m.kind = 'reminder' and m.state = 'waiting'
                                      and coalesce(m.late_since, m.due_at) <= to_timestamp(${now / 1000}::double precision)
                                     then 'sent' else m.state end as state) s
    where  m.account_id = ${accountId}
    group  by m.week, m.kind, s.state
    order  by m.week, m.kind, s.state`;
}

/** Returns the people whose last invitation was rejected, and why. The address is an email address or a phone number. */
export async function selectRefusals(
  db: Db,
  accountId: AccountId,
): Promise<{ userId: number; at: Date; address: string; reason: string }[]> {
  return db`
    select user_id as "userId", at as "at", address as "address", reason as "reason"
    from   mail_refusals
    where  account_id = ${accountId}
    order  by user_id`;
}

export type Due = { count: number; oldestSeconds: number };

/**
 * Returns how many invitations of all accounts are overdue on each channel, and for how long the oldest one has been. Reminders are not
 * counted: while the mail server is unavailable, their number would approach that of the people who have not answered (rules.md P18).
 */
export async function selectDue(db: Db, channels: Channels, now: number): Promise<Record<Channel, Due>> {
  const intended = intendedChannelOf(db, channels, db`u.account_id`);
  const rows = await db<(Due & { channel: Channel })[]>`
    select ${intended} as "channel",
           count(*)::integer                as "count",
           greatest(extract(epoch from to_timestamp(${now / 1000}::double precision)
                                       - min(coalesce(m.late_since, m.due_at))), 0)::float8 as "oldestSeconds"
    from   messages m
    join   users u on u.account_id = m.account_id and u.user_id = m.user_id
    where  m.state = 'waiting' and m.kind = 'invitation'
      and  coalesce(m.late_since, m.due_at) <= to_timestamp(${now / 1000}::double precision)
    group  by 1`;
  const of = (channel: Channel): Due => {
    const { count = 0, oldestSeconds = 0 } = rows.find((one) => one.channel === channel) ?? {};
    return { count, oldestSeconds };
  };
  return { mail: of('mail'), sms: of('sms') };
}
