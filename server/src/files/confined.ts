// Work on what others sent, in a child process: without our environment, a network, files to write or to read beside its own
// program, or a shell, and with no more memory, time and output than it is given. It is killed where it takes more, and does not outlive us for long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Limits = {
  /** Bytes in memory, in all. Watched on Linux; elsewhere there is only the limit of the heap. */
  memory: number;
  /** Bytes in memory that are JavaScript's own. */
  heap: number;
  milliseconds: number;
  /** Bytes of its answer. */
  output: number;
};

export type Ended =
  | { output: Buffer }
  /** What it took too much of; that it crashed; that somebody else has ended it. */
  | { end: 'memory' | 'time' | 'output' | 'crash' | 'stopped' };

/** So often its memory is looked at, in milliseconds: meanwhile it can take some 20 MB more. */
const watchEvery = 20;

/** By what a process ends itself: V8 when it has no memory left, and what went wrong in native code. */
const ends: Partial<Record<NodeJS.Signals, 'memory' | 'crash'>> = {
  SIGABRT: 'memory',
  SIGTRAP: 'memory',
  SIGILL: 'memory',
  SIGSEGV: 'crash',
  SIGBUS: 'crash',
  SIGFPE: 'crash',
};

/** So much of what it says of a defect is kept, in characters. */
const maxComplaint = 4_000;

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The program: what it imports, and what says how. Not the checkout as a whole, in which DATA_DIR may be. */
const readable = ['package.json', 'server/package.json', 'server/src', 'contract', 'node_modules']
  .map((path) => join(root, path))
  .flatMap((path) => [path, realpathSync(path)]);

/**
 * Runs a module as a process that gets `input` as its stdin. Throws where none can be started, and with what it says where
 * it exits with a status that is not 0: it is to catch what its input can cause.
 */
export async function runConfined(
  module: URL,
  args: string[],
  input: Buffer,
  limits: Limits,
): Promise<Ended> {
  const flags = [
    `--max-old-space-size=${Math.floor(limits.heap / 2 ** 20)}`,
    '--max-semi-space-size=4', // a third less memory, for a fifth more time
    '--disallow-code-generation-from-strings',
    '--permission', // neither writes nor starts anything
    ...readable.map((path) => `--allow-fs-read=${path}`),
    '--allow-worker', // for the one which ends it when we are gone
    `--import=${new URL(`confined.start.ts?milliseconds=${limits.milliseconds}`, import.meta.url).href}`,
  ];
  const child = spawn(process.execPath, [...flags, fileURLToPath(module), ...args], {
    cwd: '/',
    env: { TZ: 'UTC' },
    stdio: 'pipe',
  });
  await once(child, 'spawn');
  let end: 'memory' | 'time' | 'output' | undefined;
  const stop = (why: typeof end) => {
    end ??= why;
    child.kill('SIGKILL');
  };
  const timer = setTimeout(() => stop('time'), limits.milliseconds);
  const watch = setInterval(() => {
    if (memoryOf(child.pid) > limits.memory) stop('memory');
  }, watchEvery);
  const output: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size <= limits.output) output.push(bytes);
    else stop('output');
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(0, maxComplaint);
  });
  child.stdin.on('error', () => {}); // it ended before it had read all
  child.stdin.end(input);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (end) return { end };
    if (code === 0) return { output: Buffer.concat(output) };
    if (signal) return { end: ends[signal] ?? 'stopped' };
    throw new Error(`${fileURLToPath(module)} has ended with ${code}: ${complaint}`);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}

/** What it has had at most, in bytes; 0 where the system does not say, or the process has ended. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
