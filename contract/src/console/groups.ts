// The console: the group tree and manual changes to it, and the account's attributes.
import type { RunSource } from './run-outcomes.ts';
import { Type } from 'typebox';
import { operation } from './operation.ts';
import type { GroupOption } from '../people/find-groups.ts';
import type { PlacedGroup, TreeGroup } from '../people/placed-groups.ts';
import {
  maxAllowedValues,
  maxAttributeLength,
  maxDescriptionLength,
  maxExternalIdLength,
  maxNameLength,
} from '../limits.ts';
import type { MembershipKind } from '../people/memberships.ts';

/**
 * The groups that the caller can see. Each comes after its parent; siblings are sorted by name in the account's language. If there are more
 * than `maxWholeTree`, they are only those at the top, at most `maxSubgroupsListed`. `count`, `managed`: how many groups there are, and how
 * many of them are managed.
 */
export type TreeOfGroups = { count: number; managed: number } & (
  { isWhole: true; groups: TreeGroup[] } | { isWhole: false; groups: PlacedGroup[] }
);

/** The subgroups of a group, at most `maxSubgroupsListed`; `total`: how many there are. */
export type Subgroups = { groups: PlacedGroup[]; total: number };

/**
 * Groups that a search found, and the groups above them, in tree order. `matches`: the ids of those found, at most `maxGroupsFound`;
 * `total`: how many there are.
 */
export type FoundGroups = { groups: PlacedGroup[]; matches: number[]; total: number };

/** Groups to choose from; `total`: how many match. */
export type GroupOptions = { options: GroupOption[]; total: number };

export type Named = { id: number; name: string };

/** The last applied push or file that listed groups. */
export type LastPush = {
  runId: string;
  at: string;
  source: RunSource;
  /** Whether it set the parents of groups. If so, the next push moves a managed group back. Null: unknown. */
  setsTree: boolean | null;
};

export type GroupDetails = {
  id: number;
  name: string;
  description: string | null;
  externalId: string | null;
  managed: boolean;
  createdAt: string;
  /** The groups above it that the caller can see, from the top. */
  path: Named[];
  /** The people with each kind of membership in the group itself: how many, and the first ones by name. */
  holders: Record<MembershipKind, { count: number; first: (Named & { active: boolean })[] }>;
  /** How many people own a group above it, including that group's subgroups, and therefore this group too. */
  administratorsAbove: number;
  /** Its place in the tree that the caller can see: its parent there, and how many active people are in it or its subgroups. */
  parentId: number | null;
  people: number;
  /** Whether it is the only group that the caller can see. */
  isOnly: boolean;
  /** How many closed weeks asked this group something. */
  weeks: number;
  /** The schedules that name it. */
  schedules: Named[];
  lastPush: LastPush | null;
};

/** What moving a group would change. Questions already asked stay counted as they were (decision A11). */
export type MovePlan = {
  from: Named | null;
  to: Named | null;
  /** How many subgroups move with the group, and how many active people are in it or its subgroups. */
  groups: number;
  people: number;
  /**
   * `gains`: the groups in which the moved group's answers start to count; `loses`: those in which they stop counting. Nearest
   * first.
   */
  gains: Named[];
  loses: Named[];
  /** How many people gain or lose access to the group because they own a group above it, including that group's subgroups. */
  administrators: { gains: number; loses: number };
  /** Schedules that start, or stop, asking the group. */
  schedules: { includes: Named[]; excludes: Named[] };
  /** Set if the group is managed and the next push may move it back: the last push that listed groups. */
  putBack: LastPush | null;
};

/** What removing a group would also remove or change. */
export type RemovalPlan = {
  weeks: number;
  /** How many people are members of it, or have another role in it. */
  people: number;
  /** Its direct subgroups, which move up to `to`; null: to the top level. */
  movesUp: Named[];
  to: Named | null;
  /** The schedules that name it. `only`: it names no other group, so it will ask no one. */
  schedules: (Named & { only: boolean })[];
};

export type AttributeRow = {
  name: string;
  /** Null: any text is allowed. */
  allowedValues: string[] | null;
  people: number;
  /** How many of them have a value that is no longer allowed. */
  disallowedValues: number;
};

/** How many people have values that would not be allowed, and the most frequent of these values. */
export type DisallowedValues = { people: number; values: { value: string; people: number }[] };

const name = Type.String({ minLength: 1, maxLength: maxNameLength });
const search = Type.String({
  maxLength: maxNameLength,
  description: 'Part of the name or externalId, without regard to case and accents.',
});
/** An empty text: no description. */
const description = Type.String({ maxLength: maxDescriptionLength });
const externalId = Type.String({ maxLength: maxExternalIdLength });
const groupId = Type.Union([Type.Integer({ minimum: 1, maximum: 2_147_483_647 }), Type.Null()]);
const values = Type.Array(Type.String({ minLength: 1, maxLength: maxAttributeLength }), {
  maxItems: maxAllowedValues,
});
const attributeBody = Type.Object(
  { name, allowedValues: Type.Union([values, Type.Null()]) },
  { additionalProperties: false },
);
const attributeQuery = Type.Object(
  { name: Type.String({ minLength: 1, description: 'The name of the attribute.' }) },
  { additionalProperties: false },
);

export const groupsOperations = {
  /** Returns all groups that the caller can see. If there are very many, only those at the top. */
  'GET /groups/tree': operation<TreeOfGroups>()({ minimumRole: 'Manager' }),
  /** Returns the subgroups of a group that the caller can see. */
  'GET /groups/{groupId}/subgroups': operation<Subgroups>()({ minimumRole: 'Manager' }),
  /** Returns the groups whose name, externalId or id matches, and the groups above them. */
  'GET /groups/found': operation<FoundGroups>()({
    minimumRole: 'Manager',
    query: Type.Object({ search }, { additionalProperties: false }),
  }),
  /** Returns groups to choose from: those that match the search, the best first, or those with the ids. */
  'GET /groups/options': operation<GroupOptions>()({
    minimumRole: 'Manager',
    query: Type.Object(
      {
        search: Type.Optional(search),
        ids: Type.Optional(
          Type.String({
            pattern: '^[0-9]{1,9}(,[0-9]{1,9}){0,999}$',
            description: 'IDs of groups, separated by commas.',
          }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
  'GET /groups/{groupId}': operation<GroupDetails>()({ minimumRole: 'Manager' }),
  /** Creates a group manually. */
  'POST /groups': operation<{ id: number }>()({
    minimumRole: 'Administrator',
    body: Type.Object(
      {
        name,
        description: Type.Optional(description),
        externalId: Type.Optional(externalId),
        parentId: Type.Optional(groupId),
      },
      { additionalProperties: false },
    ),
  }),
  /** Changes a manually created group. Managed groups can't be changed. */
  'PATCH /groups/{groupId}': operation()({
    minimumRole: 'Administrator',
    body: Type.Object(
      {
        name: Type.Optional(name),
        description: Type.Optional(description),
        externalId: Type.Optional(externalId),
      },
      { additionalProperties: false },
    ),
  }),
  /** Returns what a move would change. Without `parentId`: a move to the top level. */
  'GET /groups/{groupId}/move': operation<MovePlan>()({
    minimumRole: 'Administrator',
    query: Type.Object(
      {
        parentId: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,9}$', description: 'The ID of the new parent group.' }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
  /** Moves a group with its subgroups. `from`: its parent when it was shown; refused if that has changed. */
  'POST /groups/{groupId}/move': operation()({
    minimumRole: 'Administrator',
    body: Type.Object({ parentId: groupId, from: groupId }, { additionalProperties: false }),
  }),
  'GET /groups/{groupId}/removal': operation<RemovalPlan>()({ minimumRole: 'Administrator' }),
  /** Removes a manually created group with its results. Its subgroups move up (decision B12). */
  'DELETE /groups/{groupId}': operation()({
    minimumRole: 'Administrator',
    query: Type.Object(
      {
        weeks: Type.String({
          pattern: '^[0-9]{1,6}$',
          description: 'How many weeks of results were shown. Refused if the number has changed.',
        }),
      },
      { additionalProperties: false },
    ),
  }),
  /** Hands a manually created group over to pushes and files. */
  'POST /groups/{groupId}/adopt': operation()({
    minimumRole: 'Administrator',
    body: Type.Object(
      { externalId: Type.String({ minLength: 1, maxLength: maxExternalIdLength }) },
      { additionalProperties: false },
    ),
  }),
  /** Takes a managed group over from pushes and files. */
  'POST /groups/{groupId}/release': operation()({
    minimumRole: 'Administrator',
    body: Type.Object({ keepExternalId: Type.Boolean() }, { additionalProperties: false }),
  }),

  'GET /attributes': operation<{ attributes: AttributeRow[] }>()({ minimumRole: 'Administrator' }),
  'POST /attributes': operation()({ minimumRole: 'Administrator', body: attributeBody }),
  /** Changes which values are allowed. Values that people already have stay. */
  'PATCH /attributes': operation()({ minimumRole: 'Administrator', body: attributeBody }),
  /** Returns how many people have values that would not be allowed. Changes nothing. */
  'POST /attributes/strays': operation<DisallowedValues>()({
    minimumRole: 'Administrator',
    body: Type.Object({ name, allowedValues: values }, { additionalProperties: false }),
  }),
  /** Removes an attribute and everyone's values of it. */
  'DELETE /attributes': operation<{ people: number }>()({
    minimumRole: 'Administrator',
    query: attributeQuery,
  }),
};
