// An attacker uses an administrator's open browser: actions that grant or remove access require the password again.
import { consoleOperations } from '@soundings/contract/console/operations.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setPassword } from '../../auth/sign-in.ts';
import { openLog } from '../../base/log.ts';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { createUser } from '../../people/users.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openWorld, type World } from '../../testing/world.ts';

const good = 'nine quiet harbours';

let world: World;
let [accountId, own, other, manager, gone, group] = [0, 0, 0, 0, 0, 0];
let request: SendRequest;
beforeAll(async () => {
  world = await openWorld(openLog('silent'));
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ id: accountId } = await world.account());
  ({ request, userId: own } = await signInNew(world, accountId, 'Administrator'));
  await setPassword(world.pool, accountId, own, good);
  [other, manager, gone, group] = await inTransaction(world.pool, async (tx) => [
    await createUser(tx, accountId, { firstName: 'Olle', lastName: 'Ek', email: `olle-${own}@example.org` }),
    await createUser(tx, accountId, {
      firstName: 'Mia',
      lastName: 'Ask',
      email: `mia-${own}@example.org`,
      role: 'Manager',
    }),
    await createUser(tx, accountId, {
      firstName: 'Max',
      lastName: 'Alm',
      email: `max-${own}@example.org`,
      role: 'Manager',
    }),
    await createGroup(tx, accountId, { name: 'North' }),
  ]);
});

/** Moves the last password check more than ten minutes back. `at` null: to never, as in a session of an earlier version. */
const later = (at: string | null = 'ten minutes') =>
  world.pool`
    update sessions set proved_at = ${at === null ? null : new Date(Date.now() - 601_000)}
    where  account_id = ${accountId} and user_id = ${own}`;

const noGroups = { memberOf: [], adminOf: [], inheritedAdminOf: [], interestOf: [] };
const token = { name: 'Power BI', scopes: ['data'], expires: null };
const person = {
  firstName: 'Eve',
  lastName: 'Berg',
  email: 'eve@example.org',
  phone: null,
  role: 'User',
  language: null,
  timezone: null,
  active: true,
  externalId: null,
};

const typeOf = (name: string): Record<string, string> =>
  name.startsWith('POST /files?') ? { 'content-type': 'application/octet-stream' } : {};

/** Returns the dangerous operations with their bodies, and the status of each when it is allowed. */
const dangerous = (): [string, unknown, number][] => [
  ['POST /tokens', token, 200],
  ['DELETE /tokens/1', undefined, 404],
  [`POST /users/${other}/sign-in-link`, { by: 'screen' }, 200],
  ['POST /users/invitations', { chosen: { ids: [manager] }, isPreview: false }, 409],
  [`DELETE /users/${other}/two-factor`, undefined, 204],
  [`POST /users/${other}/confirm`, undefined, 409],
  [`PATCH /users/${other}`, { role: 'Administrator' }, 200],
  [`PATCH /users/${manager}`, { email: 'elsewhere@example.org' }, 200],
  [`PATCH /users/${own}`, { email: 'evil@example.org' }, 200],
  [`PATCH /users/${other}`, { memberships: { ...noGroups, interestOf: [group] } }, 200],
  [`PATCH /users/${manager}`, { active: false }, 200],
  [`PATCH /users/${manager}`, { role: 'User' }, 200],
  [`DELETE /users/${gone}`, undefined, 204],
  ['POST /rounds/2026-W47/links', { isReplacing: false }, 404],
  ['POST /runs/00000000-0000-0000-0000-000000000000/approval', { peopleRemoved: 0, groupsRemoved: 0 }, 404],
  ['POST /users', { ...person, role: 'Manager' }, 200],
  ['POST /users', { ...person, email: 'ivy@example.org', invite: true }, 409],
  [`PATCH /users/${other}`, { invite: true }, 409],
  ['POST /files?name=users.csv', 'externalId,role\n1,Administrator\n', 200],
  ['POST /files/1/columns', { sheets: [] }, 400],
  ['POST /breakdowns', { name: 'Site', attribute: 'none', bands: null, crossOf: null }, 400],
  ['POST /breakdowns/1/close', undefined, 404],
  ['DELETE /breakdowns/1', undefined, 404],
  ['POST /sso/providers', { name: 'Own', issuer: 'https://10.0.0.1', clientId: 'c', clientSecret: 's' }, 400],
  ['PATCH /sso/providers/1', { enabled: true }, 404],
  ['DELETE /sso/providers/1', undefined, 404],
  ['PUT /sso/required', { required: true, breakGlass: [] }, 409],
  ['POST /profile/identities/1', undefined, 404],
  ['DELETE /profile/identities/1', undefined, 404],
  ['PATCH /settings', { applyFiles: false }, 200],
  ['PATCH /settings', { filesPartial: true }, 200],
  ['PATCH /settings', { maxUsersDeleted: 5000 }, 200],
  ['PATCH /settings', { maxUsersUpdated: 5000 }, 200],
];

test.each([['ten minutes'], [null]])(
  'dangerous actions are refused and change nothing (last password check: %s)',
  async (at) => {
    await later(at);
    const state = () => world.pool`
    select (select json_agg(u order by user_id) from users u where account_id = ${accountId}) as users,
           (select count(*) from sign_in_links where account_id = ${accountId}) as links,
           (select count(*) from tokens where account_id = ${accountId}) as tokens,
           (select count(*) from files where account_id = ${accountId}) as files,
           (select a from accounts a where account_id = ${accountId})::text as settings`;
    const before = [...(await state())];
    for (const [name, body] of dangerous()) {
      const { status, body: refused } = await request(name, body, typeOf(name));
      expect([name, status, refused.details[0]?.type]).toEqual([name, 403, 'password required']);
    }
    expect([...(await state())]).toEqual(before);
  },
);

test('the correct password allows them for ten minutes, only in this session; a wrong one does not', async () => {
  const { request: elsewhere } = await signInNew(world, accountId, 'Administrator');
  await world.pool`update sessions set proved_at = null where account_id = ${accountId}`;
  const wrong = await request('POST /session/proof', { password: 'not the password' });
  expect([wrong.status, wrong.body.details[0]]).toEqual([
    400,
    expect.objectContaining({ type: 'wrong password', path: '/password' }),
  ]);
  expect((await request('POST /tokens', token)).status).toBe(403);
  expect((await request('POST /session/proof', { password: good })).status).toBe(204);
  for (const [name, body, status] of dangerous()) {
    expect([name, (await request(name, body, typeOf(name))).status]).toEqual([name, status]);
  }
  expect((await elsewhere('POST /tokens', token)).status).toBe(403);
  await later();
  expect((await request('POST /tokens', token)).status).toBe(403);
});

test('a dry run of a file requires no password', async () => {
  await world.pool`update accounts set apply_files = false where account_id = ${accountId}`;
  await later();
  expect(
    (await request('POST /files?name=users.csv', 'externalId,role\n1,Manager\n', typeOf('POST /files?')))
      .status,
  ).toBe(200);
});

test('guessing the password is throttled in the same way as signing in', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 15 && statuses.at(-1) !== 429; i++) {
    statuses.push((await request('POST /session/proof', { password: `guess number ${i}` })).status);
  }
  expect(statuses.at(-1)).toBe(429);
});

test('everyday work requires no password: names, groups, an address of someone without a role, an unchanged role', async () => {
  await later();
  for (const [name, body] of [
    [`PATCH /users/${other}`, { firstName: 'Ola', email: 'ola@example.org', role: 'User' }],
    [`PATCH /users/${manager}`, { lastName: 'Lind', role: 'Manager' }],
    [`PATCH /users/${own}`, { lastName: 'Lind' }],
    [`PATCH /users/${other}`, { memberships: { ...noGroups, memberOf: [group] } }],
    ['POST /users', person],
    ['PATCH /settings', { threshold: 7, applyFiles: true }],
    ['GET /tokens', undefined],
  ] as const) {
    expect([name, (await request(name, body, typeOf(name))).status]).toEqual([name, 200]);
  }
});

test('every operation about tokens, links, two-factor authentication and confirmation requires the password', () => {
  const names = Object.entries(consoleOperations).filter(
    ([name]) =>
      /^(POST|PUT|PATCH|DELETE) .*(token|sign-in-link|users.*two-factor|confirm)/.test(name) &&
      name !== 'POST /sandbox/token', // of an account that has no one's data
  );
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter(([, { proof }]) => !proof).map(([name]) => name)).toEqual([]);
});
