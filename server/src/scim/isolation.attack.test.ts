// Every SCIM operation with every kind of token, in two accounts: its status, and nothing of the other account or of other interfaces.
import type { Operation, Scope } from '@soundings/contract/operation.ts';
import { scopes } from '@soundings/contract/operation.ts';
import { scimOperations } from '@soundings/contract/scim/scim.ts';
import { beforeAll, expect, test } from 'vitest';
import { createToken, revokeToken } from '../accounts/tokens.ts';
import { newToken } from '../base/crypto/secrets.ts';
import {
  groupOf,
  openDirectory,
  patchOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from './scim.fixture.ts';

useService();

let sides: Record<'one' | 'other', { directory: TestDirectory; user: string; group: string }>;
const words = { one: 'Zinnia', other: 'Quartz' };

beforeAll(async () => {
  const side = async (word: string) => {
    const directory = await openDirectory();
    const user = await directory.create('Users', userOf(word, { userName: 'shared@example.com' }));
    const group = await directory.create('Groups', groupOf(`${word} group`, [user]));
    return { directory, user, group };
  };
  sides = { one: await side(words.one), other: await side(words.other) };
});

/** Sends an operation about the resources of `of`. Changes are such that they change nothing if they are allowed. */
async function send(
  { method, path, operationId }: Operation,
  token: string | undefined,
  of: 'one' | 'other',
) {
  const { user, group } = sides[of];
  const id = path.includes('/Users/')
    ? user
    : path.includes('/Groups/')
      ? group
      : path.includes('/Schemas/')
        ? 'urn:ietf:params:scim:schemas:core:2.0:Group'
        : 'Group';
  const body = operationId.startsWith('patch')
    ? patchOf({ op: 'replace', path: 'externalId', value: `e-${of}` })
    : operationId === 'scimBulk'
      ? { Operations: [] }
      : operationId.startsWith('search')
        ? {}
        : undefined;
  const response = await fetch(`${world.address}${path.replace('{id}', id)}`, {
    method,
    headers: { ...(token && { authorization: token }), ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: JSON.stringify([await response.text(), ...response.headers]) };
}

/** Without a body, what creates or replaces is refused after the token was accepted. What deletes is tested on its own. */
const allowed = ({ operationId, method }: Operation): number =>
  operationId === 'getScimMe'
    ? 501
    : /^(create|replace)/.test(operationId)
      ? 400
      : operationId.startsWith('patchScim')
        ? 204
        : method === 'DELETE'
          ? 204
          : 200;
const operations = scimOperations
  .filter(({ method }) => method !== 'DELETE')
  .map((one) => [one.operationId, one] as const);

test.each(operations)(
  '%s: answers only a token with the scim scope, with its own account',
  async (_, operation) => {
    const { account } = sides.one.directory;
    const revoked = await createToken(world.pool, account.id, { name: 'r', scopes: ['scim'] });
    await revokeToken(world.pool, account.id, revoked.id);
    for (const token of [undefined, 'x', newToken(), revoked.token]) {
      const { status, text } = await send(operation, token, 'one');
      expect([status, text.includes(words.one)]).toEqual([401, false]);
    }
    for (const scope of scopes.filter((one: Scope) => one !== 'scim'))
      expect([scope, (await send(operation, await account.tokenOf(scope), 'one')).status]).toEqual([
        scope,
        403,
      ]);
    const own = await send(operation, sides.one.directory.token, 'one');
    expect([own.status, own.text.includes(words.other)]).toEqual([allowed(operation), false]);
  },
);

test.each(
  scimOperations
    .filter(({ path }) => /\/(Users|Groups)\/\{id\}/.test(path))
    .map((one) => [one.operationId, one] as const),
)(
  "%s: another account's resource gets the same response as one that does not exist",
  async (_, operation) => {
    const body = operation.operationId.startsWith('replace')
      ? { userName: 'x', displayName: 'x' }
      : undefined;
    const of = async (id: string) => {
      const patch = patchOf({ op: 'replace', path: 'externalId', value: 'x' });
      const path = operation.path.replace('/scim/v2', '').replace('{id}', id);
      const { status, body: answer } = await sides.one.directory.send(
        operation.method,
        path,
        operation.method === 'PATCH' ? patch : body,
      );
      return JSON.stringify([status, answer]).replaceAll(id, 'ID');
    };
    const { user, group } = sides.other;
    const foreign = operation.path.includes('/Users/') ? user : group;
    const absent = await of('2819c223-7f76-453a-919d-413861904646');
    expect(absent).toContain('404');
    expect(await of(foreign)).toBe(absent);
  },
);

test('a filter, a member and a bulk operation never reach another account', async () => {
  const { directory } = sides.one;
  const { user, group } = sides.other;
  for (const path of [
    `/Users?filter=id eq "${user}"`,
    `/Groups?filter=members eq "${user}"`,
    `/Groups?filter=id eq "${group}"`,
    `/Users?filter=name.givenName co "${words.other}"`,
  ])
    expect([path, (await directory.send('GET', path)).body.totalResults]).toEqual([path, 0]);
  const mine = await directory.create('Groups', groupOf('Mine', [user]));
  const { members } = (await directory.send('GET', `/Groups/${mine}`)).body;
  expect(members).toEqual([{ value: user }]);
  const deletion = [{ method: 'DELETE', path: `/Users/${user}` }];
  expect((await directory.send('POST', '/Bulk', { Operations: deletion })).body.Operations[0].status).toBe(
    '404',
  );
  expect((await sides.other.directory.send('GET', `/Users/${user}`)).body.groups).toHaveLength(1);
});

test('a token with the scim scope reads no results, people or files of its account', async () => {
  const { token } = sides.one.directory;
  for (const path of ['/v1/groups', '/v1/kpis', '/v1/audit', '/v1/storage/files', '/v1/feed'])
    expect([path, (await world.request('GET', path, { headers: { authorization: token } })).status]).toEqual([
      path,
      403,
    ]);
});
