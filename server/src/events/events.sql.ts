// SQL that records events and their deliveries. Writers: events.ts, and webhooks/ for tests of an endpoint.
import type { AccountId, Db, Transaction } from '../db/db.ts';

export type NewEvent = { messageId: string; type: string; subject: string; data: unknown };

/**
 * Stores an event, and a delivery to each endpoint that wants it, including those that are turned off. `endpointId`: only to this one,
 * whatever it wants. Stores nothing, and returns false, if there is no such endpoint.
 */
export async function insertEvent(
  tx: Transaction,
  accountId: AccountId,
  { messageId, type, subject, data }: NewEvent,
  endpointId: number | null = null,
): Promise<boolean> {
  const rows = await tx`
    with wanting as materialized (
      select endpoint_id
      from   webhook_endpoints
      where  account_id = ${accountId}
        and  case when ${endpointId}::integer is null then ${type} = any(events) else endpoint_id = ${endpointId}::integer end
      for    key share -- an endpoint that is deleted at the same time must not make the change fail
    ), event as (
      insert into webhook_events (account_id, message_id, type, subject, data)
      select ${accountId}, ${messageId}, ${type}, ${subject}, ${JSON.stringify(data)}::text::json
      where  exists (select 1 from wanting)
      returning event_id
    )
    insert into webhook_deliveries (account_id, endpoint_id, event_id, subject)
    select ${accountId}, w.endpoint_id, e.event_id, ${subject}
    from   event e
    cross  join wanting w
    returning event_id`;
  return rows.length > 0;
}

/**
 * Adds a job that sends what is due, at a time in ms since 1970 or immediately. Jobs are not merged by a key, because two transactions that add
 * the same one would wait for each other.
 */
export async function addWebhookJob(db: Db, at?: number): Promise<void> {
  if (!(await selectHasJobs(db))) return;
  await db`
    select graphile_worker.add_job('send webhooks', '{}', run_at := ${at === undefined ? null : new Date(at)}::timestamptz) -- account_id: of no account`;
}

/** Returns whether the service has run before. If it has, the schema of the job queue exists. */
export async function selectHasJobs(db: Db): Promise<boolean> {
  const rows =
    await db`select from pg_namespace where nspname = 'graphile_worker' -- account_id: of no account`;
  return rows.length > 0;
}
