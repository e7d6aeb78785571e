// Migrates a database to the schema of this version. Migrations are numbered files, forward only, each in its own transaction. If
// several processes start at the same time, each file is still applied only once.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../base/errors.ts';
import { assetAt } from '../base/places.ts';
import { selectTables } from './catalogue.ts';
import { distributeTables, isDistributed, useDistributionSettings } from './citus/distribution.ts';
import { type Db, inTransaction, isLostRace, type Pool, type Transaction } from './db.ts';

export type Migration = { version: number; name: string; breaking: boolean; sql: string };

const directory = assetAt('db/migrations/');
const lockKey = 5_017_301; // any number, the same in every process
const turnKey = 5_017_302; // another one

/**
 * How long a statement of a migration waits for locks, in ms, before the migration is rolled back and repeated. Everything that needs
 * the table waits behind it meanwhile. Shorter than PostgreSQL's deadlock_timeout (1 s), so that in a deadlock with a request of a
 * service that is running, the migration gives way and the request doesn't fail.
 */
const lockMs = 400;
/** How long a migration is retried, in ms. */
const repeatMs = 10 * 60_000;

let known: Migration[] | undefined;

/** Returns the migrations of this version, in order. A first line `-- breaking` means that older versions can't run with it. */
export const migrations = (): Migration[] => (known ??= readMigrations());

/** The number of the last migration of this version. */
export const latestVersion = (): number => migrations().at(-1)?.version ?? 0;

function readMigrations(): Migration[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
    .map((name) => {
      const sql = readFileSync(new URL(name, directory), 'utf8');
      return { version: Number.parseInt(name, 10), name, breaking: sql.startsWith('-- breaking'), sql };
    });
}

/** Code that a migration needs in addition to SQL, by its number. It runs before the statements, in the same transaction. */
export type MigrationSteps = Readonly<Record<number, (tx: Transaction) => Promise<void>>>;

/**
 * Applies the missing migrations and returns their names. A migration that can't get its locks, because a service is running, is
 * repeated for `forMs` milliseconds. Throws a Fault if that is not enough, and the errors of the database.
 */
export async function migrate(pool: Pool, steps: MigrationSteps = {}, forMs = repeatMs): Promise<string[]> {
  const missing = await missingMigrations(pool);
  if (missing.length > 0) await inTransaction(pool, createMigrationsTable);
  const applied: string[] = [];
  for (const migration of missing) {
    const done = await repeated(migration.name, Date.now() + forMs, () =>
      inTransaction(pool, (tx) => applyOnce(tx, migration, steps)),
    );
    if (done) applied.push(migration.name);
  }
  const fault = await tooNew(pool);
  if (fault) throw fault;
  return applied;
}

/** Runs `apply` until it doesn't lose a race for locks, or until `end`. */
async function repeated<T>(name: string, end: number, apply: () => Promise<T>): Promise<T> {
  try {
    return await apply();
  } catch (error) {
    if (!isLostRace(error)) throw error;
    if (Date.now() >= end) throw tooBusy(name, error);
    await sleep(lockMs / 2 + Math.random() * lockMs); // so that requests that have waited can go on
    return repeated(name, end, apply);
  }
}

const tooBusy = (name: string, cause: unknown) =>
  new Fault(
    'unavailable',
    'unavailable',
    `The migration ${name} could not be applied, because other connections keep locks on its tables. ` +
      'Nothing of it was stored. Try again when less is running, or stop the processes of the older version first.',
    { cause },
  );

/** Returns the migrations that have not been applied, in order. Waits for no other process, unlike applying them. */
async function missingMigrations(db: Db): Promise<Migration[]> {
  if (!(await hasMigrationsTable(db))) return migrations();
  const rows = await db<{ version: number }[]>`select version from migrations`;
  const applied = new Set(rows.map(({ version }) => version));
  return migrations().filter(({ version }) => !applied.has(version));
}

/**
 * Returns whether every migration of this version has been applied, and no migration of a newer one with which this version can't run.
 */
export async function isMigrated(pool: Pool): Promise<boolean> {
  const ours = latestVersion();
  const [row] = await pool<{ latest: number | null; breaking: number | null }[]>`
    select max(version) as latest, max(version) filter (where breaking) as breaking from migrations`;
  return (row?.latest ?? 0) >= ours && (row?.breaking ?? 0) <= ours;
}

/** Returns why this version can't use the database: a newer one has made a breaking change. Undefined: it can. */
export async function tooNew(pool: Pool): Promise<Fault | undefined> {
  const [newer] = await pool<{ name: string }[]>`
    select name from migrations where version > ${latestVersion()} and breaking order by version limit 1`;
  if (!newer) return undefined;
  return new Fault(
    'unavailable',
    'database too new',
    `The database was migrated by a newer version of Soundings (${newer.name}), and this version cannot use it. ` +
      'Start the newer version, or restore a backup from before the upgrade into an empty database with "npx soundings restore". ' +
      'The service stores one in DATA_DIR/backups before it updates a database (BACKUP_DIR).',
  );
}

/** The version of a schema: the number and file name of the last migration that was applied. */
export type SchemaVersion = { version: number; name: string };

/** Returns the version of the schema; undefined before the first start. */
export async function schemaVersion(db: Db): Promise<SchemaVersion | undefined> {
  if (!(await hasMigrationsTable(db))) return undefined;
  const [row] = await db<SchemaVersion[]>`
    select version as "version", name as "name" from migrations order by version desc limit 1`;
  return row;
}

/** Runs `work`, which may migrate, in one process at a time. Uses one connection of the pool meanwhile. */
export async function inTurn<T>(pool: Pool, work: () => Promise<T>): Promise<T> {
  // An error of `work` is thrown outside, because it may be about another connection than that of the transaction.
  const outcome = await inTransaction(pool, async (tx) => {
    await tx`select pg_advisory_xact_lock(${turnKey}), set_config('idle_in_transaction_session_timeout', '0', true)`;
    return work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
  });
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** Waits for other processes that migrate, and makes later ones wait until the transaction ends. */
export async function lockMigrations(tx: Transaction): Promise<void> {
  await tx`select pg_advisory_xact_lock(${lockKey})`;
}

/** Creates the schema of an older version in an empty database: applies all migrations up to that version, in one transaction. */
export async function createSchemaOf(tx: Transaction, version: number): Promise<void> {
  await createMigrationsTable(tx);
  for (const migration of migrations()) {
    // In order, and without the steps, as there are no rows yet.
    if (migration.version <= version) await applyOnce(tx, migration, {});
  }
}

/** Returns the names of all tables and functions that our migrations create or have ever created. */
export function namesInMigrations(): Set<string> {
  const created = /\bcreate (?:or replace |unlogged )?(?:table|function) (\w+)|^alter .+ rename to (\w+);/gim;
  const names = migrations().flatMap(({ sql }) =>
    [...sql.matchAll(created)].map((found) => found[1] ?? found[2]),
  );
  return new Set(['migrations', ...names.filter((name) => name !== undefined)]);
}

/**
 * Returns whether our migrations created the tables of a database: its table `migrations` has our columns and our first file, or it is
 * empty and the only table, which is what an interrupted first start leaves.
 */
export async function isOurs(db: Db): Promise<boolean> {
  const tables = await selectTables(db);
  const own = tables.filter(({ of }) => of === 'soundings');
  const table = own.find(({ name }) => name === 'migrations');
  if (table?.columns.join() !== 'version,name,breaking,applied_at') return false;
  const [first] = migrations();
  const [row] = await db<{ isFirst: boolean | null }[]>`
    select bool_or(version::text = ${String(first?.version)} and name::text = ${String(first?.name)}) as "isFirst" from migrations`;
  return row?.isFirst ?? own.length === 1;
}

async function hasMigrationsTable(db: Db): Promise<boolean> {
  const [row] = await db<{ exists: boolean }[]>`select to_regclass('migrations') is not null as exists`;
  return row?.exists === true;
}

async function createMigrationsTable(tx: Transaction): Promise<void> {
  await lockMigrations(tx);
  // A backup that is running has locked the table against every change, and nothing may wait for it without a reason.
  if (await hasMigrationsTable(tx)) return;
  await tx`
    create table if not exists migrations (
      version     integer     primary key,
      name        text        not null,
      breaking    boolean     not null,
      applied_at  timestamptz not null default now()
    )`;
  await tx`comment on table migrations is 'The schema migrations that were applied to this database.'`;
}

async function applyOnce(
  tx: Transaction,
  { version, name, breaking, sql }: Migration,
  steps: MigrationSteps,
): Promise<boolean> {
  await lockMigrations(tx);
  const [present] = await tx`select 1 from migrations where version = ${version}`;
  if (present) return false;
  await tx`lock table migrations in row exclusive mode`; // waits for backups that are running (catalogue.ts)
  await tx.unsafe(`set local lock_timeout = ${lockMs}`);
  const onCitus = await isDistributed(tx);
  if (onCitus) await useDistributionSettings(tx);
  await steps[version]?.(tx);
  await tx.unsafe(sql);
  if (onCitus) await distributeTables(tx); // those that it created
  await tx`insert into migrations (version, name, breaking) values (${version}, ${name}, ${breaking})`;
  return true;
}
