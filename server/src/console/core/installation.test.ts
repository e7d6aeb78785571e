// The page about the installation: who sees it, and that it contains nothing of other accounts and no secrets.
import type { Installation } from '@soundings/contract/console/system.ts';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { signInNew } from '../../testing/signed-in.ts';
import { openWorld, type testConfig, type World } from '../../testing/world.ts';

type Response = { installation: Installation | null };
const open = async (settings: Partial<typeof testConfig> = {}) => {
  const world = await openWorld(undefined, settings);
  onTestFinished(() => world.close());
  return world;
};
const administratorOf = async (world: World, accountId: number) =>
  (await signInNew(world, accountId, 'Administrator')).request;

let secrets: Partial<typeof testConfig>;
beforeAll(() => {
  secrets = {
    smtpUrl: 'smtp://mailuser:mailsecret@127.0.0.1:9',
    mailFrom: 'Soundings <surveys@example.com>',
    publicUrl: 'http://surveys.example.com',
    metricsToken: 'metricssecret',
    auditSyslog: { host: 'logs.internal', port: 6514, ca: undefined },
  };
});

test('an administrator of the only account sees facts, what waits, and what is not set up', async () => {
  const world = await open(secrets);
  const { id } = await world.account();
  const request = await administratorOf(world, id);
  const { status, body } = await request<Response>('GET /installation');
  expect(status).toBe(200);
  expect(body.installation).toMatchObject({
    version: expect.stringMatching(/^\d/),
    database: { version: expect.stringMatching(/^1\d/), bytes: expect.any(Number) },
    disk: { free: expect.any(Number), total: expect.any(Number) },
    mailFrom: 'Soundings <surveys@example.com>',
    sms: null,
    lastBackup: null,
    waiting: [
      { what: 'files', count: 0, since: null },
      { what: 'messages', count: null, since: null },
      { what: 'text messages', count: null, since: null },
      { what: 'jobs' },
    ],
    failedJobs: 0,
    notSetUp: ['https', 'backup', 'bounces'],
  });
});

test('it contains no secrets and no addresses of other systems', async () => {
  const world = await open(secrets);
  const { id } = await world.account();
  const { text } = await (await administratorOf(world, id))('GET /installation');
  expect(text).not.toMatch(/secret|mailuser|127\.0\.0\.1|logs\.internal|postgres:/);
  for (const place of [world.keyPlace.directory, world.databaseUrl]) expect(text).not.toContain(place);
});

test('with a second account, no administrator sees it any more, because the facts are about all accounts', async () => {
  const world = await open();
  const [one, other] = [await world.account(), await world.account()];
  for (const { id } of [one, other]) {
    const { status, body } = await (await administratorOf(world, id))<Response>('GET /installation');
    expect([status, body]).toEqual([200, { installation: null }]);
  }
});

test('403 for every other role', async () => {
  const world = await open();
  const { id } = await world.account();
  for (const role of ['Manager', 'Auditor', 'User'] as const) {
    const { request } = await signInNew(world, id, role);
    expect([role, (await request('GET /installation')).status]).toEqual([role, 403]);
  }
});

test('the time of the last backup is that of the newest in the audit log', async () => {
  const world = await open();
  const { id } = await world.account();
  for (const at of ['2026-03-01T10:00:00Z', '2026-02-01T10:00:00Z'])
    await world.pool`
      insert into audit_entries (account_id, at, origin, action) values (${id}, ${at}, 'command', 'backup created')`;
  const { body } = await (await administratorOf(world, id))<Response>('GET /installation');
  expect(body.installation?.lastBackup).toBe('2026-03-01T10:00:00.000Z');
  expect(body.installation?.notSetUp).not.toContain('backup');
});
