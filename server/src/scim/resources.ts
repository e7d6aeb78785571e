// What users and groups of a directory have in common: how responses show them, versions, and errors.
import type { JsonObject, JsonValue } from '../base/json/json.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import type { AccountId } from '../db/db.ts';
import { type Projection, projected } from './protocol/project.ts';
import { enterpriseSchema, type ResourceKind, schemasOf } from './protocol/schemas.ts';
import type { StoredResource, Written } from './users.sql.ts';

/** Who sends a request, and what it says besides the body. */
export type ScimContext = {
  accountId: AccountId;
  tokenId: number;
  /** The address of the interface, such as https://soundings.example.com/scim/v2. */
  base: string;
  projection: Projection;
  /** The versions that `If-Match` allows; undefined: any. */
  ifMatch: string | undefined;
};

/** A response. Without a resource, it has no body. */
export type ScimResult = {
  status: number;
  resource?: JsonObject;
  version?: string | undefined;
  location?: string | undefined;
};

export const scimVersionOf = (revision: number): string => `W/"${revision}"`;

/** Returns a resource as responses contain it. */
export function shownResource(
  kind: ResourceKind,
  { id, externalId, resource, createdAt, changedAt, revision }: StoredResource,
  { base, projection }: ScimContext,
  more: JsonObject = {},
): JsonObject {
  const [core] = schemasOf[kind];
  const hasEnterprise = resource[enterpriseSchema] !== undefined;
  const whole: JsonObject = {
    schemas: hasEnterprise ? [core.id, enterpriseSchema] : [core.id],
    id,
    ...(externalId !== null && { externalId }),
    ...resource,
    ...more,
    meta: {
      resourceType: kind,
      created: createdAt.toISOString(),
      lastModified: changedAt.toISOString(),
      location: `${base}/${kind}s/${id}`,
      version: scimVersionOf(revision),
    },
  };
  return projected(whole, projection);
}

/** Returns the response with a resource. */
export const resourceResult = (
  status: number,
  kind: ResourceKind,
  stored: StoredResource,
  context: ScimContext,
  more?: JsonObject,
): ScimResult => ({
  status,
  resource: shownResource(kind, stored, context, more),
  version: scimVersionOf(stored.revision),
  location: `${context.base}/${kind}s/${stored.id}`,
});

/** Returns a response that says only that the request succeeded. */
export const withoutResource = ({ version, location }: ScimResult): ScimResult => ({
  status: 204,
  version,
  location,
});

/** Returns a stored resource from what was written. */
export const storedAs = (
  id: string,
  externalId: string | null,
  resource: JsonObject,
  written: Written,
): StoredResource => ({
  id,
  externalId,
  resource,
  ...written,
});

const notFound = (message: string) => new Fault('not_found', 'resource not found', message);

export const resourceNotFound = (kind: ResourceKind, id: string): Fault =>
  notFound(`The directory has no ${kind.toLowerCase()} ${id.slice(0, 100)}.`);

export const definitionNotFound = (id: string): Fault => notFound(`There is no definition ${quote(id)}.`);

/** Throws a Fault if `If-Match` names other versions than that of a resource (RFC 7644 §3.14). */
export function refuseOtherVersion(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  if (isVersionIn(ifMatch, revision)) return;
  const message = `The resource is now version ${scimVersionOf(revision)}. Read it again before you change it.`;
  throw faultAtField('stale', 'version changed', 'If-Match', message);
}

/** Returns whether a header lists the version. Weak and strong versions count as equal. */
export const isVersionIn = (header: string, revision: number): boolean =>
  header
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === '*' || one === `"${revision}"` || one === String(revision));

/** Splits the externalId, which has a column, from the other attributes. */
export function splitExternalId({ externalId, ...resource }: JsonObject): {
  externalId: string | null;
  resource: JsonObject;
} {
  return { externalId: typeof externalId === 'string' && externalId !== '' ? externalId : null, resource };
}

/** The longest text that identifies a resource or is looked up, in characters. */
export const maxKeyLength = 500;

const tooLong = (message: string, path?: string): Fault => faultAtField('invalid', 'too long', path, message);

/** The most bytes of a stored resource, without the members of a group. A user of a directory has 1 to 3 kB. */
const maxResourceBytes = 64 * 1024;

/** Throws a Fault if a resource is too large to be stored, read and compared with others. */
export function refuseLargeResource(resource: JsonObject): void {
  if (Buffer.byteLength(JSON.stringify(resource)) <= maxResourceBytes) return;
  const message = `All attributes together are larger than ${maxResourceBytes / 1024} kB. Send fewer attributes or values.`;
  throw tooLong(message);
}

/** Throws a Fault if a text that identifies a resource is too long for an index. */
export function refuseLongKeys(keys: Record<string, JsonValue | undefined>): void {
  for (const [name, key] of Object.entries(keys)) {
    if (typeof key !== 'string' || key.length <= maxKeyLength) continue;
    const message = `${quote(name)} is longer than ${maxKeyLength} characters.`;
    throw tooLong(message, name);
  }
}
