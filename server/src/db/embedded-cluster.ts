// The cluster of a data directory: the files of the embedded PostgreSQL and the password of its user. It is created in a separate
// directory and moved into place when it is complete. A directory that contains a cluster is never deleted.
import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs/promises';
import { basename, join } from 'node:path';
import { absent } from '../base/files.ts';
import {
  type Binaries,
  commandLine,
  exec,
  failed,
  findBinaries,
  findRunAs,
  type RunAs,
  sendSignal,
} from './embedded-programs.ts';
import { createFor, openSharedFile } from './shared-directory.ts';

export type Options = {
  /** There is only one service for each data directory. The service restarts the database server if that dies. */
  role: 'service' | 'command';
  log: (message: string) => void;
  /** For tests: commits don't wait for the disk. */
  fast?: boolean;
  /**
   * For tests: the password of the superuser. If omitted, the superuser has no password, so that no one can sign in as the
   * superuser.
   */
  superuserPassword?: string;
};

/** A data directory with its cluster, and what is needed to run a server on it. */
export type Place = Options & {
  dataDir: string;
  cluster: string;
  binaries: Binaries;
  runAs: RunAs;
  password: string;
};

// The default, /dev/shm, has only 64 MB in a container, where two parallel joins at the same time fail.
export const SHARED_MEMORY = `dynamic_shared_memory_type=${process.platform === 'linux' ? 'sysv' : 'posix'}`;

/** Returns the place of a data directory. Creates the directory, the password and the cluster if needed. */
export async function prepareCluster(given: string, options: Options): Promise<Place> {
  await fs.mkdir(given, { recursive: true });
  const dataDir = await fs.realpath(given);
  const cluster = join(dataDir, 'postgres');
  const binaries = await findBinaries();
  const runAs = process.getuid?.() === 0 ? await findRunAs(dataDir, binaries) : { through: [] };
  if (runAs.through.length > 0) {
    options.log(
      `PostgreSQL runs as another user, who can access ${dataDir} and node_modules only with root's read permission.`,
    );
  }
  const place = { ...options, dataDir, cluster, binaries, runAs, password: await keptPassword(dataDir) };
  for (const draft of await fs.readdir(dataDir)) {
    const creator = /^postgres\.new-(\d+)-/.exec(draft)?.[1];
    if (!creator || sendSignal(Number(creator), 0)) continue;
    // An initdb process that has lost its parent may still write to the draft. The files that it leaves are removed at the next
    // start.
    await removeDraft(runAs, join(dataDir, draft)).catch(() => {});
  }
  if (!(await fs.stat(join(cluster, 'PG_VERSION')).catch(absent))) await createCluster(place);
  return place;
}

export function passwordFile({ dataDir }: { dataDir: string }): string {
  return join(dataDir, 'postgres.password');
}

function draftIn(dataDir: string): string {
  return join(dataDir, `postgres.new-${process.pid}-${randomBytes(6).toString('hex')}`);
}

async function readPassword(dataDir: string): Promise<string> {
  const file = await openSharedFile(dataDir, basename(passwordFile({ dataDir })), 'read');
  try {
    return (await file.readFile('utf8')).trim();
  } finally {
    await file.close();
  }
}

async function keptPassword(dataDir: string): Promise<string> {
  const kept = await readPassword(dataDir).catch(absent);
  if (kept) return kept;
  const draft = draftIn(dataDir);
  const file = await openSharedFile(dataDir, basename(draft), 'create');
  await file.writeFile(randomBytes(24).toString('base64url'));
  await file.sync();
  await file.close();
  await fs.link(draft, passwordFile({ dataDir })).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await fs.rm(draft);
  return readPassword(dataDir);
}

// Creates the cluster in a separate directory and moves it into place when it is complete. If this is interrupted, the cluster is
// created again at the next start. If two processes do this at the same time, the cluster of the first one is used.
async function createCluster(place: Place): Promise<void> {
  const inTheWay = await fs.readdir(place.cluster).catch(absent);
  if (inTheWay?.length) throw failed(`${place.cluster} is not a PostgreSQL cluster. Move it away.`);
  const draft = draftIn(place.dataDir);
  const [cluster, password] = [join(draft, 'cluster'), join(draft, 'password')];
  const run = async (program: string, programArgs: string[], input = ''): Promise<void> => {
    const { file, args, options } = commandLine(place.runAs, program, programArgs);
    const done = exec(file, args, options);
    done.child.stdin?.on('error', () => {}).end(input);
    await done.catch((error: { stderr?: string }) => {
      throw failed(`${program} failed: ${error.stderr || String(error)}`, error);
    });
  };
  await createFor(place.runAs.ids, draft, basename(password), place.password);
  const how = ['--username=soundings', `--pwfile=${password}`, '--auth=scram-sha-256', '--no-instructions'];
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  const speed = place.fast ? ['--no-sync'] : [];
  await run(place.binaries.initdb, ['-D', cluster, '-c', SHARED_MEMORY, ...how, ...locale, ...speed]);
  const single = ['--single', '-D', cluster, '-c', 'exit_on_error=on', 'postgres'];
  await run(place.binaries.postgres, single, 'create database soundings\n');
  await fs.rename(cluster, place.cluster).catch(async (error: NodeJS.ErrnoException) => {
    if (!(await fs.stat(join(place.cluster, 'PG_VERSION')).catch(absent))) throw error;
  });
  const directory = await fs.open(place.dataDir);
  await directory.sync();
  await directory.close();
  await removeDraft(place.runAs, draft);
}

/**
 * Removes a draft. A draft that belongs to another user is removed as that user, who could otherwise trick root into deleting other
 * files. Anything that remains is empty or in a directory that belongs to root.
 */
async function removeDraft(as: RunAs, draft: string): Promise<void> {
  if (!as.ids) return fs.rm(draft, { recursive: true, force: true, maxRetries: 5 });
  const { file, args, options } = commandLine(as, 'rm', ['-rf', '--', draft]);
  await exec(file, args, options).catch(() => {});
  await fs.unlink(draft).catch(() => fs.rmdir(draft).catch(absent));
}
