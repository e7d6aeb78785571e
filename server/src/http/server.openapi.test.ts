// The OpenAPI documents that the service publishes.
import { getGroups } from '@soundings/contract/data.ts';
import { interfaceNames } from '@soundings/contract/openapi.ts';
import type { InterfaceName, Operation } from '@soundings/contract/operation.ts';
import { dataOperations } from '@soundings/contract/data.ts';
import { pushOperations } from '@soundings/contract/people/push-parts.ts';
import { organizationOperations } from '@soundings/contract/organization.ts';
import { scimOperations } from '@soundings/contract/scim/scim.ts';
import { uploadOperations } from '@soundings/contract/storage.ts';
import { auditOperations } from '@soundings/contract/audit/audit.ts';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { describe, expect, test } from 'vitest';
import { get, organizationPaths, refusal, world, useService } from './server.fixture.ts';

useService();

describe('GET /v1/openapi/….json', () => {
  type Schema = { [key: string]: unknown };
  type Described = {
    operationId: string;
    tags: string[];
    summary: string;
    parameters: { name: string; in: string; required: boolean; schema: Schema }[];
    requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
    /** Without content: a response without a body. */
    responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>;
  };
  type Document = {
    openapi: string;
    info: Record<string, unknown>;
    servers: { url: string }[];
    security: Record<string, unknown[]>[];
    tags: { name: string }[];
    paths: Record<string, Record<string, Described>>;
    components: { schemas: Record<string, Schema>; securitySchemes: Record<string, Schema> };
  };

  const operations: Record<InterfaceName, Operation[]> = {
    data: dataOperations,
    organization: [...organizationOperations, ...pushOperations],
    upload: uploadOperations,
    audit: auditOperations,
    scim: scimOperations,
  };
  /** Returns the content types of an operation's response if it isn't JSON. */
  const contentTypesOf = (name: InterfaceName, path: string) =>
    operations[name].find((operation) => operation.path === path)?.contentTypes;
  const read = async (name: string) => {
    const response = await get<Document>(`/v1/openapi/${name}.json`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    return response.body;
  };

  /** Returns a schema with every reference replaced by its target. Throws if a reference has no target. */
  function resolved(part: unknown, document: Document): unknown {
    if (Array.isArray(part)) return part.map((one) => resolved(one, document));
    if (typeof part !== 'object' || part === null) return part;
    const ref = (part as { $ref?: string }).$ref;
    if (ref === undefined) {
      return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, resolved(one, document)]));
    }
    const name = ref.replace(/^#\/components\/schemas\//, '');
    if (!Object.hasOwn(document.components.schemas, name)) throw new Error(`Nothing is at ${ref}.`);
    return resolved(document.components.schemas[name], document);
  }

  /** Returns what is not valid JSON Schema in a schema. typebox allows more than OpenAPI 3.1 does. */
  function schemaFaults(schema: unknown, place: string): string[] {
    if (typeof schema !== 'object' || schema === null) return [`${place} is no schema`];
    const { type, properties, required, items, anyOf, additionalProperties, enum: values } = schema as Schema;
    const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', undefined];
    const names = Object.keys((properties as object | undefined) ?? {});
    const ofMap = typeof additionalProperties === 'object' ? { '*': additionalProperties } : {};
    const within = { ...(properties as object), ...ofMap };
    return [
      ...(types.includes(type as string) ? [] : [`${place} has the type ${String(type)}`]),
      ...((required as string[] | undefined) ?? [])
        .filter((name) => !names.includes(name))
        .map((name) => `${place} requires ${name}, which it does not have`),
      ...(values !== undefined && !(Array.isArray(values) && values.length > 0 && type !== undefined)
        ? [`${place} has no enum, or no type`]
        : []),
      ...('patternProperties' in schema ? [`${place} has what few generators know`] : []),
      ...Object.entries(within).flatMap(([name, one]) => schemaFaults(one, `${place}.${name}`)),
      ...(items === undefined ? [] : schemaFaults(items, `${place}[]`)),
      ...((anyOf as unknown[] | undefined) ?? []).flatMap((one) => schemaFaults(one, `${place}|`)),
    ];
  }

  test.each(interfaceNames)('%s is a complete OpenAPI 3.1 document', async (name) => {
    const document = await read(name);
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info).toMatchObject({
      title: expect.stringMatching(/./),
      version: expect.stringMatching(/^\d/),
    });
    expect(document.servers).toEqual([{ url: 'http://localhost' }]);
    const schemes = Object.keys(document.components.securitySchemes);
    for (const one of document.security) expect(schemes).toEqual(expect.arrayContaining(Object.keys(one)));
    expect(Object.keys(document.components.schemas).every((key) => /^[\w.-]+$/.test(key))).toBe(true);
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    const tags = document.tags.map((tag) => tag.name);
    for (const [path, methods] of Object.entries(document.paths)) {
      expect(path).toMatch(/^\//);
      for (const [method, one] of Object.entries(methods)) {
        expect(['get', 'post', 'put', 'patch', 'delete']).toContain(method);
        expect(tags).toEqual(expect.arrayContaining(one.tags));
        expect(one.summary).not.toBe('');
        for (const [status, { description, content }] of Object.entries(one.responses)) {
          expect(status).toMatch(/^[1-5]\d\d$/);
          expect(description).not.toBe('');
          const json = name === 'scim' ? 'application/scim+json' : 'application/json';
          const types = status === '204' ? [] : (status === '200' && contentTypesOf(name, path)) || [json];
          // The upload interface responds to unknown callers with 400 and no body (§7).
          const isSilent = name === 'upload' && status === '400';
          expect(Object.keys(content ?? {})).toEqual(isSilent ? [...types, 'text/plain'] : types);
        }
        const schemas = [
          ...one.parameters.map(({ schema }) => schema),
          ...Object.values(one.responses)
            .flatMap(({ content }) => Object.values(content ?? {}))
            .map((c) => c.schema),
          ...Object.values(one.requestBody?.content ?? {}).map(({ schema }) => schema),
        ];
        expect(schemas.flatMap((schema) => schemaFaults(resolved(schema, document), path))).toEqual([]);
      }
    }
    expect(() => resolved(document, document)).not.toThrow();
  });

  test.each(interfaceNames)(
    '%s has every operation of the contract, with its statuses and parameters',
    async (name) => {
      const { paths } = await read(name);
      const described = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, one]) => ({
          at: `${method.toUpperCase()} ${path}`,
          id: one.operationId,
          statuses: Object.keys(one.responses),
          parameters: one.parameters.map((parameter) => parameter.name),
          body: one.requestBody !== undefined,
        })),
      );
      const expected = operations[name].map((operation) => ({
        at: `${operation.method} ${operation.path}`,
        id: operation.operationId,
        statuses: [String(operation.success ?? 200), ...Object.keys(operation.errors)].toSorted(),
        parameters: [operation.params, operation.query].flatMap((schema) =>
          Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}),
        ),
        body: operation.body !== undefined,
      }));
      const byPlace = (a: { at: string }, b: { at: string }) => (a.at < b.at ? -1 : 1);
      expect(described.toSorted(byPlace)).toEqual(expected.toSorted(byPlace));
      for (const { at } of described) {
        const [method = '', path = ''] = at.split(' ');
        const { status } = await world.request(method, path);
        expect([at, status === 404 || status === 405]).toEqual([at, false]);
      }
    },
  );

  test('responses match the document', async () => {
    const account = await world.account();
    const groups = [{ externalId: 'g', name: 'G', description: 'd' }];
    const users = [{ externalId: 'u', firstName: 'F', lastName: 'L', unheardOf: 1 }];
    const settings = { validateOnly: false };
    const data = await read('data');
    const organization = await read('organization');
    const schemaOf = (document: Document, path: string, method: string, status: number) => {
      const { content } = document.paths[path]![method]!.responses[status]!;
      return Compile(resolved(content!['application/json']!.schema, document) as TSchema);
    };
    const applied = await account.push({ settings, data: { groups, users } });
    const changed = await account.push({ settings, data: { groups: [{ ...groups[0], name: 'H' }], users } });
    expect([applied.body.warnings.length, changed.body.changes.length]).toEqual([1, 1]);
    for (const path of organizationPaths) {
      const report = schemaOf(organization, path, 'post', 200);
      for (const { body } of [applied, changed]) expect([...report.Errors(body)]).toEqual([]);
      const request = organization.paths[path]!['post']!.requestBody!.content['application/json']!.schema;
      const isRequest = Compile(resolved(request, organization) as TSchema);
      expect(isRequest.Check({ settings, data: { groups, users } })).toBe(true);
      expect(isRequest.Check({ setting: {} })).toBe(false);
    }
    const received = await account.groups();
    expect([...schemaOf(data, getGroups.path, 'get', 200).Errors(received)]).toEqual([]);
    const refused = await get('/v1/groups');
    expect([...schemaOf(data, getGroups.path, 'get', 401).Errors(refused.body)]).toEqual([]);
  });

  test('no document has any other name', async () => {
    expect(refusal(await get('/v1/openapi/console.json'))).toBe('404 not found');
  });
});
