// Groups and attributes in the console: who sees which part of the tree, and which manual changes are possible.
import type {
  AttributeRow,
  GroupDetails,
  TreeOfGroups,
  MovePlan,
  RemovalPlan,
  DisallowedValues,
} from '@soundings/contract/console/groups.ts';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { subgroupsOf } from '../../people/tree.ts';
import { cases } from '../../testing/house/cases.ts';
import { type SendRequest, signIn } from '../../testing/signed-in.ts';
import { importLines, answerLine, question, round } from '../../testing/surveys.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
/** Sends requests as the manually created administrator. */
let ada: SendRequest;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const groups = [
  { externalId: 'top', name: 'Top' },
  { externalId: 'a', name: 'Å', parent: 'top' },
  { externalId: 'a1', name: 'Team 10', parent: 'a' },
  { externalId: 'a2', name: 'Team 9', parent: 'a' },
  { externalId: 'b', name: 'B', parent: 'top' },
];
const person = (externalId: string, accessInfo: object, more: object = {}) => ({
  externalId,
  firstName: externalId,
  lastName: 'X',
  accessInfo,
  ...more,
});
const users = [
  person('owner', { role: 'Manager', adminOf: ['a'], memberOf: ['a'] }),
  person('head', { role: 'Manager', inheritedAdminOf: ['a'], memberOf: ['b'] }),
  person('reader', { role: 'Manager', interestOf: ['a1', 'b'], memberOf: ['b'] }),
  person('plain', { memberOf: ['a1', 'a2'], adminOf: ['a'] }),
  person('gone', { memberOf: ['a1'] }, { active: false }),
];

const push = (data: object) => account.push({ settings: { validateOnly: false }, data });

async function signInAs(externalId: string | null, accountId = account.id): Promise<SendRequest> {
  const [user] = await world.pool<{ id: number }[]>`
    select user_id as id from users
    where  account_id = ${accountId} and external_id is not distinct from ${externalId} limit 1`;
  return signIn(world, accountId, user!.id);
}

const tree = async (request = ada) => (await request<TreeOfGroups>('GET /groups/tree')).body.groups;
const idOf = async (name: string) => (await tree()).find((one) => one.name === name)!.id;
const entries = async () => {
  const rows = await world.pool<{ action: string; subject: string; details: object }[]>`
    select action, subject, details from audit_entries
    where  account_id = ${account.id} and origin = 'console' order by entry_id`;
  return [...rows];
};

beforeEach(async () => {
  account = await world.account({ language: 'sv' });
  await push({ groups, users });
  ada = await signInAs(null);
});

test('the tree: sorted for the language, counts each person once, and contains only accessible groups', async () => {
  const seen = async (request: SendRequest) =>
    (await tree(request)).map(({ name, people }) => `${name} ${people}`);
  expect(await seen(ada)).toEqual(['Top 4', 'B 2', 'Å 2', 'Team 9 1', 'Team 10 1']);
  expect(await seen(await signInAs('owner'))).toEqual(['Å 2']);
  expect(await seen(await signInAs('head'))).toEqual(['Å 2', 'Team 9 1', 'Team 10 1']);
  const reader = await signInAs('reader');
  expect(await seen(reader)).toEqual(['B 2', 'Team 10 1']);
  expect((await tree(reader)).map(({ parentId }) => parentId)).toEqual([null, null]);
  expect((await (await signInAs('plain'))('GET /groups/tree')).status).toBe(403);
  const other = await world.account();
  expect(await tree(await signInAs(null, other.id))).toEqual([]);
});

test('a group: its ancestors, its people by role, and what the last push sent', async () => {
  const id = await idOf('Å');
  const { body } = await ada<GroupDetails>(`GET /groups/${id}`);
  expect(body).toMatchObject({
    name: 'Å',
    externalId: 'a',
    managed: true,
    path: [{ name: 'Top' }],
    weeks: 0,
    lastPush: { source: 'api', setsTree: true },
  });
  expect(Object.values(body.holders).map(({ count }) => count)).toEqual([1, 2, 1, 0]);
  expect(body.holders.inheritedAdminOf.first).toMatchObject([{ name: 'head X', active: true }]);
  const below = await ada<GroupDetails>(`GET /groups/${await idOf('Team 9')}`);
  expect(below.body.administratorsAbove).toBe(1);

  const owner = await signInAs('owner');
  expect((await owner<GroupDetails>(`GET /groups/${id}`)).body.path).toEqual([]);
  const closed = await owner(`GET /groups/${await idOf('B')}`);
  expect([closed.status, closed.body.details[0]?.type]).toEqual([404, 'group not found']);
  for (const one of [
    `PATCH /groups/${id}`,
    `POST /groups/${id}/move`,
    `DELETE /groups/${id}?weeks=0`,
    'POST /groups',
    'GET /attributes',
  ])
    expect((await owner(one, one.startsWith('GET') ? undefined : {})).status).toBe(403);
  const stranger = await signInAs(null, (await world.account()).id);
  for (const path of [`${id}`, `${id}/move`, `${id}/removal`, 'x', '0', '99999999999'])
    expect((await stranger(`GET /groups/${path}`)).status).toBe(404);
  expect((await stranger(`DELETE /groups/${id}?weeks=0`)).status).toBe(404);
  expect((await stranger(`POST /groups/${id}/move`, { parentId: null, from: null })).status).toBe(404);
});

test('groups are created and changed manually: errors name their field, and managed groups are locked', async () => {
  const parentId = await idOf('Å');
  const created = await ada<{ id: number }>('POST /groups', { name: 'Manual', externalId: 'h', parentId });
  const { id } = created.body;
  expect((await account.groups()).find((one) => one.id === id)).toMatchObject({
    name: 'Manual',
    externalId: 'h',
  });
  const fieldOf = async (name: string, body: object) =>
    (await ada(name, body)).body.details.map(({ type, path }) => `${path}: ${type}`);
  expect(await fieldOf('POST /groups', { name: ' ' })).toEqual(['/name: missing field']);
  expect(await fieldOf('POST /groups', {})).toEqual(['/name: missing field']);
  expect(await fieldOf('POST /groups', { name: 'x', externalId: 'a' })).toEqual([
    '/externalId: externalId taken',
  ]);
  expect(await fieldOf('POST /groups', { name: 'x', externalId: ' a' })).toEqual([
    '/externalId: invalid externalId',
  ]);
  expect(await fieldOf('POST /groups', { name: 'x', parentId: 1e6 })).toEqual(['/parentId: group not found']);
  expect(await fieldOf(`PATCH /groups/${parentId}`, { name: 'Other' })).toEqual(['/name: managed']);

  expect((await ada(`PATCH /groups/${id}`, { name: 'Renamed', externalId: '' })).status).toBe(204);
  expect((await ada(`PATCH /groups/${id}`, { name: 'Renamed' })).status).toBe(204);
  expect((await account.groups()).find((one) => one.id === id)).toEqual({
    id,
    name: 'Renamed',
    subgroups: [],
  });
  expect(await entries()).toEqual([
    { action: 'group created', subject: `${id}`, details: { name: 'Manual', parentId } },
    { action: 'group changed', subject: `${id}`, details: { fields: ['name', 'externalId'] } },
  ]);
});

test('a move is planned, applied and undone once; it is refused if the target is the group itself, if the group has moved since, or if the tree would be too deep', async () => {
  const [top, a, b, a1] = [await idOf('Top'), await idOf('Å'), await idOf('B'), await idOf('Team 10')];
  const plan = (await ada<MovePlan>(`GET /groups/${a}/move?parentId=${b}`)).body;
  expect(plan).toMatchObject({
    from: { name: 'Top' },
    to: { name: 'B' },
    groups: 2,
    people: 2,
    gains: [{ id: b }],
    loses: [],
    administrators: { gains: 0, loses: 0 },
    putBack: { source: 'api', setsTree: true },
  });
  const out = (await ada<MovePlan>(`GET /groups/${a1}/move`)).body;
  expect([out.loses.map(({ name }) => name), out.administrators]).toEqual([
    ['Å', 'Top'],
    { gains: 0, loses: 1 },
  ]);

  const move = (id: number, parentId: number | null, from: number | null) =>
    ada(`POST /groups/${id}/move`, { parentId, from });
  const refusal = async (moving: ReturnType<typeof move>) => {
    const { status, body } = await moving;
    return `${status} ${body.details[0]?.type} ${body.details[0]?.path}`;
  };
  expect((await move(a, b, top)).status).toBe(204);
  expect((await account.groups()).find(({ id }) => id === b)?.subgroups).toHaveLength(3);
  expect(await refusal(move(a, null, top))).toBe('409 changed since /from');
  expect((await move(a, top, b)).status).toBe(204);
  expect((await move(a, top, top)).status).toBe(204); // no change, so no entry in the audit log
  expect((await tree()).find(({ id }) => id === a)?.parentId).toBe(top);
  expect(await refusal(move(a, a1, top))).toBe('400 cycle /parentId');
  expect(await refusal(move(a, a, top))).toBe('400 cycle /parentId');
  expect((await entries()).map(({ action, details }) => [action, details])).toEqual([
    ['group moved', { from: top, to: b }],
    ['group moved', { from: b, to: top }],
  ]);

  let last = b;
  for (let level = 3; level <= 100; level++) {
    // Each of these groups is the parent of the next.
    const [row] = await world.pool<{ id: number }[]>`
      insert into groups (account_id, managed, name, parent_id)
      values (${account.id}, false, ${`level ${level}`}, ${last}) returning group_id as id`;
    last = row!.id;
  }
  expect(await refusal(move(a1, last, a))).toBe('400 too deep /parentId');
});

test('after any moves there are no circles, and the data interface returns the same tree', async () => {
  const ids = (await tree()).map(({ id }) => id);
  const place = fc.nat(ids.length - 1);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(place, fc.nat(ids.length)), { maxLength: 8 }), async (moves) => {
      for (const [moved, target] of moves) {
        const from = (await tree()).find(({ id }) => id === ids[moved])!.parentId;
        await ada(`POST /groups/${ids[moved]}/move`, { parentId: ids[target] ?? null, from });
      }
      const now = await tree();
      expect(now.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(ids.toSorted((a, b) => a - b));
      const expected = subgroupsOf(now);
      expect((await account.groups()).map(({ id, subgroups }) => [id, subgroups])).toEqual(
        ids.toSorted((a, b) => a - b).map((id) => [id, expected.get(id)]),
      );
    }),
    cases(8),
  );
});

test('removing a group deletes its weeks and moves its subgroups up; a managed group cannot be removed', async () => {
  const a = await idOf('Å');
  const { id } = (await ada<{ id: number }>('POST /groups', { name: 'Between', parentId: a })).body;
  const a1 = await idOf('Team 10');
  await ada(`POST /groups/${a1}/move`, { parentId: id, from: a });
  const people = Array.from({ length: 6 }, (_, i) => `p${i}`);
  await importLines(world, account.id, [
    question('q', 1),
    round('2026-W23', { id }, ['q'], Object.fromEntries(people.map((one) => [one, [{ id }]]))),
    ...people.map((one) => answerLine('2026-W23', { id }, one, 'q', 3)),
  ]);
  const plan = (await ada<RemovalPlan>(`GET /groups/${id}/removal`)).body;
  expect(plan).toEqual({
    weeks: 1,
    people: 0,
    movesUp: [{ id: a1, name: 'Team 10' }],
    to: { id: a, name: 'Å' },
    schedules: [],
  });
  const { weeks } = (await ada<RemovalPlan>(`GET /groups/${a}/removal`)).body;
  expect((await ada(`DELETE /groups/${a}?weeks=${weeks}`)).body.details[0]?.type).toBe('managed');
  // A week was closed after the page was loaded. Its results are not deleted without a warning.
  expect((await ada(`DELETE /groups/${id}`)).body.details[0]?.path).toBe('weeks');
  expect((await ada(`DELETE /groups/${id}?weeks=0`)).body.details[0]?.type).toBe('changed since');
  expect((await ada(`DELETE /groups/${id}?weeks=1`)).status).toBe(204);
  expect((await tree()).find((one) => one.id === a1)?.parentId).toBe(a);
  const rows = await world.pool`
    select group_id from results where account_id = ${account.id} and group_id = ${id}
    union all select group_id from asked where account_id = ${account.id} and group_id = ${id}`;
  expect([...rows]).toEqual([]);
  expect((await ada(`DELETE /groups/${id}?weeks=1`)).status).toBe(404);
  expect((await entries()).at(-1)).toEqual({
    action: 'group removed',
    subject: `${id}`,
    details: { movedUp: 1 },
  });
});

test('a group handed over is changed or removed by the next push; after its release no push changes it', async () => {
  const a = await idOf('Å');
  const { id } = (await ada<{ id: number }>('POST /groups', { name: 'Ours', parentId: a })).body;
  const [plain] = await world.pool<{ id: number }[]>`
    select user_id as id from users where account_id = ${account.id} and external_id = 'plain'`;
  await world.pool`
    insert into memberships (account_id, user_id, kind, group_id)
    values (${account.id}, ${plain!.id}, 'memberOf', ${id})`;

  expect((await ada(`POST /groups/${id}/adopt`, { externalId: 'a1' })).body.details[0]).toMatchObject({
    type: 'externalId taken',
    path: '/externalId',
  });
  expect((await ada(`POST /groups/${id}/adopt`, { externalId: 'o' })).status).toBe(204);
  expect((await ada(`POST /groups/${id}/adopt`, { externalId: 'o' })).status).toBe(409);
  // The push sends the same list as before. The group is now in it, but its member is not.
  const listed = [...groups, { externalId: 'o', name: 'Theirs', parent: 'a' }];
  expect((await push({ groups: listed, users })).body.summary).toMatchObject({
    groups: { updated: 1, created: 0, deleted: 0 },
    users: { updated: 1 },
  });
  const { holders } = (await ada<GroupDetails>(`GET /groups/${id}`)).body;
  expect(holders.memberOf.count).toBe(0);

  expect((await ada(`POST /groups/${id}/release`, { keepExternalId: true })).status).toBe(204);
  expect((await ada(`POST /groups/${id}/release`, { keepExternalId: true })).status).toBe(409);
  expect((await push({ groups: listed })).body.details[0]?.type).toBe('manually created');
  expect((await push({ groups })).body.summary.groups).toMatchObject({ deleted: 0, updated: 0 });
  expect((await ada(`POST /groups/${id}/adopt`, { externalId: 'o' })).status).toBe(204);
  expect((await ada(`POST /groups/${id}/release`, { keepExternalId: false })).status).toBe(204);
  expect((await push({ groups: listed })).body.summary.groups).toMatchObject({ created: 1 });
  expect((await push({ groups })).body.summary.groups).toMatchObject({ deleted: 1 });
  expect((await tree()).find((one) => one.id === id)).toMatchObject({ externalId: null, managed: false });
});

test('a push without groups does not undo manual moves', async () => {
  const [a, b, top] = [await idOf('Å'), await idOf('B'), await idOf('Top')];
  expect((await push({ groups: groups.map(({ externalId, name }) => ({ externalId, name })) })).status).toBe(
    200,
  );
  expect((await ada<MovePlan>(`GET /groups/${b}/move?parentId=${a}`)).body.putBack).toBeNull();
  await ada(`POST /groups/${b}/move`, { parentId: a, from: top });
  await push({ groups: groups.map(({ externalId, name }) => ({ externalId, name })) });
  expect((await tree()).find(({ id }) => id === b)?.parentId).toBe(a);
  await push({ groups });
  expect((await tree()).find(({ id }) => id === b)?.parentId).toBe(top);
});

test('attributes are defined, changed and removed, together with their values', async () => {
  const list = async () => (await ada<{ attributes: AttributeRow[] }>('GET /attributes')).body.attributes;
  expect((await ada('POST /attributes', { name: 'site', allowedValues: ['Lund', 'Ystad'] })).status).toBe(
    204,
  );
  expect(
    (await ada('POST /attributes', { name: 'site', allowedValues: null })).body.details[0],
  ).toMatchObject({ type: 'attribute taken', path: '/name' });
  expect((await ada('POST /attributes', { name: ' x', allowedValues: null })).body.details[0]?.path).toBe(
    '/name',
  );
  for (const allowedValues of [[], [' y'], ['']]) {
    const { status, body } = await ada('POST /attributes', { name: 'x', allowedValues });
    expect([status, body.details[0]?.path?.slice(0, 14)]).toEqual([400, '/allowedValues']);
  }
  const placed = users.map((one, i) => ({ ...one, externalProperties: { site: i < 3 ? 'Lund' : 'Ystad' } }));
  expect((await push({ users: placed })).status).toBe(200);
  const narrower = { name: 'site', allowedValues: ['Lund'] };
  expect((await ada<DisallowedValues>('POST /attributes/strays', narrower)).body).toEqual({
    people: 2,
    values: [{ value: 'Ystad', people: 2 }],
  });
  expect((await ada('PATCH /attributes', narrower)).status).toBe(204);
  expect(await list()).toEqual([{ name: 'site', allowedValues: ['Lund'], people: 5, disallowedValues: 2 }]);
  expect((await push({ users: placed })).body.details[0]?.type).toBe('value not allowed');
  expect((await ada('DELETE /attributes?name=site')).body).toEqual({ people: 5 });
  expect(await list()).toEqual([]);
  expect((await push({ users: placed })).body.details[0]?.type).toBe('unknown attribute');
  expect((await ada('DELETE /attributes?name=site')).status).toBe(404);
  expect((await ada('PATCH /attributes', narrower)).status).toBe(404);
  expect((await entries()).map(({ action, subject }) => `${action} ${subject}`)).toEqual([
    'attribute defined site',
    'attribute changed site',
    'attribute removed site',
  ]);
});
