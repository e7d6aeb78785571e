// The PostgreSQL of a test run: the one in TEST_DATABASE_URL if set, or else a separate embedded one. A template database
// is migrated once, and each test file clones it. A data directory is prepared once and copied in the same way, for tests
// that start services.
import { runMigrations } from 'graphile-worker';
import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Pool } from 'pg';
import type { TestProject } from 'vitest/node';
import { openPool } from '../db/db.ts';
import { distributeTables } from '../db/citus/distribution.ts';
import { type Embedded, openEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';
import { folderOfRun } from './folder-of-run.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
    /** A data directory with a migrated database, which no process uses. */
    seed: string;
  }
}

export const templateName = 'soundings_template';
/** A database with the demo company, created by the first test file that needs it. */
export const demoTemplateName = 'soundings_demo';

/** Where the projects of a run find the server that the first one started. Each project loads this file separately. */
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
  const directory = await mkdtemp(join(folderOfRun(), 'postgres-'));
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
    await admin.unsafe(`drop database if exists ${name}`);
  }
  await admin.unsafe(`create database ${templateName}`);
  await prepare(databaseAt(url, templateName));
  if (process.env['TEST_DISTRIBUTED'] !== undefined) {
    await distributeTemplate(databaseAt(url, templateName));
    // A process of Citus stays connected to each database, and a database with connections can't be cloned.
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where datname = ${templateName}`;
  }
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

/** Creates our tables and those of graphile-worker, like the first start of a service. */
async function prepare(url: string): Promise<void> {
  const pool = openPool(url, 1);
  await migrate(pool);
  await pool.end();
  // Uses its own connections and closes them at the end: a connection that is left open would fail when the server stops.
  const pgPool = new Pool({ connectionString: url, max: 1 });
  pgPool.on('error', () => {});
  pgPool.on('connect', (client) => client.on('error', () => {}));
  await runMigrations({ pgPool });
  await pgPool.end();
}

async function distributeTemplate(url: string): Promise<void> {
  const pool = openPool(url, 1);
  await pool`create extension citus`;
  await pool.begin((tx) => distributeTables(tx));
  await pool.end();
}

export const [superuser, superuserPassword] = ['soundings_superuser', 'superuser'];

/** Returns the address for the superuser of an embedded PostgreSQL that was opened with `superuserPassword`. */
export const asSuperuser = (url: string): string =>
  url.replace(/\/\/.*@/, `//${superuser}:${superuserPassword}@`);

/** Lets the role create databases, one for each test file. Otherwise it has the same rights as in any installation. */
async function letCreateDatabases(url: string): Promise<void> {
  const admin = openPool(asSuperuser(url), 1);
  await admin`alter role soundings createdb`;
  await admin`grant pg_signal_backend to soundings`; // to drop a database while autovacuum runs on it
  await admin.end();
}

/** Returns the address of another database on the same server. */
export function databaseAt(url: string, name: string): string {
  const address = new URL(url);
  address.pathname = `/${name}`;
  return address.href;
}
