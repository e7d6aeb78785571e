// For tests of the HTTP server: a service with a database, requests to it, and the check of an error response.
import { organizationOperations } from '@soundings/contract/organization.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { type JsonResponse, openWorld, type TestAccount, type World } from '../testing/world.ts';

export let world: World;

/** Starts a service for a test file, and stops it at its end. */
export function useService(): void {
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());
}

export const organizationPaths = organizationOperations.map(({ path }) => path);
export const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
export const isProblem = Compile(Problem);

/** Returns the status and type of an error response if it has the common error body; otherwise what is wrong with it. */
export function refusal({ status, headers, body }: JsonResponse<unknown>): string {
  const [fault] = isProblem.Errors(body);
  if (fault) return `${status} without the error body: ${fault.message} ${JSON.stringify(body)}`;
  const { id, message, details } = body as Problem;
  if (headers.get('content-type') !== 'application/json; charset=utf-8') return `${status} as another type`;
  if (headers.get('x-request-id') !== id || !uuid7.test(id)) return `${status} without its id`;
  return message === '' ? `${status} without words` : `${status} ${details[0]?.type}`;
}

export const get = <T = Problem>(path: string, authorization?: string) =>
  world.request<T>('GET', path, authorization === undefined ? {} : { headers: { authorization } });

export const createManually = (
  account: TestAccount,
  group: { name: string; externalId?: string; parentId?: number },
) => inTransaction(world.pool, (tx) => createGroup(tx, account.id, group));

/** Sends the bytes unchanged, and returns what arrives until the service closes the connection or sends nothing for 10 s. */
export async function raw(...parts: string[]): Promise<JsonResponse<unknown>> {
  const socket = connect(Number(new URL(world.address).port), '127.0.0.1');
  socket.setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk)).on('error', () => {});
  for (const part of parts) socket.write(part, 'latin1');
  socket.setTimeout(10_000, () => void socket.destroy());
  await once(socket, 'close');
  const [, status, head = '', body = ''] =
    /^HTTP\/1\.1 (\d{3}) [^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(text) ?? [];
  const headers = new Headers(head.split('\r\n').map((line) => line.split(/:\s*/, 2) as [string, string]));
  const isJson = headers.get('content-type')?.startsWith('application/json') ?? false;
  return { status: Number(status), headers, body: isJson && body !== '' ? JSON.parse(body) : body };
}
