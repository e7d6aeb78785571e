// The console: people. For administrators only. Nothing here reveals whether a person has answered.
import type { RunSource } from './run-outcomes.ts';
import { type Static, Type } from 'typebox';
import { operation } from './operation.ts';
import { maxAttributeLength, maxEmailLength, maxExternalIdLength, maxNameLength } from '../limits.ts';
import { type MembershipKind, membershipKinds } from '../people/memberships.ts';
import { personSorts } from './person-sorts.ts';
import { type Role, roles } from '../people/roles.ts';
import { signInStates } from '../people/sign-in-states.ts';

/** The latest invitation to sign in of a person who has no password yet. */
export type Invitation = {
  /** When an administrator requested it (ISO 8601). */
  at: string;
  /** `handed out`: an administrator downloaded the link or saw it. `unknown`: the mail server may have accepted the email. */
  state: 'waiting' | 'sending' | 'sent' | 'refused' | 'unknown' | 'handed out';
  /** Whether the link no longer works because of its age. */
  isExpired: boolean;
};

/** A person as lists show them. */
export type PersonRow = {
  id: number;
  firstName: string;
  lastName: string;
  email: string | null;
  externalId: string | null;
  role: Role;
  active: boolean;
  managed: boolean;
  /** Whether the directory (SCIM) manages the person, instead of pushes and files. */
  byDirectory: boolean;
  /** Whether the mail server has rejected mail to the current address. */
  mailRejected: boolean;
  /** The first group, by name, that the person is a member of; `groupCount`: how many there are. */
  group: { id: number; name: string } | null;
  groupCount: number;
  /** Null: has a password, or was not invited at the current address. */
  invitation: Invitation | null;
  /** Whether the person has a role other than User, but neither a password nor an invitation. */
  isUninvited: boolean;
  createdAt: string;
};

export type PersonGroup = {
  id: number;
  name: string;
  managed: boolean;
  /** The names of the groups above it, from the top. */
  path: string[];
};

/** What a run changed for a person. */
export type PersonRun = {
  runId: string;
  at: string;
  source: RunSource;
  /** The name of the file; null: it was a push. */
  file: string | null;
  fields: { [name: string]: { from?: unknown; to?: unknown } };
};

export type Person = {
  id: number;
  externalId: string | null;
  managed: boolean;
  /** Whether the directory (SCIM) manages the person, instead of pushes and files. */
  byDirectory: boolean;
  firstName: string;
  lastName: string;
  email: string | null;
  phone: string | null;
  active: boolean;
  role: Role;
  /** Whether a push or file gave the person the Administrator role, which awaits confirmation. */
  isRolePending: boolean;
  /** Null: the account's. */
  language: string | null;
  timezone: string | null;
  attributes: { [name: string]: string };
  memberships: { [kind in MembershipKind]: PersonGroup[] };
  createdAt: string;
  signIn: {
    hasPassword: boolean;
    hasTwoFactor: boolean;
    /** How many browsers the person is signed in with. */
    sessions: number;
    invitation: Invitation | null;
    isUninvited: boolean;
  };
  /** Which survey emails the person wants: all, no reminders, or none. */
  surveyEmails: 'all' | 'invitations' | 'none';
  /** Why, and when last, the mail server rejected mail to the current address. */
  mailRejected: { at: string; reason: string; isSms: boolean } | null;
  /** The latest runs that changed the person, newest first. */
  runs: PersonRun[];
};

/** What the form for a person needs. */
export type PersonFields = {
  attributes: { name: string; allowedValues: string[] | null }[];
  /** The account's, which apply to people who have not set their own. */
  language: string;
  timezone: string;
  /** Whether the installation sends email. */
  canMail: boolean;
};

/** How many of the chosen people are handed over, and why the others are not. */
export type Handover = {
  /** How many change, or would change. */
  changing: number;
  /** How many are already in the wanted state. */
  already: number;
  /** How many have no externalId, without which the interface can't identify them. */
  withoutExternalId: number;
  /** 1 if the caller is among them: callers can't hand themselves over. */
  ownAccount: number;
  /** Identifies the people who would change. Send it back with the change: the change is made only if these people are still the same. */
  seen: string;
};

/** Someone who would be invited, or can't be. */
export type InvitedPerson = {
  id: number;
  name: string;
  /** Where the invitation goes. */
  email: string | null;
  role: Role;
  /** The latest invitation. If there is one, the next one is a reminder. */
  invitation: Invitation | null;
};

/** Who would be invited, or was invited. */
export type Invitations = {
  /** How: by email, or with a sheet of links where the installation sends no email. */
  by: 'mail' | 'sheet';
  /** How many are invited. `people`: at most 200 of them, by name. */
  inviting: number;
  people: InvitedPerson[];
  /** How many of them were invited before. */
  reminding: number;
  /** How many can't be invited because they have no email address. `withoutEmailPeople`: at most 200 of them, by name. */
  withoutEmail: number;
  withoutEmailPeople: InvitedPerson[];
  /** Why others are not invited: how many were invited by email within the last day, have a password, have the User role, … */
  recent: number;
  signedIn: number;
  users: number;
  inactive: number;
  unconfirmed: number;
  /** Identifies the people who would be invited. Send it back to invite them: they are invited only if they are still the same. */
  seen: string;
  /** The sheet, which is returned only once because its links are not stored. Null: a preview, or invitations by email. */
  sheet: { name: string; csv: string } | null;
};

const object = <T extends Parameters<typeof Type.Object>[0]>(fields: T) =>
  Type.Object(fields, { additionalProperties: false });
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Null()]);
const id = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });
const yesOrNo = (description: string) => Type.Optional(Type.Enum(['true', 'false'], { description }));

const filters = {
  search: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Words that must all occur in the name, email address or externalId.',
    }),
  ),
  group: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,9}$',
      description: 'Members of this group, or of one of its subgroups.',
    }),
  ),
  role: Type.Optional(Type.Enum(roles, { description: roles.join(', ') })),
  managed: yesOrNo('true: managed by the HR system; false: created manually.'),
  active: yesOrNo('true or false.'),
  mail: Type.Optional(
    Type.Enum(['none', 'rejected', 'stopped'], {
      description:
        'none: without an email address; rejected: the mail server rejects emails to their address; stopped: they want no survey emails.',
    }),
  ),
  signIn: Type.Optional(
    Type.Enum(signInStates, {
      description:
        'password: can sign in; invited: was invited, but has no password yet; uninvited: has a role other than User, but neither a password nor an invitation.',
    }),
  ),
  run: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      description: 'People that this run created or changed.',
    }),
  ),
};
const PersonFilters = object(filters);
export type PersonFilters = Static<typeof PersonFilters>;

const sorting = {
  sort: Type.Optional(Type.Enum(personSorts, { description: personSorts.join(', ') })),
  direction: Type.Optional(Type.Enum(['up', 'down'], { description: 'up or down.' })),
};

const name = Type.String({ minLength: 1, maxLength: maxNameLength });
const externalId = Type.String({ minLength: 1, maxLength: maxExternalIdLength });
const personFields = {
  firstName: name,
  lastName: name,
  email: orNull(Type.String({ minLength: 1, maxLength: maxEmailLength })),
  phone: orNull(Type.String({ minLength: 1, maxLength: 60 })),
  role: Type.Enum(roles),
  language: orNull(Type.String({ minLength: 2, maxLength: 2 })),
  timezone: orNull(Type.String({ minLength: 1, maxLength: 64 })),
  active: Type.Boolean(),
  externalId: orNull(externalId),
};
const memberships = object(
  Object.fromEntries(
    membershipKinds.map((kind) => [kind, Type.Optional(Type.Array(id, { maxItems: 2_000 }))]),
  ) as { [kind in MembershipKind]: ReturnType<typeof groupIds> },
);
function groupIds() {
  return Type.Optional(Type.Array(id));
}
const attributes = Type.Object(
  {},
  { additionalProperties: orNull(Type.String({ maxLength: maxAttributeLength })) },
);

const invite = Type.Optional(
  Type.Boolean({ description: 'Whether to email the person an invitation to set a password.' }),
);

/** Which people: some by their ids, or all that match filters. */
export const Chosen = Type.Union([
  object({ ids: Type.Array(id, { minItems: 1, maxItems: 1_000 }) }),
  object({ filters: PersonFilters }),
]);
export type Chosen = Static<typeof Chosen>;

const handover = object({
  chosen: Chosen,
  /** True: only return how many. */
  isPreview: Type.Boolean(),
  seen: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'The value that the preview returned. Required when people are chosen by filters.',
    }),
  ),
});

type AttributeValues = { [name: string]: string | null };

export const peopleOperations = {
  'GET /users': operation<{ total: number; rows: PersonRow[] }>()({
    minimumRole: 'Administrator',
    query: object({
      ...filters,
      ...sorting,
      offset: Type.String({ pattern: '^\\d{1,7}$', description: 'How many to skip.' }),
      limit: Type.String({ pattern: '^(200|1?\\d?\\d)$', description: '0 to 200.' }),
    }),
  }),
  /** Returns all people who match the filters, as CSV. */
  'GET /users.csv': operation()({ minimumRole: 'Administrator', query: object({ ...filters, ...sorting }) }),
  'GET /users/fields': operation<PersonFields>()({ minimumRole: 'Administrator' }),
  'POST /users': operation<{ id: number }>()({
    minimumRole: 'Administrator',
    body: object({
      ...personFields,
      memberships: Type.Optional(memberships),
      attributes: Type.Optional(attributes),
      invite,
    }),
  }),
  /** Adds several people with the role User, all or none. Null: a row that was left empty. */
  'POST /users/several': operation<{ ids: number[] }>()({
    minimumRole: 'Administrator',
    body: object({
      people: Type.Array(
        Type.Union([
          object({
            firstName: Type.String({ maxLength: 1000 }),
            lastName: Type.String({ maxLength: 1000 }),
            email: orNull(Type.String({ minLength: 1, maxLength: 1000 })),
            groupId: Type.Union([Type.Integer(), Type.Null()]),
          }),
          Type.Null(),
        ]),
        { minItems: 1, maxItems: 20 },
      ),
    }),
  }),
  /** Hands people over to the interface: the next push that omits one of them removes that person. */
  'POST /users/adopt': operation<Handover>()({ minimumRole: 'Administrator', body: handover }),
  /** Takes people over from the interface: pushes don't change them, and a push that lists their externalIds is refused. */
  'POST /users/release': operation<Handover>()({ minimumRole: 'Administrator', body: handover }),
  /** Invites people who have a role other than User and no password yet, or only returns who would be invited. */
  'POST /users/invitations': operation<Invitations>()({
    minimumRole: 'Administrator',
    body: object({
      chosen: Chosen,
      isPreview: Type.Boolean({ description: 'True: only return who would be invited.' }),
      seen: Type.Optional(
        Type.String({ maxLength: 100, description: 'The value that the preview returned.' }),
      ),
    }),
  }),
  'GET /users/{userId}': operation<Person>()({ minimumRole: 'Administrator' }),
  /** Changes the given fields. A kind of membership replaces all of that kind; null removes an attribute. */
  'PATCH /users/{userId}': operation<Person>()({
    minimumRole: 'Administrator',
    body: Type.Partial(object({ ...personFields, memberships, attributes, invite }), {
      additionalProperties: false,
    }),
  }),
  /** Removes a manually created person and erases their data. */
  'DELETE /users/{userId}': operation()({ minimumRole: 'Administrator' }),
  'POST /users/{userId}/adopt': operation<Person>()({
    minimumRole: 'Administrator',
    body: object({ externalId: Type.Optional(externalId) }),
  }),
  /** Confirms the Administrator role that a push or file gave. */
  'POST /users/{userId}/confirm': operation<Person>()({ minimumRole: 'Administrator', proof: true }),
  'POST /users/{userId}/release': operation<Person>()({ minimumRole: 'Administrator' }),
  /** Turns on all survey emails of a person who has turned them off. */
  'DELETE /users/{userId}/survey-opt-out': operation<Person>()({ minimumRole: 'Administrator' }),
  /** Creates a link to set a password: returned once, or emailed. */
  'POST /users/{userId}/sign-in-link': operation<{ link: string | null; until: string }>()({
    minimumRole: 'Administrator',
    proof: true,
    body: object({ by: Type.Enum(['screen', 'mail']) }),
  }),
  'DELETE /users/{userId}/sessions': operation()({ minimumRole: 'Administrator' }),
  'DELETE /users/{userId}/two-factor': operation()({ minimumRole: 'Administrator', proof: true }),
};

export type NewPerson = Omit<Static<(typeof peopleOperations)['POST /users']['body']>, 'attributes'> & {
  attributes?: AttributeValues;
};
export type PersonChanges = Omit<
  Static<(typeof peopleOperations)['PATCH /users/{userId}']['body']>,
  'attributes'
> & { attributes?: AttributeValues };
