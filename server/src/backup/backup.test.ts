// A backup contains everything except what is to be forgotten, and restores an installation that works like the one it was made of.
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startApp } from '../app.ts';
import { inTransaction } from '../db/db.ts';
import { migrate, migrations } from '../db/migrate.ts';
import { createGroup } from '../people/groups.ts';
import { createUser } from '../people/users.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import { freshKey } from '../sealing/epoch-keys.ts';
import { readKeyFile, writeKeyFile } from '../sealing/key-file.ts';
import { hostKeys } from '../sftp/host-keys.ts';
import { answeredWeek } from '../testing/attacks/forgetting.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { until } from '../testing/until.ts';
import { testConfig } from '../testing/world.ts';
import {
  backUp,
  backUpQuietly,
  closed,
  emptyInstallation,
  folder,
  migratedInstallation,
  open,
  quiet,
  readingsOf,
  rowsOf,
  token,
  useInstallation,
  world,
} from './backup.fixture.ts';
import { openBlocks } from './blocks.ts';
import { createBackup } from './create-backup.ts';
import { readBackup } from './read-backup.ts';
import { restoreBackup } from './restore.ts';
import { writeWholeFile } from './whole-file.ts';

useInstallation();

/** Tables without rows in a backup, and those that a restore changes because it closes the open week and records itself. */
const leftOut = ['answers', 'assignments', 'links', 'messages', 'participants', 'week_keys'];
const changed = [
  'accounts',
  'answer_keys',
  'audit_entries',
  'graphile_worker._private_job_queues',
  'graphile_worker._private_jobs',
  'graphile_worker.migrations',
  'key_processes',
  'schedule_weeks',
  'weeks',
];

describe('a restored installation', () => {
  test('has all rows, the open week is closed as lost, and it serves the same', async () => {
    const { path, contents, rows } = await backUpQuietly();
    expect(await readBackup(path)).toEqual(contents);
    const target = await emptyInstallation();
    expect(await restoreBackup(target, path)).toMatchObject({
      lostWeeks: 1,
      applied: [],
      leftOut: [],
      secrets: 'missing',
    });
    const restored = await rowsOf(target.pool);
    const differing = Object.keys(rows).filter(
      (name) => rows[name]!.join('\n') !== restored[name]?.join('\n'),
    );
    expect(differing).toEqual([...leftOut, ...changed].toSorted());
    expect(leftOut.filter((name) => restored[name]!.length > 0)).toEqual([]);
    // What the restore wrote: only about the account with the open week, except for the audit log.
    const own = (name: string) => rows[name]!.filter((row) => row.startsWith(`(${closed.accountId},`));
    for (const name of ['accounts', 'schedule_weeks', 'weeks']) {
      expect(restored[name]).toHaveLength(rows[name]!.length);
      expect(restored[name]).toEqual(expect.arrayContaining(own(name)));
    }
    expect(restored['audit_entries']).toEqual(expect.arrayContaining(rows['audit_entries']!));
    const audit = await target.pool`
      select account_id, action, subject from audit_entries where action in ('week lost', 'backup restored') order by entry_id`;
    expect([...audit]).toEqual([
      { account_id: open.accountId, action: 'week lost', subject: weekName(open.week) },
      { account_id: closed.accountId, action: 'backup restored', subject: null },
      { account_id: open.accountId, action: 'backup restored', subject: null },
    ]);
    const jobs = await target.pool`select task_identifier from graphile_worker.jobs`;
    expect(jobs.map((job) => job['task_identifier'])).toContain('mail lost week');
    // The secrets key was not in the backup. Once it is imported, they can be opened.
    await target.keys.secrets.imported(await world.keys.secrets.exported());
    expect(await hostKeys(target.pool, target.keys.secrets, quiet)).toEqual(
      await hostKeys(world.pool, world.keys.secrets, quiet),
    );
    // Tokens, new weeks and ids.
    const config = { ...testConfig, answerKeys: target.keyPlace };
    const app = await startApp(config, Promise.resolve(target.databaseUrl), quiet);
    onTestFinished(() => app.stop(5));
    await app.started;
    expect(await readingsOf(app.address, token, closed)).toEqual(
      await readingsOf(world.address, token, closed),
    );
    expect(await target.keys.chain.state()).toMatchObject({ state: 'ready' });
    expect((await answeredWeek(target, [app.address])).answers).toBeGreaterThan(50); // new weeks open and are answered
    // Ids continue.
    const [before] = await world.pool`select max(user_id) as id from users`;
    const created = await inTransaction(target.pool, (tx) =>
      createUser(tx, closed.accountId, { firstName: 'N', lastName: 'N', role: 'User' }),
    );
    expect(created).toBeGreaterThan(before!['id'] as number);
  });
});

describe('a backup of a database in use', () => {
  test('is consistent: groups, people and memberships that are created together', async () => {
    const state = { isOver: false };
    const writing = (async () => {
      for (let i = 0; !state.isOver; i++) {
        await inTransaction(world.pool, async (tx) => {
          const group = await createGroup(tx, closed.accountId, { name: `G${i}`, externalId: `busy-${i}` });
          const person = {
            firstName: 'B',
            lastName: 'B',
            externalId: `busy-${i}`,
            memberships: { memberOf: [group] },
          };
          await createUser(tx, closed.accountId, person);
        });
      }
    })();
    const backups = [await backUp(world.pool), await backUp(world.pool)];
    state.isOver = true;
    await writing;
    const added = (table: string) => {
      const rows = backups.map(
        ({ contents }) => contents.tables.find(({ name }) => name === table)?.rows ?? NaN,
      );
      return rows[1]! - rows[0]!;
    };
    expect([added('groups'), added('memberships')]).toEqual([added('users'), added('users')]);
    expect(added('users')).toBeGreaterThan(0);
    // Key files may be there already, also of a chain that follows the one in the backup.
    const target = await emptyInstallation();
    const chain = readKeyFile(join(world.keyPlace.directory, 'answers'))!;
    writeKeyFile(join(target.keyPlace.directory, 'answers'), freshKey(chain));
    await restoreBackup(target, backups[1]!.path); // creates all foreign keys, which check every row
    const [row] = await target.pool`
        select (select count(*) from groups where external_id like 'busy-%')::int as groups,
               (select count(*) from users where external_id like 'busy-%')::int as people,
               (select count(*) from memberships join users using (account_id, user_id)
                where  external_id like 'busy-%')::int as memberships`;
    expect(new Set(Object.values(row!)).size).toBe(1);
  });

  test('waits for no reader or writer, and no command waits for it', async () => {
    // A migration would wait, because it locks the table of migrations. Everything else goes on.
    const letGo = await keepOpen(world.pool, (tx) => tx`lock table migrations in share mode`);
    expect(await migrate(world.pool)).toEqual([]);
    await letGo();
  });
});

/** Returns how many bytes the network can buffer between the database and us. Linux raises its buffers up to these limits. */
async function networkBuffers(): Promise<number> {
  const limits = ['rmem', 'wmem'].map(async (name) => {
    const text = await readFile(`/proc/sys/net/ipv4/tcp_${name}`, 'utf8').catch(() => '8388608');
    return Number(text.trim().split(/\s+/).at(-1));
  });
  return (await Promise.all(limits)).reduce((sum, limit) => sum + limit, 0);
}

describe('a file that is written slowly, or not at all,', () => {
  /** A database with a table that is longer than what the network and our own blocks can buffer. A row has 16 kB as text. */
  let large: TestDatabase;
  let count: number;
  beforeAll(async () => {
    large = await openTestDatabase();
    count = Math.ceil(((await networkBuffers()) + 16e6) / 16e3);
    await large.pool`
      insert into file_chunks (account_id, file_id, position, bytes)
      select 1, i, 1, convert_to(repeat(md5(i::text), 250), 'UTF8') from generate_series(1, ${count}::integer) i`;
  });
  afterAll(() => large?.close());

  test('makes the database wait, so that memory stays small', async () => {
    const { pool } = large;
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let writes = 0;
    const creating = createBackup(pool, async () => {
      if (++writes >= 30) await released;
    });
    await until(async () => {
      const rows = await pool`
        select 1 from pg_stat_activity
        where  datname = current_database() and wait_event = 'ClientWrite' and query like 'copy "file_chunks"%'`;
      return writes >= 30 && rows.length > 0;
    });
    expect(writes).toBe(30);
    release();
    const { tables } = await creating;
    expect(tables.find(({ name }) => name === 'file_chunks')).toMatchObject({ rows: count });
  });

  test('ends the backup with the reason, and leaves the connection usable and no file', async () => {
    const { pool } = large;
    const path = join(folder, 'full.soundings');
    let blocks = 0;
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    const creating = writeWholeFile(path, (write) =>
      createBackup(pool, (bytes) => (++blocks > 30 ? Promise.reject(full) : write(bytes))),
    );
    await expect(creating).rejects.toMatchObject({
      code: 'backup failed',
      message: `${path} can't be used: the disk is full. Free up space, or choose a folder on another disk.`,
    });
    expect((await readdir(folder)).filter((name) => name.startsWith('full.'))).toEqual([]);
    const unfinished =
      await pool`select 1 from pg_stat_activity where datname = current_database() and state like 'idle in%'`;
    expect(unfinished).toHaveLength(0);
    const shares: number[] = [];
    const { rows } = await createBackup(pool, async () => {}, {
      onProgress: (share) => shares.push(share),
    });
    expect(rows).toBeGreaterThan(count);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect([shares[0], shares.at(-1)! <= 1]).toEqual([0, true]);
  });
});

describe('restoring is refused, and changes nothing,', () => {
  test('if the installation has an account, is in use, or has other tables', async () => {
    const { path } = await backUp(world.pool);
    const used = { pool: world.pool, databaseUrl: world.databaseUrl, keyPlace: world.keyPlace };
    await expect(restoreBackup(used, path)).rejects.toMatchObject({
      code: 'restore refused',
      message: expect.stringContaining('A service is using the database') as string,
    });
    const target = await emptyInstallation();
    await target.pool`create table theirs (id integer)`;
    await expect(restoreBackup(target, path)).rejects.toThrow(
      'the table theirs, which is not from Soundings',
    );
    expect(Object.keys(await rowsOf(target.pool))).toEqual(['theirs']);
  });

  test('if tables of another application have the names of ours', async () => {
    const { path } = await backUp(world.pool);
    const target = await emptyInstallation();
    await target.pool.unsafe(`
      create table users (name text);
      insert into users values ('Ada');
      create table migrations (version integer, name text);`);
    const refusal = 'the table migrations, which is not from Soundings';
    await expect(restoreBackup(target, path)).rejects.toThrow(refusal);
    await target.pool.unsafe(`
      alter table migrations add breaking boolean, add applied_at timestamptz;
      insert into migrations values (1, '0001_create_users.sql');`);
    await expect(restoreBackup(target, path)).rejects.toThrow(refusal);
    await target.pool`delete from migrations`;
    await expect(restoreBackup(target, path)).rejects.toThrow(refusal);
    expect([...(await target.pool`select name from users`)]).toEqual([{ name: 'Ada' }]);
  });

  test('if a key file belongs to another installation', async () => {
    const { path } = await backUp(world.pool);
    const [foreign, third] = [await emptyInstallation(), await migratedInstallation()];
    await new AnswerKeys(third.pool, foreign.keyPlace).chain.prepare();
    await expect(restoreBackup(foreign, path)).rejects.toThrow('is the key of another installation');
    expect(await rowsOf(foreign.pool)).toEqual({});
  });

  test('if a row refers to one that is missing, and then no key file is left', async () => {
    const [source, target] = [await migratedInstallation(), await emptyInstallation()];
    await source.keys.secrets.prepare();
    await source.pool.unsafe(`
      alter table groups drop constraint groups_account_id_fkey;
      insert into groups (account_id, managed, name) values (9, false, 'Lost');`);
    const another = { secretsKey: await world.keys.secrets.exported() };
    await expect(backUp(source.pool, another)).rejects.toThrow('The secrets key was replaced');
    const { path } = await backUp(source.pool, { secretsKey: await source.keys.secrets.exportedAsStored() });
    await expect(restoreBackup(target, path)).rejects.toThrow('groups_account_id_fkey');
    expect(existsSync(target.keys.secrets.path)).toBe(false);
  });

  test('if the backup is of a newer version', async () => {
    const newer = { version: 9_999, name: '9999_later.sql' };
    const target = await emptyInstallation();
    const source = await migratedInstallation();
    await source.pool`insert into migrations (version, name, breaking) values (${newer.version}, ${newer.name}, false)`;
    const { path, contents } = await backUp(source.pool);
    expect(contents.schema).toEqual(newer);
    const known = `This version (${contents.program}) knows the schema up to ${migrations().at(-1)!.name}. Install `;
    await expect(restoreBackup(target, path)).rejects.toThrow(`${known}a version that knows 9999_later.sql,`);
    // The program that made it is newer as well.
    const ofNewer = join(folder, 'newer.soundings');
    const parts: Buffer[] = [];
    const blocks = openBlocks(async (bytes) => void parts.push(bytes));
    const head = { ...contents, program: '999.10.0', tables: [] };
    await blocks.add('head', Buffer.from(JSON.stringify(head)));
    await blocks.add('end', Buffer.from(JSON.stringify({ sequences: [] })));
    await blocks.end();
    await writeFile(ofNewer, Buffer.concat(parts));
    await expect(restoreBackup(target, ofNewer)).rejects.toThrow(`${known}version 999.10.0 or newer,`);
    expect(await rowsOf(target.pool)).toEqual({});
  });

  test('if the file is damaged', async () => {
    const target = await emptyInstallation();
    const path = join(folder, 'damaged.soundings');
    await writeFile(path, 'Soundings backup, format 1\n');
    await expect(restoreBackup(target, path)).rejects.toMatchObject({ code: 'damaged backup' });
    expect(await rowsOf(target.pool)).toEqual({});
  });
});

test('an installation that was started but has no account yet counts as empty', async () => {
  const { path, contents } = await backUp(world.pool, { secretsKey: await world.keys.secrets.exported() });
  const target = await emptyInstallation();
  const config = { ...testConfig, answerKeys: target.keyPlace };
  const app = await startApp(config, Promise.resolve(target.databaseUrl), quiet);
  await app.started;
  await app.stop(5);
  const restored = await restoreBackup(target, path);
  expect(restored).toMatchObject({ rows: contents.rows, secrets: 'ready' });
  expect(await hostKeys(target.pool, target.keys.secrets, quiet)).toEqual(
    await hostKeys(world.pool, world.keys.secrets, quiet),
  );
  expect((await target.pool`select 1 from users`).length).toBe(
    (await world.pool`select 1 from users`).length,
  );
});
