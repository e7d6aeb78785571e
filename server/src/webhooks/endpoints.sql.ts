// SQL of the endpoints that webhooks are sent to. Writer: endpoints.ts.
import type { EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import type { EventType } from '@soundings/contract/webhooks/events.ts';
import { isOnCitus } from '../db/citus/distribution.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** Returns the id of the next endpoint. Its secret is sealed for this id. */
export async function nextEndpointId(db: Db): Promise<number> {
  const [row] = await db<{ id: number }[]>`
    select nextval(pg_get_serial_sequence('webhook_endpoints', 'endpoint_id'))::integer as "id"`;
  return row!.id;
}

export async function countEndpoints(db: Db, accountId: AccountId): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as "count" from webhook_endpoints where account_id = ${accountId}`;
  return row!.count;
}

export type NewEndpoint = {
  id: number;
  url: string;
  description: string;
  events: EventType[];
  secret: Buffer;
  createdBy: number | null;
};

export async function insertEndpoint(
  tx: Transaction,
  accountId: AccountId,
  endpoint: NewEndpoint,
): Promise<void> {
  const { id, url, description, events, secret, createdBy } = endpoint;
  await tx`
    insert into webhook_endpoints (account_id, endpoint_id, url, description, events, secret, created_by)
    values (${accountId}, ${id}, ${url}, ${description}, ${events}, ${secret}, ${createdBy})`;
}

/** Returns an endpoint of the account or, if `endpointId` is null, all of them in order of creation. */
export async function selectEndpoints(
  db: Db,
  accountId: AccountId,
  endpointId: number | null = null,
): Promise<EndpointView[]> {
  const rows = await db<(Omit<EndpointView, DateField> & Record<DateField, Date | null>)[]>`
    select e.endpoint_id                                        as "id",
           e.url                                                as "url",
           e.description                                        as "description",
           e.events                                             as "events",
           e.turned_off                                         as "turnedOff",
           e.failing_since                                      as "failingSince",
           e.created_at                                         as "createdAt",
           case when e.previous_until > now() then e.previous_until end as "previousUntil",
           nullif(concat_ws(' ', u.first_name, u.last_name), '') as "createdBy",
           coalesce(d.waiting, 0)                               as "waiting",
           coalesce(d.failed, 0)                                as "failed",
           d.last_sent_at                                       as "lastSentAt"
    from   webhook_endpoints e
    left   join users u on u.account_id = e.account_id and u.user_id = e.created_by
    left   join lateral (select count(*) filter (where state = 'waiting')::integer    as waiting,
                                count(*) filter (where state = 'failed')::integer     as failed,
                                max(last_attempt_at) filter (where state = 'sent')    as last_sent_at
                         from   webhook_deliveries d
                         where  d.account_id = ${accountId} and d.endpoint_id = e.endpoint_id) d on true
    where  e.account_id = ${accountId} and (${endpointId}::integer is null or e.endpoint_id = ${endpointId}::integer)
    order  by e.endpoint_id`;
  const textOf = (date: Date | null) => date?.toISOString() ?? null;
  return rows.map((row) => ({
    ...row,
    failingSince: textOf(row.failingSince),
    createdAt: textOf(row.createdAt) as string,
    previousUntil: textOf(row.previousUntil),
    lastSentAt: textOf(row.lastSentAt),
  }));
}
type DateField = 'failingSince' | 'createdAt' | 'previousUntil' | 'lastSentAt';

export type EndpointChanges = { url: string; description: string; events: EventType[]; isOn: boolean };

/** Changes an endpoint. Turning it on forgets its failures, and what waits is sent immediately. Returns false if there is none. */
export async function updateEndpoint(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  { url, description, events, isOn }: EndpointChanges,
): Promise<boolean> {
  const rows = await tx`
    with changed as (
      update webhook_endpoints
      set    url           = ${url},
             description   = ${description},
             events        = ${events},
             failing_since = case when turned_off is null or not ${isOn} then failing_since end,
             failures      = case when turned_off is null or not ${isOn} then failures else 0 end,
             paused_until  = case when turned_off is null and url = ${url} or not ${isOn} then paused_until end,
             turned_off    = case when not ${isOn} then coalesce(turned_off, 'user') end
      where  account_id = ${accountId} and endpoint_id = ${endpointId}
      returning endpoint_id, paused_until is null and turned_off is null as is_ready
    ), hastened as (
      update webhook_deliveries d
      set    next_attempt_at = now()
      from   changed c
      where  d.account_id = ${accountId} and d.endpoint_id = c.endpoint_id and d.state = 'waiting' and c.is_ready
        and  d.next_attempt_at > now()
    )
    select endpoint_id from changed`;
  return rows.length > 0;
}

/** Deletes an endpoint and its deliveries. Returns its address; undefined if there is none. */
export async function deleteEndpoint(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
): Promise<string | undefined> {
  const [row] = await tx<{ url: string }[]>`
    delete from webhook_endpoints
    where  account_id = ${accountId} and endpoint_id = ${endpointId}
    returning url as "url"`;
  return row?.url;
}

/** Replaces the secret, and keeps the previous one until a time in ms since 1970. Returns false if there is no such endpoint. */
export async function updateEndpointSecret(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  { secret, previousUntil }: { secret: Buffer; previousUntil: number },
): Promise<boolean> {
  const rows = await tx`
    update webhook_endpoints
    set    previous_secret = secret, previous_until = ${new Date(previousUntil)}, secret = ${secret}
    where  account_id = ${accountId} and endpoint_id = ${endpointId}
    returning 1`;
  return rows.length > 0;
}

export type SealedSecrets = {
  accountId: AccountId;
  endpointId: number;
  secret: Buffer;
  previous: Buffer | null;
};

/** Returns the secrets of all accounts (account_id), and locks them until the transaction ends, except on Citus. */
export async function selectWebhookSecrets(tx: Transaction): Promise<SealedSecrets[]> {
  const onCitus = await isOnCitus(tx);
  return tx`
    select account_id as "accountId", endpoint_id as "endpointId", secret as "secret", previous_secret as "previous"
    from   webhook_endpoints
    order  by account_id, endpoint_id
    ${onCitus ? tx`` : tx`for no key update`}`;
}

/** Stores secrets that were sealed again, unless they have been changed since `before` was read. */
export async function updateSealedSecrets(
  tx: Transaction,
  before: SealedSecrets,
  { secret, previous }: Pick<SealedSecrets, 'secret' | 'previous'>,
): Promise<void> {
  await tx`
    update webhook_endpoints
    set    secret = ${secret}, previous_secret = ${previous}
    where  account_id = ${before.accountId} and endpoint_id = ${before.endpointId}
      and  secret = ${before.secret} and previous_secret is not distinct from ${before.previous}`;
}
