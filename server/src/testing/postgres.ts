// The PostgreSQL of a test run: the one of TEST_DATABASE_URL where it is set, else an embedded one of its own.
// A template database is migrated once; each test file clones it. Likewise a data directory, for tests that start services.
import { runMigrations } from 'graphile-worker';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import type { TestProject } from 'vitest/node';
import { openPool } from '../db/db.ts';
import { type Embedded, openEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
    /** A data directory with a migrated database, and no process on it. */
    seed: string;
  }
}

export const templateName = 'soundings_template';
/** With the demo company: made by the first test file that wants it. */
export const demoTemplateName = 'soundings_demo';

/** Where the projects of a run, each of which loads this file for itself, find the server that the first of them started. */
const ofThisRun = globalThis as { soundingsTestServer?: Promise<TestServer> };

// oxlint-disable-next-line import/no-default-export -- the test runner demands it
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await (ofThisRun.soundingsTestServer ??= startServer());
  project.provide('databaseUrl', server.url);
  project.provide('seed', server.seed);
  return server.stop;
}

type TestServer = { url: string; seed: string; stop: () => Promise<void> };

async function startServer(): Promise<TestServer> {
  const directory = await mkdtemp(join(tmpdir(), 'soundings-test-'));
  await chmod(directory, 0o755); // PostgreSQL may run as another user
  const [seed, own] = [join(directory, 'seed'), join(directory, 'own')];
  await makeSeed(seed);
  const given = process.env['TEST_DATABASE_URL'];
  let embedded: Embedded | undefined;
  if (given === undefined) {
    await promisify(execFile)('cp', ['-a', seed, own]);
    embedded = await openEmbedded(own, { role: 'service', log: () => {}, fast: true, superuserPassword });
    await letCreateDatabases(embedded.url);
  }
  const url = given ?? (embedded?.url as string);
  const admin = openPool(url, 1);
  for (const name of [templateName, demoTemplateName]) {
    // oxlint-disable-next-line no-await-in-loop -- two
    await admin.unsafe(`drop database if exists ${name}`);
  }
  await admin.unsafe(`create database ${templateName}`);
  await prepare(databaseAt(url, templateName));
  await admin.end();
  const stop = async () => {
    await embedded?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url, seed, stop };
}

async function makeSeed(dataDir: string): Promise<void> {
  const options = { role: 'command', log: () => {}, fast: true, superuserPassword } as const;
  const embedded = await openEmbedded(dataDir, options);
  await prepare(embedded.url);
  await embedded.stop();
}

/** Makes our tables, and those of graphile-worker, as the first start of a service does. */
async function prepare(url: string): Promise<void> {
  const pool = openPool(url, 1);
  await migrate(pool);
  await pool.end();
  // With connections of our own, which are closed when it returns: one that is left would fail when the server stops.
  const pgPool = new Pool({ connectionString: url, max: 1 });
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  await runMigrations({ pgPool });
  await pgPool.end();
}

export const [superuser, superuserPassword] = ['soundings_superuser', 'superuser'];

/** The address at which tests sign in as the superuser of an embedded PostgreSQL that was opened with `superuserPassword`. */
export const asSuperuser = (url: string): string =>
  url.replace(/\/\/.*@/, `//${superuser}:${superuserPassword}@`);

/** Each test file has a database of its own; otherwise the role is what it is in any installation. */
async function letCreateDatabases(url: string): Promise<void> {
  const admin = openPool(asSuperuser(url), 1);
  await admin`alter role soundings createdb`;
  await admin`grant pg_signal_backend to soundings`; // to drop a database while PostgreSQL tidies it
  await admin.end();
}

/** The address of another database of the same server. */
export function databaseAt(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
