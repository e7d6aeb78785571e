// The server process of an embedded cluster: starting, finding and stopping it. PostgreSQL's own locks decide whether a cluster is
// free. Signals are only sent to processes of this cluster.
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { absent } from '../base/files.ts';
import { type Place, SHARED_MEMORY } from './embedded-cluster.ts';
import { childOptions, commandLine, exec, failed, sendSignal } from './embedded-programs.ts';
import { openSharedFile } from './shared-directory.ts';

export type DatabaseServer = { pid: number; port: number; state: string };

/** How long a server may take to start or stop, not counting its recovery, in ms. */
export const TIMEOUT = 30_000;
export const POLL = 20; // ms
const LOG_LIMIT = 10_000_000; // bytes
const LOG_END = 100_000; // bytes: the maximum that a server writes when it doesn't start

/**
 * Starts a server and waits until it is ready. Returns a text that says why the server can't start, if the reason may be temporary.
 */
export async function startServer(
  place: Place,
  signal: AbortSignal,
  stale?: DatabaseServer,
  wanted?: number,
): Promise<string | undefined> {
  // After a crash, the port is kept if possible, because a service that has lost its server looks for it at that port.
  const port = wanted ?? (await freePort(stale?.port));
  const logFile = join(place.dataDir, 'postgres.log');
  const log = await openSharedFile(place.dataDir, 'postgres.log', 'append');
  if ((await log.stat()).size > LOG_LIMIT) await log.truncate();
  const { size } = await log.stat();
  const programArgs = await settings(place, port);
  const { file, args, options } = commandLine(place.runAs, place.binaries.postgres, programArgs);
  const child = spawn(file, args, {
    ...options,
    // The process id in a stale postmaster.pid may belong to another process by now, so that PostgreSQL would refuse to start.
    // PostgreSQL ignores the ids of its own ancestors, and still checks whether the shared memory is in use.
    env: { ...childOptions.env, ...(stale && { PG_GRANDPARENT_PID: String(stale.pid) }) },
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
  // Reads from the given position, because the server writes with the same handle and moves its own position.
  const { buffer, bytesRead } = await log.read({ buffer: Buffer.alloc(LOG_END), position: size });
  const output = buffer.toString('utf8', 0, bytesRead).trim();
  await log.close();
  const last = `${end.signal.reason}. The end of ${logFile}:\n${output.split('\n').slice(-8).join('\n')}\n`;
  if (/shared memory block/.test(output)) await endLeftovers(place);
  // The server was stopped by someone, or it was one of several servers that were started at the same time.
  if (child.exitCode === 0 || child.signalCode === 'SIGKILL') return last;
  if (/shared memory block|address already in use|lock file ".*" (already|is)/i.test(output)) return last;
  throw failed(
    `The embedded PostgreSQL did not start. ${last}Fix this, or set DATABASE_URL to use your own PostgreSQL.`,
  );
}

async function settings(place: Place, port: number): Promise<string[]> {
  const values = {
    cluster_name: await clusterName(place, place.role), // shows who started the server, for isLastCommand
    port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: place.fast ? 300 : 100, // test files share one server, and start services that use up to 60 each
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
export async function stopServer(place: Place): Promise<void> {
  const server = await runningServer(place);
  if (!server) return;
  sendSignal(server.pid, 'SIGINT');
  for (const deadline = Date.now() + 2 * TIMEOUT; await isOfCluster(place, server.pid); await sleep(POLL)) {
    if (Date.now() > deadline)
      throw failed(`Process ${server.pid} (PostgreSQL) does not stop. End it manually.`);
  }
  place.log('The embedded PostgreSQL has stopped.');
}

// Ends the processes of a killed server that are too busy to notice that it was killed. They would prevent the next server from
// starting.
async function endLeftovers(place: Place): Promise<void> {
  if (process.platform !== 'linux') return;
  const titles = await Promise.all(['service', 'command'].map((role) => clusterName(place, role)));
  for (const pid of (await fs.readdir('/proc')).map(Number).filter((id) => id > 0)) {
    const title = await procFile(pid, 'cmdline');
    if (!titles.some((name) => title.startsWith(`postgres: ${name}:`))) continue;
    const parent = Number(/^PPid:\s*(\d+)/m.exec(await procFile(pid, 'status'))?.[1]);
    if (!(await isOfCluster(place, parent))) sendSignal(pid, 'SIGQUIT');
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

/** Returns the server of the cluster if its process is running. */
export async function runningServer(place: Place): Promise<DatabaseServer | undefined> {
  const server = await readPidFile(place);
  return server && (await isOfCluster(place, server.pid)) ? server : undefined;
}

/** Returns what postmaster.pid says. The lines of the file: process, directory, time, port, socket, address, shared memory, state. */
export async function readPidFile(place: Place): Promise<DatabaseServer | undefined> {
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

/**
 * Returns whether a process is the server of this cluster. If it exists but can't be seen, it counts as such: systemd hides the server that a command
 * has started from a service (ProtectProc=invisible, PrivateUsers). If we took it for another process, PostgreSQL would ignore it as well. A new server
 * would begin while the old one ends, which then deletes the postmaster.pid of the new one.
 */
export async function isOfCluster({ cluster }: Place, pid: number): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = await exec('ps', ['-o', 'command=', '-p', String(pid)], childOptions).catch(() => undefined);
    return ps !== undefined && /postgres -D /.test(ps.stdout) && ps.stdout.includes(`-D ${cluster} `);
  }
  const written = await procFile(pid, 'cmdline');
  if (written === '') return isHidden(pid);
  const [program = '', ...args] = written.split('\0');
  if (basename(program) !== 'postgres') return false;
  // The working directory of the server is the cluster, by whatever path. On some systems even root can't read the working
  // directory.
  const [there, here] = await Promise.all(
    [`/proc/${pid}/cwd`, cluster].map((path) => fs.stat(path, { bigint: true }).catch(() => undefined)),
  );
  return args.includes(cluster) || (there !== undefined && there.ino === here?.ino && there.dev === here.dev);
}

/** Returns whether a process of our user exists but is not in /proc. */
async function isHidden(pid: number): Promise<boolean> {
  if (await fs.stat(`/proc/${pid}`).catch(absent)) return false; // it has ended, or has just begun
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function procFile(pid: number, name: string): Promise<string> {
  return fs.readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '');
}
