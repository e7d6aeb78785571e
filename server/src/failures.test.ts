// What becomes of requests when processes die, stop, start too early or meet each other: nothing half done, nothing
// lost that was answered. The services here are processes of their own, ended in good and in bad ways.
import { openApiDocument } from '@soundings/contract/openapi.ts';
import type { Report } from '@soundings/contract/organization.ts';
import type { Problem } from '@soundings/contract/problem.ts';
import { type FileReport, isUnderWay } from '@soundings/contract/storage.ts';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { get as httpsGet } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { changeAccount, createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { createUser } from './people/users.ts';
import { openTestDatabase } from './testing/database.ts';
import { freePort } from './testing/free-port.ts';
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
} from './testing/processes.ts';
import { openWorld, type World } from './testing/world.ts';
import { until } from './testing/until.ts';
import { heldOpen } from './testing/hold-open.ts';

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

type Answer = { status: number; headers: Headers; body: Report & Problem };

async function push(address: string, token: string, body: unknown): Promise<Answer> {
  const answer = await fetch(`${address}/v1/organization`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Report & Problem };
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

/** Whoever writes the user in the middle of the large request has to wait for what becomes of this one. */
const holdMiddle = (pool: Pool, accountId: number) =>
  heldOpen(
    pool,
    (tx) => tx`
      insert into users (account_id, external_id, managed, first_name, last_name, active, role)
      values (${accountId}, 'u2500', true, '', '', true, 'User')`,
  );

const holdAccount = (pool: Pool, accountId: number) =>
  heldOpen(pool, (tx) => tx`select from accounts where account_id = ${accountId} for update`);

/** Waits until as many connections wait for a lock. */
const untilWaiting = (pool: Pool, count = 1) =>
  until(async () => {
    const rows = await pool`
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    return rows.length === count;
  });

/** A request of a new account, with the user u2500: certainly in the middle of being written. */
async function pushInTheMiddle(service: Service, request: unknown = large) {
  const pool = await connectionsTo(service);
  const account = await newAccount(pool);
  const release = await holdMiddle(pool, account.id);
  const answer = push(service.address, account.token, request);
  answer.catch(() => {});
  await untilWaiting(pool);
  return { pool, account, release, answer };
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

describe('the service is killed in the middle of a large push', () => {
  test('nothing is applied, the run is there as failed, and the same request then works', async () => {
    const first = await started(await newDataDir());
    const { pool, account, release, answer } = await pushInTheMiddle(first);
    first.child.kill('SIGKILL');
    expect(await first.exited).toBe('SIGKILL');
    await expect(answer).rejects.toThrow('fetch failed');
    await release();
    const second = await started(first.dataDir);
    expect(await stateOf(pool, account.id)).toEqual(nothing);
    const again = await push(second.address, account.token, large);
    expect([again.status, again.body.applied]).toEqual([200, true]);
    expect(again.body.summary.users.created).toBe(5_000);
    expect(await stateOf(pool, account.id)).toEqual(everything);
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });
});

describe('the service is killed in the middle of a file', () => {
  test.each([
    ['read', async () => {}],
    ['applied', untilWaiting],
  ])('while it is %s: after the restart it is applied, once, by itself', async (_, untilThen) => {
    const first = await started(await newDataDir());
    const pool = await connectionsTo(first);
    const account = await newAccount(pool);
    await inTransaction(pool, (tx) => changeAccount(tx, account.id, { maxUsersCreated: 20_000 }));
    const { token } = await createToken(pool, account.id, { name: 'files', scopes: ['files'] });
    const release = await holdMiddle(pool, account.id);
    const rows = people(5_000).map((one) => `${one.externalId};${one.firstName};${one.lastName}`);
    const form = new FormData();
    form.append('file', new Blob([['EmployeeID;FirstName;LastName', ...rows].join('\n')]), 'users.csv');
    const headers = { authorization: token };
    const sent = await fetch(`${first.address}/v1/storage/uploadFile`, {
      method: 'POST',
      headers,
      body: form,
    });
    expect([sent.status, await sent.text()]).toEqual([200, 'users.csv']);
    await until(async () => (await stateOf(pool, account.id)).runs.length === 1);
    await untilThen(pool);
    first.child.kill('SIGKILL');
    expect(await first.exited).toBe('SIGKILL');
    await release();
    const second = await started(first.dataDir);
    const report = await until(async () => {
      const answer = await fetch(`${second.address}/v1/storage/files/users.csv/report`, { headers });
      const body = (await answer.json()) as FileReport;
      return !isUnderWay(body.outcome) && body;
    });
    expect(report).toMatchObject({ outcome: 'applied', summary: { users: { created: 5_000 } } });
    expect(await stateOf(pool, account.id)).toMatchObject({ users: 5_000, runs: ['applied'] });
  });
});

describe('PostgreSQL is killed in the middle of a large push', () => {
  test('503 with Retry-After, nothing is applied; it is soon back and the same request works', async () => {
    const service = await started(await newDataDir());
    const { account, answer } = await pushInTheMiddle(service);
    const dead = (await databaseOf(service.dataDir))!;
    process.kill(dead.pid, 'SIGKILL');
    const refused = await answer;
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(refused.body.details[0]?.type).toBe('unavailable');
    expect(refused.headers.get('x-request-id')).toBe(refused.body.id);
    await until(() => isReady(service));
    expect((await databaseOf(service.dataDir))?.pid).not.toBe(dead.pid);
    const pool = await connectionsTo(service);
    // As each minute does by itself.
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

  test('while it is away: live, not ready, and requests get 503', async () => {
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
  test.each([
    ['while its data are still being sent', large],
    ['when all its data have been sent', { settings, data: { users: people(1, 2_500) } }],
  ])(
    '%s: an error is answered, nothing is applied, and the next push works',
    { timeout: 30_000 },
    async (_, request) => {
      const service = await started(await newDataDir());
      const { pool, account, release, answer } = await pushInTheMiddle(service, request);
      await pool`
      select pg_cancel_backend(pid) from pg_stat_activity
      where wait_event_type = 'Lock' and query like 'copy users%'`;
      expect([500, 503]).toContain((await answer).status);
      await release();
      expect(await stateOf(pool, account.id)).toEqual(nothing);
      expect((await push(service.address, account.token, request)).body.applied).toBe(true);
    },
  );
});

describe('SIGTERM', () => {
  test('it is not ready at once, serves for DRAIN_SECONDS, then takes no connections; the running push ends with 200', async () => {
    const service = await started(await newDataDir(), { DRAIN_SECONDS: '1' });
    const { pool, account, release, answer } = await pushInTheMiddle(service);
    const other = await newAccount(pool);
    const open = await openConnection(service.port);
    expect(await open.ask('/health/ready')).toMatch(/^HTTP\/1\.1 200/);
    service.child.kill('SIGTERM');
    await until(async () => (await fetch(`${service.address}/health/ready`)).status === 503);
    const last = await open.ask('/v1/groups', `authorization: ${other.token}\r\n`);
    expect(last).toMatch(/^HTTP\/1\.1 200/);
    expect(last).toMatch(/\r\nconnection: close\r\n/i);
    expect(await push(service.address, other.token, { data: {} })).toMatchObject({ status: 200 });
    expect((await fetch(`${service.address}/health/live`)).status).toBe(200);
    await until(() => isRefused(service.port));
    expect((await stateOf(pool, account.id)).runs).toEqual(['processing']);
    await release();
    expect(await answer).toMatchObject({ status: 200, body: { applied: true } });
    expect(await service.exited).toBe(0);
    expect(await databaseOf(service.dataDir)).toBeUndefined();
    const next = await started(service.dataDir);
    expect(await stateOf(await connectionsTo(next), account.id)).toEqual({
      ...everything,
      runs: ['applied'],
    });
  });

  test('SIGINT, as Ctrl-C sends it, does not wait for DRAIN_SECONDS', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const service = await started(join(home, 'none'), { DATABASE_URL: database.url, DRAIN_SECONDS: '60' });
    service.child.kill('SIGINT');
    expect(await Promise.race([service.exited, wait(10_000, 'it still runs after 10 s')])).toBe(0);
  });

  test('a second one ends it at once, and nothing is half applied', async () => {
    const service = await started(await newDataDir());
    const { pool, account, release, answer } = await pushInTheMiddle(service);
    service.child.kill('SIGTERM');
    await until(async () => !(await isReady(service)));
    expect(service.child.exitCode).toBeNull();
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(1);
    await expect(answer).rejects.toThrow('fetch failed');
    await release();
    expect(await stateOf(pool, account.id)).toEqual({ ...nothing, runs: ['processing'] });
    const next = await started(service.dataDir);
    expect(await stateOf(await connectionsTo(next), account.id)).toEqual(nothing);
  });

  test(
    'a push that does not end is waited for no longer than SHUTDOWN_SECONDS',
    { timeout: 30_000 },
    async () => {
      const service = await started(await newDataDir(), { SHUTDOWN_SECONDS: '1' });
      const { answer } = await pushInTheMiddle(service);
      service.child.kill('SIGTERM');
      await expect(answer).rejects.toThrow('fetch failed');
      expect(await Promise.race([service.exited, wait(10_000, 'it still runs after 10 s')])).toBe(0);
      expect(await databaseOf(service.dataDir)).toBeUndefined();
      const next = await started(service.dataDir);
      const [run] = await (await connectionsTo(next))`
      select (select count(*)::integer from users where managed) as users, outcome from runs`;
      expect(run).toEqual({ users: 0, outcome: 'failed' });
    },
  );

  test('before the database is there, it ends all the same', async () => {
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
  test('before its database: it listens, is live, is not ready, and then becomes ready by itself', async () => {
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

  test('of a second service on one data directory fails with a clear message; the first is unharmed', async () => {
    const first = await started(await newDataDir());
    const before = await databaseOf(first.dataDir);
    const second = await start(first.dataDir);
    expect(await second.exited).toBe(1);
    expect(second.said()).toMatch(
      new RegExp(`Process ${first.child.pid} is already running as the service of .*DATA_DIR`),
    );
    expect(second.said()).not.toMatch(/^\s+at /m);
    expect(await isReady(first)).toBe(true);
    expect(await databaseOf(first.dataDir)).toEqual(before);
  });

  test('on a port in use fails with a clear message, and leaves no PostgreSQL running', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const service = await start(await newDataDir(), { PORT: String(port) });
    expect(await service.exited).toBe(1);
    expect(await databaseOf(service.dataDir)).toBeUndefined();
    expect(service.said()).toContain(String(port));
    expect(service.said()).toMatch(/in use/);
    expect(service.said()).not.toMatch(/^\s+at /m); // no stack: it is the operator's to mend
  });

  test('in plain HTTP on every address is refused unless it is meant, before anything is made', async () => {
    const dataDir = join(home, 'not-made');
    const refused = await start(dataDir, { HOST: '0.0.0.0' });
    expect(await refused.exited).toBe(1);
    expect(refused.said()).toMatch(
      /HOST is 0\.0\.0\.0[\s\S]*TLS_CERT_FILE[\s\S]*TRUST_PROXY[\s\S]*ALLOW_PLAIN_HTTP/,
    );
    expect(refused.said()).not.toMatch(/^\s+at /m);
    await expect(readFile(dataDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('with a certificate: HTTPS, and nothing else, on any address', async (context) => {
    const [cert, key] = [join(home, 'cert.pem'), join(home, 'key.pem')];
    const made = await exec('openssl', [
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
    if (made instanceof Error)
      return context.skip(`SKIPPED: no certificate can be made here: ${made.message}`);
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const service = await start(join(home, 'none'), {
      DATABASE_URL: database.url,
      HOST: '0.0.0.0',
      TLS_CERT_FILE: cert,
      TLS_KEY_FILE: key,
    });
    const ca = await readFile(cert, 'utf8');
    const ask = (path: string) =>
      new Promise<{ status: number; text: string } | undefined>((resolve) => {
        httpsGet(`https://127.0.0.1:${service.port}${path}`, { ca, agent: false }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
          response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
        }).once('error', () => resolve(undefined));
      });
    await until(async () => (await ask('/health/ready'))?.status === 200);
    expect((await ask('/v1/groups'))?.status).toBe(401);
    const document = JSON.parse((await ask('/v1/openapi/data.json'))!.text) as object;
    expect(document).toEqual(openApiDocument('data', `https://0.0.0.0:${service.port}`));
    await expect(fetch(`${service.address}/health/live`)).rejects.toThrow('fetch failed');
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});

describe('the thread of organization requests runs out of memory', () => {
  test('whoever waits gets 503, the service lives, and the next push works', async () => {
    const database = await openTestDatabase();
    onTestFinished(() => database.close());
    const account = await newAccount(database.pool);
    const service = await started(join(home, 'none'), {
      DATABASE_URL: database.url,
      NODE_OPTIONS: '--max-old-space-size=64',
    });
    const user = JSON.stringify({ externalId: 'x', firstName: 'First', lastName: 'Last', accessInfo: {} });
    const huge = `{"data":{"users":[${`${user},`.repeat(400_000)}${user}]}}`;
    const answers = await Promise.all([
      push(service.address, account.token, huge),
      push(service.address, account.token, huge),
    ]);
    for (const { status, body } of answers) {
      expect([status, body.details[0]?.type]).toEqual([503, 'unavailable']);
    }
    expect(service.said()).toContain('A thread for organization requests failed unexpectedly');
    expect(await push(service.address, account.token, { data: {} })).toMatchObject({ status: 200 });
    expect(await isReady(service)).toBe(true);
  });
});

describe('pushes at once', () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  });
  afterAll(() => world.close());

  const request = (firstName: string) => ({
    settings,
    data: { users: [{ externalId: 'a', firstName, lastName: 'L' }] },
  });

  test('of one account are applied one after another: the second sees what the first has done', async () => {
    const account = await world.account();
    const release = await holdAccount(world.pool, account.id);
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

  test('of one account by way of two services too', async () => {
    const account = await world.account();
    const service = await started(join(home, 'none'), { DATABASE_URL: world.databaseUrl });
    const release = await holdAccount(world.pool, account.id);
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
    const release = await holdAccount(world.pool, a.id);
    let isOver = false;
    const waiting = a.push(request('one')).finally(() => (isOver = true));
    await untilWaiting(world.pool);
    expect(await b.push(request('one'))).toMatchObject({ status: 200, body: { applied: true } });
    expect((await a.groups()).length).toBe(0); // reading does not wait either
    expect(isOver).toBe(false);
    await release();
    expect(await waiting).toMatchObject({ status: 200, body: { applied: true } });
  });

  test('a client that goes away leaves nothing half done, and the next push is not kept waiting', async () => {
    const account = await world.account();
    const release = await holdAccount(world.pool, account.id);
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
    // Not applied, if the service has noticed before the account was free (sync/organization.reports.test.ts); else whole.
    const { created, updated, deleted, unchanged } = next.body.summary.users;
    expect([created + unchanged, updated, deleted]).toEqual([1, 0, 0]);
  });
});

/** A door to a database that can be shut. */
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

/** Whether nothing listens there. */
const isRefused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
    socket.once('connect', () => socket.destroy());
  });

/** A connection that stays open from one request to the next. */
async function openConnection(port: number) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return {
    async ask(path: string, headers = ''): Promise<string> {
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${headers}\r\n`);
      const [text] = (await once(socket, 'data')) as [string];
      return text;
    },
  };
}
