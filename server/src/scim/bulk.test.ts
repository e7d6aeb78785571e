// Bulk requests (RFC 7644 §3.7): each operation by itself, references in both directions, and the limit of errors.
import { expect, test } from 'vitest';
import { groupOf, openDirectory, patchOf, userOf, useService } from './scim.fixture.ts';

useService();

const bulkOf = (operations: object[], more: object = {}) => ({
  schemas: ['urn:ietf:params:scim:api:messages:2.0:BulkRequest'],
  Operations: operations,
  ...more,
});
const statuses = (body: { Operations: { status: string }[] }) => body.Operations.map(({ status }) => status);

test('creates, changes and deletes in one request, with a response for each', async () => {
  const { send, create } = await openDirectory();
  const [old, changed] = [await create('Users', userOf('old')), await create('Users', userOf('changed'))];
  const operations = [
    { method: 'POST', path: '/Users', bulkId: 'a', data: userOf('anna') },
    {
      method: 'PATCH',
      path: `/Users/${changed}`,
      data: patchOf({ op: 'replace', path: 'title', value: 'x' }),
    },
    { method: 'delete', path: `/Users/${old}` },
    { method: 'PUT', path: `/Users/${changed}`, version: 'W/"1"', data: userOf('changed') },
  ];
  const { status, body } = await send('POST', '/Bulk', bulkOf(operations));
  expect([status, statuses(body)]).toEqual([200, ['201', '204', '204', '412']]);
  expect(body.Operations[0]).toMatchObject({
    method: 'POST',
    bulkId: 'a',
    version: 'W/"1"',
    location: expect.stringContaining('/Users/'),
  });
  expect(body.Operations[3].response).toMatchObject({ status: '412', detail: expect.any(String) });
});

test('resources refer to each other by bulkId, before and after they are created, and in circles', async () => {
  const { send } = await openDirectory();
  const operations = [
    { method: 'POST', path: '/Groups', bulkId: 'g', data: groupOf('Team', ['bulkId:a', 'bulkId:h']) },
    { method: 'POST', path: '/Groups', bulkId: 'h', data: groupOf('Other', ['bulkId:g']) },
    { method: 'POST', path: '/Users', bulkId: 'a', data: userOf('anna') },
    { method: 'PATCH', path: '/Users/bulkId:a', data: patchOf({ op: 'add', path: 'title', value: 'x' }) },
  ];
  const { body } = await send('POST', '/Bulk', bulkOf(operations));
  expect(statuses(body)).toEqual(['201', '201', '201', '204']);
  const idOf = (i: number) => body.Operations[i].location.split('/').at(-1) as string;
  const team = (await send('GET', `/Groups/${idOf(0)}`)).body;
  expect(team.members.map(({ value }: { value: string }) => value).toSorted()).toEqual(
    [idOf(1), idOf(2)].toSorted(),
  );
  expect((await send('GET', `/Users/${idOf(2)}`)).body.title).toBe('x');
});

test('stops after failOnErrors errors; without it, every operation is tried', async () => {
  const { send } = await openDirectory();
  const operations = [
    { method: 'POST', path: '/Users', bulkId: 'a', data: {} },
    { method: 'POST', path: '/Users', bulkId: 'b', data: userOf('bo') },
    { method: 'PATCH', path: '/Users/bulkId:a', data: patchOf({ op: 'add', path: 'title', value: 'x' }) },
    { method: 'POST', path: '/Users', bulkId: 'c', data: userOf('cia') },
  ];
  const some = (await send('POST', '/Bulk', bulkOf(operations, { failOnErrors: 2 }))).body;
  expect(statuses(some)).toEqual(['400', '201', '409']);
  const all = (await send('POST', '/Bulk', bulkOf(operations))).body;
  expect(statuses(all)).toEqual(['400', '409', '409', '201']);
});

test.each([
  ['an operation without a path', bulkOf([{ method: 'POST' }]), 400],
  ['no list', { Operations: 'x' }, 400],
  ['an operation that is null', bulkOf([null as unknown as object]), 400],
  [
    'the same bulkId twice',
    bulkOf([1, 2].map(() => ({ method: 'POST', path: '/Users', bulkId: 'a', data: {} }))),
    400,
  ],
  ['failOnErrors below 1', bulkOf([], { failOnErrors: 0 }), 400],
  [
    'too many operations',
    bulkOf(Array.from({ length: 1001 }, () => ({ method: 'DELETE', path: '/Users/x' }))),
    413,
  ],
])('%s is refused', async (_what, body, status) => {
  const { send } = await openDirectory();
  const response = await send('POST', '/Bulk', body);
  expect([response.status, response.body.status]).toEqual([status, String(status)]);
});

test('strange operations fail by themselves', async () => {
  const { send } = await openDirectory();
  const operations = [
    { method: 'GET', path: '/Users' },
    { method: 'POST', path: '/Users', data: userOf('no-bulk-id') },
    { method: 'POST', path: '/Bulk', bulkId: 'a', data: {} },
    { method: 'POST', path: '/Users/../Groups', bulkId: 'b', data: {} },
    { method: 'DELETE', path: '/Users' },
    { method: 'PATCH', path: '/Users/bulkId:unknown', data: {} },
    { method: 'PUT', path: '/Users/x', data: null },
  ];
  const { body } = await send('POST', '/Bulk', bulkOf(operations));
  expect(statuses(body)).toEqual(['400', '400', '400', '400', '404', '409', '400']);
});
