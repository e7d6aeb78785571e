// A primary server and its streaming replica, both of Debian's PostgreSQL, for tests of reading from a replica. The embedded PostgreSQL has
// no pg_basebackup.
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from '../../db/migrate.ts';
import { openPool, type Pool } from '../../db/db.ts';
import { until } from '../until.ts';
import { freePort } from './free-port.ts';

const exec = promisify(execFile);
const root = '/usr/lib/postgresql';

/** Returns the folder of the programs of the newest PostgreSQL of Debian that we support; undefined if there is none. */
export async function debianPostgres(): Promise<string | undefined> {
  const versions = await readdir(root).catch(() => []);
  const newest = versions
    .map(Number)
    .filter((one) => one >= 15 && one <= 18)
    .toSorted((a, b) => b - a)[0];
  return newest === undefined ? undefined : join(root, String(newest), 'bin');
}

export type Server = {
  url: string;
  /** Connections of the superuser. */
  admin: Pool;
  start(): Promise<void>;
  /** Ends it immediately, as a loss of power does. */
  kill(): Promise<void>;
  promote(): Promise<void>;
};

export type Streaming = { primary: Server; replica: Server; addReplica(): Promise<Server> };

/** Starts both servers before the tests of a file, with the tables of Soundings. The result is undefined without Debian's PostgreSQL. */
export function useStreaming(): { current: Streaming | undefined } {
  const found: { current: Streaming | undefined } = { current: undefined };
  let end = async () => {};
  beforeAll(async () => {
    const bin = await debianPostgres();
    if (bin === undefined) return;
    const opened = await openStreaming(bin);
    found.current = opened.streaming;
    end = opened.end;
  });
  afterAll(() => end());
  return found;
}

async function openStreaming(bin: string): Promise<{ streaming: Streaming; end: () => Promise<void> }> {
  const home = await mkdtemp(join(tmpdir(), 'soundings-streaming-'));
  await chmod(home, 0o755);
  const ids = await idsOfPostgres();
  if (ids) await chown(home, ids.uid, ids.gid);
  const run = (program: string, ...args: string[]) => exec(join(bin, program), args, { ...ids, cwd: home });
  const servers: Server[] = [];

  async function server(name: string): Promise<Server> {
    const port = await freePort();
    const data = join(home, name);
    const address = (user: string) => `postgres://${user}@127.0.0.1:${port}/soundings`;
    const settings =
      `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c shared_buffers=64MB -c jit=off ` +
      '-c max_connections=100 -c max_standby_streaming_delay=0 -c wal_keep_size=256MB';
    const one: Server = {
      url: address('soundings'),
      admin: openPool(address('postgres'), 2),
      start: async () =>
        void (await run(
          'pg_ctl',
          '-D',
          data,
          '-w',
          '-l',
          join(home, `${name}.log`),
          '-o',
          settings,
          'start',
        )),
      kill: async () => void (await run('pg_ctl', '-D', data, '-m', 'immediate', 'stop').catch(() => {})),
      promote: async () => void (await run('pg_ctl', '-D', data, '-w', 'promote')),
    };
    servers.push(one);
    return one;
  }

  async function addReplica(): Promise<Server> {
    const name = `replica${servers.length}`;
    const { port } = new URL(primary.url);
    await run(
      'pg_basebackup',
      '-h',
      '127.0.0.1',
      '-p',
      port,
      '-U',
      'postgres',
      '-D',
      join(home, name),
      '-R',
      '-c',
      'fast',
    );
    const replica = await server(name);
    await replica.start();
    return replica;
  }

  await mkdir(join(home, 'primary'), { mode: 0o700 });
  if (ids) await chown(join(home, 'primary'), ids.uid, ids.gid);
  await run(
    'initdb',
    '-D',
    join(home, 'primary'),
    '-U',
    'postgres',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '-N',
  );
  const primary = await server('primary');
  await primary.start();
  const first = openPool(
    primary.url.replace('//soundings@', '//postgres@').replace(/soundings$/, 'postgres'),
    1,
  );
  await first.unsafe('create role soundings login');
  await first.unsafe('create database soundings owner soundings');
  await first.end();
  const tables = openPool(primary.url, 2);
  await migrate(tables);
  await tables.end();
  const replica = await addReplica();
  const end = async () => {
    await Promise.all(servers.map(({ admin }) => admin.end({ timeout: 0 })));
    for (const one of servers) await one.kill();
    await rm(home, { recursive: true, force: true });
  };
  return { streaming: { primary, replica, addReplica }, end };
}

/** PostgreSQL does not run as root. */
async function idsOfPostgres(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await exec('id', [flag, 'postgres'])).stdout)),
  );
  return { uid: uid as number, gid: gid as number };
}

/** Waits until a replica has replayed everything. */
export async function untilReplayed({
  primary,
  replica,
}: Pick<Streaming, 'primary' | 'replica'>): Promise<void> {
  const [here] = await primary.admin<{ at: string }[]>`select pg_current_wal_lsn()::text as at`;
  await until(async () => {
    const [there] = await replica.admin<{ done: boolean }[]>`
      select pg_last_wal_replay_lsn() >= ${here?.at ?? ''}::text::pg_lsn as done`;
    return there?.done;
  });
}
