// Restores a backup into an empty installation: in one transaction, so that an interrupted restore leaves nothing, and with the
// schema that the backup was made with, which is then migrated to the present one.
import { auditEverywhere } from '../accounts/audit.ts';
import { migrationSteps } from '../answers/seal-open-weeks.ts';
import { version } from '../base/version.ts';
import {
  analyze,
  copyIntoTable,
  countRows,
  dropForeignKeys,
  dropObjects,
  emptyTables,
  enableTriggers,
  isServed,
  selectObjects,
  selectTables,
  setSequences,
  type Table,
  useFixedFormats,
} from '../db/catalogue.ts';
import { type Db, inTransaction, type Pool, type Transaction } from '../db/db.ts';
import {
  createSchemaOf,
  isOurs,
  lockMigrations,
  migrate,
  migrations,
  namesInMigrations,
} from '../db/migrate.ts';
import { installJobTables } from '../jobs/job-tables.ts';
import { closeLostWeeks } from '../results/lost-weeks.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';
import { foreignKeyFile, type KeyNames, readKeyNames } from '../sealing/key-names.ts';
import { type Contents, type Head, tableName } from './contents.ts';
import type { OnProgress } from './create-backup.ts';
import { notRestored } from './faults.ts';
import { firstSchema } from './left-out.ts';
import { readBackup } from './read-backup.ts';

export type Restored = Contents & {
  /** The migrations that were applied after the restore. */
  applied: string[];
  /** How many weeks were open in the backup and are now closed without results. */
  lostWeeks: number;
  /** Tables in the backup that are not part of Soundings or of this version of its job queue. */
  leftOut: string[];
  /** Whether the secrets of the backup can be decrypted here. */
  secrets: 'ready' | 'missing';
};

export type Target = { pool: Pool; databaseUrl: string; keyPlace: KeyPlace };

/** Restores a backup. Throws a Fault if the file is damaged or too new, or if the installation is not empty. */
export async function restoreBackup(
  { pool, databaseUrl, keyPlace }: Target,
  path: string,
  onProgress: OnProgress = () => {},
): Promise<Restored> {
  const verified = await readBackup(path, { onProgress: (share, table) => onProgress(share / 3, table) });
  refuseSchema(verified);
  await refuseUsed(pool);
  await refuseForeignKeys(pool, keyPlace, verified);
  await installJobTables(databaseUrl);
  const keys = new AnswerKeys(pool, keyPlace);
  const leftOut = await replaceTables({ pool, keys }, path, verified, onProgress);
  const applied = await migrate(pool, migrationSteps(keys));
  const { lostWeeks, secrets } = await settleKeys(pool, keys);
  await auditEverywhere(pool, { origin: 'command' }, 'backup restored');
  await analyze(pool);
  return { ...verified, applied, lostWeeks, leftOut, secrets };
}

/** Replaces the tables by those of the backup, in one transaction. Returns the tables of the backup that don't exist here. */
async function replaceTables(
  { pool, keys }: { pool: Pool; keys: AnswerKeys },
  path: string,
  { schema, checksum, keys: names }: Contents,
  onProgress: OnProgress,
): Promise<string[]> {
  let putBack = async () => {};
  try {
    return await inTransaction(pool, async (tx) => {
      await useFixedFormats(tx);
      await lockMigrations(tx);
      await refuseUsed(tx);
      const ours = namesInMigrations();
      await dropObjects(
        tx,
        (await selectObjects(tx)).filter(({ name }) => ours.has(name)),
      );
      await createSchemaOf(tx, schema.version);
      const { leftOut, secretsKey } = await fill(tx, path, { checksum, onProgress });
      // Last, because a file is not part of the transaction.
      if (secretsKey !== undefined) putBack = await keys.secrets.restored(tx, secretsKey);
      return leftOut;
    });
  } catch (error) {
    // The transaction may have been committed although the connection was lost. Then the key file belongs to it.
    const stored = await secretsKeyName(pool).catch(() => names.secrets);
    if (stored !== names.secrets) await putBack();
    throw error;
  }
}

/** Returns the name of the secrets key in the database; null if there is none. */
async function secretsKeyName(pool: Pool): Promise<string | null> {
  if ((await countRows(pool, 'soundings', 'secrets_keys')) === undefined) return null;
  return (await readKeyNames(pool)).secrets?.toString('hex') ?? null;
}

type Filled = {
  /** The tables of the backup that don't exist here. */
  leftOut: string[];
  secretsKey: string | undefined;
};

/** Reads the file again and copies its rows into the empty tables. */
async function fill(
  tx: Transaction,
  path: string,
  { checksum, onProgress }: { checksum: string; onProgress: OnProgress },
): Promise<Filled> {
  const tables = await selectTables(tx);
  const foreignKeys = await dropForeignKeys(tx);
  await emptyTables(tx, tables);
  const leftOut: string[] = [];
  let secretsKey: string | undefined;
  const filled = new Set<string>();
  const read = await readBackup(path, {
    onProgress: (share, table) => onProgress((1 + 2 * share) / 3, table),
    table: async (given, rows) => {
      const table = tables.find((one) => tableName(one) === tableName(given));
      if (!table || (table.of === 'jobs' && !hasColumns(table, given))) {
        leftOut.push(tableName(given));
        for await (const _ of rows);
        return;
      }
      if (!hasColumns(table, given))
        throw otherTables(`The table ${tableName(given)} of the backup has other columns`);
      filled.add(tableName(given));
      await copyIntoTable(tx, { ...table, columns: given.columns }, rows);
    },
    end: async ({ sequences }, key) => {
      await setSequences(tx, sequences);
      secretsKey = key;
    },
  });
  if (read.checksum !== checksum) throw notRestored(`${path} was changed while it was read. Try again.`);
  const missing = tables.find((one) => one.of === 'soundings' && !filled.has(tableName(one)));
  if (missing) throw otherTables(`The backup lacks the table ${missing.name}`);
  for (const create of foreignKeys) await checkReferences(tx, create);
  await enableTriggers(tx, tables);
  return { leftOut, secretsKey };
}

/** Creates a foreign key, which checks all rows of its table. Throws a Fault if one refers to a row that is missing. */
async function checkReferences(tx: Transaction, create: string): Promise<void> {
  await tx.unsafe(create).catch((error: { code?: string; table_name?: string; constraint_name?: string }) => {
    if (error.code !== '23503') throw error;
    throw notRestored(
      `Rows of the table ${error.table_name} refer to rows that are missing (${error.constraint_name}). Use another backup.`,
    );
  });
}

const hasColumns = (table: Table, { columns }: Head['tables'][number]) =>
  table.columns.length === columns.length && table.columns.every((column) => columns.includes(column));

const otherTables = (what: string) =>
  notRestored(`${what}, so it comes from a changed version of Soundings. Use the program that made it.`);

function refuseSchema({ schema, program: theirs }: Contents): void {
  const known = migrations();
  const latest = known.at(-1)?.version ?? 0;
  if (schema.version > latest) {
    // An older program may have made a backup of tables that a newer one had updated.
    const isNewer = theirs.localeCompare(version, 'en', { numeric: true }) > 0;
    const wanted = isNewer ? `version ${theirs} or newer` : `a version that knows ${schema.name}`;
    throw notRestored(
      `The tables of the backup were updated by a newer version of Soundings (schema ${schema.name}). This version (${version}) ` +
        `knows the schema up to ${known.at(-1)?.name}. Install ${wanted}, and restore the backup with that.`,
    );
  }
  const own = known.find((one) => one.version === schema.version);
  if (schema.version < firstSchema || own?.name !== schema.name)
    throw otherTables(`The schema of the backup, ${schema.name}, is not one of this program`);
}

/** Refuses an installation with an account. One that was started but has no account yet counts as empty. */
async function refuseUsed(db: Db): Promise<void> {
  if (await isServed(db)) throw notRestored('A service is using the database. Stop it first.');
  const names = namesInMigrations();
  const objects = await selectObjects(db);
  // Tables of other applications may have the names of ours, and ours are dropped.
  const areOurs = !objects.some(({ name }) => names.has(name)) || (await isOurs(db));
  const theirs = objects.find(({ kind, name }) => (kind !== 'routine' && !names.has(name)) || !areOurs);
  const hasJobs = objects.length === 0 && ((await countRows(db, 'jobs', '_private_jobs')) ?? 0) > 0;
  if (theirs || hasJobs) {
    throw notRestored(
      `The database contains ${theirs ? `the ${theirs.kind} ${theirs.name}` : 'jobs'}, which is not from Soundings. Create an empty database for it.`,
    );
  }
  if (((await countRows(db, 'soundings', 'accounts')) ?? 0) > 0) {
    throw notRestored(
      'The installation is not empty. Restore into a new DATA_DIR, or a new database in DATABASE_URL. To replace this installation, ' +
        'back it up first and move its DATA_DIR away.',
    );
  }
}

/** Refuses if DATA_DIR has the keys of another installation, which would be replaced and lost. */
async function refuseForeignKeys(pool: Pool, keyPlace: KeyPlace, { keys }: Contents): Promise<void> {
  const hex = (text: string) => Buffer.from(text, 'hex');
  const ofBackup: KeyNames = {
    answers: keys.answers && { ...keys.answers, chain: hex(keys.answers.chain) },
    secrets: keys.secrets === null ? null : hex(keys.secrets),
  };
  const isMigrated = (await countRows(pool, 'soundings', 'secrets_keys')) !== undefined;
  const foreign = foreignKeyFile(keyPlace, [ofBackup, ...(isMigrated ? [await readKeyNames(pool)] : [])]);
  if (foreign === undefined) return;
  throw notRestored(
    `${foreign} is the key of another installation. Set another DATA_DIR, or move the file away if that installation no longer exists.`,
  );
}

/**
 * Closes the weeks that were open in the backup, whose keys it doesn't contain. If this is interrupted, the next start of the service
 * does it (EpochChain.prepare).
 */
async function settleKeys(
  pool: Pool,
  keys: AnswerKeys,
): Promise<{ lostWeeks: number; secrets: 'ready' | 'missing' }> {
  const { state } = await keys.chain.state();
  if (state === 'missing') await keys.chain.reset();
  const lost = await closeLostWeeks(pool, keys);
  return { lostWeeks: lost.length, secrets: await keys.secrets.state() };
}
