// The commands for attributes, groups, users and runs.
import { describe, expect, test } from 'vitest';
import { newId } from '../base/ids.ts';
import { deleteGroupResults } from '../results/published-figures.ts';
import { pushOrganization } from '../sync/push.ts';
import { json, newAccount, pool, refused, soundings, useDatabase } from './cli.fixture.ts';

useDatabase();

describe('attribute define', () => {
  const define = (id: string, ...options: string[]) => ['attribute', 'define', '--account', id, ...options];

  test('creates an attribute; defining it again replaces its values', async () => {
    const id = await newAccount();
    expect(await json(define(id, '--name', 'gender', '--values', 'Male, Female,Male'))).toEqual({
      name: 'gender',
      values: ['Male', 'Female'],
    });
    expect(await json(define(id, '--name', 'gender'))).toEqual({ name: 'gender', values: null });
    expect([...(await pool`select name, allowed_values from attributes where account_id = ${id}`)]).toEqual([
      { name: 'gender', allowed_values: null },
    ]);
  });

  test('refuses an invalid name and invalid values', async () => {
    const id = await newAccount();
    await Promise.all([
      refused(define(id, '--name', ' gender')),
      refused(define(id, '--name', '__proto__')),
      refused(define(id, '--name', 'gender', '--values', ' , ')),
      refused(define('99999', '--name', 'gender')),
    ]);
    expect(await pool`select from attributes where account_id = ${id}`).toHaveLength(0);
  });
});

describe('group create', () => {
  const create = (id: string, ...options: string[]) => ['group', 'create', '--account', id, ...options];

  test('creates a manual group, under the parent if one is given', async () => {
    const id = await newAccount();
    const top = await json<{ id: number }>(create(id, '--name', 'Top', '--external-id', 'top'));
    const leaf = await json<{ id: number }>(create(id, '--name', 'Leaf', '--parent', String(top.id)));
    const groups = await pool`
      select group_id, parent_id, name, external_id, managed from groups where account_id = ${id} order by group_id`;
    expect([...groups]).toEqual([
      { group_id: top.id, parent_id: null, name: 'Top', external_id: 'top', managed: false },
      { group_id: leaf.id, parent_id: top.id, name: 'Leaf', external_id: null, managed: false },
    ]);
  });

  test('refuses an externalId that is already used or invalid, an empty name, and a parent that does not exist in the account', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const theirs = await json<{ id: number }>(create(other, '--name', 'Theirs', '--external-id', 'x'));
    await json(create(id, '--name', 'X', '--external-id', 'x'));
    const [taken, white, unnamed, absent, foreign] = await Promise.all([
      refused(create(id, '--name', 'Again', '--external-id', 'x')),
      refused(create(id, '--name', 'Y', '--external-id', ' y')),
      refused(create(id, '--name', '')),
      refused(create(id, '--name', 'Y', '--parent', '99999')),
      refused(create(id, '--name', 'Y', '--parent', String(theirs.id))),
    ]);
    expect([taken, white, unnamed]).toEqual([
      expect.stringContaining('"x" already exists'),
      expect.stringContaining('externalId'),
      expect.stringContaining('name'),
    ]);
    expect(foreign.replace(String(theirs.id), '99999')).toBe(absent);
    expect(await pool`select from groups where account_id = ${id}`).toHaveLength(1);
  });
});

test('user confirm makes a pending user an Administrator, once', async () => {
  const id = await newAccount();
  await pool`
    insert into users (account_id, external_id, managed, first_name, last_name, email, email_key, active, role, role_pending)
    values (${id}, 'x', true, 'F', 'L', 'new@example.org', 'new@example.org', true, 'Administrator', true)`;
  const confirm = ['user', 'confirm', '--account', id, '--email', 'New@example.org'];
  const { id: userId } = await json<{ id: number }>(confirm);
  const rows = await pool`select role_pending from users where account_id = ${id} and user_id = ${userId}`;
  expect(rows).toMatchObject([{ role_pending: false }]);
  expect(await refused(confirm)).toContain('no longer waiting');
  expect(await refused([...confirm.slice(0, -1), 'nobody@example.org'])).toContain(
    'This person does not exist',
  );
});

describe('user create', () => {
  const create = (id: string, ...options: string[]) => [
    'user',
    'create',
    '--account',
    id,
    '--first-name',
    'F',
    '--last-name',
    'L',
    ...options,
  ];

  test('creates a manual user in the given groups', async () => {
    const id = await newAccount();
    const group = (name: string) =>
      json<{ id: number }>(['group', 'create', '--account', id, '--name', name]);
    const [a, b] = await Promise.all([group('A'), group('B')]);
    const options = ['--email', 'F@example.org', '--role', 'Manager', '--external-id', 'f'];
    const groups = ['--member-of', String(a.id), '--member-of', String(b.id), '--member-of', String(a.id)];
    const user = await json<{ id: number }>(create(id, ...options, ...groups));
    expect(Object.keys(user)).toEqual(['id']);
    const stored = await pool`
      select first_name, last_name, email, role, external_id, managed, active
      from users where account_id = ${id} and user_id = ${user.id}`;
    expect(stored[0]).toEqual({
      first_name: 'F',
      last_name: 'L',
      email: 'F@example.org',
      role: 'Manager',
      external_id: 'f',
      managed: false,
      active: true,
    });
    const memberships = await pool<{ kind: string; group_id: number }[]>`
      select kind, group_id from memberships where account_id = ${id} and user_id = ${user.id} order by group_id`;
    expect(memberships.map((one) => [one.kind, one.group_id])).toEqual(
      [a.id, b.id].toSorted((one, other) => one - other).map((groupId) => ['memberOf', groupId]),
    );
  });

  test('refuses an email address that another person in the account has, in any letter case; a person in another account may have it', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    await json(create(id, '--email', 'Ada.Ö@example.org'));
    expect(await refused(create(id, '--email', 'ADA.ö@EXAMPLE.ORG'))).toContain('already exists');
    await json(create(other, '--email', 'ada.ö@example.org'));
  });

  test('refuses an externalId that is already used, an unknown role or group, and an invalid email address, and creates nothing', async () => {
    const id = await newAccount();
    await json(create(id, '--external-id', 'x'));
    const wrong = [
      ['--external-id', 'x'],
      ['--role', 'administrator'],
      ['--email', 'nobody'],
      ['--member-of', '99999'],
    ];
    await Promise.all(wrong.map((options) => refused(create(id, ...options))));
    await refused(create(id, '--member-of', 'sales'), 2);
    expect(await refused(create(id, '--first-name', ' ', '--email', 'nobody', '--role', 'user'))).toBe(
      '"firstName" is required.\n' +
        '- "nobody" is not a valid email address (for example, anna@example.com).\n' +
        '- "role" must be one of Administrator, Manager, Auditor, User (case-sensitive).\n',
    );
    expect(
      await pool`select from users where account_id = ${id} and not role = 'Administrator'`,
    ).toHaveLength(1);
  });
});

describe('runs list and run approve', () => {
  type Run = { id: string; at: string; outcome: string; summary: { users: { created: number } } | null };
  const push = async (accountId: string, body: unknown) => {
    const run = { id: newId(), source: 'api' as const, tokenId: null, address: null, file: null };
    const bytes = new TextEncoder().encode(JSON.stringify(body));
    await pushOrganization(
      pool,
      Number(accountId),
      run,
      { bytes, gzip: false },
      { deleteGroupResults },
    ).catch(() => {});
    return run.id;
  };

  test('lists the latest runs of the account, newest first, up to the given limit', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const users = [{ externalId: 'u', firstName: 'F', lastName: 'L' }];
    const ids = [
      await push(id, { data: { users } }),
      await push(id, { settings: { validateOnly: false }, data: { users } }),
      await push(id, { settings: { validateOnly: 'no' } }),
    ];
    await push(other, {});
    const runs = await json<Run[]>(['runs', 'list', '--account', id]);
    const counted = { created: 0, updated: 0, deleted: 0, unchanged: 0 };
    const summary = { users: { ...counted, created: 1 }, groups: counted };
    expect(runs).toEqual([
      {
        id: ids[2],
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        source: 'api',
        validateOnly: true,
        outcome: 'refused',
        summary: null,
        details: [expect.objectContaining({ type: 'wrong type', path: '/settings/validateOnly' })],
      },
      { id: ids[1], at: expect.any(String), source: 'api', validateOnly: false, outcome: 'applied', summary },
      {
        id: ids[0],
        at: expect.any(String),
        source: 'api',
        validateOnly: true,
        outcome: 'validated',
        summary,
      },
    ]);
    const [latest, people] = await Promise.all([
      json<Run[]>(['runs', 'list', '--account', id, '--limit', '1']),
      soundings(['runs', 'list', '--account', id]),
    ]);
    expect(latest.map((run) => run.id)).toEqual([ids[2]]);
    expect(people.out.match(/refused|applied|validated/g)).toEqual(['refused', 'applied', 'validated']);
    await Promise.all([
      refused(['runs', 'list', '--account', id, '--limit', 'all'], 2),
      refused(['runs', 'list', '--account', '99999']),
    ]);
  });

  test('lists a run that awaits approval as "held", as the description of the command calls it', async () => {
    const id = await newAccount();
    await pool`
      insert into runs (account_id, run_id, source, file, validate_only, outcome)
      values (${id}, ${newId()}, 'file', 'users.csv', false, 'pending')`;
    const runs = await json<Run[]>(['runs', 'list', '--account', id]);
    expect(runs.map(({ outcome }) => outcome)).toEqual(['held']);
  });

  test('a run that is not pending, does not exist, or belongs to another account cannot be approved', async () => {
    const [id, other] = await Promise.all([newAccount(), newAccount()]);
    const [ours, theirs] = [await push(id, {}), await push(other, {})];
    const approve = (run: string) => refused(['run', 'approve', '--account', id, '--id', run]);
    const absent = newId();
    const [notPending, unknown, foreign, malformed] = await Promise.all([
      approve(ours),
      approve(absent),
      approve(theirs),
      approve('7'),
    ]);
    expect(notPending).toContain('Only runs that are awaiting approval can be approved');
    expect(unknown).toContain(`Run ${absent} does not exist`);
    expect(foreign.replace(theirs, absent)).toBe(unknown);
    expect(malformed).toContain('Run 7 does not exist');
  });
});
