// For tests of single sign-on: an account with an administrator who signed in with a password, and a provider that is turned on.
import type { SingleSignOn } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { beginSession } from '../auth/sessions.ts';
import { setPassword } from '../auth/sign-in.ts';
import { inTransaction } from '../db/db.ts';
import { createUser, type NewUser } from '../people/users.ts';
import { type SendRequest, signIn } from '../testing/signed-in.ts';
import type { World } from '../testing/world.ts';
import { clientId, clientSecret } from './provider.fixture.ts';

export const password = 'nine quiet harbours';

/** Settings with which the service reaches providers on this machine. */
export const reachingLoopback = { outgoingNetworks: ['127.0.0.0/8'] };

export type Setting = {
  accountId: number;
  /** The administrator, who has a password. */
  admin: { userId: number; email: string; request: SendRequest };
  provider: SingleSignOn['providers'][number];
  addPerson(fields: NewUser & { email: string }): Promise<number>;
  change(changes: object): Promise<void>;
};

let accounts = 0; // the number of accounts so far, whose addresses are used

/** Creates an account with a provider at an address. */
export async function setUp(world: World, issuer: string, changes: object = {}): Promise<Setting> {
  const { id: accountId } = await world.account();
  const email = `boss-${++accounts}@example.org`;
  const addPerson = (fields: NewUser) =>
    inTransaction(world.pool, (tx) =>
      createUser(tx, accountId, { firstName: 'Kim', lastName: 'Ek', ...fields }),
    );
  const userId = await addPerson({ email, role: 'Administrator' });
  await setPassword(world.pool, accountId, userId, password);
  const request = await signIn(world, accountId, userId);
  await request('POST /sso/providers', { name: 'Work', issuer, clientId, clientSecret });
  const provider = async () =>
    (await request<SingleSignOn>('GET /sso')).body.providers[0] as Setting['provider'];
  const setting: Setting = {
    accountId,
    admin: { userId, email, request },
    provider: await provider(),
    addPerson,
    async change(wanted) {
      const { status, text } = await request(`PATCH /sso/providers/${setting.provider.id}`, wanted);
      if (status !== 204) throw new Error(text);
      setting.provider = await provider();
    },
  };
  await setting.change({ enabled: true, ...changes });
  return setting;
}

/** Returns the address that begins to sign in. */
export const startOf = ({ provider }: Setting, to = '/'): string =>
  `${provider.addresses.redirect.replace(/callback$/, 'start')}?to=${encodeURIComponent(to)}`;

/** Returns who is signed in with a cookie. */
export async function whoIs(world: World, cookie: string | undefined): Promise<number | undefined> {
  if (cookie === undefined) return undefined;
  const response = await fetch(`${world.address}/api/session`, {
    headers: { cookie: `soundings=${cookie}` },
  });
  return response.ok ? ((await response.json()) as { user: { id: number } }).user.id : undefined;
}

/** Returns the actions of the audit log, oldest first, with their details. */
export async function auditOf(
  world: World,
  accountId: number,
): Promise<{ action: string; subject: string | null; details: Record<string, unknown> }[]> {
  return world.pool`
    select action, subject, details from audit_entries where account_id = ${accountId} order by entry_id`;
}

/** Starts a session of a user without signing in. */
export const sessionFor = (world: World, accountId: number, userId: number): Promise<string> =>
  beginSession(world.pool, { accountId, userId }, { address: '127.0.0.1', agent: 'test' });
