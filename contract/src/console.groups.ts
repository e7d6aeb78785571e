// The console: the tree of groups and what is changed of it by hand, and the account's attributes.
import { Type } from 'typebox';
import { operation } from './console.operation.ts';
import {
  maxAllowedValues,
  maxAttributeLength,
  maxDescriptionLength,
  maxExternalIdLength,
  maxNameLength,
} from './limits.ts';
import type { MembershipKind } from './organization.ts';

/** A group as a tree needs it. */
export type TreeGroup = {
  id: number;
  /** The nearest group above it that is open to who asks. Null: there is none. */
  parentId: number | null;
  name: string;
  externalId: string | null;
  managed: boolean;
  /** Active people in it or beneath, each once. */
  people: number;
};

/** Each group after the one above it, and those beside each other by name in the account's language. */
export type GroupTree = { groups: TreeGroup[] };

export type Named = { id: number; name: string };

/** The last push or file that was applied and listed groups. */
export type LastPush = {
  runId: string;
  at: string;
  source: 'api' | 'file';
  /** Whether it said where groups stand: then the next puts a managed group back. Null: it is not known. */
  setsTree: boolean | null;
};

export type GroupDetails = {
  id: number;
  name: string;
  description: string | null;
  externalId: string | null;
  managed: boolean;
  madeAt: string;
  /** The groups above it that are open to who asks, from the top. */
  way: Named[];
  /** Who has what to do with the group itself: how many, and the first ones by name. */
  holders: Record<MembershipKind, { count: number; first: (Named & { active: boolean })[] }>;
  /** People who administer a group above, and so this one too. */
  administratorsAbove: number;
  /** Closed weeks in which something was asked of it. */
  weeks: number;
  /** The schedules that name it. */
  schedules: Named[];
  lastPush: LastPush | null;
};

/** What moving a group means, before it is done. What was asked already stays counted as it was (decision A11). */
export type MovePlan = {
  from: Named | null;
  to: Named | null;
  /** Groups beneath it, which move with it, and active people in it or beneath. */
  groups: number;
  people: number;
  /** The groups above, from the nearest, for which answers count from now on, and no longer. */
  gains: Named[];
  loses: Named[];
  /** People who, by administering a group above, come to see the group, or no longer see it. */
  administrators: { gains: number; loses: number };
  /** Schedules that ask the group from now on, and no longer. */
  schedules: { starts: Named[]; stops: Named[] };
  /** The group is managed, and the last push said where groups stand: the next will put it back. */
  putBack: LastPush | null;
};

/** What goes with a group. */
export type RemovalPlan = {
  weeks: number;
  /** People who are members of it, or have another part in it. */
  people: number;
  /** The groups right beneath it, which move up to `to`; null: to the top. */
  movesUp: Named[];
  to: Named | null;
  /** The schedules that name it: those that name no other ask nobody any more. */
  schedules: (Named & { only: boolean })[];
};

export type AttributeRow = {
  name: string;
  /** Null: any text. */
  allowedValues: string[] | null;
  people: number;
  /** Of these, how many have a value that is not allowed any more. */
  strays: number;
};

/** People who have values that would not be allowed: how many, and the most frequent of the values. */
export type Strays = { people: number; values: { value: string; people: number }[] };

const name = Type.String({ minLength: 1, maxLength: maxNameLength });
/** Empty: none. */
const description = Type.String({ maxLength: maxDescriptionLength });
const externalId = Type.String({ maxLength: maxExternalIdLength });
const groupId = Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]);
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
  /** All groups that are open to who asks. */
  'GET /groups/tree': operation<GroupTree>()({ least: 'Manager' }),
  'GET /groups/{groupId}': operation<GroupDetails>()({ least: 'Manager' }),
  /** Makes a group by hand. */
  'POST /groups': operation<{ id: number }>()({
    least: 'Administrator',
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
  /** Changes a group made by hand; of a managed one nothing. */
  'PATCH /groups/{groupId}': operation()({
    least: 'Administrator',
    body: Type.Object(
      {
        name: Type.Optional(name),
        description: Type.Optional(description),
        externalId: Type.Optional(externalId),
      },
      { additionalProperties: false },
    ),
  }),
  /** What a move would mean. `parentId` left out: to the top. */
  'GET /groups/{groupId}/move': operation<MovePlan>()({
    least: 'Administrator',
    query: Type.Object(
      {
        parentId: Type.Optional(
          Type.String({ pattern: '^[0-9]{1,9}$', description: 'The id of the group above.' }),
        ),
      },
      { additionalProperties: false },
    ),
  }),
  /** Moves a group, with all beneath. `from`: where it stood when it was shown; if no longer, it is refused. */
  'POST /groups/{groupId}/move': operation()({
    least: 'Administrator',
    body: Type.Object({ parentId: groupId, from: groupId }, { additionalProperties: false }),
  }),
  'GET /groups/{groupId}/removal': operation<RemovalPlan>()({ least: 'Administrator' }),
  /** Removes a group made by hand, with its results; groups beneath it move up (decision B12). */
  'DELETE /groups/{groupId}': operation()({
    least: 'Administrator',
    query: Type.Object(
      {
        weeks: Type.String({
          pattern: '^[0-9]{1,6}$',
          description: 'How many weeks of results it was said to have; if it has others, it is refused.',
        }),
      },
      { additionalProperties: false },
    ),
  }),
  /** Hands a group made by hand over to pushes and files. */
  'POST /groups/{groupId}/adopt': operation()({
    least: 'Administrator',
    body: Type.Object(
      { externalId: Type.String({ minLength: 1, maxLength: maxExternalIdLength }) },
      { additionalProperties: false },
    ),
  }),
  /** Takes a managed group over from pushes and files. */
  'POST /groups/{groupId}/release': operation()({
    least: 'Administrator',
    body: Type.Object({ keepExternalId: Type.Boolean() }, { additionalProperties: false }),
  }),

  'GET /attributes': operation<{ attributes: AttributeRow[] }>()({ least: 'Administrator' }),
  'POST /attributes': operation()({ least: 'Administrator', body: attributeBody }),
  /** Changes which values are allowed. Values that people have stay. */
  'PATCH /attributes': operation()({ least: 'Administrator', body: attributeBody }),
  /** Who has a value that would not be allowed. Changes nothing. */
  'POST /attributes/strays': operation<Strays>()({
    least: 'Administrator',
    body: Type.Object({ name, allowedValues: values }, { additionalProperties: false }),
  }),
  /** Removes an attribute and everybody's value of it. */
  'DELETE /attributes': operation<{ people: number }>()({ least: 'Administrator', query: attributeQuery }),
};
