// The SCIM interface (RFC 7643, RFC 7644): its operations. The attributes of resources are in server/src/scim/protocol/schemas.ts, which also
// answers /Schemas.
import { Type } from 'typebox';
import { NoParameters } from '../data.ts';
import type { Operation } from '../operation.ts';

export const scimPath = '/scim/v2';

export const ScimError = Type.Object(
  {
    schemas: Type.Array(Type.String()),
    status: Type.String({ description: 'The HTTP status code, as a string.' }),
    scimType: Type.Optional(Type.String({ description: 'The kind of error (RFC 7644 §3.12).' })),
    detail: Type.String({ description: 'What is wrong and how to fix it.' }),
  },
  { title: 'ScimError', description: 'The body of every error of the SCIM interface.' },
);

const Resource = Type.Object(
  {
    schemas: Type.Array(Type.String()),
    id: Type.Optional(Type.String()),
    externalId: Type.Optional(Type.String()),
    meta: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  {
    title: 'ScimResource',
    additionalProperties: true,
    description: 'A user or a group. /Schemas lists the attributes.',
  },
);

const ListResponse = Type.Object(
  {
    schemas: Type.Array(Type.String()),
    totalResults: Type.Integer(),
    startIndex: Type.Integer(),
    itemsPerPage: Type.Integer(),
    Resources: Type.Array(Resource),
  },
  { title: 'ScimListResponse' },
);

const PatchOp = Type.Object(
  {
    schemas: Type.Array(Type.String()),
    Operations: Type.Array(
      Type.Object(
        { op: Type.String(), path: Type.Optional(Type.String()), value: Type.Optional(Type.Unknown()) },
        { additionalProperties: true },
      ),
    ),
  },
  { title: 'ScimPatchOp' },
);

const SearchRequest = Type.Object({}, { title: 'ScimSearchRequest', additionalProperties: true });
const BulkRequest = Type.Object({}, { title: 'ScimBulkRequest', additionalProperties: true });
const BulkResponse = Type.Object({}, { title: 'ScimBulkResponse', additionalProperties: true });
const Definition = Type.Object({}, { title: 'ScimDefinition', additionalProperties: true });

const errors = {
  400: 'The request is not valid. `scimType` says what kind of error it is.',
  401: 'The token is missing, unknown, expired or revoked.',
  403: 'The token lacks the `scim` scope.',
  429: 'Too many requests with this token. Try again after `Retry-After` seconds.',
  503: 'The service is starting or stopping, or has no database connection. Try again after `Retry-After` seconds.',
};
const errorsOfOne = { ...errors, 404: 'The account has no resource with this ID.' };
const errorsOfChange = {
  ...errorsOfOne,
  409: 'Another user has the same userName.',
  412: 'The resource is not the version that `If-Match` names.',
};

const Attributes = {
  attributes: Type.Optional(Type.String({ description: 'Only these attributes, separated by commas.' })),
  excludedAttributes: Type.Optional(Type.String({ description: 'Without these attributes.' })),
};
const ListQuery = Type.Object({
  filter: Type.Optional(Type.String({ description: 'A filter (RFC 7644 §3.4.2.2).' })),
  startIndex: Type.Optional(Type.Integer({ description: 'The first result, counted from 1.' })),
  count: Type.Optional(Type.Integer({ description: 'At most this number of results.' })),
  ...Attributes,
});
const OneQuery = Type.Object(Attributes);
const IdParams = Type.Object({ id: Type.String({ description: 'The id of the resource.' }) });
const base = { interface: 'scim', scope: 'scim', readsQuery: true } as const;

type ResourceName = 'Users' | 'Groups';
const nameOf = (type: ResourceName) => (type === 'Users' ? 'User' : 'Group');

/** Returns the operations that read a type of resource. */
function readingOf(type: ResourceName) {
  const one = nameOf(type);
  const what = one.toLowerCase();
  const [all, single] = [`${scimPath}/${type}`, `${scimPath}/${type}/{id}`];
  return {
    list: {
      ...base,
      method: 'GET',
      path: all,
      operationId: `listScim${type}`,
      summary: `List ${what}s of the directory`,
      description: `Returns a page of the ${what}s that the directory has provisioned.`,
      query: ListQuery,
      response: ListResponse,
      errors,
    },
    search: {
      ...base,
      method: 'POST',
      path: `${all}/.search`,
      operationId: `searchScim${type}`,
      summary: `Search ${what}s of the directory`,
      description: 'Like the list, with the parameters in the body.',
      query: NoParameters,
      body: SearchRequest,
      response: ListResponse,
      errors,
    },
    read: {
      ...base,
      method: 'GET',
      path: single,
      operationId: `getScim${one}`,
      summary: `Get a ${what} of the directory`,
      description: 'Returns one resource, with its version as the ETag header.',
      params: IdParams,
      query: OneQuery,
      response: Resource,
      errors: errorsOfOne,
    },
  } satisfies Record<string, Operation>;
}

/** Returns the operations that change a type of resource. */
function writingOf(type: ResourceName) {
  const one = nameOf(type);
  const what = one.toLowerCase();
  const [all, single] = [`${scimPath}/${type}`, `${scimPath}/${type}/{id}`];
  return {
    create: {
      ...base,
      method: 'POST',
      path: all,
      operationId: `createScim${one}`,
      summary: `Create a ${what} of the directory`,
      description: `Creates a ${what}. It is applied to the organization a moment later.`,
      query: OneQuery,
      body: Resource,
      response: Resource,
      success: 201,
      errors: { ...errors, 409: 'Another user has the same userName.' },
    },
    replace: {
      ...base,
      method: 'PUT',
      path: single,
      operationId: `replaceScim${one}`,
      summary: `Replace a ${what} of the directory`,
      description: 'Replaces all attributes. What is left out is cleared.',
      params: IdParams,
      query: OneQuery,
      body: Resource,
      response: Resource,
      errors: errorsOfChange,
    },
    change: {
      ...base,
      method: 'PATCH',
      path: single,
      operationId: `patchScim${one}`,
      summary: `Change a ${what} of the directory`,
      description:
        'Adds, replaces or removes attributes. Responds with 204, unless `attributes` asks for some of them.',
      params: IdParams,
      query: OneQuery,
      body: PatchOp,
      response: Resource,
      success: 204,
      errors: errorsOfChange,
    },
    remove: {
      ...base,
      method: 'DELETE',
      path: single,
      operationId: `deleteScim${one}`,
      summary: `Delete a ${what} of the directory`,
      description:
        'Deletes the resource. Its removal from the organization waits for others, and for approval if there are many.',
      params: IdParams,
      query: NoParameters,
      response: Resource,
      success: 204,
      errors: errorsOfChange,
    },
  } satisfies Record<string, Operation>;
}

export const scimUsers = { ...readingOf('Users'), ...writingOf('Users') };
export const scimGroups = { ...readingOf('Groups'), ...writingOf('Groups') };

/** Returns an operation that reads what the interface supports. */
const definition = (path: string, operationId: string, summary: string) =>
  ({
    ...base,
    method: 'GET',
    path: `${scimPath}${path}`,
    operationId,
    summary,
    description: 'Describes the interface (RFC 7644 §4).',
    ...(path.endsWith('{id}') && { params: IdParams }),
    query: NoParameters,
    response: Definition,
    errors: path.endsWith('{id}') ? errorsOfOne : errors,
  }) satisfies Operation;

export const scimDefinitions = {
  config: definition('/ServiceProviderConfig', 'getScimConfig', 'What the SCIM interface supports'),
  types: definition('/ResourceTypes', 'listScimTypes', 'The types of resources'),
  type: definition('/ResourceTypes/{id}', 'getScimType', 'One type of resource'),
  schemas: definition('/Schemas', 'listScimSchemas', 'The schemas of the resources'),
  schema: definition('/Schemas/{id}', 'getScimSchema', 'One schema'),
};

export const scimSearch = {
  ...base,
  method: 'POST',
  path: `${scimPath}/.search`,
  operationId: 'searchScim',
  summary: 'Search users and groups of the directory',
  description: 'Returns users, then groups.',
  query: NoParameters,
  body: SearchRequest,
  response: ListResponse,
  errors,
} satisfies Operation;

export const scimBulk = {
  ...base,
  method: 'POST',
  path: `${scimPath}/Bulk`,
  operationId: 'scimBulk',
  summary: 'Several changes in one request',
  description: 'Runs up to 1,000 operations in order. Each succeeds or fails by itself.',
  query: NoParameters,
  body: BulkRequest,
  response: BulkResponse,
  errors: { ...errors, 413: 'The body is larger than 1 MB, or has more than 1,000 operations.' },
} satisfies Operation;

export const scimMe = {
  ...base,
  method: 'GET',
  path: `${scimPath}/Me`,
  operationId: 'getScimMe',
  summary: 'Not supported',
  description: 'A token is not a user, so /Me responds with 501 (RFC 7644 §3.11).',
  query: NoParameters,
  response: ScimError,
  success: 501,
  errors,
} satisfies Operation;

export const scimOperations: Operation[] = [
  ...Object.values(scimUsers),
  ...Object.values(scimGroups),
  ...Object.values(scimDefinitions),
  scimSearch,
  scimBulk,
  scimMe,
];
