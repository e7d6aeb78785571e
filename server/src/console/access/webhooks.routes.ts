// The console: webhooks. Administrators create endpoints, see what was sent to them and why something failed, and send it again.
import type { Sealer } from '../../base/crypto/sealer.ts';
import { openThrottle, tooEarly } from '../../base/throttle.ts';
import { inTransaction, type Pool } from '../../db/db.ts';
import { selectDeliveries } from '../../webhooks/deliveries.sql.ts';
import {
  changeEndpoint,
  createEndpoint,
  endpointById,
  removeEndpoint,
  rotateSecret,
  sendDeliveriesAgain,
  sendTest,
} from '../../webhooks/endpoints.ts';
import { selectEndpoints } from '../../webhooks/endpoints.sql.ts';
import { actorOf, type Console } from '../core/console.ts';
import { idIn } from '../core/ids.ts';

/** How many test events an account can send, and how many accounts are remembered. */
const testLimit = { free: 10, windowMs: 60_000 };
const maxTested = 1_000;

/** The largest page of deliveries. */
const maxPage = 200;

export type WebhooksOptions = {
  pool: Promise<Pool>;
  secrets: Promise<Sealer>;
  networks: readonly string[];
  now: () => number;
};

export function serveWebhooks(console: Console, options: WebhooksOptions): void {
  serveEndpoints(console, options);
  serveDeliveries(console, options);
}

function serveEndpoints(console: Console, { pool, secrets, networks, now }: WebhooksOptions): void {
  console.serve('GET /webhooks', async ({ accountId }) => ({
    endpoints: await selectEndpoints(await pool, accountId),
  }));
  console.serve('POST /webhooks', async (who, { body }) => {
    const changing = { actor: actorOf(who), secrets: await secrets, networks };
    return inTransaction(await pool, (tx) => createEndpoint(tx, who.accountId, body, changing));
  });
  console.serve('GET /webhooks/{endpointId}', async ({ accountId }, { params: { endpointId } }) =>
    endpointById(await pool, accountId, idIn(endpointId)),
  );
  console.serve('PATCH /webhooks/{endpointId}', async (who, { params, body }) =>
    inTransaction(await pool, async (tx) => {
      const id = idIn(params.endpointId);
      await changeEndpoint(tx, who.accountId, id, body, { actor: actorOf(who), networks });
      return endpointById(tx, who.accountId, id);
    }),
  );
  console.serve('DELETE /webhooks/{endpointId}', async (who, { params: { endpointId } }) =>
    inTransaction(await pool, (tx) => removeEndpoint(tx, who.accountId, idIn(endpointId), actorOf(who))),
  );
  console.serve('POST /webhooks/{endpointId}/rotate', async (who, { params: { endpointId } }) => {
    const changing = { actor: actorOf(who), secrets: await secrets };
    const secret = await inTransaction(await pool, (tx) =>
      rotateSecret(tx, who.accountId, idIn(endpointId), changing, now()),
    );
    return { secret };
  });
}

function serveDeliveries(console: Console, { pool, now }: WebhooksOptions): void {
  const tests = openThrottle(testLimit, maxTested, now);
  console.serve('POST /webhooks/{endpointId}/test', async (who, { params: { endpointId } }) => {
    const wait = tests.attempt(String(who.accountId));
    if (wait > 0) throw tooEarly('too many test events', 'Test events were sent too often.', wait);
    await inTransaction(await pool, (tx) => sendTest(tx, who.accountId, idIn(endpointId), actorOf(who)));
  });
  console.serve('GET /webhooks/{endpointId}/deliveries', async ({ accountId }, { params, query }) => {
    const { id } = await endpointById(await pool, accountId, idIn(params.endpointId));
    const { state = null, offset = '0', limit = '50' } = query;
    const page = { state, offset: Number(offset), limit: Math.min(Number(limit), maxPage) };
    return selectDeliveries(await pool, accountId, id, page);
  });
  console.serve('POST /webhooks/{endpointId}/send-again', async (who, { params, body: { deliveryId } }) => ({
    count: await inTransaction(await pool, (tx) =>
      sendDeliveriesAgain(tx, who.accountId, idIn(params.endpointId), deliveryId, actorOf(who)),
    ),
  }));
}
