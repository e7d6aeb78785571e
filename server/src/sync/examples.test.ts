// The examples of the interface description over HTTP: A, B, C and then A, b, D, and the three usage modes (§1).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGroup } from '../people/groups.ts';
import { inTransaction } from '../db/db.ts';
import { openWorld, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const settings = { validateOnly: false };

describe('the example in §1', () => {
  test('A, B, C and then A, b, D renames B to b, removes C and creates D', async () => {
    const account = await world.account();
    const person = (externalId: string, firstName: string) => ({ externalId, firstName, lastName: 'X' });
    await account.push({ settings, data: { users: [person('1', 'A'), person('2', 'B'), person('3', 'C')] } });
    const second = await account.push({
      settings,
      data: { users: [person('1', 'A'), person('2', 'b'), person('4', 'D')] },
    });
    expect(second.status).toBe(200);
    expect(second.body).toMatchObject({
      validateOnly: false,
      applied: true,
      summary: { users: { created: 1, updated: 1, deleted: 1, unchanged: 1 } },
      changes: [
        { entity: 'user', externalId: '2', action: 'update', fields: { firstName: { from: 'B', to: 'b' } } },
        { entity: 'user', externalId: '4', action: 'create' },
        { entity: 'user', externalId: '3', action: 'delete' },
      ],
      warnings: [],
    });
    const users = await world.pool`
      select external_id, first_name from users where account_id = ${account.id} and managed order by external_id`;
    expect(users.map((user) => [user['external_id'], user['first_name']])).toEqual([
      ['1', 'A'],
      ['2', 'b'],
      ['4', 'D'],
    ]);
  });
});

describe('the usage modes in §1', () => {
  test('(a) stores a full list of users and a full structure as sent', async () => {
    const account = await world.account();
    const response = await account.push({
      settings,
      data: {
        groups: [
          { externalId: 'north', name: 'North', parent: 'sales' },
          { externalId: 'sales', name: 'Sales', description: 'Everyone who sells' },
        ],
        users: [{ externalId: 'u', firstName: 'U', lastName: 'V', accessInfo: { memberOf: ['north'] } }],
      },
    });
    expect(response.status).toBe(200);
    const [north, sales] = await account.groups();
    expect(sales).toEqual({
      id: expect.any(Number),
      externalId: 'sales',
      name: 'Sales',
      description: 'Everyone who sells',
      subgroups: [north?.id],
    });
    expect(north).toEqual({ id: expect.any(Number), externalId: 'north', name: 'North', subgroups: [] });
  });

  test('(b) with users and groups only, keeps the tree that an administrator has built', async () => {
    const account = await world.account();
    const groups = [
      { externalId: 'a', name: 'A' },
      { externalId: 'b', name: 'B' },
    ];
    await account.push({ settings, data: { groups, users: [] } });
    await world.pool`
      update groups set parent_id = (select group_id from groups where account_id = ${account.id} and external_id = 'a')
      where account_id = ${account.id} and external_id = 'b'`;
    const response = await account.push({
      settings,
      data: { groups: [...groups, { externalId: 'c', name: 'C' }], users: [] },
    });
    expect(response.body.summary.groups).toEqual({ created: 1, updated: 0, deleted: 0, unchanged: 2 });
    const [a, b, c] = await account.groups();
    expect(a?.subgroups).toEqual([b?.id]);
    expect(c?.subgroups).toEqual([]);
  });

  test('(c) with users only, adds them to manually created groups by externalId', async () => {
    const account = await world.account();
    const manualGroup = await inTransaction(world.pool, (tx) =>
      createGroup(tx, account.id, { name: 'Manual', externalId: 'manual' }),
    );
    const users = [{ externalId: 'u', firstName: 'U', lastName: 'V', accessInfo: { memberOf: ['manual'] } }];
    expect((await account.push({ settings, data: { users } })).status).toBe(200);
    const members = await world.pool`
      select group_id from memberships where account_id = ${account.id} and kind = 'memberOf'`;
    expect(members.map((row) => row['group_id'])).toEqual([manualGroup]);
    expect((await account.groups()).map(({ id }) => id)).toEqual([manualGroup]);
  });
});
