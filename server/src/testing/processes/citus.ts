// A PostgreSQL with the extension Citus for a test: one server, which is the coordinator and has all shards.
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { promisify } from 'node:util';
import { onTestFinished, type TestContext } from 'vitest';
import { openPool } from '../../db/db.ts';
import { databaseAt } from '../postgres.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);

/** Where Debian and the packages of Citus install PostgreSQL. */
const installed = '/usr/lib/postgresql';

/** Skips the test if no PostgreSQL has the extension. Otherwise returns the directory of its programs. */
function programsWithCitus({ skip }: TestContext): string {
  const versions = existsSync(installed) ? readdirSync(installed) : [];
  const version = versions.find((one) => existsSync(join(installed, one, 'lib/citus.so')));
  if (version === undefined)
    skip('SKIPPED: needs Citus (packages.citusdata.com: postgresql-17-citus-13.0, or built from its source)');
  return join(installed, String(version), 'bin');
}

/**
 * Starts a server until the test ends, and returns the address of an empty database that has the extension, for its owner, who is no
 * superuser.
 */
export async function openCitus(context: TestContext): Promise<string> {
  const programs = programsWithCitus(context);
  const directory = await mkdtemp(join(tmpdir(), 'soundings-citus-'));
  await chmod(directory, 0o755);
  const user = await userOfServer();
  await chown(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  // Citus connects to its own server, and the driver looks for certificates in the home directory.
  const control = (...args: string[]) =>
    run(join(programs, 'pg_ctl'), ['-D', data, '-w', ...args], {
      ...user,
      cwd: '/',
      env: { HOME: directory },
    });
  onTestFinished(async () => {
    await control('-m', 'immediate', 'stop').catch(() => {});
    await rm(directory, { recursive: true, force: true });
  });
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N'];
  await run(join(programs, 'initdb'), ['-D', data, ...options], {
    ...user,
    cwd: '/',
    env: { HOME: directory },
  });
  const port = await freePort();
  await appendFile(join(data, 'postgresql.conf'), settingsOf(port));
  await control('-l', join(directory, 'log'), 'start');
  const admin = openPool(`postgres://postgres@127.0.0.1:${port}/postgres`, 1);
  await admin.unsafe('create role soundings login');
  await admin.unsafe('create database soundings owner soundings');
  await admin.end();
  const owner = openPool(databaseAt(`postgres://postgres@127.0.0.1:${port}/`, 'soundings'), 1);
  await owner.unsafe('create extension citus');
  await owner.end();
  return `postgres://soundings@127.0.0.1:${port}/soundings`;
}

/** Four shards instead of 32, because each is a table, and creating them takes the longest. */
const settingsOf = (port: number) => `
shared_preload_libraries = 'citus'
citus.shard_count = 4
port = ${port}
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_locks_per_transaction = 1024
max_prepared_transactions = 200
max_connections = 200
fsync = off
full_page_writes = off
jit = off
`;

/** PostgreSQL does not run as root. */
async function userOfServer(): Promise<{ uid: number; gid: number }> {
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  if (uid !== 0) return { uid, gid };
  const idOf = async (kind: '-u' | '-g') => Number((await run('id', [kind, 'postgres'])).stdout);
  return { uid: await idOf('-u'), gid: await idOf('-g') };
}
