// The tree that a rule derives from a directory, also from circles and odd values.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enterpriseSchema } from '../protocol/schemas.ts';
import { teamKeyOf, treeByAttributes, treeByGroups, treeByManagers } from './tree-rule.ts';

const user = (id: string, enterprise: Record<string, string>) => ({
  id,
  resource: { [enterpriseSchema]: enterprise },
});

describe('by attributes', () => {
  test('each attribute is a level, and a level that a user has no value for is skipped', () => {
    const users = [
      user('a', { division: 'Nordic', department: 'Sales' }),
      user('b', { division: 'nordic ', department: 'Support' }),
      user('c', { department: 'Sales' }),
      user('d', {}),
    ];
    const { groups, accessOf } = treeByAttributes(['division', 'department'], users);
    expect(groups).toEqual([
      { externalId: 'scim:division=nordic', name: 'Nordic' },
      { externalId: 'scim:division=nordic/department=sales', name: 'Sales', parent: 'scim:division=nordic' },
      {
        externalId: 'scim:division=nordic/department=support',
        name: 'Support',
        parent: 'scim:division=nordic',
      },
      { externalId: 'scim:department=sales', name: 'Sales' },
    ]);
    expect(users.map((one) => accessOf(one)?.memberOf)).toEqual([
      ['scim:division=nordic/department=sales'],
      ['scim:division=nordic/department=support'],
      ['scim:department=sales'],
      [],
    ]);
  });

  test('any texts become valid externalIds, the same for the same text', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (department) => {
        const { groups } = treeByAttributes(
          ['department'],
          [user('a', { department }), user('b', { department })],
        );
        expect(groups.length).toBeLessThanOrEqual(1);
        for (const { externalId } of groups)
          expect([externalId.length <= 255, externalId.trim() === externalId]).toEqual([true, true]);
      }),
    );
  });
});

describe('by managers', () => {
  const of = (id: string, managerId: string | null) => ({ id, name: `Name ${id}`, managerId });

  test('each manager owns a group with their people, in the group in which the manager is', () => {
    const { groups, accessOf } = treeByManagers([
      of('ceo', null),
      of('cto', 'ceo'),
      of('dev', 'cto'),
      of('lone', 'unknown'),
    ]);
    expect(groups).toEqual([
      { externalId: teamKeyOf('ceo'), name: 'Name ceo', parent: null },
      { externalId: teamKeyOf('cto'), name: 'Name cto', parent: teamKeyOf('ceo') },
    ]);
    const access = (id: string) => accessOf({ id, resource: {} });
    expect(access('ceo')).toEqual({ memberOf: [teamKeyOf('ceo')], adminOf: [teamKeyOf('ceo')] });
    expect(access('cto')).toEqual({ memberOf: [teamKeyOf('ceo')], adminOf: [teamKeyOf('cto')] });
    expect(access('dev')).toEqual({ memberOf: [teamKeyOf('cto')], adminOf: [] });
    expect(access('lone')).toEqual({ memberOf: [], adminOf: [] });
  });

  test('circles and long chains never make a circle or too deep a tree, whatever the order', () => {
    const ids = fc.array(fc.integer({ min: 0, max: 8 }), { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(ids, (managers) => {
        const users = managers.map((manager, i) => of(String(i), String(manager)));
        const { groups } = treeByManagers(users);
        const parents = new Map(groups.map(({ externalId, parent }) => [externalId, parent]));
        for (const start of parents.keys()) {
          let [at, steps]: [string | null | undefined, number] = [start, 0];
          while (at && steps < 20) [at, steps] = [parents.get(at), steps + 1];
          expect(steps).toBeLessThan(20);
          for (const parent of parents.values())
            expect(parent === null || parents.has(parent ?? '')).toBe(true);
        }
        expect(treeByManagers(users.toReversed()).groups).toEqual(groups);
      }),
    );
    const chain = Array.from({ length: 300 }, (_, i) =>
      of(String(i).padStart(3, '0'), i === 0 ? null : String(i - 1).padStart(3, '0')),
    );
    const { groups } = treeByManagers(chain);
    const parents = new Map(groups.map(({ externalId, parent }) => [externalId, parent]));
    const depth = (key: string): number => (parents.get(key) ? 1 + depth(parents.get(key) as string) : 1);
    expect(Math.max(...groups.map(({ externalId }) => depth(externalId)))).toBeLessThanOrEqual(100);
  });
});

test('by groups, a group in another one is its subgroup, and circles are cut', () => {
  const groups = [
    { id: 'a', name: 'A', parentIds: ['b'] },
    { id: 'b', name: 'B', parentIds: ['a'] },
    { id: 'c', name: 'C', parentIds: ['b'] },
  ];
  const tree = treeByGroups(groups, new Map([['u', ['c', 'gone']]]));
  expect(tree.groups.map(({ externalId, parent }) => [externalId, parent])).toEqual([
    ['a', null],
    ['b', 'a'],
    ['c', 'b'],
  ]);
  expect(tree.accessOf({ id: 'u', resource: {} })).toEqual({ memberOf: ['c'] });
});

test('different attributes never become the same group', () => {
  const enterprise = (division: string, department?: string) => ({
    [enterpriseSchema]: { division, ...(department !== undefined && { department }) },
  });
  const users = ['a/b', 'a_b', 'a%2Fb', 'a%2fb', 'a\u0000b'].map((name, i) => ({
    id: String(i),
    resource: enterprise(name),
  }));
  const split = { id: 'split', resource: enterprise('a', 'b') };
  const joined = { id: 'joined', resource: enterprise('a/department=b') };
  const { groups } = treeByAttributes(['division', 'department'], [...users, split, joined]);
  // "a%2Fb" and "a%2fb" differ only in case.
  expect(new Set(groups.map(({ externalId }) => externalId)).size).toBe(7);
});

test('a name is never cut within a character', () => {
  const name = `a${'😀'.repeat(300)}`;
  const resource = { [enterpriseSchema]: { division: name } };
  const trees = [
    treeByAttributes(['division'], [{ id: 'u', resource }]),
    treeByManagers([
      { id: 'm', name, managerId: null },
      { id: 'u', name: 'u', managerId: 'm' },
    ]),
    treeByGroups([{ id: 'g', name, parentIds: [] }], new Map()),
  ];
  for (const { groups } of trees) {
    expect(groups).toHaveLength(1);
    expect(groups[0]!.name.isWellFormed()).toBe(true);
  }
});
