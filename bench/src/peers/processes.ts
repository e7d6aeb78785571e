// Servers that Soundings is compared with: each is a process with its own database in the service's PostgreSQL.
import { openPool } from '@soundings/server/src/db/db.ts';
import { openEmbedded } from '@soundings/server/src/db/embedded.ts';
import { asSuperuser, databaseAt, superuserPassword } from '@soundings/server/src/testing/postgres.ts';
import { freePort } from '@soundings/server/src/testing/processes/free-port.ts';
import { bareEnvironment } from '@soundings/server/src/testing/processes/environment.ts';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Memory, memoryOf } from '../measuring/memory.ts';
import { processorTimeOf } from '../measuring/processor.ts';
import { type Service, startService } from '../measuring/service.ts';

export type PeerServer = { address: string; pid: number; memory: Memory; stop(): Promise<void> };

/** `args` get the port. `ready`: the path that responds with 200 once the server is ready. */
export type PeerStart = {
  executable: string;
  args: (port: number) => string[];
  environment: (port: number) => Record<string, string>;
  directory: string;
  ready: string;
};

/** Starts the service with a database role that may create databases, which it may not in an installation. */
export const startWithDatabases = (): Promise<Service> =>
  startService(undefined, async (dataDir) => {
    const embedded = await openEmbedded(dataDir, { role: 'command', log: () => {}, superuserPassword });
    const admin = openPool(asSuperuser(embedded.url), 1);
    await admin`alter role soundings createdb`;
    await admin.end();
    await embedded.stop();
  });

/** Creates an empty database and returns its address. */
export async function createDatabase({ pool, databaseUrl }: Service, name: string): Promise<string> {
  await pool.unsafe(`create database ${name}`);
  return databaseAt(databaseUrl, name);
}

export async function startPeer(service: Service, start: PeerStart): Promise<PeerServer> {
  const port = await freePort();
  const child = spawn(start.executable, start.args(port), {
    cwd: start.directory,
    env: { ...bareEnvironment, NODE_ENV: 'production', ...start.environment(port) },
    stdio: ['ignore', 2, 2],
  });
  const stop = () => endPeer(child);
  try {
    const address = `http://127.0.0.1:${port}`;
    await untilReady(address + start.ready, child);
    const postmaster = join(service.dataDir, 'postgres', 'postmaster.pid');
    const pid = child.pid as number;
    return { address, pid, memory: memoryOf(pid, postmaster), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(url: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 120_000; Date.now() < deadline;) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended before it was ready`);
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await sleep(50);
  }
  throw new Error(`${url} was not ready within two minutes`);
}

async function endPeer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await ended;
  clearTimeout(late);
}

/** What a server used from `watchUse` until `end`: milliseconds of processor time of its process, and bytes of memory at its peak. */
export type Use = { processor: number | undefined; memory: number | undefined };

export function watchUse({ pid, memory }: Pick<PeerServer, 'pid' | 'memory'>): () => Use {
  const before = processorTimeOf(pid);
  const end = memory.watch();
  return () => {
    const after = processorTimeOf(pid);
    const processor = before === undefined || after === undefined ? undefined : after - before;
    return { processor, memory: end()?.own };
  };
}
