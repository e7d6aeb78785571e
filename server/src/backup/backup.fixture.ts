// For tests of backups: an installation with a closed week, an open one, files, jobs, tokens and host keys, and empty ones to restore
// it into.
import { randomUUID } from 'node:crypto';
import { mkdtemp, open as openFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, inject, onTestFinished } from 'vitest';
import { createToken } from '../accounts/tokens.ts';
import { openLog } from '../base/log.ts';
import { closeWeekNow } from '../results/close-week.ts';
import { openPool, type Pool } from '../db/db.ts';
import { hostKeys } from '../sftp/host-keys.ts';
import { AnswerKeys } from '../sealing/answer-keys.ts';
import type { KeyPlace } from '../sealing/epoch-chain.ts';
import { type AnsweredWeek, answeredWeek } from '../testing/attacks/forgetting.ts';
import { databaseAt, templateName } from '../testing/postgres.ts';
import { until } from '../testing/until.ts';
import { openWorld, type World } from '../testing/world.ts';
import { readBlocks } from './blocks.ts';
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
  keepFolder();
  beforeAll(async () => {
    world = await openWorld();
    closed = await answeredWeek(world, [world.address]);
    await closeWeekNow(world.pool, world.keys, closed.accountId, closed.week, Date.now());
    open = await answeredWeek(world, [world.address]);
    ({ token } = await createToken(world.pool, closed.accountId, { name: 'bi', scopes: ['data', 'files'] }));
    await hostKeys(world.pool, world.keys.secrets, quiet);
    await upload('people.csv', 'externalId,firstName\n1,Ada\n');
  });
  afterAll(() => world?.close());
}

/** Creates the directory, and removes it at the end of a test file. */
export function keepFolder(): void {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'soundings-backup-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
}

/** Uploads a file and waits until it has been processed. */
async function upload(name: string, text: string): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), name);
  const request = { method: 'POST', headers: { authorization: token }, body: form };
  const response = await fetch(`${world.address}/v1/storage/uploadFile`, request);
  if (!response.ok) throw new Error(`The file was not stored: ${response.status} ${await response.text()}`);
  await until(async () => (await world.pool`select 1 from files where processed_at is not null`).length > 0);
}

/** Creates a backup of a database and returns its path and contents. */
export async function backUp(pool: Pool, options: Parameters<typeof createBackup>[2] = {}) {
  const path = join(folder, `${randomUUID()}.soundings`);
  const contents = await writeWholeFile(path, (write) => createBackup(pool, write, options));
  return { path, contents };
}

export type Empty = { pool: Pool; databaseUrl: string; keyPlace: KeyPlace; keys: AnswerKeys };

/** The same with all tables, but without accounts and keys. */
export const migratedInstallation = () => emptyInstallation(templateName);

/** Creates an empty database and a place for keys, which end with the test. */
export async function emptyInstallation(template = 'template1'): Promise<Empty> {
  const server = inject('databaseUrl');
  const name = `restored_${randomUUID().replaceAll('-', '')}`;
  const admin = openPool(server, 1);
  await admin.unsafe(`create database ${name} template ${template}`);
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

/** Creates a backup and returns the rows of every table at that moment: tries again if a recurring job has written meanwhile. */
export async function backUpQuietly(options: Parameters<typeof createBackup>[2] = {}) {
  for (;;) {
    const before = await rowsOf(world.pool);
    const backup = await backUp(world.pool, options);
    if (isDeepStrictEqual(await rowsOf(world.pool), before)) return { ...backup, rows: before };
  }
}

/** Returns everything that a backup contains, uncompressed. */
export async function textOf(path: string): Promise<Buffer> {
  const file = await openFile(path);
  try {
    const parts: Buffer[] = [];
    for await (const { bytes } of readBlocks(file).blocks) parts.push(bytes);
    return Buffer.concat(parts);
  } finally {
    await file.close();
  }
}

/** Returns what interface A responds about a week of an account, byte by byte. */
export async function readingsOf(
  address: string,
  key: string,
  { accountId }: AnsweredWeek,
): Promise<string[]> {
  const [group] = await world.pool<{ id: number }[]>`
    select group_id as id from groups where account_id = ${accountId} and name = 'Large'`;
  const scope = `groupId=${group?.id}&includeSubgroups=true`;
  const paths = [
    '/v1/groups',
    '/v1/kpis',
    `/v1/kpis/workload/values?${scope}`,
    `/v1/responserates/values?${scope}`,
    `/v1/results?${scope}`,
    `/v1/askedquestions?${scope}`,
    '/v1/feed',
  ];
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(address + path, { headers: { authorization: key } });
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return `${path} ${response.headers.get('etag')} ${await response.text()}`;
    }),
  );
}
