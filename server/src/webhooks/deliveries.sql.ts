// SQL of deliveries: which are due, the outcome of each attempt, and the log that administrators see. Writers: sender.ts, endpoints.ts.
import type { DeliveryRow } from '@soundings/contract/webhooks/endpoints.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Fragment, Transaction } from '../db/db.ts';

/** An endpoint that this process sends to. `claim`: only while the endpoint has this claim. */
export type Claimed = { accountId: AccountId; endpointId: number; claim: string };

/**
 * The delivery `d` is due at a time in ms, and was not found to have an earlier one of its subject in front of it. The index
 * webhook_deliveries_due begins with what this compares.
 */
const isDue = (db: Db, now: number): Fragment => db`
  d.state = 'waiting' and not d.is_blocked and d.next_attempt_at <= ${new Date(now)}`;

/**
 * Claims endpoints of any account (account_id) that are on and have something due, those that were served longest ago first, until a time in
 * ms. A claim that has run out belonged to a process that was killed. `perAccount`: how many endpoints of an account are claimed in total.
 */
export async function claimEndpoints(
  db: Db,
  {
    claim,
    count,
    perAccount,
    now,
    until,
  }: { claim: string; count: number; perAccount: number; now: number; until: number },
): Promise<Claimed[]> {
  const time = new Date(now);
  const isFree = (e: Fragment) => db`(${e}.claimed_until is null or ${e}.claimed_until <= ${time})`;
  const onCitus = await isOnCitus(db);
  return db`
    with due as materialized (
      select e.account_id, e.endpoint_id, first.next_attempt_at,
             row_number() over (partition by e.account_id order by e.claimed_until nulls first, first.next_attempt_at)
             + (select count(*) from webhook_endpoints c
                where  c.account_id = e.account_id and c.claimed_until > ${time}) as place
      from   webhook_endpoints e
      cross  join lateral (select d.next_attempt_at from webhook_deliveries d
                           where  d.account_id = e.account_id and d.endpoint_id = e.endpoint_id and ${isDue(db, now)}
                           order  by d.next_attempt_at
                           limit  1) first
      where  e.turned_off is null and ${isFree(db`e`)} and (e.paused_until is null or e.paused_until <= ${time})
    ), free as (
      select e.account_id, e.endpoint_id
      from   due
      join   webhook_endpoints e using (account_id, endpoint_id)
      where  due.place <= ${perAccount} and ${isFree(db`e`)}
      order  by e.claimed_until nulls first, due.next_attempt_at
      limit  ${count}
      ${onCitus ? db`` : db`for no key update of e skip locked`}
    )
    update webhook_endpoints e
    set    claimed_by = ${claim}, claimed_until = ${new Date(until)}
    from   free f
    where  e.account_id = f.account_id and e.endpoint_id = f.endpoint_id and ${isFree(db`e`)}
    returning e.account_id as "accountId", e.endpoint_id as "endpointId", e.claimed_by as "claim"`;
}

/** Ends a claim at a time in ms. */
export async function releaseEndpoint(
  db: Db,
  { accountId, endpointId, claim }: Claimed,
  now: number,
): Promise<void> {
  await db`
    update webhook_endpoints
    set    claimed_by = null, claimed_until = ${new Date(now)}
    where  account_id = ${accountId} and endpoint_id = ${endpointId} and claimed_by = ${claim}`;
}

/** A delivery that is due, with everything that its request needs. */
export type DueDelivery = {
  eventId: number;
  messageId: string;
  type: string;
  data: unknown;
  occurredAt: Date;
  attempts: number;
  /** How many attempts at this endpoint have failed in a row. */
  failures: number;
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
};

/** How many deliveries are looked at to find some that can be sent. */
const maxLookedAt = 100;

/**
 * Renews a claim until a time in ms and returns at most `count` deliveries that are due, no two with the same subject. Earlier events of a
 * subject come first, even if they wait for another attempt: those behind them are marked, so that each is looked at only once. An endpoint
 * that is failing gets a single one. Returns none if the claim is lost or the endpoint is turned off or paused.
 */
export async function takeDeliveries(
  db: Db,
  { accountId, endpointId, claim }: Claimed,
  { count, now, until }: { count: number; now: number; until: number },
): Promise<DueDelivery[]> {
  return db`
    with renewed as (
      update webhook_endpoints
      set    claimed_until = ${new Date(until)}
      where  account_id = ${accountId} and endpoint_id = ${endpointId} and claimed_by = ${claim}
        and  turned_off is null and (paused_until is null or paused_until <= ${new Date(now)})
      returning url, secret, failures, case when previous_until > ${new Date(now)} then previous_secret end as previous_secret
    ), due as materialized (
      select d.event_id, d.subject, d.next_attempt_at, d.attempts
      from   webhook_deliveries d
      where  d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and ${isDue(db, now)}
        and  exists (select 1 from renewed)
      order  by d.next_attempt_at, d.event_id
      limit  ${maxLookedAt}
    ), behind as materialized (
      select due.event_id, first.event_id as first_id
      from   due
      cross  join lateral (select b.event_id from webhook_deliveries b
                           where  b.account_id = ${accountId} and b.endpoint_id = ${endpointId} and b.subject = due.subject
                             and  b.state = 'waiting' and b.event_id < due.event_id
                           order  by b.event_id
                           limit  1) first
    ), still as materialized (
      -- If another process records the outcome of the first one at this moment, the lock waits for it, and then there is nothing to mark.
      select b.event_id from webhook_deliveries b
      where  b.account_id = ${accountId} and b.endpoint_id = ${endpointId} and b.state = 'waiting'
        and  b.event_id = any((select array_agg(distinct first_id) from behind)::bigint[])
      order  by b.event_id
      for    no key update
    ), marked as (
      update webhook_deliveries d
      set    is_blocked = true
      from   behind
      join   still on still.event_id = behind.first_id
      where  d.account_id = ${accountId} and d.endpoint_id = ${endpointId} and d.event_id = behind.event_id
    )
    select d.event_id::integer  as "eventId",
           e.message_id         as "messageId",
           e.type               as "type",
           e.data               as "data",
           e.occurred_at        as "occurredAt",
           d.attempts           as "attempts",
           r.failures           as "failures",
           r.url                as "url",
           r.secret             as "secret",
           r.previous_secret    as "previousSecret"
    from   renewed r
    cross  join due d
    join   webhook_events e on e.account_id = ${accountId} and e.event_id = d.event_id
    where  d.event_id not in (select event_id from behind)
    order  by d.next_attempt_at, d.event_id
    limit  (select case when failures > 0 then 1 else ${count}::integer end from renewed)`;
}

/**
 * Lets the next delivery of the same subject be sent, after this one has ended. A statement of its own, so that it sees what was marked while
 * this one was locked.
 */
async function unblockNext(tx: Transaction, { accountId, endpointId, eventId }: Place): Promise<void> {
  await tx`
    update webhook_deliveries d
    set    is_blocked = false
    where  d.account_id = ${accountId} and d.endpoint_id = ${endpointId}
      and  d.event_id = (select n.event_id
                         from   webhook_deliveries n
                         where  n.account_id = ${accountId} and n.endpoint_id = ${endpointId} and n.is_blocked
                           and  n.subject = (select subject from webhook_deliveries
                                             where  account_id = ${accountId} and endpoint_id = ${endpointId}
                                               and  event_id = ${eventId})
                         order  by n.event_id
                         limit  1)`;
}

/**
 * Lets deliveries of all accounts (account_id) be sent that wait for none: their first one was deleted, or ended by a process that runs an
 * older version. Returns how many there were. Skips those that others are changing, in another order.
 */
export async function unblockDeliveries(db: Db): Promise<number> {
  const onCitus = await isOnCitus(db);
  const rows = await db`
    with free as (
      select d.account_id, d.endpoint_id, d.event_id
      from   webhook_deliveries d
      where  d.is_blocked and d.state = 'waiting'
        and  not exists (select 1 from webhook_deliveries b
                         where  b.account_id = d.account_id and b.endpoint_id = d.endpoint_id and b.subject = d.subject
                           and  b.state = 'waiting' and b.event_id < d.event_id)
      ${onCitus ? db`` : db`for no key update of d skip locked`})
    update webhook_deliveries d
    set    is_blocked = false
    from   free
    where  ${isDelivery(db, 'free')} and d.is_blocked and d.state = 'waiting'
    returning 1`;
  return rows.length;
}

type Place = { accountId: AccountId; endpointId: number; eventId: number };

/**
 * Records that the endpoint has taken an event. What waits because the endpoint was not available is then due. Here and below, the endpoint comes
 * before its deliveries: others who delete or claim it lock it first, and must not wait for an outcome that waits for them.
 */
export async function updateSent(
  tx: Transaction,
  { accountId, endpointId, eventId }: Place,
  { status, now }: { status: number; now: number },
): Promise<void> {
  const onCitus = await isOnCitus(tx);
  // The connection runs them in order.
  const [, recovered] = await Promise.all([
    tx`
      select 1 from webhook_endpoints
      where  account_id = ${accountId} and endpoint_id = ${endpointId} ${onCitus ? tx`` : tx`for key share`}`,
    tx`
      update webhook_endpoints
      set    failing_since = null, failures = 0, paused_until = null
      where  account_id = ${accountId} and endpoint_id = ${endpointId} and failures > 0
      returning 1`,
  ]);
  await tx`
    update webhook_deliveries
    set    state = 'sent', attempts = attempts + 1, last_attempt_at = ${new Date(now)}, status = ${status}, error = null,
           unavailable = false
    where  account_id = ${accountId} and endpoint_id = ${endpointId} and event_id = ${eventId} and state = 'waiting'`;
  await unblockNext(tx, { accountId, endpointId, eventId });
  if (recovered.length === 0) return;
  await tx`
    update webhook_deliveries
    set    next_attempt_at = ${new Date(now)}
    where  account_id = ${accountId} and endpoint_id = ${endpointId} and state = 'waiting' and unavailable
      and  next_attempt_at > ${new Date(now)}`;
}

export type FailedAttempt = {
  status: number | null;
  error: string;
  isUnavailable: boolean;
  /** When the next attempt is, in ms; null: there is none. */
  next: number | null;
  /** How long nothing is sent to the endpoint, in ms; 0: it is available. */
  pauseMs: number;
};

/** Records a failed attempt. Returns how long and how often the endpoint has failed; undefined if it was deleted. */
export async function updateFailedAttempt(
  tx: Transaction,
  { accountId, endpointId, eventId }: Place,
  { status, error, isUnavailable, next, pauseMs }: FailedAttempt,
  now: number,
): Promise<{ failingSince: Date; failures: number; isOn: boolean; url: string } | undefined> {
  const [row] = await tx<{ failingSince: Date; failures: number; isOn: boolean; url: string }[]>`
    update webhook_endpoints
    set    failing_since = coalesce(failing_since, ${new Date(now)}),
           failures      = failures + 1,
           paused_until  = case when ${pauseMs > 0} then ${new Date(now + pauseMs)}::timestamptz else paused_until end
    where  account_id = ${accountId} and endpoint_id = ${endpointId}
    returning failing_since as "failingSince", failures as "failures", turned_off is null as "isOn", url as "url"`;
  await tx`
    update webhook_deliveries
    set    state = ${next === null ? 'failed' : 'waiting'}, attempts = attempts + 1, last_attempt_at = ${new Date(now)},
           next_attempt_at = ${new Date(next ?? now)}, status = ${status}, error = ${error}, unavailable = ${isUnavailable}
    where  account_id = ${accountId} and endpoint_id = ${endpointId} and event_id = ${eventId} and state = 'waiting'`;
  if (next === null) await unblockNext(tx, { accountId, endpointId, eventId });
  return row;
}

/** Turns an endpoint off. */
export async function updateTurnedOff(
  tx: Transaction,
  { accountId, endpointId }: Omit<Place, 'eventId'>,
  reason: 'failing' | 'gone',
): Promise<void> {
  await tx`
    update webhook_endpoints set turned_off = ${reason}
    where  account_id = ${accountId} and endpoint_id = ${endpointId}`;
}

/** Returns a page of the deliveries of an endpoint, newest first. */
export async function selectDeliveries(
  db: Db,
  accountId: AccountId,
  endpointId: number,
  { state, offset, limit }: { state: string | null; offset: number; limit: number },
): Promise<{ total: number; rows: DeliveryRow[] }> {
  const occurredAt = isoText(db, db`e.occurred_at`);
  const lastAttemptAt = isoText(db, db`d.last_attempt_at`);
  const nextAttemptAt = isoText(db, db`greatest(d.next_attempt_at, p.paused_until)`);
  const rows = await db<(DeliveryRow & { total: number })[]>`
    select d.event_id::integer          as "id",
           e.message_id                 as "messageId",
           e.type                       as "type",
           d.subject                    as "subject",
           ${occurredAt}                as "occurredAt",
           d.state                      as "state",
           d.attempts                   as "attempts",
           ${lastAttemptAt}             as "lastAttemptAt",
           d.status                     as "status",
           d.error                      as "error",
           case when d.state = 'waiting' then ${nextAttemptAt} end as "nextAttemptAt",
           count(*) over ()::integer    as "total"
    from   webhook_deliveries d
    join   webhook_events e on e.account_id = d.account_id and e.event_id = d.event_id
    join   webhook_endpoints p on p.account_id = d.account_id and p.endpoint_id = d.endpoint_id
    where  d.account_id = ${accountId} and d.endpoint_id = ${endpointId}
      and  (${state}::text is null or d.state = ${state}::text)
    order  by d.event_id desc
    offset ${offset} limit ${limit}`;
  return { total: rows[0]?.total ?? 0, rows };
}

const isoText = (db: Db, time: Fragment): Fragment =>
  db`to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** Queues a delivery again or, if `eventId` is null, all that have failed. Returns how many. */
export async function updateToSendAgain(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  eventId: number | null,
): Promise<number> {
  const rows = await tx`
    update webhook_deliveries
    set    state = 'waiting', attempts = 0, next_attempt_at = now(), unavailable = false, is_blocked = false
    where  account_id = ${accountId} and endpoint_id = ${endpointId}
      and  case when ${eventId}::bigint is null then state = 'failed' else event_id = ${eventId}::bigint end
    returning 1`;
  return rows.length;
}

/**
 * Deletes the events of all accounts (account_id) that are older than `days`, with their deliveries. Leaves those with a delivery that others are
 * changing, in another order, to the next call.
 */
export async function deleteOldEvents(db: Db, days: number): Promise<void> {
  const onCitus = await isOnCitus(db);
  const isOld = db`e.occurred_at < now() - make_interval(days => ${days})`;
  await db`
    with old as (
      select d.account_id, d.endpoint_id, d.event_id
      from   webhook_events e
      join   webhook_deliveries d on d.account_id = e.account_id and d.event_id = e.event_id
      where  ${isOld}
      ${onCitus ? db`` : db`for update of d skip locked`})
    delete from webhook_deliveries d using old where ${isDelivery(db, 'old')}`;
  await db`
    delete from webhook_events e
    where  ${isOld}
      and  not exists (select 1 from webhook_deliveries d
                       where  d.account_id = e.account_id and d.event_id = e.event_id)`;
}

/** Condition: d is the delivery in the row with this alias. */
const isDelivery = (db: Db, row: string) => db`
  d.account_id = ${db(row)}.account_id and d.endpoint_id = ${db(row)}.endpoint_id and d.event_id = ${db(row)}.event_id`;
