// Removals that are refused: those that cause it stay, such as the last administrator, and all others do not.
import { expect, test } from 'vitest';
import {
  directoryRuns,
  openDirectory,
  patchOf,
  peopleOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';

useService();

const names = ['Anna', 'Bob', 'Carl', 'Dora'] as const;

/** A directory of four people. The first three are administrators. The account's first administrator, who is not in the directory, is inactive. */
async function administered(): Promise<{ directory: TestDirectory; ids: Record<string, string> }> {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const ids: Record<string, string> = {};
  for (const name of names) ids[name] = await directory.create('Users', userOf(name));
  await directory.apply();
  await world.pool`
    update users set role = 'Administrator', role_pending = false
    where  account_id = ${accountId} and first_name in ('Anna', 'Bob', 'Carl')`;
  await world.pool`update users set active = false where account_id = ${accountId} and not by_scim`;
  return { directory, ids };
}

/** Requires single sign-on, with these break-glass administrators, who can sign in. */
async function requireSso({ account: { id } }: TestDirectory, breakGlass: string[]): Promise<void> {
  await world.pool`insert into sign_in_rules (account_id, entry_key, requires_sso) values (${id}, ${`key-${id}`}, true)`;
  const chosen = world.pool`select account_id, user_id from users where account_id = ${id} and first_name = any(${breakGlass})`;
  await world.pool`insert into break_glass_administrators (account_id, user_id) ${chosen}`;
  await world.pool`insert into passwords (account_id, user_id, hash) select account_id, user_id, 'x' from (${chosen}) u`;
  await world.pool`
    insert into two_factor (account_id, user_id, secret, on_since) select account_id, user_id, '\\x00', now() from (${chosen}) u`;
}

async function remove(directory: TestDirectory, ids: (string | undefined)[]): Promise<void> {
  for (const id of ids)
    await directory.send('PATCH', `/Users/${id}`, patchOf({ op: 'replace', path: 'active', value: false }));
}

/** Returns the active people of the directory, and those that the refused runs name. */
async function stateOf({ account: { id } }: TestDirectory) {
  const people = Object.values(await peopleOf(id));
  const named = await world.pool<{ type: string; key: string }[]>`
    select w ->> 'type' as type, w ->> 'externalId' as key from runs, json_array_elements(warnings) w
    where  account_id = ${id} and source = 'scim' and outcome = 'refused' order by run_id`;
  return {
    active: people
      .flatMap(({ name, active, bySource }) => (active && bySource === 'scim' ? [name] : []))
      .toSorted(),
    named: [...named],
  };
}

test('the last break-glass administrator stays, and the other administrators of the removal do not', async () => {
  const { directory, ids } = await administered();
  await requireSso(directory, ['Anna']);
  await remove(directory, [ids['Anna'], ids['Bob']]);
  await directory.apply(20);
  expect(await stateOf(directory)).toEqual({
    active: ['Anna', 'Carl', 'Dora'],
    named: [{ type: 'last break-glass', key: ids['Anna'] }],
  });
  expect((await directoryRuns(directory.account.id)).map(({ outcome }) => outcome)).toEqual([
    'applied',
    'refused',
    'applied',
  ]);
});

test('of several break-glass administrators, only the one that the directory removed last stays', async () => {
  const { directory, ids } = await administered();
  await requireSso(directory, ['Anna', 'Carl']);
  await remove(directory, [ids['Carl'], ids['Anna'], ids['Bob'], ids['Dora']]);
  await directory.apply(20);
  expect(await stateOf(directory)).toMatchObject({ active: ['Anna'], named: [{ key: ids['Anna'] }] });
});

test('of all administrators of an account, only the one that the directory removed last stays', async () => {
  const { directory, ids } = await administered();
  await remove(directory, [ids['Carl'], ids['Anna'], ids['Bob'], ids['Dora']]);
  await directory.apply(20);
  await directory.apply(40);
  expect(await stateOf(directory)).toEqual({
    active: ['Bob'],
    named: [{ type: 'no administrator', key: ids['Bob'] }],
  });
});

test('only one administrator stays out of a pending run', async () => {
  const { directory, ids } = await administered();
  const { id: accountId } = directory.account;
  await world.pool`update accounts set max_users_deleted = 1 where account_id = ${accountId}`;
  await requireSso(directory, ['Carl']);
  await remove(directory, [ids['Carl'], ids['Anna'], ids['Bob'], ids['Dora']]);
  await directory.apply();
  const pending = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
  expect(pending?.summary.users).toMatchObject({ updated: 3 });
  expect((await stateOf(directory)).named).toEqual([{ type: 'no administrator', key: ids['Carl'] }]);
});

/** Makes a person someone whose deactivation is refused, and returns the externalId. */
async function spoil({ account: { id: accountId } }: TestDirectory, id: string): Promise<string> {
  const key = id.padEnd(300, 'x');
  await world.pool`update scim_users set person_key = ${key} where account_id = ${accountId} and scim_id = ${id}`;
  await world.pool`update users set external_id = ${key} where account_id = ${accountId} and external_id = ${id}`;
  return key;
}

test('a removal that is refused for another reason keeps no one else', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const ids: string[] = [];
  for (let i = 0; i < 40; i++) ids.push(await directory.create('Users', userOf(`u${i}`)));
  await directory.apply();
  const bad = await spoil(directory, ids[1] as string);
  const removed = ids.slice(0, 4);
  await remove(directory, removed);
  await directory.apply(20);
  const { active, named } = await stateOf(directory);
  expect([active.length, active.includes('u1'), named]).toEqual([
    37,
    true,
    [{ type: 'invalid externalId', key: bad }],
  ]);
  // The change of the user is refused too.
  const outcomes = (await directoryRuns(accountId)).map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['applied', 'refused', 'refused', 'applied']);
});

test('many removals that are refused for another reason keep no one else, minute by minute', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const ids: string[] = [];
  for (let i = 0; i < 64; i++) ids.push(await directory.create('Users', userOf(`u${i}`)));
  await directory.apply();
  await world.pool`update scim_directories set settle_minutes = 0 where account_id = ${accountId}`;
  // All removals of the day are one pending run, because they are more than a tenth.
  const bad: string[] = [];
  for (const id of ids.filter((_, i) => i % 4 === 0)) bad.push(await spoil(directory, id));
  await remove(directory, ids);
  for (let minute = 20; minute < 40; minute++) await directory.apply(minute);
  const { named } = await stateOf(directory);
  expect(named.map(({ key }) => key).toSorted()).toEqual(bad.toSorted());
  const pending = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
  expect(pending?.summary.users.updated).toBe(48);
});

test('someone who can’t be removed and the last administrator stay, and the others do not', async () => {
  const { directory, ids } = await administered();
  const bad = await spoil(directory, ids['Dora'] as string);
  await remove(directory, [ids['Carl'], ids['Dora'], ids['Anna'], ids['Bob']]);
  await directory.apply(20);
  await directory.apply(40);
  const { active, named } = await stateOf(directory);
  expect(active).toEqual(['Bob', 'Dora']);
  expect(named.map(({ key }) => key).toSorted()).toEqual([bad, ids['Bob']].toSorted());
});
