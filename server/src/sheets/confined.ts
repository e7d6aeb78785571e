// Runs work on untrusted files in a child process. The process has no environment, network or shell, can't write files, and
// reads only its own program. It is killed when it exceeds its memory, time or output, or soon after this process ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeFolder, moduleAt, projectFolder } from '../base/places.ts';
import { inSpan } from '../base/tracing/spans.ts';

export type Limits = {
  /** Total memory in bytes. Only enforced on Linux; elsewhere only the heap is limited. */
  memory: number;
  /** JavaScript heap in bytes. */
  heap: number;
  milliseconds: number;
  /** Output in bytes. */
  output: number;
};

export type Ended =
  | { output: Buffer }
  /** The limit that the process exceeded, or `crash`, or `stopped` if someone else killed it. */
  | { end: 'memory' | 'time' | 'output' | 'crash' | 'stopped' };

/** How often memory is checked, in milliseconds. Between two checks the process can allocate about 20 MB. */
const memoryCheckInterval = 20;

/** Signals by which a process ends itself: V8 out of memory, and errors in native code. */
const ends: Partial<Record<NodeJS.Signals, 'memory' | 'crash'>> = {
  SIGABRT: 'memory',
  SIGTRAP: 'memory',
  SIGILL: 'memory',
  SIGSEGV: 'crash',
  SIGBUS: 'crash',
  SIGFPE: 'crash',
};

/** The maximum length of the error output to keep, in characters. */
const maxErrorOutput = 4_000;

/** Returns a path, and what it links to. */
const withTarget = (path: string) => [path, realpathSync(path)];

/**
 * The paths that the process may read besides its own code, if they exist: an installed package has fewer than a checkout. Leaves out the rest
 * of the checkout, which may contain DATA_DIR.
 */
const readable = ['package.json', 'server/package.json', 'contract', 'node_modules']
  .map((path) => join(projectFolder, path))
  .filter((path) => existsSync(path))
  .flatMap(withTarget);

/**
 * Runs a module as a process that gets `input` on stdin. Throws if the process can't be started, or if it exits with a status
 * other than 0: the module must handle every error that its input can cause.
 */
export const runConfined = (module: URL, args: string[], input: Buffer, limits: Limits): Promise<Ended> =>
  inSpan({ name: 'child process', kind: 'internal' }, () => run(module, args, input, limits));

async function run(module: URL, args: string[], input: Buffer, limits: Limits): Promise<Ended> {
  const own = [codeFolder(), new URL('.', module)].flatMap((folder) => withTarget(fileURLToPath(folder)));
  const flags = [
    `--max-old-space-size=${Math.floor(limits.heap / 2 ** 20)}`,
    '--max-semi-space-size=4', // Saves a third of the memory and costs a fifth more time.
    '--disallow-code-generation-from-strings',
    '--permission', // No writing, no child processes.
    ...[...readable, ...own].map((path) => `--allow-fs-read=${path}`),
    '--allow-worker', // For the watchdog of confined.start.ts.
    `--import=${moduleAt('sheets/confined.start').href}?milliseconds=${limits.milliseconds}`,
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
  }, memoryCheckInterval);
  const output: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (bytes: Buffer) => {
    size += bytes.length;
    if (size <= limits.output) output.push(bytes);
    else stop('output');
  });
  let errorOutput = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errorOutput = (errorOutput + text).slice(0, maxErrorOutput);
  });
  child.stdin.on('error', () => {}); // The process ended before it had read all of its input.
  child.stdin.end(input);
  try {
    const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
    if (end) return { end };
    if (code === 0) return { output: Buffer.concat(output) };
    if (signal) return { end: ends[signal] ?? 'stopped' };
    throw new Error(`${fileURLToPath(module)} exited with code ${code}: ${errorOutput}`);
  } finally {
    clearTimeout(timer);
    clearInterval(watch);
  }
}

/** Returns the peak memory of a process in bytes, or 0 if the system does not report it or the process has ended. */
function memoryOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
