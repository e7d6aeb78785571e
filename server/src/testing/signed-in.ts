// Asking the console's interface as somebody who is signed in.
import type { Role } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { beginSession } from '../auth/sessions.ts';
import { inTransaction } from '../db/db.ts';
import { createUser } from '../people/users.ts';
import type { Answer, World } from './world.ts';

/**
 * `operation`: such as "GET /users". A body that is neither text nor bytes is sent as JSON. `text` is what came to the
 * letter; of what is not JSON there is no body.
 */
export type Ask = <T = Problem>(
  operation: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer<T> & { text: string }>;

/** Signs in somebody who is there. */
export async function signIn(
  { pool, address }: Pick<World, 'pool' | 'address'>,
  accountId: number,
  userId: number,
): Promise<Ask> {
  const secret = await beginSession(pool, { accountId, userId }, { address: '127.0.0.1', agent: 'test' });
  return async <T>(operation: string, body?: unknown, headers: Record<string, string> = {}) => {
    const [method = '', path = ''] = operation.split(' ');
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const answer = await fetch(`${address}/api${path}`, {
      method,
      headers: {
        cookie: `soundings=${secret}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer());
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    return {
      status: answer.status,
      headers: answer.headers,
      text,
      body: (isJson ? JSON.parse(text) : undefined) as T,
    };
  };
}

/** Somebody new with a role, signed in. */
export async function signInNew(
  world: Pick<World, 'pool' | 'address'>,
  accountId: number,
  role: Role,
): Promise<{ ask: Ask; userId: number }> {
  const email = `${role.toLowerCase()}-${Math.random().toString(36).slice(2)}@example.org`;
  const userId = await inTransaction(world.pool, (tx) =>
    createUser(tx, accountId, { firstName: 'Ann', lastName: role, email, role }),
  );
  return { ask: await signIn(world, accountId, userId), userId };
}
