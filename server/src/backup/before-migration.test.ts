// Before a database with data is updated, a backup of it is created, and without one it is not updated.
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inTransaction, type Pool } from '../db/db.ts';
import { createSchemaOf, isMigrated, migrations, schemaVersion } from '../db/migrate.ts';
import { emptyInstallation, folder, keepFolder } from './backup.fixture.ts';
import { start, useDirectory } from '../testing/processes/processes.ts';
import { deleteOldBackups, migrateWithBackup, spaceForBackup } from './before-migration.ts';
import { selectLastBackup } from './last-backup.sql.ts';
import { readBackup } from './read-backup.ts';
import { restoreBackup } from './restore.ts';

keepFolder();
useDirectory();

const latest = migrations().at(-1)!.version;
const newFolder = () => join(folder, randomUUID());

/** Creates a database as an older version left it. `accounts`: their number. */
async function olderDatabase(version = latest - 1, accounts = 1) {
  const target = await emptyInstallation();
  await inTransaction(target.pool, (tx) => createSchemaOf(tx, version));
  for (let i = 0; i < accounts; i++) {
    await target.pool`insert into accounts (name, timezone, language, threshold) values ('Older', 'UTC', 'en', 5)`;
  }
  return target;
}

const accountsOf = async (pool: Pool) =>
  (await pool`select name from accounts`).map((row) => row['name'] as string);

describe('a database with data', () => {
  test('is backed up, then updated, and the backup restores and updates it again', async () => {
    const [older, into] = [await olderDatabase(), newFolder()];
    const { applied, backup } = await migrateWithBackup(older.pool, {}, into);
    expect(applied).toEqual([migrations().at(-1)!.name]);
    expect(backup).toBe(join(into, `before-update-of-${String(latest - 1).padStart(4, '0')}.soundings`));
    expect((await stat(backup!)).mode & 0o777).toBe(0o600);
    expect((await stat(into)).mode & 0o777).toBe(0o700);
    expect((await readBackup(backup!)).schema.version).toBe(latest - 1);
    expect((await selectLastBackup(older.pool))!.getTime()).toBeGreaterThan(Date.now() - 60_000);
    const target = await emptyInstallation();
    expect(await restoreBackup(target, backup!)).toMatchObject({ applied });
    expect(await accountsOf(target.pool)).toEqual(['Older']);
    expect(await migrateWithBackup(target.pool, {}, into)).toEqual({ applied: [], backup: undefined });
  });

  test('is backed up once by several processes that start at the same time', async () => {
    const [older, into] = [await olderDatabase(), newFolder()];
    const both = await Promise.all([0, 1].map(() => migrateWithBackup(older.pool, {}, into)));
    expect(both.filter(({ backup }) => backup !== undefined)).toHaveLength(1);
    expect(await isMigrated(older.pool)).toBe(true);
    expect(await readdir(into)).toHaveLength(1);
  });

  test('is not updated if the backup fails, and the message says what to do', async () => {
    const [older, into] = [await olderDatabase(), newFolder()];
    await writeFile(into, 'a file where the folder should be');
    await expect(migrateWithBackup(older.pool, {}, into)).rejects.toMatchObject({
      code: 'backup failed',
      message: expect.stringMatching(/^The database was not updated, .* set BACKUP_DIR=off\.$/s) as string,
    });
    // A disk that would be nearly full afterwards counts as full.
    const needed = await spaceForBackup(older.pool);
    const nearlyFull = migrateWithBackup(older.pool, {}, newFolder(), async () => needed - 1);
    await expect(nearlyFull).rejects.toThrow(
      / has 10\d MB of free space, and the backup needs up to 10\d MB\. Free up space, or set BACKUP_DIR to .* set BACKUP_DIR=off\.$/,
    );
    expect((await schemaVersion(older.pool))!.version).toBe(latest - 1);
    expect(await migrateWithBackup(older.pool, {}, undefined)).toMatchObject({ backup: undefined });
    expect(await isMigrated(older.pool)).toBe(true);
  });

  test('keeps a service from starting, whose exit status says that only an operator can repair it', async () => {
    const older = await olderDatabase();
    const into = newFolder();
    await writeFile(into, 'a file where the folder should be');
    const service = await start(join(folder, randomUUID()), {
      DATABASE_URL: older.databaseUrl,
      BACKUP_DIR: into,
    });
    expect(await service.exited).toBe(78);
    expect(service.said()).toMatch(/^The database was not updated, .* set BACKUP_DIR=off\.$/m);
    expect((await schemaVersion(older.pool))!.version).toBe(latest - 1);
  });

  test('fails in another way if the database is lost meanwhile, because another start can succeed', async () => {
    const [older, other] = [await olderDatabase(), await emptyInstallation()];
    const lost = migrateWithBackup(older.pool, {}, newFolder(), async () => {
      await other.pool`select pg_terminate_backend(pg_backend_pid())`;
      return Infinity;
    });
    await expect(lost).rejects.toMatchObject({ code: 'unavailable' });
    expect((await schemaVersion(older.pool))!.version).toBe(latest - 1);
  });

  test('keeps the last three backups, and removes what a killed process left', async () => {
    const [older, into] = [await olderDatabase(), newFolder()];
    await mkdir(into);
    const present = `before-update-of-${String(latest - 1).padStart(4, '0')}.soundings`;
    // Newer schemas were backed up before: someone has gone back to an older one since.
    const names = ['9001', '9002', '9003'].map((version) => `before-update-of-${version}.soundings`);
    const theirs = ['mine.soundings', 'before-update-of-x.txt'];
    const left = `${present}.incomplete-0123456789ab`;
    for (const name of [...names, ...theirs, left]) await writeFile(join(into, name), '');
    const at = (hoursAgo: number) => new Date(Date.now() - hoursAgo * 3_600_000);
    for (const [i, name] of names.entries()) await utimes(join(into, name), at(i), at([1, 3, 2][i]!));
    await migrateWithBackup(older.pool, {}, into);
    const expected = [names[0], names[2], present, ...theirs];
    expect((await readdir(into)).toSorted()).toEqual(expected.toSorted());
    // After 30 days, they are deleted, and nothing else in the folder.
    await deleteOldBackups(into, Date.now() + 30 * 86_400_000 - 3_600_000);
    expect((await readdir(into)).toSorted()).toEqual([present, ...theirs].toSorted());
    await writeFile(join(into, left), '');
    await deleteOldBackups(into, Date.now() + 30 * 86_400_000 + 60_000);
    expect((await readdir(into)).toSorted()).toEqual(theirs.toSorted());
    await deleteOldBackups(join(into, 'none'));
  });
});

describe('no backup is created', () => {
  test('at the first start, and of a database without accounts', async () => {
    const [empty, unused, into] = [
      await emptyInstallation(),
      await olderDatabase(latest - 1, 0),
      newFolder(),
    ];
    for (const { pool } of [empty, unused]) {
      expect((await migrateWithBackup(pool, {}, into)).backup).toBeUndefined();
      expect(await isMigrated(pool)).toBe(true);
    }
    await expect(readdir(into)).rejects.toThrow('ENOENT');
  });
});
