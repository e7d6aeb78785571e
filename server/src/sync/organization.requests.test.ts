// Which organization requests are accepted: omitted and unknown keys, wrong types, limits, what counts as a change, and how bodies
// are sent (§2.2, §3, §4.2, decisions B3 to B6), over HTTP.
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { apply, noLimits, person, rowsOf, unit } from '../testing/organizations.ts';
import {
  world,
  problemCheck,
  settings,
  sixLimits,
  refused,
  refusedData,
  createManually,
  userIds,
  tree,
  entries,
  runOf,
  list,
  useService,
} from './organization.fixture.ts';

useService();

describe('omitted settings and lists (decision B3)', () => {
  test.each([
    ['settings', { data: { users: [], groups: [] } }],
    ['validateOnly', { settings: {}, data: { users: [], groups: [] } }],
  ])('a request without %s is a dry run', async (_, body) => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')], users: [person('1')] });
    const before = await rowsOf(world.pool, account.id);
    const response = await account.push(body);
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({
      validateOnly: true,
      applied: false,
      summary: { users: { deleted: 1 }, groups: { deleted: 1 } },
    });
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
  });

  test.each([
    ['{}'],
    ['{"settings":{"validateOnly":false}}'],
    ['{"settings":{"validateOnly":false},"data":{}}'],
  ])('a request without lists changes nothing: %s', async (body) => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')], users: [person('1')] });
    const before = await rowsOf(world.pool, account.id);
    const response = await account.push(body);
    expect(response.status).toBe(200);
    expect(response.body.changes).toEqual([]);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
  });

  test('omitting a list keeps all users or groups', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')], users: [person('1', { accessInfo: { memberOf: ['a'] } })] });
    const users = await apply(account, { users: [person('1'), person('2')] });
    expect(users.summary).toEqual({
      users: { created: 1, updated: 0, deleted: 0, unchanged: 1 },
      groups: { created: 0, updated: 0, deleted: 0, unchanged: 0 },
    });
    expect(await tree(account)).toEqual({ a: null });
    const groups = await apply(account, { groups: [unit('a'), unit('b')] });
    expect(groups.summary).toEqual({
      users: { created: 0, updated: 0, deleted: 0, unchanged: 0 },
      groups: { created: 1, updated: 0, deleted: 0, unchanged: 1 },
    });
    expect(await userIds(account)).toEqual(['1', '2']);
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
  });

  test('an empty list removes all managed users or groups and keeps manually created ones', async () => {
    const account = await world.account();
    const manual = await createManually.group(account, { name: 'Manual' });
    await createManually.user(account, { externalId: 'manual', memberOf: [manual] });
    await apply(account, {
      groups: [unit('a'), unit('b', { parent: 'a' })],
      users: [person('1'), person('2')],
    });
    expect((await apply(account, { users: [] })).summary.users).toMatchObject({ deleted: 2 });
    expect(await userIds(account)).toEqual([]);
    expect(await tree(account)).toEqual({ a: null, b: 'a', Manual: null });
    expect((await apply(account, { groups: [] })).summary.groups).toMatchObject({ deleted: 2 });
    expect(await tree(account)).toEqual({ Manual: null });
    expect(await entries(account, 'manual')).toEqual(['memberOf: Manual']);
  });
});

describe('unknown keys and wrong types (decision B4)', () => {
  test.each([
    ['at the top', { setings: { validateOnly: true } }, '/setings'],
    ['at the top, by its letter case', { Settings: { validateOnly: true } }, '/Settings'],
    ['in settings', { settings: { ...settings, maxUserDeleted: 0 } }, '/settings/maxUserDeleted'],
    ['in settings, by its letter case', { settings: { validateonly: true } }, '/settings/validateonly'],
    ['in data', { settings, data: { users: [], group: [] } }, '/data/group'],
    ['with a slash and a tilde', { settings: { 'a/b~c': 1 } }, '/settings/a~1b~0c'],
    ['named __proto__', '{"settings":{"validateOnly":false,"__proto__":{}}}', '/settings/__proto__'],
    ['named constructor', { settings, constructor: {} }, '/constructor'],
  ])('refuses an unknown key %s', async (_, body, path) => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    expect(await refused(account, body)).toEqual([
      { type: 'unknown field', message: expect.any(String), path },
    ]);
  });

  test('suggests the known key that is similar to an unknown one', async () => {
    const account = await world.account();
    const [fault] = await refused(account, { settings: { validate_only: false } });
    expect(fault?.message).toContain('Did you mean "validateOnly"?');
    const data = {
      groups: [unit('a', { decription: 'x', colour: 'red' })],
      users: [person('1', { 'e-mail': 'x', accessInfo: { memberof: ['a'] } })],
    };
    const { body } = await account.push({ data });
    expect(body.warnings.map(({ message }) => /Did you mean (.*)\?/.exec(message)?.[1])).toEqual([
      '"description"',
      undefined,
      '"email"',
      '"memberOf"',
    ]);
  });

  test('warns about an unknown key in a user, accessInfo or group, and applies the rest', async () => {
    const account = await world.account();
    const report = await apply(account, {
      groups: [unit('a', { colour: 'red', Description: 'x' })],
      users: [person('1', { 'first/name': 'x', accessInfo: { memberof: ['a'], memberOf: ['a'] } })],
    });
    expect(report.warnings.map(({ type, path }) => [type, path])).toEqual([
      ['unknown field', '/data/groups/0/colour'],
      ['unknown field', '/data/groups/0/Description'],
      ['unknown field', '/data/users/0/first~1name'],
      ['unknown field', '/data/users/0/accessInfo/memberof'],
    ]);
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
  });

  test.each(['"false"', '"true"', '0', '1', 'null', '[]', '[false]', '{}', '"FALSE"', '""'])(
    'refuses validateOnly %s, which is not a boolean',
    async (value) => {
      const account = await world.account();
      await apply(account, { users: [person('1')], groups: [unit('a')] });
      const details = await refused(
        account,
        `{"settings":{"validateOnly":${value}},"data":{"users":[],"groups":[]}}`,
      );
      expect(details).toEqual([
        { type: 'wrong type', message: expect.any(String), path: '/settings/validateOnly' },
      ]);
    },
  );

  test.each<[string, unknown]>([
    ['', []],
    ['', '"text"'],
    ['', 5],
    ['', null],
    ['', true],
    ['/settings', { settings: null }],
    ['/settings', { settings: [] }],
    ['/settings', { settings: 'validateOnly' }],
    ['/settings/forceSetLanguage', { settings: { forceSetLanguage: 'true' } }],
    ['/settings/forceSetLanguage', { settings: { forceSetLanguage: null } }],
    ['/data', { data: null }],
    ['/data', { data: [] }],
    ['/data/users', { data: { users: {} } }],
    ['/data/users', { data: { users: null } }],
    ['/data/groups', { data: { groups: '' } }],
    ['/data/groups', { data: { groups: null } }],
    ['/data/users/0', { data: { users: [null] } }],
    ['/data/users/0', { data: { users: [[]] } }],
    ['/data/groups/0', { data: { groups: ['a'] } }],
    ['/data/groups/0/externalId', { data: { groups: [{ externalId: 1, name: 'a' }] } }],
    ['/data/groups/0/name', { data: { groups: [unit('a', { name: null })] } }],
    ['/data/groups/0/name', { data: { groups: [unit('a', { name: 5 })] } }],
    ['/data/groups/0/description', { data: { groups: [unit('a', { description: 5 })] } }],
    ['/data/groups/0/parent', { data: { groups: [unit('a', { parent: 5 })] } }],
    ['/data/groups/0/parent', { data: { groups: [unit('a', { parent: ['b'] })] } }],
    ['/data/users/0/externalId', { data: { users: [person(null as never)] } }],
    ['/data/users/0/firstName', { data: { users: [person('1', { firstName: null })] } }],
    ['/data/users/0/lastName', { data: { users: [person('1', { lastName: {} })] } }],
    ['/data/users/0/email', { data: { users: [person('1', { email: ['a@example.org'] })] } }],
    ['/data/users/0/phone', { data: { users: [person('1', { phone: 46701234567 })] } }],
    ['/data/users/0/active', { data: { users: [person('1', { active: 'false' })] } }],
    ['/data/users/0/active', { data: { users: [person('1', { active: 0 })] } }],
    ['/data/users/0/active', { data: { users: [person('1', { active: null })] } }],
    ['/data/users/0/timezone', { data: { users: [person('1', { timezone: null })] } }],
    ['/data/users/0/language', { data: { users: [person('1', { language: null })] } }],
    ['/data/users/0/accessInfo', { data: { users: [person('1', { accessInfo: null })] } }],
    ['/data/users/0/accessInfo', { data: { users: [person('1', { accessInfo: [] })] } }],
    [
      '/data/users/0/accessInfo/memberOf',
      { data: { users: [person('1', { accessInfo: { memberOf: 'a' } })] } },
    ],
    [
      '/data/users/0/accessInfo/adminOf',
      { data: { users: [person('1', { accessInfo: { adminOf: null } })] } },
    ],
    [
      '/data/users/0/accessInfo/interestOf/1',
      { data: { groups: [unit('a')], users: [person('1', { accessInfo: { interestOf: ['a', 1] } })] } },
    ],
    ['/data/users/0/externalProperties', { data: { users: [person('1', { externalProperties: [] })] } }],
    ['/data/users/0/externalProperties', { data: { users: [person('1', { externalProperties: null })] } }],
    [
      '/data/users/0/externalProperties/a',
      { data: { users: [person('1', { externalProperties: { a: 5 } })] } },
    ],
  ])('refuses the wrong type at "%s" without converting it (%j)', async (path, body) => {
    const account = await world.account();
    await createManually.attribute(account, 'a');
    expect(await refused(account, body)).toEqual([
      expect.objectContaining({ type: 'wrong type', path, message: expect.any(String) }),
    ]);
  });

  test('refuses a value that is no longer allowed, even if nothing else has changed', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'size');
    const data = { users: [person('1', { externalProperties: { size: 'Huge' } })] };
    await apply(account, data);
    await createManually.attribute(account, 'size', ['Small', 'Large']);
    const response = await account.push({ settings, data });
    expect(response.status).toBe(400);
    expect(response.body.details.map(({ type }) => type)).toEqual(['value not allowed']);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])('accepts an attribute named %s', async (name) => {
    const account = await world.account();
    await createManually.attribute(account, name);
    await apply(account, { users: [person('1')] });
    const set = await apply(account, { users: [person('1', { externalProperties: { [name]: 'x' } })] });
    expect(set.changes[0]?.fields).toEqual({ [`externalProperties.${name}`]: { from: null, to: 'x' } });
    const cleared = await apply(account, { users: [person('1', { externalProperties: { [name]: null } })] });
    expect(cleared.changes[0]?.fields).toEqual({ [`externalProperties.${name}`]: { from: 'x', to: null } });
  });

  test('refuses an attribute value that is not text, whatever the name of the attribute', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'two\nlines');
    const details = await refusedData(account, {
      users: [person('1', { externalProperties: { 'two\nlines': 5 } })],
    });
    expect(details.map(({ type }) => type)).toEqual(['wrong type']);
  });

  test('names an entry of a list by its position, and an attribute whose name is a number by its name', async () => {
    const account = await world.account();
    await createManually.attribute(account, '0');
    const odd = { accessInfo: { memberOf: ['a', 1] }, externalProperties: { 0: 5 } };
    const details = await refusedData(account, { groups: [unit('a'), 'b'], users: [null, person('1', odd)] });
    expect(details.map(({ message }) => message)).toEqual([
      'The entry at /data/groups/1 must be an object, not a string.',
      'The entry at /data/users/0 must be an object, not null.',
      'The entry at /data/users/1/accessInfo/memberOf/1 must be a string, not a number.',
      '"0" must be a string or null, not a number.',
    ]);
  });

  test('quotes a number that is not a whole one', async () => {
    const account = await world.account();
    const details = await refused(account, { settings: { maxUsersCreated: 1.5, maxUsersDeleted: '1' } });
    expect(details.map(({ message }) => message)).toEqual([
      '"maxUsersCreated" must be a whole number, not 1.5.',
      '"maxUsersDeleted" must be a whole number, not a string.',
    ]);
  });

  test('refuses a duplicate key', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    const details = await refused(
      account,
      '{"settings":{"validateOnly":true,"validateOnly":false},"data":{"users":[]}}',
    );
    expect(details).toMatchObject([{ type: 'duplicate key', path: '/settings/validateOnly' }]);
  });

  test.each([
    ['U+0000', '\\u0000'],
    ['half of a surrogate pair', '\\ud800'],
  ])('refuses a text with %s and names its position', async (_, text) => {
    const account = await world.account();
    const body = `{"data":{"groups":[{"externalId":"a","name":"a"},{"externalId":"b","name":"x${text}"}]}}`;
    expect(await refused(account, body)).toMatchObject([
      { type: 'invalid text', path: '/data/groups/1/name' },
    ]);
  });
});

describe('limits (decision B5)', () => {
  test.each(sixLimits)('%s must be a whole number from 0 to 20,000', async (setting) => {
    const account = await world.account();
    for (const value of [0, 20_000]) {
      expect((await account.push({ settings: { [setting]: value } })).status).toBe(200);
    }
    for (const value of [-1, 20_001, 1e300]) {
      expect(await refused(account, { settings: { [setting]: value } })).toMatchObject([
        { type: 'out of range', path: `/settings/${setting}` },
      ]);
    }
    for (const value of [1.5, '200', null, true, [200]]) {
      expect(await refused(account, { settings: { [setting]: value } })).toMatchObject([
        { type: 'wrong type', path: `/settings/${setting}` },
      ]);
    }
  });

  /** Returns an account in which `next` creates 1, updates 2 and deletes 3 users and groups each. */
  async function prepared() {
    const account = await world.account();
    await apply(account, { groups: list(5, 'g', unit), users: list(5, 'u', person) });
    const next = {
      groups: [unit('g0', { name: 'x' }), unit('g1', { name: 'y' }), unit('new')],
      users: [person('u0', { lastName: 'x' }), person('u1', { lastName: 'y' }), person('new')],
    };
    return { account, next };
  }
  const counts: [(typeof sixLimits)[number], number][] = [
    ['maxUsersCreated', 1],
    ['maxUsersUpdated', 2],
    ['maxUsersDeleted', 3],
    ['maxGroupsCreated', 1],
    ['maxGroupsUpdated', 2],
    ['maxGroupsDeleted', 3],
  ];

  test.each(counts)(
    '%s refuses the whole request if it is one too low, and applies it if it is exactly enough',
    async (setting, count) => {
      const { account, next } = await prepared();
      for (const limit of [0, count - 1]) {
        expect(await refusedData(account, next, { [setting]: limit })).toEqual([
          {
            type: 'limit exceeded',
            message: expect.stringContaining(setting),
            path: `/settings/${setting}`,
            setting,
            limit,
            count,
          },
        ]);
      }
      expect((await apply(account, next, { [setting]: count })).applied).toBe(true);
    },
  );

  test('names every exceeded limit, also in a dry run', async () => {
    const { account, next } = await prepared();
    const zero = Object.fromEntries(sixLimits.map((setting) => [setting, 0]));
    const details = await refusedData(account, next, zero);
    expect(details.map(({ type, setting, limit, count }) => [type, setting, limit, count])).toEqual(
      counts.map(([setting, count]) => ['limit exceeded', setting, 0, count]),
    );
    expect(await refused(account, { settings: zero, data: next })).toEqual(details);
  });

  test('advises to apply the change in steps if the limit cannot be raised far enough', async () => {
    const account = await world.account();
    const users = list(20_001, 'u', person);
    const [detail] = await refusedData(account, { users });
    expect(detail).toMatchObject({ type: 'limit exceeded', setting: 'maxUsersCreated', count: 20_001 });
    expect(detail?.message).toMatch(/at most 20000/);
    expect(detail?.message).not.toMatch(/to 20001/);
    expect(detail?.message).toContain('steps');
  });

  test('limits of 0 accept a request that changes nothing', async () => {
    const { account } = await prepared();
    const zero = Object.fromEntries(sixLimits.map((setting) => [setting, 0]));
    const same = { groups: list(5, 'g', unit), users: list(5, 'u', person) };
    expect((await apply(account, same, zero)).changes).toEqual([]);
  });

  test('each limit is 200 by default, so 200 changes are applied and 201 are refused', async () => {
    const account = await world.account();
    const of = (count: number, name: string) => ({
      groups: list(count, 'g', (id) => unit(id, { name })),
      users: list(count, 'u', (id) => person(id, { lastName: name })),
    });
    const exceeded = async (data: object) =>
      (await refusedData(account, data)).map(({ setting, limit, count }) => [setting, limit, count]);
    expect(await exceeded(of(201, 'a'))).toEqual([
      ['maxUsersCreated', 200, 201],
      ['maxGroupsCreated', 200, 201],
    ]);
    await apply(account, of(200, 'a'));
    await apply(account, of(201, 'a'));
    expect(await exceeded(of(201, 'b'))).toEqual([
      ['maxUsersUpdated', 200, 201],
      ['maxGroupsUpdated', 200, 201],
    ]);
    expect(await exceeded({ groups: [], users: [] })).toEqual([
      ['maxUsersDeleted', 200, 201],
      ['maxGroupsDeleted', 200, 201],
    ]);
    const [g0, ...otherGroups] = of(201, 'b').groups;
    const [u0, ...otherUsers] = of(201, 'b').users;
    const updated = await apply(account, {
      groups: [{ ...g0, name: 'a' }, ...otherGroups],
      users: [{ ...u0, lastName: 'a' }, ...otherUsers],
    });
    expect([updated.summary.users.updated, updated.summary.groups.updated]).toEqual([200, 200]);
    const emptied = await apply(account, { groups: [unit('g0')], users: [person('u0')] });
    expect([emptied.summary.users.deleted, emptied.summary.groups.deleted]).toEqual([200, 200]);
  });
});

describe('what counts as a change (decision B6)', () => {
  test('counts a user once, however many fields and memberships change', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b')], users: [person('1')] });
    const changed = person('1', {
      firstName: 'A',
      lastName: 'B',
      email: 'a@example.org',
      active: false,
      accessInfo: { memberOf: ['a', 'b'], adminOf: ['a'], role: 'Manager' },
    });
    const report = await apply(account, { users: [changed] }, { maxUsersUpdated: 1 });
    expect(report.summary.users).toEqual({ created: 0, updated: 1, deleted: 0, unchanged: 0 });
    expect(report.changes).toHaveLength(1);
  });

  test('counts a changed membership as an update of the user, not of the group', async () => {
    const account = await world.account();
    const groups = [unit('a'), unit('b')];
    await apply(account, { groups, users: [person('1', { accessInfo: { memberOf: ['a'] } })] });
    const users = [person('1', { accessInfo: { memberOf: ['b'] } })];
    expect((await refusedData(account, { groups, users }, { maxUsersUpdated: 0 }))[0]).toMatchObject({
      setting: 'maxUsersUpdated',
      count: 1,
    });
    const report = await apply(account, { groups, users }, { maxGroupsUpdated: 0 });
    expect(report.changes).toEqual([
      {
        entity: 'user',
        externalId: '1',
        action: 'update',
        fields: { memberOf: { from: ['a'], to: ['b'] } },
      },
    ]);
  });

  test('does not write unchanged users and groups, even with another order, duplicate names and unknown keys', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'x');
    await createManually.attribute(account, 'y');
    const first = {
      groups: [unit('a'), unit('b', { parent: 'a', description: 'B' })],
      users: [
        person('1', {
          email: 'one@example.org',
          phone: '+46 70-123 45 67',
          accessInfo: { memberOf: ['a', 'b'] },
        }),
        person('2', { externalProperties: { x: '1', y: '2' }, timezone: 'Europe/Oslo', language: 'nb' }),
      ],
    };
    await apply(account, first);
    const before = await rowsOf(world.pool, account.id);
    expect((await apply(account, first)).changes).toEqual([]);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    const again = await apply(account, {
      groups: first.groups.toReversed(),
      users: [
        person('2', {
          externalProperties: { y: '2', x: '1' },
          active: true,
          timezone: 'Europe/Oslo',
          language: 'nb',
        }),
        person('1', {
          email: 'one@example.org',
          phone: '+46701234567',
          shoeSize: 43,
          accessInfo: { memberOf: ['b', 'a', 'b'] },
        }),
      ],
    });
    expect(again.summary.users).toEqual({ created: 0, updated: 0, deleted: 0, unchanged: 2 });
    expect(again.summary.groups).toEqual({ created: 0, updated: 0, deleted: 0, unchanged: 2 });
    const writtenBy = (rows: string[]) => rows.map((row) => row.replace(/"fingerprint": "[^"]*"/, ''));
    const groupsAndMemberships = (rows: string[]) => rows.filter((row) => /^(group|membership) /.test(row));
    expect(groupsAndMemberships(writtenBy(await rowsOf(world.pool, account.id)))).toEqual(
      groupsAndMemberships(writtenBy(before)),
    );
  });
});

describe('POST /v1/organization/organization', () => {
  test('is also available at the short path (§3)', async () => {
    const account = await world.account();
    const response = await world.request('POST', '/v1/organization', {
      headers: { authorization: account.token, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { users: [person('1')] } }),
    });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ validateOnly: true, summary: { users: { created: 1 } } });
  });

  test('responds to an invalid token with 400 and the error body (§7)', async () => {
    const response = await world.request('POST', '/v1/organization/organization', {
      headers: { authorization: 'wrong', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).toBe(400);
    expect([...problemCheck.Errors(response.body)]).toEqual([]);
    expect(response.body.details).toMatchObject([{ type: 'invalid token' }]);
  });

  test('reads a gzip body like an uncompressed one', async () => {
    const account = await world.account();
    const body = gzipSync(JSON.stringify({ settings, data: { users: [person('1')] } }));
    const response = await account.push(body, { 'content-encoding': 'gzip' });
    expect(response.status).toBe(200);
    expect(await userIds(account)).toEqual(['1']);
  });

  test('responds to an invalid gzip body with 400 and stores a refused run', async () => {
    const account = await world.account();
    const compressed = gzipSync(JSON.stringify({ settings, data: { users: [person('1')] } }));
    const corrupt = Uint8Array.from(compressed, (byte, i) =>
      i === compressed.length - 5 ? byte ^ 0xff : byte,
    );
    for (const body of [
      '{}',
      compressed.subarray(0, -9),
      compressed.subarray(0, 5),
      corrupt,
      new Uint8Array(),
    ]) {
      const response = await account.push(body, { 'content-encoding': 'gzip' });
      expect(response.status).toBe(400);
      expect(response.body.details).toMatchObject([{ type: 'invalid gzip' }]);
      expect(await runOf(account, response.body.id)).toMatchObject({ outcome: 'refused' });
    }
    expect(await userIds(account)).toEqual([]);
  });

  test('reads 64 MB of decompressed data, and responds to one byte more with 413 without applying anything', async () => {
    const account = await world.account();
    const maxBytes = 64 * 1024 * 1024;
    const text = JSON.stringify({ settings, data: { users: [person('1')] } });
    const padded = (length: number) => gzipSync(text.padEnd(length), { level: 1 });
    const over = await account.push(padded(maxBytes + 1), { 'content-encoding': 'gzip' });
    expect(over.status).toBe(413);
    expect([...problemCheck.Errors(over.body)]).toEqual([]);
    expect(over.body.details).toMatchObject([{ type: 'too large' }]);
    expect(await userIds(account)).toEqual([]);
    const just = await account.push(padded(maxBytes), { 'content-encoding': 'gzip' });
    expect(just.status).toBe(200);
    expect(await userIds(account)).toEqual(['1']);
  });

  test('responds with 413 to a gigabyte compressed into a megabyte', async () => {
    const account = await world.account();
    const megabytes = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => megabytes)); // gzip members follow one another
    expect(bomb.length).toBeLessThan(2 * 1024 * 1024);
    const response = await account.push(bomb, { 'content-encoding': 'gzip' });
    expect(response.status).toBe(413);
    expect(await runOf(account, response.body.id)).toMatchObject({ outcome: 'refused' });
  });

  // Query plans that the database made for small tables must not be reused for large ones: that would take minutes.
  test('applies 20,000 users and 1,000 groups in seconds, even after many small requests', async () => {
    const small = await world.account();
    for (let i = 0; i < 60; i++) {
      await apply(small, {
        groups: [unit('a'), unit('b', { parent: 'a' })],
        users: [person(`u${i}`, { accessInfo: { memberOf: ['a'] } })],
      });
    }
    const account = await world.account();
    const data = {
      groups: list(1000, 'g', unit),
      users: Array.from({ length: 20_000 }, (_, i) =>
        person(`u${i}`, { email: `u${i}@example.org`, accessInfo: { memberOf: [`g${i % 1000}`] } }),
      ),
    };
    const start = performance.now();
    const report = await apply(account, data, noLimits);
    expect(performance.now() - start).toBeLessThan(40_000);
    expect(report.summary.users.created).toBe(20_000);
    expect(report.summary.groups.created).toBe(1_000);
    const [count] = await world.pool`
      select count(*)::integer as n from memberships where account_id = ${account.id}`;
    expect(count?.['n']).toBe(20_000);
    expect((await apply(account, data)).changes).toEqual([]);
  });
});
