// Generates the OpenAPI 3.1 document of each interface from the operations that the server registers.
import type { TSchema } from 'typebox';
import { auditOperations } from './audit/audit.ts';
import { dataOperations } from './data.ts';
import type { InterfaceName, Operation } from './operation.ts';
import { organizationOperations } from './organization.ts';
import { pushOperations } from './people/push-parts.ts';
import { Problem } from './problem.ts';
import { ScimError, scimOperations } from './scim/scim.ts';
import { uploadOperations } from './storage.ts';
import { webhookBodies } from './webhooks/webhooks.ts';

type Json = Record<string, unknown>;

const interfaces: Record<
  InterfaceName,
  { title: string; version: string; about: string; operations: Operation[] }
> = {
  data: {
    title: 'Soundings data interface',
    version: '0.6',
    about: 'Read-only access to the groups and the published survey results of an account.',
    operations: dataOperations,
  },
  organization: {
    title: 'Soundings organization interface',
    version: '0.1',
    about:
      'Push your users and groups as complete lists. Soundings makes its managed users and groups match them.',
    operations: [...organizationOperations, ...pushOperations],
  },
  upload: {
    title: 'Soundings upload interface',
    version: '0.1',
    about: 'Upload and list files of users and groups, and read their reports. Files cannot be downloaded.',
    operations: uploadOperations,
  },
  audit: {
    title: 'Soundings audit interface',
    version: '0.1',
    about:
      'Read-only access to the audit log of an account: who did what, when and from where. The entries form a chain, so that a ' +
      'receiver notices if one is changed or removed.',
    operations: auditOperations,
  },
  scim: {
    title: 'Soundings SCIM interface',
    version: '2.0',
    about:
      'SCIM 2.0 (RFC 7643, RFC 7644): a directory such as Microsoft Entra ID or Okta provisions the people and groups of an account.',
    operations: scimOperations,
  },
};

export const interfaceNames = Object.keys(interfaces) as InterfaceName[];

/** All operations of the interfaces. */
export const interfaceOperations: readonly Operation[] = Object.values(interfaces).flatMap(
  ({ operations }) => operations,
);

/** Returns the document of one interface. `server` is the address that serves it, without a path. */
export function openApiDocument(name: InterfaceName, server: string): Json {
  const { title, version, about, operations } = interfaces[name];
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, schemas),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: about,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    security: [{ token: [] }],
    tags: operations.length > 0 ? [{ name, description: about }] : [],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: 'The API token itself; `Bearer <token>` is accepted too.',
        },
      },
      schemas,
    },
  };
}

const signedHeaders = {
  'webhook-id':
    'The ID of the event. It is the same for every attempt, so a receiver can ignore what it has processed before.',
  'webhook-timestamp':
    'When this attempt was made, in seconds since 1970. Refuse requests that are older than five minutes.',
  'webhook-signature':
    '`v1,` and the HMAC-SHA256 of `id.timestamp.body` in base64. While a secret is being rotated, there are two, separated by a space.',
};

/** Returns the document of the requests that webhooks send. They need no token, because they are signed. `server`: as in openApiDocument. */
export function webhooksDocument(server: string): Json {
  const schemas: Json = {};
  const headers = Object.entries(signedHeaders).map(([name, description]) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema: { type: 'string' },
  }));
  const webhooks = webhookBodies().map(({ type, summary, body }) => [
    type,
    {
      post: {
        operationId: type.replace(/[.](.)/g, (_, initial: string) => initial.toUpperCase()),
        summary,
        parameters: headers,
        requestBody: { required: true, content: json(named(body, schemas)) },
        responses: { '2XX': { description: 'The event is taken. Any other response is sent again.' } },
      },
    },
  ]);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Soundings webhooks',
      version: '0.1',
      description: 'Requests that Soundings sends to your systems, as described by Standard Webhooks.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: server }],
    security: [],
    webhooks: Object.fromEntries(webhooks) as Json,
    components: { schemas },
  };
}

function describeOperation(operation: Operation, schemas: Json): Json {
  return {
    operationId: operation.operationId,
    tags: [operation.interface],
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...describeParameters('path', operation.params, schemas),
      ...describeParameters('query', operation.query, schemas),
    ],
    ...(operation.body && {
      requestBody: {
        required: true,
        content: { [operation.bodyType ?? jsonOf(operation)]: { schema: named(operation.body, schemas) } },
      },
    }),
    responses: {
      ...successOf(operation, schemas),
      ...Object.fromEntries(
        Object.entries(operation.errors).map(([status, description]) => [
          status,
          {
            description,
            content: {
              [jsonOf(operation)]: {
                schema: named(operation.interface === 'scim' ? ScimError : Problem, schemas),
              },
              ...(operation.interface === 'upload' && status === '400' && noBody),
            },
          },
        ]),
      ),
    },
  };
}

/** The type of JSON bodies: SCIM has its own (RFC 7644 §3.1). */
const jsonOf = ({ interface: name }: Operation) =>
  name === 'scim' ? 'application/scim+json' : 'application/json';

function successOf(operation: Operation, schemas: Json): Json {
  const { success = 200 } = operation;
  if (success === 204) return { 204: { description: 'No content' } };
  return { [success]: { description: 'OK', content: contentOf(operation, schemas) } };
}

function describeParameters(place: 'path' | 'query', schema: TSchema | undefined, schemas: Json): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, one]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: isFlag(one)
      ? { type: 'boolean', default: false, description: (one as { description?: string }).description }
      : named(one, schemas),
  }));
}

/** Whether a query parameter is a boolean, which is sent as the text true or false. */
const isFlag = (schema: TSchema & { enum?: unknown[] }) => JSON.stringify(schema.enum) === '["true","false"]';

/** The response of the upload interface to a request without a valid token (§7). */
const noBody: Json = { 'text/plain': { schema: { type: 'string', maxLength: 0 } } };

/** Describes a response. For CSV and NDJSON the schema describes a single line, so the content is described as text. */
function contentOf(operation: Operation, schemas: Json): Json {
  const { response, contentTypes } = operation;
  const schema = named(response, schemas) as Json;
  if (!contentTypes) return { [jsonOf(operation)]: { schema } };
  const { title } = response as { title?: string };
  const text = title
    ? { type: 'string', description: `One row per line. The schema ${title} describes a row.` }
    : schema;
  return Object.fromEntries(contentTypes.map((type) => [type, { schema: text }]));
}

const json = (schema: unknown): Json => ({ 'application/json': { schema } });

/** Moves every schema with a title into `schemas` and returns references to them, so that client generators create named types. */
function named(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((part) => named(part, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = plain(
    Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, named(part, schemas)])),
  );
  if (typeof parts['title'] !== 'string') return parts;
  schemas[parts['title']] = parts;
  return { $ref: `#/components/schemas/${parts['title']}` };
}

/** Rewrites maps and enums in the form that all client generators understand. */
function plain({ patternProperties, ...schema }: Json): Json {
  const isOfTexts = Array.isArray(schema['enum']) && schema['enum'].every((one) => typeof one === 'string');
  return {
    ...(isOfTexts && { type: 'string' }),
    ...schema,
    ...(patternProperties !== undefined && {
      additionalProperties: (patternProperties as Json)[anyName],
    }),
  };
}

/** The pattern that typebox writes for maps with any keys. */
const anyName = '^.*$';
