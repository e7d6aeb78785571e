// The service as separate processes, for tests that stop or kill them.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { openPool, type Pool } from '../../db/db.ts';
import { bareEnvironment } from './environment.ts';
import { freePort } from './free-port.ts';
import { until } from '../until.ts';
import { builtProgram } from '../service-build.ts';

export const exec = promisify(execFile);
const main = builtProgram('main');
/** A directory for all files of a test file. */
export let home: string;

/** Creates the directory of a test file, and removes it at its end. */
export function useDirectory(): void {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'soundings-failures-'));
    await chmod(home, 0o755); // PostgreSQL may run as another user
  });
  afterAll(() => rm(home, { recursive: true, force: true }));
}

let directories = 0;
export async function newDataDir(): Promise<string> {
  const dataDir = join(home, `data${++directories}`);
  await exec('cp', ['-a', inject('seed'), dataDir]);
  onTestFinished(async () => {
    await endDatabase(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  return dataDir;
}

/** Returns the process id and port of the embedded PostgreSQL of a data directory, from postmaster.pid. */
export async function databaseOf(dataDir: string): Promise<{ pid: number; port: number } | undefined> {
  const text = await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid, , , port] = text.split('\n').map(Number);
  return pid && port ? { pid, port } : undefined;
}

export async function isPostgres(pid: number): Promise<boolean> {
  const { stdout } = await exec('ps', ['-o', 'args=', '-p', String(pid)]).catch(() => ({ stdout: '' }));
  return /postgres\W-D/.test(stdout);
}

/** Stops the database that a killed service left running. */
export async function endDatabase(dataDir: string): Promise<void> {
  const { pid } = (await databaseOf(dataDir)) ?? {};
  if (pid === undefined || !(await isPostgres(pid))) return;
  process.kill(pid, 'SIGQUIT');
  await until(async () => !(await isPostgres(pid)));
}

export type Service = {
  child: ChildProcess;
  dataDir: string;
  port: number;
  address: string;
  said: () => string;
  exited: Promise<number | NodeJS.Signals>;
};

/** Starts a service. `through`: a program, with arguments, that runs it. */
export async function start(
  dataDir: string,
  more: Record<string, string> = {},
  through: string[] = [],
): Promise<Service> {
  const port = Number(more['PORT'] ?? (await freePort()));
  const env = {
    ...bareEnvironment,
    DATA_DIR: dataDir,
    PORT: String(port),
    SFTP_PORT: '0',
    DRAIN_SECONDS: '0',
    LOG_LEVEL: 'warn',
    ...more,
  };
  const [program = '', ...words] = [...through, process.execPath, main];
  const child = spawn(program, words, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const exited = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await exited;
  });
  return { child, dataDir, port, address: `http://127.0.0.1:${port}`, said: () => text, exited };
}

export const isReady = ({ address }: Service) =>
  fetch(`${address}/health/ready`).then(
    ({ status }) => status === 200,
    () => false,
  );

export async function started(
  dataDir: string,
  more: Record<string, string> = {},
  through: string[] = [],
): Promise<Service> {
  const service = await start(dataDir, more, through);
  const ended = service.exited.then((how) =>
    Promise.reject(new Error(`It ended (${how}): ${service.said()}`)),
  );
  ended.catch(() => {});
  await Promise.race([until(() => isReady(service)), ended]);
  return service;
}

/** Opens separate connections to the database of a service. */
export const connectionsTo = async (service: Service): Promise<Pool> =>
  connections(await databaseUrlOf(service));

export async function databaseUrlOf({ dataDir }: Service): Promise<string> {
  const password = (await readFile(join(dataDir, 'postgres.password'), 'utf8')).trim();
  const { port } = (await databaseOf(dataDir))!;
  return `postgres://soundings:${password}@127.0.0.1:${port}/soundings`;
}

export function connections(url: string): Pool {
  const pool = openPool(url, 4);
  onTestFinished(() => pool.end({ timeout: 0 }));
  return pool;
}
