// The keys of open weeks: open weeks can be decrypted everywhere, and closed weeks nowhere, with anything that is left.
import type { Week } from '@soundings/contract/weeks.ts';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { Fault } from '../base/errors.ts';
import type { AnswerKeys } from './answer-keys.ts';
import { type EpochKey, keyAt } from './epoch-keys.ts';
import * as keyFile from './key-file.ts';
import {
  accountId,
  chainOf,
  close,
  crash,
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
import { cases } from '../testing/house/cases.ts';
import { keepOpen } from '../testing/keep-open.ts';

useDatabase();

vi.mock('./key-file.ts', { spy: true });

describe('prepare', () => {
  test('creates a key in the file on first startup, and stores no part of it in the database', async () => {
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

  test('gives processes that start together on one directory the same key', async () => {
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

  test('after an older database is restored, its weeks are lost, and new ones can be opened', async () => {
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

  test('without the file during an open week, the key is missing, and every use says what to do until it is back', async () => {
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
      for (const advice of ['keys export', 'keys import', 'keys reset', 'ANSWER_KEYS=database'])
        expect((error as Fault).message).toContain(advice);
    }
    await restarted.chain.advance();
    expect(await restarted.chain.state()).toMatchObject({ state: 'missing' });
    expect(keysOnDisk(directory)).toEqual([]);
    await restarted.chain.imported(text);
    expect(await secretOf(restarted, weekAt(0))).toEqual(secret);
    expect(await restarted.chain.state()).toMatchObject({ state: 'ready' });
  });

  test('without the file and without open weeks, creates a new key, because no one needs the previous one', async () => {
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

  test('reset gives up a lost key: the open weeks are lost, and new ones can be opened', async () => {
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

  test('a process with its own directory has no key until it gets one from another process, and follows it from then on', async () => {
    const [one, two] = [newDirectory(), newDirectory()];
    const [first, second] = [keysIn(one), keysIn(two)];
    await first.chain.advance(); // as at startup: the process is registered
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

  test.each(['file', 'database'] as const)(
    'a key in a %s is read while others keep it locked, such as weeks that are being opened or closed',
    async (place) => {
      const directory = newDirectory();
      const secret = await open(keysIn(directory, place), weekAt(0));
      const release = await keepOpen(database.pool, (tx) => tx`select 1 from answer_keys for update`);
      onTestFinished(release);
      expect(await secretOf(keysIn(directory, place), weekAt(0))).toEqual(secret);
    },
  );

  test('a key of another installation, or one later than the database, is not imported', async () => {
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

  test('a missing key recovers without help when no week is open and the processes that had it are gone', async () => {
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

describe('the record of copies', () => {
  const recordedCopies = async (keys: AnswerKeys) => {
    const { exportedAt, exportedUntil, inDatabaseUntil } = await keys.chain.state();
    const wasExported = exportedAt !== null && (exportedUntil === null ? 'still' : 'once');
    return { wasExported, wasInDatabase: inDatabaseUntil !== null };
  };

  test('shows an export permanently, and when later keys stop following from it', async () => {
    const keys = keysIn(newDirectory());
    await open(keys, weekAt(0));
    await open(keys, weekAt(1));
    expect(await recordedCopies(keys)).toEqual({ wasExported: false, wasInDatabase: false });
    await keys.chain.exported();
    await close(keys, weekAt(0));
    await keys.chain.advance();
    expect(await recordedCopies(keys)).toEqual({ wasExported: 'still', wasInDatabase: false });
    await keys.chain.reset();
    expect(await recordedCopies(keys)).toEqual({ wasExported: 'once', wasInDatabase: false });
    const { exportedAt, exportedUntil } = await keys.chain.state();
    await keys.chain.reset();
    expect(await keys.chain.state()).toMatchObject({ exportedAt, exportedUntil });
    await keys.chain.exported();
    expect(await recordedCopies(keys)).toEqual({ wasExported: 'still', wasInDatabase: false });
    await close(keys, weekAt(1));
    await keys.chain.advance(); // no week is open
    expect(await recordedCopies(keys)).toEqual({ wasExported: 'once', wasInDatabase: false });
  });

  test('shows that the key was in the database, and when it was removed from there', async () => {
    const directory = newDirectory();
    await open(keysIn(directory), weekAt(0));
    const inDatabase = keysIn(directory, 'database');
    await close(inDatabase, weekAt(0));
    await inDatabase.chain.advance();
    expect(await recordedCopies(inDatabase)).toEqual({ wasExported: false, wasInDatabase: false });
    const keys = keysIn(directory);
    const began = Date.now();
    const { inDatabaseUntil } = await keys.chain.state();
    expect(Math.abs(Date.parse(inDatabaseUntil as string) - began)).toBeLessThan(10_000);
    await keys.chain.reset();
    expect((await keys.chain.state()).inDatabaseUntil).toBe(inDatabaseUntil);
  });

  test('shows a process that was switched off until it is reported as gone', async () => {
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

  test('identifies a process by the name next to its key, so a restarted container is the same process', async () => {
    const directory = newDirectory();
    const names = async () => (await keysIn(directory).chain.state()).processes.map(({ name }) => name);
    await keysIn(directory).chain.advance();
    expect(await names()).toEqual([`${hostname()}:${join(directory, 'answers')}`]);
    expect(readFileSync(join(directory, 'name'), 'utf8')).toBe(`${(await names())[0]}\n`);
    await database.pool`delete from key_processes`;
    writeFileSync(join(directory, 'name'), 'a-container:/data/keys/answers\n'); // its name when it first ran
    await open(keysIn(directory), weekAt(0));
    await keysIn(directory).chain.advance();
    expect(await names()).toEqual(['a-container:/data/keys/answers']);
  });

  test('drops a process whose key has moved to the database, and the database once the key is in a file again', async () => {
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

describe('in any order of events', () => {
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

  test('open weeks can be opened everywhere, and closed ones nowhere once all processes have advanced', async () => {
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
          // Before all processes have advanced, open weeks can be opened everywhere.
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
      cases(25),
    );
  });
});
