// One clear rule: each person and group belongs to the source that created it. Pushes and files leave those of the directory alone, and
// the other way round, until an administrator hands them over.
import { expect, test } from 'vitest';
import { releaseUser } from '../../people/handover.ts';
import {
  directoryRuns,
  groupOf,
  groupTree,
  openDirectory,
  patchOf,
  peopleOf,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { applyRule, planRule } from './rules.ts';
import { planTakeover, takeOverPeople } from './takeover.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { inTransaction } from '../../db/db.ts';

useService();

const settings = { validateOnly: false };
const pushed = (externalId: string, more: object = {}) => ({
  externalId,
  firstName: externalId,
  lastName: 'Pushed',
  ...more,
});
const decider = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };
const sources = async (accountId: number) =>
  Object.fromEntries(Object.values(await peopleOf(accountId)).map(({ name, bySource }) => [name, bySource]));

test('a push neither removes nor changes the people and groups of the directory, and the directory not those of pushes', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const anna = await directory.create('Users', userOf('anna'));
  await directory.create('Groups', groupOf('Sales', [anna]));
  await directory.apply();
  const plan = await planRule(world.pool, account.id, { kind: 'groups' }, deleteGroupResults);
  await applyRule(
    world.pool,
    account.id,
    { rule: { kind: 'groups' }, summary: plan.summary, by: decider },
    deleteGroupResults,
  );
  const data = {
    users: [pushed('bo', { accessInfo: { memberOf: ['g'] } })],
    groups: [{ externalId: 'g', name: 'Pushed group' }],
  };
  expect((await account.push({ settings, data })).body.summary).toMatchObject({
    users: { created: 1, deleted: 0 },
    groups: { deleted: 0 },
  });
  expect(await sources(account.id)).toEqual({ anna: 'scim', bo: 'push' });
  expect(Object.keys(await groupTree(account.id)).toSorted()).toEqual(['Pushed group', 'Sales']);
  // An empty list removes only what pushes created.
  expect((await account.push({ settings, data: { users: [], groups: [] } })).body.summary).toMatchObject({
    users: { deleted: 1 },
    groups: { deleted: 1 },
  });
  expect(await sources(account.id)).toEqual({ anna: 'scim' });
  expect((await peopleOf(account.id))['anna']?.groups).toEqual(['Sales']);
});

test('a push that lists a person or group of the directory is refused as a whole, and says why', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const anna = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const { status, body } = await account.push({ settings, data: { users: [pushed(anna)] } });
  expect([status, body.details[0]]).toMatchObject([
    400,
    { type: 'other source', path: '/data/users/0/externalId' },
  ]);
  const address = await account.push({
    settings,
    data: { users: [pushed('bo', { email: 'Anna@example.com' })] },
  });
  expect([address.status, address.body.details[0]]).toMatchObject([400, { type: 'duplicate email' }]);
  expect(await sources(account.id)).toEqual({ anna: 'scim' });
});

test('a person of a push can join a group of the directory, and stays in it', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const sales = await directory.create('Groups', groupOf('Sales'));
  const plan = await planRule(world.pool, account.id, { kind: 'groups' }, deleteGroupResults);
  await applyRule(
    world.pool,
    account.id,
    { rule: { kind: 'groups' }, summary: plan.summary, by: decider },
    deleteGroupResults,
  );
  const user = (memberOf: string[]) => ({
    settings,
    data: { users: [pushed('bo', { accessInfo: { memberOf } })] },
  });
  expect((await account.push(user([sales]))).status).toBe(200);
  expect((await account.push(user([]))).status).toBe(200);
  await directory.send(
    'PATCH',
    `/Groups/${sales}`,
    patchOf({ op: 'replace', value: { displayName: 'Sales and marketing' } }),
  );
  await directory.apply();
  expect((await peopleOf(account.id))['bo']?.groups).toEqual(['Sales and marketing']);
});

test('a user of the directory who exists already waits, until an administrator hands the person over', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const users = [pushed('anna', { email: 'anna@example.com' }), pushed('bo')];
  expect((await account.push({ settings, data: { users } })).status).toBe(200);
  await directory.create('Users', userOf('anna', { name: { givenName: 'Renamed', familyName: 'Person' } }));
  await directory.apply();
  await directory.apply(600);
  expect(await sources(account.id)).toEqual({ anna: 'push', bo: 'push' });
  expect(await directoryRuns(account.id)).toEqual([]);
  const chosen = { id: undefined, by: 0 };
  const takeOver = (digest: string) =>
    takeOverPeople(
      world.pool,
      account.id,
      { ...chosen, digest, actor: decider, canMail: false },
      deleteGroupResults,
    );
  const { digest, pairs } = await planTakeover(world.pool, account.id, chosen, deleteGroupResults);
  expect(pairs).toMatchObject([
    { name: 'Renamed Person', person: { name: 'anna Pushed', role: 'User', source: 'push' } },
  ]);
  await expect(takeOver('other')).rejects.toMatchObject({ code: 'changed since' });
  // Someone who has become an administrator meanwhile is not handed over with the others.
  const setRole = (role: string) =>
    world.pool`update users set role = ${role} where account_id = ${account.id} and external_id = 'anna'`;
  await setRole('Administrator');
  await expect(takeOver(digest)).rejects.toMatchObject({ code: 'changed since' });
  await setRole('User');
  expect(await takeOver(digest)).toBe(1);
  await directory.apply();
  expect(await sources(account.id)).toEqual({ Renamed: 'scim', bo: 'push' });
  // The person keeps their externalId, so a push that still lists them is refused and says why.
  expect((await account.push({ settings, data: { users } })).body.details[0]).toMatchObject({
    type: 'other source',
    externalId: 'anna',
  });
  expect(
    (await account.push({ settings, data: { users: [pushed('bo')] } })).body.summary.users,
  ).toMatchObject({ deleted: 0 });
});

test('a person who is handed over to be managed manually no longer follows the directory', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const anna = await directory.create('Users', userOf('anna'));
  await directory.apply();
  const [row] = await world.pool<
    { id: number }[]
  >`select user_id as id from users where account_id = ${account.id} and by_scim`;
  await inTransaction(world.pool, (tx) => releaseUser(tx, account.id, row!.id));
  await directory.send(
    'PATCH',
    `/Users/${anna}`,
    patchOf({ op: 'replace', path: 'name.givenName', value: 'Renamed' }),
  );
  await directory.apply();
  await directory.send('DELETE', `/Users/${anna}`);
  await directory.apply(600);
  expect(await sources(account.id)).toEqual({ anna: 'manual' });
});

test('the directory can not remove the last administrator', async () => {
  const directory = await openDirectory();
  const { account } = directory;
  const anna = await directory.create('Users', userOf('anna'));
  await directory.apply();
  await world.pool`update users set role = 'Administrator' where account_id = ${account.id} and by_scim`;
  await world.pool`update users set active = false where account_id = ${account.id} and not by_scim`;
  await directory.send('DELETE', `/Users/${anna}`);
  await directory.apply(600);
  await directory.apply(1200);
  expect(await sources(account.id)).toEqual({ anna: 'scim' });
  const [run, ...others] = await directoryRuns(account.id);
  expect([run?.outcome, others.length]).toEqual(['refused', 1]);
});

test('the same directory in two accounts never meets', async () => {
  const [one, other] = [await openDirectory(), await openDirectory()];
  const id = await one.create('Users', userOf('anna'));
  await other.create('Users', userOf('anna'));
  expect((await other.send('GET', `/Users/${id}`)).status).toBe(404);
  expect((await other.send('DELETE', `/Users/${id}`)).status).toBe(404);
  expect(
    (await other.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false })))
      .status,
  ).toBe(404);
  await one.apply();
  await other.apply();
  expect([await sources(one.account.id), await sources(other.account.id)]).toEqual([
    { anna: 'scim' },
    { anna: 'scim' },
  ]);
});
