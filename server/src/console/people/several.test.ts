// Adding several people in one request: all or none, with every fault at its field.
import type { PersonRow } from '@soundings/contract/console/people.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../db/db.ts';
import { createGroup } from '../../people/groups.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { openWorld, type World } from '../../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.close());

let accountId: number;
let groupId: number;
let request: SendRequest;
beforeEach(async () => {
  accountId = (await world.account()).id;
  ({ request } = await signInNew(world, accountId, 'Administrator'));
  groupId = await inTransaction(world.pool, (tx) => createGroup(tx, accountId, { name: 'Everyone' }));
});

const row = (firstName: string, fields: object = {}) => ({
  firstName,
  lastName: 'Berg',
  email: `${firstName.toLowerCase() || 'x'}@example.org`,
  groupId: null as number | null,
  ...fields,
});
const add = (people: (object | null)[]) => request<{ ids: number[] }>('POST /users/several', { people });
const names = async () =>
  (await request<{ rows: PersonRow[] }>('GET /users?offset=0&limit=100')).body.rows
    .map(({ firstName }) => firstName)
    .toSorted();

test('adds the filled rows with the role User, in their groups, and records each', async () => {
  const before = await names();
  const added = await add([row('Lea', { groupId }), null, row('Bo', { email: null }), null, null]);
  expect(added.status).toBe(200);
  expect(added.body.ids).toHaveLength(2);
  expect(await names()).toEqual([...before, 'Lea', 'Bo'].toSorted());
  const members = await world.pool`
    select u.first_name, u.role from memberships m join users u using (account_id, user_id)
    where  m.account_id = ${accountId} and m.group_id = ${groupId} and m.kind = 'memberOf'`;
  expect([...members]).toEqual([{ first_name: 'Lea', role: 'User' }]);
  const logged = await world.pool`
    select subject from audit_entries where account_id = ${accountId} and action = 'person created'`;
  expect(logged.map((one) => Number(one['subject']))).toEqual(added.body.ids);
});

test('adds no one if anything is wrong, and reports everything at its field', async () => {
  const before = await names();
  const other = await world.account();
  const theirs = await inTransaction(world.pool, (tx) => createGroup(tx, other.id, { name: 'Theirs' }));
  await add([row('Eve')]);
  const refused = await request<Problem>('POST /users/several', {
    people: [
      row('Lea'),
      row('', { lastName: '' }),
      null,
      row('Bo', { email: 'LEA@example.org' }),
      row('Cy', { email: 'not an address', groupId: theirs }),
      row('Di', { email: 'eve@example.org' }),
    ],
  });
  expect(refused.status).toBe(400);
  expect(refused.body.details.map(({ path }) => path)).toEqual([
    '/people/1/firstName',
    '/people/1/lastName',
    '/people/3/email',
    '/people/4/email',
    '/people/4/groupId',
    '/people/5/email',
  ]);
  expect(await names()).toEqual([...before, 'Eve'].toSorted());
});

test('without a filled row says what is missing; too many rows and other roles are refused', async () => {
  const empty = await request<Problem>('POST /users/several', { people: [null, null] });
  expect([empty.status, empty.body.details[0]?.path]).toEqual([400, '/people/0/firstName']);
  for (const people of [
    [],
    Array.from({ length: 21 }, () => row('Lea')),
    [row('Lea', { role: 'Administrator' })],
  ])
    expect((await add(people)).status).toBe(400);
  const manager = await signInNew(world, accountId, 'Manager');
  expect((await manager.request('POST /users/several', { people: [row('Lea')] })).status).toBe(403);
});
