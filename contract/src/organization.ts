// Interface B, organization sync (§2.2, §4.2): the request, its parts, and what is answered.
import { Type, type Static, type TObject, type TSchema } from 'typebox';
import { NoParameters } from './data.ts';
import { maxChangesCeiling, maxChangesDefault } from './limits.ts';
import type { Operation } from './operation.ts';
import { organizationRoles } from './words.ts';

export { type MembershipKind, membershipKinds, type Role } from './words.ts';

const maxChanges = (what: string) =>
  Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: maxChangesCeiling,
      default: maxChangesDefault,
      description: `The most ${what}. Beyond it the request is refused whole.`,
    }),
  );

const orNull = (schema: TSchema, description: string) =>
  Type.Optional(Type.Union([schema, Type.Null()], { description }));

export const Settings = Type.Object(
  {
    validateOnly: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'true: say what would happen, change nothing. false: apply the changes.',
      }),
    ),
    forceSetLanguage: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Language is set when a user is created, and then left to the user. true sets it on existing users ' +
          'too, resetting their own choice at every request.',
      }),
    ),
    maxUsersCreated: maxChanges('users that this request may create'),
    maxUsersUpdated: maxChanges('users that this request may update'),
    maxUsersDeleted: maxChanges('users that this request may delete'),
    maxGroupsCreated: maxChanges('groups that this request may create'),
    maxGroupsUpdated: maxChanges('groups that this request may update'),
    maxGroupsDeleted: maxChanges('groups that this request may delete'),
  },
  { title: 'Settings', additionalProperties: false },
);
export type Settings = Static<typeof Settings>;

const groupNames = (meaning: string) =>
  Type.Optional(
    Type.Array(Type.String(), {
      description:
        `${meaning} (externalIds). When given, it replaces the user's other entries of this kind within ` +
        'managed groups; when left out, they stay.',
    }),
  );

export const AccessInfo = Type.Object(
  {
    memberOf: groupNames('The groups the user is a member of'),
    adminOf: groupNames('The groups the user owns'),
    inheritedAdminOf: groupNames('The groups the user is administrator of'),
    interestOf: groupNames('The groups the user gets read rights to'),
    role: Type.Optional(
      Type.Enum(organizationRoles, {
        description:
          'Case-sensitive. Left out: an existing user keeps the present role, a new one is a User.',
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
      'Unique in the account, letter case aside. Left out: as it is; null: cleared.',
    ),
    phone: orNull(
      Type.String(),
      'E.164, shaped like +46701234567; spaces, dashes and brackets are dropped. Left out: as it is; null: cleared.',
    ),
    active: Type.Optional(
      Type.Boolean({
        default: true,
        description: 'Inactive users keep the account but cannot log in and get no questions.',
      }),
    ),
    timezone: Type.Optional(
      Type.String({ description: 'A name of the tz database. Left out: the company default.' }),
    ),
    language: Type.Optional(
      Type.String({
        description:
          'ISO 639-1. Set when the user is created (left out: the company default), later only with forceSetLanguage.',
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
            'Attributes defined on the account. One that is given is set, null clears it, one left out stays.',
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
    description: orNull(Type.String(), 'Left out: as it is; null: cleared.'),
    parent: orNull(
      Type.String(),
      'The externalId of the group above. If no group of the request has this key, the tree is left as it is; ' +
        'if any has it, the request is the whole tree, and a group without it, or with null, is at the top.',
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
          'The managed users that shall exist: any other is removed. Left out: users are left alone.',
      }),
    ),
    groups: Type.Optional(
      Type.Array(OrganizationGroup, {
        description:
          'The managed groups that shall exist: any other is removed. Left out: groups are left alone.',
      }),
    ),
  },
  { title: 'Data', additionalProperties: false },
);

export const Organization = Type.Object(
  { settings: Type.Optional(Settings), data: Type.Optional(Data) },
  { title: 'Organization', additionalProperties: false },
);

/** A request that has passed every check of its shape. */
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
        description: 'For an update: each field that changes, before and after.',
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
    entity: Type.Optional(
      Type.Enum(['group'], { description: 'What the externalId is of, if it is not of a user.' }),
    ),
    externalId: Type.Optional(Type.String({ description: 'The user or group that the warning is about.' })),
    arrivesAs: Type.Optional(
      Type.String({
        description:
          'The externalId of the new user with the same e-mail address, or of the new group with the same name and parent.',
      }),
    ),
    weeks: Type.Optional(
      Type.Integer({ description: 'How many weeks of results are deleted with the group.' }),
    ),
  },
  { title: 'Warning' },
);
export type Warning = Static<typeof Warning>;

export const Report = Type.Object(
  {
    id: Type.String({
      description: 'The id of the run: that of the request, also in the x-request-id header.',
    }),
    validateOnly: Type.Boolean(),
    applied: Type.Boolean({ description: 'Whether the changes have been made.' }),
    summary: Summary,
    changes: Type.Array(Change),
    warnings: Type.Array(Warning),
  },
  {
    title: 'Report',
    description: 'What was done or, when only validating, what would be done: the same answer for both.',
  },
);
export type Report = {
  id: string;
  validateOnly: boolean;
  applied: boolean;
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
    'Makes the managed users and groups match the lists that are sent. Only validates unless ' +
    '`settings.validateOnly` is false. All or nothing: a request with a fault changes nothing, and every fault ' +
    'is listed. The body may be packed with gzip (`Content-Encoding: gzip`).',
  scope: 'organization',
  query: NoParameters,
  body: Organization,
  response: Report,
  errors: {
    400: 'An invalid token, or faults in the request: each is a detail. Nothing was applied.',
    403: 'The token lacks the scope `organization`.',
    413: 'The body is larger than 64 MB, as sent or unpacked.',
    415: 'The body is not application/json, or is encoded otherwise than by gzip.',
    429: 'Too many requests of this token: try again after `Retry-After` seconds.',
    503: 'Starting, stopping, without a database, or other requests of the account take too long: try again after `Retry-After` seconds.',
  },
} satisfies Operation;

// The description gives the address in two ways (§3 and §4.2); both are answered.
export const postOrganizationShort = {
  ...postOrganization,
  path: '/v1/organization',
  operationId: 'postOrganizationShort',
  summary: 'Push users and groups, at the shorter address',
  description: 'The same as `POST /v1/organization/organization`.',
} satisfies Operation;

export const organizationOperations: Operation[] = [postOrganization, postOrganizationShort];

/** The names of the fields of an object schema. */
export const fieldsOf = (schema: TObject): string[] => Object.keys(schema.properties);
