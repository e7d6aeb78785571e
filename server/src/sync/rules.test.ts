// Every rule of the organization interface (§2.2, §3, §4.2, decisions B1 to B14), one by one, through HTTP.
import { Report } from '@soundings/contract/organization.ts';
import { Problem, type Detail } from '@soundings/contract/problem.ts';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { createGroup } from '../people/groups.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { createUser } from '../people/users.ts';
import { apply, noLimits, person, rowsOf, unit } from '../testing/organizations.ts';
import { until } from '../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../testing/world.ts';

let world: World;
const logged: string[] = [];
beforeAll(async () => {
  world = await openWorld(pino({ level: 'info' }, { write: (line: string) => void logged.push(line) }));
});
afterAll(() => world.close());

const reportCheck = Compile(Report);
const problemCheck = Compile(Problem);
const settings = { validateOnly: false };
const sixLimits = Object.keys(noLimits) as (keyof typeof noLimits)[];
const administrator = { accessInfo: { role: 'Administrator' } };

/** Pushes what must be refused: 400 with the error body, and not a row written. Returns the details. */
async function refused(account: TestAccount, body: unknown): Promise<Detail[]> {
  const before = await rowsOf(world.pool, account.id);
  const answer = await account.push(body);
  expect({ status: answer.status, body: answer.body }).toMatchObject({ status: 400 });
  expect([...problemCheck.Errors(answer.body)]).toEqual([]);
  expect(answer.body.id).toBe(answer.headers.get('x-request-id'));
  expect(answer.body.message).toContain('Nothing was applied');
  expect(answer.body.details.length).toBeGreaterThan(0);
  expect(await rowsOf(world.pool, account.id)).toEqual(before);
  return answer.body.details;
}

const refusedData = (account: TestAccount, data: object, more: object = {}) =>
  refused(account, { settings: { ...settings, ...more }, data });

/** Leaves those who were pushed as the only administrators: confirmed, while the others are not active. */
const onlyManagedAdministrators = async ({ id }: TestAccount) =>
  world.pool`update users set role_pending = false, active = active and managed where account_id = ${id}`;

const byHand = {
  group: (account: TestAccount, group: { name: string; externalId?: string; parentId?: number }) =>
    inTransaction(world.pool, (tx) => createGroup(tx, account.id, group)),
  user: (
    account: TestAccount,
    { memberOf = [], ...user }: { externalId?: string; email?: string; memberOf?: number[] },
  ) =>
    inTransaction(world.pool, (tx) =>
      createUser(tx, account.id, {
        firstName: 'By',
        lastName: 'Hand',
        ...user,
        memberships: { memberOf },
      }),
    ),
  attribute: (account: TestAccount, name: string, allowedValues: string[] | null = null) =>
    inTransaction(world.pool, (tx) => defineAttribute(tx, account.id, { name, allowedValues })),
};

async function userOf(account: TestAccount, externalId: string) {
  const [row] = await world.pool`
    select first_name, last_name, email, phone, active, timezone, language, role, attributes
    from   users where account_id = ${account.id} and external_id = ${externalId}`;
  return row;
}

/** The managed users' externalIds. */
const userIds = async (account: TestAccount) =>
  (
    await world.pool`
      select external_id from users where account_id = ${account.id} and managed order by external_id`
  ).map((row) => row['external_id'] as string);

/** All groups by name, each with the name of the one above. */
async function tree(account: TestAccount): Promise<Record<string, string | null>> {
  const rows = await world.pool<{ name: string; parent: string | null }[]>`
    select g.name, p.name as parent
    from   groups g
    left   join groups p on p.account_id = g.account_id and p.group_id = g.parent_id
    where  g.account_id = ${account.id}`;
  return Object.fromEntries(rows.map(({ name, parent }) => [name, parent]));
}

/** The entries of one user as "kind: group names". */
async function entries(account: TestAccount, externalId: string): Promise<string[]> {
  const rows = await world.pool<{ entry: string }[]>`
    select m.kind || ': ' || string_agg(g.name, ' ' order by g.name) as entry
    from   memberships m
    join   users u using (account_id, user_id)
    join   groups g using (account_id, group_id)
    where  m.account_id = ${account.id} and u.external_id = ${externalId}
    group  by m.kind
    order  by 1`;
  return rows.map(({ entry }) => entry);
}

const runOf = async (account: TestAccount, id: string) =>
  (await world.pool`select * from runs where account_id = ${account.id} and run_id = ${id}`)[0];

const byPath = (a: unknown[], b: unknown[]) => (String(a[1]) < String(b[1]) ? -1 : 1);

const list = (count: number, prefix: string, make: (id: string) => object) =>
  Array.from({ length: count }, (_, i) => make(`${prefix}${i}`));

describe('B1: the report', () => {
  test('it is of the documented shape, names every change with before and after, and carries the request id', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a', { description: 'Old' }), unit('b'), unit('c')],
      users: [person('1'), person('2'), person('3', { accessInfo: { memberOf: ['a'] } })],
    });
    const answer = await account.push({
      settings,
      data: {
        groups: [unit('a', { description: 'New', parent: 'b' }), unit('b'), unit('d')],
        users: [person('4'), person('2', { lastName: 'Other' }), person('3')],
      },
    });
    expect(answer.status).toBe(200);
    expect([...reportCheck.Errors(answer.body)]).toEqual([]);
    expect(answer.body).toEqual({
      id: answer.headers.get('x-request-id'),
      validateOnly: false,
      applied: true,
      summary: {
        users: { created: 1, updated: 1, deleted: 1, unchanged: 1 },
        groups: { created: 1, updated: 1, deleted: 1, unchanged: 1 },
      },
      changes: [
        {
          entity: 'group',
          externalId: 'a',
          action: 'update',
          fields: { description: { from: 'Old', to: 'New' }, parent: { from: null, to: 'b' } },
        },
        { entity: 'group', externalId: 'd', action: 'create' },
        { entity: 'group', externalId: 'c', action: 'delete' },
        { entity: 'user', externalId: '4', action: 'create' },
        {
          entity: 'user',
          externalId: '2',
          action: 'update',
          fields: { lastName: { from: 'Last', to: 'Other' } },
        },
        { entity: 'user', externalId: '1', action: 'delete' },
      ],
      warnings: [],
    });
  });

  test('a dry run answers what the real run then answers, and writes nothing', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b')], users: [person('1'), person('2')] });
    const data = {
      groups: [unit('b', { parent: 'c' }), unit('c', { colour: 'red' })],
      users: [person('2', { email: 'two@example.org', accessInfo: { adminOf: ['c', 'c'] } }), person('3')],
    };
    const before = await rowsOf(world.pool, account.id);
    const dry = await account.push({ settings: { validateOnly: true }, data });
    expect(dry.status).toBe(200);
    expect([...reportCheck.Errors(dry.body)]).toEqual([]);
    expect(dry.body.warnings).toHaveLength(2);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    const real = await account.push({ settings, data });
    expect(dry.body).toMatchObject({ validateOnly: true, applied: false });
    expect({ ...dry.body, id: 0 }).toEqual({ ...real.body, id: 0, validateOnly: true, applied: false });
  });

  test('a dry run of what the real run refuses is refused with the same faults', async () => {
    const account = await world.account();
    const data = {
      users: [person('1', { accessInfo: { memberOf: ['nowhere'] } }), person('2', { email: 'no' })],
    };
    const dry = await refused(account, { data });
    expect(await refusedData(account, data)).toEqual(dry);
  });

  test('each kind of change is reported by name: memberships, attributes and role among them', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'gender', ['Male', 'Female']);
    await apply(account, { groups: [unit('a'), unit('b')], users: [person('1')] });
    const report = await apply(account, {
      users: [
        person('1', {
          email: 'One@example.org',
          phone: '+46701234567',
          active: false,
          timezone: 'Europe/Stockholm',
          accessInfo: { memberOf: ['b', 'a'], interestOf: ['a'], role: 'Manager' },
          externalProperties: { gender: 'Female' },
        }),
      ],
    });
    expect(report.changes[0]?.fields).toEqual({
      email: { from: null, to: 'One@example.org' },
      phone: { from: null, to: '+46701234567' },
      active: { from: true, to: false },
      timezone: { from: null, to: 'Europe/Stockholm' },
      role: { from: 'User', to: 'Manager' },
      'externalProperties.gender': { from: null, to: 'Female' },
      memberOf: { from: [], to: ['a', 'b'] },
      interestOf: { from: [], to: ['a'] },
    });
  });
});

describe('B2: all or nothing', () => {
  test('every fault of the form is listed with its place, and nothing is applied', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      groups: [unit('a'), { externalId: 'b' }, unit('a')],
      users: [
        person('1', { email: 'no', phone: '070', timezone: 'Mars/Olympus', language: 'xx' }),
        person(' 2'),
        { externalId: '3', firstName: 5 },
      ],
    });
    const found = details.map(({ type, path, externalId }) => [type, path, externalId]);
    expect(found.toSorted(byPath)).toEqual([
      ['missing field', '/data/groups/1/name', 'b'],
      ['duplicate externalId', '/data/groups/2/externalId', 'a'],
      ['invalid email', '/data/users/0/email', '1'],
      ['invalid language', '/data/users/0/language', '1'],
      ['invalid phone', '/data/users/0/phone', '1'],
      ['invalid timezone', '/data/users/0/timezone', '1'],
      ['invalid externalId', '/data/users/1/externalId', ' 2'],
      ['wrong type', '/data/users/2/firstName', '3'],
      ['missing field', '/data/users/2/lastName', '3'],
    ]);
  });

  test('a field that is missing hides no other fault of the same user', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      users: [{ externalId: ' 1', firstName: 'A', email: 'no' }],
    });
    expect(details.map(({ type }) => type).toSorted()).toEqual([
      'invalid email',
      'invalid externalId',
      'missing field',
    ]);
  });

  test('a fault of the form hides no fault of the references: both are listed', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      groups: [unit('a', { parent: 'nowhere' })],
      users: [person('1', { email: 'no' }), person('2', { accessInfo: { memberOf: ['nothing'] } })],
    });
    expect(details.map(({ type }) => type).toSorted()).toEqual([
      'invalid email',
      'unknown group',
      'unknown parent',
    ]);
  });

  test('each of many wrong values in one list or object is listed', async () => {
    const account = await world.account();
    const wrong = Array.from({ length: 20 }, (_, i) => i);
    const properties = Object.fromEntries(wrong.map((i) => [`p${i}`, i]));
    const details = await refusedData(account, {
      users: [person('1', { accessInfo: { memberOf: wrong }, externalProperties: properties })],
    });
    expect(details.filter(({ type }) => type === 'wrong type')).toHaveLength(40);
  });

  const places = (details: Detail[]) => details.map(({ type, path }) => [type, path]).toSorted(byPath);

  test('a wrong value in accessInfo or externalProperties hides none beside it', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'gender', ['Male', 'Female']);
    const details = await refusedData(account, {
      users: [
        person('1', { accessInfo: { memberOf: ['nope'], role: 'Boss', adminOf: 'a' } }),
        person('2', { accessInfo: { interestOf: [5, 'nope', 5], inheritedAdminOf: ['nowhere'] } }),
        person('3', { externalProperties: { gender: 'Other', size: 'L', age: 5 } }),
      ],
    });
    expect(places(details)).toEqual([
      ['wrong type', '/data/users/0/accessInfo/adminOf'],
      ['unknown group', '/data/users/0/accessInfo/memberOf/0'],
      ['out of range', '/data/users/0/accessInfo/role'],
      ['unknown group', '/data/users/1/accessInfo/inheritedAdminOf/0'],
      ['wrong type', '/data/users/1/accessInfo/interestOf/0'],
      ['unknown group', '/data/users/1/accessInfo/interestOf/1'],
      ['wrong type', '/data/users/1/accessInfo/interestOf/2'],
      ['wrong type', '/data/users/2/externalProperties/age'],
      ['value not allowed', '/data/users/2/externalProperties/gender'],
      ['unknown attribute', '/data/users/2/externalProperties/size'],
    ]);
  });

  test('a list of groups that is no list hides no fault of the users', async () => {
    const account = await world.account();
    const details = await refusedData(account, { groups: {}, users: [person('1', { email: 'no' })] });
    expect(places(details)).toEqual([
      ['wrong type', '/data/groups'],
      ['invalid email', '/data/users/0/email'],
    ]);
  });

  test.each([
    ['an invalid address', 'no'],
    ['a value of a wrong type', 5],
  ])('%s is one fault: the address that the user had is not said to be taken', async (_, email) => {
    const account = await world.account();
    await apply(account, { users: [person('1', { email: 'one@example.org' })] });
    const users = [person('1', { email }), person('2', { email: 'one@example.org' })];
    expect(places(await refusedData(account, { users }))).toEqual([
      [typeof email === 'string' ? 'invalid email' : 'wrong type', '/data/users/0/email'],
    ]);
  });

  test.each<[string, object, object]>([
    ['a wrong role', { accessInfo: { role: 'administrator' } }, {}],
    ['a missing externalId', {}, { externalId: undefined }],
  ])('%s is one fault: nothing is said of administrators', async (_, more, instead) => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    const details = await refusedData(account, { users: [{ ...person('1', more), ...instead }] });
    expect(details.map(({ path }) => path)).toEqual([
      'externalId' in instead ? '/data/users/0/externalId' : '/data/users/0/accessInfo/role',
    ]);
  });

  test('faults of users and groups without an externalId are listed by their places alone', async () => {
    const account = await world.account();
    const nameless = { firstName: 'A', lastName: 'B', email: 'x@example.org' };
    const accessInfo = { memberOf: ['nowhere'] };
    const details = await refusedData(account, {
      groups: [{ name: 'A', parent: 'nowhere' }],
      users: [
        { ...nameless, accessInfo },
        { ...nameless, externalId: 5 },
      ],
    });
    expect(details.flatMap(({ externalId }) => externalId ?? [])).toEqual([]);
    expect(JSON.stringify(details)).not.toContain('\\u0000');
    expect(new Set(details.map(({ path }) => path))).toEqual(
      new Set([
        '/data/groups/0/externalId',
        '/data/groups/0/parent',
        '/data/users/0/externalId',
        '/data/users/0/accessInfo/memberOf/0',
        '/data/users/1/externalId',
        '/data/users/1/email',
      ]),
    );
  });

  test('1,000 faults are all listed; of 1,003 the first 1,000, and that there are 3 more', async () => {
    const account = await world.account();
    const wrong = (count: number) => ({ users: list(count, 'u', (id) => person(id, { email: id })) });
    const all = await refusedData(account, wrong(1000));
    expect(all).toHaveLength(1000);
    expect(new Set(all.map(({ type }) => type))).toEqual(new Set(['invalid email']));
    const more = await refusedData(account, wrong(1003));
    expect(more).toHaveLength(1001);
    expect(more[999]).toMatchObject({ type: 'invalid email', path: '/data/users/999/email' });
    expect(more[1000]).toMatchObject({ type: 'more', message: expect.stringMatching(/\b3 more\b/) });
  });

  test(
    'a failure midway leaves not a row behind, tells nothing of the database, and the run says failed',
    { timeout: 10_000 },
    async () => {
      const account = await world.account();
      await apply(account, { groups: [unit('a')], users: [person('1')] });
      await world.pool.unsafe(`
      create function refuse_membership() returns trigger language plpgsql
      as $$ begin raise exception 'secret of the database'; end $$;
      create trigger refuse_membership before insert on memberships
      for each row when (new.account_id = ${account.id}) execute function refuse_membership()`);
      const before = await rowsOf(world.pool, account.id);
      const body = {
        settings,
        data: { groups: [unit('b')], users: [person('2', { accessInfo: { memberOf: ['b'] } })] },
      };
      const answer = await account.push(body);
      expect(answer.status).toBe(500);
      expect([...problemCheck.Errors(answer.body)]).toEqual([]);
      expect(JSON.stringify(answer.body)).not.toContain('secret');
      expect(await rowsOf(world.pool, account.id)).toEqual(before);
      expect(await runOf(account, answer.body.id)).toMatchObject({ outcome: 'failed', validate_only: false });
      await world.pool.unsafe(
        'drop trigger refuse_membership on memberships; drop function refuse_membership',
      );
      expect((await account.push(body)).status).toBe(200);
    },
  );
});

describe('B3: what is left out', () => {
  test.each([
    ['settings', { data: { users: [], groups: [] } }],
    ['validateOnly', { settings: {}, data: { users: [], groups: [] } }],
  ])('without %s a request is a dry run', async (_, body) => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')], users: [person('1')] });
    const before = await rowsOf(world.pool, account.id);
    const answer = await account.push(body);
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
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
    const answer = await account.push(body);
    expect(answer.status).toBe(200);
    expect(answer.body.changes).toEqual([]);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
  });

  test('a list that is missing leaves its kind alone', async () => {
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

  test('an empty list removes every managed entity of its kind, and nothing made by hand', async () => {
    const account = await world.account();
    const hand = await byHand.group(account, { name: 'Hand' });
    await byHand.user(account, { externalId: 'hand', memberOf: [hand] });
    await apply(account, {
      groups: [unit('a'), unit('b', { parent: 'a' })],
      users: [person('1'), person('2')],
    });
    expect((await apply(account, { users: [] })).summary.users).toMatchObject({ deleted: 2 });
    expect(await userIds(account)).toEqual([]);
    expect(await tree(account)).toEqual({ a: null, b: 'a', Hand: null });
    expect((await apply(account, { groups: [] })).summary.groups).toMatchObject({ deleted: 2 });
    expect(await tree(account)).toEqual({ Hand: null });
    expect(await entries(account, 'hand')).toEqual(['memberOf: Hand']);
  });
});

describe('B4: unknown keys and wrong types', () => {
  test.each([
    ['at the top', { setings: { validateOnly: true } }, '/setings'],
    ['at the top, by letter case', { Settings: { validateOnly: true } }, '/Settings'],
    ['in settings', { settings: { ...settings, maxUserDeleted: 0 } }, '/settings/maxUserDeleted'],
    ['in settings, by letter case', { settings: { validateonly: true } }, '/settings/validateonly'],
    ['in data', { settings, data: { users: [], group: [] } }, '/data/group'],
    ['with a slash and a tilde', { settings: { 'a/b~c': 1 } }, '/settings/a~1b~0c'],
    ['named __proto__', '{"settings":{"validateOnly":false,"__proto__":{}}}', '/settings/__proto__'],
    ['named constructor', { settings, constructor: {} }, '/constructor'],
  ])('a key that is unknown %s is an error', async (_, body, path) => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    expect(await refused(account, body)).toEqual([
      { type: 'unknown field', message: expect.any(String), path },
    ]);
  });

  test('a key that is nearly a known one is answered by that one', async () => {
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

  test('a key that is unknown in a user, accessInfo or group is a warning, and the rest is applied', async () => {
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
    'validateOnly %s is not a boolean, and nothing is applied',
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
  ])('nothing is converted: the wrong type at "%s" is an error (%j)', async (path, body) => {
    const account = await world.account();
    await byHand.attribute(account, 'a');
    expect(await refused(account, body)).toEqual([
      expect.objectContaining({ type: 'wrong type', path, message: expect.any(String) }),
    ]);
  });

  test('a value that is no longer allowed is a fault, also when nothing else has changed', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'size');
    const data = { users: [person('1', { externalProperties: { size: 'Huge' } })] };
    await apply(account, data);
    await byHand.attribute(account, 'size', ['Small', 'Large']);
    const answer = await account.push({ settings, data });
    expect(answer.status).toBe(400);
    expect(answer.body.details.map(({ type }) => type)).toEqual(['value not allowed']);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])('an attribute may be called %s', async (name) => {
    const account = await world.account();
    await byHand.attribute(account, name);
    await apply(account, { users: [person('1')] });
    const set = await apply(account, { users: [person('1', { externalProperties: { [name]: 'x' } })] });
    expect(set.changes[0]?.fields).toEqual({ [`externalProperties.${name}`]: { from: null, to: 'x' } });
    const cleared = await apply(account, { users: [person('1', { externalProperties: { [name]: null } })] });
    expect(cleared.changes[0]?.fields).toEqual({ [`externalProperties.${name}`]: { from: 'x', to: null } });
  });

  test('the value of an attribute is a text, whatever the name of the attribute', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'two\nlines');
    const details = await refusedData(account, {
      users: [person('1', { externalProperties: { 'two\nlines': 5 } })],
    });
    expect(details.map(({ type }) => type)).toEqual(['wrong type']);
  });

  test('a key that is given twice is an error: neither value is taken', async () => {
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
  ])('a text with %s is an error with its place', async (_, text) => {
    const account = await world.account();
    const body = `{"data":{"groups":[{"externalId":"a","name":"a"},{"externalId":"b","name":"x${text}"}]}}`;
    expect(await refused(account, body)).toMatchObject([
      { type: 'invalid text', path: '/data/groups/1/name' },
    ]);
  });
});

describe('B5: the limits', () => {
  test.each(sixLimits)('%s is a whole number from 0 to 20,000', async (setting) => {
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

  /** An account in which `next` creates 1, updates 2 and deletes 3 of each kind. */
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
    '%s: one less than needed refuses the request whole, as many let it pass',
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

  test('each limit that is exceeded is named, also in a dry run', async () => {
    const { account, next } = await prepared();
    const zero = Object.fromEntries(sixLimits.map((setting) => [setting, 0]));
    const details = await refusedData(account, next, zero);
    expect(details.map(({ type, setting, limit, count }) => [type, setting, limit, count])).toEqual(
      counts.map(([setting, count]) => ['limit exceeded', setting, 0, count]),
    );
    expect(await refused(account, { settings: zero, data: next })).toEqual(details);
  });

  test('a limit that cannot be raised far enough is not advised: the change is made in steps', async () => {
    const account = await world.account();
    const users = list(20_001, 'u', person);
    const [detail] = await refusedData(account, { users });
    expect(detail).toMatchObject({ type: 'limit exceeded', setting: 'maxUsersCreated', count: 20_001 });
    expect(detail?.message).toMatch(/at most 20000/);
    expect(detail?.message).not.toMatch(/to 20001/);
    expect(detail?.message).toContain('steps');
  });

  test('limits of 0 let a request pass that changes nothing', async () => {
    const { account } = await prepared();
    const zero = Object.fromEntries(sixLimits.map((setting) => [setting, 0]));
    const same = { groups: list(5, 'g', unit), users: list(5, 'u', person) };
    expect((await apply(account, same, zero)).changes).toEqual([]);
  });

  test('each is 200 when nothing is said: 200 changes of a kind pass, 201 do not', async () => {
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

describe('B6: what counts', () => {
  test('a user counts once, whatever the number of fields and memberships that change', async () => {
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

  test('a changed membership alone counts as an update of the user, not of the group', async () => {
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

  test('what is unchanged is not written: another order, names given twice and unknown keys make no change', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'x');
    await byHand.attribute(account, 'y');
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

describe('B7: what an omitted field means', () => {
  const full = {
    email: 'one@example.org',
    phone: '+46701234567',
    active: false,
    timezone: 'Europe/Stockholm',
    language: 'sv',
    accessInfo: {
      memberOf: ['a'],
      adminOf: ['a'],
      inheritedAdminOf: ['a'],
      interestOf: ['a'],
      role: 'Manager',
    },
    externalProperties: { gender: 'Female', town: 'Umeå' },
  };
  async function prepared() {
    const account = await world.account();
    await byHand.attribute(account, 'gender', ['Male', 'Female']);
    await byHand.attribute(account, 'town');
    await apply(account, {
      groups: [unit('a', { description: 'A' }), unit('b')],
      users: [person('1', full)],
    });
    return account;
  }

  test('of a new user and group: no e-mail, phone, description, groups or attributes, active, company defaults, role User', async () => {
    const account = await world.account({ timezone: 'Europe/Paris', language: 'fr' });
    await apply(account, { groups: [unit('a')], users: [person('1')] });
    expect(await userOf(account, '1')).toEqual({
      first_name: 'First',
      last_name: 'Last',
      email: null,
      phone: null,
      active: true,
      timezone: null,
      language: null,
      role: 'User',
      attributes: {},
    });
    expect((await account.groups())[0]).not.toHaveProperty('description');
  });

  test('of a user: accessInfo, role, attributes, language, e-mail and phone stay; active and timezone are the defaults', async () => {
    const account = await prepared();
    const report = await apply(account, { users: [person('1')] });
    expect(report.changes[0]?.fields).toEqual({
      active: { from: false, to: true },
      timezone: { from: 'Europe/Stockholm', to: null },
    });
    expect(await userOf(account, '1')).toMatchObject({
      email: 'one@example.org',
      phone: '+46701234567',
      active: true,
      timezone: null,
      language: 'sv',
      role: 'Manager',
      attributes: { gender: 'Female', town: 'Umeå' },
    });
    expect(await entries(account, '1')).toEqual([
      'adminOf: a',
      'inheritedAdminOf: a',
      'interestOf: a',
      'memberOf: a',
    ]);
  });

  test('the description of a group stays when it is left out, null clears it', async () => {
    const account = await prepared();
    expect((await apply(account, { groups: [unit('a'), unit('b')] })).changes).toEqual([]);
    expect((await account.groups())[0]?.description).toBe('A');
    const cleared = await apply(account, { groups: [unit('a', { description: null }), unit('b')] });
    expect(cleared.changes[0]?.fields).toEqual({ description: { from: 'A', to: null } });
    expect((await account.groups())[0]).not.toHaveProperty('description');
  });

  test('an empty description is a text, not the absence of one', async () => {
    const account = await prepared();
    await apply(account, { groups: [unit('a', { description: '' }), unit('b')] });
    expect((await account.groups())[0]?.description).toBe('');
  });

  test('null clears the e-mail address, the phone number and an attribute; a null more changes nothing', async () => {
    const account = await prepared();
    const cleared = person('1', { ...full, email: null, phone: null, externalProperties: { gender: null } });
    const report = await apply(account, { users: [cleared] });
    expect(report.changes[0]?.fields).toEqual({
      email: { from: 'one@example.org', to: null },
      phone: { from: '+46701234567', to: null },
      'externalProperties.gender': { from: 'Female', to: null },
    });
    expect(await userOf(account, '1')).toMatchObject({
      email: null,
      phone: null,
      attributes: { town: 'Umeå' },
    });
    const again = await apply(account, {
      users: [
        person('1', {
          ...full,
          email: null,
          phone: null,
          externalProperties: { gender: null, town: 'Umeå' },
        }),
      ],
    });
    expect(again.changes).toEqual([]);
  });

  test('an attribute that is given is set, the others stay', async () => {
    const account = await prepared();
    await apply(account, { users: [person('1', { externalProperties: { gender: 'Male' } })] });
    expect((await userOf(account, '1'))?.['attributes']).toEqual({ gender: 'Male', town: 'Umeå' });
  });

  test('an attribute must be defined on the account, its value one of those allowed; clearing an undefined one is an error too', async () => {
    const account = await prepared();
    const details = await refusedData(account, {
      users: [
        person('1', { externalProperties: { gender: 'male' } }),
        person('2', { externalProperties: { height: '180' } }),
        person('3', { externalProperties: { height: null } }),
        person('4', { externalProperties: { 'a/b': 'x' } }),
      ],
    });
    expect(details.map(({ type, path }) => [type, path])).toEqual([
      ['value not allowed', '/data/users/0/externalProperties/gender'],
      ['unknown attribute', '/data/users/1/externalProperties/height'],
      ['unknown attribute', '/data/users/2/externalProperties/height'],
      ['unknown attribute', '/data/users/3/externalProperties/a~1b'],
    ]);
  });

  test('a kind of accessInfo that is left out stays, one that is given replaces its own kind alone', async () => {
    const account = await prepared();
    await apply(account, { users: [person('1', { ...full, accessInfo: { memberOf: ['b'], adminOf: [] } })] });
    expect(await entries(account, '1')).toEqual(['inheritedAdminOf: a', 'interestOf: a', 'memberOf: b']);
    expect((await userOf(account, '1'))?.['role']).toBe('Manager');
  });

  test('language is set when the user is created, and after that left to the user', async () => {
    const account = await prepared();
    expect((await apply(account, { users: [person('1', { ...full, language: 'de' })] })).changes).toEqual([]);
    expect((await userOf(account, '1'))?.['language']).toBe('sv');
  });

  test('forceSetLanguage sets language on existing users at every run; left out, it stays all the same', async () => {
    const account = await prepared();
    const users = [person('1', { ...full, language: 'de' })];
    const report = await apply(account, { users }, { forceSetLanguage: true });
    expect(report.changes[0]?.fields).toEqual({ language: { from: 'sv', to: 'de' } });
    // The user's own choice, as an administrator or the user would make it by hand.
    await world.pool`
      update users set language = 'fi', fingerprint = null
      where account_id = ${account.id} and external_id = '1'`;
    expect((await apply(account, { users })).changes).toEqual([]);
    expect((await userOf(account, '1'))?.['language']).toBe('fi');
    await apply(account, { users }, { forceSetLanguage: true });
    expect((await userOf(account, '1'))?.['language']).toBe('de');
    const { language: _, ...without } = full;
    await apply(account, { users: [person('1', without)] }, { forceSetLanguage: true });
    expect((await userOf(account, '1'))?.['language']).toBe('de');
  });

  test('sent twice without forceSetLanguage and then with it, the language is set: nothing was remembered wrongly', async () => {
    const account = await prepared();
    const users = [person('1', { ...full, language: 'de' })];
    await apply(account, { users });
    await apply(account, { users });
    const report = await apply(account, { users }, { forceSetLanguage: true });
    expect(report.changes[0]?.fields).toEqual({ language: { from: 'sv', to: 'de' } });
  });

  test('the externalId decides who is who: a changed one is another user and another group, with another id', async () => {
    const account = await prepared();
    const before = (await account.groups()).map(({ id }) => id);
    const report = await apply(account, {
      groups: [unit('a2', { name: 'a' }), unit('B', { name: 'b' })],
      users: [person('1 ext', { email: 'one@example.org' })],
    });
    expect(report.summary).toEqual({
      users: { created: 1, updated: 0, deleted: 1, unchanged: 0 },
      groups: { created: 2, updated: 0, deleted: 2, unchanged: 0 },
    });
    const after = (await account.groups()).map(({ id }) => id);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
  });
});

describe('B8: parent', () => {
  test('when any group has the key, the request is the whole tree: a group without it is at the top', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })] });
    expect(await tree(account)).toEqual({ a: null, b: 'a', c: 'b' });
    const report = await apply(account, { groups: [unit('a'), unit('b'), unit('c', { parent: 'a' })] });
    expect(report.changes.map(({ externalId, fields }) => [externalId, fields])).toEqual([
      ['b', { parent: { from: 'a', to: null } }],
      ['c', { parent: { from: 'b', to: 'a' } }],
    ]);
    expect(await tree(account)).toEqual({ a: null, b: null, c: 'a' });
  });

  test('null has the say too: one group with parent null, and all others without the key are at the top', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })] });
    await apply(account, { groups: [unit('a', { parent: null }), unit('b'), unit('c')] });
    expect(await tree(account)).toEqual({ a: null, b: null, c: null });
  });

  test('when none has it, existing groups keep their place and new ones start at the top', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' })] });
    const report = await apply(account, { groups: [unit('c'), unit('b'), unit('a')] });
    expect(report.summary.groups).toEqual({ created: 1, updated: 0, deleted: 0, unchanged: 2 });
    expect(await tree(account)).toEqual({ a: null, b: 'a', c: null });
  });

  test('a parent may come later in the list, and may be new itself', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('c', { parent: 'b' }), unit('b', { parent: 'a' }), unit('a')] });
    expect(await tree(account)).toEqual({ a: null, b: 'a', c: 'b' });
  });

  test('a parent may be a group made by hand that has that externalId', async () => {
    const account = await world.account();
    await byHand.group(account, { name: 'Hand', externalId: 'hand' });
    await apply(account, { groups: [unit('a', { parent: 'hand' }), unit('b')] });
    expect(await tree(account)).toEqual({ a: 'Hand', b: null, Hand: null });
    const report = await apply(account, { groups: [unit('a', { parent: 'b' }), unit('b')] });
    expect(report.changes[0]?.fields).toEqual({ parent: { from: 'hand', to: 'b' } });
  });

  test('two groups can trade places in one request', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })] });
    await apply(account, { groups: [unit('c'), unit('b', { parent: 'c' }), unit('a', { parent: 'b' })] });
    expect(await tree(account)).toEqual({ c: null, b: 'c', a: 'b' });
  });

  test('a parent that does not exist is an error, and one that the request removes is said to be', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')] });
    const details = await refusedData(account, {
      groups: [unit('b', { parent: 'a' }), unit('c', { parent: 'nowhere' }), unit('d', { parent: '' })],
    });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['unknown parent', '/data/groups/0/parent', 'b'],
      ['unknown parent', '/data/groups/1/parent', 'c'],
      ['unknown parent', '/data/groups/2/parent', 'd'],
    ]);
    expect(details[0]?.message).toMatch(/"a".*would be removed/);
    expect(details[1]?.message).toContain('Parent group "nowhere" does not exist');
  });

  test('a group beneath itself is an error', async () => {
    const account = await world.account();
    const details = await refusedData(account, { groups: [unit('b'), unit('a', { parent: 'a' })] });
    expect(details).toMatchObject([{ type: 'cycle', path: '/data/groups/1/parent', externalId: 'a' }]);
    expect(details[0]?.message).toContain('"a" → "a"');
  });

  test('each cycle is named in full, once', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      groups: [
        unit('a', { parent: 'c' }),
        unit('b', { parent: 'a' }),
        unit('c', { parent: 'b' }),
        unit('x', { parent: 'y' }),
        unit('y', { parent: 'x' }),
        unit('tail', { parent: 'a' }),
        unit('fine'),
      ],
    });
    expect(details.map(({ type, path }) => [type, path])).toEqual([
      ['cycle', '/data/groups/0/parent'],
      ['cycle', '/data/groups/3/parent'],
    ]);
    expect(details[0]?.message).toContain('"a" → "c" → "b" → "a"');
    expect(details[1]?.message).toContain('"x" → "y" → "x"');
  });

  test('a cycle by way of a group made by hand is an error that names it', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')] });
    const [a] = await account.groups();
    const middle = await byHand.group(account, { name: 'Middle', parentId: a!.id });
    await byHand.group(account, { name: 'Hand', externalId: 'hand', parentId: middle });
    const details = await refusedData(account, { groups: [unit('a', { parent: 'hand' })] });
    expect(details).toMatchObject([{ type: 'cycle', path: '/data/groups/0/parent', externalId: 'a' }]);
    expect(details[0]?.message).toContain(`"a" → "hand" → group ${middle} → "a"`);
  });

  test('a tree has at most 100 levels: the 101st is an error', async () => {
    const account = await world.account();
    const chain = (levels: number) =>
      Array.from({ length: levels }, (_, i) => unit(`g${i}`, i > 0 ? { parent: `g${i - 1}` } : {}));
    const details = await refusedData(account, { groups: chain(101) });
    expect(details).toMatchObject([
      { type: 'too deep', path: '/data/groups/100/parent', externalId: 'g100' },
    ]);
    await apply(account, { groups: chain(100) });
  });
});

describe('B9: accessInfo', () => {
  test('a kind that is given replaces the entries in managed groups; those in groups made by hand are never removed', async () => {
    const account = await world.account();
    const hand = await byHand.group(account, { name: 'Hand' });
    await byHand.group(account, { name: 'Named', externalId: 'named' });
    await apply(account, { groups: [unit('a'), unit('b')], users: [person('1')] });
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      select account_id, user_id, 'memberOf', ${hand}
      from   users where account_id = ${account.id} and external_id = '1'`;
    const push = (memberOf: string[]) =>
      apply(account, { users: [person('1', { accessInfo: { memberOf } })] });
    const joined = await push(['a', 'named']);
    expect(joined.changes[0]?.fields).toEqual({ memberOf: { from: [], to: ['a', 'named'] } });
    expect(await entries(account, '1')).toEqual(['memberOf: Hand Named a']);
    await push(['b']);
    expect(await entries(account, '1')).toEqual(['memberOf: Hand Named b']);
    await push([]);
    expect(await entries(account, '1')).toEqual(['memberOf: Hand Named']);
    expect((await push([])).changes).toEqual([]);
  });

  test('each of the four kinds is kept by itself', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b')],
      users: [
        person('1', {
          accessInfo: {
            memberOf: ['a', 'b'],
            adminOf: ['a'],
            inheritedAdminOf: ['b'],
            interestOf: ['b', 'a'],
          },
        }),
      ],
    });
    expect(await entries(account, '1')).toEqual([
      'adminOf: a',
      'inheritedAdminOf: b',
      'interestOf: a b',
      'memberOf: a b',
    ]);
  });

  test('an unknown group is an error with its place; so is one that the request removes, and one without externalId by its name', async () => {
    const account = await world.account();
    await byHand.group(account, { name: 'Hand' });
    await apply(account, { groups: [unit('a'), unit('b')] });
    const details = await refusedData(account, {
      groups: [unit('b')],
      users: [person('1', { accessInfo: { memberOf: ['b', 'a'], interestOf: ['Hand'] } })],
    });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['unknown group', '/data/users/0/accessInfo/memberOf/1', '1'],
      ['unknown group', '/data/users/0/accessInfo/interestOf/0', '1'],
    ]);
    expect(details[0]?.message).toMatch(/"a".*would be removed/);
  });

  test('without a list of groups, the managed groups there are can be named; with one, only those of it', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')] });
    await apply(account, { users: [person('1', { accessInfo: { memberOf: ['a'] } })] });
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
    const details = await refusedData(account, {
      groups: [],
      users: [person('1', { accessInfo: { memberOf: ['a'] } })],
    });
    expect(details).toMatchObject([{ type: 'unknown group' }]);
  });

  test('a group named twice counts once, with a warning', async () => {
    const account = await world.account();
    const report = await apply(account, {
      groups: [unit('a')],
      users: [person('1', { accessInfo: { memberOf: ['a', 'a'] } })],
    });
    expect(report.warnings).toMatchObject([
      { type: 'named twice', path: '/data/users/0/accessInfo/memberOf' },
    ]);
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
  });
});

describe('B10: externalIds', () => {
  test('a duplicate is an error that names both places, in each list; each kind has externalIds of its own', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      groups: [unit('a'), unit('b'), unit('a')],
      users: [person('a'), person('b'), person('c'), person('b'), person('b')],
    });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['duplicate externalId', '/data/groups/2/externalId', 'a'],
      ['duplicate externalId', '/data/users/3/externalId', 'b'],
      ['duplicate externalId', '/data/users/4/externalId', 'b'],
    ]);
    expect(details[0]?.message).toContain('/data/groups/0');
    expect(details[1]?.message).toContain('/data/users/1');
    await apply(account, { groups: [unit('a')], users: [person('a')] });
  });

  test('one of a user or group made by hand is an error: it is never taken over', async () => {
    const account = await world.account();
    await byHand.group(account, { name: 'Hand', externalId: 'g' });
    await byHand.user(account, { externalId: 'u' });
    const details = await refusedData(account, { groups: [unit('g')], users: [person('u')] });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['manually created', '/data/groups/0/externalId', 'g'],
      ['manually created', '/data/users/0/externalId', 'u'],
    ]);
  });

  test('it is compared exactly: letter case and composition tell two apart', async () => {
    const account = await world.account();
    const ids = ['abc', 'ABC', '\u00e9', 'e\u0301', '1', '01'];
    const report = await apply(account, {
      groups: ids.map((id) => unit(id)),
      users: ids.map((id) => person(id)),
    });
    expect(report.summary.users.created).toBe(ids.length);
    expect((await account.groups()).map(({ externalId }) => externalId)).toEqual(ids);
  });

  test('it has 1 to 255 characters, no white space at its ends and no control characters', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('😀'.repeat(255), { name: 'x' }), unit('a b')] });
    const wrong = ['', ' ', 'a ', '\ta', 'a\u00a0', 'a\u0007b', 'a\u009fb', 'x'.repeat(256)];
    const details = await refusedData(account, { groups: wrong.map((id) => unit(id, { name: 'x' })) });
    expect(details.map(({ type, path }) => [type, path])).toEqual(
      wrong.map((_, i) => ['invalid externalId', `/data/groups/${i}/externalId`]),
    );
  });

  test('names such as __proto__, constructor and toString are externalIds like any other', async () => {
    const account = await world.account();
    const ids = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
    await apply(account, {
      groups: ids.map((id, i) => unit(id, i > 0 ? { parent: ids[i - 1] } : {})),
      users: ids.map((id) => person(id, { accessInfo: { memberOf: [id] } })),
    });
    expect((await account.groups()).map(({ externalId }) => externalId)).toEqual(ids);
    expect(await entries(account, '__proto__')).toEqual(['memberOf: __proto__']);
    expect((await apply(account, { groups: [], users: [] })).summary.users.deleted).toBe(4);
  });
});

describe('B11: the forms of values', () => {
  test('e-mail addresses are unique in an account, letter case aside; they are kept as sent', async () => {
    const account = await world.account();
    const details = await refusedData(account, {
      users: [person('1', { email: 'Anna@Example.org' }), person('2', { email: 'anna@example.ORG' })],
    });
    expect(details).toMatchObject([
      { type: 'duplicate email', path: '/data/users/1/email', externalId: '2' },
    ]);
    expect(details[0]?.message).toContain('/data/users/0');
    await apply(account, { users: [person('1', { email: 'Anna@Example.org' })] });
    expect((await userOf(account, '1'))?.['email']).toBe('Anna@Example.org');
    const renamed = await apply(account, { users: [person('1', { email: 'ANNA@example.org' })] });
    expect(renamed.changes[0]?.fields).toEqual({
      email: { from: 'Anna@Example.org', to: 'ANNA@example.org' },
    });
  });

  test('the address of a user made by hand cannot be taken', async () => {
    const account = await world.account();
    expect(await refusedData(account, { users: [person('1', { email: 'ADA@example.org' })] })).toMatchObject([
      { type: 'duplicate email', path: '/data/users/0/email', externalId: '1' },
    ]);
  });

  test('an address that is kept because it was left out is taken all the same: the fault is where one was sent', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { email: 'one@example.org' }), person('3')] });
    const newcomer = person('2', { email: 'one@example.org' });
    for (const keeper of [person('1'), person('1', { lastName: 'Changed' })]) {
      for (const users of [
        [newcomer, keeper],
        [keeper, newcomer],
      ]) {
        const details = await refusedData(account, { users });
        const path = `/data/users/${users.indexOf(newcomer)}/email`;
        expect(details).toMatchObject([{ type: 'duplicate email', path, externalId: '2' }]);
        expect(details[0]?.message).toContain('"1"');
        expect(details[0]?.message).not.toContain('/email');
      }
    }
    await apply(account, { users: [newcomer, person('1', { email: null })] });
    expect((await userOf(account, '2'))?.['email']).toBe('one@example.org');
  });

  test('what is kept in the row of an unchanged user is named by the user', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { email: 'one@example.org' })] });
    await apply(account, { users: [person('1')] });
    const users = [person('1'), person('2', { email: 'one@example.org' })];
    const details = await refusedData(account, { users });
    expect(details).toMatchObject([{ type: 'duplicate email', path: '/data/users/1/email' }]);
    expect(details[0]?.message).toContain('"1"');
    expect(details[0]?.message).not.toContain('/email');
  });

  test('two users can swap their addresses in one request, and three can pass them round', async () => {
    const account = await world.account();
    const of = (...names: string[]) =>
      names.map((name, i) => person(String(i), { email: `${name}@example.org` }));
    const emails = async () =>
      Promise.all(['0', '1', '2'].map(async (id) => (await userOf(account, id))?.['email'][0]));
    await apply(account, { users: of('a', 'b', 'c') });
    await apply(account, { users: of('b', 'a', 'c') });
    expect(await emails()).toEqual(['b', 'a', 'c']);
    await apply(account, { users: of('a', 'c', 'b') });
    expect(await emails()).toEqual(['a', 'c', 'b']);
  });

  test('an address that a removed user frees, or that another gives up, can be had by a new one in the same request', async () => {
    const account = await world.account();
    const email = (name: string) => ({ email: `${name}@example.org` });
    await apply(account, { users: [person('1', email('a')), person('2', email('b'))] });
    await apply(account, {
      users: [person('3', email('a')), person('2', email('c')), person('4', email('B'))],
    });
    expect((await userOf(account, '3'))?.['email']).toBe('a@example.org');
    expect((await userOf(account, '4'))?.['email']).toBe('B@example.org');
  });

  test.each(['Administrator', 'Manager', 'User'])('the role %s is kept as sent', async (role) => {
    const account = await world.account();
    await apply(account, { users: [person('1', { accessInfo: { role } })] });
    expect((await userOf(account, '1'))?.['role']).toBe(role);
  });

  test.each(['administrator', 'MANAGER', 'Owner', '', ' User', null, 1])(
    'any other role is an error: %j',
    async (role) => {
      const account = await world.account();
      const details = await refusedData(account, { users: [person('1', { accessInfo: { role } })] });
      expect(details).toMatchObject([{ path: '/data/users/0/accessInfo/role', externalId: '1' }]);
    },
  );

  test('time zones are names of the tz database, links included', async () => {
    const account = await world.account();
    const zones = [
      'Europe/Stockholm',
      'Asia/Calcutta',
      'US/Pacific',
      'UTC',
      'America/Argentina/Buenos_Aires',
    ];
    await apply(account, { users: zones.map((timezone, i) => person(String(i), { timezone })) });
    expect((await userOf(account, '1'))?.['timezone']).toBe('Asia/Calcutta');
    const wrong = ['', 'Europe/Atlantis', '+01:00', 'europe/stockholm', 'Stockholm', 'CEST'];
    const details = await refusedData(account, {
      users: wrong.map((timezone, i) => person(String(i), { timezone })),
    });
    expect(details.map(({ type, path }) => [type, path])).toEqual(
      wrong.map((_, i) => ['invalid timezone', `/data/users/${i}/timezone`]),
    );
  });

  test('languages are two-letter codes of ISO 639-1', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { language: 'sv' })] });
    const wrong = ['', 'xx', 'swe', 'SV', 'sv-SE', 's'];
    const details = await refusedData(account, {
      users: wrong.map((language, i) => person(String(i), { language })),
    });
    expect(details.map(({ type }) => type)).toEqual(wrong.map(() => 'invalid language'));
  });

  test('phone numbers are kept in E.164: spaces, dashes and brackets are dropped, and a country prefix is needed', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { phone: ' +46 (70) 123-45 67' })] });
    expect((await userOf(account, '1'))?.['phone']).toBe('+46701234567');
    const same = await apply(account, { users: [person('1', { phone: '+46701234567' })] });
    expect(same.changes).toEqual([]);
    const wrong = ['', '0701234567', '0046701234567', '+46', '+46 70 call me', '++46701234567'];
    const details = await refusedData(account, {
      users: wrong.map((phone, i) => person(String(i), { phone })),
    });
    expect(details.map(({ type }) => type)).toEqual(wrong.map(() => 'invalid phone'));
  });

  test('the zero in brackets after a country prefix is dropped, with a warning that does not quote the number', async () => {
    const account = await world.account();
    const { warnings } = await apply(account, { users: [person('1', { phone: '+46 (0)70 123 45 67' })] });
    expect((await userOf(account, '1'))?.['phone']).toBe('+46701234567');
    expect(warnings).toMatchObject([{ type: 'trunk zero', path: '/data/users/0/phone', externalId: '1' }]);
    expect(JSON.stringify(warnings)).not.toContain('123');
    expect((await apply(account, { users: [person('1', { phone: '+46701234567' })] })).changes).toEqual([]);
  });

  test('texts are kept exactly as sent, white space and line ends included', async () => {
    const account = await world.account();
    const name = ' \t"Ærø" \\N \\. \r\n\u2028e\u0301😀\u0001 ';
    await apply(account, {
      groups: [unit('a', { name, description: name })],
      users: [person('1', { firstName: name, lastName: '' })],
    });
    expect((await account.groups())[0]).toMatchObject({ name, description: name });
    expect(await userOf(account, '1')).toMatchObject({ first_name: name, last_name: '' });
    expect((await apply(account, { groups: [unit('a', { name })] })).changes).toEqual([]);
  });
});

describe('the lengths of texts', () => {
  test('a name has at most 500 characters, a description 10,000, counted as those of an externalId are', async () => {
    const account = await world.account();
    for (const unitOfText of ['x', 'é', '😀']) {
      const [name, description] = [unitOfText.repeat(500), unitOfText.repeat(10_000)];
      await apply(account, {
        groups: [unit('a', { name, description })],
        users: [person('1', { firstName: name, lastName: name })],
      });
      expect((await account.groups())[0]).toMatchObject({ name, description });
      const details = await refusedData(account, {
        groups: [unit('a', { name: `${name}x`, description: `${description}x` })],
        users: [person('1', { firstName: `${name}x`, lastName: `${name}x` })],
      });
      expect(details.map(({ type, path }) => [type, path])).toEqual([
        ['too long', '/data/groups/0/name'],
        ['too long', '/data/groups/0/description'],
        ['too long', '/data/users/0/firstName'],
        ['too long', '/data/users/0/lastName'],
      ]);
    }
  });
});

describe('B12: a removed group', () => {
  test('its memberships go with it, of managed users and of those made by hand', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b')],
      users: [person('1', { accessInfo: { memberOf: ['a', 'b'], adminOf: ['a'] } })],
    });
    const [a] = await account.groups();
    await byHand.user(account, { externalId: 'hand', memberOf: [a!.id] });
    await apply(account, { groups: [unit('b')] });
    expect(await entries(account, '1')).toEqual(['memberOf: b']);
    expect(await entries(account, 'hand')).toEqual([]);
  });

  describe('that seems to come back under another externalId is a warning, in the dry run and in the run', () => {
    const named = (externalId: string, name: string, more: object = {}) => ({
      ...unit(externalId, more),
      name,
    });
    const newIds = async (account: TestAccount, groups: object[], data: object = {}) => {
      const dry = await account.push({ data: { groups, ...data } });
      const report = await apply(account, { groups, ...data });
      expect(report.warnings).toEqual(dry.body.warnings);
      return report.warnings.map(({ type, entity, path, externalId, arrivesAs }) => {
        expect([type, entity]).toEqual(['new externalId', 'group']);
        return [path, externalId, arrivesAs];
      });
    };

    test('with the same name and parent, or a parent that comes back so', async () => {
      const account = await world.account();
      const before = [
        named('a', 'Top'),
        named('b', 'Sales', { parent: 'a' }),
        named('c', 'North', { parent: 'b' }),
      ];
      await apply(account, { groups: [...before, named('d', 'South', { parent: 'b' }), named('e', 'East')] });
      const after = [
        named('c2', 'North', { parent: 'b2' }),
        named('b2', 'Sales', { parent: 'a' }),
        named('d2', 'South', { parent: 'a' }), // elsewhere
        named('e2', 'West'), // another name
        named('a', 'Top'),
      ];
      expect(await newIds(account, after)).toEqual([
        ['/data/groups/1/externalId', 'b', 'b2'],
        ['/data/groups/0/externalId', 'c', 'c2'],
      ]);
    });

    test('with the same name, if the request does not say where groups stand', async () => {
      const account = await world.account();
      await apply(account, { groups: [named('a', 'Top'), named('b', 'Sales', { parent: 'a' })] });
      expect(await newIds(account, [named('a', 'Top'), named('b2', 'Sales')])).toEqual([
        ['/data/groups/1/externalId', 'b', 'b2'],
      ]);
    });

    test('each once: a second group of the same name is a new one', async () => {
      const account = await world.account();
      await apply(account, { groups: [named('a', 'Same')] });
      expect(await newIds(account, [named('b', 'Same'), named('c', 'Same')])).toEqual([
        ['/data/groups/0/externalId', 'a', 'b'],
      ]);
    });
  });

  test('groups made by hand beneath it move up to the nearest one that stays, with a warning that names them', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })],
    });
    const ids = new Map((await account.groups()).map(({ id, externalId }) => [externalId, id]));
    const hand = await byHand.group(account, { name: 'Hand', parentId: ids.get('c')! });
    await byHand.group(account, { name: 'Below', parentId: hand });
    const report = await apply(account, { groups: [unit('a')] });
    expect(report.summary.groups).toEqual({ created: 0, updated: 0, deleted: 2, unchanged: 1 });
    expect(report.warnings).toEqual([{ type: 'moved up', message: expect.stringContaining('"Hand"') }]);
    expect(await tree(account)).toEqual({ a: null, Hand: 'a', Below: 'Hand' });
    expect((await apply(account, { groups: [] })).warnings).toMatchObject([{ type: 'moved up' }]);
    expect(await tree(account)).toEqual({ Hand: null, Below: 'Hand' });
  });

  test('listed groups beneath it move up too when the request says nothing of the tree, and are reported', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' }), unit('d', { parent: 'c' })],
    });
    const report = await apply(account, { groups: [unit('a'), unit('c'), unit('d')] });
    expect(report.changes).toEqual([
      { entity: 'group', externalId: 'c', action: 'update', fields: { parent: { from: 'b', to: 'a' } } },
      { entity: 'group', externalId: 'b', action: 'delete' },
    ]);
    expect(report.warnings).toEqual([]);
    expect(await tree(account)).toEqual({ a: null, c: 'a', d: 'c' });
  });

  test('a user without groups who is then put into a group that the same request creates is a member of it', async () => {
    const account = await world.account();
    await apply(account, { groups: [], users: [person('1', { accessInfo: { memberOf: [] } })] });
    const report = await apply(account, {
      groups: [unit('new')],
      users: [person('1', { accessInfo: { memberOf: ['new'] } })],
    });
    expect(report.summary.users.updated).toBe(1);
    const memberships = await world.pool`select kind from memberships where account_id = ${account.id}`;
    expect([...memberships]).toEqual([{ kind: 'memberOf' }]);
  });

  test('removed and made anew under the same externalId, its members are there again when they are sent as before', async () => {
    const account = await world.account();
    const groups = [unit('a'), unit('b')];
    const users = [
      person('1', { accessInfo: { memberOf: ['a', 'b'], adminOf: ['a'] } }),
      person('2', { accessInfo: { memberOf: ['b'] } }),
    ];
    await apply(account, { groups, users });
    await apply(account, { groups: [unit('b')] });
    expect(await entries(account, '1')).toEqual(['memberOf: b']);
    const report = await apply(account, { groups, users });
    expect(report.summary).toEqual({
      users: { created: 0, updated: 1, deleted: 0, unchanged: 1 },
      groups: { created: 1, updated: 0, deleted: 0, unchanged: 1 },
    });
    expect(await entries(account, '1')).toEqual(['adminOf: a', 'memberOf: a b']);
  });

  test('a membership lost with its group is there again when group and user come in separate requests', async () => {
    const account = await world.account();
    const users = [person('1', { accessInfo: { memberOf: ['a'] } })];
    await apply(account, { groups: [unit('a')], users });
    await apply(account, { groups: [] });
    await apply(account, { groups: [unit('a')] });
    expect((await apply(account, { users })).summary.users.updated).toBe(1);
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
  });
});

describe('B13: a removed user', () => {
  test('what earlier runs tell of the user is erased; that there were changes stays', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', { lastName: 'Secret' }), person('2')] });
    await apply(account, {
      users: [person('1', { lastName: 'Changed' }), person('2', { lastName: 'Stays' })],
    });
    await account.push({ data: { users: [person('1', { lastName: 'Dry' }), person('2')] } });
    await apply(account, { users: [person('2', { lastName: 'Stays' })] });
    const changes = await world.pool`
      select c.external_id, c.action, c.fields
      from   run_changes c join runs r using (account_id, run_id)
      where  c.account_id = ${account.id}
      order  by r.at, c.position`;
    expect(changes.map((row) => [row['external_id'], row['action'], row['fields']])).toEqual([
      ['1', 'create', null],
      ['2', 'create', null],
      ['1', 'update', null],
      ['2', 'update', { lastName: { from: 'Last', to: 'Stays' } }],
      ['1', 'update', null],
      ['2', 'update', { lastName: { from: 'Stays', to: 'Last' } }],
      ['1', 'delete', null],
    ]);
  });

  test('no row of the database holds the personal data any more, refused runs included', async () => {
    const account = await world.account();
    await byHand.attribute(account, 'town');
    const secret = person('1', {
      firstName: 'Zacharias',
      lastName: 'Zimmermann',
      email: 'zacharias@example.org',
      phone: '+46709999999',
      externalProperties: { town: 'Zürich' },
    });
    await apply(account, { users: [secret] });
    await refusedData(account, { users: [secret, person('2', { email: 'zacharias@example.org' })] });
    await refusedData(account, { users: [{ ...secret, phone: '070-9999999' }] });
    await refusedData(account, { users: [{ ...secret, timezone: 'Zürich' }] });
    const userId = (
      await world.pool`select user_id from users where account_id = ${account.id} and external_id = '1'`
    )[0]?.['user_id'] as number;
    await world.pool`
      insert into passwords (account_id, user_id, hash) values (${account.id}, ${userId}, 'zacharias')`;
    await apply(account, { users: [] });
    const left: string[] = [];
    for (const table of ['users', 'memberships', 'passwords', 'runs', 'run_changes']) {
      const rows = await world.pool<{ row: string }[]>`
        select to_jsonb(t)::text as row from ${world.pool(table)} t where account_id = ${account.id}`;
      left.push(...rows.map(({ row }) => `${table} ${row}`));
    }
    expect(left.filter((row) => /zacharias|zimmermann|9999999|zürich/i.test(row))).toEqual([]);
  });

  test('tokens belong to the account and stay, the one that the request came with included', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1')] });
    await apply(account, { users: [] });
    expect((await account.push({})).status).toBe(200);
  });

  test.each<[string, object[]]>([
    ['removed', []],
    ['demoted', [person('1', { accessInfo: { role: 'Manager' } })]],
    ['deactivated', [person('1', { ...administrator, active: false })]],
    ['deactivated with the role left out', [person('1', { active: false })]],
    ['replaced by another externalId without the role', [person('2')]],
  ])('the last active administrator cannot be %s', async (_, users) => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    expect(await refusedData(account, { users })).toMatchObject([
      { type: 'no administrator', path: '/data/users' },
    ]);
  });

  test('an administrator stays whose role is left out, one takes the place of another once confirmed, and one created manually is enough', async () => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    await apply(account, { users: [person('1', { lastName: 'New' })] });
    const other = person('2', administrator);
    expect(await refusedData(account, { users: [other] })).toMatchObject([{ type: 'no administrator' }]);
    await apply(account, { users: [person('1'), other] });
    await onlyManagedAdministrators(account);
    await apply(account, { users: [other] });
    await apply(account, { groups: [unit('a')] });
    await world.pool`update users set active = true where account_id = ${account.id} and not managed`;
    await apply(account, { users: [] });
    expect(await userIds(account)).toEqual([]);
  });
});

describe('B14: runs', () => {
  test('a dry run, a real one and a refused one are each kept: when, by which token, settings, summary, warnings, changes', async () => {
    const account = await world.account();
    const data = { groups: [unit('a', { colour: 'red' })], users: [person('1')] };
    const [dry, real] = [
      await account.push({ data }),
      await account.push({ settings: { ...settings, maxUsersCreated: 5 }, data }),
    ];
    const limited = await account.push({ settings: { maxUsersDeleted: 0 }, data: { users: [] } });
    const wrong = await account.push({ settings, data: { users: [person('1', { email: 'no' })] } });
    const broken = await account.push('{"settings":');
    const [token] = await world.pool`
      select token_id from tokens where account_id = ${account.id}`;
    const common = { source: 'api', file: null, token_id: token?.['token_id'], at: expect.any(Date) };
    expect(await runOf(account, dry.body.id)).toMatchObject({
      ...common,
      validate_only: true,
      outcome: 'validated',
      message: null,
      settings: {},
      summary: dry.body.summary,
      warnings: dry.body.warnings,
      details: null,
    });
    expect(await runOf(account, real.body.id)).toMatchObject({
      ...common,
      validate_only: false,
      outcome: 'applied',
      message: null,
      settings: { validateOnly: false, maxUsersCreated: 5 },
      summary: real.body.summary,
      warnings: [expect.objectContaining({ path: '/data/groups/0/colour' })],
      details: null,
    });
    expect(await runOf(account, limited.body.id)).toMatchObject({
      ...common,
      validate_only: true,
      outcome: 'refused',
      settings: { maxUsersDeleted: 0 },
      summary: { users: { created: 0, updated: 0, deleted: 1, unchanged: 0 } },
      message: expect.any(String),
      details: limited.body.details,
    });
    expect(await runOf(account, wrong.body.id)).toMatchObject({
      ...common,
      validate_only: false,
      outcome: 'refused',
      settings,
      summary: null,
      message: expect.any(String),
      // As answered, save the value that was sent.
      details: wrong.body.details.map((detail) => ({
        ...detail,
        message: expect.not.stringContaining('"no"'),
      })),
    });
    expect(await runOf(account, broken.body.id)).toMatchObject({
      ...common,
      validate_only: true,
      outcome: 'refused',
      message: expect.any(String),
      summary: null,
      details: broken.body.details,
    });
    for (const { body } of [dry, real]) {
      const changes = await world.pool`
        select entity, external_id as "externalId", action
        from   run_changes where account_id = ${account.id} and run_id = ${body.id} order by position`;
      expect([...changes]).toEqual(body.changes);
    }
  });

  test('a request waits for whoever writes the same account, and then sees what was written', async () => {
    const account = await world.account();
    const answer = await world.pool.begin(async (tx) => {
      await tx`select 1 from accounts where account_id = ${account.id} for no key update`;
      await createUser(tx, account.id, { firstName: 'By', lastName: 'Hand', email: 'late@example.org' });
      const pushed = account.push({
        settings,
        data: { users: [person('1', { email: 'late@example.org' })] },
      });
      const waiting = async () =>
        (
          await world.pool`
            select 1 from pg_stat_activity
            where  datname = current_database() and wait_event_type = 'Lock' and query ilike '%from accounts%'`
        ).length;
      while ((await waiting()) === 0);
      return { pushed };
    });
    expect((await answer.pushed).body.details).toMatchObject([{ type: 'duplicate email' }]);
  });

  test('a request whose client leaves while it waits for the account is not applied', async () => {
    const account = await world.account();
    const body = { settings, data: { groups: [unit('a')], users: [person('1')] } };
    const client = new AbortController();
    await world.pool.begin(async (tx) => {
      await tx`select 1 from accounts where account_id = ${account.id} for no key update`;
      const left = world.request('POST', '/v1/organization', {
        headers: { authorization: account.token, 'content-type': 'application/json' },
        body: JSON.stringify(body),
        signal: client.signal,
      });
      await until(async () => {
        const waiting = await world.pool`
          select 1 from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query ilike '%from accounts%'`;
        return waiting.length > 0;
      });
      client.abort();
      await expect(left).rejects.toThrow('aborted');
      await until(async () => logged.some((line) => line.includes('A client disconnected')));
    });
    const next = await account.push(body);
    expect(next.body.summary).toMatchObject({ groups: { created: 1 }, users: { created: 1 } });
  });

  test('requests of one account sent at once are applied one after another: each finds the state the last one left', async () => {
    const account = await world.account();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        account.push({
          settings,
          data: { groups: [unit('a')], users: [person('1', { email: 'one@example.org' })] },
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const created = answers.map(({ body }) => body.summary.users.created + body.summary.groups.created);
    expect(created.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 2]);
  });
});

describe('accounts', () => {
  test('the same externalIds and addresses in two accounts never touch each other', async () => {
    const [one, other] = [await world.account(), await world.account()];
    const data = {
      groups: [unit('a'), unit('b', { parent: 'a' })],
      users: [
        person('1', { email: 'one@example.org', accessInfo: { memberOf: ['b'], role: 'Administrator' } }),
      ],
    };
    await apply(one, data);
    expect((await apply(other, data)).summary.users.created).toBe(1);
    const before = await rowsOf(world.pool, other.id);
    await apply(one, {
      groups: [unit('a', { name: 'Renamed' }), unit('b')],
      users: [person('1', { lastName: 'Renamed', accessInfo: { memberOf: [] } })],
    });
    await apply(one, { groups: [], users: [] });
    expect(await rowsOf(world.pool, other.id)).toEqual(before);
    expect(await tree(one)).toEqual({});
    expect(await tree(other)).toEqual({ a: null, b: 'a' });
  });

  test('a group made by hand in another account can be neither joined nor a parent', async () => {
    const [one, other] = [await world.account(), await world.account()];
    await byHand.group(other, { name: 'Hand', externalId: 'hand' });
    expect(
      await refusedData(one, {
        groups: [unit('a', { parent: 'hand' })],
        users: [person('1', { accessInfo: { memberOf: ['hand'] } })],
      }),
    ).toMatchObject([{ type: 'unknown parent' }, { type: 'unknown group' }]);
  });

  test('an attribute defined in another account is not defined in this one', async () => {
    const [one, other] = [await world.account(), await world.account()];
    await byHand.attribute(other, 'gender');
    expect(
      await refusedData(one, { users: [person('1', { externalProperties: { gender: 'x' } })] }),
    ).toMatchObject([{ type: 'unknown attribute' }]);
  });
});

describe('POST /v1/organization/organization', () => {
  test('the short address of §3 answers the same', async () => {
    const account = await world.account();
    const answer = await world.request('POST', '/v1/organization', {
      headers: { authorization: account.token, 'content-type': 'application/json' },
      body: JSON.stringify({ data: { users: [person('1')] } }),
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ validateOnly: true, summary: { users: { created: 1 } } });
  });

  test('an invalid token is 400 with the error body (§7)', async () => {
    const answer = await world.request('POST', '/v1/organization/organization', {
      headers: { authorization: 'wrong', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(answer.status).toBe(400);
    expect([...problemCheck.Errors(answer.body)]).toEqual([]);
    expect(answer.body.details).toMatchObject([{ type: 'invalid token' }]);
  });

  test('a body packed by gzip is read like a plain one', async () => {
    const account = await world.account();
    const body = gzipSync(JSON.stringify({ settings, data: { users: [person('1')] } }));
    const answer = await account.push(body, { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(200);
    expect(await userIds(account)).toEqual(['1']);
  });

  test('a body that is announced as gzip and cannot be unpacked is 400, kept as a refused run', async () => {
    const account = await world.account();
    const packed = gzipSync(JSON.stringify({ settings, data: { users: [person('1')] } }));
    const corrupt = Uint8Array.from(packed, (byte, i) => (i === packed.length - 5 ? byte ^ 0xff : byte));
    for (const body of ['{}', packed.subarray(0, -9), packed.subarray(0, 5), corrupt, new Uint8Array()]) {
      const answer = await account.push(body, { 'content-encoding': 'gzip' });
      expect(answer.status).toBe(400);
      expect(answer.body.details).toMatchObject([{ type: 'invalid gzip' }]);
      expect(await runOf(account, answer.body.id)).toMatchObject({ outcome: 'refused' });
    }
    expect(await userIds(account)).toEqual([]);
  });

  test('64 MB unpacked are read; one byte more is 413, and nothing is applied', async () => {
    const account = await world.account();
    const most = 64 * 1024 * 1024;
    const text = JSON.stringify({ settings, data: { users: [person('1')] } });
    const padded = (length: number) => gzipSync(text.padEnd(length), { level: 1 });
    const over = await account.push(padded(most + 1), { 'content-encoding': 'gzip' });
    expect(over.status).toBe(413);
    expect([...problemCheck.Errors(over.body)]).toEqual([]);
    expect(over.body.details).toMatchObject([{ type: 'too large' }]);
    expect(await userIds(account)).toEqual([]);
    const just = await account.push(padded(most), { 'content-encoding': 'gzip' });
    expect(just.status).toBe(200);
    expect(await userIds(account)).toEqual(['1']);
  });

  test('a gigabyte packed into a megabyte is 413', async () => {
    const account = await world.account();
    const megabytes = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
    const bomb = Buffer.concat(Array.from({ length: 16 }, () => megabytes)); // gzip members follow one another
    expect(bomb.length).toBeLessThan(2 * 1024 * 1024);
    const answer = await account.push(bomb, { 'content-encoding': 'gzip' });
    expect(answer.status).toBe(413);
    expect(await runOf(account, answer.body.id)).toMatchObject({ outcome: 'refused' });
  });

  // In seconds, not minutes: plans that the database made for small tables must not be kept for large ones.
  test('20,000 users and 1,000 groups are applied in seconds, also after many small requests', async () => {
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
    expect(performance.now() - start).toBeLessThan(10_000);
    expect(report.summary.users.created).toBe(20_000);
    expect(report.summary.groups.created).toBe(1_000);
    const [count] = await world.pool`
      select count(*)::integer as n from memberships where account_id = ${account.id}`;
    expect(count?.['n']).toBe(20_000);
    expect((await apply(account, data)).changes).toEqual([]);
  });
});
