// The OpenAPI 3.1 document of each interface, made from the operations that the server registers.
import type { TSchema } from 'typebox';
import { dataOperations } from './data.ts';
import type { InterfaceName, Operation } from './operation.ts';
import { organizationOperations } from './organization.ts';
import { Problem } from './problem.ts';
import { uploadOperations } from './storage.ts';

type Json = Record<string, unknown>;

const interfaces: Record<
  InterfaceName,
  { title: string; version: string; about: string; operations: Operation[] }
> = {
  data: {
    title: 'Soundings data interface',
    version: '0.6',
    about: 'Read-only: the groups of an account, and what was published of its surveys.',
    operations: dataOperations,
  },
  organization: {
    title: 'Soundings organization interface',
    version: '0.1',
    about: 'A pushed list of users and groups is the master: the service makes its managed state match it.',
    operations: organizationOperations,
  },
  upload: {
    title: 'Soundings upload interface',
    version: '0.1',
    about: 'Files of users and groups: they are uploaded, listed and processed, and cannot be downloaded.',
    operations: uploadOperations,
  },
};

export const interfaceNames = Object.keys(interfaces) as InterfaceName[];

/** The document of one interface. `server` is the address that it is served from, without a path. */
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
        content: { [operation.bodyType ?? 'application/json']: { schema: named(operation.body, schemas) } },
      },
    }),
    responses: {
      200: { description: 'OK', content: contentOf(operation, schemas) },
      ...Object.fromEntries(
        Object.entries(operation.errors).map(([status, description]) => [
          status,
          {
            description,
            content: {
              ...json(named(Problem, schemas)),
              ...(operation.interface === 'upload' && status === '400' && noBody),
            },
          },
        ]),
      ),
    },
  };
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

/** In a query a boolean is the text true or false. */
const isFlag = (schema: TSchema & { enum?: unknown[] }) => JSON.stringify(schema.enum) === '["true","false"]';

/** What the upload interface answers to whom it does not know (§7). */
const noBody: Json = { 'text/plain': { schema: { type: 'string', maxLength: 0 } } };

/** Lines are texts, no JSON document: the schema of the response is that of one line. A text is just that. */
function contentOf({ response, contentTypes }: Operation, schemas: Json): Json {
  const schema = named(response, schemas) as Json;
  if (!contentTypes) return json(schema);
  const { title } = response as { title?: string };
  const text = title
    ? { type: 'string', description: `Lines; the schema ${title} says what each of them has.` }
    : schema;
  return Object.fromEntries(contentTypes.map((type) => [type, { schema: text }]));
}

const json = (schema: unknown): Json => ({ 'application/json': { schema } });

/** The schema with every titled part moved to `schemas` and referred to, so that clients get named types. */
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

/** In the words that every generator of clients knows: a map by additionalProperties, values of an enum with their type. */
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

/** How typebox writes that a key may be any text. */
const anyName = '^.*$';
