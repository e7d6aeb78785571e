// Bulk requests (RFC 7644 §3.7): operations that run one after another, each by itself. An operation can refer to a resource that another
// one creates, before or after it, because the ids of new resources are chosen first.
import { isJsonObject, type JsonObject, type JsonValue } from '../base/json/json.ts';
import { maxScimOperations } from '@soundings/contract/limits.ts';
import { randomUUID } from 'node:crypto';
import { Fault, faultAtField } from '../base/errors.ts';
import { quote } from '../base/text.ts';
import { scimFault } from './protocol/read-resource.ts';
import type { ScimResult } from './resources.ts';
import { scimErrorSchema } from '../http/responses/scim-errors.ts';

/** One operation. `id`: of the resource that it creates. */
export type BulkOperation = {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  version: string | undefined;
  data: JsonValue;
  id: string | undefined;
};

type Sent = {
  method: string;
  path: string;
  version: string | undefined;
  data: JsonValue;
  bulkId: string | undefined;
};

const responseSchema = 'urn:ietf:params:scim:api:messages:2.0:BulkResponse';
const invalid = (message: string, path?: string) => scimFault('invalid syntax', message, path);

/**
 * Runs the operations of a bulk request with `run`, and returns the response. `errorOf` returns the body of an error. Stops after
 * `failOnErrors` errors.
 */
export async function runBulk(
  body: JsonValue,
  run: (operation: BulkOperation) => Promise<ScimResult>,
  errorOf: (error: unknown) => { status: number; body: JsonObject },
): Promise<JsonObject> {
  const { operations, failOnErrors } = readBulk(body);
  const ids = idsOf(operations);
  const failed = new Set<string>();
  const responses: JsonObject[] = [];
  for (const sent of operations) {
    const head = { method: sent.method, ...(sent.bulkId !== undefined && { bulkId: sent.bulkId }) };
    try {
      const result = await run(resolved(sent, ids, failed));
      responses.push({
        ...head,
        ...(result.location !== undefined && { location: result.location }),
        ...(result.version !== undefined && { version: result.version }),
        status: String(result.status),
      });
    } catch (error) {
      if (sent.bulkId !== undefined) failed.add(sent.bulkId);
      const { status, body: response } = errorOf(error);
      responses.push({ ...head, status: String(status), response });
      if (responses.filter(isError).length >= failOnErrors) break;
    }
  }
  return { schemas: [responseSchema], Operations: responses };
}

const isError = ({ response }: JsonObject): boolean =>
  isJsonObject(response) &&
  Array.isArray(response['schemas']) &&
  response['schemas'].includes(scimErrorSchema);

function readBulk(body: JsonValue): { operations: Sent[]; failOnErrors: number } {
  const list = isJsonObject(body) ? body['Operations'] : undefined;
  if (!isJsonObject(body) || !Array.isArray(list))
    throw invalid('The body must have a list "Operations".', 'Operations');
  if (list.length > maxScimOperations)
    throw new Fault(
      'too_large',
      'invalid value',
      `A bulk request can have at most ${maxScimOperations} operations.`,
    );
  const { failOnErrors = null } = body;
  if (failOnErrors !== null && (typeof failOnErrors !== 'number' || failOnErrors < 1))
    throw invalid('failOnErrors must be a whole number above 0.', 'failOnErrors');
  return { operations: list.map(readOperation), failOnErrors: failOnErrors ?? Infinity };
}

function readOperation(sent: JsonValue, i: number): Sent {
  const place = `Operations[${i}]`;
  if (!isJsonObject(sent)) throw invalid(`${place} must be an object.`, place);
  const { method, path, version, data = null, bulkId } = sent;
  if (typeof method !== 'string' || typeof path !== 'string')
    throw invalid(`${place} needs a method and a path.`, place);
  if (bulkId !== undefined && typeof bulkId !== 'string')
    throw invalid(`${place}.bulkId must be a string.`, place);
  return {
    method: method.toUpperCase(),
    path,
    data,
    bulkId,
    version: typeof version === 'string' ? version : undefined,
  };
}

/** Chooses the ids of the resources that will be created, by their bulkIds. */
function idsOf(operations: readonly Sent[]): Map<string, string> {
  const ids = new Map<string, string>();
  for (const [i, { method, bulkId }] of operations.entries()) {
    if (method !== 'POST' || bulkId === undefined) continue;
    if (ids.has(bulkId))
      throw invalid(`Operations[${i}] has the bulkId of another operation.`, `Operations[${i}].bulkId`);
    ids.set(bulkId, randomUUID());
  }
  return ids;
}

/** Returns an operation with ids instead of references. Throws a Fault if it refers to what could not be created. */
function resolved(sent: Sent, ids: ReadonlyMap<string, string>, failed: ReadonlySet<string>): BulkOperation {
  const { method, path, version, data, bulkId } = sent;
  if (method !== 'POST' && method !== 'PUT' && method !== 'PATCH' && method !== 'DELETE')
    throw faultAtField(
      'invalid',
      'invalid value',
      'method',
      `${quote(method)} is not a method of bulk operations.`,
    );
  if (method === 'POST' && bulkId === undefined)
    throw scimFault('missing field', 'An operation that creates a resource needs a bulkId.', 'bulkId');
  const idOf = (name: string) => {
    const id = ids.get(name);
    if (id === undefined || failed.has(name))
      throw faultAtField(
        'conflict',
        'invalid value',
        'bulkId',
        `No resource was created for the bulkId ${quote(name)}.`,
      );
    return id;
  };
  return {
    method,
    version,
    path: path.replace(/bulkId:([^/]+)/, (_, name: string) => idOf(name)),
    data: withIds(data, idOf),
    id: bulkId === undefined ? undefined : ids.get(bulkId),
  };
}

function withIds(value: JsonValue, idOf: (name: string) => string): JsonValue {
  if (typeof value === 'string') return value.startsWith('bulkId:') ? idOf(value.slice(7)) : value;
  if (Array.isArray(value)) return value.map((one) => withIds(one, idOf));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withIds(one, idOf)]));
}
