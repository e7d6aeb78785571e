// What the service does when a resource runs short: a connection pooler, connections, disk space, open files. It says what is
// wrong and what to do, and continues automatically once there is enough again.
import { once } from 'node:events';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from './accounts/accounts.ts';
import { createToken } from './accounts/tokens.ts';
import { inTransaction, type Pool } from './db/db.ts';
import { createUser } from './people/users.ts';
import { openTestDatabase, type TestDatabase } from './testing/database.ts';
import { openBouncer } from './testing/processes/bouncer.ts';
import {
  connectionsTo,
  endDatabase,
  exec,
  home,
  isReady,
  newDataDir,
  type Service,
  start,
  started,
  useDirectory,
} from './testing/processes/processes.ts';
import { needs } from './testing/processes/programs.ts';
import { until } from './testing/until.ts';

useDirectory();

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

async function newToken(pool: Pool): Promise<string> {
  const id = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Test' });
    await createUser(tx, account.id, { firstName: 'Ada', lastName: 'Admin', role: 'Administrator' });
    return account.id;
  });
  return (await createToken(pool, id, { name: 'test', scopes: ['data', 'organization'] })).token;
}

async function push({ address }: Service, token: string, users: number) {
  const data = {
    users: Array.from({ length: users }, (_, i) => ({ externalId: `u${i}`, firstName: 'A', lastName: 'B' })),
  };
  const response = await fetch(`${address}/v1/organization`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({ settings: { validateOnly: false, maxUsersCreated: 20_000 }, data }),
  });
  const { message } = (await response.json()) as { message?: string };
  return { status: response.status, message };
}

const statusOf = (service: Service, path: string, headers = {}) =>
  fetch(service.address + path, { headers }).then(
    ({ status }) => status,
    () => undefined,
  );

describe('PgBouncer in front of the database', () => {
  const ignored =
    'ignore_startup_parameters = array_nulls,bytea_output,default_transaction_isolation,extra_float_digits,' +
    'tcp_keepalives_idle,tcp_keepalives_interval,tcp_keepalives_count,enable_seqscan,' +
    'client_connection_check_interval,lock_timeout,statement_timeout,transaction_timeout,synchronous_commit';

  test('with pool_mode=session everything works, and the log names the settings that it ignores', async (context) => {
    needs(context, 'pgbouncer', 'pgbouncer');
    const url = await openBouncer(database.url, `pool_mode = session\ndefault_pool_size = 60\n${ignored}`);
    const service = await started(join(home, 'bouncer'), { DATABASE_URL: url });
    expect(service.said()).toMatch(/ignores connection settings/);
    const token = await newToken(database.pool);
    expect(await push(service, token, 50)).toMatchObject({ status: 200 });
    expect(await statusOf(service, '/v1/groups', { authorization: token })).toBe(200);
    const [job] = await database.pool<{ id: string }[]>`
      select id from graphile_worker.add_job('delete expired sessions')`;
    await until(async () => {
      const rows = await database.pool`select from graphile_worker._private_jobs where id = ${job!.id}`;
      return rows.length === 0;
    });
  });

  test.for([
    ['pool_mode=transaction', `pool_mode = transaction\n${ignored}`, /pool_mode=session/],
    [
      'pool_mode=transaction with server_round_robin',
      `pool_mode = transaction\nserver_round_robin = 1\n${ignored}`,
      /pool_mode=session/,
    ],
    ['pool_mode=statement', `pool_mode = statement\n${ignored}`, /pool_mode=session/],
    [
      'refused connection settings',
      'pool_mode = session',
      /ignore_startup_parameters=array_nulls,bytea_output,/,
    ],
    [
      'pool_mode=transaction',
      `pool_mode = transaction\n${ignored}`,
      /Set DATABASE_URL_DIRECT to the address of/,
    ],
  ] as const)(
    'with %s the service does not start, and says what to do',
    async ([, settings, message], context) => {
      needs(context, 'pgbouncer', 'pgbouncer');
      const url = await openBouncer(database.url, settings);
      const service = await start(join(home, 'bouncer'), { DATABASE_URL: url });
      expect(await service.exited).toBe(78); // systemd doesn't try again
      expect(service.said()).toMatch(message);
      expect(service.said()).not.toMatch(/^\s+at /m);
    },
  );
});

describe('all connections to the database are in use', () => {
  const allow = async (count: number) => {
    const name = new URL(database.url).pathname.slice(1);
    await database.pool.unsafe(`alter database ${name} connection limit ${count}`);
  };

  test('before the start: the service waits, says what to do, and becomes ready by itself', async () => {
    await allow(0);
    onTestFinished(() => allow(-1));
    const service = await start(join(home, 'none'), { DATABASE_URL: database.url });
    await until(async () =>
      service.said().includes('Waiting for the database. All its connections are in use'),
    );
    expect(service.said()).toMatch(/raise max_connections/);
    expect(await statusOf(service, '/health/live')).toBe(200);
    expect(await statusOf(service, '/health/ready')).toBe(503);
    await allow(-1);
    await until(() => isReady(service));
  });

  test('during the start: the service ends, and says what to do', async () => {
    // Only our own connection remains. Otherwise one of an earlier service could end and make room.
    await database.pool`
      select pg_terminate_backend(pid) from pg_stat_activity
      where  datname = current_database() and pid <> pg_backend_pid()`;
    const others = () => database.pool`
      select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await until(async () => (await others()).length === 0);
    // Two are enough for the first checks of the service, but too few for its jobs.
    await allow(1 + 2);
    onTestFinished(() => allow(-1));
    const service = await start(join(home, 'none'), { DATABASE_URL: database.url });
    expect(await service.exited).toBe(1);
    expect(service.said()).toMatch(
      /can't connect to the database\. All its connections are in use.*raise max_connections/,
    );
    expect(service.said()).not.toMatch(/^\s+at /m);
  });
});

describe('the disk of the database is full', () => {
  test('writes get an error, the service is not ready and logs the cause; once there is space again, it continues', async (context) => {
    const disk = join(home, 'disk');
    await mkdir(disk);
    const mounted = await exec('mount', ['-t', 'tmpfs', '-o', 'size=200m,mode=755', 'tmpfs', disk]).catch(
      (error: Error) => error,
    );
    if (mounted instanceof Error)
      return context.skip(`SKIPPED: nothing can be mounted here: ${mounted.message}`);
    onTestFinished(async () => {
      await endDatabase(disk);
      await exec('umount', ['-l', disk]);
    });
    await exec('cp', ['-a', `${await newDataDir()}/.`, disk]);
    const service = await started(disk);
    const pool = await connectionsTo(service);
    const token = await newToken(pool);
    expect(await push(service, token, 1)).toMatchObject({ status: 200 });
    const { bavail, bsize } = await statfs(disk);
    await writeFile(join(disk, 'filler'), Buffer.alloc(Number(bavail * bsize) - 200_000));
    const refused = await push(service, token, 5_000);
    expect(refused).toEqual({ status: 503, message: 'The database is out of disk space. Try again.' });
    await until(async () => (await statusOf(service, '/health/ready')) === 503);
    expect(await statusOf(service, '/v1/groups', { authorization: token })).toBe(200);
    const lines = service.said().split('\n');
    const line = lines.find((one) => one.includes('the service is not ready'));
    expect(line).toMatch(/"code":"53100".*No space left on device/);
    expect(lines.find((one) => one.includes('requestId'))).toMatch(/53100|No space left on device/);
    await rm(join(disk, 'filler'));
    await until(() => isReady(service));
    expect(await push(service, token, 5_000)).toMatchObject({ status: 200 });
    service.child.kill('SIGTERM');
    expect(await service.exited).toBe(0);
  });
});

describe('the service may open at most 256 files', () => {
  const through = ['sh', '-c', 'ulimit -n 256 && exec "$0" "$@"'];

  test('with more connections than that, some are refused and others served; later all are served', async () => {
    const service = await started(join(home, 'none'), { DATABASE_URL: database.url }, through);
    expect(service.said()).toMatch(/open-file limit is low.*ulimit -n/);
    const token = await newToken(database.pool);
    const sockets = await Promise.all(Array.from({ length: 400 }, () => dial(service.port)));
    await until(async () => sockets.filter((socket) => socket.closed).length > 200);
    const open = sockets.find((socket) => !socket.closed)!;
    open.write(`GET /v1/groups HTTP/1.1\r\nhost: x\r\nauthorization: ${token}\r\n\r\n`);
    expect(String((await once(open, 'data'))[0])).toMatch(/^HTTP\/1\.1 200/);
    expect(service.said()).toMatch(/Connections were refused/);
    for (const socket of sockets) socket.destroy();
    await until(() => isReady(service));
    const responses = await Promise.all(Array.from({ length: 40 }, () => push(service, token, 2)));
    expect(responses.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
    expect(await push(service, token, 20)).toMatchObject({ status: 200 });
    expect(service.said()).not.toMatch(/EMFILE|by a defect/);
    expect(service.child.exitCode).toBeNull();
  });

  async function dial(port: number): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  }
});
