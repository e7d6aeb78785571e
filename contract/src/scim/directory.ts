// The console: the directory that provisions an account over SCIM, and the rule for its tree of groups.
import { type Static, Type } from 'typebox';
import type { Change, Summary } from '../organization.ts';
import { operation } from '../console/operation.ts';
import { scimLevels } from './levels.ts';

const strict = { additionalProperties: false };

/** The rule by which groups are derived from a directory. */
export const TreeRule = Type.Union([
  Type.Object({ kind: Type.Enum(['none', 'managers', 'groups']) }, strict),
  Type.Object(
    {
      kind: Type.Enum(['attributes']),
      levels: Type.Array(Type.Enum([...scimLevels]), {
        minItems: 1,
        maxItems: scimLevels.length,
        uniqueItems: true,
      }),
    },
    strict,
  ),
]);
export type TreeRule = { kind: 'none' | 'managers' | 'groups' } | { kind: 'attributes'; levels: ScimLevel[] };
export type ScimLevel = Static<typeof Level>;
const Level = Type.Enum([...scimLevels]);

export type ScimRequestRow = {
  /** ISO 8601. */
  at: string;
  /** The name of the token; null: it no longer exists. */
  token: string | null;
  /** Method and path, without the query. */
  request: string;
  status: number;
  /** The type of the error; null: no error. */
  message: string | null;
};

export type Directory = {
  /** The address to enter in the directory. */
  address: string;
  /** How many valid tokens have the scim scope. */
  tokens: number;
  rule: TreeRule;
  settleMinutes: number;
  users: { active: number; inactive: number };
  groups: number;
  /** Users that are not applied yet, removals that wait, and removals that an administrator has rejected. */
  waiting: { changes: number; people: number; groups: number; kept: number };
  /** Users that exist already as people of pushes and files, or as manual ones. */
  blocked: Takeover;
  /** The run of removals that awaits approval. */
  pendingRunId: string | null;
  requests: ScimRequestRow[];
};

/** What a rule would change. `changes`: at most a hundred. */
export type TreePlan = {
  summary: Summary;
  changes: (Change & { name: string | null })[];
  warnings: string[];
};

/** The users that wait for a decision, and those whose person an administrator has kept. Of both, at most a hundred are listed. */
export type Takeover = {
  count: number;
  /** How many can be handed over together. Administrators can only be handed over one by one. */
  people: number;
  rows: WaitingUser[];
  keptCount: number;
  kept: WaitingUser[];
};

/**
 * Why a person can't be handed over: it is the caller, a break-glass administrator, or already another user of the directory; or there is no
 * longer such a person, and the user is applied with the next change of the directory.
 */
export type Hindrance = 'own account' | 'break-glass' | 'other user' | 'no person';

/** A user of the directory who exists already as a person of another source. */
export type WaitingUser = {
  /** The id in the directory's interface. */
  id: string;
  name: string;
  userName: string;
  person: TakeoverPerson | null;
  /** Whether an administrator has decided that the person stays as it is. */
  isKept: boolean;
  hindrance: Hindrance | null;
};

/** What a handover would change. `pairs` and `changes`: at most a hundred each. */
export type TakeoverPlan = {
  people: number;
  pairs: { id: string; name: string; person: TakeoverPerson }[];
  changes: (Change & { name: string | null })[];
  warnings: string[];
  /** How many of the people the directory has deactivated. They are deactivated when the wait of removals is over. */
  leaving: number;
  /** Identifies exactly these people and changes. */
  digest: string;
};

/** The person who exists already. */
export type TakeoverPerson = {
  id: number;
  name: string;
  email: string | null;
  role: 'Administrator' | 'Manager' | 'Auditor' | 'User';
  source: 'push' | 'manual';
};

const ScimId = Type.String({ maxLength: 100 });

export const scimConsoleOperations = {
  'GET /directory': operation<Directory>()({ minimumRole: 'Administrator' }),
  /** Returns what a rule would change, without changing anything. */
  'POST /directory/plan': operation<TreePlan>()({
    minimumRole: 'Administrator',
    body: Type.Object({ rule: TreeRule }, strict),
  }),
  /** Chooses a rule and applies it, if that changes exactly what the plan showed. */
  'PUT /directory/rule': operation()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object({ rule: TreeRule, summary: Type.Unknown() }, strict),
  }),
  'PATCH /directory': operation()({
    minimumRole: 'Administrator',
    body: Type.Object({ settleMinutes: Type.Integer({ minimum: 0, maximum: 1440 }) }, strict),
  }),
  /** Returns what a handover would change, without changing anything. `id`: of the one user; without it, of all who can be together. */
  'POST /directory/takeover/plan': operation<TakeoverPlan>()({
    minimumRole: 'Administrator',
    body: Type.Object({ id: Type.Optional(ScimId) }, strict),
  }),
  /** Hands people over to the directory, if that changes exactly what the plan with this digest showed. */
  'POST /directory/takeover': operation()({
    minimumRole: 'Administrator',
    proof: true,
    body: Type.Object({ id: Type.Optional(ScimId), digest: Type.String({ maxLength: 100 }) }, strict),
  }),
  /** Returns the user of the directory who waits for a person, or whose person was kept. */
  'GET /directory/people/{userId}': operation<{ user: WaitingUser | null }>()({
    minimumRole: 'Administrator',
  }),
  /** Keeps the person of a user as it is, or lets the user wait for a decision again. `personId`: the person that the console showed. */
  'PUT /directory/users/{id}/kept': operation()({
    minimumRole: 'Administrator',
    body: Type.Object({ personId: Type.Integer(), kept: Type.Boolean() }, strict),
  }),
};
