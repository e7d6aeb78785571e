// For tests of the embedded database: data directories, processes that open them, and their servers.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import * as fs from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import postgres from 'postgres';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { openEmbedded, type Embedded } from './embedded.ts';
import { until } from '../testing/until.ts';

export const exec = promisify(execFile);
export const root = process.getuid?.() === 0;
export const here = dirname(fileURLToPath(import.meta.url));
let home: string;
let seed: string; // a data directory that has been used and closed

/** Creates the directories of a test file, and removes them when the test file ends. */
export function useDirectories(): void {
  beforeAll(async () => {
    home = await fs.mkdtemp(join(tmpdir(), 'soundings-embedded-'));
    await fs.chmod(home, 0o755);
    seed = join(home, 'seed');
    const embedded = await openEmbedded(seed, { role: 'command', log: () => {}, fast: true });
    await query(embedded.url, 'create table kept (n int)');
    await embedded.stop();
  });
  afterAll(async () => {
    await fs.rm(home, { recursive: true, force: true });
  });
}

let dirs = 0;
export function emptyDir(): string {
  const dir = join(home, `${++dirs}`);
  onTestFinished(async () => {
    await endServer(dir);
    await fs.rm(dir, { recursive: true, force: true });
  });
  return dir;
}

/** Returns a data directory that has been used before. Tests share it, and each leaves it usable for the next. */
export function usedDir(): string {
  onTestFinished(() => endServer(seed));
  return seed;
}

export async function copiedDir(): Promise<string> {
  const dir = emptyDir();
  await exec('cp', ['-a', seed, dir]);
  return dir;
}

async function endServer(dir: string): Promise<void> {
  const server = await serverOf(dir);
  if (!server || !(await isPostgres(server))) return;
  process.kill(server, 'SIGQUIT');
  await until(async () => !(await isPostgres(server)));
}

export async function open(
  dir: string,
  role: 'service' | 'command',
  more: { fast?: boolean; superuserPassword?: string } = {},
): Promise<Embedded> {
  const embedded = await openEmbedded(dir, { role, log: () => {}, fast: true, ...more });
  onTestFinished(async () => embedded.stop());
  return embedded;
}

type OtherProcess = { child: ChildProcess; url: string };
/** Opens the database in a separate process. `through`: a program that starts it. */
export async function openElsewhere(
  dir: string,
  role: 'service' | 'command',
  from = here,
  through: string[] = [],
): Promise<OtherProcess> {
  const started = [...through, process.execPath, join(from, 'embedded.fixture.ts'), dir, role];
  const child = spawn(started[0]!, started.slice(1), {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode === null && child.signalCode === null) await kill(child);
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const [url] = await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => [''])]);
  if (String(url) === '') throw new Error(errors);
  return { child, url: String(url).trim() };
}

export async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

export async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end();
  await once(child, 'exit');
}

export function pool(url: string): postgres.Sql {
  // If the driver fetched types, a server that dies at that time would cause an unhandled rejection.
  const sql = postgres(url, { max: 3, connect_timeout: 5, fetch_types: false });
  onTestFinished(async () => sql.end({ timeout: 0 }));
  return sql;
}

export async function query(url: string, text: string): Promise<postgres.Row[]> {
  const sql = postgres(url, { max: 1, fetch_types: false });
  return sql.unsafe(text).finally(() => sql.end({ timeout: 1 }));
}

export async function serverOf(dir: string): Promise<number | undefined> {
  const text = await fs.readFile(join(dir, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  return Number(text.split('\n')[0]) || undefined;
}

export async function isPostgres(pid: number): Promise<boolean> {
  const command =
    process.platform === 'linux'
      ? fs.readFile(`/proc/${pid}/cmdline`, 'utf8')
      : exec('ps', ['-o', 'args=', '-p', String(pid)]).then(({ stdout }) => stdout);
  return /postgres\W-D/.test(await command.catch(() => ''));
}

export async function works(sql: postgres.Sql): Promise<boolean> {
  return sql`select 1`.then(
    () => true,
    () => false,
  );
}

export async function killServer(dir: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<number> {
  const pid = await serverOf(dir);
  if (pid === undefined) throw new Error('There is no server.');
  process.kill(pid, signal);
  return pid;
}
