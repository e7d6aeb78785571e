// An attack by someone who reads all traces, such as the operator or the provider of the tracing system, and wants to know who has answered,
// or how many have. It must fail: nothing about answering, invitations or the people in them is in any trace (rules.md P18).
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enterAt, openOffice } from './answers/entry/entry.fixture.ts';
import { workOf } from './app.jobs.ts';
import { readConfig } from './base/config.ts';
import { openLog } from './base/log.ts';
import { isTracedRoute, tracedJobs, untracedJobs } from './base/tracing/what-is-traced.ts';
import { personTokensFor } from './rounds/messages/person-tokens.ts';
import { askPeople, noon } from './testing/asking.ts';
import { consoleRoutes, interfaceRoutes, otherRoutes } from './testing/house/routes.ts';
import { signInNew } from './testing/signed-in.ts';
import { openSmtp, type TestSmtp } from './testing/smtp.ts';
import { openReceiver, type Receiver } from './testing/tracing/receiver.ts';
import { until } from './testing/until.ts';
import { openWorld, testConfig, type World } from './testing/world.ts';

const source = fileURLToPath(new URL('.', import.meta.url));
let now = noon;
let world: World;
let smtp: TestSmtp;
let receiver: Receiver;
beforeAll(async () => {
  smtp = await openSmtp();
  receiver = await openReceiver();
  const { tracing } = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  });
  const settings = {
    tracing,
    smtpUrl: smtp.url,
    trustProxy: ['127.0.0.1'],
    publicUrl: 'http://soundings.test',
  };
  world = await openWorld(openLog('error'), settings, () => now);
});
afterAll(async () => {
  await world?.close();
  await smtp?.close();
  await receiver?.close();
});

/** What a proxy or a browser may send with a request: all of it could identify the person. */
const [parent, address, browser] = ['4bf92f3577b34da6a3ce929d0e0e4736', '198.51.100.77', 'RareBrowser/7.7'];
const identifying = {
  traceparent: `00-${parent}-00f067aa0ba902b7-01`,
  tracestate: 'session=quokka-state',
  baggage: 'user=quokka-baggage',
  'x-forwarded-for': address,
  'user-agent': browser,
};
/** The same for an administrator, whose requests continue the trace of a trusted proxy. */
const { traceparent: _traceparent, ...ofAdministrator } = identifying;

/** Sends a request to a page of people who are asked. Returns the status. */
async function visit(method: string, path: string, body?: string | object): Promise<number> {
  const isForm = typeof body === 'string';
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  const reply = await fetch(world.address + path, {
    method,
    redirect: 'manual',
    headers: { ...identifying, ...(body !== undefined && { 'content-type': type }) },
    body: body === undefined ? null : isForm ? body : JSON.stringify(body),
  });
  await reply.arrayBuffer();
  return reply.status;
}

/** Runs jobs, and waits until no job is left. */
async function run(...names: string[]): Promise<void> {
  for (const name of names)
    await world.pool`select graphile_worker.add_job(${name}, ${JSON.stringify(payloads[name] ?? {})}::text::json)`;
  await until(
    async () =>
      (await world.pool`select 1 from graphile_worker.jobs where task_identifier = any(${names})`).length ===
      0,
  );
}
const payloads: Record<string, object> = {};

/** Waits until all spans that have ended have arrived: those of a last request are sent after them. */
async function allArrived(): Promise<void> {
  const token = await (await world.account()).tokenOf('data');
  const before = receiver.spans.filter(({ name }) => name === 'GET /v1/kpis').length;
  await world.request('GET', '/v1/kpis', { headers: { authorization: token } });
  await until(async () => receiver.spans.filter(({ name }) => name === 'GET /v1/kpis').length > before);
}

/** The names of all functions in the sources of the service. */
const functionNames = (): Set<string> =>
  new Set(
    readdirSync(source, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/\.(test|fixture)\.ts$/.test(path))
      .flatMap((path) => [
        ...readFileSync(join(source, path), 'utf8').matchAll(
          /(?:function\*? |const |^\s+(?:async )?)(\w+)\b/gm,
        ),
      ])
      .map(([, name]) => name as string),
  );

/** The spans that belong to no other span. */
const roots = () => {
  const ids = new Set(receiver.spans.map(({ spanId }) => spanId));
  return receiver.spans.filter(({ parentSpanId }) => !ids.has(parentSpanId));
};

describe('someone who reads all traces', () => {
  const secrets: string[] = [];
  const statuses: number[] = [];

  beforeAll(async () => {
    const { id } = await world.account();
    const { request } = await signInNew(world, id, 'Administrator');
    // Opens a connection to the mail server in a traced job. The invitations are sent over the same connection.
    await request('POST /password/forgotten', { email: 'ada@example.org' }, ofAdministrator);
    await until(async () => smtp.mails.length > 0);
    const asked = await askPeople(world, id, { count: 6 });
    const office = await openOffice(world);
    const codes = await office.print();
    const { path: kiosk } = await office.kiosk();
    const [link = '', other = ''] = asked.links;
    const [userId = 0, otherId = 0] = asked.userIds;
    const [reminders] = await personTokensFor(world.pool, 'reminders', [{ accountId: id, userId }]);
    const question = asked.questionIds.get('workload-amount') as number;
    payloads['close week'] = { accountId: id, week: asked.week };

    await run('send messages');
    statuses.push(
      await visit('GET', `/a/${link}?language=sv`),
      await visit('POST', `/a/${link}/answers`, { question, value: 4, comment: 'quokka comment' }),
      await visit('POST', `/a/${other}`, `q${question}=2&c${question}=quokka+comment`),
      await visit('GET', `/a/${link}%20x/y`),
      await visit('GET', '/a/unknown'),
      await visit('GET', `/r/${reminders}`),
      await visit('POST', `/r/${reminders}`, 'List-Unsubscribe=One-Click'),
      await visit('GET', '/d/unknown'),
      await visit('GET', '/go'),
      await visit('POST', '/go', `code=${codes[0]}`),
      await visit('POST', '/go', 'code=wrong'),
      await visit('GET', kiosk),
      await visit('POST', `${kiosk}/open`, { code: codes[1] }),
      await visit('GET', `/A/${link}`),
      await visit('POST', `/a/${link}`, `q${question}=5`.repeat(1000)),
    );
    await enterAt(world, kiosk, codes[2] as string, identifying);
    now += 3 * 86_400_000;
    await run('send messages', 'count participation', 'show live weeks', 'open rounds', 'close weeks');
    await run('close week');
    // What administrators do is traced.
    for (const operation of [
      `GET /users/${userId}`,
      `GET /users/${otherId}`,
      'GET /rounds',
      'GET /users?search=quokka',
    ])
      await request(operation, undefined, ofAdministrator);
    await request(`PATCH /users/${userId}`, { lastName: 'Quokkason' }, ofAdministrator);
    await allArrived();
    secrets.push(
      ...asked.links,
      ...office.links,
      ...codes,
      kiosk.slice(3),
      reminders as string,
      parent,
      address,
      browser,
      'quokka',
      'Quokka',
      'example.org',
      'Everybody',
    );
  });

  test('finds no link, code, token, address, email, name or answer in any byte', () => {
    const bytes = receiver.exports.map((one) => one.bytes.toString('latin1')).join('\n');
    const headers = JSON.stringify(receiver.exports.map((one) => one.headers));
    expect(bytes.length).toBeGreaterThan(5000);
    for (const secret of secrets) {
      expect(secret.length).toBeGreaterThan(3);
      expect(bytes.includes(secret), secret).toBe(false);
      expect(headers.includes(secret), secret).toBe(false);
    }
    // As bytes, not as text.
    expect(bytes.includes(Buffer.from(parent, 'hex').toString('latin1'))).toBe(false);
    // What was visited, entered and sent did work.
    expect(statuses.slice(0, 3)).toEqual([200, 204, 303]);
    expect([statuses[9], statuses[12]]).toEqual([303, 200]);
    expect(smtp.mails.filter(({ to }) => to[0]?.startsWith('p'))).not.toHaveLength(0);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  });

  test('finds only traces of the interfaces, of the console and of jobs that do not depend on answers', () => {
    const names = [...new Set(roots().map(({ name }) => name))];
    const isExpected = (name: string) =>
      /^[A-Z]+ \/(v1|api)\//.test(name) || tracedJobs.has(name.replace(/^job /, ''));
    expect(names.filter((name) => !isExpected(name))).toEqual([]);
    expect(names).toContain('GET /api/users/:userId');
    expect(names).toContain('job mail sign-in link');
  });

  test('finds no statement that sends invitations, or that reads or stores answers', () => {
    const files = [
      'answers/answering.sql.ts',
      'rounds/messages/messages.sql.ts',
      'rounds/messages/sent-messages.sql.ts',
      'rounds/participation.sql.ts',
    ];
    const names = files.flatMap((path) =>
      [...readFileSync(join(source, path), 'utf8').matchAll(/function (\w+)/g)].map(
        ([, name]) => name as string,
      ),
    );
    expect(names).toContain('takeDue');
    // Recorded for addresses of administrators too, when an email to sign in is rejected.
    const found = receiver.spans.filter(({ name }) => names.includes(name) && name !== 'insertRefusal');
    expect(found.map(({ name }) => name)).toEqual([]);
  });

  test('finds only names from the code, statuses and codes in what spans say', () => {
    const functions = functionNames();
    const allowed: Record<string, (value: string) => boolean> = {
      'http.request.method': (value) => /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(value),
      'http.response.status_code': (value) => /^[1-5]\d\d$/.test(value),
      'http.route': (value) => /^\/(v1|api)(\/[a-z][a-zA-Z.-]*|\/:[a-zA-Z]+)+$/.test(value),
      'url.scheme': (value) => value === 'http',
      'db.system.name': (value) => value === 'postgresql',
      'db.operation.name': (value) => /^(SELECT|INSERT|UPDATE|DELETE|WITH|COPY|SET|SHOW|LOCK)$/.test(value),
      'db.query.summary': (value) => functions.has(value),
      'db.response.status_code': (value) => /^[\dA-Z]{5}$/.test(value),
      'error.type': (value) => /^[\w ]{1,40}$/.test(value),
    };
    const bad = receiver.spans.flatMap(({ attributes }) =>
      Object.entries(attributes).filter(([name, value]) => !allowed[name]?.(value)),
    );
    expect(bad).toEqual([]);
    const isName = (name: string) =>
      functions.has(name) ||
      /^([A-Z]+ \/(v1|api)\/[\w:./-]*|job [a-z -]+|thread [a-z]+|send email|[A-Z]{3,10})$/.test(name);
    expect(receiver.spans.map(({ name }) => name).filter((name) => !isName(name))).toEqual([]);
    for (const { events, links, statusMessage, traceState } of receiver.spans)
      expect({ events, links, statusMessage, traceState }).toEqual({
        events: 0,
        links: 0,
        statusMessage: '',
        traceState: '',
      });
  });

  test('learns of the service only its name and version', () => {
    expect(Object.keys(receiver.resource()).toSorted()).toEqual([
      'service.name',
      'service.version',
      'telemetry.sdk.language',
      'telemetry.sdk.name',
      'telemetry.sdk.version',
    ]);
  });
});

describe('what is traced', () => {
  test('is decided for every job', () => {
    const bounces = { address: 'b@example.org', folder: {} as never };
    const config = { ...testConfig, bounces, answerKeys: world.keyPlace };
    const { recurring, tasks } = workOf({ config, now: () => now, onWeeks: async () => {} } as never);
    const names = [...recurring.map(({ name }) => name), ...Object.keys(tasks)];
    expect(names.toSorted()).toEqual([...tracedJobs, ...untracedJobs].toSorted());
  });

  test('is every route of the interfaces and of the console but those of directories, and no other', () => {
    const pathsOf = (routes: { route: string }[]) => routes.map(({ route }) => route.split(' ')[1] as string);
    const isOfScim = (path: string) => path.startsWith('/scim/');
    const ofInterfaces = pathsOf(interfaceRoutes());
    expect(ofInterfaces.filter(isOfScim).filter(isTracedRoute)).toEqual([]);
    const traced = [...ofInterfaces.filter((path) => !isOfScim(path)), ...pathsOf(consoleRoutes())];
    expect(traced.filter((path) => !isTracedRoute(path))).toEqual([]);
    const others = pathsOf(otherRoutes()).filter((path) => !path.startsWith('/v1/openapi/'));
    expect(others.filter(isTracedRoute)).toEqual([]);
    expect(isTracedRoute(undefined)).toBe(false);
  });
});
