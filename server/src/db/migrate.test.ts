// Migrations apply once and in order, even if several processes start at the same time, and the tables follow our rules.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { createToken } from '../accounts/tokens.ts';
import { startApp } from '../app.ts';
import { openLog } from '../base/log.ts';
import { createUser } from '../people/users.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { createEmptyDatabase } from '../testing/upgrades/empty-database.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { freePort } from '../testing/processes/free-port.ts';
import { testConfig } from '../testing/world.ts';
import { inTransaction, openPool, type Pool } from './db.ts';
import { createSchemaOf, isMigrated, migrate, migrations } from './migrate.ts';
import { until } from '../testing/until.ts';
import { builtProgram } from '../testing/service-build.ts';

const names = migrations().map(({ name }) => name);
const migrationLock = 5_017_301; // as in migrate.ts

/** Creates an empty database and returns its URL. */
async function emptyDatabase(): Promise<string> {
  const { url, drop } = await createEmptyDatabase();
  onTestFinished(drop);
  return url;
}

function connect(url: string): Pool {
  const pool = openPool(url, 2);
  onTestFinished(() => pool.end({ timeout: 1 }));
  return pool;
}

/** Runs the migrate command in a separate process. */
async function migrateElsewhere(url: string): Promise<{ status: number; err: string }> {
  const cli = builtProgram('command');
  const env = { ...bareEnvironment, DATABASE_URL: url };
  const child = spawn(process.execPath, [cli, 'migrate', '--json'], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  const [status] = (await once(child, 'close')) as [number];
  return { status, err };
}

/** Begins a transaction that reads a table which 0053 changes second, and a migration from 0052 that waits for it. */
async function blockedMigration(forMs?: number) {
  const url = await emptyDatabase();
  const pool = connect(url);
  await inTransaction(pool, (tx) => createSchemaOf(tx, 52));
  const request = await pool.reserve();
  await request`begin`;
  await request`select from audit_entries`;
  const applying = migrate(connect(url), {}, forMs);
  applying.catch(() => {});
  await until(async () => {
    const [waits] = await pool`
      select from pg_locks where relation = 'audit_entries'::regclass and mode = 'AccessExclusiveLock' and not granted`;
    return waits !== undefined;
  });
  return { url, applying, request };
}

describe('migrate', () => {
  test('creates the schema in an empty database, returns what it applied, and then has nothing to do', async () => {
    const pool = connect(await emptyDatabase());
    expect(await migrate(pool)).toEqual(names);
    expect(await isMigrated(pool)).toBe(true);
    expect(await migrate(pool)).toEqual([]);
    const kept = await pool`select version, name, breaking from migrations order by version`;
    expect([...kept]).toEqual(
      migrations().map(({ version, name, breaking }) => ({ version, name, breaking })),
    );
  });

  test('by several connections and processes at the same time applies each file once, and all of them succeed', async () => {
    const url = await emptyDatabase();
    const pools = [connect(url), connect(url), connect(url)];
    const [holding, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holder = connect(url).begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${migrationLock})`;
      holding.resolve();
      await release.promise;
    });
    await holding.promise;
    const here = pools.map((pool) => migrate(pool));
    const elsewhere = [migrateElsewhere(url), migrateElsewhere(url)];
    const watch = connect(url);
    await until(async () => {
      const rows = await watch`
        select from pg_locks l join pg_database d on d.oid = l.database
        where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`;
      return rows.length === here.length + elsewhere.length;
    });
    release.resolve();
    await holder;
    const applied = (await Promise.all(here)).flat();
    expect(new Set(applied).size).toBe(applied.length);
    expect(await Promise.all(elsewhere)).toEqual(elsewhere.map(() => ({ status: 0, err: '' })));
    const kept = await watch<{ name: string }[]>`select name from migrations order by version`;
    expect(kept.map(({ name }) => name)).toEqual(names);
    expect(await migrate(watch)).toEqual([]);
  });

  test('of an up-to-date database waits for no other process: a command runs while another version is migrating', async () => {
    const pool = connect(await emptyDatabase());
    await migrate(pool);
    await pool.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${migrationLock})`;
      expect(await migrate(pool)).toEqual([]);
    });
  });

  test('gives way to a request that it would block for ever, which succeeds, and is applied afterwards', async () => {
    const { url, applying, request } = await blockedMigration();
    await request`select from tokens`; // 0053 has locked the table before it waited for audit_entries
    await request`commit`;
    request.release();
    expect(await applying).toEqual(names.slice(52));
    expect(await isMigrated(connect(url))).toBe(true);
  });

  test('gives up when others keep their locks for too long, keeps no part of the file, and says what to do', async () => {
    const { url, applying, request } = await blockedMigration(1000);
    await expect(applying).rejects.toThrow(
      /^The migration 0053_audit_chain\.sql could not be applied, because other connections keep locks .*stop the processes/,
    );
    await request`rollback`;
    request.release();
    expect(await migrate(connect(url))).toEqual(names.slice(52));
  });

  test('stops at a file that fails, keeps no part of it, and continues from there after a fix', async () => {
    const pool = connect(await emptyDatabase());
    const last = names.at(-1) as string;
    await pool`create table run_changes (in_the_way integer)`;
    await expect(migrate(pool)).rejects.toMatchObject({ code: '42P07' });
    expect(await isMigrated(pool)).toBe(false);
    const present = await pool`select from pg_tables where schemaname = 'public' and tablename = 'runs'`;
    expect(present).toHaveLength(0);
    await pool`drop table run_changes`;
    expect((await migrate(pool)).at(-1)).toBe(last);
    expect(await isMigrated(pool)).toBe(true);
  });

  test('refuses a database in which a newer version has made a breaking change, and names the change', async () => {
    const pool = connect(await emptyDatabase());
    await migrate(pool);
    await pool`insert into migrations (version, name, breaking) values (9998, '9998_more.sql', false)`;
    expect(await migrate(pool)).toEqual([]);
    expect(await isMigrated(pool)).toBe(true);
    await pool`insert into migrations (version, name, breaking) values (9999, '9999_other.sql', true)`;
    await expect(migrate(pool)).rejects.toMatchObject({
      name: 'Fault',
      code: 'database too new',
      message: expect.stringContaining('9999_other.sql'),
    });
  });

  test('splits stored files into rows without losing a byte', async () => {
    const pool = connect(await emptyDatabase());
    await migrate(pool);
    const { id } = await inTransaction(pool, (tx) => createAccount(tx, { name: 'Test' }));
    const token = await createToken(pool, id, { name: 'test', scopes: ['files'] });
    await pool`alter table file_chunks rename to file_parts`; // the name that the table has before the migration
    await pool`alter table file_parts alter column bytes set storage external`;
    await pool`delete from migrations where name = '0014_file_rows.sql'`;
    const contents = [600_000, 8000, 1].map((length) =>
      Buffer.from(Array.from({ length }, (_, i) => i % 251)),
    );
    for (const [i, content] of contents.entries()) {
      await pool`
        insert into files (account_id, file_id, name, size, via, token_id)
        values (${id}, ${i + 1}, 'a.csv', 0, 'sftp', ${token.id})`;
      for (let at = 0; at < content.length; at += 262_144) {
        await pool`
          insert into file_parts (account_id, file_id, position, bytes)
          values (${id}, ${i + 1}, ${at / 262_144}, ${content.subarray(at, at + 262_144)})`;
      }
    }
    expect(await migrate(pool)).toEqual(['0014_file_rows.sql']);
    const rows = await pool<{ bytes: Buffer; positions: number[]; longest: number }[]>`
      select string_agg(bytes, '' order by position) as bytes, array_agg(position order by position) as positions,
             max(octet_length(bytes)) as longest
      from   file_parts
      group  by file_id
      order  by file_id`;
    for (const [i, content] of contents.entries()) expect(rows[i]?.bytes.equals(content)).toBe(true);
    expect(rows.map(({ positions }) => positions.length)).toEqual([75, 1, 1]);
    expect(rows.map(({ longest }) => longest)).toEqual([8000, 8000, 1]);
  });

  test('a database that lacks one migration, or all migrations, does not count as migrated', async () => {
    const pool = connect(await emptyDatabase());
    expect(await isMigrated(pool).catch(() => false)).toBe(false);
    await migrate(pool);
    await pool`delete from migrations where version = ${migrations().at(-1)!.version}`;
    expect(await isMigrated(pool)).toBe(false);
  });

  test('the files are numbered 0001, 0002 … without a gap', () => {
    expect(names.map((name) => name.slice(0, 5))).toEqual(
      names.map((_, i) => `${String(i + 1).padStart(4, '0')}_`),
    );
    expect(names.every((name) => /^\d{4}_[a-z0-9_]+\.sql$/.test(name))).toBe(true);
  });
});

describe('every table', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  // Their rows are unique in the whole service, or not part of an account.
  const notOfAnAccount = [
    'answer_keys',
    'card_keys',
    'first_start_links',
    'job_workers',
    'key_processes',
    'links',
    'migrations',
    'opt_out_keys',
    'secrets_keys',
    'sessions',
    'sftp_host_keys',
    'sftp_usernames',
    'sign_in_failures',
    'sign_in_links',
    'token_hashes',
  ];

  test('has a comment', async () => {
    const bare = await database.pool<{ name: string }[]>`
      select relname as name from pg_class
      where  relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and obj_description(oid) is null`;
    expect(bare.map(({ name }) => name)).toEqual([]);
  });

  test('has a primary key that begins with account_id, except for the tables listed here', async () => {
    const keys = await database.pool<{ name: string; first: string | null }[]>`
      select c.relname as name, a.attname as first
      from   pg_class c
      left   join pg_index i on i.indrelid = c.oid and i.indisprimary
      left   join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
      where  c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      order  by c.relname`;
    expect(keys.length).toBeGreaterThan(10);
    expect(keys.filter(({ first }) => first === null)).toEqual([]);
    const others = keys.filter(({ first }) => first !== 'account_id').map(({ name }) => name);
    expect(others).toEqual(notOfAnAccount);
  });

  test('refers to other tables only within its account: every foreign key contains account_id', async () => {
    const foreign = await database.pool<{ name: string; columns: string[]; targets: string[] }[]>`
      select conname as name,
             array(select attname::text from unnest(conkey) with ordinality k(n, i)
                   join pg_attribute on attrelid = conrelid and attnum = n order by i)  as columns,
             array(select attname::text from unnest(confkey) with ordinality k(n, i)
                   join pg_attribute on attrelid = confrelid and attnum = n order by i) as targets
      from   pg_constraint
      where  contype = 'f' and connamespace = 'public'::regnamespace`;
    expect(foreign.length).toBeGreaterThan(5);
    const wrong = foreign.filter((key) => key.columns[0] !== 'account_id' || key.targets[0] !== 'account_id');
    expect(wrong).toEqual([]);
  });
});

describe('PostgreSQL 15, the oldest version that is supported in DATABASE_URL', () => {
  const bin = '/usr/lib/postgresql/15/bin';

  test('is migrated, and accepts a push', async (context) => {
    if (!existsSync(join(bin, 'postgres')))
      return context.skip(`SKIPPED: there is no PostgreSQL 15 in ${bin}`);
    const url = await startCluster(bin);
    if (url === undefined)
      return context.skip('SKIPPED: there is no user postgres, and PostgreSQL does not run as root');
    const pool = connect(url);
    const directory = await mkdtemp(join(tmpdir(), 'soundings-keys-15-'));
    onTestFinished(() => rm(directory, { recursive: true, force: true }));
    const answerKeys = { place: 'file' as const, directory };
    const app = await startApp({ ...testConfig, answerKeys }, Promise.resolve(url), openLog('error'));
    onTestFinished(() => app.stop(5));
    await app.started;
    expect((await pool`show server_version`)[0]?.['server_version']).toMatch(/^15\./);
    expect(await isMigrated(pool)).toBe(true);
    const accountId = await inTransaction(pool, async (tx) => {
      const { id } = await createAccount(tx, { name: 'Old' });
      await createUser(tx, id, { firstName: 'A', lastName: 'A', role: 'Administrator' });
      return id;
    });
    const { token } = await createToken(pool, accountId, { name: 't', scopes: ['organization', 'data'] });
    const push = async (lastName: string) => {
      const groups = [
        { externalId: 'a', name: 'A' },
        { externalId: 'b', name: 'B', parent: 'a' },
      ];
      const users = [{ externalId: 'u', firstName: 'F', lastName, accessInfo: { memberOf: ['b'] } }];
      const response = await fetch(`${app.address}/v1/organization`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: JSON.stringify({ settings: { validateOnly: false }, data: { users, groups } }),
      });
      return { status: response.status, body: await response.json() };
    };
    expect(await push('L')).toMatchObject({ status: 200, body: { summary: { groups: { created: 2 } } } });
    expect(await push('M')).toMatchObject({ status: 200, body: { summary: { users: { updated: 1 } } } });
    const listing = await fetch(`${app.address}/v1/groups`, { headers: { authorization: token } });
    expect(await listing.json()).toMatchObject([{ externalId: 'a' }, { externalId: 'b', subgroups: [] }]);
  });
});

/** Starts a separate database cluster for one test, not as root, and returns its URL. */
async function startCluster(bin: string): Promise<string | undefined> {
  const isRoot = process.getuid?.() === 0;
  const ids = isRoot ? await idsOf('postgres') : undefined;
  if (isRoot && !ids) return undefined;
  const directory = await mkdtemp(join(tmpdir(), 'soundings-postgres-15-'));
  const data = join(directory, 'data');
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o755);
  if (ids) await chown(directory, ids.uid, ids.gid);
  const options = { ...ids, cwd: directory, env: { PATH: bin, LC_ALL: 'C' }, stdio: 'ignore' as const };
  const creating = spawn(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'soundings', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'],
    options,
  );
  expect(await once(creating, 'exit')).toEqual([0, null]);
  const port = await freePort();
  const parameters = { port, listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' };
  const settings = Object.entries(parameters).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings], options);
  onTestFinished(async () => {
    if (server.exitCode !== null) return;
    server.kill('SIGINT');
    await once(server, 'exit');
  });
  const url = `postgres://soundings@127.0.0.1:${port}/postgres`;
  const probing = connect(url);
  await until(() =>
    probing`select 1`.then(
      () => true,
      () => false,
    ),
  );
  return url;
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | undefined> {
  const number = async (flag: string) => {
    const child = spawn('id', [flag, user], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await once(child, 'close');
    return Number(text);
  };
  const [uid, gid] = [await number('-u'), await number('-g')];
  return uid && gid ? { uid, gid } : undefined;
}
