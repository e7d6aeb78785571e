// The PostgreSQL of a test run: the one of TEST_DATABASE_URL where it is set, else an embedded one of its own.
// A template database is migrated once; each test file clones it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { openPool } from '../db/db.ts';
import { openEmbedded } from '../db/embedded.ts';
import { migrate } from '../db/migrate.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    databaseUrl: string;
  }
}

export const templateName = 'soundings_template';
/** With the demo company: made by the first test file that wants it. */
export const demoTemplateName = 'soundings_demo';

/** Where the projects of a run, each of which loads this file for itself, find the server that the first of them started. */
const ofThisRun = globalThis as { soundingsTestServer?: ReturnType<typeof startServer> };

// oxlint-disable-next-line import/no-default-export -- the test runner demands it
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await (ofThisRun.soundingsTestServer ??= startServer());
  project.provide('databaseUrl', server.url);
  return server.stop;
}

async function startServer(): Promise<{ url: string; stop: () => Promise<void> }> {
  const given = process.env['TEST_DATABASE_URL'];
  const directory = await mkdtemp(join(tmpdir(), 'soundings-test-'));
  const embedded = given
    ? undefined
    : await openEmbedded(directory, { role: 'service', log: () => {}, fast: true, superuserPassword });
  if (embedded) await letCreateDatabases(embedded.url);
  const url = given ?? (embedded?.url as string);
  const admin = openPool(url, 1);
  for (const name of [templateName, demoTemplateName]) {
    // oxlint-disable-next-line no-await-in-loop -- two
    await admin.unsafe(`drop database if exists ${name}`);
  }
  await admin.unsafe(`create database ${templateName}`);
  const template = openPool(databaseAt(url, templateName), 1);
  await migrate(template);
  await template.end();
  await admin.end();
  const stop = async () => {
    await embedded?.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url, stop };
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
