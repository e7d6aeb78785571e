// A directory that provisions users and groups over SCIM, as Entra ID and Okta do: a few connections, one request for each change.
import type { Pool } from '@soundings/server/src/db/db.ts';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

type Sent = { status: number; body: string };
type Send = (method: string, path: string, body?: object) => Promise<Sent>;

/** `base`: the address of the interface, such as http://127.0.0.1:8080/scim/v2. `atOnce`: the number of connections. */
export function openDirectory(
  base: string,
  token: string,
  atOnce: number,
): { send: Send; close: () => void } {
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  const send: Send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
      const headers = {
        authorization: `Bearer ${token}`,
        ...(bytes && { 'content-type': 'application/scim+json', 'content-length': bytes.length }),
      };
      const sending = request(`${base}${path}`, { method, agent, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      });
      sending.once('error', reject);
      sending.end(bytes);
    });
  return { send, close: () => agent.destroy() };
}

export const userOf = (i: number) => ({
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
  userName: `user${i}@example.com`,
  externalId: `e${i}`,
  displayName: `Given${i} Family${i}`,
  name: { givenName: `Given${i}`, familyName: `Family${i}` },
  emails: [{ type: 'work', primary: true, value: `user${i}@example.com` }],
  active: true,
});
export const patchOf = (...operations: object[]) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'],
  Operations: operations,
});

/** Returns the body. Throws if the status is not one of the expected. */
export function expectStatus({ status, body }: Sent, ...wanted: number[]): string {
  if (!wanted.includes(status))
    throw new Error(`SCIM responded with ${status} instead of ${wanted.join(' or ')}: ${body}`);
  return body;
}

/**
 * Sends a cycle of users: searches each user, and creates it if it is absent, otherwise changes it to the same values. Returns the ids.
 */
export async function provisionUsers(send: Send, users: number, atOnce: number): Promise<string[]> {
  const ids: string[] = [];
  await inParallel(users, atOnce, async (i) => {
    const present = await findId(send, '/Users', `userName eq "user${i}@example.com"`);
    if (present === undefined) {
      const created = expectStatus(await send('POST', '/Users', userOf(i)), 201);
      ids[i] = (JSON.parse(created) as { id: string }).id;
      return;
    }
    ids[i] = present;
    const value = { active: true, displayName: `Given${i} Family${i}` };
    expectStatus(await send('PATCH', `/Users/${present}`, patchOf({ op: 'Replace', value })), 200, 204);
  });
  return ids;
}

/** Returns the ID of the resource that a filter finds. `without`: an attribute that the response does not need. */
export async function findId(
  send: Send,
  path: string,
  filter: string,
  without?: string,
): Promise<string | undefined> {
  const excluded = without === undefined ? '' : `&excludedAttributes=${without}`;
  const body = expectStatus(
    await send('GET', `${path}?filter=${encodeURIComponent(filter)}${excluded}`),
    200,
  );
  return (JSON.parse(body) as { Resources: { id: string }[] }).Resources[0]?.id;
}

/** Runs work `count` times, `atOnce` at the same time. */
export async function inParallel(
  count: number,
  atOnce: number,
  work: (i: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

type Groups = { groups: number; ids: string[]; atOnce: number; groupIds?: string[] };

/**
 * Creates groups, and adds each user to one, as directories do: one request for each. `groupIds`: searches these groups, and adds the same
 * users again. Returns the ids of the groups.
 */
export async function provisionGroups(
  send: Send,
  { groups, ids, atOnce, groupIds = [] }: Groups,
): Promise<string[]> {
  const isNew = groupIds.length === 0;
  await inParallel(groups, atOnce, async (i) => {
    if (!isNew) {
      const found = await findId(send, '/Groups', `displayName eq "Group ${i}"`, 'members');
      if (found !== groupIds[i]) throw new Error(`Group ${i} was not found`);
      return;
    }
    const created = expectStatus(await send('POST', '/Groups', { displayName: `Group ${i}` }), 201);
    groupIds[i] = (JSON.parse(created) as { id: string }).id;
  });
  await inParallel(ids.length, atOnce, async (i) => {
    const add = patchOf({ op: 'Add', path: 'members', value: [{ value: ids[i] }] });
    expectStatus(await send('PATCH', `/Groups/${groupIds[i % groups]}`, add), 200, 204);
  });
  return groupIds;
}

/** Waits until the changes of a directory are applied to people and groups. */
export async function untilApplied(pool: Pool, accountId: number): Promise<void> {
  for (;;) {
    const [row] = await pool<{ waiting: number }[]>`
      select count(*)::integer as waiting from scim_users where account_id = ${accountId} and changes <> applied`;
    if (row?.waiting === 0) return;
    await sleep(50);
  }
}
