// For tests of the answer keys: a database that records every wrapped key, key directories, and closing weeks without figures.
// The tests that import it must mock `./key-file.ts` as a spy.
import type { Week } from '@soundings/contract/weeks.ts';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { inTransaction, type Transaction } from '../db/db.ts';
import { openEmptyWeek } from '../testing/asking.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { AnswerKeys } from './answer-keys.ts';
import { type EpochKey, keyAt, unwrap } from './epoch-keys.ts';
import * as keyFile from './key-file.ts';
import { contextOf } from './week-key.ts';

const home = join(tmpdir(), `soundings-answer-keys-${randomUUID()}`);
export let database: TestDatabase;
export let accountId: number;
/** Every wrapped key that was ever stored, as WAL and dumps contain them. */
let everWrapped: { week: Week; wrapped: Buffer }[] = [];
let directories = 0;

/** Opens a database for a test file, emptied before each test, and closes it at its end. */
export function useDatabase(): void {
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(async () => {
    await database.close();
    rmSync(home, { recursive: true, force: true });
  });
  beforeEach(async () => {
    const { pool } = database;
    await pool`delete from week_keys`;
    await pool`delete from answer_keys`;
    await pool`delete from key_processes`;
    await pool.unsafe(`
      create table if not exists ever_wrapped (week date, wrapped bytea);
      truncate ever_wrapped;
      create or replace function note() returns trigger language plpgsql as $$
        begin insert into ever_wrapped values (new.week, new.wrapped); return new; end $$;
      drop trigger if exists note on week_keys;
      create trigger note after insert or update on week_keys for each row execute function note();`);
    accountId = await inTransaction(pool, async (tx) => (await createAccount(tx, { name: 'Acme' })).id);
    everWrapped = [];
  });
  afterEach(() => vi.mocked(keyFile.writeKeyFile).mockReset());
}

export const newDirectory = () => join(home, String(++directories));
export const keysIn = (directory: string, place: 'file' | 'database' = 'file') =>
  new AnswerKeys(database.pool, { place, directory });
export const weekAt = (i: number): Week =>
  new Date(Date.parse('2026-01-05') + i * 7 * 86_400_000).toISOString().slice(0, 10);

export const open = (keys: AnswerKeys, week: Week) =>
  inTransaction(database.pool, async (tx) =>
    Buffer.from((await openEmptyWeek(tx, keys, accountId, week)).secret),
  );

/** Closes a week like results/close-week.ts, without figures. */
export async function closeIn(tx: Transaction, keys: AnswerKeys, week: Week): Promise<void> {
  await keys.forget(tx, accountId, week);
  await tx`update weeks set closed_at = now() where account_id = ${accountId} and week = ${week}`;
}
export async function close(keys: AnswerKeys, week: Week): Promise<void> {
  await inTransaction(database.pool, (tx) => closeIn(tx, keys, week));
}

export const secretOf = async (keys: AnswerKeys, week: Week) => {
  const key = await keys.of(database.pool, accountId, week);
  return key && Buffer.from(key.secret);
};

export const chainOf = async () => {
  const [row] = await database.pool<
    { chain: Buffer; epoch: number; isSpent: boolean; secret: Buffer | null }[]
  >`
    select chain, epoch, is_spent as "isSpent", secret from answer_keys`;
  return row!;
};

/** Returns every key in any file of the directories, under any name, complete or not. */
export function keysOnDisk(...paths: string[]): EpochKey[] {
  return paths.flatMap((directory) => {
    let names: string[] = [];
    try {
      names = readdirSync(directory);
    } catch {}
    return names.flatMap((name) => keyFile.keyIn(readFileSync(join(directory, name), 'utf8')) ?? []);
  });
}

/** Returns the weeks that the keys, or later keys computed from them, can open from everything that was ever stored. */
export async function openableBy(keys: EpochKey[]): Promise<Set<Week>> {
  everWrapped = await database.pool<
    { week: Week; wrapped: Buffer }[]
  >`select week, wrapped from ever_wrapped`;
  const all = keys.flatMap((key) =>
    Array.from({ length: 40 }, (_, i) => keyAt(key, key.epoch + i) as EpochKey),
  );
  return new Set(
    everWrapped
      .filter(({ week, wrapped }) => all.some((key) => unwrap(key, contextOf(accountId, week), wrapped)))
      .map(({ week }) => week),
  );
}

export const missing = { kind: 'unavailable', code: 'answer key missing' };
export const crash = () =>
  vi.mocked(keyFile.writeKeyFile).mockImplementationOnce(() => {
    throw new Error('crash');
  });
