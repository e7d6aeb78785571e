// Sandboxes in tests: a service with a small demo company, administrators, and their sandboxes.
import type { SandboxView } from '@soundings/contract/sandbox/sandbox.ts';
import { type Scope, scopes } from '@soundings/contract/operation.ts';
import type { World } from '../testing/world.ts';
import { type SendRequest, signInNew } from '../testing/signed-in.ts';
import { until } from '../testing/until.ts';

export type Administrator = { accountId: number; userId: number; request: SendRequest };
export type Sandbox = NonNullable<SandboxView['sandbox']>;

/** Creates a company with an administrator who is signed in. */
export async function newAdministrator(world: World): Promise<Administrator> {
  const { id: accountId } = await world.account();
  return { accountId, ...(await signInNew(world, accountId, 'Administrator')) };
}

/** Returns the sandbox of an administrator as the console shows it. */
export const sandboxSeen = async ({ request }: Administrator): Promise<Sandbox | null> =>
  (await request<SandboxView>('GET /sandbox')).body.sandbox;

/** Waits until a sandbox is ready, and returns it. */
export const readySandbox = (administrator: Administrator): Promise<Sandbox & { accountId: number }> =>
  until(async () => {
    const sandbox = await sandboxSeen(administrator);
    return sandbox?.state === 'ready' && (sandbox as Sandbox & { accountId: number });
  });

/** Creates a sandbox and waits until it is ready. Returns it with its token. */
export async function newSandbox(
  administrator: Administrator,
  chosen: readonly Scope[] = scopes,
): Promise<Sandbox & { accountId: number; token: string }> {
  const { status, body } = await administrator.request<{ token: string }>('POST /sandbox', {
    scopes: chosen,
  });
  if (status !== 200) throw new Error(`Creating the sandbox was answered with ${status}.`);
  return { ...(await readySandbox(administrator)), token: body.token };
}

/** Resets a sandbox, waits until that is done, and returns it. */
export async function reset(administrator: Administrator): Promise<Sandbox & { accountId: number }> {
  const { status } = await administrator.request('POST /sandbox/reset');
  if (status !== 204) throw new Error(`Resetting the sandbox was answered with ${status}.`);
  return readySandbox(administrator);
}

/** Lets time pass for accounts that have ended, and waits until they are deleted. */
export async function afterGrace({ pool }: World): Promise<void> {
  await until(async () => {
    await pool`update accounts set ended_at = ended_at - interval '1 hour' where ended_at is not null`;
    await pool`select graphile_worker.add_job('tend sandboxes')`;
    const rows = await pool`select 1 from accounts where ended_at is not null`;
    return rows.length === 0;
  });
}

/** Runs the recurring work of sandboxes once, and waits for it. */
export async function tendNow({ pool }: World): Promise<void> {
  await pool`select graphile_worker.add_job('tend sandboxes')`;
  await until(async () => {
    const rows = await pool`select 1 from graphile_worker.jobs where task_identifier = 'tend sandboxes'`;
    return rows.length === 0;
  });
}

/** Pushes a list of one person to the account of a token, which removes everyone else. `more`: other fields of the person. */
export const pushOne = ({ request }: World, token: string, externalId: string, more: object = {}) => {
  const user = {
    firstName: 'New',
    lastName: 'Person',
    externalId,
    accessInfo: { memberOf: ['all'] },
    ...more,
  };
  const data = { groups: [{ name: 'All', externalId: 'all' }], users: [user] };
  const settings = { validateOnly: false, maxUsersDeleted: 1000, maxGroupsDeleted: 1000 };
  return request('POST', '/v1/organization/organization', {
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ settings, data }),
  });
};

/** Uploads a file with one person. */
export const uploadOne = ({ request }: World, token: string, name: string) => {
  const form = new FormData();
  form.append('file', new Blob(['EmployeeID;FirstName;LastName\r\n1;New;Person\r\n']), name);
  return request('POST', '/v1/storage/uploadFile', { headers: { authorization: token }, body: form });
};

/** Creates a user as a directory does. */
export const writeScimUser = ({ request }: World, token: string, userName: string) =>
  request('POST', '/scim/v2/Users', {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    body: JSON.stringify({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName,
      name: { givenName: 'New', familyName: 'Person' },
      active: true,
    }),
  });
