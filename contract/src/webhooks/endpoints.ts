// The console: webhooks, their endpoints and their deliveries.
import { Type } from 'typebox';
import { operation } from '../console/operation.ts';
import { type EventType, eventTypes, maxEndpointDescription, maxEndpointUrl } from './events.ts';

/** Why an endpoint is off. `failing`: it has failed for days; `gone`: it has responded that it no longer exists. */
export type TurnedOff = 'user' | 'failing' | 'gone';

export type EndpointSummary = {
  id: number;
  url: string;
  description: string;
  events: EventType[];
  /** Null: it is on. */
  turnedOff: TurnedOff | null;
  /** Since when every attempt has failed; null: the last one succeeded, or there was none. */
  failingSince: string | null;
  createdAt: string;
  /** How many deliveries are waiting, and how many have failed permanently. */
  waiting: number;
  failed: number;
  lastSentAt: string | null;
};

export type EndpointView = EndpointSummary & {
  /** The end of the time in which requests are also signed with the previous secret; null: they are not. */
  previousUntil: string | null;
  createdBy: string | null;
};

export type DeliveryRow = {
  id: number;
  /** The webhook-id header. */
  messageId: string;
  type: string;
  subject: string;
  occurredAt: string;
  state: 'waiting' | 'sent' | 'failed';
  attempts: number;
  lastAttemptAt: string | null;
  /** The HTTP status of the last attempt; null: there was none, or no response. */
  status: number | null;
  /** Why the last attempt failed. */
  error: string | null;
  /** Null: it has been sent or has failed permanently. */
  nextAttemptAt: string | null;
};

const fields = {
  url: Type.String({ minLength: 1, maxLength: maxEndpointUrl }),
  description: Type.String({ maxLength: maxEndpointDescription }),
  events: Type.Array(Type.Enum(Object.keys(eventTypes) as EventType[]), {
    minItems: 1,
    maxItems: Object.keys(eventTypes).length,
    uniqueItems: true,
  }),
};

export const webhooksOperations = {
  'GET /webhooks': operation<{ endpoints: EndpointSummary[] }>()({ minimumRole: 'Administrator' }),
  /** Creates an endpoint. Its secret is returned only here. */
  'POST /webhooks': operation<{ id: number; secret: string }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object(fields, { additionalProperties: false }),
  }),
  'GET /webhooks/{endpointId}': operation<EndpointView>()({ minimumRole: 'Administrator' }),
  'PATCH /webhooks/{endpointId}': operation<EndpointView>()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Partial(Type.Object({ ...fields, isOn: Type.Boolean() }), { additionalProperties: false }),
  }),
  'DELETE /webhooks/{endpointId}': operation()({ minimumRole: 'Administrator', proof: true }),
  /** Creates a new secret, which is returned only here. The previous one is used as well for a day. */
  'POST /webhooks/{endpointId}/rotate': operation<{ secret: string }>()({
    minimumRole: 'Administrator',
    proof: true,
  }),
  /** Sends a test event. 429 after a few within a minute. */
  'POST /webhooks/{endpointId}/test': operation()({ minimumRole: 'Administrator' }),
  'GET /webhooks/{endpointId}/deliveries': operation<{ total: number; rows: DeliveryRow[] }>()({
    minimumRole: 'Administrator',
    query: Type.Object({
      state: Type.Optional(Type.Enum(['waiting', 'sent', 'failed'])),
      offset: Type.Optional(Type.String({ pattern: '^\\d{1,9}$' })),
      limit: Type.Optional(Type.String({ pattern: '^\\d{1,3}$' })),
    }),
  }),
  /** Sends one delivery again, or all that have failed. Returns how many. */
  'POST /webhooks/{endpointId}/send-again': operation<{ count: number }>()({
    minimumRole: 'Administrator',
    body: Type.Object(
      { deliveryId: Type.Union([Type.Integer({ minimum: 1, maximum: 999_999_999 }), Type.Null()]) },
      { additionalProperties: false },
    ),
  }),
};
