// The backup that is created before the schema of a database with data is updated.
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { auditEverywhere } from '../accounts/audit.ts';
import { Fault } from '../base/errors.ts';
import { absent } from '../base/files.ts';
import { sizeText } from '../base/sizes.ts';
import { countRows, selectTables } from '../db/catalogue.ts';
import { asFault, type Pool } from '../db/db.ts';
import { inTurn, isMigrated, migrate, type MigrationSteps, schemaVersion } from '../db/migrate.ts';
import { createBackup } from './create-backup.ts';
import { asFileFault, failedBackup } from './faults.ts';
import { firstSchema, leftOutOf } from './left-out.ts';
import { removeIncomplete, writeWholeFile } from './whole-file.ts';

/** How many backups are kept, and for how long, in ms. */
const [kept, keptMs] = [3, 30 * 86_400_000];
/** What is left of the disk, in bytes, so that a database on the same disk can go on. */
const reserve = 100e6;
const prefix = 'before-update-of-';
const pattern = /^before-update-of-\d{4}\.soundings$/;
/** The same, and files that are incomplete. */
const ours = /^before-update-of-\d{4}\.soundings(\.incomplete-[0-9a-f]{12})?$/;

/**
 * Applies the missing migrations, after a backup if the database has data, and returns their names. If the backup fails, no
 * migration is applied. `folder`: where backups are stored, undefined to create none. Several processes create one backup together.
 */
export async function migrateWithBackup(
  pool: Pool,
  steps: MigrationSteps,
  folder: string | undefined,
  freeIn = freeBytes,
): Promise<{ applied: string[]; backup: string | undefined }> {
  if (folder === undefined || !(await needsBackup(pool)))
    return { applied: await migrate(pool, steps), backup: undefined };
  return inTurn(pool, async () => {
    const backup = (await needsBackup(pool)) ? await backUpInto(pool, folder, freeIn) : undefined;
    const applied = await migrate(pool, steps);
    if (backup !== undefined) await auditEverywhere(pool, { origin: 'service' }, 'backup created');
    return { applied, backup };
  });
}

/** Returns whether migrations are missing in a database with accounts. */
async function needsBackup(pool: Pool): Promise<boolean> {
  const schema = await schemaVersion(pool);
  if (!schema || schema.version < firstSchema || (await isMigrated(pool))) return false;
  return ((await countRows(pool, 'soundings', 'accounts')) ?? 0) > 0;
}

/** Returns how much space has to be free for the backup before the next update, in bytes; 0 if there will be none. */
export const spaceForBackup = async (pool: Pool): Promise<number> =>
  (await needsBackup(pool)) ? spaceFor(pool) : 0;

/** Returns an estimate: a quarter of the tables that are copied, of which a compressed backup rarely takes more, and the reserve. */
async function spaceFor(pool: Pool): Promise<number> {
  const copied = (await selectTables(pool)).filter(
    ({ of, name }) => of === 'jobs' || !leftOutOf(name).isEmpty,
  );
  return copied.reduce((sum, { size }) => sum + size / 4, reserve);
}

/** Returns the free space in a folder. Some network drives don't know theirs; it then counts as unlimited. */
async function freeBytes(folder: string): Promise<number> {
  const { bavail, blocks, bsize } = await fs.statfs(folder);
  return blocks === 0 ? Infinity : bavail * bsize;
}

/** Creates the backup, replaces an earlier one of the same schema, and removes the oldest. Returns its path. */
async function backUpInto(pool: Pool, folder: string, freeIn: typeof freeBytes): Promise<string> {
  const schema = await schemaVersion(pool);
  const name = `${prefix}${String(schema?.version).padStart(4, '0')}.soundings`;
  const path = join(folder, name);
  try {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await removeIncomplete(folder, prefix);
    refuseFullDisk(folder, await freeIn(folder), await spaceFor(pool));
    await writeWholeFile(path, (write) => createBackup(pool, write));
    // By time, because after a return to an older schema, the backup of the lowest schema may be the last one.
    const earlier = (await storedIn(folder, pattern))
      .filter((one) => one.name !== name)
      .toSorted((a, b) => b.at - a.at);
    await removeFrom(folder, earlier.slice(kept - 1));
    return path;
  } catch (error) {
    throw notUpdated(asFault(asFileFault(error, folder)));
  }
}

/** Returns the Fault for a backup that failed. If the database was the reason, another attempt may succeed without a repair. */
function notUpdated(reason: unknown): Fault {
  const message =
    `The database was not updated, because the backup before the update failed: ${messageOf(reason)} ` +
    'To update without a backup, set BACKUP_DIR=off.';
  const isLoss = reason instanceof Fault && reason.code === 'unavailable';
  return isLoss
    ? new Fault('unavailable', 'unavailable', message, { cause: reason })
    : failedBackup(message, reason);
}

function refuseFullDisk(folder: string, free: number, needed: number): void {
  if (free >= needed) return;
  throw failedBackup(
    `${folder} has ${sizeText(free)} of free space, and the backup needs up to ${sizeText(needed)}. Free up space, or set BACKUP_DIR to a folder on another disk.`,
  );
}

/** Deletes backups before updates that are too old, and what killed processes have left of such. */
export async function deleteOldBackups(folder: string, now = Date.now()): Promise<void> {
  const stored = (await storedIn(folder, ours).catch(absent)) ?? [];
  await removeFrom(
    folder,
    stored.filter(({ at }) => at < now - keptMs),
  );
}

type Stored = { name: string; at: number };

/** Returns the files of a folder whose names match, and when they were last changed, in ms. */
async function storedIn(folder: string, names: RegExp): Promise<Stored[]> {
  const found = (await fs.readdir(folder)).filter((one) => names.test(one));
  return Promise.all(found.map(async (name) => ({ name, at: (await fs.lstat(join(folder, name))).mtimeMs })));
}

const removeFrom = (folder: string, files: Stored[]) =>
  Promise.all(files.map(({ name }) => fs.rm(join(folder, name), { force: true })));

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
