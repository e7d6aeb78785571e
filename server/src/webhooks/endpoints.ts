// The endpoints that an account sends webhooks to. Only administrators change them, and each change is in the audit log.
import type { EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import {
  type EventType,
  maxEndpoints,
  previousSecretHours,
  testEvent,
} from '@soundings/contract/webhooks/events.ts';
import { lockAccount } from '../accounts/accounts.ts';
import { type Actor, audit } from '../accounts/audit.ts';
import type { Sealer } from '../base/crypto/sealer.ts';
import { Fault } from '../base/errors.ts';
import { enteredUrl } from '../base/outgoing/entered-url.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';
import { newMessageId } from '../events/events.ts';
import { addWebhookJob, insertEvent } from '../events/events.sql.ts';
import { updateToSendAgain } from './deliveries.sql.ts';
import {
  countEndpoints,
  deleteEndpoint,
  type EndpointChanges,
  insertEndpoint,
  nextEndpointId,
  selectEndpoints,
  updateEndpoint,
  updateEndpointSecret,
} from './endpoints.sql.ts';
import { newSecret } from './secrets.ts';

/** What changes of endpoints need: who makes them, what seals secrets, and the private networks that requests can reach. */
export type Changing = {
  actor: Extract<Actor, { origin: 'console' }>;
  secrets: Sealer;
  networks: readonly string[];
};

/** Creates an endpoint. Returns its secret, which is not shown again. */
export async function createEndpoint(
  tx: Transaction,
  accountId: AccountId,
  { url, description, events }: { url: string; description: string; events: EventType[] },
  { actor, secrets, networks }: Changing,
): Promise<{ id: number; secret: string }> {
  const address = checkedUrl(url, networks);
  await lockAccount(tx, accountId);
  if ((await countEndpoints(tx, accountId)) >= maxEndpoints) throw tooManyEndpoints();
  const id = await nextEndpointId(tx);
  const { shown, sealed } = await newSecret(secrets, accountId, id);
  const { userId: createdBy } = actor;
  await insertEndpoint(tx, accountId, {
    id,
    url: address.href,
    description,
    events,
    secret: sealed,
    createdBy,
  });
  await audit(tx, accountId, actor, 'webhook created', {
    subject: id,
    details: { host: address.host, events },
  });
  return { id, secret: shown };
}

/** Returns an endpoint. Throws a Fault if the account has none with this id. */
export async function endpointById(db: Db, accountId: AccountId, endpointId: number): Promise<EndpointView> {
  const [endpoint] = await selectEndpoints(db, accountId, endpointId);
  if (!endpoint) throw endpointNotFound();
  return endpoint;
}

/** Changes an endpoint, or turns it on or off. What waits is sent as soon as it is on. */
export async function changeEndpoint(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  changes: Partial<EndpointChanges>,
  { actor, networks }: Omit<Changing, 'secrets'>,
): Promise<void> {
  await lockAccount(tx, accountId);
  const { url: before, description, events, turnedOff } = await endpointById(tx, accountId, endpointId);
  const url = changes.url === undefined ? before : checkedUrl(changes.url, networks).href;
  const after = { description, events, isOn: turnedOff === null, ...changes, url };
  await updateEndpoint(tx, accountId, endpointId, after);
  const { host } = new URL(url);
  const turned = after.isOn === (turnedOff === null) ? {} : { isOn: after.isOn };
  await audit(tx, accountId, actor, 'webhook changed', {
    subject: endpointId,
    details: { host, events: after.events, ...turned },
  });
  await addWebhookJob(tx);
}

/** Removes an endpoint with its deliveries. Those that wait are not sent. */
export async function removeEndpoint(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  actor: Actor,
): Promise<void> {
  const url = await deleteEndpoint(tx, accountId, endpointId);
  if (url === undefined) throw endpointNotFound();
  const { host } = new URL(url);
  await audit(tx, accountId, actor, 'webhook removed', { subject: endpointId, details: { host } });
}

/** Replaces the secret of an endpoint, and returns the new one. Requests are signed with both for a day. */
export async function rotateSecret(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  { actor, secrets }: Omit<Changing, 'networks'>,
  now: number,
): Promise<string> {
  const { shown, sealed } = await newSecret(secrets, accountId, endpointId);
  const previousUntil = now + previousSecretHours * 3_600_000;
  if (!(await updateEndpointSecret(tx, accountId, endpointId, { secret: sealed, previousUntil })))
    throw endpointNotFound();
  await audit(tx, accountId, actor, 'webhook secret rotated', { subject: endpointId });
  return shown;
}

/** Sends a test event to an endpoint. Throws a Fault if it is turned off. */
export async function sendTest(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  actor: Actor,
): Promise<void> {
  const { turnedOff } = await endpointById(tx, accountId, endpointId);
  if (turnedOff !== null)
    throw new Fault(
      'conflict',
      'webhook turned off',
      'This endpoint is turned off. Turn it on and try again.',
    );
  const subject = `test ${endpointId}`;
  const event = { messageId: newMessageId(), type: testEvent, subject, data: { endpointId } };
  await insertEvent(tx, accountId, event, endpointId);
  await addWebhookJob(tx);
  await audit(tx, accountId, actor, 'webhook tested', { subject: endpointId });
}

/** Sends a delivery again or, if `deliveryId` is null, all that have failed, with all attempts. Returns how many. */
export async function sendDeliveriesAgain(
  tx: Transaction,
  accountId: AccountId,
  endpointId: number,
  deliveryId: number | null,
  actor: Actor,
): Promise<number> {
  await endpointById(tx, accountId, endpointId);
  const count = await updateToSendAgain(tx, accountId, endpointId, deliveryId);
  if (count === 0 && deliveryId !== null)
    throw new Fault(
      'not_found',
      'delivery not found',
      'This delivery no longer exists. Deliveries are kept for 30 days.',
    );
  await addWebhookJob(tx);
  await audit(tx, accountId, actor, 'webhook sent again', { subject: endpointId, details: { count } });
  return count;
}

const checkedUrl = (text: string, networks: readonly string[]): URL =>
  enteredUrl(text, networks, { path: '/url', example: 'https://example.com/hooks' });

const endpointNotFound = () =>
  new Fault('not_found', 'webhook not found', 'This endpoint does not exist. It may have been removed.');

const tooManyEndpoints = () =>
  new Fault(
    'conflict',
    'too many webhooks',
    `An account can have at most ${maxEndpoints} endpoints. Remove one first, or let one endpoint receive more events.`,
  );
