// Two webhook endpoints for the pages of the console: one that takes everything but a few events, and one that was turned off.
import type { EventType } from '@soundings/contract/webhooks/events.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { recordEvent } from '../../events/events.ts';
import { insertEndpoint, nextEndpointId } from '../../webhooks/endpoints.sql.ts';

/** Creates the endpoints, with `userId` as their creator. They are claimed, so that the service sends nothing to them. Returns the first one. */
export async function makeEndpoints(pool: Pool, accountId: number, userId: number): Promise<number> {
  const endpoint = async (description: string, url: string, events: EventType[]) => {
    const id = await nextEndpointId(pool);
    const fields = { id, url, description, events, secret: Buffer.alloc(60), createdBy: userId };
    await inTransaction(pool, (tx) => insertEndpoint(tx, accountId, fields));
    return id;
  };
  const pipeline = await endpoint('HR data pipeline', 'https://hooks.lavmark.example/soundings', [
    'run.pending',
    'run.applied',
    'run.refused',
    'file.processed',
    'week.published',
    'token.expiring',
  ]);
  const chat = await endpoint('', 'https://chat.lavmark.example/hooks/7f3a', ['week.published']);
  await pool`update webhook_endpoints set claimed_until = now() + interval '1 day' where account_id = ${accountId}`;
  await pool`update webhook_endpoints set turned_off = 'failing', failures = 14, failing_since = now() - interval '6 days'
             where account_id = ${accountId} and endpoint_id = ${chat}`;
  return pipeline;
}

/** Adds events of weeks and a token, and outcomes of all deliveries. */
export async function fillDeliveries(pool: Pool, accountId: number): Promise<void> {
  await inTransaction(pool, async (tx) => {
    for (const week of ['2026-11-02', '2026-11-09'])
      await recordEvent(tx, accountId, 'week.published', week, { week });
    await recordEvent(tx, accountId, 'token.expiring', 2, {
      tokenId: 2,
      expiresAt: '2026-12-02T23:59:59.999Z',
    });
  });
  await pool`
    update webhook_deliveries d
    set    state = 'sent', attempts = 1, status = 204, last_attempt_at = now()
    where  account_id = ${accountId}`;
  await pool`
    update webhook_deliveries d
    set    state = 'waiting', attempts = 3, status = 503, error = 'HTTP 503', next_attempt_at = now() + interval '28 minutes'
    from   webhook_events e
    where  d.account_id = ${accountId} and e.account_id = d.account_id and e.event_id = d.event_id and e.type = 'token.expiring'`;
  await pool`
    update webhook_deliveries d
    set    state = 'failed', attempts = 10, status = null, error = 'ETIMEDOUT', last_attempt_at = now() - interval '2 hours'
    from   webhook_events e
    where  d.account_id = ${accountId} and e.account_id = d.account_id and e.event_id = d.event_id
      and  e.subject = 'week 2026-11-02'`;
}
