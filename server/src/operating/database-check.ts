// Checks facts about the database: its version, schema, rights, connections, and its clock. Pure.
import { sizeText } from '../base/sizes.ts';
import type { DistributionFacts } from '../db/citus/distribution.ts';
import type { DatabaseFacts, SchemaFacts } from '../db/database-facts.ts';
import { type ReplicaFacts, replicaRemedies } from '../db/replica/states.ts';
import { withNoun, durationText, type Finding, reportOn } from './findings.ts';

const { ok, warning, problem } = reportOn('database');

/** The versions of PostgreSQL that are supported. */
const [oldest, newest] = [15, 18];
/** How many connections a process of the service uses at most. */
export const connectionsOfProcess = 60;

/**
 * The number of days without a backup after which there is a warning. An installation with nightly backups should have an alert
 * (docs/operators/monitoring.md).
 */
const backupDays = 8;

/** `last`: when Soundings created the last backup. `firstUse`: when the first account was created. */
export function checkBackup(last: Date | null, firstUse: Date | null, now: number): Finding[] {
  const report = reportOn('backup');
  const since = last ?? firstUse;
  const days = since === null ? 0 : Math.floor((now - since.getTime()) / 86_400_000);
  const text =
    last === null
      ? 'Soundings has created no backup yet.'
      : `Soundings created the last backup ${days < 1 ? 'within the last day' : `${withNoun(days, 'day')} ago`}.`;
  if (days < backupDays) return [report.ok(last === null ? 'none' : 'recent', text)];
  const remedy =
    'Run "soundings backup FILE" each night, or make sure that another program backs up the database.';
  return [report.warning(last === null ? 'missing' : 'old', `${text} ${remedy}`)];
}

export type DatabaseState = {
  facts: DatabaseFacts;
  /** Whether the database is the embedded one, whose settings are ours. */
  isEmbedded: boolean;
  /** Whether a service is running, which uses its connections already. */
  isServiceRunning: boolean;
  /** Settings of our connections that a pooler ignores. */
  ignoredSettings: string[];
  hasSpace: boolean;
  /** Where a backup is stored before an update; undefined: none is created. */
  backupDir: string | undefined;
};

export function checkDatabase({ facts, ...state }: DatabaseState): Finding[] {
  const { version, sizeBytes } = facts;
  const major = Math.floor(facts.versionNumber / 10_000);
  const where = state.isEmbedded ? 'The embedded PostgreSQL' : 'PostgreSQL';
  return [
    ok('reachable', `${where} ${version} accepts connections. The database has ${sizeText(sizeBytes)}.`),
    ...(major < oldest
      ? [
          problem(
            'tooOld',
            `PostgreSQL ${version} is too old. Upgrade it to ${oldest} or newer, up to ${newest}.`,
          ),
        ]
      : []),
    ...(major > newest
      ? [
          warning(
            'untested',
            `Soundings is not tested with PostgreSQL ${version}. Use a version from ${oldest} to ${newest}.`,
          ),
        ]
      : []),
    ...schemaFindings(facts.schema, state.backupDir),
    ...rightsFindings(facts, state.isEmbedded),
    ...distributionFindings(facts.distribution),
    ...connectionFindings(facts, state),
    ...(state.hasSpace
      ? []
      : [
          problem(
            'full',
            'The database is out of disk space, so it can’t store anything. Free up space on its disk. The service continues automatically.',
          ),
        ]),
  ];
}

function schemaFindings(
  { latest, missing, unknown, isTooNew }: SchemaFacts,
  backupDir: string | undefined,
): Finding[] {
  if (isTooNew) {
    const names = unknown.join(', ');
    return [
      problem(
        'tooNew',
        `A newer version of Soundings has upgraded the database (${names}), and this version can’t use it. Start the newer version, or restore a backup from before the upgrade.`,
      ),
    ];
  }
  if (latest === null) return [ok('empty', 'The database is empty. The first start creates the tables.')];
  const backup =
    backupDir === undefined
      ? 'No backup is created before it (BACKUP_DIR=off), so back the database up before you start the service.'
      : `If the database has an account, that start first creates a backup in ${backupDir}.`;
  if (missing.length > 0)
    return [
      warning(
        'notMigrated',
        `The database is at ${latest}, and ${withNoun(missing.length, 'migration')} of this version will be applied at the next start. ${backup}`,
      ),
    ];
  if (unknown.length > 0)
    return [
      warning(
        'newer',
        `A newer version of Soundings has upgraded the database (${unknown.join(', ')}). This version can use it, but finish the upgrade on this machine.`,
      ),
    ];
  return [ok('migrated', `The tables are those of this version (${latest}).`)];
}

function distributionFindings({ citus, isDistributed, undistributed }: DistributionFacts): Finding[] {
  if (!isDistributed) return [];
  if (undistributed.length > 0)
    return [
      problem(
        'undistributed',
        `The tables are distributed with Citus ${citus}, but these are not: ${undistributed.join(', ')}. Did another program create them?`,
      ),
    ];
  return [ok('distributed', `The tables are distributed by account with Citus ${citus}.`)];
}

function rightsFindings({ encoding, isReadOnly, role, ...facts }: DatabaseFacts, isEmbedded: boolean) {
  const some = facts.foreignTables.slice(0, 3).join(', ');
  return [
    ...(isReadOnly
      ? [
          problem(
            'readOnly',
            'The database accepts no changes: it is a replica, or read-only by its settings. Set DATABASE_URL to the primary.',
          ),
        ]
      : []),
    ...(encoding === 'UTF8'
      ? []
      : [
          problem(
            'encoding',
            `The database stores text as ${encoding}, which lacks letters of many names. Create a database with the encoding UTF8.`,
          ),
        ]),
    ...(role.canCreateTables && role.canCreateSchemas
      ? []
      : [
          problem(
            'rights',
            'The role in DATABASE_URL can’t create tables and schemas. Make it the owner of the database: alter database … owner to ….',
          ),
        ]),
    ...(role.canCreateTemporaryTables
      ? []
      : [
          warning(
            'temporaryTables',
            'The role in DATABASE_URL can’t create temporary tables, so pushes in parts are refused: grant temporary on database … to ….',
          ),
        ]),
    ...(facts.foreignTables.length > 0
      ? [
          problem(
            'foreignTables',
            `${withNoun(facts.foreignTables.length, 'table')} (${some}) belong to another role, so upgrades fail. Give them to the role in DATABASE_URL: reassign owned by … to ….`,
          ),
        ]
      : []),
    ...(role.isSuperuser && !isEmbedded
      ? [
          warning(
            'superuser',
            'The role in DATABASE_URL is a superuser, which can run programs on the database server. Use an ordinary role that owns the database.',
          ),
        ]
      : []),
    ...(facts.isRemote && !facts.isEncrypted
      ? [
          warning(
            'unencrypted',
            'The connection to the database crosses a network unencrypted. Add ?sslmode=require to DATABASE_URL, or make sure that you trust this network.',
          ),
        ]
      : []),
  ];
}

function connectionFindings(
  { connections: { free, max } }: DatabaseFacts,
  { isServiceRunning, ignoredSettings }: Omit<DatabaseState, 'facts'>,
): Finding[] {
  const needed = isServiceRunning ? 0 : connectionsOfProcess;
  const uses = `A process of the service uses up to ${connectionsOfProcess}.`;
  const connections = () => {
    if (max < connectionsOfProcess)
      return warning(
        'fewConnections',
        `The database allows ${withNoun(max, 'connection')}. ${uses} Raise max_connections, or the limit of the role or of the database.`,
      );
    if (free < needed)
      return warning(
        'connectionsUsed',
        `${free} of ${withNoun(max, 'connection')} to the database are free. ${uses} Close some, or raise max_connections.`,
      );
    return ok('connections', `${free} of ${withNoun(max, 'connection')} are free. ${uses}`);
  };
  return [
    connections(),
    ...(ignoredSettings.length > 0
      ? [
          warning(
            'ignoredSettings',
            `The connection pooler ignores settings of our connections (${ignoredSettings.join(', ')}). Set them for the role instead: see “PgBouncer” in docs/operators/postgres.md.`,
          ),
        ]
      : []),
  ];
}

const replicaCodes = {
  unreachable: 'replicaUnreachable',
  foreign: 'replicaForeign',
  primary: 'replicaNone',
} as const;

/** Checks the replica to read from. */
export function checkReplica({ state, behind = 0 }: ReplicaFacts): Finding[] {
  if (state !== 'ok') return [warning(replicaCodes[state], `${replicaRemedies[state]}.`)];
  const lag = behind === 0 ? 'has everything' : `is ${sizeText(behind)} of the log behind`;
  return [ok('replica', `The replica at DATABASE_URL_READ can be read, and ${lag}.`)];
}

/** Differences of the clocks, in ms: up to the first is normal, and from the second on no week opens or closes. */
const clockLimits = { normal: 5_000, tooMuch: 5 * 60_000 };

/**
 * Checks the clock of this machine. `aheadMs`: how far it is ahead of the database's, in ms; undefined if that is the same clock.
 * `isSynchronized`: whether the system keeps it right; undefined if that is unknown.
 */
export function checkClock({
  aheadMs,
  isSynchronized,
}: {
  aheadMs: number | undefined;
  isSynchronized: boolean | undefined;
}): Finding[] {
  const clock = reportOn('clock');
  return [
    ...(aheadMs === undefined ? [] : [differenceFinding(aheadMs)]),
    isSynchronized === true
      ? clock.ok('synchronized', 'The system keeps the clock of this machine synchronized.')
      : isSynchronized === false
        ? clock.warning(
            'notSynchronized',
            'The clock of this machine is not synchronized. Turn on NTP (timedatectl set-ntp true): weeks open and close by this clock.',
          )
        : clock.ok(
            'synchronizationUnknown',
            'Whether the clock is synchronized can’t be seen from here. Make sure that this machine, or the host of this container, uses NTP.',
          ),
  ];
}

function differenceFinding(aheadMs: number): Finding {
  const clock = reportOn('clock');
  const difference = durationText(Math.abs(aheadMs) / 1000);
  const direction = aheadMs > 0 ? 'ahead of' : 'behind';
  const text = `The clock of this machine is ${difference} ${direction} the database’s.`;
  if (Math.abs(aheadMs) > clockLimits.tooMuch)
    return clock.problem(
      'differs',
      `${text} Weeks don’t open or close until the wrong clock is correct. Synchronize both with NTP.`,
    );
  if (Math.abs(aheadMs) > clockLimits.normal)
    return clock.warning('differsSlightly', `${text} Synchronize both with NTP.`);
  return clock.ok('same', 'The clocks of this machine and of the database agree.');
}
