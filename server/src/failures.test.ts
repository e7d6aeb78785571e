// Requests when processes are killed, stop, start too early or run at the same time: nothing is half applied, and nothing that
// was acknowledged is lost. The services here are separate processes.
import { openApiDocument } from '@soundings/contract/openapi.ts';
import type { Report } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get as httpsGet } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { createUser } from './people/users.ts';
import { openTestDatabase } from './testing/database.ts';
import { freePort } from './testing/processes/free-port.ts';
import {
  connectionsTo,
  databaseOf,
  exec,
  home,
  isReady,
  newDataDir,
  type Service,
  start,
  started,
  useDirectory,
} from './testing/processes/processes.ts';
import { openWorld, type World } from './testing/world.ts';
import { until } from './testing/until.ts';
import { keepOpen, untilWaiting } from './testing/keep-open.ts';

useDirectory();

async function newAccount(pool: Pool): Promise<{ id: number; token: string }> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Test' });
    const administrator = { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' };
    await createUser(tx, account.id, administrator);
    return account.id;
  });
  const { token } = await createToken(pool, id, { name: 'test', scopes: ['data', 'organization'] });
  return { id, token };
}

type PushResponse = { status: number; headers: Headers; body: Report & Problem };

async function push(address: string, token: string, body: unknown): Promise<PushResponse> {
  const response = await fetch(`${address}/v1/organization`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Report & Problem,
  };
}

const settings = { validateOnly: false, maxUsersCreated: 20_000 };
const people = (count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => ({
    externalId: `u${first + i}`,
    firstName: `First ${i}`,
    lastName: `Last ${i}`,
    email: `u${first + i}@example.org`,
  }));
const large = {
  settings,
  data: {
    groups: [{ externalId: 'g', name: 'G' }],
    users: people(5_000).map((person) => ({ ...person, accessInfo: { memberOf: ['g'] } })),
  },
};

/** Blocks the write of the user in the middle of the large request until it is released. */
const blockMiddle = (pool: Pool, accountId: number) =>
  keepOpen(
    pool,
    (tx) => tx`
      insert into users (account_id, external_id, managed, first_name, last_name, active, role)
      values (${accountId}, 'u2500', true, '', '', true, 'User')`,
  );

const blockAccount = (pool: Pool, accountId: number) =>
  keepOpen(pool, (tx) => tx`select from accounts where account_id = ${accountId} for update`);

/** Pushes for a new account with the user u2500, and returns while the push is certainly being written. */
async function pushInTheMiddle(service: Service, request: unknown = large) {
  const pool = await connectionsTo(service);
  const account = await newAccount(pool);
  const release = await blockMiddle(pool, account.id);
  const response = push(service.address, account.token, request);
  response.catch(() => {});
  await untilWaiting(pool);
  return { pool, account, release, response };
}

async function stateOf(pool: Pool, accountId: number) {
  const [row] = await pool<{ users: number; groups: number; memberships: number; changes: number }[]>`
    select (select count(*)::integer from users where account_id = ${accountId} and managed) as users,
           (select count(*)::integer from groups where account_id = ${accountId}) as groups,
           (select count(*)::integer from memberships where account_id = ${accountId}) as memberships,
           (select count(*)::integer from run_changes where account_id = ${accountId}) as changes`;
  const runs = await pool<{ outcome: string }[]>`
    select outcome from runs where account_id = ${accountId} order by at`;
  return { ...row, runs: runs.map(({ outcome }) => outcome) };
}

const nothing = { users: 0, groups: 0, memberships: 0, changes: 0, runs: ['failed'] };
const everything = {
  users: 5_000,
  groups: 1,
  memberships: 5_000,
  changes: 5_001,
  runs: ['failed', 'applied'],
};

/** Uploads a file for a new account with the user u2500, which blocks its write, and returns when its run has begun. */
async function uploadInTheMiddle(service: Service, pool: Pool) {
  const account = await newAccount(pool);
  await inTransaction(pool, (tx) => changeAccount(tx, account.id, { maxUsersCreated: 20_000 }));
  const { token } = await createToken(pool, account.id, { name: 'files', scopes: ['files'] });
  const release = await blockMiddle(pool, account.id);
  const rows = people(5_000).map((one) => `${one.externalId};${one.firstName};${one.lastName}`);
  const form = new FormData();
  form.append('file', new Blob([['EmployeeID;FirstName;LastName', ...rows].join('\n')]), 'users.csv');
  const headers = { authorization: token };
  const sent = await fetch(`${service.address}/v1/storage/uploadFile`, {
    method: 'POST',
    headers,
    body: form,
  });
  expect([sent.status, await sent.text()]).toEqual([200, 'users.csv']);
  await until(async () => (await stateOf(pool, account.id)).runs.length === 1);
  return { account, headers, release };
}

describe('the service is killed', () => {
  test('in the middle of a large push, a file that is being applied and one that is being read: after the restart, no part of the push is applied, its run is recorded as failed, and the same request then works; each file is applied once, without any action', async () => {
    const first = await started(await newDataDir());
    const { pool, account, release, response } = await pushInTheMiddle(first);
    const applied = await uploadInTheMiddle(first, pool);
    await untilWaiting(pool, 2);
    const read = await uploadInTheMiddle(first, pool);
    first.child.kill('SIGKILL');
    expect(await first.exited).toBe('SIGKILL');
    await expect(response).rejects.toThrow('fetch failed');
    for (const one of [release, applied.release, read.release]) {
      await one();
    }
    const second = await started(first.dataDir);
    expect(await stateOf(pool, account.id)).toEqual(nothing);
    const again = await push(second.address, account.token, large);
    expect([again.status, again.body.applied]).toEqual([200, true]);
    expect(again.body.summary.users.created).toBe(5_000);
    expect(await stateOf(pool, account.id)).toEqual(everything);
    for (const [how, file] of Object.entries({ applied, read })) {
      const report = await until(async () => {
        const reported = await fetch(`${second.address}/v1/storage/files/users.csv/report`, {
          headers: file.headers,
        });
        const body = (await reported.json()) as FileReport;
        return !isUnderWay(body.outcome) && body;
      });
      expect({ how, ...report }).toMatchObject({
        how,
        outcome: 'applied',
        summary: { users: { created: 5_000 } },
      });
      expect(await stateOf(pool, file.account.id)).toMatchObject({ users: 5_000, runs: ['applied'] });
    }
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  }, 180_000);
});

describe('PostgreSQL is killed in the middle of a large push', () => {
  test('503 with Retry-After, nothing is applied; soon PostgreSQL is back and the same request works', async () => {
    const service = await started(await newDataDir());
    const { account, response } = await pushInTheMiddle(service);
    const dead = (await databaseOf(service.dataDir))!;
    process.kill(dead.pid, 'SIGKILL');
    const refused = await response;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.body.details[0]?.type).toBe('unavailable');
    expect(refused.headers.get('x-request-id')).toBe(refused.body.id);
    await until(() => isReady(service));
    expect((await databaseOf(service.dataDir))?.pid).not.toBe(dead.pid);
    const pool = await connectionsTo(service);
    // Otherwise this job runs each minute.
    await pool`select graphile_worker.add_job('end lost runs')`;
    await until(async () => (await stateOf(pool, account.id)).runs[0] === 'failed');
    expect(await stateOf(pool, account.id)).toEqual(nothing);
    const again = await push(service.address, account.token, large);
    expect([again.status, again.body.applied]).toEqual([200, true]);
    expect(await stateOf(pool, account.id)).toEqual(everything);
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
    expect(await databaseOf(service.dataDir)).toBeUndefined();
  });

  test('while it is unavailable, the service is live but not ready, and requests get 503', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const proxy = await openProxy(database.url);
    const service = await started(join(home, 'none'), { DATABASE_URL: proxy.url });
    const account = await newAccount(database.pool);
    proxy.close();
    await until(async () => !(await isReady(service)));
    expect((await fetch(`${service.address}/health/live`)).status).toBe(200);
    const groups = await fetch(`${service.address}/v1/groups`, { headers: { authorization: account.token } });
    expect([groups.status, groups.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
    expect((await push(service.address, account.token, large)).status).toBe(503);
    await proxy.open();
    await until(() => isReady(service));
    expect((await push(service.address, account.token, { data: {} })).status).toBe(200);
  });
});

describe('a statement of a push is cancelled', () => {
  test('while its data is still being sent, and after: the response is an error, nothing is applied, and the next push works', async () => {
    const service = await started(await newDataDir());
    const short = { settings, data: { users: people(1, 2_500) } };
    for (const [when, request] of [
      ['while its data is still being sent', large],
      ['after all its data has been sent', short],
    ] as const) {
      const { pool, account, release, response } = await pushInTheMiddle(service, request);
      await pool`
          select pg_cancel_backend(pid) from pg_stat_activity
          where  datname = current_database() and wait_event_type = 'Lock' and query like 'copy users%'`;
      expect([when, [500, 503].includes((await response).status)]).toEqual([when, true]);
      await release();
      expect([when, await stateOf(pool, account.id)]).toEqual([when, nothing]);
      expect([when, (await push(service.address, account.token, request)).body.applied]).toEqual([
        when,
        true,
      ]);
    }
  });
});

describe('SIGTERM', () => {
  test('makes it not ready at once; it serves for DRAIN_SECONDS, then refuses connections; the running push ends with 200', async () => {
    const service = await started(await newDataDir(), { DRAIN_SECONDS: '4' });
    const { pool, account, release, response } = await pushInTheMiddle(service);
    const other = await newAccount(pool);
    const open = await openConnection(service.port);
    expect(await open.request('/health/ready')).toMatch(/^HTTP\/1\.1 200/);
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.address}/health/ready`)).status === 503);
    const last = await open.request('/v1/groups', `authorization: ${other.token}\r\n`);
    expect(last).toMatch(/^HTTP\/1\.1 200/);
    expect(last).toMatch(/\r\nconnection: close\r\n/i);
    expect(await push(service.address, other.token, { data: {} })).toMatchObject({ status: 200 });
    expect((await fetch(`${service.address}/health/live`)).status).toBe(200);
    await until(() => isRefused(service.port));
    expect((await stateOf(pool, account.id)).runs).toEqual(['processing']);
    await release();
    expect(await response).toMatchObject({ status: 200, body: { applied: true } });
    expect(await service.exited).toBe(0);
    expect(await databaseOf(service.dataDir)).toBeUndefined();
    const next = await started(service.dataDir);
    expect(await stateOf(await connectionsTo(next), account.id)).toEqual({
      ...everything,
      runs: ['applied'],
    });
  });

  test('SIGINT, as from Ctrl-C, does not wait for DRAIN_SECONDS', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const service = await started(join(home, 'none'), { DATABASE_URL: database.url, DRAIN_SECONDS: '300' });
    service.child.kill('SIGINT');
    expect(await Promise.race([service.exited, wait(100_000, 'it still runs after 100 s')])).toBe(0);
  });

  test('a second signal ends it at once, and nothing is half applied', async () => {
    const service = await started(await newDataDir());
    const { pool, account, release, response } = await pushInTheMiddle(service);
    service.child.kill('SIGTERM');
    await until(async () => !(await isReady(service)));
    expect(service.child.exitCode).toBeNull();
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
    await expect(response).rejects.toThrow('fetch failed');
    await release();
    expect(await stateOf(pool, account.id)).toEqual({ ...nothing, runs: ['processing'] });
    const next = await started(service.dataDir);
    expect(await stateOf(await connectionsTo(next), account.id)).toEqual(nothing);
  });

  test('waits for a push that does not end for at most SHUTDOWN_SECONDS', async () => {
    const service = await started(await newDataDir(), { SHUTDOWN_SECONDS: '1' });
    const { response } = await pushInTheMiddle(service);
    service.child.kill('SIGTERM');
    await expect(response).rejects.toThrow('fetch failed');
    expect(await Promise.race([service.exited, wait(60_000, 'it still runs after 60 s')])).toBe(0);
    expect(await databaseOf(service.dataDir)).toBeUndefined();
    const next = await started(service.dataDir);
    const [run] = await (await connectionsTo(next))`
      select (select count(*)::integer from users where managed) as users, outcome from runs`;
    expect(run).toEqual({ users: 0, outcome: 'failed' });
  });

  test('ends it even before the database is available', async () => {
    const service = await start(join(home, 'none'), {
      DATABASE_URL: `postgres://x:y@127.0.0.1:${await freePort()}/z`,
    });
    await until(() =>
      fetch(`${service.address}/health/live`).then(
        () => true,
        () => false,
      ),
    );
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});

describe('the start', () => {
  test('before its database: it listens, is live but not ready, and becomes ready once the database is available', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const proxy = await openProxy(database.url);
    proxy.close();
    const service = await start(join(home, 'none'), { DATABASE_URL: proxy.url });
    const statusOf = (path: string) =>
      fetch(service.address + path).then(
        ({ status }) => status,
        () => undefined,
      );
    await until(async () => (await statusOf('/health/live')) === 200);
    expect(await statusOf('/health/ready')).toBe(503);
    expect(await statusOf('/v1/groups')).toBe(503);
    await until(async () => service.said().includes('Waiting for the database'));
    await proxy.open();
    await until(() => isReady(service));
    expect(await statusOf('/v1/groups')).toBe(401);
    expect(service.said()).not.toContain(new URL(database.url).password);
  });

  test('of a second service on one data directory or port fails with a clear message, without affecting the first', async () => {
    const first = await started(await newDataDir());
    const before = await databaseOf(first.dataDir);
    const second = await start(first.dataDir);
    const onSamePort = await start(await newDataDir(), { PORT: String(first.port) });
    expect(await second.exited).toBe(1);
    expect(second.said()).toMatch(
      new RegExp(`Process ${first.child.pid} is already running as the service of .*DATA_DIR`),
    );
    expect(await onSamePort.exited).toBe(1);
    expect(onSamePort.said()).toContain(String(first.port));
    expect(onSamePort.said()).toMatch(/in use/);
    expect(await databaseOf(onSamePort.dataDir)).toBeUndefined(); // it leaves no PostgreSQL running
    // No stack, because the operator can fix it.
    for (const { said } of [second, onSamePort]) expect(said()).not.toMatch(/^\s+at /m);
    expect(await isReady(first)).toBe(true);
    expect(await databaseOf(first.dataDir)).toEqual(before);
  });

  test('in plain HTTP on all addresses is refused unless explicitly allowed, before anything is created', async () => {
    const dataDir = join(home, 'not-created');
    const refused = await start(dataDir, { HOST: '0.0.0.0' });
    expect(await refused.exited).toBe(78); // systemd doesn't try again
    expect(refused.said()).toMatch(
      /HOST is 0\.0\.0\.0[\s\S]*TLS_CERT_FILE[\s\S]*TRUST_PROXY[\s\S]*ALLOW_PLAIN_HTTP/,
    );
    expect(refused.said()).not.toMatch(/^\s+at /m);
    await expect(readFile(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('with a certificate: only HTTPS, on any address', async (context) => {
    const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')];
    const created = await exec('openssl', [
      ...'req -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:P-256 -days 2 -subj /CN=localhost'.split(
        ' ',
      ),
      '-addext',
      'subjectAltName=IP:127.0.0.1',
      '-keyout',
      key,
      '-out',
      cert,
    ]).catch((error: NodeJS.ErrnoException) => error);
    if (created instanceof Error)
      return context.skip(`SKIPPED: could not create a certificate: ${created.message}`);
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const service = await start(join(home, 'none'), {
      DATABASE_URL: database.url,
      HOST: '0.0.0.0',
      TLS_CERT_FILE: cert,
      TLS_KEY_FILE: key,
    });
    const ca = await readFile(cert, 'utf8');
    const request = (path: string) =>
      new Promise<{ status: number; text: string } | undefined>((resolve) => {
        httpsGet(`https://127.0.0.1:${service.port}${path}`, { ca, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        }).once('error', () => resolve(undefined));
      });
    await until(async () => (await request('/health/ready'))?.status === 200);
    expect((await request('/v1/groups'))?.status).toBe(401);
    const document = JSON.parse((await request('/v1/openapi/data.json'))!.text) as object;
    expect(document).toMatchObject({
      info: openApiDocument('data', '').info,
      servers: [{ url: `https://0.0.0.0:${service.port}` }],
    });
    await expect(fetch(`${service.address}/health/live`)).rejects.toThrow('fetch failed');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});

describe('the thread for organization requests runs out of memory', () => {
  test('waiting requests get 503, the service keeps running, and the next push works', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const account = await newAccount(database.pool);
    const service = await started(join(home, 'none'), {
      DATABASE_URL: database.url,
      NODE_OPTIONS: '--max-old-space-size=64',
    });
    const user = JSON.stringify({ externalId: 'x', firstName: 'First', lastName: 'Last', accessInfo: {} });
    const huge = `{"data":{"users":[${`${user},`.repeat(600_000)}${user}]}}`;
    const responses = await Promise.all([
      push(service.address, account.token, huge),
      push(service.address, account.token, huge),
    ]);
    for (const { status, body } of responses) {
      expect([status, body.details[0]?.type]).toEqual([503, 'unavailable']);
    }
    expect(service.said()).toContain('A thread for organization requests failed unexpectedly');
    expect(await push(service.address, account.token, { data: {} })).toMatchObject({ status: 200 });
    expect(await isReady(service)).toBe(true);
  });
});

describe('simultaneous pushes', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  const request = (firstName: string) => ({
    settings,
    data: { users: [{ externalId: 'a', firstName, lastName: 'L' }] },
  });

  test('of one account are applied one after another: the second sees the changes of the first', async () => {
    const account = await world.account();
    const release = await blockAccount(world.pool, account.id);
    const first = account.push(request('one'));
    await untilWaiting(world.pool);
    const second = account.push(request('two'));
    await world.request('GET', '/health/live');
    await release();
    expect((await first).body.summary.users).toEqual({ created: 1, updated: 0, deleted: 0, unchanged: 0 });
    expect((await second).body.changes).toEqual([
      {
        entity: 'user',
        externalId: 'a',
        action: 'update',
        fields: { firstName: { from: 'one', to: 'two' } },
      },
    ]);
  });

  test('of one account are applied one after another also across two services', async () => {
    const account = await world.account();
    const service = await started(join(home, 'none'), { DATABASE_URL: world.databaseUrl });
    const release = await blockAccount(world.pool, account.id);
    const pushed = [
      account.push(request('one')),
      push(service.address, account.token, request('two')),
    ] as const;
    await untilWaiting(world.pool, 2);
    await release();
    const [one, other] = await Promise.all(pushed);
    const summaries = [one, other].map(({ body }) => body.summary.users);
    expect(summaries.map(({ created }) => created).toSorted()).toEqual([0, 1]);
    expect(summaries.map(({ updated }) => updated).toSorted()).toEqual([0, 1]);
  });

  test('of different accounts do not wait for each other', async () => {
    const [a, b] = [await world.account(), await world.account()];
    const release = await blockAccount(world.pool, a.id);
    let isOver = false;
    const waiting = a.push(request('one')).finally(() => (isOver = true));
    await untilWaiting(world.pool);
    expect(await b.push(request('one'))).toMatchObject({ status: 200, body: { applied: true } });
    expect((await a.groups()).length).toBe(0); // Reading does not wait either.
    expect(isOver).toBe(false);
    await release();
    expect(await waiting).toMatchObject({ status: 200, body: { applied: true } });
  });

  test('of a client that disconnects leave nothing half applied and do not block the next push', async () => {
    const account = await world.account();
    const release = await blockAccount(world.pool, account.id);
    const abort = new AbortController();
    const gone = fetch(`${world.address}/v1/organization`, {
      method: 'POST',
      headers: { authorization: account.token, 'content-type': 'application/json' },
      body: JSON.stringify(request('one')),
      signal: abort.signal,
    });
    await untilWaiting(world.pool);
    abort.abort();
    await expect(gone).rejects.toThrow('aborted');
    await release();
    const next = await account.push(request('one'));
    // Not applied if the service noticed it before the account was free (sync/organization.reports.test.ts), otherwise applied
    // completely.
    const { created, updated, deleted, unchanged } = next.body.summary.users;
    expect([created + unchanged, updated, deleted]).toEqual([1, 0, 0]);
  });
});

/** Opens a proxy to a database that can be closed and reopened. */
async function openProxy(databaseUrl: string) {
  const { hostname, port: target } = new URL(databaseUrl);
  const port = await freePort();
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const open = async () => {
    server = createServer((near) => {
      const far = connect(Number(target), hostname);
      for (const one of [near, far]) {
        sockets.add(one);
        one
          .on('error', () => {})
          .once('close', () => {
            near.destroy();
            far.destroy();
          });
      }
      near.pipe(far).pipe(near);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  const close = () => {
    server?.close();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  onTestFinished(close);
  await open();
  const url = new URL(databaseUrl);
  url.port = String(port);
  return { url: url.href, open, close };
}

/** Returns whether nothing listens on a port. */
const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('connect', () => socket.destroy());
  });

/** Opens a connection that stays open from one request to the next. */
async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return {
    async request(path: string, headers = ''): Promise<string> {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
      const [text] = (await once(socket, 'data')) as [string];
      return text;
    },
  };
}
