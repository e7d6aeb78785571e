// For tests of the soundings command: a database that a running service has open, and functions that run the command in this
// process or in a separate one.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { addWeeks, dayIn, weekName, weekOf } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { pushTokenIn, readConfig, readSettings } from '../base/config.ts';
import { openLog } from '../base/log.ts';
import { inTransaction, openPool, type Pool } from '../db/db.ts';
import { type Embedded, openEmbedded } from '../db/embedded.ts';
import { createUser } from '../people/users.ts';
import { bareEnvironment } from '../testing/processes/environment.ts';
import { runCommand } from './run-command.ts';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const command = join(root, 'server/bin/soundings.js');
export let home: string;
export let dataDir: string;
export let embedded: Embedded;
export let pool: Pool;

/** Opens a database for a test file, and closes it when the test file ends. */
export function useDatabase(): void {
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'soundings-cli-'));
    dataDir = join(home, 'data');
    // A running service has the database open as well, so each command connects to the service's database server.
    await promisify(execFile)('cp', ['-a', inject('seed'), dataDir]);
    embedded = await openEmbedded(dataDir, { role: 'service', log: () => {}, fast: true });
    pool = openPool(embedded.url, 3);
  });
  afterAll(async () => {
    await pool?.end({ timeout: 5 });
    await embedded?.stop();
    await rm(home, { recursive: true, force: true });
  });
}

/** The Monday of a future week, which stays open during all tests. */
export const aheadMonday = addWeeks(weekOf(dayIn('UTC', Date.now())), 20);
export const ahead = weekName(aheadMonday);

type Result = { status: number | null; out: string; err: string };
type Options = { input?: string; env?: Record<string, string>; program?: string[] };

/** The command as a process. */
export const program = [process.execPath, command];

/** Runs a command with a program, or by default in this process, which takes a tenth of the time. */
export async function soundings(args: string[], options: Options = {}): Promise<Result> {
  const env = { DATA_DIR: dataDir, ...options.env };
  return options.program
    ? runProgram([...options.program, ...args], { ...bareEnvironment, ...env }, options.input)
    : runHere(args, env, options.input);
}

/** Runs a command in this process. */
export async function runHere(args: string[], env: Record<string, string>, input = ''): Promise<Result> {
  let [out, err] = ['', ''];
  const status = await runCommand(args, {
    config: () => readConfig(env),
    settings: () => readSettings(env),
    input: () => input,
    print: (text) => void (out += text),
    printError: (text) => void (err += text),
    isTerminal: false,
    push: { token: () => pushTokenIn(env), ask: undefined, progress: undefined },
    write: async (bytes) => void (out += bytes.toString('latin1')),
    serve: async (own, keys, now) => {
      const { startAnswering } = await import('../app.ts');
      return startAnswering({ pool: own, keys, now }, openLog('warn', 2));
    },
  });
  return { status, out, err };
}

async function runProgram(
  [file = '', ...args]: string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<Result> {
  const child = spawn(file, args, { env, cwd: home });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {}).end(input);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, out, err };
}

/** Runs a command with --json and returns the one document that it prints. It must print nothing else. */
export async function json<T>(args: string[], runOptions: Options = {}): Promise<T> {
  const { status, out, err } = await soundings([...args, '--json'], runOptions);
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toMatch(/^[^\n]+\n$/);
  return JSON.parse(out) as T;
}

/** Runs a command that fails and returns its message, which must be on standard error only. */
export async function refused(args: string[], status: 1 | 2 = 1, runOptions: Options = {}): Promise<string> {
  const ran = await soundings([...args, '--json'], runOptions);
  expect({ args, status: ran.status, out: ran.out }).toEqual({ args, status, out: '' });
  expect(ran.err).not.toBe('');
  expect(ran.err).not.toMatch(/^\s+at |node_modules|\.ts:\d/m); // No stack trace, which does not help the reader.
  return ran.err;
}

export type CreatedAccount = {
  account: { id: number; name: string; sftpUsername: string };
  admin: { id: number; email: string; password?: string };
};

/** Creates an account and returns its id as text. */
export async function newAccount(): Promise<string> {
  const email = 'admin@example.org';
  return inTransaction(pool, async (tx) => {
    const { id } = await createAccount(tx, { name: 'Acme' });
    await createUser(tx, id, { email, role: 'Administrator' });
    return String(id);
  });
}
