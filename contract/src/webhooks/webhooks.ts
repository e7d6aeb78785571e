// The requests that webhooks send, for the OpenAPI document: one schema for each type of event.
import { type Static, type TSchema, Type } from 'typebox';
import { type PullError, pullErrors } from '../pulls/pull-values.ts';
import { type EventType, eventTypes, testEvent } from './events.ts';

const counts = Type.Object({
  created: Type.Integer({ minimum: 0 }),
  updated: Type.Integer({ minimum: 0 }),
  deleted: Type.Integer({ minimum: 0 }),
});

const run = Type.Object({
  runId: Type.String({ format: 'uuid' }),
  source: Type.Enum(['api', 'file', 'scim'], {
    description: 'An organization request, a file, or the directory (SCIM).',
  }),
  changes: Type.Union([Type.Object({ users: counts, groups: counts }), Type.Null()], {
    description:
      'How many changes were made, or would be made. Null: unknown, because the content has errors.',
  }),
});

const week = Type.Object({ week: Type.String({ format: 'date', description: 'The Monday of the week.' }) });

/** The data of each type of event: IDs, kinds and counts. */
export const eventData = {
  'run.pending': run,
  'run.applied': run,
  'run.refused': run,
  'run.rejected': run,
  'file.processed': Type.Object({
    fileId: Type.Integer(),
    runId: Type.String({ format: 'uuid' }),
    outcome: Type.Enum(['applied', 'validated', 'pending', 'refused', 'failed'], {
      description: 'As in the report of the file.',
    }),
  }),
  'pull.failing': Type.Object({
    pullId: Type.Integer(),
    error: Type.Enum(Object.keys(pullErrors) as PullError[], { description: 'Why it failed.' }),
  }),
  'week.opened': week,
  'week.closed': week,
  'week.published': week,
  'token.expiring': Type.Object({
    tokenId: Type.Integer(),
    expiresAt: Type.String({ format: 'date-time' }),
  }),
  'administrator.added': Type.Object({
    userId: Type.Integer({
      description: 'The number of the person in the address of their page in the console.',
    }),
  }),
} as const satisfies Record<EventType, unknown>;

export type EventData<T extends EventType = EventType> = Static<(typeof eventData)[T]>;

const titleOf = (type: string) =>
  `${type
    .split('.')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}Event`;

/** Returns the webhooks of the OpenAPI document: for each type of event its meaning and the schema of its body. */
export const webhookBodies = (): { type: string; summary: string; body: TSchema }[] =>
  [
    ...(Object.keys(eventTypes) as EventType[]).map((type) => ({
      type: type as string,
      summary: eventTypes[type] as string,
      data: eventData[type] as TSchema,
    })),
    {
      type: testEvent,
      summary: 'An administrator tries an endpoint in the console.',
      data: Type.Object({ endpointId: Type.Integer() }) as TSchema,
    },
  ].map(({ type, summary, data }) => ({
    type,
    summary,
    body: Type.Object(
      {
        type: Type.Literal(type),
        timestamp: Type.String({ format: 'date-time', description: 'When the event occurred.' }),
        data,
      },
      { title: titleOf(type) },
    ),
  }));
