// The real service as a process of its own, with an embedded database of its own in a temporary directory. However
// the benchmark ends, save by SIGKILL, both processes and the directory go with it.
import { createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction, openPool, type Pool } from '@soundings/server/src/db/db.ts';
import { openEmbedded } from '@soundings/server/src/db/embedded.ts';
import { defineAttribute } from '@soundings/server/src/people/people.ts';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SteadyEnd } from './steady.ts';

export type Account = { id: number; token: string };
export type Answer = { status: number; body: Buffer };

export type Service = {
  address: string;
  /** The benchmark's own connections to the same database. */
  pool: Pool;
  postgres: string;
  account(attribute: { name: string; values: string[] }): Promise<Account>;
  /** Sends a body that is JSON already. */
  post(path: string, token: string, body: Buffer): Promise<Answer>;
  /** The milliseconds that another process takes to parse a body by JSON.parse and to read the account's rows. */
  floor(account: Account, body: Buffer): Promise<number>;
  /** Asks for the address `rate` times a second from another process, until the function that it returns is called. */
  askSteadily(path: string, token: string, rate: number): () => Promise<number[]>;
  memory: Memory;
  stop(): Promise<void>;
};

/** Bytes; undefined where the system does not tell (it is Linux that does). */
export type Memory = {
  /** Resident memory of the service now. */
  now(): number | undefined;
  /** From now on; call what it returns for the most that there was: of the service, and of all PostgreSQL processes. */
  watch(): () => { service: number; database: number } | undefined;
};

export async function startService(): Promise<Service> {
  const dataDir = await mkdtemp(join(tmpdir(), 'soundings-bench-'));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const environment = {
    PORT: String(port),
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMIT: '0',
    PATH: process.env['PATH'] ?? '',
  };
  const main = fileURLToPath(import.meta.resolve('@soundings/server/src/main.ts'));
  // In a process group of its own: Ctrl-C is for us, and we end it in order.
  const child = spawn(process.execPath, [main], {
    env: environment,
    stdio: ['ignore', 2, 2],
    detached: true,
  });
  const closing: (() => Promise<unknown>)[] = [
    async () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }),
    async () => endDatabase(dataDir),
    async () => endService(child),
  ];
  const stop = stopOnce(closing);
  try {
    await whenReady(address, child);
    const embedded = await openEmbedded(dataDir, { role: 'command', log: () => {} });
    closing.push(() => embedded.stop());
    const pool = openPool(embedded.url, 4);
    closing.push(() => pool.end({ timeout: 1 }));
    const agent = new Agent({ keepAlive: true });
    const floor = await startFloor(embedded.url, closing);
    const [version] = await pool<{ version: string }[]>`select current_setting('server_version') as version`;
    return {
      address,
      pool,
      postgres: version?.version ?? '',
      account: (attribute) => makeAccount(pool, attribute),
      post: (path, token, body) => post(agent, address + path, token, body),
      floor: async ({ id, token }, body) => {
        const answer = await post(agent, `${floor}/${id}`, token, body);
        return (JSON.parse(answer.body.toString()) as { ms: number }).ms;
      },
      askSteadily: (path, token, rate) => askSteadily(address + path, token, rate),
      memory: memoryOf(child.pid as number, join(dataDir, 'postgres', 'postmaster.pid')),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Does the last thing first, and each one whatever becomes of the others; also on a signal. */
function stopOnce(closing: (() => Promise<unknown>)[]): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  async function close(): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- one after another is the point
    for (let one = closing.pop(); one; one = closing.pop()) await one().catch(() => {});
  }
  const stop = () => (stopping ??= close());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void stop().then(() => process.exit(1)));
  }
  return stop;
}

async function endService(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
  await ended;
  clearTimeout(late);
}

/** A service that died has left its database running. */
async function endDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return;
  process.kill(firstNumber(file), 'SIGQUIT');
  // oxlint-disable-next-line no-await-in-loop -- waiting
  for (let tries = 0; existsSync(file) && tries < 100; tries++) await sleep(50);
}

const firstNumber = (file: string) => Number.parseInt(readFileSync(file, 'utf8'), 10);

async function whenReady(address: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    if (child.exitCode !== null) throw new Error('The service ended before it was ready');
    // oxlint-disable no-await-in-loop -- waiting
    const answer = await fetch(`${address}/health/ready`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.status === 200) return;
    await sleep(50);
    // oxlint-enable no-await-in-loop
  }
  throw new Error('The service is not ready after a minute');
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function makeAccount(
  pool: Pool,
  { name, values }: { name: string; values: string[] },
): Promise<Account> {
  const { id } = await inTransaction(pool, async (tx) => {
    const made = await createAccount(tx, { name: 'Bench' });
    await defineAttribute(tx, made.id, { name, allowedValues: values });
    return made;
  });
  const { token } = await createToken(pool, id, { name: 'bench', scopes: ['data', 'organization'] });
  return { id, token };
}

async function startFloor(databaseUrl: string, closing: (() => Promise<unknown>)[]): Promise<string> {
  const child = fork(new URL('floor.ts', import.meta.url), [databaseUrl]);
  closing.push(async () => child.kill());
  const [address] = (await once(child, 'message')) as [string];
  return address;
}

function post(agent: Agent, address: string, token: string, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: token,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sending = request(address, { method: 'POST', agent, headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.once('error', reject);
      answer.once('end', () => resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}

function askSteadily(address: string, token: string, rate: number): () => Promise<number[]> {
  const child = fork(new URL('steady.ts', import.meta.url), [address, token, String(rate)]);
  const ended = once(child, 'message') as Promise<[SteadyEnd]>;
  return async () => {
    child.send('end');
    const [{ times, failed }] = await ended;
    if (failed > 0) throw new Error(`${failed} of the steady requests failed`);
    return times;
  };
}

function memoryOf(pid: number, postmasterFile: string): Memory {
  const now = () => statusOf(pid, 'VmRSS');
  const database = () => {
    const postmaster = firstNumber(postmasterFile);
    const backends = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').split(' ');
    // Their own memory: the shared buffers would be counted for each.
    return backends.reduce((sum, backend) => sum + (statusOf(Number(backend), 'RssAnon') ?? 0), 0);
  };
  return {
    now,
    watch() {
      if (now() === undefined) return () => undefined;
      const isReset = resetPeak(pid);
      const peak = { service: 0, database: 0 };
      let ticks = 0;
      const look = () => {
        peak.service = Math.max(peak.service, now() ?? 0);
        if (ticks++ % 10 === 0) peak.database = Math.max(peak.database, database());
      };
      const timer = setInterval(look, isReset ? 100 : 10);
      return () => {
        clearInterval(timer);
        look();
        return isReset ? { ...peak, service: statusOf(pid, 'VmHWM') ?? 0 } : peak;
      };
    },
  };
}

/** Linux: 5 resets the peak (proc(5)); not everywhere may one. */
function resetPeak(pid: number): boolean {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
    return true;
  } catch {
    return false;
  }
}

/** A line of /proc/PID/status, in bytes. */
function statusOf(pid: number, name: string): number | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  } catch {
    return undefined;
  }
}
