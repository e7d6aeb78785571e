// A group that the directory deletes keeps its place, its subgroups and its members until an administrator has decided about its removal.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TreeRule } from '@soundings/contract/scim/directory.ts';
import { approveRun, rejectRun } from '../../files/approval.ts';
import { deleteGroupResults } from '../../results/published-figures.ts';
import { cases } from '../../testing/house/cases.ts';
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
import { refuseOutdated } from './removals.ts';
import { applyRule, planRule } from './rules.ts';

useService();

const by = { origin: 'console' as const, userId: 1, address: '127.0.0.1' };
const people = ['anna', 'bo', 'cy'];
const names = ['Red', 'Green', 'Blue', 'Grey'];

/** What the directory has of a group, and what has stayed of it. `left`: memberships that the directory no longer has. */
type Model = { id: string; isGone: boolean; isApplied: boolean; members: Set<string>; left: Set<string> };

const [name, person] = [fc.constantFrom(...names), fc.constantFrom(...people)];
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('create' as const), name, with: fc.subarray(people) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('create again' as const), name }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('delete' as const), name }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('join' as const), name, who: fc.oneof(person, name) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('leave' as const), name, who: fc.oneof(person, name) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('run' as const), minutes: fc.constantFrom(0, 5, 30) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('approve' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reject' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** An account with people, in which each removal of a group awaits approval. */
async function openCompany(): Promise<{ directory: TestDirectory; ids: Map<string, string> }> {
  const directory = await openDirectory();
  const { id: accountId } = directory.account;
  await world.pool`update accounts set max_groups_deleted = 0 where account_id = ${accountId}`;
  const ids = new Map<string, string>();
  for (const one of people) ids.set(one, await directory.create('Users', userOf(one)));
  const rule: TreeRule = { kind: 'groups' };
  const { summary } = await planRule(world.pool, accountId, rule, deleteGroupResults);
  await applyRule(world.pool, accountId, { rule, summary, by }, deleteGroupResults);
  return { directory, ids };
}

/** Returns the tree, the groups of each person, and the ids of the groups. */
async function stateOf(accountId: number) {
  const groupsOf = Object.entries(await peopleOf(accountId)).map(([who, { groups }]) => [who, groups]);
  const ids = await world.pool<{ name: string; id: number }[]>`
    select name as "name", group_id as "id" from groups where account_id = ${accountId}`;
  return {
    tree: await groupTree(accountId),
    people: Object.fromEntries(groupsOf) as Record<string, string[]>,
    ids: new Map(ids.map((row) => [row.name, row.id])),
  };
}

const isIn = (group: Model, who: string) => group.members.has(who) || group.left.has(who);

/** The state that a model demands. */
function stateFrom(groups: ReadonlyMap<string, Model>) {
  const above = (who: string) => [...groups].filter(([, group]) => isIn(group, who)).map(([one]) => one);
  return {
    tree: Object.fromEntries([...groups.keys()].map((one) => [one, above(one)[0] ?? null])),
    people: Object.fromEntries(people.map((one) => [one, above(one).toSorted()])),
  };
}

/** A directory and the model of it. `removed`: the groups whose removal was approved since the state was compared. */
type Company = {
  directory: TestDirectory;
  ids: Map<string, string>;
  groups: Map<string, Model>;
  removed: Set<string>;
};

const isAlive = ({ groups }: Company, who: string) =>
  people.includes(who) || groups.get(who)?.isGone === false;

/** Notes that someone joins: who really is new leaves the groups that they have left for the directory. */
function noteJoin({ groups }: Company, group: Model, who: string): void {
  if (group.members.has(who)) return;
  group.members.add(who);
  if (!group.left.delete(who)) for (const other of groups.values()) other.left.delete(who);
}

async function create(company: Company, one: string, members: string[]): Promise<void> {
  const { directory, ids, groups } = company;
  const id = await directory.create(
    'Groups',
    groupOf(
      one,
      members.map((who) => ids.get(who) as string),
    ),
  );
  ids.set(one, id);
  const group = groups.get(one) ?? { isApplied: false, members: new Set(), left: new Set() };
  groups.set(one, { ...group, id, isGone: false });
  for (const who of members) noteJoin(company, groups.get(one) as Model, who);
}

async function remove({ directory, groups }: Company, one: string, group: Model): Promise<void> {
  expect((await directory.send('DELETE', `/Groups/${group.id}`)).status).toBe(204);
  for (const who of group.members) group.left.add(who);
  group.members.clear();
  group.isGone = true;
  for (const other of groups.values()) if (other.members.delete(one)) other.left.add(one);
  if (!group.isApplied) forget(groups, one);
}

function forget(groups: Map<string, Model>, one: string): void {
  groups.delete(one);
  for (const other of groups.values()) for (const set of [other.members, other.left]) set.delete(one);
}

/** Whether `who` is a group that contains `one`, or is it. */
function isAbove({ groups }: Company, who: string, one: string): boolean {
  for (let at: string | undefined = one; at !== undefined;) {
    if (at === who) return true;
    const below: string = at;
    at = [...groups].find(([, group]) => isIn(group, below))?.[0];
  }
  return false;
}

async function join(company: Company, one: string, who: string): Promise<void> {
  const { directory, ids, groups } = company;
  const group = groups.get(one) as Model;
  if (!isAlive(company, who) || isAbove(company, who, one)) return;
  // A group is in one other group at a time.
  if (names.includes(who))
    for (const other of groups.values())
      if (other !== group && other.members.has(who)) await leave(company, other, who);
  const value = [{ value: ids.get(who) }];
  await directory.send('PATCH', `/Groups/${group.id}`, patchOf({ op: 'Add', path: 'members', value }));
  noteJoin(company, group, who);
}

async function leave(company: Company, group: Model, who: string): Promise<void> {
  const id = company.ids.get(who);
  if (id === undefined) return;
  const path = `members[value eq "${id}"]`;
  await company.directory.send('PATCH', `/Groups/${group.id}`, patchOf({ op: 'Remove', path }));
  group.members.delete(who);
  if (isAlive(company, who)) group.left.delete(who);
}

async function run(company: Company, minutes: number): Promise<void> {
  const { directory, groups } = company;
  await directory.apply(minutes);
  for (const group of groups.values()) {
    group.isApplied = true;
    // Ten minutes after a group was created again, only what the directory has written is left of it.
    if (minutes < 10 || group.isGone) continue;
    for (const who of group.left) if (isAlive(company, who)) group.left.delete(who);
  }
}

async function decide(company: Company, decision: 'approve' | 'reject'): Promise<void> {
  const { directory, groups } = company;
  const { id: accountId } = directory.account;
  // What the pending run shows is brought up to date a minute later.
  await world.pool`update scim_directories set pending_at = '2000-01-01' where account_id = ${accountId}`;
  await run(company, 0);
  const pending = (await directoryRuns(accountId)).find(({ outcome }) => outcome === 'pending');
  if (!pending) return;
  const wanted = await world.pool<{ name: string }[]>`
    select g.name as "name" from run_changes c join groups g on g.account_id = c.account_id and g.external_id = c.external_id
    where c.account_id = ${accountId} and c.run_id = ${pending.id} and c.entity = 'group' and c.action = 'delete'`;
  if (decision === 'approve') {
    await approveRun(world.pool, accountId, pending.id, { deleteGroupResults, refuseOutdated });
    for (const one of wanted) {
      forget(groups, one.name);
      company.removed.add(one.name);
    }
  } else await rejectRun(world.pool, accountId, pending.id, by);
  await run(company, 0);
}

async function take(company: Company, one: Step): Promise<void> {
  if (one.do === 'run') return run(company, one.minutes);
  if (one.do === 'approve' || one.do === 'reject') return decide(company, one.do);
  const group = company.groups.get(one.name);
  if (!group || group.isGone) {
    if (one.do === 'create') await create(company, one.name, one.with);
    if (one.do === 'create again' && group)
      await create(
        company,
        one.name,
        [...group.left].filter((who) => isAlive(company, who)),
      );
  } else if (one.do === 'delete') await remove(company, one.name, group);
  else if (one.do === 'join') await join(company, one.name, one.who);
  else if (one.do === 'leave') await leave(company, group, one.who);
}

test('in any order, no run changes the tree because of a deletion before it is decided', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, fc.boolean()), { minLength: 5, maxLength: 30 }),
      async (steps) => {
        const company: Company = { ...(await openCompany()), groups: new Map(), removed: new Set() };
        const { id: accountId } = company.directory.account;
        let before = await stateOf(accountId);
        const removed = company.removed;
        for (const [one, isApplied] of steps) {
          await take(company, one);
          if (one.do !== 'run' && !isApplied) continue;
          if (one.do !== 'run') await run(company, 0);
          const { ids, ...state } = await stateOf(accountId);
          expect(state).toEqual(stateFrom(company.groups));
          // A group that was created again is the same one, with its history.
          const kept = [...before.ids].filter(([it]) => !removed.has(it));
          expect([...ids]).toEqual(expect.arrayContaining(kept));
          before = { ids, ...state };
          removed.clear();
        }
        await decide(company, 'approve');
        await run(company, 30);
        const { tree, people: members } = await stateOf(accountId);
        expect({ tree, people: members }).toEqual(stateFrom(company.groups));
      },
    ),
    cases(40),
  );
});
