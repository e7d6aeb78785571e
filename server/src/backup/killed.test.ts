// A backup or a restore that is killed at any point: no incomplete file has the name of a backup, and an interrupted restore leaves an
// installation into which the backup can be restored. BACKUP_KILLS=20 kills 20 times each.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openPool } from '../db/db.ts';
import { caseCount } from '../testing/house/cases.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { builtProgram } from '../testing/service-build.ts';
import { keepOpen } from '../testing/keep-open.ts';
import { until } from '../testing/until.ts';
import { backUp, emptyInstallation, folder, rowsOf, useInstallation, world } from './backup.fixture.ts';
import { readBackup } from './read-backup.ts';

useInstallation();

const kills = caseCount('BACKUP_KILLS', 1);

/** Starts a soundings command as a process. */
function command(args: string[], databaseUrl: string, dataDir: string) {
  const env = { ...bareEnvironment, DATABASE_URL: databaseUrl, DATA_DIR: dataDir };
  const child = spawn(process.execPath, [builtProgram('command'), ...args], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let err = '';
  child.stderr.on('data', (text: Buffer) => (err += text.toString()));
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  return { child, exited, err: () => err };
}

test('a killed backup leaves no file under its name, and no incomplete file verifies', async () => {
  const path = join(folder, 'killed.soundings');
  const dataDir = join(folder, 'none');
  const parts = async () =>
    (await readdir(folder)).filter((name) => name.startsWith('killed.soundings.incomplete-'));
  for (let i = 0; i < kills; i++) {
    // A table that someone else has locked stops the backup there.
    const tables = ['accounts', 'kpis', 'questions', 'users', 'weeks'];
    const letGo = await keepOpen(world.pool, (tx) =>
      tx.unsafe(`lock table ${tables[i % tables.length]} in access exclusive mode`),
    );
    const { child, exited } = command(['backup', path], world.databaseUrl, dataDir);
    await until(async () => (await parts()).length > 0);
    child.kill('SIGKILL');
    await exited;
    await letGo();
    expect(existsSync(path)).toBe(false);
    for (const part of await parts()) {
      await expect(readBackup(join(folder, part))).rejects.toMatchObject({ code: 'damaged backup' });
      await rm(join(folder, part));
    }
  }
  const { exited, err } = command(['backup', path], world.databaseUrl, dataDir);
  expect([await exited, err()]).toEqual([0, '']);
  // Later backups replace it only when they are complete.
  const first = await readFile(path);
  const letGo = await keepOpen(world.pool, (tx) => tx.unsafe('lock table users in access exclusive mode'));
  const second = command(['backup', path], world.databaseUrl, dataDir);
  await until(async () => (await parts()).length > 0);
  second.child.kill('SIGKILL');
  await second.exited;
  await letGo();
  expect((await readFile(path)).equals(first)).toBe(true);
  await readBackup(path);
  await truncate(path, first.length - 1);
  await expect(readBackup(path)).rejects.toMatchObject({ code: 'damaged backup' });
});

test('after a killed restore, the backup can be restored, and nothing is missing', async () => {
  const { path, contents } = await backUp(world.pool, { secretsKey: await world.keys.secrets.exported() });
  const expected = await rowsOf(world.pool);
  for (let i = 0; i < kills; i++) {
    const target = await emptyInstallation();
    const watching = openPool(target.databaseUrl, 1);
    onTestFinished(() => watching.end({ timeout: 0 }));
    const dataDir = join(folder, `target-${i}`);
    const { child, exited } = command(['restore', path], target.databaseUrl, dataDir);
    // Killed in the transaction that copies the rows, a little later each time.
    const at = ['copy', 'alter table', 'commit', 'create'][i % 4]!;
    await until(async () => {
      const rows = await watching`
        select 1 from pg_stat_activity
        where  datname = current_database() and pid <> pg_backend_pid() and query ilike ${`%${at}%`}`;
      return rows.length > 0 || child.exitCode !== null;
    });
    child.kill('SIGKILL');
    await exited;
    await until(async () => {
      const rows =
        await watching`select 1 from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
      return rows.length === 0;
    });
    const [row] = await watching<
      { isThere: boolean }[]
    >`select to_regclass('accounts') is not null as "isThere"`;
    // If it was killed after the commit, nothing is missing either.
    const again = command(row!.isThere ? ['migrate'] : ['restore', path], target.databaseUrl, dataDir);
    expect([await again.exited, again.err()]).toEqual([0, '']);
    const rows = await rowsOf(watching);
    for (const table of [
      'users',
      'memberships',
      'results',
      'comments',
      'token_hashes',
      'sftp_host_keys',
      'files',
    ]) {
      expect(rows[table]).toEqual(expected[table]);
    }
    expect(rows['users']).toHaveLength(contents.tables.find(({ name }) => name === 'users')!.rows);
  }
});
