// SQL of invitations and reminders, of all accounts. Writers: messages.ts, opening.ts; closing a week deletes them.
import type { Week } from '@soundings/contract/weeks.ts';
import { allChannels, type Channels } from '../../base/messages/channels.ts';
import { isOnCitus, ofAccount, takenInTurn } from '../../db/citus/distribution.ts';
import type { AccountId, Db, Fragment } from '../../db/db.ts';
import { addressOn, type Channel, channelOf, hasSms } from '../reach.sql.ts';

/** Identifies a message. */
export type MessageKey = {
  accountId: AccountId;
  userId: number;
  week: Week;
  scheduleId: number;
  kind: 'invitation' | 'reminder';
};

export type DueMessage = MessageKey & {
  attempts: number;
  anyHour: boolean;
  /** The person's time zone, or the account's if the person has none. */
  timezone: string;
  accountTimezone: string;
  language: string;
  company: string;
  firstName: string;
  /** The email address or phone number; null: the person has none any more, or can't be written to. */
  address: string | null;
  externalId: string | null;
  email: string | null;
  active: boolean;
  /** The number of answers a group needs for results to be shown. */
  threshold: number;
  /** Whether results of the open week are shown. */
  isLive: boolean;
  /** The wrapped key of the week; null if the week has closed. */
  wrapped: Buffer | null;
  /** The ids of the questions that the schedule asks in the week. */
  scheduleAsks: number[];
  /** Whether the person has turned off survey messages or, for a reminder, has turned reminders off or already got one this week. */
  isUnwanted: boolean;
};

/**
 * Takes due messages of a channel, so that no other process takes them for five minutes. If they have not been sent by then, another
 * process takes over. A reminder waits until two hours after the invitation, which can be late. Messages to people who can't be written
 * to any more are taken for any channel. `now`: ms since 1970.
 */
export async function takeDue(
  db: Db,
  on: { channel: Channel; channels: Channels },
  now: number,
  count: number,
): Promise<DueMessage[]> {
  return takenInTurn(
    db,
    count,
    () => selectAccountsDue(db, now),
    (accountId, most) => takeDueOf(db, on, now, most, accountId),
  );
}

async function selectAccountsDue(db: Db, now: number): Promise<AccountId[]> {
  const rows = await db<{ id: AccountId }[]>`
    select account_id as "id"
    from   messages
    where  state = 'waiting' and due_at <= to_timestamp(${now / 1000}::double precision)
    group  by account_id
    order  by min(due_at)`;
  return rows.map(({ id }) => id);
}

async function takeDueOf(
  db: Db,
  { channel, channels }: { channel: Channel; channels: Channels },
  now: number,
  count: number,
  accountId: AccountId | null,
): Promise<DueMessage[]> {
  const account = accountId ?? db`u.account_id`;
  return db<DueMessage[]>`
    with due as (select m.account_id, m.user_id, m.week, m.schedule_id, m.kind, ${channelOf(db, channels, account)} as channel
                 from   messages m
                 join   users u on u.account_id = m.account_id and u.user_id = m.user_id
                 where  m.state = 'waiting' and m.due_at <= to_timestamp(${now / 1000}::double precision) ${ofAccount(db, 'm', accountId)}
                   and  (${channelOf(db, channels, account)} = ${channel} or ${channelOf(db, allChannels, account)} is null)
                   and  (m.kind = 'invitation'
                         or not exists (select 1
                                        from   messages o
                                        where  o.account_id = ${accountId ?? db`m.account_id`} and o.user_id = m.user_id
                                          and  o.week = m.week and o.kind = 'invitation'
                                          and  (o.state in ('waiting', 'sending')
                                                or o.due_at > to_timestamp(${now / 1000 - 7200}::double precision))))
                 order  by m.due_at
                 limit  ${count}
                 for    update of m skip locked),
         taken as (update messages m
                   set    due_at = to_timestamp(${now / 1000 + 300}::double precision),
                          late_since = coalesce(m.late_since, m.due_at)
                   from   due
                   where  m.account_id = due.account_id and m.user_id = due.user_id and m.week = due.week
                     and  m.schedule_id = due.schedule_id and m.kind = due.kind
                     ${ofAccount(db, 'm', accountId)}
                   returning m.*, due.channel)
    select t.account_id                                as "accountId",
           t.user_id                                   as "userId",
           t.week                                      as "week",
           t.schedule_id                               as "scheduleId",
           t.kind                                      as "kind",
           t.attempts                                  as "attempts",
           t.any_hour                                  as "anyHour",
           coalesce(u.timezone, a.timezone)            as "timezone",
           a.timezone                                  as "accountTimezone",
           coalesce(u.language, a.language)            as "language",
           a.name                                      as "company",
           u.first_name                                as "firstName",
           case when t.channel is not null then ${addressOn(db, channel)} end as "address",
           u.external_id                               as "externalId",
           u.email                                     as "email",
           u.active                                    as "active",
           w.threshold                                 as "threshold",
           w.is_live                                   as "isLive",
           k.wrapped                                   as "wrapped",
           coalesce(s.question_ids, '{}')              as "scheduleAsks",
           ${isUnwanted(db, db`t`, accountId ?? db`t.account_id`)}                    as "isUnwanted"
    from   taken t
    join   users u on u.account_id = t.account_id and u.user_id = t.user_id
    join   accounts a on a.account_id = t.account_id
    join   weeks w on w.account_id = t.account_id and w.week = t.week
    left   join week_keys k on k.account_id = t.account_id and k.week = t.week
    left   join schedule_weeks s on s.account_id = t.account_id and s.schedule_id = t.schedule_id and s.week = t.week
    where  true ${ofAccount(db, 'u', accountId)}
    order  by t.account_id, t.user_id`;
}

/** Condition: m goes to someone who has turned off such emails, or is a reminder to someone who already got one this week. */
export const isUnwanted = (db: Db, m: ReturnType<Db>, account: AccountId | Fragment) => db`
  (exists (select 1 from reminder_opt_outs r
           where  r.account_id = ${account} and r.user_id = ${m}.user_id
             and  (r.all_emails or ${m}.kind = 'reminder'))
   or ${m}.kind = 'reminder'
      and (exists (select 1 from messages o
                   where  o.account_id = ${account} and o.user_id = ${m}.user_id and o.week = ${m}.week
                     and  o.kind = 'reminder' and o.state in ('sending', 'sent', 'unknown'))))`;

/** Returns what people are asked in a week, and their sealed answers so far, in the order of `people`. */
export async function selectAskedAndSealed(
  db: Db,
  people: { accountId: AccountId; week: Week; respondent: string }[],
): Promise<{ questionIds: number[]; sealed: Buffer[] }[]> {
  const rows = await db<{ questionIds: number[]; sealed: string[] }[]>`
    select array(select distinct q.id
                 from   assignments s
                 join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id
                 cross  join unnest(r.question_ids) as q(id)
                 where  s.account_id = n."accountId" and s.week = n.week and s.respondent = n.respondent) as "questionIds",
           array(select encode(a.sealed, 'hex')
                 from   answers a
                 where  a.account_id = n."accountId" and a.week = n.week and a.respondent = n.respondent
                 order  by a.import_batch)                                                                as "sealed"
    from   rows from (jsonb_to_recordset(${db.json(people)}) as ("accountId" integer, week date, respondent uuid))
           with ordinality as n("accountId", week, respondent, place)
    order  by n.place`;
  return rows.map(({ questionIds, sealed }) => ({
    questionIds,
    sealed: sealed.map((text) => Buffer.from(text, 'hex')),
  }));
}

/** `hasBegun`: the receiver could have accepted the message. If it could not, another process may have taken it over. */
type Refusal = { address: string; reason: string; now: number; hasBegun: boolean };

/**
 * Records that the receiver rejected a message and, for an invitation, also the person's address and the reason. Returns whether the
 * invitation will be sent as a text message instead. `mayUseSms`: it was an email, and a gateway is configured. A text message is never
 * sent again over the other channel, so a person gets an invitation at most once over each.
 */
export async function recordRefused(
  db: Db,
  key: MessageKey,
  { address, reason, now, hasBegun }: Refusal,
  mayUseSms: boolean,
): Promise<boolean> {
  const isInvitation = key.kind === 'invitation';
  const [row] = await db<{ goesBySms: boolean }[]>`
    with refused as (update messages m
                     set    state = case when g.by_sms then 'waiting' else 'refused' end,
                            due_at = case when g.by_sms then to_timestamp(${now / 1000}::double precision) else m.due_at end,
                            attempts = case when g.by_sms then 0 else m.attempts end
                     from   users u
                     cross  join lateral (select ${isInvitation} and ${hasSms(db, mayUseSms, key.accountId)}
                                                 and coalesce(lower(u.email) = lower(${address}), true) as by_sms) g
                     where  m.account_id = ${key.accountId} and ${isKey(db, key)}
                       and  m.state = ${hasBegun ? 'sending' : 'waiting'}
                       and  u.account_id = m.account_id and u.user_id = m.user_id
                     returning g.by_sms),
         listed  as (${refusalInsert(db, key, { address, reason }, db`${isInvitation}`)})
    select by_sms as "goesBySms" from refused`;
  return row?.goesBySms ?? false;
}

/**
 * Schedules another attempt to send a message that the receiver did not accept, at a time in ms since 1970. `hasBegun`:
 * the receiver could have accepted it. If it could not, another process may have taken the message over.
 */
export async function retryLater(
  db: Db,
  key: MessageKey,
  { until, hasBegun }: { until: number; hasBegun: boolean },
): Promise<void> {
  await db`
    update messages m
    set    state = 'waiting', due_at = to_timestamp(${until / 1000}::double precision),
           attempts = attempts + ${hasBegun ? 0 : 1}
    where  m.account_id = ${key.accountId} and ${isKey(db, key)} and m.state = ${hasBegun ? 'sending' : 'waiting'}`;
}

/**
 * Records that the mail server rejected another kind of mail to a person. `isReturned`: it accepted an email of any kind and returned it
 * later, which is recorded only if the person still has that address.
 */
export async function insertRefusal(
  db: Db,
  person: { accountId: AccountId; userId: number },
  { address, reason, isReturned = false }: { address: string; reason: string; isReturned?: boolean },
): Promise<void> {
  if (!isReturned) await refusalInsert(db, person, { address, reason });
  else await refusalInsert(db, person, { address: db`email`, reason }, db`lower(email) = lower(${address})`);
}

/** The statement that stores a refusal instead of an earlier one of the person. `condition`: on the person. */
const refusalInsert = (
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  { address, reason }: { address: string | Fragment; reason: string },
  condition: Fragment = db`true`,
) => db`
  insert into mail_refusals (account_id, user_id, address, reason, at)
  select account_id, user_id, ${address}, ${reason}, now()
  from   users
  where  account_id = ${accountId} and user_id = ${userId} and ${condition}
  on conflict (account_id, user_id) do update
  set    at = excluded.at, address = excluded.address, reason = excluded.reason`;

/** Records that the delivery status of a message is unknown. */
export async function recordUnknown(db: Db, key: MessageKey): Promise<void> {
  await db`
    update messages m set state = 'unknown' where m.account_id = ${key.accountId} and ${isKey(db, key)}`;
}

/** Condition: m is this message. The account is checked separately. */
export const isKey = (db: Db, { userId, week, scheduleId, kind }: MessageKey) => db`
  m.user_id = ${userId} and m.week = ${week} and m.schedule_id = ${scheduleId} and m.kind = ${kind}`;

/**
 * Postpones waiting messages, each until a time in ms since 1970. Skips messages that another process has taken. `isLate`: they should
 * have been sent by now.
 */
export async function postpone(
  db: Db,
  { isLate }: { isLate: boolean },
  messages: (MessageKey & { until: number })[],
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ until, ...message }) => ({ ...messageKeyOf(message), until: until / 1000 }));
  await db`
    with mine as (${waitingOf(db, rows, await isOnCitus(db))})
    update messages m
    set    due_at = to_timestamp(mine.until),
           late_since = case when ${isLate}::boolean then m.late_since end
    from   mine
    where  m.account_id = mine.account_id and ${isMine(db)}`;
}

/** Deletes those of the messages that are still waiting. */
export async function deleteMessages(db: Db, messages: MessageKey[]): Promise<void> {
  if (messages.length === 0) return;
  await db`
    with mine as (${waitingOf(db, messages.map(messageKeyOf), await isOnCitus(db))})
    delete from messages m using mine where m.account_id = mine.account_id and ${isMine(db)}`;
}

/** Marks those of the messages that are still waiting as unneeded. */
export async function recordUnneeded(db: Db, messages: MessageKey[]): Promise<void> {
  if (messages.length === 0) return;
  await db`
    with mine as (${waitingOf(db, messages.map(messageKeyOf), await isOnCitus(db))})
    update messages m set state = 'unneeded' from mine
    where  m.account_id = mine.account_id and ${isMine(db)}`;
}

/** Locks those of the messages that are waiting and not locked by another process, and selects their keys and `until`. */
const waitingOf = (db: Db, messages: (MessageKey & { until?: number })[], onCitus: boolean) => db`
  select m.account_id, m.user_id, m.week, m.schedule_id, m.kind, n.until
  from   jsonb_to_recordset(${db.json(messages)})
           as n("accountId" integer, "userId" integer, week date, "scheduleId" integer, kind text,
                until double precision)
  join   messages m on m.account_id = n."accountId" and m.user_id = n."userId" and m.week = n.week
                   and m.schedule_id = n."scheduleId" and m.kind = n.kind
  where  m.state = 'waiting'
  ${onCitus ? db`` : db`for update of m skip locked`}`;

/** Condition: m is one of these messages, and still waiting. */
const isMine = (db: Db) => db`
  m.user_id = mine.user_id and m.week = mine.week
  and m.schedule_id = mine.schedule_id and m.kind = mine.kind and m.state = 'waiting'`;

export const messageKeyOf = ({ accountId, userId, week, scheduleId, kind }: MessageKey): MessageKey => ({
  accountId,
  userId,
  week,
  scheduleId,
  kind,
});
