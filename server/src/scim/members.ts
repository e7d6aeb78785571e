// What a PATCH request does to the members of a group, apart from its other attributes: a group can have 20,000 members, which are
// neither read nor compared to add one. Pure.
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { candidatesOf } from './protocol/candidates.ts';
import { filterFault } from './protocol/filter.ts';
import type { PatchOperation, PatchPath } from './protocol/patch.ts';
import { readAttribute, scimFault } from './protocol/read-resource.ts';
import { attributeNamed, groupAttributes, type ScimAttribute } from './protocol/schemas.ts';

/** A change of the members. `only`: everyone else leaves, and these join. */
export type MemberChange = { action: 'add' | 'remove' | 'only'; members: Member[] };

/** A member, with the name that was sent. */
export type Member = { id: string; display: string | null };

const members = attributeNamed(groupAttributes, 'members') as ScimAttribute;

/** The longest id of a member. Ours have 36 characters. */
const maxMemberId = 255;

/** Separates the changes of members, in their order, from the other operations. */
export function splitPatch(operations: readonly PatchOperation[]): {
  others: PatchOperation[];
  changes: MemberChange[];
} {
  const isOfMembers = ({ path }: PatchOperation) => path?.attribute?.name === 'members';
  return {
    others: operations.filter((one) => !isOfMembers(one)),
    changes: operations.filter(isOfMembers).map(memberChangeOf),
  };
}

function memberChangeOf({ op, path, value }: PatchOperation): MemberChange {
  const of = path?.of;
  if (path?.part)
    throw scimFault(
      'read-only attribute',
      'The parts of a member can’t be changed. Remove and add it.',
      'path',
    );
  if (of) {
    if (op !== 'remove')
      throw scimFault('read-only attribute', 'A member can’t be changed. Remove and add it.', 'path');
    return { action: 'remove', members: idsInFilter({ ...path, of }).map((id) => ({ id, display: null })) };
  }
  if (op === 'remove')
    return value === undefined || value === null
      ? { action: 'only', members: [] }
      : { action: 'remove', members: membersIn(value) };
  return { action: op === 'add' ? 'add' : 'only', members: membersIn(value ?? null) };
}

/** Returns the members that a filter such as value eq "…" selects. */
function idsInFilter(path: PatchPath & { of: NonNullable<PatchPath['of']> }): string[] {
  if (!path.attribute) return [];
  const { member, isExact } = candidatesOf({ op: 'some', path, of: path.of });
  const isAnyOf = path.of.op === 'or' ? idsOfAny(path.of.parts, path) : undefined;
  const ids = isAnyOf ?? (isExact ? member : undefined);
  if (!ids) throw filterFault('Members can only be selected by their value: members[value eq "…"].');
  return ids;
}

function idsOfAny(parts: NonNullable<PatchPath['of']>[], path: PatchPath): string[] | undefined {
  const found = parts.map((of) => (path.attribute ? candidatesOf({ op: 'some', path, of }) : undefined));
  return found.every((one) => one?.isExact && one.member)
    ? found.flatMap((one) => one?.member ?? [])
    : undefined;
}

/** Returns the members in a list, each once. Throws a Fault if it is something else. */
export function membersIn(sent: JsonValue): Member[] {
  const list = (readAttribute(members, sent) ?? []) as JsonValue[];
  const ids = list.map((one) => (isJsonObject(one) ? one['value'] : undefined));
  if (!ids.every((id): id is string => typeof id === 'string' && id !== ''))
    throw scimFault('invalid value', 'Each member needs a "value", which is its id.', 'members');
  if (ids.some((id) => id.length > maxMemberId))
    throw scimFault('invalid value', `The id of a member has at most ${maxMemberId} characters.`, 'members');
  const displays = new Map((Array.isArray(sent) ? sent : [sent]).map(displayOf));
  return [...new Set(ids)].map((id) => ({ id, display: displays.get(id) ?? null }));
}

/** Returns the id and the name of a member. The standard calls the name display, and Microsoft's tests displayName. */
function displayOf(sent: JsonValue): [id: string, display: string | null] {
  const entries = isJsonObject(sent) ? Object.entries(sent) : [];
  const values = new Map(entries.map(([key, value]) => [key.toLowerCase(), value]));
  const display = values.get('display') ?? values.get('displayname');
  return [
    String(values.get('value')),
    typeof display === 'string' ? [...display].slice(0, maxMemberId).join('') : null,
  ];
}

/** Splits a group into its members and its other attributes. */
export function splitMembers({ members: sent, ...rest }: JsonObject): { all: Member[]; rest: JsonObject } {
  return { all: sent === undefined ? [] : membersIn(sent), rest };
}
