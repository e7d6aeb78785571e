// Webhooks in the console: who has access, what is stored and logged, which addresses are accepted, and that other accounts stay separate.
import type { DeliveryRow, EndpointSummary, EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import type { AuditEntry } from '@soundings/contract/console/access.ts';
import { maxEndpoints } from '@soundings/contract/webhooks/events.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SendRequest, signInNew } from '../../testing/signed-in.ts';
import { until } from '../../testing/until.ts';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { networks, openReceiver } from '../../webhooks/webhooks.fixture.ts';

let world: World;
let account: TestAccount;
let request: SendRequest;
beforeAll(async () => {
  world = await openWorld(undefined, { outgoingNetworks: networks });
  account = await world.account();
  request = (await signInNew(world, account.id, 'Administrator')).request;
});
afterAll(() => world?.close());

type Created = { id: number; secret: string };
const endpoint = { url: 'https://example.com/hooks', description: 'Pipeline', events: ['run.applied'] };
const create = async (changes: object = {}, by = request) =>
  (await by<Created>('POST /webhooks', { ...endpoint, ...changes })).body;
const typeOf = async (response: Promise<{ status: number; body: Problem }>) => {
  const { status, body } = await response;
  return [status, body?.details?.[0]?.type, body?.details?.[0]?.path].filter((one) => one !== undefined);
};

describe('permissions', () => {
  test.each(['Manager', 'Auditor', 'User'] as const)('a %s has no access to any of it', async (role) => {
    const { id } = await create();
    const { request: other } = await signInNew(world, account.id, role);
    for (const [operation, body] of [
      ['GET /webhooks'],
      ['POST /webhooks', endpoint],
      [`GET /webhooks/${id}`],
      [`PATCH /webhooks/${id}`, { isOn: false }],
      [`DELETE /webhooks/${id}`],
      [`POST /webhooks/${id}/rotate`],
      [`POST /webhooks/${id}/test`],
      [`GET /webhooks/${id}/deliveries`],
      [`POST /webhooks/${id}/send-again`, { deliveryId: null }],
    ] as const)
      expect([operation, (await other(operation, body)).status]).toEqual([operation, 403]);
  });

  test("another account's endpoint is not found, in the same words as one that does not exist", async () => {
    const { id } = await create();
    const other = await world.account();
    const { request: theirs } = await signInNew(world, other.id, 'Administrator');
    for (const one of [id, 999_999, 'x', '2147483648'])
      for (const [operation, body] of [
        [`GET /webhooks/${one}`],
        [`PATCH /webhooks/${one}`, { isOn: false }],
        [`DELETE /webhooks/${one}`],
        [`POST /webhooks/${one}/rotate`],
        [`POST /webhooks/${one}/test`],
        [`GET /webhooks/${one}/deliveries`],
        [`POST /webhooks/${one}/send-again`, { deliveryId: 1 }],
      ] as const)
        expect(await typeOf(theirs(operation, body))).toEqual([404, 'webhook not found']);
    expect((await theirs<{ endpoints: [] }>('GET /webhooks')).body.endpoints).toEqual([]);
    expect((await request<EndpointView>(`GET /webhooks/${id}`)).body.turnedOff).toBeNull();
  });
});

describe('endpoints', () => {
  test('a new one is listed without its secret, and every change is logged without address and secret', async () => {
    const { id, secret } = await create({ url: 'https://example.com/hooks?key=s3cret' });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const listed = await request<{ endpoints: EndpointSummary[] }>('GET /webhooks');
    expect(listed.body.endpoints.find((one) => one.id === id)).toMatchObject({
      ...endpoint,
      url: 'https://example.com/hooks?key=s3cret',
      turnedOff: null,
      waiting: 0,
      failed: 0,
      lastSentAt: null,
    });
    expect(listed.text).not.toContain(secret);
    const rotated = await request<{ secret: string }>(`POST /webhooks/${id}/rotate`);
    expect(rotated.body.secret).not.toBe(secret);
    expect((await request<EndpointView>(`PATCH /webhooks/${id}`, { isOn: false })).body.turnedOff).toBe(
      'user',
    );
    expect(await typeOf(request(`POST /webhooks/${id}/test`))).toEqual([409, 'webhook turned off']);
    expect((await request(`DELETE /webhooks/${id}`)).status).toBe(204);
    expect(await typeOf(request(`GET /webhooks/${id}`))).toEqual([404, 'webhook not found']);
    const log = await request<{ rows: AuditEntry[] }>('GET /audit?limit=4');
    expect(log.body.rows.map(({ action }) => action)).toEqual([
      'webhook removed',
      'webhook changed',
      'webhook secret rotated',
      'webhook created',
    ]);
    expect(log.text).not.toContain('s3cret');
    const rows = await world.pool<{ row: string }[]>`
      select to_jsonb(e)::text as row from webhook_endpoints e where account_id = ${account.id}`;
    const key = Buffer.from(secret.slice(6), 'base64').toString('hex');
    expect(JSON.stringify(rows)).not.toContain(key);
  });

  test.each([
    ['ftp://example.com/', '/url'],
    ['https://user:password@example.com/', '/url'],
    ['https://169.254.169.254/latest', '/url'],
    ['https://[::ffff:10.0.0.1]/', '/url'],
    ['https://2886794753/', '/url'],
    ['https://example.com/#part', '/url'],
    ['example.com', '/url'],
    [`https://example.com/${'a'.repeat(2000)}`, '/url'],
  ])('the address %s is refused', async (url, path) => {
    const [status, , at] = await typeOf(request('POST /webhooks', { ...endpoint, url }));
    expect([status, at]).toEqual([400, path]);
    const { id } = await create();
    const changed = await typeOf(request(`PATCH /webhooks/${id}`, { url }));
    expect([changed[0], changed[2]]).toEqual([400, path]);
  });

  test.each([
    [{ events: [] }, '/events'],
    [{ events: ['answer.given'] }, '/events/0'],
    [{ events: ['run.applied', 'run.applied'] }, '/events'],
    [{ description: 'x'.repeat(101) }, '/description'],
    [{ more: 1 }, '/more'],
  ])('the values %j are refused', async (changes, path) => {
    const { status, body } = await request('POST /webhooks', { ...endpoint, ...changes });
    expect([status, body.details[0]?.path]).toEqual([400, path]);
  });

  test('an account can have a limited number of endpoints', async () => {
    const other = await world.account();
    const { request: theirs } = await signInNew(world, other.id, 'Administrator');
    for (let i = 0; i < maxEndpoints; i++) await create({}, theirs);
    expect(await typeOf(theirs('POST /webhooks', endpoint))).toEqual([409, 'too many webhooks']);
  });
});

test('a run reaches a receiver through the running service, and the log shows the delivery', async () => {
  const receiver = await openReceiver();
  onTestFinished(() => receiver.close());
  const { id, secret } = await create({ url: `${receiver.url}/hook` });
  receiver.secrets.set('/hook', [secret]);
  const users = [{ externalId: 'p1', firstName: 'Pia', lastName: 'Person' }];
  const { body } = await account.push({ settings: { validateOnly: false }, data: { users } });
  await until(async () => receiver.got.length > 0);
  expect(receiver.got).toMatchObject([
    {
      type: 'run.applied',
      signedBy: [secret],
      data: { runId: body.id, source: 'api', changes: { users: { created: 1, updated: 0, deleted: 0 } } },
    },
  ]);
  const log = () =>
    request<{ total: number; rows: DeliveryRow[] }>(`GET /webhooks/${id}/deliveries?state=sent`);
  await until(async () => (await log()).body.total === 1);
  expect((await log()).body.rows).toMatchObject([
    { type: 'run.applied', subject: `run ${body.id}`, state: 'sent', status: 204, attempts: 1 },
  ]);
  const sent = (await log()).body.rows[0]!;
  expect((await request(`POST /webhooks/${id}/send-again`, { deliveryId: sent.id })).status).toBe(200);
  await until(async () => receiver.got.length === 2);
  expect(receiver.got[1]!.id).toBe(receiver.got[0]!.id);
});

test('tests can be sent a limited number of times', async () => {
  const other = await world.account();
  const { request: theirs } = await signInNew(world, other.id, 'Administrator');
  const { id } = await create({ url: 'http://127.0.0.1:1/' }, theirs);
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push((await theirs(`POST /webhooks/${id}/test`)).status);
  expect(statuses).toEqual([...Array<number>(10).fill(204), 429]);
});
