// Pushes in parts, for organizations that are too large for one request: a push is opened, its lists are sent in parts, and a commit
// processes them as one request. An addition to the organization interface; not part of the original description.
import { type Static, Type } from 'typebox';
import { NoParameters } from '../data.ts';
import {
  abandonedPushHours,
  limitNames,
  maxChangesDefault,
  maxGroupsOfPush,
  maxPartBytes,
  maxPartEntries,
  maxPartNumber,
  maxUsersOfPush,
  runRetentionDays,
} from '../limits.ts';
import type { Operation } from '../operation.ts';
import { Change, Data, Settings, Summary, Warning } from '../organization.ts';
import { Detail } from '../problem.ts';

const number = (value: number) => value.toLocaleString('en');

/** The settings of a commit: those of a request, with higher maximums. */
export const CommitSettings = Type.Object(
  {
    ...Settings.properties,
    ...(Object.fromEntries(
      limitNames.map((name) => [
        name,
        Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxUsersOfPush,
            default: maxChangesDefault,
            description:
              (Settings.properties[name] as unknown as { description: string }).description +
              ' How high it can be is a setting of the account, which the operator changes: 20,000 by default.',
          }),
        ),
      ]),
    ) as Pick<typeof Settings.properties, (typeof limitNames)[number]>),
  },
  { title: 'CommitSettings', additionalProperties: false },
);

export const Commit = Type.Object(
  {
    parts: Type.Integer({
      minimum: 1,
      maximum: maxPartNumber,
      description: 'How many parts the push has. They must be numbered from 1 to this number.',
    }),
    settings: Type.Optional(CommitSettings),
  },
  { title: 'Commit', additionalProperties: false },
);
export type Commit = { parts: number; settings: Settings };

export const Part = Type.Object(
  { data: Data },
  {
    title: 'Part',
    additionalProperties: false,
    description: `A part of the lists: at most ${number(maxPartEntries)} users and groups together.`,
  },
);

export const PushRun = Type.Object(
  {
    id: Type.String({ description: 'The ID of the run. It is also the ID of the commit request.' }),
    outcome: Type.Enum(['processing', 'validated', 'applied', 'refused', 'failed'], {
      description:
        'validated: a dry run without errors. failed: the run was interrupted and nothing was applied. Commit again.',
    }),
    validateOnly: Type.Boolean(),
    message: Type.Optional(Type.String({ description: 'Why the run was refused or has failed.' })),
    details: Type.Optional(Type.Array(Detail, { description: 'The errors of a refused run.' })),
    plan: Type.Optional(
      Type.String({
        description:
          'Identifies exactly these changes. Send it as `expectedPlan` to apply them and no others.',
      }),
    ),
    summary: Type.Optional(Summary),
    warnings: Type.Optional(Type.Array(Warning)),
  },
  { title: 'PushRun', description: 'The last commit.' },
);

export const Push = Type.Object(
  {
    id: Type.String(),
    state: Type.Enum(['open', 'processing', 'applied'], {
      description:
        'open: accepts parts and commits, also after a dry run or a refused commit. processing: a commit runs. ' +
        'applied: the changes were made, and the parts were deleted.',
    }),
    expiresAt: Type.String({
      format: 'date-time',
      description:
        `When the push is deleted if nothing is sent to it: ${abandonedPushHours} hours after the last part or commit. ` +
        `Once it was applied, this is when its result is deleted: ${runRetentionDays} days after the commit.`,
    }),
    parts: Type.Array(Type.Integer(), { description: 'The numbers of the parts that were received.' }),
    users: Type.Union([Type.Integer(), Type.Null()], {
      description:
        'How many users the parts list. Null if no part has a list of users: then users stay as they are.',
    }),
    groups: Type.Union([Type.Integer(), Type.Null()], { description: 'How many groups the parts list.' }),
    run: Type.Union([PushRun, Type.Null()], { description: 'The last commit. Null if there was none.' }),
  },
  { title: 'Push', description: 'A push in parts.' },
);
export type Push = Static<typeof Push>;
export type PushRun = Static<typeof PushRun>;

export const PartReceipt = Type.Object(
  {
    part: Type.Integer(),
    users: Type.Union([Type.Integer(), Type.Null()]),
    groups: Type.Union([Type.Integer(), Type.Null()]),
    warnings: Type.Array(Warning),
  },
  { title: 'PartReceipt', description: 'What a part lists. A part is stored only if it has no errors.' },
);
export type PartReceipt = Static<typeof PartReceipt>;

export const PushChanges = Type.Object(
  {
    changes: Type.Array(Change),
    next: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Send it as `after` to read the next changes. Null if there are no more.',
    }),
  },
  { title: 'PushChanges' },
);
export type PushChanges = { changes: Change[]; next: number | null };

const pushId = Type.String({ description: 'The ID of the push.' });
const OfPush = Type.Object({ pushId });
const OfPart = Type.Object({
  pushId,
  part: Type.String({ description: `The number of the part, from 1 to ${number(maxPartNumber)}.` }),
});

const errors = {
  400: 'The token is invalid, or the request has errors, each listed in `details`. Nothing was changed.',
  403: 'The token lacks the `organization` scope.',
  429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
  503: 'The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds.',
};
const noPush = `The account has no such push. Pushes are deleted ${abandonedPushHours} hours after the last part or commit, but the result of one that was applied can be read for ${runRetentionDays} days.`;
const shared = { interface: 'organization', scope: 'organization', query: NoParameters } as const;
const address = '/v1/organization/pushes/{pushId}';

const openPush = {
  ...shared,
  method: 'POST',
  path: '/v1/organization/pushes',
  operationId: 'openPush',
  summary: 'Open a push in parts',
  description:
    'Opens a push for lists that are too large for one request. Send the lists in parts, then commit them as one request. An account has ' +
    'one open push. This operation is not part of the original interface description.',
  success: 201,
  response: Push,
  errors: { ...errors, 409: 'The account already has an open push. Continue or delete it.' },
} satisfies Operation;

const getPush = {
  ...shared,
  method: 'GET',
  path: address,
  operationId: 'getPush',
  summary: 'Get the state of a push in parts',
  description:
    'Returns which parts were received, and the result of the last commit. The result of a push that was applied stays ' +
    `for ${runRetentionDays} days, even if it is deleted or another push is opened. This operation is not part of the original interface description.`,
  params: OfPush,
  response: Push,
  errors: { ...errors, 404: noPush },
} satisfies Operation;

const putPart = {
  ...shared,
  method: 'PUT',
  path: `${address}/parts/{part}`,
  operationId: 'putPart',
  summary: 'Send a part of a push',
  description:
    'Checks and stores a part of the lists. Parts can be sent in any order. A part with the same number replaces the earlier one, so it can be ' +
    'sent again after a lost response. The parts together can list ' +
    `${number(maxUsersOfPush)} users and ${number(maxGroupsOfPush)} groups, in 64 MB; the operator can allow an account more. ` +
    'This operation is not part of the original interface description.',
  params: OfPart,
  body: Part,
  response: PartReceipt,
  errors: {
    ...errors,
    404: noPush,
    409: 'A commit is running, or the push was applied.',
    413: `The part is larger than ${maxPartBytes / 1024 / 1024} MB, as sent or uncompressed, or lists more than ${number(maxPartEntries)} users and groups, or the parts together exceed the limits of the account.`,
    415: 'The body is not application/json, or has an encoding other than gzip.',
  },
} satisfies Operation;

const commitPush = {
  ...shared,
  method: 'POST',
  path: `${address}/commit`,
  operationId: 'commitPush',
  summary: 'Commit a push in parts',
  description:
    'Starts to process the parts, in the order of their numbers, as if their lists had been sent in one request: a dry run unless ' +
    '`settings.validateOnly` is false. It responds immediately; read the result with `GET /v1/organization/pushes/{pushId}`. After a dry run, the same ' +
    'parts can be committed again. Paths in errors and warnings count the entries of all parts. ' +
    'This operation is not part of the original interface description.',
  params: OfPush,
  body: Commit,
  success: 202,
  response: Push,
  errors: {
    ...errors,
    404: noPush,
    409: 'Parts are missing, a commit is running, or the push was applied.',
    413: 'The body is too large.',
    415: 'The body is not application/json.',
  },
} satisfies Operation;

const deletePush = {
  ...shared,
  method: 'DELETE',
  path: address,
  operationId: 'deletePush',
  summary: 'Delete a push in parts',
  description:
    'Deletes a push with its parts. Changes that were applied stay. This operation is not part of the original interface description.',
  params: OfPush,
  success: 204,
  response: Type.Null(),
  errors: { ...errors, 404: noPush, 409: 'A commit is running.' },
} satisfies Operation;

const getPushChanges = {
  ...shared,
  method: 'GET',
  path: `${address}/changes`,
  operationId: 'getPushChanges',
  summary: 'List the changes of the last commit',
  description:
    'Returns up to 1,000 changes of the last commit, in the order of the lists. This operation is not part of the original interface description.',
  params: OfPush,
  query: Type.Object({
    after: Type.Optional(Type.String({ description: '`next` of the previous response. Omit it to begin.' })),
  }),
  response: PushChanges,
  errors: { ...errors, 404: noPush },
} satisfies Operation;

/** The operations of pushes in parts. */
export const partedPush = {
  open: openPush,
  read: getPush,
  put: putPart,
  commit: commitPush,
  remove: deletePush,
  changes: getPushChanges,
};

export const pushOperations: Operation[] = Object.values(partedPush);
