// The organization interface (§2.2, §4.2): the request, its parts and the report.
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { NoParameters } from './data.ts';
import { maxChangesCeiling, maxChangesDefault } from './limits.ts';
import type { Operation } from './operation.ts';
import { organizationRoles } from './people/roles.ts';

const maxChanges = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxChangesCeiling,
      default: maxChangesDefault,
      description: `The maximum number of ${what}. A request with more is rejected as a whole.`,
    }),
  );

const orNull = (schema: TSchema, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));

export const Settings = Type.Object(
  {
    validateOnly: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'true: report the changes without making them. false: apply the changes.',
      }),
    ),
    forceSetLanguage: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'By default, language is set only when a user is created, and users can change it later. With true, every ' +
          'request sets it on existing users too and overwrites their choice.',
      }),
    ),
    expectedPlan: Type.Optional(
      Type.String({
        description:
          'The `plan` of an earlier dry run of the same lists. If the request would now make other changes, it is refused ' +
          'as a whole. Not part of the original interface description.',
      }),
    ),
    maxUsersCreated: maxChanges('users that the request may create'),
    maxUsersUpdated: maxChanges('users that the request may update'),
    maxUsersDeleted: maxChanges('users that the request may delete'),
    maxGroupsCreated: maxChanges('groups that the request may create'),
    maxGroupsUpdated: maxChanges('groups that the request may update'),
    maxGroupsDeleted: maxChanges('groups that the request may delete'),
  },
  { title: 'Settings', additionalProperties: false },
);
export type Settings = Static<typeof Settings>;

const groupNames = (meaning: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      description:
        `${meaning}, by externalId. The list replaces the user's entries of this kind in managed groups. If it is ` +
        'omitted, they stay as they are.',
    }),
  );

export const AccessInfo = Type.Object(
  {
    memberOf: groupNames('The groups that the user is a member of'),
    adminOf: groupNames('The groups that the user owns'),
    inheritedAdminOf: groupNames('The groups that the user owns, including all their subgroups'),
    interestOf: groupNames('The groups whose results the user can read'),
    role: Type.Optional(
      Type.Enum(organizationRoles, {
        description:
          'Case-sensitive. If omitted, existing users keep their current role, and new users get the User role.',
      }),
    ),
  },
  { title: 'AccessInfo' },
);
export type AccessInfo = Static<typeof AccessInfo>;

export const User = Type.Object(
  {
    externalId: Type.String({ description: 'Unique across all users; must never change.' }),
    firstName: Type.String({ description: 'Given name.' }),
    lastName: Type.String({ description: 'Family name.' }),
    email: orNull(
      Type.String(),
      'Unique in the account; upper and lower case count as equal. If omitted, it stays as it is. null clears it.',
    ),
    phone: orNull(
      Type.String(),
      'E.164, such as +46701234567. Spaces, dashes and brackets are removed. If omitted, it stays as it is. null clears it.',
    ),
    active: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Inactive users stay in the account, but cannot sign in and are not asked.',
      }),
    ),
    timezone: Type.Optional(
      Type.String({
        description: 'A time zone name, such as Europe/Stockholm. If omitted: the account’s default.',
      }),
    ),
    language: Type.Optional(
      Type.String({
        description:
          'ISO 639-1, such as en. Set when the user is created (if omitted: the account’s default), later only with ' +
          'forceSetLanguage.',
      }),
    ),
    accessInfo: Type.Optional(AccessInfo),
    externalProperties: Type.Optional(
      // Not Type.Record: its pattern would let a name with a line break pass unchecked.
      Type.Object(
        {},
        {
          additionalProperties: Type.Union([Type.String(), Type.Null()]),
          description:
            'Attributes that are defined in the account. A value sets the attribute, null clears it, and omitted ' +
            'attributes stay as they are.',
        },
      ),
    ),
  },
  { title: 'User' },
);
export type User = Omit<Static<typeof User>, 'externalProperties'> & {
  email?: string | null;
  phone?: string | null;
  externalProperties?: Record<string, string | null>;
};

export const OrganizationGroup = Type.Object(
  {
    externalId: Type.String({ description: 'Unique across all groups; must never change.' }),
    name: Type.String({ description: 'Name of the group or unit.' }),
    description: orNull(Type.String(), 'If omitted, it stays as it is. null clears it.'),
    parent: orNull(
      Type.String(),
      'The externalId of the parent group. If no group in the request has this field, the tree stays as it is. If any ' +
        'group has it, the request describes the whole tree: groups without it, or with null, are at the top.',
    ),
  },
  { title: 'OrganizationGroup' },
);
export type OrganizationGroup = Static<typeof OrganizationGroup> & {
  description?: string | null;
  parent?: string | null;
};

export const Data = Type.Object(
  {
    users: Type.Optional(
      Type.Array(User, {
        description:
          'The complete list of managed users. Any managed user not in it is removed. If omitted, users stay as they are.',
      }),
    ),
    groups: Type.Optional(
      Type.Array(OrganizationGroup, {
        description:
          'The complete list of managed groups. Any managed group not in it is removed. If omitted, groups stay as they are.',
      }),
    ),
  },
  { title: 'Data', additionalProperties: false },
);

export const Organization = Type.Object(
  { settings: Type.Optional(Settings), data: Type.Optional(Data) },
  { title: 'Organization', additionalProperties: false },
);

/** A request whose shape has been validated. */
export type Organization = {
  settings: Settings;
  data: { users?: User[]; groups?: OrganizationGroup[] };
};

const Counts = Type.Object(
  {
    created: Type.Integer(),
    updated: Type.Integer(),
    deleted: Type.Integer(),
    unchanged: Type.Integer(),
  },
  { title: 'Counts' },
);
export type Counts = Static<typeof Counts>;

export const Summary = Type.Object({ users: Counts, groups: Counts }, { title: 'Summary' });
export type Summary = Static<typeof Summary>;

export const Change = Type.Object(
  {
    entity: Type.Enum(['user', 'group']),
    externalId: Type.String(),
    action: Type.Enum(['create', 'update', 'delete']),
    fields: Type.Optional(
      Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }), {
        description: 'For an update: each changed field, with its value before and after.',
      }),
    ),
  },
  { title: 'Change' },
);
export type Change = {
  entity: 'user' | 'group';
  externalId: string;
  action: 'create' | 'update' | 'delete';
  fields?: Record<string, { from: unknown; to: unknown }>;
};

export const Warning = Type.Object(
  {
    type: Type.String(),
    message: Type.String(),
    path: Type.Optional(Type.String()),
    entity: Type.Optional(Type.Enum(['group'], { description: 'The kind of object, if it is not a user.' })),
    externalId: Type.Optional(Type.String({ description: 'The user or group that the warning is about.' })),
    arrivesAs: Type.Optional(
      Type.String({
        description:
          'The externalId of the new user with the same email address, or of the new group with the same name and parent.',
      }),
    ),
    weeks: Type.Optional(
      Type.Integer({ description: 'The number of weeks of results that are deleted with the group.' }),
    ),
  },
  { title: 'Warning' },
);
export type Warning = Static<typeof Warning>;

export const Report = Type.Object(
  {
    id: Type.String({
      description: 'The ID of the run. It is also the ID of the request, in the x-request-id header.',
    }),
    validateOnly: Type.Boolean(),
    applied: Type.Boolean({ description: 'Whether the changes were made.' }),
    plan: Type.String({
      description:
        'Identifies exactly these changes. Send it as `expectedPlan` to apply them and no others. Not part of the original ' +
        'interface description.',
    }),
    summary: Summary,
    changes: Type.Array(Change),
    warnings: Type.Array(Warning),
  },
  {
    title: 'Report',
    description: 'What was changed or, if the request only validates, what would be changed.',
  },
);
export type Report = {
  id: string;
  validateOnly: boolean;
  applied: boolean;
  plan: string;
  summary: Summary;
  changes: Change[];
  warnings: Warning[];
};

export const postOrganization = {
  interface: 'organization',
  method: 'POST',
  path: '/v1/organization/organization',
  operationId: 'postOrganization',
  summary: 'Push users and groups',
  description:
    'Makes the managed users and groups match the lists in the request. Only validates unless ' +
    '`settings.validateOnly` is false. A request with an error changes nothing, and all errors are listed. The body can ' +
    'be compressed with gzip (`Content-Encoding: gzip`).',
  scope: 'organization',
  query: NoParameters,
  body: Organization,
  response: Report,
  errors: {
    400: 'The token is invalid, or the request has errors, each listed in `details`. Nothing was changed.',
    403: 'The token lacks the `organization` scope.',
    413: 'The body is larger than 64 MB, as sent or uncompressed.',
    415: 'The body is not application/json, or has an encoding other than gzip.',
    429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
    503: 'The service is starting or stopping, has no database connection, or is busy with other requests of the account. Try again after `Retry-After` seconds.',
  },
} satisfies Operation;

// The interface description names two addresses (§3 and §4.2). Both work.
export const postOrganizationShort = {
  ...postOrganization,
  path: '/v1/organization',
  operationId: 'postOrganizationShort',
  summary: 'Push users and groups (short address)',
  description: 'The same as `POST /v1/organization/organization`.',
} satisfies Operation;

export const organizationOperations: Operation[] = [postOrganization, postOrganizationShort];

/** Returns the field names of an object schema. */
export const fieldsOf = (schema: TObject): string[] => Object.keys(schema.properties);
