// The program of an earlier commit, taken from the history of this repository. It runs from its sources, with the packages that are
// installed here.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { projectFolder } from '../../base/places.ts';
import { bareEnvironment } from '../processes/environment.ts';
import { until } from '../until.ts';

/** A folder with the sources of a version. `environment`: the settings of its service and its commands. */
export type Program = { folder: string; environment: Record<string, string> };
export type RunningProgram = { address: string; said(): string; stop(): Promise<void> };

const modules = join(projectFolder, 'node_modules');

/** Returns whether the history here contains this commit. A shallow clone, for example, has only the last one. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: projectFolder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Writes the sources of a commit into a folder, and links the packages that are installed here. */
export async function checkOut(commit: string, folder: string): Promise<void> {
  await mkdir(join(folder, 'node_modules', '@soundings'), { recursive: true });
  const archive = `git archive ${commit} contract server console/src package.json | tar -x -C '${folder}'`;
  await promisify(execFile)('bash', ['-o', 'pipefail', '-c', archive], { cwd: projectFolder });
  const others = (await readdir(modules)).filter((name) => name !== '@soundings' && !name.startsWith('.'));
  for (const name of others) await symlink(join(modules, name), join(folder, 'node_modules', name));
  await symlink(join(folder, 'contract'), join(folder, 'node_modules', '@soundings', 'contract'));
}

/** Runs a command and returns the document that it prints. */
export async function run<T>({ folder, environment }: Program, args: string[], input = ''): Promise<T> {
  const commands = ['server/src/command.ts', 'server/src/cli/cli.ts'].map((path) => join(folder, path));
  const command = commands.find((path) => existsSync(path)) as string;
  const child = spawn(process.execPath, [command, ...args, '--json'], {
    cwd: folder,
    env: { ...bareEnvironment, ...environment },
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => {}).end(input);
  const [status] = (await once(child, 'close')) as [number | null];
  if (status !== 0) throw new Error(`"${args.join(' ')}" ended with ${status}: ${err}`);
  return JSON.parse(out) as T;
}

/** Starts the service and waits until it is ready. */
export async function startProgram({ folder, environment }: Program): Promise<RunningProgram> {
  const child = spawn(process.execPath, [join(folder, 'server/src/main.ts')], {
    cwd: folder,
    env: { ...bareEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk));
  const address = `http://127.0.0.1:${environment['PORT']}`;
  await until(async () => {
    if (hasEnded(child)) throw new Error(`The program ended (${child.exitCode}): ${text}`);
    const response = await fetch(`${address}/health/ready`).catch(() => undefined);
    return response?.status === 200;
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw error;
  });
  return {
    address,
    said: () => text,
    async stop() {
      if (hasEnded(child)) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;
