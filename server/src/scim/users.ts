// The users of a directory: creating, reading, replacing, changing and deleting them (RFC 7644 §3). Passwords are never read.
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { emailKey } from '@soundings/contract/formats.ts';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { faultAtField } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { Pool } from '../db/db.ts';
import { caseless } from './protocol/evaluate.ts';
import { applyPatch, readPatch } from './protocol/patch.ts';
import { isReturned } from './protocol/project.ts';
import { readResource } from './protocol/read-resource.ts';
import { enterpriseSchema } from './protocol/schemas.ts';
import {
  maxKeyLength,
  refuseLargeResource,
  refuseLongKeys,
  refuseOtherVersion,
  resourceNotFound,
  resourceResult,
  type ScimContext,
  type ScimResult,
  splitExternalId,
  withoutResource,
  storedAs,
} from './resources.ts';
import {
  deleteScimUser,
  insertScimUser,
  isUuid,
  selectScimUser,
  type StoredUser,
  updateScimUser,
  type UserColumns,
} from './users.sql.ts';

/** Creates a user. `id` is given if a bulk request refers to it before it exists. Throws a Fault (conflict) if the name is taken. */
export async function createScimUser(
  pool: Pool,
  context: ScimContext,
  body: JsonValue,
  id: string = randomUUID(),
): Promise<ScimResult> {
  const { externalId, resource } = splitExternalId(withActive(readResource('User', body)));
  const user = { ...columnsOf(resource, externalId, context.tokenId), resource };
  const written = await insertScimUser(pool, context.accountId, id, user).catch(refuseTaken(user.userName));
  return resourceResult(201, 'User', storedAs(id, externalId, resource, written), context);
}

export async function readScimUser(pool: Pool, context: ScimContext, id: string): Promise<ScimResult> {
  const withGroups = isReturned(context.projection, 'groups');
  const user = isUuid(id) ? await selectScimUser(pool, context.accountId, id, withGroups) : undefined;
  if (!user) throw resourceNotFound('User', id);
  return resourceResult(200, 'User', user, context, groupsAttribute(user, context));
}

/** Returns the attribute `groups` of a user. */
export const groupsAttribute = ({ groups }: StoredUser, { base }: Pick<ScimContext, 'base'>): JsonObject =>
  groups
    ? { groups: groups.map(({ value, display }) => ({ value, $ref: `${base}/Groups/${value}`, display })) }
    : {};

export async function replaceScimUser(
  pool: Pool,
  context: ScimContext,
  id: string,
  body: JsonValue,
): Promise<ScimResult> {
  const after = withActive(readResource('User', body));
  return change(pool, context, id, () => after, isReturned(context.projection, 'groups'));
}

/** Responds without the user, unless the caller asks for some attributes. */
export async function patchScimUser(
  pool: Pool,
  context: ScimContext,
  id: string,
  body: JsonValue,
): Promise<ScimResult> {
  const operations = readPatch('User', body);
  const isShown = context.projection.only !== undefined;
  const withGroups = isShown && isReturned(context.projection, 'groups');
  const result = await change(
    pool,
    context,
    id,
    (before) => applyPatch('User', before, operations),
    withGroups,
  );
  return isShown ? result : withoutResource(result);
}

export async function removeScimUser(pool: Pool, context: ScimContext, id: string): Promise<ScimResult> {
  const { accountId, tokenId, ifMatch } = context;
  let revision: number | null = null;
  if (ifMatch !== undefined) {
    const user = isUuid(id) ? await selectScimUser(pool, accountId, id, false) : undefined;
    if (!user) throw resourceNotFound('User', id);
    refuseOtherVersion(ifMatch, user.revision);
    revision = user.revision;
  }
  if (!isUuid(id) || !(await deleteScimUser(pool, accountId, id, { revision, tokenId })))
    throw resourceNotFound('User', id);
  return { status: 204 };
}

/** How often a change is tried again if others change the same user at the same time. */
const maxAttempts = 20;

/**
 * Changes a user, without a lock: the change is stored only if the user still has the revision on which it is based. Otherwise it
 * is tried again. A change that makes no difference writes nothing.
 */
async function change(
  pool: Pool,
  context: ScimContext,
  id: string,
  changed: (before: JsonObject) => JsonObject,
  withGroups: boolean,
): Promise<ScimResult> {
  const { accountId, tokenId, ifMatch } = context;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const user = isUuid(id) ? await selectScimUser(pool, accountId, id, withGroups) : undefined;
    if (!user) throw resourceNotFound('User', id);
    refuseOtherVersion(ifMatch, user.revision);
    const before = { ...user.resource, ...(user.externalId !== null && { externalId: user.externalId }) };
    const after = changed(before);
    const { externalId, resource } = splitExternalId(after);
    if (isDeepStrictEqual(before, after))
      return resourceResult(200, 'User', user, context, groupsAttribute(user, context));
    const row = { ...columnsOf(resource, externalId, tokenId), resource };
    const written = await updateScimUser(pool, accountId, user, row).catch(refuseTaken(row.userName));
    if (written)
      return resourceResult(
        200,
        'User',
        storedAs(user.id, externalId, resource, written),
        context,
        groupsAttribute(user, context),
      );
  }
  throw faultAtField(
    'unavailable',
    'unavailable',
    undefined,
    'Others are changing this user. Try again in a moment.',
  );
}

/** A user is active unless the directory says otherwise. */
const withActive = (resource: JsonObject): JsonObject => ({
  ...resource,
  active: resource['active'] !== false,
});

function columnsOf(resource: JsonObject, externalId: string | null, tokenId: number): UserColumns {
  refuseLongKeys({ userName: resource['userName'], externalId });
  refuseLargeResource(resource);
  const { userName, displayName, emails, active } = resource;
  const enterprise = resource[enterpriseSchema];
  const manager = isJsonObject(enterprise) ? enterprise['manager'] : undefined;
  const managerId = isJsonObject(manager) ? manager['value'] : undefined;
  const addresses = (Array.isArray(emails) ? emails : []).flatMap((one) =>
    isJsonObject(one) && typeof one['value'] === 'string'
      ? [emailKey(one['value']).slice(0, maxKeyLength)]
      : [],
  );
  return {
    userName: userName as string,
    userNameKey: caseless(userName as string),
    externalId,
    displayNameKey: typeof displayName === 'string' ? caseless(displayName).slice(0, maxKeyLength) : null,
    emailKeys: [...new Set(addresses)],
    active: active !== false,
    managerId: typeof managerId === 'string' ? managerId.slice(0, maxKeyLength) : null,
    tokenId,
  };
}

/** Returns a function that turns the database's error about a taken userName into a Fault. */
const refuseTaken =
  (userName: string) =>
  (error: unknown): never => {
    const { code, constraint_name: constraint } = error as { code?: string; constraint_name?: string };
    if (code !== '23505' || constraint !== 'scim_users_by_name') throw error;
    const message = `Another user has the userName ${quote(userName)}. Upper and lower case count as equal.`;
    throw faultAtField('conflict', 'already exists', 'userName', message);
  };
