// Groups over HTTP: members in every form in which directories send them.
import { expect, test } from 'vitest';
import { groupOf, openDirectory, patchOf, type TestDirectory, userOf, useService } from './scim.fixture.ts';

useService();

const memberIds = async ({ send }: TestDirectory, id: string): Promise<string[]> =>
  ((await send('GET', `/Groups/${id}`)).body.members ?? []).map(({ value }: { value: string }) => value);

test('a group has its members, with their types, names and addresses; and a user has its groups', async () => {
  const directory = await openDirectory();
  const { create, send } = directory;
  const anna = await create('Users', userOf('anna', { displayName: 'Anna A' }));
  const inner = await create('Groups', groupOf('Inner'));
  const { status, body } = await send('POST', '/Groups', groupOf('Outer', [anna, inner, 'someone-unknown']));
  expect(status).toBe(201);
  const base = 'http://localhost/scim/v2';
  expect(
    body.members.toSorted((a: { value: string }, b: { value: string }) => (a.value < b.value ? -1 : 1)),
  ).toEqual(
    [
      { value: anna, type: 'User', $ref: `${base}/Users/${anna}`, display: 'Anna A' },
      { value: inner, type: 'Group', $ref: `${base}/Groups/${inner}`, display: 'Inner' },
      { value: 'someone-unknown' },
    ].toSorted((a, b) => (a.value < b.value ? -1 : 1)),
  );
  const user = (await send('GET', `/Users/${anna}`)).body;
  expect(user.groups).toEqual([{ value: body.id, $ref: `${base}/Groups/${body.id}`, display: 'Outer' }]);
});

test('members are added, removed and replaced, as the standard, Entra ID and Okta send it', async () => {
  const directory = await openDirectory();
  const { create, send } = directory;
  const [a, b, c] = [
    await create('Users', userOf('a')),
    await create('Users', userOf('b')),
    await create('Users', userOf('c')),
  ];
  const id = await create('Groups', groupOf('Team', [a]));
  const steps: [object[], string[]][] = [
    [[{ op: 'Add', path: 'members', value: [{ value: b }, { value: a }] }], [a, b]],
    [[{ op: 'add', path: 'members', value: { value: c } }], [a, b, c]],
    [[{ op: 'Remove', path: `members[value eq "${a}"]` }], [b, c]],
    [[{ op: 'Remove', path: 'members', value: [{ value: b }] }], [c]],
    [[{ op: 'replace', path: 'members', value: [{ value: a }, { value: b }] }], [a, b]],
    [[{ op: 'replace', value: { id, displayName: 'Renamed', members: [{ value: c }] } }], [c]],
    [
      [
        { op: 'remove', path: `members[value eq "${c}" or value eq "${a}"]` },
        { op: 'add', value: { members: [{ value: a }] } },
      ],
      [a],
    ],
    [[{ op: 'remove', path: 'members' }], []],
  ];
  for (const [operations, wanted] of steps) {
    const { status, body, headers } = await send('PATCH', `/Groups/${id}`, patchOf(...operations));
    expect([status, body]).toEqual([204, undefined]);
    expect(headers.get('etag')).toMatch(/^W\/"\d+"$/);
    expect([operations, (await memberIds(directory, id)).toSorted()]).toEqual([
      operations,
      wanted.toSorted(),
    ]);
  }
  expect((await send('GET', `/Groups/${id}`)).body.displayName).toBe('Renamed');
});

test('a change that makes no difference does not raise the version', async () => {
  const { create, send } = await openDirectory();
  const anna = await create('Users', userOf('anna'));
  const id = await create('Groups', groupOf('Team', [anna]));
  await send('PATCH', `/Groups/${id}`, patchOf({ op: 'add', path: 'members', value: [{ value: anna }] }));
  await send('PATCH', `/Groups/${id}`, patchOf({ op: 'replace', path: 'displayName', value: 'Team' }));
  expect((await send('GET', `/Groups/${id}?attributes=meta`)).body.meta.version).toBe('W/"1"');
});

test('by PUT, members that are left out leave', async () => {
  const directory = await openDirectory();
  const anna = await directory.create('Users', userOf('anna'));
  const id = await directory.create('Groups', groupOf('Team', [anna]));
  expect((await directory.send('PUT', `/Groups/${id}`, { displayName: 'Team 2' })).body).toMatchObject({
    displayName: 'Team 2',
  });
  expect(await memberIds(directory, id)).toEqual([]);
});

test('a deleted user leaves the groups, and a deleted group leaves its groups', async () => {
  const directory = await openDirectory();
  const anna = await directory.create('Users', userOf('anna'));
  const inner = await directory.create('Groups', groupOf('Inner'));
  const id = await directory.create('Groups', groupOf('Outer', [anna, inner]));
  await directory.send('DELETE', `/Users/${anna}`);
  await directory.send('DELETE', `/Groups/${inner}`);
  expect(await memberIds(directory, id)).toEqual([]);
});

test.each([
  [
    'a member without a value',
    { op: 'add', path: 'members', value: [{ display: 'x' }] },
    400,
    'invalidValue',
  ],
  ['a number as a list', { op: 'add', path: 'members', value: [5] }, 400, 'invalidValue'],
  ['a filter by something else', { op: 'remove', path: 'members[display co "x"]' }, 400, 'invalidFilter'],
  [
    'a part of a member',
    { op: 'replace', path: 'members[value eq "x"].display', value: 'y' },
    400,
    'mutability',
  ],
  ['an empty name', { op: 'replace', path: 'displayName', value: '' }, 400, 'invalidValue'],
  [
    'the name of a member that is too long',
    { op: 'add', path: 'members', value: [{ value: 'x'.repeat(256) }] },
    400,
    'invalidValue',
  ],
])('%s is refused, and nothing is changed', async (_what, operation, status, scimType) => {
  const directory = await openDirectory();
  const id = await directory.create('Groups', groupOf('Team', ['x']));
  const first = { op: 'add', path: 'members', value: [{ value: 'new' }] };
  const response = await directory.send('PATCH', `/Groups/${id}`, patchOf(first, operation));
  expect([response.status, response.body.scimType]).toEqual([status, scimType]);
  expect(await memberIds(directory, id)).toEqual(['x']);
});

test('the name of a member is never cut within a character', async () => {
  const directory = await openDirectory();
  const display = `a${'😀'.repeat(300)}`;
  const group = { ...groupOf('Sales'), members: [{ value: 'someone', display }] };
  const { status, body } = await directory.send('POST', '/Groups', group);
  expect([status, body.members[0].display]).toEqual([201, `a${'😀'.repeat(254)}`]);
});
