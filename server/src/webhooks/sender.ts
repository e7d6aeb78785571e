// Sends webhooks: each event at least once to each endpoint, and the events of a subject in their order. An endpoint that does not respond
// delays only itself. One process at a time sends to an endpoint; if it is killed, another one goes on when its claim has run out.
import type { TurnedOffMail } from './turned-off.ts';
import { queueAdministratorMails, type MailPayload } from '../accounts/account-notices.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { newId } from '../base/ids.ts';
import type { Log } from '../base/log.ts';
import { exchange, type OutgoingTimes } from '../base/outgoing/exchange.ts';
import { signatureHeaders } from '../base/outgoing/signature.ts';
import { inSpan, inTrace } from '../base/tracing/spans.ts';
import { version } from '../base/version.ts';
import { inTransaction, type Pool, type Transaction } from '../db/db.ts';
import { addWebhookJob } from '../events/events.sql.ts';
import {
  type Claimed,
  claimEndpoints,
  type DueDelivery,
  releaseEndpoint,
  takeDeliveries,
  unblockDeliveries,
  updateFailedAttempt,
  updateSent,
  updateTurnedOff,
} from './deliveries.sql.ts';
import { failureOf, reasonToTurnOff, type Response } from './outcome.ts';
import { signingKeys } from './secrets.ts';

/** How many endpoints are served at the same time by this process, and of one account; and how many requests one gets at the same time. */
const [maxAtOnce, maxOfAccount, maxOfEndpoint] = [16, 4, 4];

/** How long an endpoint has, in ms. Standard Webhooks recommends 15 to 30 seconds. */
const timeLimits: OutgoingTimes = { connect: 10_000, response: 20_000, body: 1_000 };

/** How much of a response is read before the connection is closed. Its content is ignored, so that it can't show anything to anyone. */
const maxResponseBytes = 1024;

/** How long, in ms, a claim lasts without being renewed: longer than all time limits together. */
const claimMs = 60_000;

export type WebhookSender = {
  /** Starts sending what is due, and returns without waiting for the endpoints. What becomes due later has its own job. */
  wake(): Promise<void>;
  /** Resolves when nothing is being sent. */
  settled(): Promise<void>;
  /** Starts nothing new, and resolves when the current requests have ended. */
  close(): Promise<void>;
};

export type SenderOptions = {
  pool: Pool;
  secrets: Sealer;
  /** Private addresses and ranges that requests can reach (OUTGOING_NETWORKS). */
  networks: readonly string[];
  canMail: boolean;
  log: Log;
  now: () => number;
  times?: OutgoingTimes;
  /** From 0 to 1. */
  random?: () => number;
};

/** Opens the sender of this process. */
export function openWebhookSender(options: SenderOptions): WebhookSender {
  const { pool, log, now } = options;
  const serving = new Map<string, Promise<void>>();
  let [isWoken, isClaiming] = [false, false];
  const closing = new AbortController();

  const wake = async (): Promise<void> => {
    isWoken = true;
    if (isClaiming) return; // the running call goes on
    isClaiming = true;
    try {
      while (isWoken && !closing.signal.aborted && serving.size < maxAtOnce) {
        isWoken = false;
        const bounds = { count: maxAtOnce - serving.size, perAccount: maxOfAccount };
        const time = { now: now(), until: now() + claimMs };
        const claimed = await claimEndpoints(pool, { claim: newId(), ...bounds, ...time });
        for (const one of claimed) start(one);
        if (claimed.length === 0 && (await unblockDeliveries(pool)) > 0) isWoken = true;
      }
    } finally {
      isClaiming = false;
    }
  };
  /** Serves an endpoint. Afterwards looks for more: something may have become due while the endpoint was claimed, or another one waits. */
  const start = (endpoint: Claimed): void => {
    const { accountId, endpointId, claim } = endpoint;
    const done = inTrace({ name: 'webhook endpoint', kind: 'internal' }, () => serve(options, endpoint))
      .finally(() => serving.delete(claim + endpointId))
      .then(wake)
      // The recurring job looks again within a minute.
      .catch((error: unknown) =>
        log.error({ accountId, endpointId, err: error }, 'Sending webhooks failed. It will be retried'),
      );
    serving.set(claim + endpointId, done);
  };
  const settled = async (): Promise<void> => {
    while (serving.size > 0) await Promise.all(serving.values());
  };
  return {
    wake,
    settled,
    async close() {
      closing.abort();
      await settled();
    },
  };
}

/** Sends some of what is due to an endpoint, and ends the claim. The rest follows when the other endpoints have had their turn. */
async function serve(options: SenderOptions, endpoint: Claimed): Promise<void> {
  const { pool, now } = options;
  try {
    const time = { now: now(), until: now() + claimMs };
    const due = await takeDeliveries(pool, endpoint, { count: maxOfEndpoint, ...time });
    // All must have ended before another process may send to the endpoint.
    const sent = await Promise.allSettled(due.map((one) => deliver(options, endpoint, one)));
    for (const one of sent) if (one.status === 'rejected') throw one.reason;
  } finally {
    await releaseEndpoint(pool, endpoint, now());
  }
}

/** Sends one delivery and records the outcome. */
async function deliver(options: SenderOptions, endpoint: Claimed, due: DueDelivery): Promise<void> {
  const { pool, now, random = Math.random } = options;
  const response = await responseTo(options, endpoint, due);
  const place = { ...endpoint, eventId: due.eventId };
  if ('status' in response && response.status >= 200 && response.status < 300) {
    await inTransaction(pool, (tx) => updateSent(tx, place, { status: response.status, now: now() }));
    return;
  }
  const time = now();
  const { attempts, failures } = due;
  const failed = failureOf(response, { attempts, failures, now: time, random: random() });
  await inTransaction(pool, async (tx) => {
    const state = await updateFailedAttempt(tx, place, failed, time);
    if (!state?.isOn) return;
    const reason = reasonToTurnOff(failed.status, state, time);
    if (reason) return turnOff(tx, options, endpoint, { reason, host: new URL(state.url).host });
    const again = Math.max(failed.next ?? 0, time + failed.pauseMs);
    if (again > time) await addWebhookJob(tx, again);
  });
}

/** Turns an endpoint off and notifies the administrators. */
async function turnOff(
  tx: Transaction,
  { canMail, log }: SenderOptions,
  { accountId, endpointId }: Claimed,
  { reason, host }: { reason: 'failing' | 'gone'; host: string },
): Promise<void> {
  const service: Actor = { origin: 'service' };
  await updateTurnedOff(tx, { accountId, endpointId }, reason);
  await audit(tx, accountId, service, 'webhook turned off', {
    subject: endpointId,
    details: { host, reason },
  });
  if (canMail)
    await queueAdministratorMails(tx, accountId, 'mail webhook notice', {
      endpointId,
      host,
      reason,
    } satisfies MailPayload<TurnedOffMail>);
  log.warn({ accountId, endpointId, reason }, 'A webhook endpoint was turned off');
}

/** Sends the request of a delivery. Returns the response, or why there was none. */
async function responseTo(
  { secrets, networks, now, times = timeLimits }: SenderOptions,
  endpoint: Claimed,
  due: DueDelivery,
): Promise<Response> {
  const keys = await signingKeys(secrets, endpoint, due);
  if (keys.length === 0) return { error: 'ESECRET' };
  const { messageId: id, type, data, occurredAt } = due;
  const body = JSON.stringify({ type, timestamp: occurredAt.toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': `Soundings/${version}`,
    ...signatureHeaders(keys, { id, body, now: now() }),
  };
  try {
    const request = { url: new URL(due.url), method: 'POST', headers, body };
    const bounds = { reach: { networks }, times, maxBytes: maxResponseBytes };
    const { status, headers: received } = await inSpan({ name: 'send webhook', kind: 'client' }, () =>
      exchange(request, bounds),
    );
    return { status, retryAfter: received['retry-after'] };
  } catch (error) {
    const { code } = error as { code?: unknown };
    return { error: typeof code === 'string' ? code : 'EUNKNOWN' };
  }
}
