// Starts the real service as a separate process, with its own embedded database in a temporary directory. Both processes and the
// directory are removed however the benchmark ends, except by SIGKILL. A directory that was named by --keep stays.
import { createAccount } from '@soundings/server/src/accounts/accounts.ts';
import { createToken } from '@soundings/server/src/accounts/tokens.ts';
import { inTransaction, openPool, type Pool } from '@soundings/server/src/db/db.ts';
import { openEmbedded } from '@soundings/server/src/db/embedded.ts';
import { defineAttribute } from '@soundings/server/src/people/attributes.changes.ts';
import { createUser } from '@soundings/server/src/people/users.ts';
import { AnswerKeys } from '@soundings/server/src/sealing/answer-keys.ts';
import { bareEnvironment } from '@soundings/server/src/testing/processes/environment.ts';
import { freePort } from '@soundings/server/src/testing/processes/free-port.ts';
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { timed } from './measure.ts';
import { firstNumber, type Memory, memoryOf } from './memory.ts';
import { processorTimes, type ProcessorTime } from './processor.ts';
import type { Counted } from '../processes/steady.ts';

export type BenchAccount = { id: number; token: string };
export type ReceivedResponse = { status: number; body: Buffer };

export type Service = {
  address: string;
  pid: number;
  /** A directory that is removed with the service, unless it is `kept`. */
  dataDir: string;
  /** Whether the directory stays, so that the next run of the benchmark can use its data. */
  kept: boolean;
  databaseUrl: string;
  /** The benchmark's own connections to the same database. */
  pool: Pool;
  /** The keys of open weeks, as the service has them. */
  keys: AnswerKeys;
  postgres: string;
  account(attribute: { name: string; values: string[] }): Promise<BenchAccount>;
  /** Sends a JSON body. */
  post(path: string, token: string, body: Buffer): Promise<ReceivedResponse>;
  /** Returns how many milliseconds another process needs to parse a body with JSON.parse and to read the account's rows. */
  floor(account: BenchAccount, body: Buffer): Promise<number>;
  /**
   * Sends `rate` requests a second to an address (of any server) from another process. Resolves after `warmUp` ms, when that
   * process begins to count.
   */
  requestSteadily(path: string, token: string, rate: number, warmUp: number): Promise<SteadyRequests>;
  /** Starts another, fresh process of the service on the same database, with other settings. */
  another(settings?: Record<string, string>): Promise<ServiceProcess>;
  /** Runs the soundings command while the service runs. */
  command(...args: string[]): Promise<Exited>;
  /** The same with other settings. */
  commandWith(settings: Record<string, string>, ...args: string[]): Promise<Exited>;
  /** Starts a file of the benchmark as a process that ends with the service. */
  beside(file: string, ...args: string[]): Promise<Beside>;
  memory: Memory;
  /** The processor time used since the start. Undefined where the system does not report it. */
  processor(): ProcessorTime | undefined;
  stop(): Promise<void>;
};

/** Steady requests. Both functions return the milliseconds that each response took, and throw if a request failed. */
export type SteadyRequests = {
  /** Returns the times since the last cut or the start, once there are `atLeast` (default 0). The requests continue. */
  cut(atLeast?: number): Promise<number[]>;
  /** Ends the requests and returns the remaining times, at least one. */
  end(): Promise<number[]>;
};

export type ServiceProcess = Pick<Service, 'address' | 'pid' | 'requestSteadily' | 'memory' | 'stop'> & {
  /** The first lines of its log that are errors. */
  errors(): string[];
};

/** A process of the benchmark. `first`: its first message. `request`: sends it a message and returns its reply. `end`: ends it early. */
export type Beside = {
  first: unknown;
  request(message: object | number | string): Promise<unknown>;
  end(): void;
};

/** The result of a successful command. `memory`: the peak memory of the command (`own`) and of all PostgreSQL processes. */
export type Exited = { ms: number; memory: { own: number; database: number } | undefined; result: unknown };

/**
 * `keptDir`: a directory that stays, with its database. Undefined: a temporary one. `prepare`: runs with the directory before the service
 * starts.
 */
export async function startService(
  keptDir?: string,
  prepare?: (dataDir: string) => Promise<void>,
): Promise<Service> {
  const dataDir = keptDir ?? (await mkdtemp(join(tmpdir(), 'soundings-bench-')));
  const kept = keptDir !== undefined;
  await prepare?.(dataDir);
  const environment = {
    DATA_DIR: dataDir,
    LOG_LEVEL: 'warn',
    RATE_LIMIT: '0',
    SFTP_PORT: '0',
    DRAIN_SECONDS: '0',
    ...bareEnvironment,
  };
  const { address, child } = await startProcess(environment);
  const closing: (() => Promise<unknown>)[] = [
    async () => kept || rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 }),
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
    const beside = (file: string, ...args: string[]) => startBeside(closing, file, args);
    const { first: floor } = await beside('floor.ts', embedded.url);
    const postmaster = join(dataDir, 'postgres', 'postmaster.pid');
    const [version] = await pool<{ version: string }[]>`select current_setting('server_version') as version`;
    return {
      address,
      pid: child.pid as number,
      dataDir,
      kept,
      databaseUrl: embedded.url,
      pool,
      keys: new AnswerKeys(pool, { place: 'file', directory: join(dataDir, 'keys') }),
      postgres: version?.version ?? '',
      account: (attribute) => makeAccount(pool, attribute),
      post: (path, token, body) => post(agent, address + path, token, body),
      floor: async ({ id, token }, body) => {
        const response = await post(agent, `${floor}/${id}`, token, body);
        return (JSON.parse(response.body.toString()) as { ms: number }).ms;
      },
      requestSteadily: (path, ...how) => requestSteadily(beside, new URL(path, address).href, ...how),
      another: (settings) =>
        startAnother(
          { ...environment, ...settings, DATABASE_URL: embedded.url },
          postmaster,
          closing,
          beside,
        ),
      command: (...args) => runCommand(environment, postmaster, args),
      commandWith: (settings, ...args) => runCommand({ ...environment, ...settings }, postmaster, args),
      beside,
      memory: memoryOf(child.pid as number, postmaster),
      processor: () => processorTimes(child.pid as number, firstNumber(postmaster)),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startProcess(
  environment: NodeJS.ProcessEnv,
): Promise<{ address: string; child: ChildProcess; errors: () => string[] }> {
  const port = await freePort();
  const main = fileURLToPath(import.meta.resolve('@soundings/server/dist/main.js'));
  // In its own process group, so that Ctrl-C reaches only the benchmark, which stops the service properly.
  const child = spawn(process.execPath, ['--max-semi-space-size=8', main], {
    // as npm start does
    env: { ...environment, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const errors: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface(stream).on('line', (line) => {
      process.stderr.write(`${line}\n`);
      if (/"level":[56]0/.test(line) && errors.length < 100) errors.push(line);
    });
  }
  return { address: `http://127.0.0.1:${port}`, child, errors: () => errors };
}

async function startAnother(
  environment: NodeJS.ProcessEnv,
  postmaster: string,
  closing: (() => Promise<unknown>)[],
  beside: Service['beside'],
): Promise<ServiceProcess> {
  const { address, child, errors } = await startProcess(environment);
  const stop = () => endService(child);
  closing.push(stop);
  await whenReady(address, child);
  return {
    address,
    pid: child.pid as number,
    errors,
    requestSteadily: (path, ...how) => requestSteadily(beside, new URL(path, address).href, ...how),
    memory: memoryOf(child.pid as number, postmaster),
    stop,
  };
}

/** Runs all closing steps in reverse order, even if some fail. Also runs on a signal. */
function stopOnce(closing: (() => Promise<unknown>)[]): () => Promise<void> {
  let stopping: Promise<void> | undefined;
  async function close(): Promise<void> {
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

/** Stops the database that a killed service left running. */
async function endDatabase(dataDir: string): Promise<void> {
  const file = join(dataDir, 'postgres', 'postmaster.pid');
  if (!existsSync(file)) return;
  process.kill(firstNumber(file), 'SIGQUIT');
  for (let tries = 0; existsSync(file) && tries < 100; tries++) await sleep(50);
}

async function whenReady(address: string, child: ChildProcess): Promise<void> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline;) {
    if (child.exitCode !== null) throw new Error('The service ended before it was ready');
    const response = await fetch(`${address}/health/ready`).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.status === 200) return;
    await sleep(50);
  }
  throw new Error('The service was not ready within a minute');
}

async function makeAccount(
  pool: Pool,
  { name, values }: { name: string; values: string[] },
): Promise<BenchAccount> {
  const { id } = await inTransaction(pool, async (tx) => {
    const account = await createAccount(tx, { name: 'Bench' });
    const first = {
      firstName: 'First',
      lastName: 'Administrator',
      email: `first-${account.id}@bench.example`,
    };
    await createUser(tx, account.id, { ...first, role: 'Administrator' });
    await defineAttribute(tx, account.id, { name, allowedValues: values });
    return account;
  });
  const { token } = await createToken(pool, id, { name: 'bench', scopes: ['data', 'organization'] });
  return { id, token };
}

async function startBeside(
  closing: (() => Promise<unknown>)[],
  file: string,
  args: string[],
): Promise<Beside> {
  const child = fork(new URL(`../processes/${file}`, import.meta.url), args);
  closing.push(async () => child.kill());
  const gone = once(child, 'exit').then(() => {
    throw new Error(`${file} ended unexpectedly`);
  });
  gone.catch(() => {});
  const next = async () => (await Promise.race([once(child, 'message'), gone]))[0] as unknown;
  const first = await next();
  return {
    first,
    request(message) {
      child.send(message);
      return next();
    },
    end: () => void child.kill(),
  };
}

async function runCommand(env: NodeJS.ProcessEnv, postmaster: string, args: string[]): Promise<Exited> {
  const cli = fileURLToPath(import.meta.resolve('@soundings/server/bin/soundings.js'));
  const child = spawn(process.execPath, [cli, ...args, '--json'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const endWatch = memoryOf(child.pid as number, postmaster).watch();
  const [ms, output] = await timed(async () => {
    const ended = once(child, 'exit');
    const printed = await child.stdout.setEncoding('utf8').toArray();
    await ended;
    return printed.join('');
  });
  const memory = endWatch();
  if (child.exitCode !== 0) throw new Error(`soundings ${args.join(' ')} failed`);
  return { ms, memory, result: JSON.parse(output) as unknown };
}

function post(agent: Agent, address: string, token: string, body: Buffer): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: token,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const sending = request(address, { method: 'POST', agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks) }));
    });
    sending.once('error', reject);
    sending.end(body);
  });
}

async function requestSteadily(
  beside: Service['beside'],
  address: string,
  token: string,
  rate: number,
  warmUp: number,
): Promise<SteadyRequests> {
  const { request: send } = await beside('steady.ts', address, token, String(rate), String(warmUp));
  async function timesUntil(message: number | 'end'): Promise<number[]> {
    const { times, failed } = (await send(message)) as Counted;
    if (failed > 0) throw new Error(`${failed} of the steady requests failed`);
    return times;
  }
  return { cut: (atLeast = 0) => timesUntil(atLeast), end: () => timesUntil('end') };
}
