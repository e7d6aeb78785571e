// SQL of the console's survey pages: reading, and queueing the closing of a week.
import type { Week } from '@soundings/contract/weeks.ts';
import type { Channels } from '../../base/messages/channels.ts';
import type { AccountId, Db, Transaction } from '../../db/db.ts';
import { canWriteTo } from '../../rounds/links.sql.ts';
import { canBeReached } from '../../rounds/reach.sql.ts';

/** Returns for each question how many weeks asked it, and the last of these weeks. */
export async function selectAskedWeekCounts(
  db: Db,
  accountId: AccountId,
): Promise<{ questionId: number; weeks: number; last: Week }[]> {
  return db`
    select q.id                              as "questionId",
           count(distinct r.week)::integer   as "weeks",
           max(r.week)                       as "last"
    from   (select distinct week, question_ids from rounds where account_id = ${accountId}) r
    cross  join unnest(r.question_ids) as q(id)
    group  by q.id`;
}

export type AskedInWeek = {
  week: Week;
  isOpen: boolean;
  groupIds: number[];
  groupCount: number;
  /** The schedules that asked it. Contains null if the week came from a file. */
  scheduleIds: (number | null)[];
};

/** Returns the last weeks that asked a question, newest first, each with at most ten of the groups that were asked. */
export async function selectAskedIn(
  db: Db,
  accountId: AccountId,
  questionId: number,
  count: number,
): Promise<AskedInWeek[]> {
  return db<AskedInWeek[]>`
    select r.week                                                   as "week",
           bool_and(w.closed_at is null)                            as "isOpen",
           (array_agg(distinct r.group_id order by r.group_id))[:10] as "groupIds",
           count(distinct r.group_id)::integer                      as "groupCount",
           array_agg(distinct r.schedule_id)                        as "scheduleIds"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week
    where  r.account_id = ${accountId} and ${questionId} = any(r.question_ids)
    group  by r.week
    order  by r.week desc
    limit  ${count}`;
}

/** Returns the names of the given groups, as far as they still exist. */
export async function selectGroupNames(
  db: Db,
  accountId: AccountId,
  groupIds: number[],
): Promise<{ id: number; name: string }[]> {
  if (groupIds.length === 0) return [];
  return db<{ id: number; name: string }[]>`
    select group_id as "id", name as "name"
    from   groups
    where  account_id = ${accountId} and group_id = any(${groupIds})
    order  by group_id`;
}

/** Returns the KPIs that have ever had a value. */
export async function selectKpisWithValues(db: Db, accountId: AccountId): Promise<Set<string>> {
  const rows = await db<{ id: string }[]>`
    select kpi_id as "id" from kpis where account_id = ${accountId} and has_values`;
  return new Set(rows.map(({ id }) => id));
}

export type OpenWeekShown = {
  week: Week;
  threshold: number;
  step: number;
  /** The number of people who have at least answered, as counted on the day `participationOn`. */
  participation: number | null;
  participationOn: string | null;
  isLive: boolean;
  /** The number of active people who are asked; for a week that a file has opened, the number of all people asked. */
  asked: number;
  /** How many people have answered anything; only for weeks that are not anonymous. */
  answered: number | null;
  /** How many of them get no messages, because they have no address or want none. */
  unreachable: number;
  /** How many people can be handed a link (P14). */
  linkable: number;
  /** Whether the job that closes the week has failed; null: no such job is waiting or running. */
  isFailing: boolean | null;
};

/** Returns the open weeks. `channels`: what is configured. */
export async function selectOpenWeekRows(
  db: Db,
  accountId: AccountId,
  channels: Channels,
): Promise<OpenWeekShown[]> {
  return db<OpenWeekShown[]>`
    select w.week                            as "week",
           w.threshold                       as "threshold",
           w.is_live                         as "isLive",
           coalesce(nullif(p.asked, 0), (select count(distinct s.respondent)::integer
                                         from   assignments s
                                         where  s.account_id = ${accountId} and s.week = w.week)) as "asked",
           w.distribution_threshold                as "step",
           w.participation                   as "participation",
           w.participation_on                as "participationOn",
           case when w.threshold = 1
                then (select count(distinct a.respondent)::integer
                      from   answers a
                      where  a.account_id = ${accountId} and a.week = w.week) end as "answered",
           p.unreachable                     as "unreachable",
           p.linkable                        as "linkable",
           (select j.last_error is not null and j.locked_at is null
            from   graphile_worker.jobs j
            where  j.key = 'close week ' || ${accountId}::integer || ' ' || w.week) as "isFailing"
    from   weeks w
    cross  join lateral (select count(*)::integer                                  as asked,
                                count(*) filter (where not ${canBeReached(db, channels, accountId)})::integer as unreachable,
                                count(*) filter (where not ${canWriteTo(db, channels, accountId)})::integer as linkable
                         from   participants p
                         join   users u on u.account_id = p.account_id and u.user_id = p.user_id
                         where  p.account_id = ${accountId} and p.week = w.week and u.active) p
    where  w.account_id = ${accountId} and w.closed_at is null
    order  by w.week`;
}

export type OpenRound = {
  week: Week;
  scheduleId: number | null;
  name: string | null;
  people: number | null;
  questionIds: number[];
  groupIds: number[];
  groupCount: number;
};

/** Returns what the open weeks ask, by schedule. */
export async function selectOpenRounds(db: Db, accountId: AccountId): Promise<OpenRound[]> {
  return db<OpenRound[]>`
    select r.week                                                     as "week",
           r.schedule_id                                              as "scheduleId",
           min(s.name)                                                as "name",
           min(d.people)                                              as "people",
           (select array_agg(distinct q)
            from   rounds o, unnest(o.question_ids) as q
            where  o.account_id = ${accountId} and o.week = r.week
              and  o.schedule_id is not distinct from r.schedule_id)  as "questionIds",
           (array_agg(distinct r.group_id order by r.group_id))[:10]  as "groupIds",
           count(distinct r.group_id)::integer                        as "groupCount"
    from   rounds r
    join   weeks w on w.account_id = r.account_id and w.week = r.week and w.closed_at is null
    left   join schedules s on s.account_id = r.account_id and s.schedule_id = r.schedule_id
    left   join schedule_weeks d on d.account_id = r.account_id and d.schedule_id = r.schedule_id and d.week = r.week
    where  r.account_id = ${accountId}
    group  by r.week, r.schedule_id
    order  by r.week, r.schedule_id`;
}

/** Returns the people whose last email was rejected by the mail server. Reminders don't count (rounds/messages/messages.sql.ts). */
export async function selectRefusedPeople(
  db: Db,
  accountId: AccountId,
): Promise<{ userId: number; name: string; address: string; reason: string }[]> {
  return db`
    select f.user_id                                       as "userId",
           trim(u.first_name || ' ' || u.last_name)        as "name",
           f.address                                       as "address",
           f.reason                                        as "reason"
    from   mail_refusals f
    join   users u on u.account_id = f.account_id and u.user_id = f.user_id
    where  f.account_id = ${accountId}
    order  by u.last_name, u.first_name, f.user_id
    limit  1000`;
}

/** Returns the last closed weeks, newest first, with the names of their schedules. */
export async function selectClosedWeeks(
  db: Db,
  accountId: AccountId,
  count: number,
): Promise<{ week: Week; closedAt: Date; isLost: boolean; schedules: string[] }[]> {
  return db`
    select w.week      as "week",
           w.closed_at as "closedAt",
           w.is_lost   as "isLost",
           array(select distinct s.name
                 from   rounds r
                 join   schedules s on s.account_id = r.account_id and s.schedule_id = r.schedule_id
                 where  r.account_id = ${accountId} and r.week = w.week
                 order  by s.name) as "schedules"
    from   weeks w
    where  w.account_id = ${accountId} and w.closed_at is not null
    order  by w.week desc
    limit  ${count}`;
}

/** Returns whether a week is open; undefined if nothing was asked in it. */
export async function selectIsOpen(db: Db, accountId: AccountId, week: Week): Promise<boolean | undefined> {
  const [row] = await db<{ isOpen: boolean }[]>`
    select closed_at is null as "isOpen" from weeks where account_id = ${accountId} and week = ${week}`;
  return row?.isOpen;
}

/** Adds a job that closes a week. Repeated calls add it only once. */
export async function addClosing(tx: Transaction, accountId: AccountId, week: Week): Promise<void> {
  await tx`
    select graphile_worker.add_job('close week', json_build_object('accountId', ${accountId}::integer, 'week', ${week}::text),
                                   job_key := 'close week ' || ${accountId}::integer || ' ' || ${week}::text)`;
}

/** Sends messages that are due now, instead of within a minute. */
export async function addSending(db: Db): Promise<void> {
  await db`
    select graphile_worker.add_job('send messages', job_key := 'send messages now') -- account_id: of all accounts`;
}

/** Returns the recipient of a test email. `language`: the user's own language or else that of the account (ISO 639-1). */
export async function selectTester(
  db: Db,
  accountId: AccountId,
  userId: number,
): Promise<{
  email: string | null;
  firstName: string;
  language: string;
  company: string;
  threshold: number;
  isLive: boolean;
}> {
  const [row] = await db<
    {
      email: string | null;
      firstName: string;
      language: string;
      company: string;
      threshold: number;
      isLive: boolean;
    }[]
  >`
    select u.email                          as "email",
           u.first_name                     as "firstName",
           coalesce(u.language, a.language) as "language",
           a.name                           as "company",
           a.threshold                      as "threshold",
           a.publication = 'live'           as "isLive"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and u.user_id = ${userId}`;
  return row!;
}
