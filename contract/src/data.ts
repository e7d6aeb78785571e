// Interface A, the read-only data interface (§2.1, §4.1).
import { Type, type Static } from 'typebox';
import type { Operation } from './operation.ts';

export const NoParameters = Type.Object({}, { additionalProperties: false });

export const Group = Type.Object(
  {
    id: Type.Integer({ description: 'The id of the group, unique in the whole service and never reused.' }),
    externalId: Type.Optional(
      Type.String({ description: "The customer's own id of the group; left out where there is none." }),
    ),
    name: Type.String({ description: 'The name of the group.' }),
    description: Type.Optional(Type.String({ description: 'Left out where there is none.' })),
    subgroups: Type.Array(Type.Integer(), {
      description:
        'The ids of all groups beneath this one, at any depth, ascending: exactly those that ' +
        'includeSubgroups=true adds. Empty for a group with none beneath it.',
    }),
  },
  { title: 'Group' },
);
export type Group = Static<typeof Group>;

export const getGroups = {
  interface: 'data',
  method: 'GET',
  path: '/v1/groups',
  operationId: 'getGroups',
  summary: 'List the groups',
  description: 'All currently active groups of the account, ordered by id.',
  scope: 'data',
  query: NoParameters,
  response: Type.Array(Group),
  errors: {
    400: 'A query parameter that this operation does not have.',
    401: 'The token is missing, unknown, expired or revoked.',
    403: 'The token lacks the scope `data`.',
    503: 'Starting, stopping, or without a database: try again after `Retry-After` seconds.',
  },
} satisfies Operation;

export const dataOperations: Operation[] = [getGroups];
