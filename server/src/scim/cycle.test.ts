// A whole cycle of a directory: everyone is created, the groups follow, and the next cycle changes nothing.
import { expect, test } from 'vitest';
import { deleteGroupResults } from '../results/published-figures.ts';
import { applyRule, planRule } from './applying/rules.ts';
import {
  directoryRuns,
  groupOf,
  openDirectory,
  patchOf,
  type TestDirectory,
  userOf,
  useService,
  world,
} from './scim.fixture.ts';

useService();

const [people, groups] = [200, 20];
const by = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };

/** Sends requests as a directory does: a few at the same time. */
async function inParallel<T>(all: readonly T[], send: (one: T, i: number) => Promise<void>): Promise<void> {
  const queue = [...all.entries()];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) await send(next[1], next[0]);
  };
  await Promise.all(Array.from({ length: 4 }, worker));
}

/** Looks each user up, creates those who are missing, and sends the attributes of the others, like a cycle of Entra ID. */
async function cycle(
  { send, create }: TestDirectory,
  names: readonly string[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  await inParallel(names, async (name) => {
    const found = await send('GET', `/Users?filter=userName eq "${name}@example.com"`);
    const [user] = found.body.Resources;
    if (!user) return void ids.set(name, await create('Users', userOf(name)));
    ids.set(name, user.id);
    const value = {
      active: 'True',
      'name.givenName': name,
      'emails[type eq "work"].value': `${name}@example.com`,
    };
    await send('PATCH', `/Users/${user.id}`, patchOf({ op: 'Replace', value }));
  });
  return ids;
}

test(`${people} users and ${groups} groups, and then a cycle without changes`, async () => {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  const names = Array.from({ length: people }, (_, i) => `user${i}`);
  const ids = await cycle(directory, names);
  const groupIds: string[] = [];
  for (let i = 0; i < groups; i++) groupIds.push(await directory.create('Groups', groupOf(`Group ${i}`)));
  await inParallel(names, async (name, i) => {
    const group = groupIds[i % groups] as string;
    await directory.send(
      'PATCH',
      `/Groups/${group}`,
      patchOf({ op: 'Add', path: 'members', value: [{ value: ids.get(name) }] }),
    );
  });
  await directory.apply();
  const rule = { kind: 'groups' as const };
  const { summary } = await planRule(world.pool, accountId, rule, deleteGroupResults);
  expect(summary).toMatchObject({ groups: { created: groups }, users: { updated: people } });
  await applyRule(world.pool, accountId, { rule, summary, by }, deleteGroupResults);
  const state = async () => [
    (
      await world.pool`select count(*)::integer as n from users where account_id = ${accountId} and by_scim and active`
    )[0]?.['n'] as number,
    (
      await world.pool`select count(*)::integer as n from memberships where account_id = ${accountId} and kind = 'memberOf'`
    )[0]?.['n'] as number,
    (await directoryRuns(accountId)).length,
    (
      await world.pool`select sum(revision)::integer as n from scim_users where account_id = ${accountId}`
    )[0]?.['n'] as number,
  ];
  const before = await state();
  expect(before).toEqual([people, people, 2, people]);
  await cycle(directory, names);
  await directory.apply(600);
  expect(await state()).toEqual(before);
});
