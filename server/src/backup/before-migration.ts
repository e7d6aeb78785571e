// The backup that is created before the schema of a database with data is updated.
import * as fs from 'node:fs/promises';
import { join } from 'node:path';
import { auditEverywhere } from '../accounts/audit.ts';
import { countRows } from '../db/catalogue.ts';
import type { Pool } from '../db/db.ts';
import { inTurn, isMigrated, migrate, type MigrationSteps, schemaVersion } from '../db/migrate.ts';
import { createBackup } from './create-backup.ts';
import { asFileFault, failedBackup } from './faults.ts';
import { firstSchema } from './left-out.ts';
import { removeIncomplete, writeWholeFile } from './whole-file.ts';

/** How many backups of earlier schemas are kept. */
const kept = 3;
const prefix = 'before-update-of-';
const pattern = /^before-update-of-\d{4}\.soundings$/;

/**
 * Applies the missing migrations, after a backup if the database has data, and returns their names. If the backup fails, no
 * migration is applied. `folder`: where backups are stored, undefined to create none. Several processes create one backup together.
 */
export async function migrateWithBackup(
  pool: Pool,
  steps: MigrationSteps,
  folder: string | undefined,
): Promise<{ applied: string[]; backup: string | undefined }> {
  if (folder === undefined || !(await needsBackup(pool)))
    return { applied: await migrate(pool, steps), backup: undefined };
  return inTurn(pool, async () => {
    const backup = (await needsBackup(pool)) ? await backUpInto(pool, folder) : undefined;
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

/** Creates the backup, replaces an earlier one of the same schema, and removes the oldest. Returns its path. */
async function backUpInto(pool: Pool, folder: string): Promise<string> {
  const schema = await schemaVersion(pool);
  const path = join(folder, `${prefix}${String(schema?.version).padStart(4, '0')}.soundings`);
  try {
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await removeIncomplete(folder, prefix);
    await writeWholeFile(path, (write) => createBackup(pool, write));
    // The names are in the order of the schemas, and so are the backups.
    const names = (await fs.readdir(folder)).filter((one) => pattern.test(one)).toSorted();
    await Promise.all(names.slice(0, -kept).map((one) => fs.rm(join(folder, one), { force: true })));
    return path;
  } catch (error) {
    throw failedBackup(
      `The database was not updated, because the backup before the update failed: ${messageOf(asFileFault(error, folder))} ` +
        'To update without a backup, set BACKUP_DIR=off.',
      error,
    );
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
