// Traces: what they contain, where they are sent, and that a receiver that fails never slows or stops the service.
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import SftpClient from 'ssh2-sftp-client';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { accountById } from './accounts/accounts.ts';
import { readConfig } from './base/config.ts';
import { certificate } from './mail/certificate.fixture.ts';
import { freePort } from './testing/processes/free-port.ts';
import { newDataDir, started, useDirectory } from './testing/processes/processes.ts';
import { signInNew } from './testing/signed-in.ts';
import { openSmtp, type TestSmtp } from './testing/smtp.ts';
import { openReceiver, type Receiver } from './testing/tracing/receiver.ts';
import type { ReceivedSpan } from './testing/tracing/read-otlp.ts';
import { until } from './testing/until.ts';
import { openWorld, type TestAccount, type World } from './testing/world.ts';
import { noLimits, person, unit } from './testing/organizations.ts';

useDirectory();

type Line = { level: number; msg: string; traceId?: string; route?: string; failures?: number };

/** Opens a service that sends traces. `env`: settings of traces. `lines`: gets its log. */
async function openTraced(
  env: Record<string, string>,
  settings: Parameters<typeof openWorld>[1] = {},
  lines: Line[] = [],
): Promise<World> {
  const { tracing } = readConfig({ OTEL_BSP_SCHEDULE_DELAY: '30', ...env });
  const log = pino(
    { level: 'info', base: null },
    { write: (line) => void lines.push(JSON.parse(line) as Line) },
  );
  return openWorld(log, { tracing, ...settings });
}

/** The same, until the end of the test. */
async function traced(...parameters: Parameters<typeof openTraced>): Promise<World> {
  const world = await openTraced(...parameters);
  onTestFinished(() => world.close());
  return world;
}

/** Opens a receiver until the end of the test. */
async function receiving(...parameters: Parameters<typeof openReceiver>): Promise<Receiver> {
  const receiver = await openReceiver(...parameters);
  onTestFinished(() => receiver.close());
  return receiver;
}

const getGroups = (world: World, { token }: TestAccount, headers: Record<string, string> = {}) =>
  world.request('GET', '/v1/groups', { headers: { authorization: token, ...headers } });

describe('a trace', () => {
  let receiver: Receiver;
  let smtp: TestSmtp;
  let world: World;
  let account: TestAccount;
  let sftpPort: number;
  const lines: Line[] = [];
  beforeAll(async () => {
    receiver = await openReceiver();
    smtp = await openSmtp();
    sftpPort = await freePort();
    const settings = { smtpUrl: smtp.url, sftpPort, trustProxy: ['127.0.0.1'] };
    world = await openTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }, settings, lines);
    account = await world.account();
  });
  afterAll(async () => {
    await world?.close();
    await smtp?.close();
    await receiver?.close();
  });

  const namesOf = (spans: ReceivedSpan[]) => spans.map(({ name }) => name);

  test('of a request has its route, its status, and each statement by the function that sends it', async () => {
    await getGroups(world, account);
    const span = await receiver.span('GET /v1/groups');
    expect(span).toMatchObject({
      kind: 2,
      parentSpanId: '',
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/v1/groups',
        'http.response.status_code': '200',
        'url.scheme': 'http',
      },
    });
    const parts = receiver.partsOf(span);
    expect(namesOf(parts)).toContain('selectGroups');
    for (const one of parts) {
      expect(one).toMatchObject({
        traceId: span.traceId,
        kind: 3,
        attributes: { 'db.system.name': 'postgresql', 'db.query.summary': one.name },
      });
      expect(one.startedAt).toBeGreaterThanOrEqual(span.startedAt);
      expect(one.endedAt).toBeLessThanOrEqual(span.endedAt);
      expect(one.endedAt).toBeGreaterThan(one.startedAt);
    }
    expect(receiver.resource()).toMatchObject({ 'service.name': 'soundings' });
  });

  test('has the ID that is in the log', async () => {
    await world.request('GET', '/v1/kpis', { headers: { authorization: account.token } });
    const { traceId } = await receiver.span('GET /v1/kpis');
    expect(lines.find(({ route }) => route === '/v1/kpis')).toMatchObject({ traceId });
  });

  test('of a push has the statements of its thread', async () => {
    const users = [person('a', { accessInfo: { memberOf: ['top'] } })];
    await account.push({
      settings: { ...noLimits, validateOnly: false },
      data: { groups: [unit('top')], users },
    });
    const [thread] = receiver
      .partsOf(await receiver.span('POST /v1/organization/organization'))
      .filter(({ name }) => name === 'thread pushes') as [ReceivedSpan];
    const parts = receiver.partsOf(thread);
    expect(namesOf(parts)).toEqual(expect.arrayContaining(['raiseVersion', 'updateRun']));
    for (const one of parts) {
      expect(one.startedAt).toBeGreaterThanOrEqual(thread.startedAt);
      expect(one.endedAt).toBeLessThanOrEqual(thread.endedAt);
    }
  });

  test('of a request that fails says why, in codes', async () => {
    expect((await getGroups(world, { ...account, token: 'wrong' })).status).toBe(401);
    const refused = await until(async () =>
      receiver.spans.find(({ attributes }) => attributes['http.response.status_code'] === '401'),
    );
    expect(refused).toMatchObject({ status: 0, statusMessage: '', events: 0 });
    expect(refused.attributes['error.type']).toBeUndefined();
    await world.pool`alter table kpis rename to away`;
    onTestFinished(async () => void (await world.pool`alter table away rename to kpis`));
    const { request } = await signInNew(world, account.id, 'Administrator');
    expect((await request('GET /library/kpis')).status).toBe(500);
    const failed = await receiver.span('GET /api/library/kpis');
    expect(failed).toMatchObject({ status: 2, statusMessage: '', events: 0 });
    expect(failed.attributes).toMatchObject({ 'http.response.status_code': '500', 'error.type': '500' });
    const statement = receiver.partsOf(failed).find(({ status }) => status === 2);
    expect(statement).toMatchObject({ statusMessage: '', events: 0 });
    expect(statement?.attributes).toMatchObject({
      'error.type': '42P01',
      'db.response.status_code': '42P01',
    });
  });

  test('of an email has the time that the mail server took', async () => {
    const { request } = await signInNew(world, account.id, 'Administrator');
    await request('POST /settings/test-mail');
    const span = await receiver.span('POST /api/settings/test-mail');
    expect(namesOf(receiver.partsOf(span))).toContain('send email');
  });

  test('of an uploaded file: the upload, and the job that processes it, with the statements of its thread', async () => {
    const { sftpUsername: username } = await accountById(world.pool, account.id);
    const client = new SftpClient();
    await client.connect({ host: '127.0.0.1', port: sftpPort, username, password: account.token });
    await client.put(Buffer.from('EmployeeID;FirstName;LastName\r\n1;Åsa;Ek\r\n'), '/users.csv');
    await client.end();
    const upload = await receiver.span('SFTP upload');
    expect(upload).toMatchObject({ kind: 2, parentSpanId: '', attributes: {} });
    expect(receiver.partsOf(upload).length).toBeGreaterThan(1);
    const job = await receiver.span('job process files');
    expect(job).toMatchObject({ parentSpanId: '', links: 0 });
    const thread = receiver.partsOf(job).find(({ name }) => name === 'thread files') as ReceivedSpan;
    expect(namesOf(receiver.partsOf(thread))).toContain('updateRun');
  });

  test('continues that of a trusted proxy, without what else the proxy says', async () => {
    const traceId = 'ab'.repeat(16);
    const traceparent = `00-${traceId}-${'cd'.repeat(8)}-01`;
    await getGroups(world, account, { traceparent, tracestate: 'vendor=x', baggage: 'user=x' });
    const span = await until(async () =>
      receiver.spans.find((one) => one.traceId === traceId && one.kind === 2),
    );
    expect(span).toMatchObject({ name: 'GET /v1/groups', parentSpanId: 'cd'.repeat(8), traceState: '' });
    const invalid = ['00-' + '0'.repeat(32) + `-${'cd'.repeat(8)}-01`, 'ff-' + traceparent.slice(3), 'x', ''];
    const before = receiver.spans.length;
    for (const one of invalid) await getGroups(world, account, { traceparent: one });
    const isRoot = ({ name, parentSpanId }: ReceivedSpan) => name === 'GET /v1/groups' && parentSpanId === '';
    await until(async () => receiver.spans.slice(before).filter(isRoot).length === invalid.length);
  });

  test('is not recorded if the proxy does not sample it', async () => {
    const traceId = 'ba'.repeat(16);
    await getGroups(world, account, { traceparent: `00-${traceId}-${'cd'.repeat(8)}-00` });
    const before = receiver.exports.length;
    await getGroups(world, account);
    await until(async () => receiver.exports.length > before);
    expect(receiver.spans.filter((one) => one.traceId === traceId)).toEqual([]);
  });
});

test('JSON, compression, headers, name and certificate are as in the settings, and only trusted proxies have a say', async ({
  skip,
}) => {
  const tls = await certificate({ name: 'IP:127.0.0.1' });
  if (!tls) return skip('SKIPPED: needs openssl');
  const folder = await mkdtemp(join(tmpdir(), 'soundings-tracing-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'ca.pem'), tls.cert);
  const receiver = await receiving({ tls });
  const world = await traced({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/own/path`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20one,x-other=2',
    OTEL_EXPORTER_OTLP_CERTIFICATE: join(folder, 'ca.pem'),
    OTEL_SERVICE_NAME: 'surveys',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=test%20a',
  });
  const ofOthers = 'ab'.repeat(16);
  await getGroups(world, await world.account(), { traceparent: `00-${ofOthers}-${'cd'.repeat(8)}-00` });
  const span = await receiver.span('GET /v1/groups');
  expect(span.attributes).toMatchObject({ 'http.response.status_code': '200' });
  expect(span.traceId).not.toBe(ofOthers); // TRUST_PROXY is not set
  expect(receiver.exports[0]).toMatchObject({
    path: '/own/path',
    headers: {
      authorization: 'Bearer one',
      'x-other': '2',
      'content-type': 'application/json',
      'content-encoding': 'gzip',
    },
  });
  expect(receiver.resource()).toMatchObject({
    'service.name': 'surveys',
    'deployment.environment.name': 'test a',
  });
});

test('a sampler that samples nothing sends nothing, and the log has no IDs of traces', async () => {
  const receiver = await receiving();
  const lines: Line[] = [];
  const settings = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' };
  const world = await openTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, ...settings }, {}, lines);
  await getGroups(world, await world.account());
  await world.close();
  expect(receiver.exports).toEqual([]);
  expect(lines.filter(({ traceId }) => traceId !== undefined)).toEqual([]);
});

describe('a receiver', () => {
  test('that refuses or does not respond slows no request and doesn’t keep the service from stopping, and the log has one warning a minute', async () => {
    const receiver = await receiving();
    receiver.respond(503);
    const lines: Line[] = [];
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url, OTEL_EXPORTER_OTLP_TIMEOUT: '200' };
    const world = await openTraced(env, {}, lines);
    const account = await world.account();
    await until(async () => {
      expect((await getGroups(world, account)).status).toBe(200);
      return receiver.exports.length >= 3;
    });
    const warnings = () => lines.filter(({ msg }) => msg.startsWith('Traces could not be sent'));
    await until(async () => warnings().length > 0);
    receiver.respond(undefined);
    expect((await getGroups(world, account)).status).toBe(200);
    receiver.respond(200);
    await until(async () => {
      await getGroups(world, account);
      return receiver.spans.length > 0;
    });
    expect(warnings()).toHaveLength(1);
    receiver.respond(undefined);
    await getGroups(world, account);
    await world.close();
  });

  test('gets everything that is waiting at SIGTERM', async () => {
    const receiver = await receiving();
    const service = await started(await newDataDir(), {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_BSP_SCHEDULE_DELAY: '600000',
    });
    await fetch(`${service.address}/api/sign-in`);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    // The build gives functions other names only if several have the same.
    const span = receiver.spans.find(({ name }) => name === 'GET /api/sign-in') as ReceivedSpan;
    expect(receiver.partsOf(span).length).toBeGreaterThan(0);
    for (const { name } of receiver.partsOf(span)) expect(name).toMatch(/^(select|count)[A-Z]\w+$/);
  });
});

test('the libraries are loaded only if tracing is on', () => {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const imports = globSync('**/*.ts', { cwd: root })
    .filter((path) => !path.endsWith('.test.ts'))
    .flatMap((path) =>
      [
        ...readFileSync(join(root, path), 'utf8').matchAll(
          /(?:from |import\()'(?:@opentelemetry|\S*\/otlp\.ts)/g,
        ),
      ].map(([found]) => `${path}: ${found}`),
    );
  expect([...new Set(imports)].toSorted()).toEqual([
    "base/tracing/otlp.ts: from '@opentelemetry",
    "base/tracing/start.ts: import('./otlp.ts",
  ]);
});
