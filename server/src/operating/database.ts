// The checks of soundings doctor that need the database: the database itself, the clock, the keys, the host keys and the jobs.
import { spaceForBackup } from '../backup/before-migration.ts';
import { selectLastBackup } from '../backup/last-backup.sql.ts';
import { channelsOf } from '../base/messages/channels.ts';
import type { Config } from '../base/config.ts';
import { Fault } from '../base/errors.ts';
import { databaseTime } from '../db/clocks.ts';
import { asFault, openPool, type Pool } from '../db/db.ts';
import { type DatabaseFacts, databaseFacts } from '../db/database-facts.ts';
import { hasEmbedded, openEmbedded } from '../db/embedded.ts';
import { checkSessions } from '../db/own-sessions.ts';
import { examineReplica } from '../db/replica/watch.ts';
import { spaceFault } from '../db/space.ts';
import { type KeyFacts, keyFacts } from '../sealing/key-facts.ts';
import { readHostKey } from '../sftp/host-keys.ts';
import { openHostKey } from '../sftp/host-keys.sealed.ts';
import { type HostKeyRow, selectHostKeys } from '../sftp/host-keys.sql.ts';
import { isClockSynchronized } from './clock.ts';
import { checkBackup, checkClock, checkDatabase, checkReplica } from './database-check.ts';
import { diskFacts } from './disk.ts';
import { checkDisk } from './disk-check.ts';
import { type CheckName, type Finding, reportOn } from './findings.ts';
import { selectFirstUse } from './facts.sql.ts';
import { selectJobFacts } from './jobs.sql.ts';
import { checkJobs } from './jobs-check.ts';
import { checkKeys } from './keys-check.ts';
import { checkHostKeys, type HostKeyState } from './sftp-check.ts';
import { overdueWeeks, waitingWork } from './waiting.ts';
import { endInTime } from './in-time.ts';

type Surroundings = {
  /** How long each check may take, in ms. */
  ms: number;
  now: () => number;
  /** Whether the service responds on its own port. */
  isRunning: Promise<boolean>;
};

/** How long the embedded database may take to start, in ms. */
const startMs = 20_000;

type Opened = { url: string; pool: Pool; ignoredSettings: string[]; close(): Promise<void> };

/** Runs these checks. If the database can't be used, says why, and that the others could not run. */
export async function checkWithDatabase(config: Config, surroundings: Surroundings): Promise<Finding[]> {
  const isEmbedded = config.databaseUrl === undefined;
  const state: { pending?: Promise<Opened>; opened?: Opened } = {};
  const opening = async (): Promise<Finding[]> => {
    if (isEmbedded && !(await hasEmbedded(config.dataDir)))
      return [
        reportOn('database').ok(
          'notCreated',
          `There is no database yet. The first start creates it in ${config.dataDir}.`,
        ),
      ];
    state.pending = open(config, surroundings.ms);
    state.opened = await state.pending;
    return [];
  };
  const trouble = await endInTime('database', isEmbedded ? startMs : surroundings.ms + 1000, opening);
  const { pending, opened } = state;
  if (!opened) {
    pending?.then((late) => late.close()).catch(() => {}); // so that the process can end
    const isMissing = trouble.every(({ outcome }) => outcome === 'ok');
    const reason = isMissing ? undefined : 'the database can’t be used';
    return [
      ...trouble,
      ...(await clock(undefined, surroundings)),
      ...notChecked(['keys', 'jobs', 'backup'], reason),
    ];
  }
  try {
    return await checksOn(opened, config, surroundings);
  } finally {
    await opened.close().catch(() => {});
  }
}

/** `reason`: why these checks can't run; undefined: the service has not been started yet, so there is nothing to check. */
const notChecked = (checks: CheckName[], reason: string | undefined): Finding[] =>
  checks.map((check) => {
    const { ok, warning } = reportOn(check);
    if (reason === undefined) return ok('notChecked', 'Nothing to check before the first start.');
    return warning('notChecked', `Not checked, because ${reason}.`);
  });

/** Opens the database. Throws a Fault that says why it can't be used. */
async function open({ databaseUrl, pooledUrl: pooled, dataDir }: Config, ms: number): Promise<Opened> {
  const embedded =
    databaseUrl === undefined ? await openEmbedded(dataDir, { role: 'command', log: () => {} }) : undefined;
  const url = databaseUrl ?? (embedded?.url as string);
  try {
    const ignoredSettings = await checkSessions({ url, pooled }).catch((error: unknown) => {
      const { isOfPooler = false } = error as { isOfPooler?: boolean };
      throw unreachable(error, isOfPooler && pooled !== undefined ? pooled : url);
    });
    const pool = openPool(url, 2, { settings: { statement_timeout: `${ms}ms` } });
    const close = async () => {
      await pool.end({ timeout: 1 });
      await embedded?.stop();
    };
    return { url, pool, ignoredSettings, close };
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

const remedies: Record<string, string> = {
  ECONNREFUSED: 'Nothing listens there. Start PostgreSQL, or correct the host and port in DATABASE_URL.',
  ENOTFOUND: 'This host name does not exist. Correct it in DATABASE_URL.',
  EAI_AGAIN: 'The host name can’t be looked up. Check the DNS settings of this machine.',
  CONNECT_TIMEOUT: 'It doesn’t respond. Check the host and port in DATABASE_URL, and firewalls in between.',
  '28P01': 'It refuses the user or the password. Correct both in DATABASE_URL.',
  '28000': 'It refuses the user. Correct DATABASE_URL, or allow the connection in pg_hba.conf.',
  '3D000': 'It has no database with this name. Create it, or correct the name in DATABASE_URL.',
  '53300': 'All its connections are in use. Close some, or raise max_connections.',
  '57P03': 'It is starting or stopping. Try again in a moment.',
};

/** Returns the error of a connection as a Fault that names the place without user and password, and what to do. */
function unreachable(error: unknown, url: string): unknown {
  if (error instanceof Fault) return error;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  const { host, pathname } = URL.parse(url) ?? { host: '', pathname: '' };
  const remedy = remedies[code];
  if (remedy === undefined && !(asFault(error) instanceof Fault)) return error;
  const reason = remedy ?? `${message || code}. Check DATABASE_URL.`;
  const text = `The database at ${host}${pathname} can’t be used. ${reason}`;
  return new Fault('unavailable', 'unavailable', text, { cause: error });
}

async function checksOn(opened: Opened, config: Config, surroundings: Surroundings): Promise<Finding[]> {
  const { ms } = surroundings;
  const { pool } = opened;
  let facts: DatabaseFacts | undefined;
  const database = await endInTime('database', ms, async () => {
    facts = await databaseFacts(pool);
    return checkDatabase({
      facts,
      isEmbedded: config.databaseUrl === undefined,
      isServiceRunning: await surroundings.isRunning,
      ignoredSettings: opened.ignoredSettings,
      hasSpace: facts.isReadOnly || (await spaceFault(pool)) === undefined,
      backupDir: config.backupDir,
    });
  });
  const remote = config.databaseUrl === undefined ? undefined : pool;
  const replica = await endInTime('database', ms, () => replicaFindings(pool, config));
  const first = [...database, ...replica, ...(await clock(remote, surroundings))];
  const isCurrent = facts && facts.schema.missing.length === 0 && !facts.schema.isTooNew;
  const isEmpty = facts?.schema.latest === null;
  if (!isCurrent) {
    const reason = isEmpty ? undefined : 'the tables are not those of this version';
    const hasMissing = !isEmpty && facts !== undefined && facts.schema.missing.length > 0;
    return [
      ...first,
      ...(hasMissing ? await endInTime('disk', ms, () => backupDisk(pool, config.backupDir)) : []),
      ...notChecked(['keys', 'jobs', 'backup'], reason),
    ];
  }
  let keys: KeyFacts | undefined;
  const place = config.answerKeys.place === 'file' ? config.answerKeys.directory : 'the database';
  const keyFindings = await endInTime('keys', ms, async () => {
    keys = await keyFacts(pool, config.answerKeys);
    return checkKeys(keys, place);
  });
  return [
    ...first,
    ...keyFindings,
    ...(await endInTime('sftp', ms, async () =>
      checkHostKeys(config.sftpPort, await hostKeyStates(pool, keys?.opener)),
    )),
    ...(await endInTime('jobs', ms, () => jobs(pool, config, surroundings.now()))),
    ...(await endInTime('backup', ms, async () =>
      checkBackup((await selectLastBackup(pool)) ?? null, await selectFirstUse(pool), surroundings.now()),
    )),
  ];
}

async function replicaFindings(pool: Pool, { replicaUrl }: Config): Promise<Finding[]> {
  if (replicaUrl === undefined) return [];
  return checkReplica(await examineReplica(replicaUrl, pool));
}

/** Checks the folder of the backup that the next start creates before it updates the database. */
async function backupDisk(pool: Pool, folder: string | undefined): Promise<Finding[]> {
  const needed = folder === undefined ? 0 : await spaceForBackup(pool);
  if (folder === undefined || needed === 0) return [];
  return checkDisk(await diskFacts(folder), { setting: 'BACKUP_DIR', warnBelow: needed, failBelow: needed });
}

/** Checks the clock. `pool`: the connections to a database on another machine. */
function clock(pool: Pool | undefined, { ms, now }: Surroundings): Promise<Finding[]> {
  return endInTime('clock', ms, async () => {
    const isSynchronized = await isClockSynchronized();
    if (!pool) return checkClock({ aheadMs: undefined, isSynchronized });
    await databaseTime(pool); // connects, so that the next statement takes only one round trip
    const before = now();
    const theirs = await databaseTime(pool);
    return checkClock({ aheadMs: (before + now()) / 2 - theirs, isSynchronized });
  });
}

async function hostKeyStates(pool: Pool, opener: KeyFacts['opener']): Promise<HostKeyState[]> {
  return Promise.all(
    (await selectHostKeys(pool)).map(async (row) => ({
      kind: row.kind,
      state: await hostKeyState(row, opener),
    })),
  );
}

async function hostKeyState(row: HostKeyRow, opener: KeyFacts['opener']): Promise<HostKeyState['state']> {
  const opened = opener && (await openHostKey(opener, row).catch(() => undefined));
  if (!opened) return 'sealed';
  return readHostKey(row.kind, opened.privateKey) ? 'ready' : 'damaged';
}

async function jobs(pool: Pool, config: Config, now: number): Promise<Finding[]> {
  const facts = await selectJobFacts(pool);
  const work = await waitingWork(pool, channelsOf(config), now);
  const lateWeeks = await overdueWeeks(pool, now);
  return checkJobs({ jobs: facts, work, lateWeeks });
}
