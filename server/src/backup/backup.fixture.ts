// For tests of backups: an installation with a closed week, an open one, files, jobs, tokens and host keys, and empty ones to restore
// it into.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { weekName } from '@soundings/contract/weeks.ts';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { openPool, type Pool } from '../db/db.ts';
import { hostKeys } from '../sftp/host-keys.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';
import { type AnsweredWeek, answeredWeek } from '../testing/attacks/forgetting.ts';
import { databaseAt } from '../testing/postgres.ts';
import { openWorld, type World } from '../testing/world.ts';
import { createBackup } from './create-backup.ts';
import { writeWholeFile } from './whole-file.ts';

export const quiet = openLog('silent');
/** A directory for the files of a test file. */
export let folder: string;
export let world: World;
/** A week that has closed, and one that is open, of two accounts. */
export let closed: AnsweredWeek;
export let open: AnsweredWeek;
/** A token of the first account for interface A. */
export let token: string;

/** Starts a service with data, for a test file. */
export function useInstallation(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soundings-backup-'));
    world = await openWorld();
    closed = await answeredWeek(world, [world.address]);
    await closeWeekNow(world.pool, world.keys, closed.accountId, closed.week, Date.now());
    open = await answeredWeek(world, [world.address]);
    ({ token } = await createToken(world.pool, closed.accountId, { name: 'bi', scopes: ['data', 'files'] }));
    await hostKeys(world.pool, world.keys.secrets, quiet);
    const file = new Uint8Array(100_000).map((_, i) => i % 251);
    const stored = await fetch(`${world.address}/v1/storage/people.csv`, {
      method: 'PUT',
      headers: { authorization: token, 'content-type': 'text/csv' },
      body: file,
    });
    if (!stored.ok) throw new Error(`The file was not stored: ${stored.status} ${await stored.text()}`);
  });
  afterAll(async () => {
    await world?.close();
    await rm(folder, { recursive: true, force: true });
  });
}

/** Creates a backup of a database and returns its path and contents. */
export async function backUp(pool: Pool, options: Parameters<typeof createBackup>[2] = {}) {
  const path = join(folder, `${randomUUID()}.soundings`);
  const contents = await writeWholeFile(path, (write) => createBackup(pool, write, options));
  return { path, contents };
}

export type Empty = { pool: Pool; databaseUrl: string; keyPlace: KeyPlace; keys: AnswerKeys };

/** Creates an empty database and a place for keys, which end with the test. */
export async function emptyInstallation(): Promise<Empty> {
  const server = inject('databaseUrl');
  const name = `restored_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(server, 1);
  await admin.unsafe(`create database ${name}`);
  const databaseUrl = databaseAt(server, name);
  const pool = openPool(databaseUrl, 4);
  const keyPlace: KeyPlace = { place: 'file', directory: join(folder, name) };
  onTestFinished(async () => {
    await pool.end({ timeout: 0 });
    await admin.unsafe(`drop database ${name} with (force)`);
    await admin.end();
  });
  return { pool, databaseUrl, keyPlace, keys: new AnswerKeys(pool, keyPlace) };
}

/** Returns the rows of every table, by name, in one order. */
export async function rowsOf(pool: Pool): Promise<Record<string, string[]>> {
  const tables = await pool<{ name: string }[]>`
    select c.oid::regclass::text as name
    from   pg_class c join pg_namespace n on n.oid = relnamespace
    where  relkind = 'r' and nspname in ('public', 'graphile_worker') order by 1`;
  const rows: Record<string, string[]> = {};
  for (const { name } of tables) {
    const found = await pool.unsafe<{ row: string }[]>(`select t::text as row from ${name} t order by 1`);
    rows[name] = found.map(({ row }) => row);
  }
  return rows;
}

/** Returns everything that interface A responds about a week of an account. */
export async function readingsOf(address: string, key: string, { week }: AnsweredWeek): Promise<string[]> {
  const name = weekName(week);
  const paths = [
    '/v1/groups',
    '/v1/kpis',
    '/v1/questions',
    `/v1/results?fromWeek=${name}&toWeek=${name}&includeSubgroups=true`,
    '/v1/feed',
  ];
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(address + path, { headers: { authorization: key } });
      return `${path} ${response.status} ${await response.text()}`;
    }),
  );
}
