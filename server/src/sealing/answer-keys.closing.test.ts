// What happens to the keys when weeks close and when ANSWER_KEYS changes: no old key is left, and no open week is lost.
import type { Week } from '@soundings/contract/weeks.ts';
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import type { Fault } from '../base/errors.ts';
import { inTransaction } from '../db/db.ts';
import { openEmptyWeek } from '../testing/asking.ts';
import { type EpochKey, keyAt, unwrap } from './epoch-keys.ts';
import * as keyFile from './key-file.ts';
import { contextOf } from './week-key.ts';
import {
  accountId,
  chainOf,
  close,
  closeIn,
  database,
  keysIn,
  keysOnDisk,
  missing,
  newDirectory,
  open,
  openableBy,
  secretOf,
  weekAt,
  useDatabase,
} from './answer-keys.fixture.ts';

useDatabase();

vi.mock('./key-file.ts', { spy: true });

describe('when the last open week closes', () => {
  /** Returns whether the keys open no later week either. */
  async function copyIsUseless(copy: EpochKey[], week: Week): Promise<boolean> {
    return !(await openableBy(copy)).has(week);
  }

  test('one process starts with a fresh key, and a copy of the previous key opens no later week', async () => {
    const directory = newDirectory();
    const keys = keysIn(directory);
    await open(keys, weekAt(0));
    await keys.chain.advance();
    const copy = keysOnDisk(directory);
    expect(copy).toHaveLength(1);
    await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await keys.chain.advance(); // a week is open, so the key moves forward
    expect(await copyIsUseless(copy, weekAt(1))).toBe(false);
    await close(keys, weekAt(1));
    await keys.chain.advance();
    const secret = await open(keys, weekAt(2));
    expect(await copyIsUseless(copy, weekAt(2))).toBe(true);
    // It is on disk, and processes that share the file have it.
    expect(await secretOf(keysIn(directory), weekAt(2))).toEqual(secret);
    expect(await openableBy(keysOnDisk(directory))).toEqual(new Set([weekAt(2)]));
    expect((await keys.chain.state()).processes.map(({ isBehind }) => isBehind)).toEqual([false]);
  });

  test('if another process has to follow, the key moves forward, and nothing has to be imported there', async () => {
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

  test('a process that shares the file and had the previous key continues', async () => {
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

  describe('and the process dies between writing the file and the commit', () => {
    /** Closes the only week but does not commit the step. The fresh key is in the file. */
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

    test.each(['the same process', 'the next start'])('%s continues', async (who) => {
      const directory = newDirectory();
      const { keys } = await interrupted(directory);
      const next = who === 'the next start' ? keysIn(directory) : keys;
      const secret = await open(next, weekAt(1));
      expect(await secretOf(keysIn(directory), weekAt(1))).toEqual(secret);
      await next.chain.advance();
      expect(keysOnDisk(directory)).toMatchObject([{ chain: (await chainOf()).chain }]);
      expect(await next.lostWeeks()).toEqual([]);
    });

    test('the same process continues after the commit itself failed', async () => {
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

    test('a week that another process with the same file opens before the next start is not lost', async () => {
      const directory = newDirectory();
      const { beside } = await interrupted(directory);
      const secret = await open(beside, weekAt(1));
      const restarted = keysIn(directory);
      expect(await secretOf(restarted, weekAt(1))).toEqual(secret);
      expect(await restarted.lostWeeks()).toEqual([]);
    });
  });

  test('and an older database is restored, its weeks are lost, and new ones can be opened', async () => {
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

  test('a key exported before is not imported, and the error says to export it again', async () => {
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
    // Another process without a file has it immediately.
    expect(await secretOf(keysIn(newDirectory(), 'database'), weekAt(0))).toEqual(secret);
    keys = keysIn(directory);
    expect(await secretOf(keys, weekAt(0))).toEqual(secret);
    await keys.chain.advance();
    await open(keys, weekAt(1));
    const marked = await database.pool<{ week: Week }[]>`
      select week from week_keys where in_database`;
    expect(marked).toEqual([{ week: weekAt(0) }]);
    const [now, ...others] = keysOnDisk(directory);
    expect(others).toEqual([]);
    expect(await chainOf()).toMatchObject({ chain: now!.chain, secret: null });
    // Keys kept from before lead to no current key.
    const [row] = await database.pool<{ wrapped: Buffer }[]>`select wrapped from week_keys`;
    for (const key of old) {
      for (let i = 0; i < 9; i++) {
        expect(
          unwrap(keyAt(key, key.epoch + i)!, contextOf(accountId, weekAt(0)), row!.wrapped),
        ).toBeUndefined();
      }
    }
  });

  test('with database, a closed week’s key is in no row, and neither is the key that wrapped it', async () => {
    const keys = keysIn(newDirectory(), 'database');
    await open(keys, weekAt(0));
    const secret = await open(keys, weekAt(1));
    await close(keys, weekAt(0));
    await keys.chain.advance();
    const { secret: present, ...chain } = await chainOf();
    expect(await openableBy([{ ...chain, secret: present! }])).toEqual(new Set([weekAt(1)]));
    expect(await secretOf(keys, weekAt(1))).toEqual(secret);
  });

  test('a switch that is interrupted between writing the file and the commit loses nothing', async () => {
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

describe('after a week closes', () => {
  test('its stored key can no longer be decrypted, while those of open weeks can', async () => {
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

  test.each(['before the file is written', 'while it is written'])(
    'and the process dies %s, the next start continues',
    async (where) => {
      const directory = newDirectory();
      const keys = keysIn(directory);
      await open(keys, weekAt(0));
      const secret = await open(keys, weekAt(1));
      await close(keys, weekAt(0));
      vi.mocked(keyFile.writeKeyFile).mockImplementationOnce((path, key) => {
        // The new key is safe, the previous one not yet erased.
        if (where === 'while it is written') writeFileSync(`${path}.next`, keyFile.keyText(key));
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

  test('while another week is being opened or imported, the epoch waits for it, and the new week can be opened', async () => {
    const directory = newDirectory();
    const [keys, other] = [keysIn(directory), keysIn(directory)];
    await Promise.all([keys.chain.prepare(), other.chain.prepare()]);
    await open(keys, weekAt(0));
    const [opened, end] = [Promise.withResolvers<Buffer>(), Promise.withResolvers<void>()];
    const opening = inTransaction(database.pool, async (tx) => {
      opened.resolve(Buffer.from((await openEmptyWeek(tx, other, accountId, weekAt(1))).secret));
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

  test('while another week that has no key yet is being opened, that week gets a key of the new epoch', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const opening = inTransaction(database.pool, async (tx) => {
      await tx`select 1`;
      begun.resolve();
      await go.promise;
      return Buffer.from((await openEmptyWeek(tx, keys, accountId, weekAt(1))).secret);
    });
    await begun.promise;
    await close(keys, weekAt(0));
    await keys.chain.advance();
    go.resolve();
    const secret = await opening;
    expect(await secretOf(keys, weekAt(1))).toEqual(secret);
    expect(await keys.lostWeeks()).toEqual([]);
  });

  test('a rolled back closing deletes nothing', async () => {
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

  test("a reader's previous key still opens its copy, and a deleted key is gone", async () => {
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
