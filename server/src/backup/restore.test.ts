// What a backup and a restore guard against, on small installations: other settings of a database, changed tables and files, and updates
// in between.
import { copyFile, rename } from 'node:fs/promises';
import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inTransaction, openPool, type Transaction } from '../db/db.ts';
import { beginSnapshot } from '../db/catalogue.ts';
import { createSchemaOf, migrate, migrations } from '../db/migrate.ts';
import { installJobTables } from '../jobs/job-tables.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { until } from '../testing/until.ts';
import {
  backUp,
  emptyInstallation,
  folder,
  keepFolder,
  migratedInstallation,
  rowsOf,
} from './backup.fixture.ts';
import { firstSchema } from './left-out.ts';
import { restoreBackup } from './restore.ts';

keepFolder();

/** Creates an installation with an account. */
async function installation() {
  const source = await migratedInstallation();
  await source.pool`insert into accounts (name, timezone, language, threshold) values ('Older', 'UTC', 'en', 5)`;
  return source;
}

test('settings of the databases change no value, and triggers work in the restored one', async () => {
  const [source, target] = [await installation(), await emptyInstallation()];
  const settings = {
    datestyle: `'German, DMY'`,
    intervalstyle: `'sql_standard'`,
    extra_float_digits: '-9',
  };
  for (const { pool, databaseUrl } of [source, target]) {
    const name = new URL(databaseUrl).pathname.slice(1);
    for (const [setting, value] of Object.entries(settings))
      await pool.unsafe(`alter database ${name} set ${setting} = ${value}`);
  }
  const [from, into] = [source, target].map(({ databaseUrl }) => openPool(databaseUrl, 4)) as [
    typeof source.pool,
    typeof source.pool,
  ];
  onTestFinished(async () => {
    await Promise.all([from, into].map((pool) => pool.end({ timeout: 0 })));
  });
  await source.pool`update accounts set created_at = '2026-03-04 05:06:07.123456+00'`;
  const { path } = await backUp(from);
  await restoreBackup({ ...target, pool: into }, path);
  const read = async ({ pool }: typeof source) => [
    ...(await pool`select account_id, created_at::text, name from accounts`),
  ];
  expect(await read(target)).toEqual(await read(source));
  const triggers = await target.pool`select tgenabled as state from pg_trigger where not tgisinternal`;
  expect(triggers.length).toBeGreaterThan(5);
  expect(triggers.filter(({ state }) => state !== 'O')).toEqual([]);
});

test('a migration waits until a running backup has ended', async () => {
  const { pool } = await emptyInstallation();
  const latest = migrations().at(-1)!;
  await inTransaction(pool, (tx) => createSchemaOf(tx, latest.version - 1));
  const letGo = await keepOpen(pool, (tx) => beginSnapshot(tx as unknown as Transaction));
  const migrating = migrate(pool);
  await until(async () => {
    const waiting = await pool`
      select 1 from pg_locks where relation = 'migrations'::regclass and not granted`;
    return waiting.length > 0;
  });
  await letGo();
  expect(await migrating).toEqual([latest.name]);
});

test('a schema from before answers were encrypted is not backed up', async () => {
  const { pool } = await emptyInstallation();
  await inTransaction(pool, (tx) => createSchemaOf(tx, firstSchema - 1));
  await expect(backUp(pool)).rejects.toThrow('the schema of an early version');
});

test('a file that is replaced while it is read is refused', async () => {
  const [source, target] = [await installation(), await emptyInstallation()];
  const [first, second] = [await backUp(source.pool), await backUp(source.pool)];
  const [path, other] = [join(folder, 'replaced.soundings'), join(folder, 'other.soundings')];
  await copyFile(first.path, path);
  await rename(second.path, other);
  let isReplaced = false;
  const restoring = restoreBackup(target, path, () => {
    if (!isReplaced) {
      copyFileSync(other, `${path}.new`);
      renameSync(`${path}.new`, path); // what is open stays the first file
    }
    isReplaced = true;
  });
  await expect(restoring).rejects.toThrow('was changed while it was read. Try again.');
  expect(isReplaced).toBe(true);
  expect(await target.pool`select 1 from pg_tables where schemaname = 'public'`).toHaveLength(0);
});

test('a backup with other columns or without a table is refused', async () => {
  for (const [change, message] of [
    ['alter table users add column theirs text', 'The table users of the backup has other columns'],
    ['drop table kiosks', 'The backup lacks the table kiosks'],
  ] as const) {
    const [source, target] = [await installation(), await emptyInstallation()];
    await source.pool.unsafe(change);
    const { path } = await backUp(source.pool);
    await expect(restoreBackup(target, path)).rejects.toThrow(message);
    expect(Object.keys(await rowsOf(target.pool)).filter((name) => !name.includes('.'))).toEqual([]);
  }
});

test('a database with jobs of another application is refused', async () => {
  const [source, target] = [await installation(), await emptyInstallation()];
  await installJobTables(target.databaseUrl);
  await target.pool`select graphile_worker.add_job('theirs')`;
  const { path } = await backUp(source.pool);
  await expect(restoreBackup(target, path)).rejects.toThrow('jobs, which is not from Soundings');
});
