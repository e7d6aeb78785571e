// The keys of open weeks: open weeks open everywhere, and what was stored of a closed week opens by nothing that is left.
import type { Week } from '@soundings/contract/weeks.ts';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAccount } from '../accounts/accounts.ts';
import { Fault } from '../base/errors.ts';
import { inTransaction, type Transaction } from '../db/db.ts';
import { openWeek } from '../rounds/rounds.ts';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { AnswerKeys } from './answer-keys.ts';
import { type EpochKey, keyAt, unwrap } from './epoch-keys.ts';
import * as keyFile from './key-file.ts';
import { contextOf } from './week-key.ts';

vi.mock('./key-file.ts', { spy: true });

const home = join(tmpdir(), `soundings-answer-keys-${randomUUID()}`);
let database: TestDatabase;
let accountId: number;
/** Every wrapped key that was ever stored, as WAL and dumps have them. */
let everWrapped: { week: Week; wrapped: Buffer }[] = [];
let directories = 0;

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

const newDirectory = () => join(home, String(++directories));
const keysIn = (directory: string, place: 'file' | 'database' = 'file') =>
  new AnswerKeys(database.pool, { place, directory });
const weekAt = (i: number): Week =>
  new Date(Date.parse('2026-01-05') + i * 7 * 86_400_000).toISOString().slice(0, 10);

const open = (keys: AnswerKeys, week: Week) =>
  inTransaction(database.pool, async (tx) => Buffer.from((await openWeek(tx, keys, accountId, week)).secret));

/** Closes a week like results/close-week.ts, but without figures. */
async function closeIn(tx: Transaction, keys: AnswerKeys, week: Week): Promise<void> {
  await keys.forget(tx, accountId, week);
  await tx`update weeks set closed_at = now() where account_id = ${accountId} and week = ${week}`;
}
async function close(keys: AnswerKeys, week: Week): Promise<void> {
  await inTransaction(database.pool, (tx) => closeIn(tx, keys, week));
}

const secretOf = async (keys: AnswerKeys, week: Week) => {
  const key = await keys.of(database.pool, accountId, week);
  return key && Buffer.from(key.secret);
};

const chainOf = async () => {
  const [row] = await database.pool<
    { chain: Buffer; epoch: number; isSpent: boolean; secret: Buffer | null }[]
  >`
    select chain, epoch, is_spent as "isSpent", secret from answer_keys`;
  return row!;
};

/** Every key that any file of the directories has, by whatever name, whole or not. */
function keysOnDisk(...directories_: string[]): EpochKey[] {
  return directories_.flatMap((directory) => {
    let names: string[] = [];
    try {
      names = readdirSync(directory);
    } catch {}
    return names.flatMap((name) => keyFile.keyIn(readFileSync(join(directory, name), 'utf8')) ?? []);
  });
}

/** Which of the weeks open by the keys, or by any later key that can be computed from them, from what was ever stored. */
async function openableBy(keys: EpochKey[]): Promise<Set<Week>> {
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

const missing = { kind: 'unavailable', code: 'answer key missing' };
const crash = () =>
  vi.mocked(keyFile.writeKeyFile).mockImplementationOnce(() => {
    throw new Error('crash');
  });

describe('prepare', () => {
  test('at the first start makes a key in the file, and nothing of it is in the database', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await keys.chain.prepare();
    const [key, ...others] = keysOnDisk(directory);
    expect(others).toEqual([]);
    expect(await chainOf()).toEqual({ chain: key!.chain, epoch: 1, isSpent: false, secret: null });
    expect(await keys.chain.state()).toMatchObject({ place: 'file', state: 'ready', epoch: 1 });
    const secret = await open(keys, weekAt(0));
    expect(await secretOf(keysIn(directory), weekAt(0))).toEqual(secret);
    expect(await keysIn(directory).chain.exported()).toContain(key!.secret.toString('hex'));
  });

  test('of processes that start together on one directory: one key, which all of them have', async () => {
    const directory = newDirectory();
    const all = Array.from({ length: 2 }, () => keysIn(directory));
    await Promise.all(all.map((keys, i) => open(keys, weekAt(i))));
    for (const keys of all) {
      for (let i = 0; i < 2; i++) expect(await secretOf(keys, weekAt(i))).toHaveLength(32);
    }
    expect(keysOnDisk(directory)).toHaveLength(1);
  });

  test('moves the file of an older epoch forward', async () => {
    const [directory, behind] = [newDirectory(), newDirectory()];
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    mkdirSync(behind, { recursive: true });
    writeFileSync(join(behind, 'answers'), await keys.chain.exported());
    const secret = await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await keys.chain.advance();
    expect((await chainOf()).epoch).toBe(2);
    const other = keysIn(behind);
    await other.chain.prepare();
    expect(keysOnDisk(behind)).toEqual(keysOnDisk(directory));
    expect(await secretOf(other, weekAt(1))).toEqual(secret);
  });

  test('of a database that was restored to an older state: its weeks are lost, and new ones can be opened', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    await open(keys, weekAt(1));
    const { pool } = database;
    const before = { weeks: await pool`select * from week_keys`, chain: await chainOf() };
    await close(keys, weekAt(0));
    await keys.chain.advance();
    await pool`delete from week_keys`;
    for (const row of before.weeks) await pool`insert into week_keys ${pool(row)}`;
    await pool`update weeks set closed_at = null where account_id = ${accountId}`;
    await pool`update answer_keys set epoch = ${before.chain.epoch}, is_spent = false`;
    const restarted = keysIn((await keys.chain.state()).path!.replace(/\/answers$/, ''));
    expect(await restarted.lostWeeks()).toEqual([0, 1].map((i) => ({ accountId, week: weekAt(i) })));
    await expect(restarted.of(pool, accountId, weekAt(1))).rejects.toMatchObject(missing);
    for (const i of [0, 1]) await close(restarted, weekAt(i));
    await restarted.chain.advance();
    expect(await restarted.lostWeeks()).toEqual([]);
    expect(await secretOf(restarted, weekAt(1))).toBeUndefined();
    const secret = await open(restarted, weekAt(2));
    expect(await secretOf(restarted, weekAt(2))).toEqual(secret);
  });

  test('where the file is gone while weeks are open: missing, and every use says what to do; until it is back', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    const secret = await open(keys, weekAt(0));
    const text = await keys.chain.exported();
    rmSync(directory, { recursive: true });
    const restarted = keysIn(directory);
    expect(await restarted.chain.state()).toMatchObject({ state: 'missing' });
    expect(await restarted.lostWeeks()).toEqual([]);
    const uses = [
      () => restarted.of(database.pool, accountId, weekAt(0)),
      () => open(restarted, weekAt(1)),
      () => restarted.chain.exported(),
    ];
    for (const use of uses) {
      const error = await use().catch((thrown: unknown) => thrown as Fault);
      expect(error).toBeInstanceOf(Fault);
      expect(error).toMatchObject(missing);
      for (const words of ['keys export', 'keys import', 'keys reset', 'ANSWER_KEYS=database'])
        expect((error as Fault).message).toContain(words);
    }
    await restarted.chain.advance();
    expect(await restarted.chain.state()).toMatchObject({ state: 'missing' });
    expect(keysOnDisk(directory)).toEqual([]);
    await restarted.chain.imported(text);
    expect(await secretOf(restarted, weekAt(0))).toEqual(secret);
    expect(await restarted.chain.state()).toMatchObject({ state: 'ready' });
  });

  test('where the file is gone and nothing is open: a new key, for no one needs the one before', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    await close(keys, weekAt(0));
    await keys.chain.advance();
    rmSync(directory, { recursive: true });
    const restarted = keysIn(directory);
    expect(await restarted.chain.state()).toMatchObject({ state: 'ready' });
    expect(await secretOf(restarted, weekAt(0))).toBeUndefined();
    expect(await open(restarted, weekAt(1))).toHaveLength(32);
  });

  test('reset gives up a key that is lost: the open weeks are lost, and new ones can be opened', async () => {
    const directory = newDirectory();
    await open(keysIn(directory), weekAt(0));
    rmSync(directory, { recursive: true });
    const keys = keysIn(directory);
    await keys.chain.reset();
    expect(await keys.lostWeeks()).toEqual([{ accountId, week: weekAt(0) }]);
    await close(keys, weekAt(0));
    expect(await keys.lostWeeks()).toEqual([]);
    const secret = await open(keys, weekAt(1));
    expect(await secretOf(keysIn(directory), weekAt(1))).toEqual(secret);
  });

  test('a process with a directory of its own has no key until it gets it from another, and follows it from then on', async () => {
    const [one, two] = [newDirectory(), newDirectory()];
    const [first, second] = [keysIn(one), keysIn(two)];
    await first.chain.advance(); // as at the start: it is seen
    await second.chain.prepare();
    expect(await second.chain.state()).toMatchObject({ state: 'missing' });
    const secret = await open(first, weekAt(0));
    await expect(second.of(database.pool, accountId, weekAt(0))).rejects.toMatchObject(missing);
    await expect(second.chain.imported('no key')).rejects.toMatchObject({ kind: 'invalid' });
    await expect(
      second.chain.imported((await first.chain.exported()).replace(/key ./, 'key g')),
    ).rejects.toMatchObject({
      kind: 'invalid',
    });
    await second.chain.imported(await first.chain.exported());
    expect(await secretOf(second, weekAt(0))).toEqual(secret);
    await open(first, weekAt(1));
    await close(second, weekAt(1));
    await second.chain.advance();
    expect((await first.chain.state()).processes.map(({ isBehind }) => isBehind).toSorted()).toEqual([
      false,
      true,
    ]);
    expect(await secretOf(first, weekAt(0))).toEqual(secret);
    await first.chain.advance();
    expect(keysOnDisk(one)).toEqual(keysOnDisk(two));
    expect((await first.chain.state()).processes.map(({ isBehind }) => isBehind)).toEqual([false, false]);
  });

  test('a key of another installation, or later than the database, is not imported', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    const key = keyFile.keyIn(await keys.chain.exported()) as EpochKey;
    const others = [
      keyFile.keyText(keyAt(key, 2) as EpochKey),
      keyFile.keyText({ ...key, chain: Buffer.alloc(8) }),
    ];
    for (const text of others)
      await expect(keys.chain.imported(text)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await secretOf(keys, weekAt(0))).toHaveLength(32);
  });

  test('where the key was missing and those that had it have gone: it goes on by itself when nothing is open', async () => {
    const [one, two] = [newDirectory(), newDirectory()];
    const first = keysIn(one);
    await open(first, weekAt(0));
    await first.chain.advance();
    await close(first, weekAt(0));
    const second = keysIn(two);
    await second.chain.advance();
    expect(await second.chain.state()).toMatchObject({ state: 'missing' });
    await database.pool`update key_processes set seen_at = now() - interval '1 hour'`;
    await second.chain.advance();
    expect(await second.chain.state()).toMatchObject({ state: 'ready' });
  });
});

describe('what is noted of copies', () => {
  const noted = async (keys: AnswerKeys) => {
    const { exportedAt, exportedUntil, inDatabaseUntil } = await keys.chain.state();
    const wasExported = exportedAt !== null && (exportedUntil === null ? 'still' : 'once');
    return { wasExported, wasInDatabase: inDatabaseUntil !== null };
  };

  test('an export, for good, and when later keys no longer followed from it', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    await open(keys, weekAt(1));
    expect(await noted(keys)).toEqual({ wasExported: false, wasInDatabase: false });
    await keys.chain.exported();
    await close(keys, weekAt(0));
    await keys.chain.advance();
    expect(await noted(keys)).toEqual({ wasExported: 'still', wasInDatabase: false });
    await keys.chain.reset();
    expect(await noted(keys)).toEqual({ wasExported: 'once', wasInDatabase: false });
    const { exportedAt, exportedUntil } = await keys.chain.state();
    await keys.chain.reset();
    expect(await keys.chain.state()).toMatchObject({ exportedAt, exportedUntil });
    await keys.chain.exported();
    expect(await noted(keys)).toEqual({ wasExported: 'still', wasInDatabase: false });
    await close(keys, weekAt(1));
    await keys.chain.advance(); // no week is open
    expect(await noted(keys)).toEqual({ wasExported: 'once', wasInDatabase: false });
  });

  test('that the key was in the database, from when it has left it', async () => {
    const directory = newDirectory();
    await open(keysIn(directory), weekAt(0));
    const inDatabase = keysIn(directory, 'database');
    await close(inDatabase, weekAt(0));
    await inDatabase.chain.advance();
    expect(await noted(inDatabase)).toEqual({ wasExported: false, wasInDatabase: false });
    const keys = keysIn(directory);
    const began = Date.now();
    const { inDatabaseUntil } = await keys.chain.state();
    expect(Math.abs(Date.parse(inDatabaseUntil as string) - began)).toBeLessThan(10_000);
    await keys.chain.reset();
    expect((await keys.chain.state()).inDatabaseUntil).toBe(inDatabaseUntil);
  });

  test('a process that was switched off, until it is said to be gone', async () => {
    const [first, second] = [keysIn(newDirectory()), keysIn(newDirectory())];
    await open(first, weekAt(0));
    await second.chain.imported(await first.chain.exported());
    await database.pool`update key_processes set seen_at = now() - interval '900 days'`;
    await close(first, weekAt(0));
    await first.chain.advance();
    const behind = (await first.chain.state()).processes.filter(({ isBehind }) => isBehind);
    expect(behind).toHaveLength(1);
    await first.chain.forgetProcess(behind[0]!.name);
    expect((await first.chain.state()).processes.map(({ isBehind }) => isBehind)).toEqual([false]);
    await expect(first.chain.forgetProcess(behind[0]!.name)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('a process by the name that stands beside its key: a container that starts again is the same one', async () => {
    const directory = newDirectory();
    const names = async () => (await keysIn(directory).chain.state()).processes.map(({ name }) => name);
    await keysIn(directory).chain.advance();
    expect(await names()).toEqual([`${hostname()}:${join(directory, 'answers')}`]);
    expect(readFileSync(join(directory, 'name'), 'utf8')).toBe(`${(await names())[0]}\n`);
    await database.pool`delete from key_processes`;
    writeFileSync(join(directory, 'name'), 'a-container:/data/keys/answers\n'); // as it was called when it first ran
    await open(keysIn(directory), weekAt(0));
    await keysIn(directory).chain.advance();
    expect(await names()).toEqual(['a-container:/data/keys/answers']);
  });

  test('a process whose key has gone to the database no longer, and the database no longer when the key is in a file again', async () => {
    const directory = newDirectory();
    const names = async (keys: AnswerKeys) => (await keys.chain.state()).processes.map(({ name }) => name);
    await open(keysIn(directory), weekAt(0));
    await keysIn(directory).chain.advance();
    const inDatabase = keysIn(directory, 'database');
    await inDatabase.chain.advance();
    expect(await names(inDatabase)).toEqual(['database']);
    const keys = keysIn(directory);
    await keys.chain.advance();
    expect(await names(keys)).toEqual([expect.stringContaining(directory)]);
  });
});

describe('when the last open week has closed', () => {
  /** All that the keys lead to, also of weeks that open later. */
  async function copyIsUseless(copy: EpochKey[], week: Week): Promise<boolean> {
    return !(await openableBy(copy)).has(week);
  }

  test('one process begins with a fresh key: a copy of the key opens nothing that is asked from then on', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    await keys.chain.advance();
    const copy = keysOnDisk(directory);
    expect(copy).toHaveLength(1);
    await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await keys.chain.advance(); // a week is open: the key moves forward
    expect(await copyIsUseless(copy, weekAt(1))).toBe(false);
    await close(keys, weekAt(1));
    await keys.chain.advance();
    const secret = await open(keys, weekAt(2));
    expect(await copyIsUseless(copy, weekAt(2))).toBe(true);
    // It is on the disk, and processes that share the file have it.
    expect(await secretOf(keysIn(directory), weekAt(2))).toEqual(secret);
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(2)]));
    expect((await keys.chain.state()).processes.map(({ isBehind }) => isBehind)).toEqual([false]);
  });

  test('where another process has to follow, the key moves forward: no one there has to import anything', async () => {
    const [first, second] = [keysIn(newDirectory()), keysIn(newDirectory())];
    await open(first, weekAt(0));
    await first.chain.advance();
    await second.chain.imported(await first.chain.exported());
    await database.pool`update key_processes set seen_at = now() - interval '30 days'`;
    await close(first, weekAt(0));
    await first.chain.advance();
    const secret = await open(first, weekAt(1));
    expect(await secretOf(second, weekAt(1))).toEqual(secret);
  });

  test('a process that shares the file, and had the key before, goes on', async () => {
    const directory = newDirectory();
    const [keys, beside] = [keysIn(directory), keysIn(directory)];
    for (const i of [0, 2, 4]) {
      const secret = await open(keys, weekAt(i));
      expect(await secretOf(beside, weekAt(i))).toEqual(secret);
      await close(beside, weekAt(i));
      await keys.chain.advance();
      const next = await open(beside, weekAt(i + 1));
      expect(await secretOf(keys, weekAt(i + 1))).toEqual(next);
      await close(keys, weekAt(i + 1));
      await beside.chain.advance();
    }
    expect(await keys.lostWeeks()).toEqual([]);
  });

  describe('and the process has died between the file and the commit', () => {
    /** Closes the only week, but nothing of the step is committed; the fresh key is in the file. */
    async function interrupted(directory: string) {
      const keys = keysIn(directory);
      await open(keys, weekAt(0));
      await keys.chain.advance();
      const beside = keysIn(directory);
      await secretOf(beside, weekAt(0));
      await close(keys, weekAt(0));
      const before = await chainOf();
      const { writeKeyFile } = await vi.importActual<typeof keyFile>('./key-file.ts');
      vi.mocked(keyFile.writeKeyFile).mockImplementationOnce((path, key) => {
        writeKeyFile(path, key);
        throw new Error('crash');
      });
      await expect(keys.chain.advance()).rejects.toThrow('crash');
      expect(await chainOf()).toEqual(before);
      expect(keysOnDisk(directory)[0]!.chain).not.toEqual(before.chain);
      return { keys, beside };
    }

    test.each(['the same process', 'the next start'])('%s goes on', async (who) => {
      const directory = newDirectory();
      const { keys } = await interrupted(directory);
      const next = who === 'the next start' ? keysIn(directory) : keys;
      const secret = await open(next, weekAt(1));
      expect(await secretOf(keysIn(directory), weekAt(1))).toEqual(secret);
      await next.chain.advance();
      expect(keysOnDisk(directory)).toMatchObject([{ chain: (await chainOf()).chain }]);
      expect(await next.lostWeeks()).toEqual([]);
    });

    test('the same process goes on when the commit itself has failed', async () => {
      const { pool } = database;
      await pool.unsafe(`
        create function refuse_commit() returns trigger language plpgsql as $$ begin raise 'no commit'; end $$;
        create constraint trigger refuse_commit after update of chain on answer_keys deferrable initially deferred
          for each row execute function refuse_commit();`);
      const directory = newDirectory();
      const keys = keysIn(directory);
      await open(keys, weekAt(0));
      await close(keys, weekAt(0));
      await expect(keys.chain.advance()).rejects.toThrow('no commit');
      await pool.unsafe('drop function refuse_commit cascade');
      const secret = await open(keys, weekAt(1));
      expect(await secretOf(keysIn(directory), weekAt(1))).toEqual(secret);
    });

    test('a week that another opens before that, who shares the file, is not lost', async () => {
      const directory = newDirectory();
      const { beside } = await interrupted(directory);
      const secret = await open(beside, weekAt(1));
      const restarted = keysIn(directory);
      expect(await secretOf(restarted, weekAt(1))).toEqual(secret);
      expect(await restarted.lostWeeks()).toEqual([]);
    });
  });

  test('and a database of before is restored: its weeks are lost, and new ones can be opened', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    const { pool } = database;
    const [row] = await pool`select * from week_keys`;
    const chain = await chainOf();
    await close(keys, weekAt(0));
    await keys.chain.advance();
    for (const i of [1, 2]) {
      await open(keys, weekAt(i));
      await close(keys, weekAt(i));
      await keys.chain.advance();
    }
    await pool`insert into week_keys ${pool(row!)}`;
    await pool`update weeks set closed_at = null where account_id = ${accountId} and week = ${weekAt(0)}`;
    await pool`update answer_keys set chain = ${chain.chain}, epoch = ${chain.epoch}, is_spent = false`;
    const restarted = keysIn(directory);
    expect(await restarted.chain.state()).toMatchObject({ state: 'ready' });
    expect(await restarted.lostWeeks()).toEqual([{ accountId, week: weekAt(0) }]);
    await close(restarted, weekAt(0));
    await restarted.chain.advance();
    const secret = await open(restarted, weekAt(3));
    expect(await secretOf(keysIn(directory), weekAt(3))).toEqual(secret);
  });

  test('a key that was exported before is not imported: it is said to export it again', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    const text = await keys.chain.exported();
    await close(keys, weekAt(0));
    await keys.chain.advance();
    const error = await keysIn(newDirectory())
      .chain.imported(text)
      .catch((thrown: unknown) => thrown as Fault);
    expect(error).toMatchObject({ kind: 'conflict' });
    expect((error as Fault).message).toMatch(/replaced after it was exported.*"soundings keys export" again/);
  });
});

describe('ANSWER_KEYS', () => {
  test('from file to database and back: open weeks stay open, and no old key is left in file or database', async () => {
    const directory = newDirectory();
    let keys = keysIn(directory);
    const secret = await open(keys, weekAt(0));
    const old: EpochKey[] = keysOnDisk(directory);
    keys = keysIn(directory, 'database');
    expect(await secretOf(keys, weekAt(0))).toEqual(secret);
    await keys.chain.advance();
    expect(keysOnDisk(directory)).toEqual([]);
    expect(await keys.chain.state()).toMatchObject({ place: 'database', path: null, state: 'ready' });
    const inDatabase = await chainOf();
    old.push({ ...inDatabase, secret: inDatabase.secret! });
    // Another process without any file has it at once.
    expect(await secretOf(keysIn(newDirectory(), 'database'), weekAt(0))).toEqual(secret);
    keys = keysIn(directory);
    expect(await secretOf(keys, weekAt(0))).toEqual(secret);
    await keys.chain.advance();
    await open(keys, weekAt(1));
    const noted = await database.pool<{ week: Week }[]>`
      select week from week_keys where in_database`;
    expect(noted).toEqual([{ week: weekAt(0) }]);
    const [now, ...others] = keysOnDisk(directory);
    expect(others).toEqual([]);
    expect(await chainOf()).toMatchObject({ chain: now!.chain, secret: null });
    // What was kept before leads to nothing of the present.
    const [row] = await database.pool<{ wrapped: Buffer }[]>`select wrapped from week_keys`;
    for (const key of old) {
      for (let i = 0; i < 9; i++) {
        expect(
          unwrap(keyAt(key, key.epoch + i)!, contextOf(accountId, weekAt(0)), row!.wrapped),
        ).toBeUndefined();
      }
    }
  });

  test('with database, a closed week’s key is in no row, and the key that wrapped it neither', async () => {
    const keys = keysIn(newDirectory(), 'database');
    await open(keys, weekAt(0));
    const secret = await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await keys.chain.advance();
    const { secret: present, ...chain } = await chainOf();
    expect(await openableBy([{ ...chain, secret: present! }])).toEqual(new Set([weekAt(1)]));
    expect(await secretOf(keys, weekAt(1))).toEqual(secret);
  });

  test('a switch that dies between the file and the commit loses nothing', async () => {
    const directory = newDirectory();
    const secret = await open(keysIn(directory, 'database'), weekAt(0));
    vi.mocked(keyFile.writeKeyFile).mockImplementationOnce((path, key) => {
      const real = keyFile.keyText(key);
      mkdirSync(directory, { recursive: true });
      writeFileSync(path, real);
      throw new Error('crash');
    });
    await expect(keysIn(directory).chain.prepare()).rejects.toThrow('crash');
    expect(await secretOf(keysIn(directory), weekAt(0))).toEqual(secret);
    expect(keysOnDisk(directory)).toHaveLength(1);
  });
});

describe('after a week has closed', () => {
  test('nothing that was stored of its key opens by what is left; the open weeks open', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    const secret = await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(0), weekAt(1)]));
    await keys.chain.advance();
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(1)]));
    expect(await secretOf(keys, weekAt(1))).toEqual(secret);
    await close(keys, weekAt(1));
    await keys.chain.advance();
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set());
  });

  test.each(['before the file is written', 'in the middle of it'])(
    'and the process has died %s: the next start goes on',
    async (where) => {
      const directory = newDirectory();
      const keys = keysIn(directory);
      await open(keys, weekAt(0));
      const secret = await open(keys, weekAt(1));
      await close(keys, weekAt(0));
      vi.mocked(keyFile.writeKeyFile).mockImplementationOnce((path, key) => {
        // The new key is safe, the one before not yet erased.
        if (where === 'in the middle of it') writeFileSync(`${path}.next`, keyFile.keyText(key));
        throw new Error('crash');
      });
      await expect(keys.chain.advance()).rejects.toThrow('crash');
      const restarted = keysIn(directory);
      expect(await secretOf(restarted, weekAt(1))).toEqual(secret);
      await restarted.chain.advance();
      expect(keysOnDisk(directory)).toHaveLength(1);
      expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(1)]));
    },
  );

  test('while another week is being opened or imported: the epoch waits for it, and the new week opens', async () => {
    const directory = newDirectory();
    const [keys, other] = [keysIn(directory), keysIn(directory)];
    await Promise.all([keys.chain.prepare(), other.chain.prepare()]);
    await open(keys, weekAt(0));
    const [opened, end] = [Promise.withResolvers<Buffer>(), Promise.withResolvers<void>()];
    const opening = inTransaction(database.pool, async (tx) => {
      opened.resolve(Buffer.from((await openWeek(tx, other, accountId, weekAt(1))).secret));
      await end.promise;
    });
    const secret = await opened.promise;
    const closing = close(keys, weekAt(0)).then(() => keys.chain.advance());
    let isOver = false;
    void closing.then(() => (isOver = true));
    await new Promise((done) => setTimeout(done, 200));
    expect(isOver).toBe(false);
    end.resolve();
    await Promise.all([opening, closing]);
    expect((await chainOf()).epoch).toBe(2);
    for (const one of [keys, other]) expect(await secretOf(one, weekAt(1))).toEqual(secret);
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(1)]));
  });

  test('while another is being opened that had not come to its key yet: it gets one of the new epoch', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const opening = inTransaction(database.pool, async (tx) => {
      await tx`select 1`;
      begun.resolve();
      await go.promise;
      return Buffer.from((await openWeek(tx, keys, accountId, weekAt(1))).secret);
    });
    await begun.promise;
    await close(keys, weekAt(0));
    await keys.chain.advance();
    go.resolve();
    const secret = await opening;
    expect(await secretOf(keys, weekAt(1))).toEqual(secret);
    expect(await keys.lostWeeks()).toEqual([]);
  });

  test('a closing that is rolled back forgets nothing', async () => {
    const keys = keysIn(newDirectory());
    const secret = await open(keys, weekAt(0));
    const closing = inTransaction(database.pool, async (tx) => {
      await closeIn(tx, keys, weekAt(0));
      throw new Error('rolled back');
    });
    await expect(closing).rejects.toThrow('rolled back');
    await keys.chain.advance();
    expect((await chainOf()).epoch).toBe(1);
    expect(await secretOf(keys, weekAt(0))).toEqual(secret);
  });

  test('what a reader had of the key before reads it again, and one that is gone is not there', async () => {
    const directory = newDirectory();
    const [keys, other] = [keysIn(directory), keysIn(directory)];
    await open(keys, weekAt(0));
    const secret = await open(keys, weekAt(1));
    const [row] = await database.pool<
      { wrapped: Buffer }[]
    >`select wrapped from week_keys where week = ${weekAt(1)}`;
    await close(keys, weekAt(0));
    await keys.chain.advance();
    const stale = other.unwrap(database.pool, accountId, weekAt(1), row!.wrapped);
    await expect(stale).rejects.toMatchObject(missing);
    expect(await secretOf(other, weekAt(1))).toEqual(secret);
    expect(await secretOf(other, weekAt(0))).toBeUndefined();
  });
});

describe('whatever happens in whatever order', () => {
  type Step = {
    what: 'open' | 'close' | 'advance' | 'restart' | 'crash' | 'switch';
    who: 0 | 1;
    which: number;
  };
  const step = fc.record({
    what: fc.constantFrom<Step['what'][]>('open', 'open', 'close', 'close', 'advance', 'restart', 'crash'),
    who: fc.constantFrom<(0 | 1)[]>(0, 1),
    which: fc.nat(9),
  });

  test('open weeks open everywhere, and closed ones nowhere once everyone has moved on', async () => {
    let next = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
        vi.mocked(keyFile.writeKeyFile).mockReset();
        const { pool } = database;
        await pool`delete from week_keys`;
        await pool`delete from answer_keys`;
        await pool`delete from key_processes`;
        await pool`truncate ever_wrapped`;
        const places = [newDirectory(), newDirectory()];
        const replicas = [keysIn(places[0]!), keysIn(places[1]!)];
        await replicas[0]!.chain.advance();
        await replicas[1]!.chain.imported(await replicas[0]!.chain.exported());
        const secrets = new Map<Week, Buffer>();
        for (const { what, who, which } of steps) {
          const keys = replicas[who]!;
          const week = [...secrets.keys()][which % Math.max(1, secrets.size)];
          if (what === 'open') {
            const fresh = weekAt(next++);
            secrets.set(fresh, await open(keys, fresh));
          } else if (what === 'close' && week) {
            await close(keys, week);
            secrets.delete(week);
          } else if (what === 'advance') await keys.chain.advance();
          else if (what === 'restart') replicas[who] = keysIn(places[who]!);
          else if (what === 'crash') {
            crash();
            await keys.chain.advance().catch(() => {});
            vi.mocked(keyFile.writeKeyFile).mockReset();
            replicas[who] = keysIn(places[who]!);
          }
          // Whatever has not moved on yet: open weeks open everywhere.
          for (const one of replicas) {
            for (const [of, secret] of secrets) expect(await secretOf(one, of)).toEqual(secret);
            expect(await one.lostWeeks()).toEqual([]);
          }
        }
        for (const one of replicas) await one.chain.advance();
        for (const one of replicas) await one.chain.advance();
        const found = await openableBy(keysOnDisk(...places));
        expect(found).toEqual(new Set(secrets.keys()));
        expect(keysOnDisk(places[0]!)).toEqual(keysOnDisk(places[1]!));
        for (const one of replicas) {
          for (const [of, secret] of secrets) expect(await secretOf(one, of)).toEqual(secret);
        }
      }),
      { numRuns: 25 },
    );
  }, 120_000);
});
