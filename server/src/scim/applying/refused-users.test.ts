// A user of the directory that Soundings can't take stops no one else, and is tried less and less often until something changes.
import { expect, test } from 'vitest';
import {
  groupOf,
  groupTree,
  openDirectory,
  patchOf,
  peopleOf,
  userOf,
  useService,
  world,
} from '../scim.fixture.ts';
import { selectDirectoriesDue } from './directories.sql.ts';

useService();

test('a user who is refused stops no one else, is shown, and waits longer each time until the directory changes it', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const ids = new Map<string, string>();
  for (const name of ['a', 'b', 'c', 'd', 'e']) ids.set(name, await directory.create('Users', userOf(name)));
  const bad = ids.get('c') as string;
  const key = (text: string) =>
    world.pool`update scim_users set person_key = ${text} where account_id = ${accountId} and scim_id = ${bad}`;
  await key('x'.repeat(300));
  const names = async () => Object.keys(await peopleOf(accountId)).toSorted();
  const state = async () => {
    const [row] = await world.pool<{ failures: number; seconds: number }[]>`
      select failures, extract(epoch from retry_at - now())::integer as seconds from scim_users
      where account_id = ${accountId} and scim_id = ${bad}`;
    return row!;
  };
  await directory.apply();
  expect(await names()).toEqual(['a', 'b', 'd', 'e']);
  const shown = await world.pool`
    select details -> 0 ->> 'type' as type, details -> 0 ->> 'path' as path from runs
    where account_id = ${accountId} and outcome = 'refused'`;
  expect([...shown]).toEqual([
    { type: 'invalid externalId', path: expect.stringContaining('/externalId') as unknown },
  ]);
  expect(await state()).toMatchObject({ failures: 1 });
  expect(await selectDirectoriesDue(world.pool)).not.toContain(accountId);
  // Not tried again before it is due, and then after twice the time.
  await directory.apply();
  expect((await state()).failures).toBe(1);
  await directory.apply(2);
  const second = await state();
  expect(second.failures).toBe(2);
  expect(second.seconds).toBeGreaterThan(200);
  for (const minutes of [10, 30, 100, 200, 400, 600]) await directory.apply(minutes);
  expect((await state()).seconds).toBeLessThanOrEqual(660 * 60);
  await key(bad);
  await directory.send('PATCH', `/Users/${bad}`, patchOf({ op: 'add', path: 'nickName', value: 'C' }));
  expect(await selectDirectoriesDue(world.pool)).toContain(accountId);
  await directory.apply();
  expect(await names()).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect((await state()).failures).toBe(0);
});

const stateOf = async (accountId: number) => {
  const [row] = await world.pool<{ waiting: number; failed: number; refused: number }[]>`
    select count(*) filter (where changes <> applied)::integer as waiting,
           count(*) filter (where failures > 0 or retry_at is not null)::integer as failed,
           (select count(*)::integer from runs where account_id = ${accountId} and outcome = 'refused') as refused
    from scim_users where account_id = ${accountId}`;
  return row!;
};

test('many users who are refused delay the others by minutes, and only they wait longer', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  for (let i = 0; i < 64; i++) await directory.create('Users', userOf(`u${i}`));
  await world.pool`
    update scim_users set person_key = rpad(scim_id::text, 300, 'x')
    where account_id = ${accountId} and substring(user_name from 'u([0-9]+)')::integer % 2 = 1`;
  const applied = async () => Object.keys(await peopleOf(accountId)).length;
  await directory.apply();
  const { waiting, failed } = await stateOf(accountId);
  expect(waiting).toBeGreaterThan(failed);
  expect(failed + (await applied())).toBeGreaterThan(5);
  for (let minute = 1; minute <= 12; minute++) await directory.apply(minute);
  expect([await applied(), (await stateOf(accountId)).waiting]).toEqual([32, 32]);
});

test('if the tree itself is refused, everyone waits, and the refusal is shown once', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  for (let i = 0; i < 48; i++) await directory.create('Users', userOf(`u${i}`));
  await directory.create('Groups', groupOf('Sales'));
  await world.pool`insert into scim_directories (account_id, rule) values (${accountId}, '{"kind": "groups"}')`;
  const key = (text: string | null) =>
    world.pool`update scim_groups set group_key = ${text} where account_id = ${accountId}`;
  await key('x'.repeat(300));
  await directory.apply();
  expect(await stateOf(accountId)).toEqual({ waiting: 48, failed: 48, refused: 1 });
  await key(null);
  await directory.apply(2);
  expect(await stateOf(accountId)).toEqual({ waiting: 0, failed: 0, refused: 1 });
});

test('a refused tree without users is tried less and less often, and at once when the directory changes a group', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const [sales, north] = [
    await directory.create('Groups', groupOf('Sales')),
    await directory.create('Groups', groupOf('North')),
  ];
  await world.pool`insert into scim_directories (account_id, rule) values (${accountId}, '{"kind": "groups"}')`;
  const key = (text: string | null) =>
    world.pool`update scim_groups set group_key = ${text} where account_id = ${accountId} and scim_id = ${sales}`;
  const isDue = async () => (await selectDirectoriesDue(world.pool)).includes(accountId);
  const failures = async () => {
    const rows = await world.pool<{ failures: number }[]>`
      select distinct failures from scim_groups where account_id = ${accountId}`;
    return rows.map((row) => row.failures);
  };
  const rename = (name: string) =>
    directory.send('PATCH', `/Groups/${north}`, patchOf({ op: 'replace', path: 'displayName', value: name }));
  await key('x'.repeat(300));
  await directory.apply();
  expect([await isDue(), await failures()]).toEqual([false, [1]]);
  // Not before a minute has passed, then after two, four and so on, and at least once an hour.
  await directory.apply();
  expect(await failures()).toEqual([1]);
  for (const [minute, wanted] of [
    [1, 2],
    [2, 2],
    [3, 3],
    [6, 3],
    [7, 4],
    [15, 5],
    [31, 6],
    [63, 7],
    [122, 7],
    [123, 8],
    [182, 8],
    [183, 9],
  ] as const) {
    await directory.apply(minute);
    expect([minute, await failures()]).toEqual([minute, [wanted]]);
  }
  await rename('South');
  expect(await isDue()).toBe(true);
  await directory.apply();
  expect([await isDue(), await failures()]).toEqual([false, [1]]);
  await key(null);
  await directory.apply();
  expect(await groupTree(accountId)).toEqual({});
  await directory.apply(1);
  expect(await groupTree(accountId)).toEqual({ Sales: null, South: null });
  expect(await stateOf(accountId)).toMatchObject({ refused: 1 });
});

test('an administrator who is refused stops no other administrator', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const ids: string[] = [];
  for (const name of ['a', 'b', 'c', 'd']) ids.push(await directory.create('Users', userOf(name)));
  await directory.apply();
  await world.pool`
    update users set role = case when first_name in ('a', 'b', 'c') then 'Administrator' else 'User' end, role_pending = false
    where  account_id = ${accountId}`;
  for (const [i, id] of ids.entries())
    await directory.send(
      'PATCH',
      `/Users/${id}`,
      patchOf({ op: 'replace', path: 'emails[type eq "work"].value', value: `new${i}@example.com` }),
    );
  await directory.apply();
  const emails = Object.values(await peopleOf(accountId)).map(({ email }) => email);
  expect(emails.toSorted()).toEqual([
    'c@example.com',
    'new0@example.com',
    'new1@example.com',
    'new3@example.com',
  ]);
  expect(await stateOf(accountId)).toEqual({ waiting: 1, failed: 1, refused: 1 });
});

test('a refused member of a changed group is not tried earlier, and the group is not applied again each minute', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const bad = await directory.create('Users', userOf('bad'));
  const good = await directory.create('Users', userOf('good'));
  const group = await directory.create('Groups', groupOf('Sales'));
  await world.pool`insert into scim_directories (account_id, rule) values (${accountId}, '{"kind": "groups"}')`;
  await directory.apply();
  const key = async (from: string, to: string) => {
    await world.pool`update scim_users set person_key = ${to} where account_id = ${accountId} and person_key = ${from}`;
    await world.pool`update users set external_id = ${to} where account_id = ${accountId} and external_id = ${from}`;
  };
  await key(bad, bad.padEnd(300, 'x'));
  const join = (id: string) =>
    directory.send(
      'PATCH',
      `/Groups/${group}`,
      patchOf({ op: 'add', path: 'members', value: [{ value: id }] }),
    );
  const failures = async () => {
    const rows = await world.pool<{ failures: number }[]>`
      select failures from scim_users where account_id = ${accountId} and scim_id = ${bad}`;
    return rows[0]!.failures;
  };
  await join(bad);
  await directory.apply();
  expect(await failures()).toBe(1);
  expect(await selectDirectoriesDue(world.pool)).not.toContain(accountId);
  await join(good);
  await directory.apply();
  expect(await failures()).toBe(1);
  expect((await peopleOf(accountId))['good']?.groups).toEqual(['Sales']);
  await key(bad.padEnd(300, 'x'), bad);
  await directory.apply(2);
  expect((await peopleOf(accountId))['bad']?.groups).toEqual(['Sales']);
});

test('a refused manager of a changed user is not tried earlier', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const boss = await directory.create('Users', userOf('boss'));
  await world.pool`insert into scim_directories (account_id, rule) values (${accountId}, '{"kind": "managers"}')`;
  await world.pool`
    update scim_users set person_key = rpad(scim_id::text, 300, 'x') where account_id = ${accountId} and scim_id = ${boss}`;
  await directory.apply();
  await directory.create('Users', userOf('worker', {}, { manager: { value: boss } }));
  await directory.apply();
  expect(Object.keys(await peopleOf(accountId))).toEqual(['worker']);
  expect(await stateOf(accountId)).toMatchObject({ waiting: 1, failed: 1 });
  const [row] =
    await world.pool`select failures from scim_users where account_id = ${accountId} and scim_id = ${boss}`;
  expect(row).toEqual({ failures: 1 });
});

test('a user can be refused for years', async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  await directory.create('Users', userOf('bad'));
  await world.pool`
    update scim_users set person_key = rpad(scim_id::text, 300, 'x'), failures = 32767 where account_id = ${accountId}`;
  await directory.create('Users', userOf('good'));
  await directory.apply();
  expect(Object.keys(await peopleOf(accountId))).toEqual(['good']);
});
