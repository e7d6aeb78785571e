// Pulls in the console: who has access, that secrets never leave, what is refused, and a list on its way through the running service.
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { maxPulls } from '@soundings/contract/pulls/pull-values.ts';
import type { PullSummary, PullView } from '@soundings/contract/pulls/pulls.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { personio } from '../../pulls/hr-shapes.fixture.ts';
import { networks, openHr, sendJson } from '../../pulls/pulls.fixture.ts';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';

let world: World;
let account: TestAccount;
let request: SendRequest;
beforeAll(async () => {
  world = await openWorld(undefined, { outgoingNetworks: networks });
  account = await world.account();
  request = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

const pull = {
  name: 'People',
  source: 'other',
  url: 'http://127.0.0.1:1/list?key=s3cret-in-url',
  list: '',
  access: { kind: 'header', header: 'X-Api-Key' },
  secret: 's3cret-value',
  repeat: 'daily',
  hour: 5,
  weekday: 1,
};
/** Each test has its own account, because a few requests within a minute are allowed. */
async function own() {
  const one = await world.account();
  return { account: one, request: (await signInNew(world, one.id, 'Administrator')).request };
}
const create = async (by: SendRequest, changes: object = {}) =>
  (await by<{ id: number }>('POST /pulls', { ...pull, ...changes })).body.id;
const typeOf = async (response: Promise<{ status: number; body: Problem }>) => {
  const { status, body } = await response;
  return [status, body?.details?.[0]?.type, body?.details?.[0]?.path].filter((one) => one !== undefined);
};

describe('permissions', () => {
  test.each(['Manager', 'Auditor', 'User'] as const)('a %s has no access to any of it', async (role) => {
    const id = await create(request);
    const { request: other } = await signInNew(world, account.id, role);
    for (const [operation, body] of [
      ['GET /pulls'],
      ['POST /pulls', pull],
      [`GET /pulls/${id}`],
      [`PATCH /pulls/${id}`, { isOn: false }],
      [`DELETE /pulls/${id}`],
      [`POST /pulls/${id}/fetch`, { isDryRun: true }],
    ] as const)
      expect([operation, (await other(operation, body)).status]).toEqual([operation, 403]);
  });

  test("another account's pull is not found, in the same words as one that does not exist", async () => {
    const id = await create(request);
    const { request: theirs } = await own();
    for (const one of [id, 999_999, 'x', '2147483648'])
      for (const [operation, body] of [
        [`GET /pulls/${one}`],
        [`PATCH /pulls/${one}`, { isOn: false }],
        [`DELETE /pulls/${one}`],
        [`POST /pulls/${one}/fetch`, { isDryRun: true }],
      ] as const)
        expect(await typeOf(theirs(operation, body))).toEqual([404, 'pull not found']);
    expect((await theirs<{ pulls: [] }>('GET /pulls')).body.pulls).toEqual([]);
  });

  test('applying a list requires the password again, a dry run does not', async () => {
    const { request: theirs } = await own();
    const id = await create(theirs);
    await world.pool`update sessions set proved_at = now() - interval '1 day'`;
    expect(await typeOf(theirs(`POST /pulls/${id}/fetch`, { isDryRun: false }))).toEqual([
      403,
      'password required',
    ]);
    expect((await theirs(`POST /pulls/${id}/fetch`, { isDryRun: true })).status).toBe(200);
    for (const [operation, body] of [
      ['POST /pulls', pull],
      [`PATCH /pulls/${id}`, { hour: 1 }],
      [`DELETE /pulls/${id}`],
    ] as const)
      expect([operation, ...(await typeOf(theirs(operation, body)))]).toEqual([
        operation,
        403,
        'password required',
      ]);
    await world.pool`update sessions set proved_at = now()`;
  });
});

describe('values', () => {
  test('no response and no entry of the audit log has the secret, and none of the log has the address', async () => {
    const { request: theirs } = await own();
    const id = await create(theirs);
    expect((await theirs<PullView>(`GET /pulls/${id}`)).body).toMatchObject({
      hasSecret: true,
      access: pull.access,
    });
    const texts = [
      await theirs('GET /pulls'),
      await theirs(`GET /pulls/${id}`),
      await theirs(`PATCH /pulls/${id}`, { secret: 's3cret-value-2' }),
    ];
    expect((await theirs(`DELETE /pulls/${id}`)).status).toBe(204);
    for (const { text } of texts) expect(text).not.toContain('s3cret-value');
    const log = await theirs<{ rows: AuditEntry[] }>('GET /audit?limit=4');
    expect(log.body.rows.map(({ action }) => action).slice(0, 3)).toEqual([
      'pull removed',
      'pull changed',
      'pull created',
    ]);
    expect(log.text).not.toContain('s3cret');
  });

  test.each<[object, string]>([
    [{ url: 'ftp://example.com/' }, '/url'],
    [{ url: 'https://user:password@example.com/' }, '/url'],
    [{ url: 'https://169.254.169.254/latest' }, '/url'],
    [{ url: 'https://[::ffff:10.0.0.1]/' }, '/url'],
    [{ name: ' ' }, '/name'],
    [{ name: 'x'.repeat(101) }, '/name'],
    [{ source: 'sap' }, '/source'],
    [{ repeat: 'monthly' }, '/repeat'],
    [{ hour: 24 }, '/hour'],
    [{ weekday: 0 }, '/weekday'],
    [{ secret: '' }, '/secret'],
    [{ secret: undefined }, '/secret'],
    [{ secret: 'a\r\nX-Evil: 1' }, '/secret'],
    [{ secret: 'ключ' }, '/secret'],
    [{ access: { kind: 'header' } }, '/access/header'],
    [{ access: { kind: 'header', header: 'X Y' } }, '/access/header'],
    [{ access: { kind: 'header', header: 'Host' } }, '/access/header'],
    [{ access: { kind: 'header', header: 'content-length' } }, '/access/header'],
    [{ access: { kind: 'basic', user: 'a:b' } }, '/access/user'],
    [{ access: { kind: 'oauth', clientId: 'c' } }, '/access/tokenUrl'],
    [{ access: { kind: 'oauth', clientId: 'c', tokenUrl: 'https://10.0.0.1/' } }, '/access/tokenUrl'],
    [{ access: { kind: 'oauth', tokenUrl: 'https://example.com/' } }, '/access/clientId'],
    [{ access: { kind: 'basic', user: 'a', more: 1 } }, '/access/more'],
    [{ more: 1 }, '/more'],
  ])('the values %j are refused', async (changes, path) => {
    const { status, body } = await (await own()).request('POST /pulls', { ...pull, ...changes });
    expect([status, body.details[0]?.path]).toEqual([400, path]);
  });

  test('an account can have a limited number of pulls, and ask for a limited number of lists within a minute', async () => {
    const { account: other, request: theirs } = await own();
    const statuses = [];
    for (let i = 0; i < 11; i++) statuses.push((await theirs('POST /pulls', pull)).status);
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429]);
    await world.pool`
      insert into pulls (account_id, name, source, url, access, repeat, hour, weekday)
      select ${other.id}, 'x', 'other', 'https://example.com/', '{"kind":"none"}', 'daily', 1, 1
      from   generate_series(11, ${maxPulls}::integer)`;
    const { request: again } = await signInNew(world, other.id, 'Administrator');
    expect((await again<{ pulls: PullSummary[] }>('GET /pulls')).body.pulls).toHaveLength(maxPulls);
  });
});

test('a list goes through the running service: dry run, turned on, applied to people in groups', async () => {
  const hr = await openHr(personio(120));
  const { account: theirs, request: by } = await own();
  await by('PATCH /settings', { createGroupsFromUsers: true });
  const id = await create(by, {
    name: 'Personio',
    source: 'personio',
    url: `${hr.url}/v1/company/employees?limit=100&offset=0`,
    access: { kind: 'oauth', tokenUrl: `${hr.url}/v2/auth/token`, clientId: 'papi-client' },
  });
  const view = async () => (await by<PullView>(`GET /pulls/${id}`)).body;
  await until(
    async () => (await view()).last?.fileOutcome !== undefined && (await view()).last?.fileOutcome !== null,
  );
  expect((await view()).last).toMatchObject({
    reason: 'dryRun',
    outcome: 'stored',
    fileOutcome: 'validated',
    rows: 120,
    requests: 3,
  });
  expect((await by<PullView>(`PATCH /pulls/${id}`, { isOn: true })).body).toMatchObject({ isOn: true });
  expect((await by(`POST /pulls/${id}/fetch`, { isDryRun: false })).status).toBe(200);
  await until(async () => (await view()).last?.fileOutcome === 'applied');
  const [{ count }] = (await world.pool`
    select count(*)::integer as count from memberships m join users u using (account_id, user_id)
    where account_id = ${theirs.id} and m.kind = 'memberOf' and u.managed`) as unknown as [{ count: number }];
  expect(count).toBe(120);
  const files = await by<{ rows: { via: string; name: string; sentBy: string | null }[] }>('GET /files');
  expect(files.body.rows).toMatchObject([
    { via: 'pull', name: 'Personio.csv', sentBy: 'Ann Administrator' },
    { via: 'pull', name: 'Personio.csv', sentBy: 'Ann Administrator' },
  ]);
});

test('what the schedule asks for is fetched by the recurring job', async () => {
  const hr = await openHr((_, response) =>
    sendJson(response, [{ EmployeeID: '1', FirstName: 'A', LastName: 'B' }]),
  );
  const { account: theirs, request: by } = await own();
  const id = await create(by, { url: `${hr.url}/list`, access: { kind: 'none' }, secret: undefined });
  const view = async () => (await by<PullView>(`GET /pulls/${id}`)).body;
  await until(async () => (await view()).isTried);
  await by(`PATCH /pulls/${id}`, { isOn: true });
  await world.pool`update pulls set next_at = now() where account_id = ${theirs.id}`;
  await world.pool`select graphile_worker.add_job('fetch pulls', '{}')`;
  await until(
    async () => (await view()).last?.reason === 'schedule' && (await view()).last?.fileOutcome === 'applied',
  );
  expect((await view()).last?.by).toBeNull();
});
