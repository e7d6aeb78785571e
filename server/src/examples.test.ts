// The examples of the API reference are true: each one is what the service responds to the same request, and matches its schema. `npm run
// examples` records them again.
import { interfaceOperations } from '@soundings/contract/openapi.ts';
import type { Operation } from '@soundings/contract/operation.ts';
import { detailTypes, Problem } from '@soundings/contract/problem.ts';
import { ScimError } from '@soundings/contract/scim/scim.ts';
import { webhookBodies } from '@soundings/contract/webhooks/webhooks.ts';
import { fileURLToPath } from 'node:url';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import { beforeAll, describe, expect, test } from 'vitest';
import { assetAt } from './base/places.ts';
import { type Examples, readExamples } from './http/reference/examples.ts';
import { recordExamples } from './testing/examples/record-all.ts';
import { notInInterfaces, withoutExample } from './testing/examples/not-in-interfaces.ts';

const { operations, errors, webhooks } = readExamples();
const faultsOf = (schema: TSchema, value: unknown) =>
  [...Value.Errors(schema, value)].map(({ message }) => message);

describe('a fresh run responds as the examples of', () => {
  let fresh: Examples;
  beforeAll(async () => {
    fresh = await recordExamples();
  });

  test.each(['operations', 'errors', 'webhooks'] as const)('%s', async (name) => {
    const file = fileURLToPath(assetAt(`http/reference/examples/${name}.json`));
    await expect(`${JSON.stringify(fresh[name], null, 2)}\n`).toMatchFileSnapshot(file);
  });
});

/** Returns the values of a response that its schema describes: the lines of NDJSON, and none of CSV and without a body. */
function described({ contentType, body }: { contentType?: string; body?: unknown }): unknown[] {
  if (contentType === undefined || contentType === 'text/csv') return [];
  if (contentType !== 'application/x-ndjson') return [body];
  return String(body)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

test.each(interfaceOperations.map((operation) => [operation.operationId, operation] as const))(
  '%s has an example that matches its schemas',
  (operationId, { body, response, success }: Operation) => {
    const { request, response: got } = operations[operationId]!;
    expect(got.status).toBe(success ?? 200);
    const faults = [
      ...(body && !request.file ? faultsOf(body, request.body) : []),
      ...described(got).flatMap((one) => faultsOf(response, one)),
    ];
    expect(faults).toEqual([]);
  },
);

test('there are no other examples of operations', () => {
  const ids = interfaceOperations.map(({ operationId }) => operationId);
  expect(Object.keys(operations).toSorted()).toEqual(ids.toSorted());
});

describe('each type of error', () => {
  test('has an example, or occurs only in the console and the command', () => {
    const all = [...Object.keys(errors), ...notInInterfaces, ...withoutExample];
    expect(all.toSorted()).toEqual(Object.keys(detailTypes).toSorted());
  });

  const ofScim = Object.entries(errors).filter(([, { response }]) =>
    response.contentType?.startsWith('application/scim'),
  );
  const others = Object.entries(errors).filter((one) => !ofScim.some(([type]) => type === one[0]));

  test.each(ofScim)(
    '%s of SCIM has an example that matches the schema',
    (_, { response: { status, body } }) => {
      expect(faultsOf(ScimError, body)).toEqual([]);
      expect((body as { status: string }).status).toBe(String(status));
    },
  );

  test.each(others)('%s has an example that matches the schema and has this type', (type, example) => {
    const { status, body } = example.response;
    const operation = interfaceOperations.find(({ operationId }) => operationId === example.operationId);
    const accepted = status === 200 ? operation?.response : undefined;
    expect(faultsOf(accepted ?? Problem, body)).toEqual([]);
    const { details = [], warnings = [] } = body as Record<
      'details' | 'warnings',
      { type: string }[] | undefined
    >;
    expect([...details, ...warnings].map((one) => one.type)).toContain(type);
  });
});

test('each type of event has an example that matches its schema', () => {
  expect(Object.keys(webhooks)).toEqual(webhookBodies().map(({ type }) => type));
  for (const { type, body } of webhookBodies())
    expect([type, faultsOf(body, webhooks[type]?.body)]).toEqual([type, []]);
});
