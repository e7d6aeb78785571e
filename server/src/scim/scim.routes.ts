// The routes of the SCIM interface at /scim/v2 (RFC 7644).
import { type JsonObject, type JsonValue, parseJson } from '../base/json/json.ts';
import { maxScimBodyBytes } from '@soundings/contract/limits.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import {
  scimBulk,
  scimDefinitions,
  scimGroups,
  scimMe,
  scimPath,
  scimSearch,
  scimUsers,
} from '@soundings/contract/scim/scim.ts';
import { Fault, faultAtField } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { asFault, type Pool } from '../db/db.ts';
import type { RequestContext } from '../http/operations.ts';
import { defectResponse, type ErrorResponse, faultResponse, problem } from '../http/responses/problems.ts';
import { scimErrorOf } from '../http/responses/scim-errors.ts';
import type { Server } from '../http/server.ts';
import type { Log } from '../base/log.ts';
import type { Applier } from './applying/applier.ts';
import { type BulkOperation, runBulk } from './bulk.ts';
import {
  createScimGroup,
  patchScimGroup,
  readScimGroup,
  removeScimGroup,
  replaceScimGroup,
} from './groups.ts';
import { resourceTypes, schemaResources, serviceConfig } from './protocol/definitions.ts';
import { projectionOf } from './protocol/project.ts';
import type { ResourceKind } from './protocol/schemas.ts';
import type { RequestLog } from './request-log.ts';
import {
  definitionNotFound,
  isVersionIn,
  resourceNotFound,
  type ScimContext,
  type ScimResult,
} from './resources.ts';
import { searchBodyOf, searchQueryOf, searchResources } from './search.ts';
import { createScimUser, patchScimUser, readScimUser, removeScimUser, replaceScimUser } from './users.ts';

export type ScimDependencies = {
  pool: Promise<Pool>;
  publicUrl: string;
  applier: Applier;
  requests: RequestLog;
  log: Log;
};

/** Returns what a request responds with. */
type Handle = (pool: Pool, context: ScimContext, request: RequestContext) => Promise<ScimResult>;

/** The functions for one type of resource. */
const handlers = {
  User: {
    create: createScimUser,
    read: readScimUser,
    replace: replaceScimUser,
    change: patchScimUser,
    remove: removeScimUser,
  },
  Group: {
    create: createScimGroup,
    read: readScimGroup,
    replace: replaceScimGroup,
    change: patchScimGroup,
    remove: removeScimGroup,
  },
};

export function serveScim(server: Server, dependencies: ScimDependencies): void {
  const serve = (operation: Operation, handle: Handle, kind: ResourceKind = 'User', aliases: string[] = []) =>
    server.serve(operation, (request) => respond(dependencies, request, { kind, handle }), {
      bodyLimit: maxScimBodyBytes,
      aliases,
    });
  for (const [kind, operations] of [
    ['User', scimUsers],
    ['Group', scimGroups],
  ] as const) {
    const { create, read, replace, change, remove } = handlers[kind];
    const idOf = ({ params }: RequestContext) => params['id'] as string;
    const address = [`${operations.list.path}/`];
    serve(
      operations.list,
      listed([kind], (request) => searchQueryOf(request.query)),
      kind,
      address,
    );
    serve(
      operations.search,
      listed([kind], (request) => searchBodyOf(bodyOf(request))),
      kind,
    );
    serve(
      operations.create,
      (pool, context, request) => create(pool, context, bodyOf(request)),
      kind,
      address,
    );
    serve(operations.read, (pool, context, request) => read(pool, context, idOf(request)), kind);
    serve(
      operations.replace,
      (pool, context, request) => replace(pool, context, idOf(request), bodyOf(request)),
      kind,
    );
    serve(
      operations.change,
      (pool, context, request) => change(pool, context, idOf(request), bodyOf(request)),
      kind,
    );
    serve(operations.remove, (pool, context, request) => remove(pool, context, idOf(request)), kind);
  }
  serve(
    scimSearch,
    listed(['User', 'Group'], (request) => searchBodyOf(bodyOf(request))),
  );
  serve(scimBulk, bulk(dependencies));
  serve(scimMe, async () => {
    throw new Fault('invalid', 'not supported', 'A token is not a user, so /Me is not supported.');
  });
  serveDefinitions(serve, dependencies);
}

/** Serves what the interface says about itself. */
function serveDefinitions(
  serve: (operation: Operation, handle: Handle, kind?: ResourceKind, aliases?: string[]) => void,
  { publicUrl }: ScimDependencies,
): void {
  const list = (resources: JsonObject[]): ScimResult => ({
    status: 200,
    resource: {
      schemas: ['urn:ietf:params:scim:api:messages:2.0:ListResponse'],
      totalResults: resources.length,
      startIndex: 1,
      itemsPerPage: resources.length,
      Resources: resources,
    },
  });
  const one = (resources: JsonObject[], id: string): ScimResult => {
    const resource = resources.find((each) => each['id'] === id);
    if (!resource) throw definitionNotFound(id);
    return { status: 200, resource };
  };
  const idOf = ({ params }: RequestContext) => params['id'] as string;
  const { config, types, type, schemas, schema } = scimDefinitions;
  // Older clients of Microsoft ask for the configuration under its earlier name.
  const aliases = [`${scimPath}/serviceConfiguration`];
  const configOf = (base: string) => serviceConfig(base, `${publicUrl}/docs`);
  serve(config, async (_pool, { base }) => ({ status: 200, resource: configOf(base) }), 'User', aliases);
  serve(types, async (_pool, { base }) => list(resourceTypes(base)));
  serve(type, async (_pool, { base }, request) => one(resourceTypes(base), idOf(request)));
  serve(schemas, async (_pool, { base }) => list(schemaResources(base)));
  serve(schema, async (_pool, { base }, request) => one(schemaResources(base), idOf(request)));
}

const listed =
  (
    kinds: readonly ResourceKind[],
    queryOf: (request: RequestContext) => ReturnType<typeof searchQueryOf>,
  ): Handle =>
  async (pool, context, request) => ({
    status: 200,
    resource: await searchResources(pool, context, kinds, queryOf(request)),
  });

/** Returns the parsed body. Throws a Fault if it is not valid JSON. */
function bodyOf({ body }: RequestContext): JsonValue {
  const parsed = parseJson(body ?? new Uint8Array());
  if ('value' in parsed) return parsed.value;
  const { type, message } = parsed.fault;
  throw faultAtField('invalid', type, undefined, message);
}

/** Runs a request, writes its response, notes it for the console, and has its changes applied. */
async function respond(
  { pool, publicUrl, applier, requests }: ScimDependencies,
  request: RequestContext,
  { kind, handle }: { kind: ResourceKind; handle: Handle },
): Promise<string | undefined> {
  const { caller, reply, request: http } = request;
  const { accountId, tokenId } = caller;
  const note = (status: number, message: string | null) =>
    requests.add({
      accountId,
      tokenId,
      at: new Date(),
      request: `${http.method} ${pathOf(http.url)}`,
      status,
      message,
    });
  try {
    const { attributes, excludedAttributes } = searchQueryOf(request.query);
    const context: ScimContext = {
      accountId,
      tokenId,
      base: publicUrl + scimPath,
      projection: projectionOf(kind, { attributes, excludedAttributes }),
      ifMatch: headerOf(http.headers['if-match']),
    };
    const result = await handle(await pool, context, request);
    if (http.method !== 'GET' && http.method !== 'HEAD') applier.notify(accountId);
    note(result.status, null);
    return written(request, result);
  } catch (error) {
    const fault = asFault(error);
    const isMe = fault instanceof Fault && fault.code === 'not supported';
    note(isMe ? 501 : statusOf(fault), fault instanceof Fault ? fault.code : 'internal error');
    if (!isMe) throw error;
    reply.code(501).header('content-type', scimType);
    return JSON.stringify(scimErrorOf(501, problem(http.id, 'not supported', (error as Fault).message)));
  }
}

const headerOf = (header: string | string[] | undefined): string | undefined =>
  [header].flat().join(',') || undefined;
const statusOf = (fault: unknown): number =>
  fault instanceof Fault ? faultResponse(fault, '', 'scim').status : 500;
/** Returns the path of a URL without the query, which may contain names and addresses. */
const pathOf = (url: string): string =>
  url.replace(/\?.*/s, '').slice(scimPath.length, scimPath.length + 200);

const scimType = 'application/scim+json; charset=utf-8';

function written(
  { reply, request }: RequestContext,
  { status, resource, version, location }: ScimResult,
): string | undefined {
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const known = headerOf(request.headers['if-none-match']);
  if (version !== undefined) reply.header('etag', version);
  if (location !== undefined && status === 201) reply.header('location', location);
  if (
    isRead &&
    version !== undefined &&
    known !== undefined &&
    isVersionIn(known, Number(/\d+/.exec(version)?.[0]))
  ) {
    reply.code(304);
    return undefined;
  }
  reply.code(status);
  if (!resource) return undefined;
  reply.header('content-type', scimType);
  return JSON.stringify(resource);
}

/** Returns the handler of bulk requests. */
const bulk =
  ({ log }: ScimDependencies): Handle =>
  async (pool, context, request) => {
    const errorOf = (error: unknown) => {
      const fault = asFault(error);
      const id = request.request.id;
      const isExpected = fault instanceof Fault;
      if (!isExpected)
        log.error({ requestId: id, err: error }, 'A bulk operation failed with an unexpected error');
      const { status, body }: ErrorResponse = isExpected
        ? faultResponse(fault, id, 'scim')
        : defectResponse(id);
      return { status, body: scimErrorOf(status, body!) as unknown as JsonObject };
    };
    const run = (operation: BulkOperation) => runOne(pool, context, operation);
    return { status: 200, resource: await runBulk(bodyOf(request), run, errorOf) };
  };

async function runOne(
  pool: Pool,
  context: ScimContext,
  { method, path, version, data, id: newId }: BulkOperation,
) {
  const [, type, id] = /^\/(Users|Groups)(?:\/([^/?]+))?\/?$/.exec(path) ?? [];
  if (type === undefined)
    throw faultAtField(
      'invalid',
      'invalid value',
      'path',
      `${quote(path)} is not the path of users or groups.`,
    );
  const kind: ResourceKind = type === 'Users' ? 'User' : 'Group';
  const { create, replace, change, remove } = handlers[kind];
  const own = { ...context, ifMatch: version, projection: { only: undefined, without: undefined } };
  if (method === 'POST' && id === undefined) return create(pool, own, data, newId);
  if (id === undefined || method === 'POST') throw resourceNotFound(kind, id ?? '');
  if (method === 'PUT') return replace(pool, own, id, data);
  return method === 'PATCH' ? change(pool, own, id, data) : remove(pool, own, id);
}
