// How organization requests change groups, their tree and their members (§4.2, decisions B8, B9 and B12), over HTTP.
import { describe, expect, test } from 'vitest';
import { apply, person, unit } from '../testing/organizations.ts';
import type { TestAccount } from '../testing/world.ts';
import { world, refusedData, createManually, tree, entries, useService } from './organization.fixture.ts';

useService();

describe('parent (decision B8)', () => {
  test('if any group has the key, the request is the whole tree, and groups without it move to the top', async () => {
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

  test('a single parent null also makes the request the whole tree', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })] });
    await apply(account, { groups: [unit('a', { parent: null }), unit('b'), unit('c')] });
    expect(await tree(account)).toEqual({ a: null, b: null, c: null });
  });

  test('if no group has the key, existing groups keep their parents and new ones start at the top', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' })] });
    const report = await apply(account, { groups: [unit('c'), unit('b'), unit('a')] });
    expect(report.summary.groups).toEqual({ created: 1, updated: 0, deleted: 0, unchanged: 2 });
    expect(await tree(account)).toEqual({ a: null, b: 'a', c: null });
  });

  test('a parent can be new and can come later in the list', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('c', { parent: 'b' }), unit('b', { parent: 'a' }), unit('a')] });
    expect(await tree(account)).toEqual({ a: null, b: 'a', c: 'b' });
  });

  test('a parent can be a manually created group with an externalId', async () => {
    const account = await world.account();
    await createManually.group(account, { name: 'Manual', externalId: 'manual' });
    await apply(account, { groups: [unit('a', { parent: 'manual' }), unit('b')] });
    expect(await tree(account)).toEqual({ a: 'Manual', b: null, Manual: null });
    const report = await apply(account, { groups: [unit('a', { parent: 'b' }), unit('b')] });
    expect(report.changes[0]?.fields).toEqual({ parent: { from: 'manual', to: 'b' } });
  });

  test('a parent and its subgroup can swap places in one request', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })] });
    await apply(account, { groups: [unit('c'), unit('b', { parent: 'c' }), unit('a', { parent: 'b' })] });
    expect(await tree(account)).toEqual({ c: null, b: 'c', a: 'b' });
  });

  test('refuses a parent that does not exist, and says if the request would remove it', async () => {
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

  test('refuses a group that is its own parent', async () => {
    const account = await world.account();
    const details = await refusedData(account, { groups: [unit('b'), unit('a', { parent: 'a' })] });
    expect(details).toMatchObject([{ type: 'cycle', path: '/data/groups/1/parent', externalId: 'a' }]);
    expect(details[0]?.message).toContain('"a" → "a"');
  });

  test('lists each cycle once and in full', async () => {
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

  test('refuses a cycle through a manually created group, and names that group', async () => {
    const account = await world.account();
    await apply(account, { groups: [unit('a')] });
    const [a] = await account.groups();
    const middle = await createManually.group(account, { name: 'Middle', parentId: a!.id });
    await createManually.group(account, { name: 'Manual', externalId: 'manual', parentId: middle });
    const details = await refusedData(account, { groups: [unit('a', { parent: 'manual' })] });
    expect(details).toMatchObject([{ type: 'cycle', path: '/data/groups/0/parent', externalId: 'a' }]);
    expect(details[0]?.message).toContain(`"a" → "manual" → group ${middle} → "a"`);
  });

  test('accepts 100 levels of groups and refuses the 101st', async () => {
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

describe('accessInfo (decision B9)', () => {
  test('replaces memberships in managed groups, but never removes those in manually created groups', async () => {
    const account = await world.account();
    const manual = await createManually.group(account, { name: 'Manual' });
    await createManually.group(account, { name: 'Named', externalId: 'named' });
    await apply(account, { groups: [unit('a'), unit('b')], users: [person('1')] });
    await world.pool`
      insert into memberships (account_id, user_id, kind, group_id)
      select account_id, user_id, 'memberOf', ${manual}
      from   users where account_id = ${account.id} and external_id = '1'`;
    const push = (memberOf: string[]) =>
      apply(account, { users: [person('1', { accessInfo: { memberOf } })] });
    const joined = await push(['a', 'named']);
    expect(joined.changes[0]?.fields).toEqual({ memberOf: { from: [], to: ['a', 'named'] } });
    expect(await entries(account, '1')).toEqual(['memberOf: Manual Named a']);
    await push(['b']);
    expect(await entries(account, '1')).toEqual(['memberOf: Manual Named b']);
    await push([]);
    expect(await entries(account, '1')).toEqual(['memberOf: Manual Named']);
    expect((await push([])).changes).toEqual([]);
  });

  test('stores the four kinds separately', async () => {
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

  test('refuses an unknown group, a group that the request removes, and the name of a group without an externalId', async () => {
    const account = await world.account();
    await createManually.group(account, { name: 'Manual' });
    await apply(account, { groups: [unit('a'), unit('b')] });
    const details = await refusedData(account, {
      groups: [unit('b')],
      users: [person('1', { accessInfo: { memberOf: ['b', 'a'], interestOf: ['Manual'] } })],
    });
    expect(details.map(({ type, path, externalId }) => [type, path, externalId])).toEqual([
      ['unknown group', '/data/users/0/accessInfo/memberOf/1', '1'],
      ['unknown group', '/data/users/0/accessInfo/interestOf/0', '1'],
    ]);
    expect(details[0]?.message).toMatch(/"a".*would be removed/);
  });

  test('can refer to existing managed groups if the request has no groups, and otherwise only to groups in the request', async () => {
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

  test('counts a duplicate group once, with a warning', async () => {
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

describe('removed groups (decision B12)', () => {
  test('lose the memberships of managed and manually created users', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b')],
      users: [person('1', { accessInfo: { memberOf: ['a', 'b'], adminOf: ['a'] } })],
    });
    const [a] = await account.groups();
    await createManually.user(account, { externalId: 'manual', memberOf: [a!.id] });
    await apply(account, { groups: [unit('b')] });
    expect(await entries(account, '1')).toEqual(['memberOf: b']);
    expect(await entries(account, 'manual')).toEqual([]);
  });

  describe('that seem to return with another externalId cause a warning, in a dry run and in a real run,', () => {
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

    test('if they have the same name, and the same parent or a parent that also returns', async () => {
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

    test('if they have the same name, and the request contains no parents', async () => {
      const account = await world.account();
      await apply(account, { groups: [named('a', 'Top'), named('b', 'Sales', { parent: 'a' })] });
      expect(await newIds(account, [named('a', 'Top'), named('b2', 'Sales')])).toEqual([
        ['/data/groups/1/externalId', 'b', 'b2'],
      ]);
    });

    test('only once, so that a second group with the same name is new', async () => {
      const account = await world.account();
      await apply(account, { groups: [named('a', 'Same')] });
      expect(await newIds(account, [named('b', 'Same'), named('c', 'Same')])).toEqual([
        ['/data/groups/0/externalId', 'a', 'b'],
      ]);
    });
  });

  test('move their manually created subgroups up to the nearest group that stays, with a warning that names them', async () => {
    const account = await world.account();
    await apply(account, {
      groups: [unit('a'), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })],
    });
    const ids = new Map((await account.groups()).map(({ id, externalId }) => [externalId, id]));
    const manual = await createManually.group(account, { name: 'Manual', parentId: ids.get('c')! });
    await createManually.group(account, { name: 'Below', parentId: manual });
    const report = await apply(account, { groups: [unit('a')] });
    expect(report.summary.groups).toEqual({ created: 0, updated: 0, deleted: 2, unchanged: 1 });
    expect(report.warnings).toEqual([{ type: 'moved up', message: expect.stringContaining('"Manual"') }]);
    expect(await tree(account)).toEqual({ a: null, Manual: 'a', Below: 'Manual' });
    expect((await apply(account, { groups: [] })).warnings).toMatchObject([{ type: 'moved up' }]);
    expect(await tree(account)).toEqual({ Manual: null, Below: 'Manual' });
  });

  test('move their listed subgroups up if the request contains no parents, and report them', async () => {
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

  test('a user without groups becomes a member of a group created in the same request', async () => {
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

  test('get their members back when they are created again and the users are sent as before', async () => {
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

  test('get their members back when group and users are sent in separate requests', async () => {
    const account = await world.account();
    const users = [person('1', { accessInfo: { memberOf: ['a'] } })];
    await apply(account, { groups: [unit('a')], users });
    await apply(account, { groups: [] });
    await apply(account, { groups: [unit('a')] });
    expect((await apply(account, { users })).summary.users.updated).toBe(1);
    expect(await entries(account, '1')).toEqual(['memberOf: a']);
  });
});
