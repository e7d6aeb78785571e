// Requests to the console's API as a signed-in user.
import type { Role } from '@soundings/contract/people/roles.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { beginSession } from '../auth/sessions.ts';
import { inTransaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import type { JsonResponse, World } from './world.ts';

/**
 * Sends a request and returns the response. `operation`: such as "GET /users". A body that is neither text nor bytes is sent as
 * JSON. `text` is the exact text of the response; its `body` is undefined unless it is JSON.
 */
export type SendRequest = <T = Problem>(
  operation: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<JsonResponse<T> & { text: string }>;

/** Signs in an existing user. */
export async function signIn(
  { pool, address }: Pick<World, 'pool' | 'address'>,
  accountId: number,
  userId: number,
): Promise<SendRequest> {
  const secret = await beginSession(pool, { accountId, userId }, { address: '127.0.0.1', agent: 'test' });
  return async <T>(operation: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', path = ''] = operation.split(' ');
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${address}/api${path}`, {
      method,
      headers: {
        cookie: `soundings=${secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as T,
    };
  };
}

/** Creates a user with this role and signs them in. */
export async function signInNew(
  world: Pick<World, 'pool' | 'address'>,
  accountId: number,
  role: Role,
): Promise<{ request: SendRequest; userId: number }> {
  const email = `${role.toLowerCase()}-${Math.random().toString(36).slice(2)}@example.org`;
  const userId = await inTransaction(world.pool, (tx) =>
    createUser(tx, accountId, { firstName: 'Ann', lastName: role, email, role }),
  );
  return { request: await signIn(world, accountId, userId), userId };
}
