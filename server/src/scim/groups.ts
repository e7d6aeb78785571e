// The groups of a directory and their members: creating, reading, replacing, changing and deleting them (RFC 7644 §3).
import type { JsonObject, JsonValue } from '../base/json/json.ts';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type AccountId, type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  deleteScimGroup,
  type GroupColumns,
  insertScimGroup,
  lockScimGroup,
  reviveScimGroup,
  selectScimGroup,
  updateScimGroup,
} from './groups.sql.ts';
import { type Member, type MemberChange, splitMembers, splitPatch } from './members.ts';
import {
  changeScimMembers,
  deleteOtherScimMembers,
  deleteScimMembers,
  insertScimMembers,
  selectScimMembers,
} from './members.sql.ts';
import { caseless } from './protocol/evaluate.ts';
import { applyPatch, readPatch } from './protocol/patch.ts';
import { isReturned } from './protocol/project.ts';
import { readResource } from './protocol/read-resource.ts';
import {
  maxKeyLength,
  refuseLongKeys,
  refuseOtherVersion,
  resourceNotFound,
  resourceResult,
  type ScimContext,
  type ScimResult,
  scimVersionOf,
  splitExternalId,
  withoutResource,
  storedAs,
} from './resources.ts';
import { isUuid, type StoredResource } from './users.sql.ts';

/** Creates a group. If the directory deleted one of this name and its removal is not applied, the new group is that one, with its history. */
export async function createScimGroup(
  pool: Pool,
  context: ScimContext,
  body: JsonValue,
  id: string = randomUUID(),
): Promise<ScimResult> {
  const { all, rest } = splitMembers(readResource('Group', body));
  const { externalId, resource } = splitExternalId(rest);
  const stored = await inTransaction(pool, async (tx) => {
    const { accountId, tokenId } = context;
    const group = columnsOf(resource, externalId, tokenId);
    const ids = all.map((one) => one.id);
    const written =
      (await reviveScimGroup(tx, accountId, id, group, ids)) ??
      (await insertScimGroup(tx, accountId, id, group));
    await insertScimMembers(tx, context.accountId, id, all);
    return storedAs(id, externalId, resource, written);
  });
  return resourceResult(201, 'Group', stored, context, await membersOf(pool, context, id));
}

export async function readScimGroup(pool: Pool, context: ScimContext, id: string): Promise<ScimResult> {
  const group = isUuid(id) ? await selectScimGroup(pool, context.accountId, id) : undefined;
  if (!group) throw resourceNotFound('Group', id);
  return resourceResult(200, 'Group', group, context, await membersOf(pool, context, id));
}

export async function replaceScimGroup(
  pool: Pool,
  context: ScimContext,
  id: string,
  body: JsonValue,
): Promise<ScimResult> {
  const { all, rest } = splitMembers(readResource('Group', body));
  const stored = await change(pool, context, id, () => rest, [{ action: 'only', members: all }]);
  return resourceResult(200, 'Group', stored, context, await membersOf(pool, context, id));
}

/** Responds without the group, unless the caller asks for some attributes, because the group may have 20,000 members. */
export async function patchScimGroup(
  pool: Pool,
  context: ScimContext,
  id: string,
  body: JsonValue,
): Promise<ScimResult> {
  const { others, changes } = splitPatch(readPatch('Group', body));
  const [first] = changes;
  const isSimple = others.length === 0 && changes.length === 1 && context.ifMatch === undefined;
  if (first && first.action !== 'only' && isSimple && !context.projection.only)
    return changeOnlyMembers(pool, context, id, { ...first, action: first.action });
  const stored = await change(pool, context, id, (before) => applyPatch('Group', before, others), changes);
  if (context.projection.only)
    return resourceResult(200, 'Group', stored, context, await membersOf(pool, context, id));
  return withoutResource(resourceResult(200, 'Group', stored, context));
}

/** What directories send most often: members join or leave, one request for each. One statement, because a cycle has tens of thousands. */
async function changeOnlyMembers(
  pool: Pool,
  { accountId, tokenId, base }: ScimContext,
  id: string,
  wanted: { action: 'add' | 'remove'; members: Member[] },
): Promise<ScimResult> {
  const revision = isUuid(id) ? await changeScimMembers(pool, accountId, id, wanted, tokenId) : undefined;
  if (revision === undefined) throw resourceNotFound('Group', id);
  return { status: 204, version: scimVersionOf(revision), location: `${base}/Groups/${id}` };
}

export async function removeScimGroup(pool: Pool, context: ScimContext, id: string): Promise<ScimResult> {
  const { accountId, tokenId, ifMatch } = context;
  let revision: number | null = null;
  if (ifMatch !== undefined) {
    const group = isUuid(id) ? await selectScimGroup(pool, accountId, id) : undefined;
    if (!group) throw resourceNotFound('Group', id);
    refuseOtherVersion(ifMatch, group.revision);
    revision = group.revision;
  }
  if (!isUuid(id) || !(await deleteScimGroup(pool, accountId, id, { revision, tokenId })))
    throw resourceNotFound('Group', id);
  return { status: 204 };
}

/** Changes a group and its members. A change that makes no difference writes nothing. */
async function change(
  pool: Pool,
  { accountId, tokenId, ifMatch }: ScimContext,
  id: string,
  changed: (before: JsonObject) => JsonObject,
  changes: readonly MemberChange[],
): Promise<StoredResource> {
  return inTransaction(pool, async (tx) => {
    const group = isUuid(id) ? await lockScimGroup(tx, accountId, id) : undefined;
    if (!group) throw resourceNotFound('Group', id);
    refuseOtherVersion(ifMatch, group.revision);
    const before = { ...group.resource, ...(group.externalId !== null && { externalId: group.externalId }) };
    const after = changed(before);
    let moved = 0;
    for (const one of changes) moved += await changeMembers(tx, accountId, id, one);
    if (moved === 0 && isDeepStrictEqual(before, after)) return group;
    const { externalId, resource } = splitExternalId(after);
    const written = await updateScimGroup(tx, accountId, id, columnsOf(resource, externalId, tokenId));
    return storedAs(id, externalId, resource, written);
  });
}

/** Returns how many members joined or left. */
async function changeMembers(
  tx: Transaction,
  accountId: AccountId,
  id: string,
  { action, members }: MemberChange,
): Promise<number> {
  const ids = members.map((one) => one.id);
  if (action === 'remove') return deleteScimMembers(tx, accountId, id, ids);
  const left = action === 'only' ? await deleteOtherScimMembers(tx, accountId, id, ids) : 0;
  return left + (await insertScimMembers(tx, accountId, id, members));
}

/** Returns the attribute `members` of a group, if the response contains it. */
async function membersOf(db: Db, context: ScimContext, id: string): Promise<JsonObject> {
  return (await membersByGroup(db, context, [id])).get(id.toLowerCase()) ?? {};
}

/** Returns the attribute `members` of each group that has members, by its id. Empty if responses don't contain it. */
export async function membersByGroup(
  db: Db,
  { accountId, base, projection }: ScimContext,
  ids: string[],
  isNeeded = isReturned(projection, 'members'),
): Promise<Map<string, JsonObject>> {
  const members = new Map<string, JsonObject[]>();
  for (const { groupId, memberId, display, type } of isNeeded
    ? await selectScimMembers(db, accountId, ids)
    : []) {
    const member = {
      value: memberId,
      ...(type && { type, $ref: `${base}/${type}s/${memberId}` }),
      ...(display !== null && { display }),
    };
    const list = members.get(groupId);
    if (list) list.push(member);
    else members.set(groupId, [member]);
  }
  return new Map([...members].map(([id, list]) => [id, { members: list }]));
}

function columnsOf(resource: JsonObject, externalId: string | null, tokenId: number): GroupColumns {
  refuseLongKeys({ externalId });
  const displayNameKey = caseless(resource['displayName'] as string).slice(0, maxKeyLength);
  return { externalId, displayNameKey, resource, tokenId };
}
