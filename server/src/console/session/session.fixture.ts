// For tests of signing in: a service with a mail server and its own clock, requests to the console, and people who sign in.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { beginSession } from '../../auth/sessions.ts';
import { setPassword } from '../../auth/sign-in.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createUser } from '../../people/users.ts';
import { openSmtp, type TestSmtp } from '../../testing/smtp.ts';
import { openWorld, type World } from '../../testing/world.ts';
import { counted } from './digests.fixture.ts';

export const good = 'nine quiet harbours';
export const other = 'a lantern underwater';
export const silent = openLog('silent');
export const minute = 60_000;
export const time = { now: Date.UTC(2026, 10, 18, 12) };
export let world: World;
export let smtp: TestSmtp;

/** Starts a service for a test file, and stops it when the test file ends. */
export function useService(): void {
  beforeAll(async () => {
    smtp = await openSmtp({
      refuseRecipient: (address) => (address.startsWith('gone@') ? '550 no such user' : undefined),
    });
    world = await openWorld(
      silent,
      { smtpUrl: smtp.url, publicUrl: 'http://soundings.test' },
      () => time.now,
    );
  });
  afterAll(async () => {
    await world.close();
    await smtp.close();
  });
  // Each test runs on the next day, so that failures of one test do not slow down the next test.
  beforeEach(() => {
    time.now += 25 * 60 * minute;
    counted.meanwhile = async () => {};
  });
}

export type RequestParts = { body?: unknown; cookie?: string | undefined; headers?: Record<string, string> };

export async function request(
  name: string,
  { body, cookie, headers = {} }: RequestParts = {},
  address = world.address,
) {
  const [method, path] = name.split(' ') as [string, string];
  const response = await fetch(`${address}/api${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(cookie !== undefined && { cookie: `soundings=${cookie}` }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const set = response.headers.get('set-cookie');
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
    set,
    cookie: /soundings=([^;]*)/.exec(set ?? '')?.[1],
  };
}

export const faultsOf = ({ status, body }: Awaited<ReturnType<typeof request>>) => [
  status,
  ...body.details.map(({ type, path }: { type: string; path?: string }) => (path ? `${type} ${path}` : type)),
];

let people = 0; // the number of people created so far, whose addresses are used

/** Creates a person, in their own account unless one is given. */
export async function createPerson({
  accountId,
  password = good,
  email = `person${++people}@example.org`,
  ...fields
}: { accountId?: number; password?: string | null; email?: string; role?: string; language?: string } = {}) {
  const account = accountId ?? (await world.account({ timezone: 'Europe/Stockholm' })).id;
  const userId = await inTransaction(world.pool, async (tx) => {
    const id = await createUser(tx, account, { firstName: 'Kim', lastName: 'Lind', email, ...fields });
    if (password !== null) await setPassword(tx, account, id, password);
    return id;
  });
  return { accountId: account, userId, email };
}

export const signIn = (email: string, password = good, fields: object = {}, parts: RequestParts = {}) =>
  request('POST /session', { body: { email, password, ...fields }, ...parts });

/** Creates a person and a session of that person. */
export async function signInNewPerson(fields: Parameters<typeof createPerson>[0] = {}) {
  const person = await createPerson(fields);
  const cookie = await beginSession(world.pool, person, { address: '192.0.2.1', agent: 'test' });
  return { ...person, cookie };
}

/** Returns the actions in the audit log of an account, oldest first. */
export const actionsOf = async (accountId: number) =>
  (
    await world.pool<{ action: string }[]>`
      select action from audit_entries where account_id = ${accountId} order by entry_id`
  ).map(({ action }) => action);
