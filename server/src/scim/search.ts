// Lists of users and groups: filters, pages and counts (RFC 7644 §3.4.2). What the database has no index for is compared here, one by
// one, up to a limit.
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { maxScimResults } from '@soundings/contract/limits.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import type { Pool } from '../db/db.ts';
import { membersByGroup } from './groups.ts';
import { countScimGroups, selectScimGroups, selectScimGroupsAfter } from './groups.sql.ts';
import { type Candidates, candidatesOf, isAbout } from './protocol/candidates.ts';
import { matcherOf, type StoredKeys } from './protocol/evaluate.ts';
import { type Filter, readFilter } from './protocol/filter.ts';
import { isReturned, type Projection, projected, projectionOf } from './protocol/project.ts';
import { scimFault } from './protocol/read-resource.ts';
import type { ResourceKind } from './protocol/schemas.ts';
import { maxKeyLength, type ScimContext, shownResource } from './resources.ts';
import { groupsAttribute } from './users.ts';
import {
  countScimUsers,
  type Page,
  selectScimUsers,
  selectScimUsersAfter,
  type StoredKeysRow,
  type StoredResource,
} from './users.sql.ts';

const listSchema = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';

/** The parameters of a list, as texts. Other parameters are ignored. */
export type SearchQuery = {
  filter?: string | undefined;
  startIndex?: string | undefined;
  count?: string | undefined;
  attributes?: string | undefined;
  excludedAttributes?: string | undefined;
};

const names = ['filter', 'startIndex', 'count', 'attributes', 'excludedAttributes'] as const;

/** Reads the parameters of a list, ignoring the case of their names. Throws a Fault if one is given twice. */
export function searchQueryOf(query: Record<string, unknown>): SearchQuery {
  const read: SearchQuery = {};
  for (const [key, value] of Object.entries(query)) {
    const name = names.find((one) => one.toLowerCase() === key.toLowerCase());
    if (!name) continue;
    if (read[name] !== undefined || typeof value !== 'string')
      throw faultAtField('invalid', 'repeated parameter', name, `${name} is given more than once.`);
    // The database does not accept it, and no text of ours contains it.
    if (value.includes('\0')) throw scimFault('invalid value', `${name} contains U+0000.`, name);
    read[name] = value;
  }
  return read;
}

/** Reads the parameters in the body of a search (RFC 7644 §3.4.3). */
export function searchBodyOf(body: JsonValue): SearchQuery {
  if (!isJsonObject(body)) throw scimFault('invalid syntax', 'The body must be a JSON object.');
  const texts = Object.entries(body).flatMap(([key, value]) => {
    if (Array.isArray(value))
      return [[key, value.filter((one) => typeof one === 'string').join(',')] as const];
    return typeof value === 'string' || typeof value === 'number' ? [[key, String(value)] as const] : [];
  });
  return searchQueryOf(Object.fromEntries(texts));
}

/** Returns the response with a page of the resources of these kinds, users before groups. */
export async function searchResources(
  pool: Pool,
  context: ScimContext,
  kinds: readonly ResourceKind[],
  query: SearchQuery,
): Promise<JsonObject> {
  const { startIndex, count } = windowOf(query);
  let total = 0;
  const resources: JsonObject[] = [];
  for (const kind of kinds) {
    const own = { ...context, projection: projectionOf(kind, query) };
    const filter = query.filter === undefined ? undefined : readFilter(kind, query.filter);
    const page = { offset: Math.max(0, startIndex - 1 - total), limit: count - resources.length };
    const found = await search(pool, own, kind, filter, page);
    total += found.total;
    resources.push(...found.resources);
  }
  return {
    schemas: [listSchema],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

/** Values below 1 count as 1, and a negative count as 0 (RFC 7644 §3.4.2.4). */
function windowOf({ startIndex, count }: SearchQuery): { startIndex: number; count: number } {
  const whole = (name: string, text: string | undefined, otherwise: number) => {
    if (text === undefined || text === '') return otherwise;
    if (!/^[+-]?\d{1,9}$/.test(text.trim()))
      throw faultAtField('invalid', 'invalid value', name, `${name} must be a whole number.`);
    return Number(text);
  };
  return {
    startIndex: Math.max(1, whole('startIndex', startIndex, 1)),
    count: Math.min(maxScimResults, Math.max(0, whole('count', count, 100))),
  };
}

type Found = { total: number; resources: JsonObject[] };

async function search(
  pool: Pool,
  context: ScimContext,
  kind: ResourceKind,
  filter: Filter | undefined,
  page: Page,
): Promise<Found> {
  const candidates = candidatesOf(filter);
  if (filter && !candidates.isExact) return compareEach(pool, context, kind, { filter, candidates }, page);
  const { accountId } = context;
  const [count, select] =
    kind === 'User'
      ? ([
          countScimUsers,
          () => selectScimUsers(pool, accountId, candidates, page, isReturned(context.projection, 'groups')),
        ] as const)
      : ([countScimGroups, () => selectScimGroups(pool, accountId, candidates, page)] as const);
  const rows = page.limit > 0 ? await select() : [];
  // Most filters find one or none. A page that is not full is the last one, so it shows how many there are.
  const isLast = rows.length < page.limit && (rows.length > 0 || page.offset === 0);
  const total = isLast ? page.offset + rows.length : await count(pool, accountId, candidates);
  return { total, resources: await shownOf(pool, context, kind, rows, undefined) };
}

/** Returns rows as resources. `filter`: needs its attributes, even if the response does not contain them. */
async function shownOf(
  pool: Pool,
  context: ScimContext,
  kind: ResourceKind,
  rows: StoredResource[],
  filter: Filter | undefined,
): Promise<JsonObject[]> {
  if (kind === 'User')
    return rows.map((row) =>
      shownResource(
        'User',
        row,
        context,
        groupsAttribute(row as Parameters<typeof groupsAttribute>[0], context),
      ),
    );
  const isNeeded =
    isReturned(context.projection, 'members') || (filter !== undefined && isAbout(filter, 'members'));
  const members = await membersByGroup(
    pool,
    context,
    rows.map(({ id }) => id),
    isNeeded,
  );
  return rows.map((row) => shownResource('Group', row, context, members.get(row.id)));
}

/** How many resources are compared one by one, and how many of them are read together. */
const [maxCompared, batch] = [50_000, 500];
const whole: Projection = { only: undefined, without: undefined };

async function compareEach(
  pool: Pool,
  context: ScimContext,
  kind: ResourceKind,
  { filter, candidates }: { filter: Filter; candidates: Candidates },
  { offset, limit }: Page,
): Promise<Found> {
  const { accountId } = context;
  const all = { ...context, projection: whole };
  const isMatch = matcherOf(filter);
  const found: Found = { total: 0, resources: [] };
  let [after, compared] = ['0', 0];
  for (;;) {
    const next = { after, limit: batch };
    const rows =
      kind === 'User'
        ? await selectScimUsersAfter(pool, accountId, candidates, next, needsGroups(context, filter))
        : await selectScimGroupsAfter(pool, accountId, candidates, next);
    const shown = await shownOf(pool, all, kind, rows, filter);
    for (const [i, resource] of shown.entries()) {
      if (!isMatch(resource, keysOf(rows[i]))) continue;
      if (found.total >= offset && found.resources.length < limit)
        found.resources.push(projected(resource, context.projection));
      found.total++;
    }
    compared += rows.length;
    if (rows.length < batch) return found;
    if (compared >= maxCompared) throw tooMany;
    after = rows.at(-1)!.position;
  }
}

/** The stored keys of a row. A key that may have been shortened is left out. */
const keysOf = (row: StoredKeysRow | undefined): StoredKeys => ({
  userName: row?.userNameKey,
  displayName:
    row?.displayNameKey && row.displayNameKey.length < maxKeyLength ? row.displayNameKey : undefined,
});

const needsGroups = ({ projection }: ScimContext, filter: Filter): boolean =>
  isReturned(projection, 'groups') || isAbout(filter, 'groups');

const tooMany = new Fault(
  'invalid',
  'too many results',
  `The filter would have to compare more than ${maxCompared} resources. Filter by id, userName, externalId, displayName or active as well.`,
);
