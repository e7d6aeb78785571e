// The rule for the tree: its plan, applying exactly that plan, and following the directory afterwards.
import { describe, expect, test } from 'vitest';
import type { TreeRule } from '@soundings/contract/scim/directory.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import {
  directoryRuns,
  groupOf,
  groupTree,
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { enterpriseSchema } from '../protocol/schemas.ts';
import { applyRule, planRule } from './rules.ts';

useService();

const by = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };

async function choose({ account }: TestDirectory, rule: TreeRule) {
  const plan = await planRule(world.pool, account.id, rule, deleteGroupResults);
  await applyRule(world.pool, account.id, { rule, summary: plan.summary, by }, deleteGroupResults);
  return plan;
}

describe('a rule by attributes', () => {
  const rule: TreeRule = { kind: 'attributes', levels: ['division', 'department'] };

  test('shows its plan without changing anything, applies it, and follows the directory', async () => {
    const directory = await openDirectory();
    const { id: accountId } = directory.account;
    const anna = await directory.create(
      'Users',
      userOf('anna', {}, { division: 'Nordic', department: 'Sales' }),
    );
    await directory.create('Users', userOf('bo', {}, { division: 'Nordic' }));
    await directory.apply();
    const plan = await planRule(world.pool, accountId, rule, deleteGroupResults);
    expect(plan.summary).toMatchObject({ groups: { created: 2 }, users: { updated: 2 } });
    expect(plan.changes.slice(0, 2)).toMatchObject([
      { entity: 'group', name: 'Nordic' },
      { entity: 'group', name: 'Sales' },
    ]);
    expect([await groupTree(accountId), (await directoryRuns(accountId)).length]).toEqual([{}, 1]);
    await choose(directory, rule);
    expect(await groupTree(accountId)).toEqual({ Nordic: null, Sales: 'Nordic' });
    const path = `${enterpriseSchema}:department`;
    await directory.send('PATCH', `/Users/${anna}`, patchOf({ op: 'Add', path, value: 'Support' }));
    await directory.apply();
    const people = await peopleOf(accountId);
    expect([people['anna']?.groups, people['bo']?.groups]).toEqual([['Support'], ['Nordic']]);
    // A group that has become empty keeps its history until an administrator applies the rule again.
    expect(Object.keys(await groupTree(accountId)).toSorted()).toEqual(['Nordic', 'Sales', 'Support']);
    expect((await choose(directory, rule)).summary).toMatchObject({
      groups: { deleted: 1 },
      users: { updated: 0 },
    });
    expect(Object.keys(await groupTree(accountId)).toSorted()).toEqual(['Nordic', 'Support']);
  });

  test('that would change something else than its plan showed is not applied', async () => {
    const directory = await openDirectory();
    const { id: accountId } = directory.account;
    await directory.create('Users', userOf('anna', {}, { department: 'Sales' }));
    const { summary } = await planRule(world.pool, accountId, rule, deleteGroupResults);
    await directory.create('Users', userOf('bo', {}, { department: 'Support' }));
    const applied = applyRule(world.pool, accountId, { rule, summary, by }, deleteGroupResults);
    await expect(applied).rejects.toMatchObject({ code: 'changed since' });
    expect(await groupTree(accountId)).toEqual({});
  });

  test('leaves a top-level group where an administrator has moved it', async () => {
    const directory = await openDirectory();
    const { id: accountId } = directory.account;
    await directory.create('Users', userOf('anna', {}, { division: 'Nordic' }));
    await choose(directory, rule);
    await world.pool`
      with top as (insert into groups (account_id, managed, name) values (${accountId}, false, 'Company') returning group_id)
      update groups set parent_id = (select group_id from top) where account_id = ${accountId} and by_scim`;
    await directory.create('Users', userOf('bo', {}, { division: 'Nordic', department: 'Sales' }));
    await directory.apply();
    expect(await groupTree(accountId)).toEqual({ Company: null, Nordic: 'Company', Sales: 'Nordic' });
  });
});

test('a rule by managers makes managers of those who lead, and follows changes of managers', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const boss = await directory.create('Users', userOf('boss'));
  const lead = await directory.create('Users', userOf('lead', {}, { manager: { value: boss } }));
  const dev = await directory.create('Users', userOf('dev', {}, { manager: { value: boss } }));
  await choose(directory, { kind: 'managers' });
  expect(await groupTree(accountId)).toEqual({ 'boss Person': null });
  await directory.send(
    'PATCH',
    `/Users/${dev}`,
    patchOf({ op: 'Replace', path: `${enterpriseSchema}:manager`, value: lead }),
  );
  await directory.apply();
  expect(await groupTree(accountId)).toEqual({ 'boss Person': null, 'lead Person': 'boss Person' });
  const people = await peopleOf(accountId);
  expect([people['lead'], people['dev']]).toMatchObject([
    { groups: ['boss Person'], owns: ['lead Person'] },
    { groups: ['lead Person'], owns: [] },
  ]);
  const roles =
    await world.pool`select first_name, role from users where account_id = ${accountId} and by_scim order by 1`;
  expect(roles.map((row) => [row['first_name'], row['role']])).toEqual([
    ['boss', 'Manager'],
    ['dev', 'User'],
    ['lead', 'Manager'],
  ]);
});

test('a rule by groups follows members, names, nesting and removals', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const [anna, bo] = [
    await directory.create('Users', userOf('anna')),
    await directory.create('Users', userOf('bo')),
  ];
  const sales = await directory.create('Groups', groupOf('Sales', [anna]));
  const company = await directory.create('Groups', groupOf('Company', [sales]));
  await choose(directory, { kind: 'groups' });
  expect(await groupTree(accountId)).toEqual({ Company: null, Sales: 'Company' });
  const move = [
    { op: 'Add', path: 'members', value: [{ value: bo }] },
    { op: 'Remove', path: `members[value eq "${anna}"]` },
    { op: 'Replace', path: 'displayName', value: 'Sales Nordic' },
  ];
  expect((await directory.send('PATCH', `/Groups/${sales}`, patchOf(...move))).status).toBe(204);
  await directory.apply();
  const people = await peopleOf(accountId);
  expect([people['anna']?.groups, people['bo']?.groups]).toEqual([[], ['Sales Nordic']]);
  expect((await directory.send('DELETE', `/Groups/${company}`)).status).toBe(204);
  await directory.apply();
  expect(await groupTree(accountId)).toEqual({ Company: null, 'Sales Nordic': 'Company' });
  await directory.apply(20);
  expect(await groupTree(accountId)).toEqual({ 'Sales Nordic': null });
});

test('a manager who is deleted in the directory stays in the tree until the removal is applied', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const below = async (name: string, manager: string) =>
    directory.create('Users', userOf(name, {}, { manager: { value: manager } }));
  const boss = await directory.create('Users', userOf('boss'));
  const lead = await below('lead', boss);
  const sub = await below('sub', lead);
  await below('dev', sub);
  await choose(directory, { kind: 'managers' });
  const tree = { 'boss Person': null, 'lead Person': 'boss Person', 'sub Person': 'lead Person' };
  expect(await groupTree(accountId)).toEqual(tree);
  await directory.send('DELETE', `/Users/${lead}`);
  await below('newcomer', sub);
  await directory.apply();
  expect(await groupTree(accountId)).toEqual(tree);
});
