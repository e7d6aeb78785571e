// SQL of messages to the people asked, of all accounts. Writers: messages.ts, opening.ts; closing deletes them.
import type { Week } from '@soundings/contract/weeks.ts';
import type { AccountId, Db } from '../db/db.ts';

/** Which message: it is sent once. */
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
  /** The person's, and the account's. */
  timezone: string;
  accountTimezone: string;
  language: string;
  company: string;
  firstName: string;
  email: string | null;
  active: boolean;
  /** From so many answers on results are shown. */
  threshold: number;
  /** Of the week, and how the person is called with it (rounds.ts). Null: the week has closed. */
  respondentKey: Buffer | null;
  person: string;
  /** The person has answered what it asks; or, of a reminder, wants none, or has had one in the week. */
  isSuperfluous: boolean;
};

/**
 * Takes messages that are due, so that no other process does for five minutes: by then they are sent, or another takes
 * them over. A reminder waits until two hours after the invitation, which may be late. `now`: ms since 1970.
 */
export async function takeDue(db: Db, now: number, count: number): Promise<DueMessage[]> {
  return db<DueMessage[]>`
    with due as (select account_id, user_id, week, schedule_id, kind
                 from   messages m
                 where  state = 'waiting' and due_at <= to_timestamp(${now / 1000}::double precision)
                   and  (kind = 'invitation'
                         or not exists (select 1
                                        from   messages o
                                        where  o.account_id = m.account_id and o.user_id = m.user_id and o.week = m.week
                                          and  o.kind = 'invitation'
                                          and  (o.state in ('waiting', 'sending')
                                                or o.due_at > to_timestamp(${now / 1000 - 7200}::double precision))))
                 order  by due_at
                 limit  ${count}
                 for    update skip locked),
         taken as (update messages m
                   set    due_at = to_timestamp(${now / 1000 + 300}::double precision)
                   from   due
                   where  m.account_id = due.account_id and m.user_id = due.user_id and m.week = due.week
                     and  m.schedule_id = due.schedule_id and m.kind = due.kind
                   returning m.*)
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
           u.email                                     as "email",
           u.active                                    as "active",
           w.threshold                                 as "threshold",
           w.respondent_key                            as "respondentKey",
           person_of(u.external_id, u.user_id) as "person",
           ${isSuperfluous(db, db`t`)}                 as "isSuperfluous"
    from   taken t
    join   users u on u.account_id = t.account_id and u.user_id = t.user_id
    join   accounts a on a.account_id = t.account_id
    join   weeks w on w.account_id = t.account_id and w.week = t.week
    order  by t.account_id, t.user_id`;
}

/** To one who has answered what it asks; a reminder also to one who wants none, or has had one in the week. */
const isSuperfluous = (db: Db, m: ReturnType<Db>) => db`
  (exists (select 1
           from   schedule_weeks s
           join   weeks w on w.account_id = s.account_id and w.week = s.week
           join   users u on u.account_id = s.account_id and u.user_id = ${m}.user_id
           cross  join lateral (select respondent_of(w.respondent_key, person_of(u.external_id, u.user_id)) as number) p
           cross  join unnest(s.question_ids) as q(id)
           where  s.account_id = ${m}.account_id and s.schedule_id = ${m}.schedule_id and s.week = ${m}.week
             and  exists (select 1 from answers a
                          where  a.account_id = s.account_id and a.week = s.week and a.question_id = q.id
                            and  a.respondent = p.number))
   or ${m}.kind = 'reminder'
      and (exists (select 1 from reminder_stops r
                   where  r.account_id = ${m}.account_id and r.user_id = ${m}.user_id)
           or exists (select 1 from messages o
                      where  o.account_id = ${m}.account_id and o.user_id = ${m}.user_id and o.week = ${m}.week
                        and  o.kind = 'reminder' and o.state in ('sending', 'sent', 'unknown'))))`;

/** How many questions wait for an answer of each of these in a week, in their order. */
export async function selectQuestionCounts(
  db: Db,
  people: { accountId: AccountId; week: Week; respondent: number }[],
): Promise<number[]> {
  const rows = await db<{ count: number }[]>`
    select (select count(distinct q.id)::integer
            from   assignments s
            join   rounds r on r.account_id = s.account_id and r.round_id = s.round_id
            cross  join unnest(r.question_ids) as q(id)
            where  s.account_id = n."accountId" and s.week = n.week and s.respondent = n.respondent
              and  not exists (select 1 from answers a
                               where  a.account_id = s.account_id and a.week = s.week
                                 and  a.question_id = q.id
                                 and  a.respondent = s.respondent)) as "count"
    from   rows from (jsonb_to_recordset(${db.json(people)}) as ("accountId" integer, week date, respondent bigint))
           with ordinality as n("accountId", week, respondent, place)
    order  by n.place`;
  return rows.map(({ count }) => count);
}

/** Notes that a message is given to the mail server now. False when it is no longer to be sent, or was given before. */
export async function beginSending(db: Db, key: MessageKey): Promise<boolean> {
  const rows = await db`
    update messages m
    set    state = 'sending', attempts = attempts + 1, begun_at = now()
    where  m.account_id = ${key.accountId} and ${isKey(db, key)} and m.state = 'waiting'
      and  not ${isSuperfluous(db, db`m`)}
      and  exists (select 1 from users u
                   where  u.account_id = m.account_id and u.user_id = m.user_id and u.active)
      and  exists (select 1 from weeks w
                   where  w.account_id = m.account_id and w.week = m.week and w.closed_at is null)
    returning 1`;
  return rows.length > 0;
}

/**
 * Notes that the mail server took a message: an invitation that is taken says that it does not refuse the person's mail. What
 * becomes of a reminder says so of nobody: only who has not answered gets one.
 */
export async function noteSent(db: Db, key: MessageKey): Promise<void> {
  await db`
    with sent as (update messages m
                  set    state = 'sent'
                  where  m.account_id = ${key.accountId} and ${isKey(db, key)})
    delete from mail_refusals
    where  account_id = ${key.accountId} and user_id = ${key.userId} and ${key.kind} = 'invitation'`;
}

/** Notes that the mail server refused a message; and, of an invitation, whose mail it refuses, and why. */
export async function noteRefused(
  db: Db,
  key: MessageKey,
  { address, reason }: { address: string; reason: string },
): Promise<void> {
  await db`
    with refused as (update messages m
                     set    state = 'refused'
                     where  m.account_id = ${key.accountId} and ${isKey(db, key)})
    insert into mail_refusals (account_id, user_id, address, reason)
    select account_id, user_id, ${address}, ${reason}
    from   users
    where  account_id = ${key.accountId} and user_id = ${key.userId} and ${key.kind} = 'invitation'
    on conflict (account_id, user_id) do update
    set    at = now(), address = excluded.address, reason = excluded.reason`;
}

/** Notes that the mail server refused another mail to a person. */
export async function insertRefusal(
  db: Db,
  { accountId, userId }: { accountId: AccountId; userId: number },
  { address, reason }: { address: string; reason: string },
): Promise<void> {
  await db`
    insert into mail_refusals (account_id, user_id, address, reason)
    select account_id, user_id, ${address}, ${reason}
    from   users
    where  account_id = ${accountId} and user_id = ${userId}
    on conflict (account_id, user_id) do update
    set    at = now(), address = excluded.address, reason = excluded.reason`;
}

/** Notes that nobody can know whether a message was sent. */
export async function noteUnknown(db: Db, key: MessageKey): Promise<void> {
  await db`
    update messages m set state = 'unknown' where m.account_id = ${key.accountId} and ${isKey(db, key)}`;
}

/** Which message it is of an account. */
const isKey = (db: Db, { userId, week, scheduleId, kind }: MessageKey) => db`
  m.user_id = ${userId} and m.week = ${week} and m.schedule_id = ${scheduleId} and m.kind = ${kind}`;

/**
 * Puts messages off, each to a time in ms: those that are still as the caller knows them, waiting or given by the caller to
 * the mail server. What another process has begun meanwhile is left to it.
 */
export async function putOff(
  db: Db,
  state: 'waiting' | 'sending',
  messages: (MessageKey & { until: number })[],
): Promise<void> {
  if (messages.length === 0) return;
  const rows = messages.map(({ until, ...message }) => ({ ...keyOf(message), until: until / 1000 }));
  await db`
    with mine as (select m.ctid as place, n.until
                  from   jsonb_to_recordset(${db.json(rows)})
                           as n("accountId" integer, "userId" integer, week date, "scheduleId" integer, kind text,
                                until double precision)
                  join   messages m on m.account_id = n."accountId" and m.user_id = n."userId" and m.week = n.week
                                   and m.schedule_id = n."scheduleId" and m.kind = n.kind
                  where  m.state = ${state}
                  for    update of m skip locked)
    update messages m
    set    state = 'waiting', due_at = to_timestamp(mine.until)
    from   mine
    where  m.ctid = mine.place`;
}

/** Those that wait are not to be sent at all. */
export async function deleteMessages(db: Db, messages: MessageKey[]): Promise<void> {
  if (messages.length === 0) return;
  await db`
    delete from messages
    where  ctid in (select m.ctid
                    from   jsonb_to_recordset(${db.json(messages.map(keyOf))})
                             as n("accountId" integer, "userId" integer, week date, "scheduleId" integer, kind text)
                    join   messages m on m.account_id = n."accountId" and m.user_id = n."userId" and m.week = n.week
                                     and m.schedule_id = n."scheduleId" and m.kind = n.kind
                    where  m.state = 'waiting'
                    for    update of m skip locked)`;
}

const keyOf = ({ accountId, userId, week, scheduleId, kind }: MessageKey): MessageKey => ({
  accountId,
  userId,
  week,
  scheduleId,
  kind,
});

/** Those that a process gave to the mail server and did not live to hear of: of all accounts. Returns how many. */
export async function settleLost(db: Db): Promise<number> {
  const rows = await db`
    update messages set state = 'unknown'
    where  state = 'sending' and begun_at < now() - interval '15 minutes'
    returning account_id`;
  return rows.length;
}

/**
 * The open weeks of an account in which people are asked: how many active ones, and, where these are as many as a figure
 * may rest on, how many have answered something.
 */
export async function selectRunningWeeks(
  db: Db,
  accountId: AccountId,
): Promise<{ week: Week; asked: number; answered: number | null }[]> {
  return db`
    select w.week      as "week",
           p.asked     as "asked",
           case when p.asked >= w.threshold
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

/** How many messages of an account are in which state, by week. */
export async function selectMessageCounts(
  db: Db,
  accountId: AccountId,
): Promise<{ week: Week; kind: string; state: string; count: number }[]> {
  return db`
    select week as "week", kind as "kind", state as "state", count(*)::integer as "count"
    from   messages
    where  account_id = ${accountId}
    group  by week, kind, state
    order  by week, kind, state`;
}

/** Whose last invitation was refused, and why. */
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

/** How many messages of all accounts are due. */
export async function countDue(db: Db, now: number): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(account_id)::integer as count
    from   messages
    where  state = 'waiting' and due_at <= to_timestamp(${now / 1000}::double precision)`;
  return row!.count;
}
