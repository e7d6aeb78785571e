// SQL of the weekly digests, of all accounts. Contains no results: they are read when a digest is sent. Writers: digests.ts.
import type { Role } from '@soundings/contract/people/roles.ts';
import type { Week } from '@soundings/contract/weeks.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type Person = { accountId: AccountId; userId: number };

/** Returns the closed weeks whose digests are not queued yet. */
export async function selectWeeksToQueue(db: Db): Promise<{ accountId: AccountId; week: Week }[]> {
  return db<{ accountId: AccountId; week: Week }[]>`
    select account_id as "accountId", week as "week" from digest_weeks order by account_id, week`;
}

/** Takes a closed week. Returns when it closed, in ms since 1970; undefined if another process has taken it. */
export async function deleteDigestWeek(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
): Promise<number | undefined> {
  const [row] = await tx<{ closedAt: number }[]>`
    delete from digest_weeks
    where  account_id = ${accountId} and week = ${week}
    returning (extract(epoch from closed_at - timestamptz '1970-01-01 00:00:00Z') * 1000)::float8 as "closedAt"`;
  return row?.closedAt;
}

/** Returns the managers and administrators of an account that sends digests, with their time zones, and when digests are sent. */
export async function selectRecipients(
  db: Db,
  accountId: AccountId,
): Promise<{ userId: number; timezone: string; days: number; hour: number }[]> {
  return db`
    select u.user_id                        as "userId",
           coalesce(u.timezone, a.timezone) as "timezone",
           a.digest_days                    as "days",
           a.digest_hour                    as "hour"
    from   users u
    join   accounts a on a.account_id = u.account_id
    where  u.account_id = ${accountId} and a.digest and a.kind = 'company'
      and  u.role in ('Administrator', 'Manager') and not u.role_pending
    order  by u.user_id`;
}

/** Queues the digests of a week. `plannedAt`: in ms since 1970. */
export async function insertDigests(
  tx: Transaction,
  accountId: AccountId,
  week: Week,
  people: readonly { userId: number; plannedAt: number }[],
): Promise<void> {
  await tx`
    insert into digests (account_id, user_id, week, planned_at, due_at)
    select ${accountId}, n."userId", ${week}, p.at, p.at
    from   jsonb_to_recordset(${tx.json(people as never)}) as n("userId" integer, "plannedAt" double precision)
    cross  join lateral (select to_timestamp(n."plannedAt" / 1000) as at) p
    on conflict do nothing`;
}

/** Deletes the digests of weeks that were queued more than 90 days ago and are no longer needed. */
export async function deleteOldDigests(tx: Transaction, accountId: AccountId, now: number): Promise<void> {
  await tx`
    delete from digests
    where  account_id = ${accountId} and state not in ('waiting', 'sending')
      and  planned_at < to_timestamp(${now / 1000}::double precision) - interval '90 days'`;
}

/** A person with digests to send, as they are now. */
export type Recipient = Person & {
  role: Role;
  active: boolean;
  email: string | null;
  firstName: string;
  /** The person's own, or the account's. */
  timezone: string;
  language: string;
  hasOptedOut: boolean;
  company: string;
  accountTimezone: string;
  /** The account's version, which every change of what a person can see raises. */
  version: string;
  isOn: boolean;
  withComments: boolean;
  days: number;
  hour: number;
};

/** Takes people with due digests, so that no other process takes them for five minutes. `now`: ms since 1970. */
export async function takeRecipients(db: Db, now: number, count: number): Promise<Recipient[]> {
  const onCitus = await isOnCitus(db);
  return db<Recipient[]>`
    with due as (select account_id, user_id, week
                 from   digests
                 where  state = 'waiting' and due_at <= to_timestamp(${now / 1000}::double precision)
                 order  by due_at
                 limit  ${count}
                 ${onCitus ? db`` : db`for update skip locked`}),
         taken as (update digests d
                   set    due_at = to_timestamp(${now / 1000 + 300}::double precision)
                   from   due
                   where  d.account_id = due.account_id and d.user_id = due.user_id and d.week = due.week
                     and  d.state = 'waiting' and d.due_at <= to_timestamp(${now / 1000}::double precision)
                   returning d.account_id, d.user_id)
    select u.account_id                                         as "accountId",
           u.user_id                                            as "userId",
           case when u.role_pending then 'User' else u.role end as "role",
           u.active                                             as "active",
           u.email                                              as "email",
           u.first_name                                         as "firstName",
           coalesce(u.timezone, a.timezone)                     as "timezone",
           coalesce(u.language, a.language)                     as "language",
           o.user_id is not null                                as "hasOptedOut",
           a.name                                               as "company",
           a.timezone                                           as "accountTimezone",
           a.version::text                                      as "version",
           a.digest                                             as "isOn",
           a.digest_comments                                    as "withComments",
           a.digest_days                                        as "days",
           a.digest_hour                                        as "hour"
    from   (select distinct account_id, user_id from taken) t
    join   users u on u.account_id = t.account_id and u.user_id = t.user_id
    join   accounts a on a.account_id = u.account_id
    left   join digest_opt_outs o on o.account_id = u.account_id and o.user_id = u.user_id
    order  by u.account_id, u.user_id`;
}

export type WaitingDigest = { week: Week; plannedAt: number; attempts: number };

/** Returns a person's digests whose time has come, the newest week first. */
export async function selectWaiting(
  db: Db,
  { accountId, userId }: Person,
  now: number,
): Promise<WaitingDigest[]> {
  return db<WaitingDigest[]>`
    select week                                              as "week",
           (extract(epoch from planned_at) * 1000)::float8   as "plannedAt",
           attempts                                          as "attempts"
    from   digests
    where  account_id = ${accountId} and user_id = ${userId} and state = 'waiting'
      and  planned_at <= to_timestamp(${now / 1000}::double precision)
    order  by week desc`;
}

/** Returns whether a digest was given to the mail server in a person's week, and may have arrived. */
export async function selectHasOneIn(
  db: Db,
  { accountId, userId }: Person,
  monday: string,
): Promise<boolean> {
  const rows = await db`
    select 1 from digests where account_id = ${accountId} and user_id = ${userId} and sent_week = ${monday}`;
  return rows.length > 0;
}

/**
 * Returns which groups have anything to see of a week: a response rate, a figure or a comment. Groups of which everything is withheld
 * have nothing.
 */
export async function selectGroupsWithResults(
  db: Db,
  accountId: AccountId,
  week: Week,
  groupIds: readonly number[],
): Promise<Set<number>> {
  const rows = await db<{ id: number }[]>`
    select g.id as "id"
    from   unnest(${groupIds as number[]}::integer[]) as g(id)
    where  exists (select 1 from response_rates r
                   where  r.account_id = ${accountId} and r.group_id = g.id and r.week = ${week} and r.value is not null)
       or  exists (select 1 from results r
                   where  r.account_id = ${accountId} and r.group_id = g.id and r.week = ${week}
                     and  (r.value is not null or r.distribution is not null))
       or  exists (select 1 from comment_groups c
                   where  c.account_id = ${accountId} and c.group_id = g.id and c.week = ${week})`;
  return new Set(rows.map(({ id }) => id));
}

/** Returns whether statistics of an account are still to be computed. */
export async function selectAreStatisticsDue(db: Db, accountId: AccountId): Promise<boolean> {
  const rows = await db`
    select 1 from weeks
    where  account_id = ${accountId} and statistics_at is null and (closed_at is not null or shown_at is not null)
    limit  1`;
  return rows.length > 0;
}

/** Marks a person's waiting digests of some weeks as unneeded. */
export async function recordUnneededDigests(
  db: Db,
  { accountId, userId }: Person,
  weeks: readonly Week[],
): Promise<void> {
  await db`
    update digests set state = 'unneeded'
    where  account_id = ${accountId} and user_id = ${userId} and week = any(${weeks as Week[]}::date[])
      and  state = 'waiting'`;
}

/** Postpones a person's waiting digests of some weeks. `until`: ms since 1970. */
export async function postponeWaiting(
  db: Db,
  { accountId, userId }: Person,
  weeks: readonly Week[],
  until: number,
): Promise<void> {
  await db`
    update digests set due_at = to_timestamp(${until / 1000}::double precision)
    where  account_id = ${accountId} and user_id = ${userId} and week = any(${weeks as Week[]}::date[])
      and  state = 'waiting'`;
}

/** A digest that is ready to be sent: its recipient, and what it is based on. */
export type ReadyDigest = Person & {
  week: Week;
  email: string;
  /** The account's version when its content was read. */
  version: string;
  /** The Monday of the week in the person's time zone. */
  monday: string;
};

/** Locks an account against changes of what people can see, and a person's digests, until the transaction ends. */
export async function lockForSending(tx: Transaction, { accountId, userId }: Person): Promise<void> {
  await tx`select 1 from accounts where account_id = ${accountId} for share`;
  await tx`select 1 from users where account_id = ${accountId} and user_id = ${userId} for no key update`;
}

/**
 * Records that a digest is now being given to the mail server, and that it covers the person's earlier weeks. Returns false if it should no
 * longer be sent, if the person already got one this week, or if anything has changed since its content was read; in the last case
 * it is read again later.
 */
export async function beginSendingDigest(
  tx: Transaction,
  { accountId, userId, week, email, version, monday }: ReadyDigest,
  now: number,
): Promise<boolean> {
  const [row] = await tx<{ hasBegun: boolean }[]>`
    with begun as (
      update digests d
      set    state = 'sending', attempts = d.attempts + 1, sent_week = ${monday},
             begun_at = to_timestamp(${now / 1000}::double precision)
      from   users u, accounts a
      where  d.account_id = ${accountId} and d.user_id = ${userId} and d.week = ${week} and d.state = 'waiting'
        and  u.account_id = d.account_id and u.user_id = d.user_id and u.active and u.email = ${email}
        and  u.role in ('Administrator', 'Manager') and not u.role_pending
        and  a.account_id = d.account_id and a.version = ${version}::bigint and a.digest
        and  not exists (select 1 from digest_opt_outs o
                         where  o.account_id = ${accountId} and o.user_id = d.user_id)
        and  not exists (select 1 from digests o
                         where  o.account_id = ${accountId} and o.user_id = d.user_id and o.sent_week = ${monday})
      returning 1),
         covered as (
      update digests
      set    state = 'covered'
      where  account_id = ${accountId} and user_id = ${userId} and week < ${week} and state = 'waiting'
        and  exists (select 1 from begun))
    select exists (select 1 from begun) as "hasBegun"`;
  return row!.hasBegun;
}

type Key = Person & { week: Week };

/** Records the outcome of a digest that was given to the mail server. */
export async function recordOutcome(
  db: Db,
  { accountId, userId, week }: Key,
  state: 'sent' | 'refused' | 'unknown',
): Promise<void> {
  await db`
    update digests
    set    state = ${state}, sent_week = case when ${state} <> 'refused' then sent_week end
    where  account_id = ${accountId} and user_id = ${userId} and week = ${week} and state = 'sending'`;
}

/** Postpones a digest that the mail server did not accept. `until`: ms since 1970. */
export async function postponeSending(
  db: Db,
  { accountId, userId, week }: Key,
  until: number,
): Promise<void> {
  await db`
    update digests
    set    state = 'waiting', sent_week = null, due_at = to_timestamp(${until / 1000}::double precision)
    where  account_id = ${accountId} and user_id = ${userId} and week = ${week} and state = 'sending'`;
}

/**
 * Marks digests of all accounts as unknown if the process that was sending them stopped before the mail server replied. Returns how many. Skips
 * those that others are deleting together with their people, in another order.
 */
export async function endLostDigests(db: Db, now: number): Promise<number> {
  const onCitus = await isOnCitus(db);
  const isLost = db`
    state = 'sending' and begun_at < to_timestamp(${now / 1000}::double precision) - interval '15 minutes'`;
  const rows = await db<{ accountId: AccountId }[]>`
    with lost as (
      select account_id, user_id, week from digests where ${isLost} ${onCitus ? db`` : db`for update skip locked`})
    update digests d
    set    state = 'unknown'
    from   lost
    where  d.account_id = lost.account_id and d.user_id = lost.user_id and d.week = lost.week and ${isLost}
    returning d.account_id as "accountId"`;
  return rows.length;
}
