// What organization requests report and store as runs, and that a request is applied completely or not at all (§4.2, decisions
// B1, B2 and B14), over HTTP.
import type { Detail } from '@soundings/contract/problem.ts';
import { describe, expect, test } from 'vitest';
import { createUser } from '../people/users.ts';
import { apply, person, rowsOf, unit } from '../testing/organizations.ts';
import { until } from '../testing/until.ts';
import {
  world,
  reportCheck,
  problemCheck,
  logged,
  settings,
  administrator,
  refused,
  refusedData,
  onlyManagedAdministrators,
  createManually,
  runOf,
  byPath,
  list,
  useService,
} from './organization.fixture.ts';

useService();

describe('reports (decision B1)', () => {
  test('have the documented shape, list every change with old and new values, and contain the request id', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a', { description: 'Old' }), unit('b'), unit('c')],
      users: [person('1'), person('2'), person('3', { accessInfo: { memberOf: ['a'] } })],
    });
    const response = await account.push({
      settings,
      data: {
        groups: [unit('a', { description: 'New', parent: 'b' }), unit('b'), unit('d')],
        users: [person('4'), person('2', { lastName: 'Other' }), person('3')],
      },
    });
    expect(response.status).toBe(200);
    expect([...reportCheck.Errors(response.body)]).toEqual([]);
    expect(response.body).toEqual({
      id: response.headers.get('x-request-id'),
      validateOnly: false,
      applied: true,
      plan: expect.stringMatching(/^[0-9a-f]{64}$/),
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

  test('are the same for a dry run as for the real run after it, and a dry run writes nothing', async () => {
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

  test('list the same errors when a dry run and a real run are refused', async () => {
    const account = await world.account();
    const data = {
      users: [person('1', { accessInfo: { memberOf: ['nowhere'] } }), person('2', { email: 'no' })],
    };
    const dry = await refused(account, { data });
    expect(await refusedData(account, data)).toEqual(dry);
  });

  test('name every changed field, including memberships, attributes and the role', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'gender', ['Male', 'Female']);
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

describe('all or nothing (decision B2)', () => {
  test('lists every invalid value with its position and applies nothing', async () => {
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

  test('lists other errors of a user next to a missing field', async () => {
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

  test('lists both invalid values and unknown references', async () => {
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

  test('lists each of many wrong values in one list or object', async () => {
    const account = await world.account();
    const wrong = Array.from({ length: 20 }, (_, i) => i);
    const properties = Object.fromEntries(wrong.map((i) => [`p${i}`, i]));
    const details = await refusedData(account, {
      users: [person('1', { accessInfo: { memberOf: wrong }, externalProperties: properties })],
    });
    expect(details.filter(({ type }) => type === 'wrong type')).toHaveLength(40);
  });

  const positions = (details: Detail[]) => details.map(({ type, path }) => [type, path]).toSorted(byPath);

  test('lists every wrong value in accessInfo and externalProperties', async () => {
    const account = await world.account();
    await createManually.attribute(account, 'gender', ['Male', 'Female']);
    const details = await refusedData(account, {
      users: [
        person('1', { accessInfo: { memberOf: ['nope'], role: 'Boss', adminOf: 'a' } }),
        person('2', { accessInfo: { interestOf: [5, 'nope', 5], inheritedAdminOf: ['nowhere'] } }),
        person('3', { externalProperties: { gender: 'Other', size: 'L', age: 5 } }),
      ],
    });
    expect(positions(details)).toEqual([
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

  test('lists errors of users next to groups that are not a list', async () => {
    const account = await world.account();
    const details = await refusedData(account, { groups: {}, users: [person('1', { email: 'no' })] });
    expect(positions(details)).toEqual([
      ['wrong type', '/data/groups'],
      ['invalid email', '/data/users/0/email'],
    ]);
  });

  test.each([
    ['an invalid address', 'no'],
    ['a value of a wrong type', 5],
  ])(
    'reports %s as one error, without reporting that the old address of the user is taken',
    async (_, email) => {
      const account = await world.account();
      await apply(account, { users: [person('1', { email: 'one@example.org' })] });
      const users = [person('1', { email }), person('2', { email: 'one@example.org' })];
      expect(positions(await refusedData(account, { users }))).toEqual([
        [typeof email === 'string' ? 'invalid email' : 'wrong type', '/data/users/0/email'],
      ]);
    },
  );

  test.each<[string, object, object]>([
    ['a wrong role', { accessInfo: { role: 'administrator' } }, {}],
    ['a missing externalId', {}, { externalId: undefined }],
  ])('reports %s as one error, without a missing administrator', async (_, more, instead) => {
    const account = await world.account();
    await apply(account, { users: [person('1', administrator)] });
    await onlyManagedAdministrators(account);
    const details = await refusedData(account, { users: [{ ...person('1', more), ...instead }] });
    expect(details.map(({ path }) => path)).toEqual([
      'externalId' in instead ? '/data/users/0/externalId' : '/data/users/0/accessInfo/role',
    ]);
  });

  test('lists errors of users and groups without an externalId by their positions only', async () => {
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

  test('lists up to 1,000 errors and the number of further ones', async () => {
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

  test('leaves no row after a failure in the middle, reveals nothing about the database, and records the run as failed', async () => {
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
    const response = await account.push(body);
    expect(response.status).toBe(500);
    expect([...problemCheck.Errors(response.body)]).toEqual([]);
    expect(JSON.stringify(response.body)).not.toContain('secret');
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    expect(await runOf(account, response.body.id)).toMatchObject({
      outcome: 'failed',
      validate_only: false,
    });
    await world.pool.unsafe('drop trigger refuse_membership on memberships; drop function refuse_membership');
    expect((await account.push(body)).status).toBe(200);
  });
});

describe('runs (decision B14)', () => {
  test('are stored for dry runs, real runs and refused requests, with time, token, settings, summary, warnings and changes', async () => {
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
      // As in the response, except for the value that was sent.
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

  test('wait for other writes to the same account, and then see what was written', async () => {
    const account = await world.account();
    const response = await world.pool.begin(async (tx) => {
      await tx`select 1 from accounts where account_id = ${account.id} for no key update`;
      await createUser(tx, account.id, { firstName: 'By', lastName: 'Hand', email: 'late@example.org' });
      const pushed = account.push({
        settings,
        data: { users: [person('1', { email: 'late@example.org' })] },
      });
      await until(async () => {
        const waiting = await world.pool`
          select 1 from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query ilike '%from accounts%'`;
        return waiting.length > 0;
      });
      return { pushed };
    });
    expect((await response.pushed).body.details).toMatchObject([{ type: 'duplicate email' }]);
  });

  test('are not applied if the client disconnects while the request waits for the account', async () => {
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

  test('are applied one after another if requests of one account are sent at once', async () => {
    const account = await world.account();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () =>
        account.push({
          settings,
          data: { groups: [unit('a')], users: [person('1', { email: 'one@example.org' })] },
        }),
      ),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const created = responses.map(({ body }) => body.summary.users.created + body.summary.groups.created);
    expect(created.toSorted()).toEqual([0, 0, 0, 0, 0, 0, 0, 2]);
  });
});
