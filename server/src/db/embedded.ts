// Runs a real PostgreSQL 18 in a data directory. Committed data survives a crash of this process and of the database server. The
// service and the commands of a data directory share one server. Each takes locks in it, so that the last one can stop it.
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { Fault } from '../base/errors.ts';
import { absent } from '../base/files.ts';
import { type Options, passwordFile, type Place, prepareCluster } from './embedded-cluster.ts';
import { failed, findBinaries, sendSignal } from './embedded-programs.ts';
import {
  isOfCluster,
  POLL,
  readPidFile,
  runningServer,
  stopServer,
  startServer,
  TIMEOUT,
} from './embedded-server.ts';
import { dropSuperuser } from './own-role.ts';

export type Embedded = {
  /** postgres://soundings:<password>@127.0.0.1:<port>/soundings. Valid until `stop`. */
  url: string;
  /**
   * Ends the use of the database. A service also stops the server, and so does the last command if a command started the server.
   * Can be called twice.
   */
  stop(): Promise<void>;
};

/** The connection that holds our locks. The server releases them however this process ends. */
type Session = { sql: postgres.Sql; port: number; lost: AbortSignal };

// Advisory locks in the database soundings: all processes that use the database share IN_USE, and the service owns SERVICE.
const LOCKS = 0x50554e44;
const IN_USE = 1;
const SERVICE = 2;

const WATCH = 2_000; // ms

/**
 * Opens the database of a data directory, which is created if needed. Uses a running server, or starts one. Throws a Fault
 * (conflict) for a second service, naming the process of the first.
 */
export async function openEmbedded(dataDir: string, options: Options): Promise<Embedded> {
  const closing = new AbortController();
  const [place, opened] = await prepareCluster(dataDir, options)
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
      if (options.role === 'service' || (await isLastCommand(sql))) await stopServer(place);
    } finally {
      await sql.end({ timeout: 1 });
    }
  }
  let closed: Promise<void> | undefined;
  return { url: urlOf(place, opened.port), stop: () => (closed ??= close()) };
}

/** Returns whether a data directory has a database. Throws a Fault if there are no programs for one on this platform. */
export async function hasEmbedded(dataDir: string): Promise<boolean> {
  await findBinaries();
  return (await stat(join(dataDir, 'postgres', 'PG_VERSION')).catch(absent)) !== undefined;
}

function urlOf(place: Place, port: number): string {
  return `postgres://soundings:${place.password}@127.0.0.1:${port}/soundings`;
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
        // A server in smart shutdown waits for our connections forever and accepts no new ones, so we stop the server.
        if (!ended.aborted && (await runningServer(place))?.state === 'stopping') await stopServer(place);
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

/**
 * Returns a session with the server, which is started if needed. `port`: the port that the server must use, if it must not change.
 */
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
      outcome = await startServer(place, signal, written, port);
      deadline += Date.now() - since;
      ours ||= outcome === undefined;
    } else if (server.state === 'starting') deadline = Date.now() + TIMEOUT;
    else if (server.state !== 'ready') outcome = `Its process ${server.pid} is ${server.state || 'busy'}.`;
    else if (port && server.port !== port) outcome = `Process ${server.pid} runs it on another port.`;
    else {
      outcome = await openSession(place, server.port).catch(async (fault: Fault) => {
        if (ours && fault.kind !== 'conflict') await stopServer(place);
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

/** Returns a session, or a text that says why there is none, if the reason may be temporary. */
async function openSession(place: Place, port: number): Promise<Session | string> {
  const lost = new AbortController();
  const sql = postgres(urlOf(place, port), {
    max: 1,
    idle_timeout: 0,
    max_lifetime: 0, // otherwise the driver would replace the connection within an hour and lose the locks
    connect_timeout: 5,
    fetch_types: false,
    onclose: () => lost.abort(),
    onnotice: () => {}, // otherwise the driver would print notices
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
    if (!holder || !sendSignal(holder.pid, 0)) return 'Another service is using it.';
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
    // The server is stopping, recovering or full, a lock is taken, or the connection was refused or closed.
    if (/^(57P0|53300|55P03|ECONN|EPIPE|CONN)/.test(code)) return `${String(error)}.`;
    throw failed(`The embedded PostgreSQL cannot be used. ${String(error)}`, error);
  }
}

/**
 * Returns whether a command started the server and no other process uses it. If so, no other process can start using it any more.
 */
async function isLastCommand(sql: postgres.Sql): Promise<boolean> {
  try {
    const [server] = await sql<{ name: string }[]>`select current_setting('cluster_name') as name`;
    if (!server?.name.startsWith('soundings command')) return false;
    // Releases its own lock first, so that if two commands end at the same time, one of them gets the exclusive lock.
    await sql`select pg_advisory_unlock_shared(${LOCKS}, ${IN_USE})`;
    const [row] = await sql<{ got: boolean }[]>`select pg_try_advisory_lock(${LOCKS}, ${IN_USE}) as got`;
    return row?.got === true;
  } catch {
    return false; // the server has already stopped
  }
}
