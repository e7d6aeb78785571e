// The key file: whatever interrupts a step, the next reader finds a complete key, and after a step no file has the previous key.
import type * as fs from 'node:fs';
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type EpochKey, keyAt, newChain } from './epoch-keys.ts';
import {
  finishKeyFile,
  isKeyFileUnfinished,
  keyIn,
  keyText,
  readKeyFile,
  removeKeyFile,
  writeKeyFile,
} from './key-file.ts';
import { cases } from '../testing/house/cases.ts';

/** When the process dies: after this number of disk operations, with `isTorn` in the middle of a write. */
const death = vi.hoisted(() => ({ left: Infinity, isTorn: false, isDead: false }));
vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>();
  const dying =
    <F extends (...args: never[]) => unknown>(work: F, torn?: (...args: Parameters<F>) => void) =>
    (...args: Parameters<F>): unknown => {
      if (death.isDead) throw new Error('dead');
      if (death.left-- > 0) return work(...args);
      death.isDead = true;
      if (death.isTorn) torn?.(...args);
      throw new Error('dead');
    };
  return {
    ...real,
    mkdirSync: dying(real.mkdirSync as (...args: never[]) => unknown),
    openSync: dying(real.openSync as (...args: never[]) => unknown),
    fsyncSync: dying(real.fsyncSync as (...args: never[]) => unknown),
    renameSync: dying(real.renameSync as (...args: never[]) => unknown),
    rmSync: dying(real.rmSync as (...args: never[]) => unknown),
    writeSync: dying(real.writeSync as (...args: never[]) => unknown, (...args: never[]) => {
      const [file, text] = args as unknown as [number, string];
      real.writeSync(file, text.slice(0, text.length / 2), 0);
    }),
  };
});

const live = () => Object.assign(death, { left: Infinity, isTorn: false, isDead: false });
const home = mkdtempSync(join(tmpdir(), 'soundings-key-file-'));
let path = '';
let tests = 0;
beforeEach(() => {
  live();
  path = join(home, String(++tests), 'answers');
});
afterAll(() => {
  live();
  rmSync(home, { recursive: true, force: true });
});

const first = newChain();
const [second, third] = [keyAt(first, 2), keyAt(first, 3)] as [EpochKey, EpochKey];
/** Returns the content of all files in the directory. */
const onDisk = () =>
  readdirSync(join(path, '..'))
    .map((name) => readFileSync(join(path, '..', name), 'latin1'))
    .join('\n');
const has = (key: EpochKey) => onDisk().includes(key.secret.toString('hex'));

/** Runs something that dies after this number of disk operations. Returns false if it needed fewer. */
function dies(after: number, isTorn: boolean, work: () => void): boolean {
  Object.assign(death, { left: after, isTorn, isDead: false });
  try {
    work();
  } catch (error) {
    if ((error as Error).message !== 'dead') throw error;
  }
  const hasDied = death.isDead;
  live();
  return hasDied;
}

test('the text of a key always has the same length and reads as the key, and no other text does', () => {
  const lengths = [first, second, { ...first, epoch: 4_000_000_000 }].map((key) => keyText(key).length);
  expect(new Set(lengths).size).toBe(1);
  expect(keyIn(keyText(second))).toEqual(second);
  const text = keyText(first);
  fc.assert(
    fc.property(fc.nat(text.length - 2), fc.constantFrom('0', '1', 'f', '\0', 'x'), (at, other) => {
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      expect(changed === text || keyIn(changed) === undefined).toBe(true);
      expect(keyIn(text.slice(0, at))).toBeUndefined();
    }),
  );
  for (const other of ['', '0'.repeat(text.length), `${text}${text}`]) expect(keyIn(other)).toBeUndefined();
});

test('a key is readable only by its owner, in its own directory, and a missing file means no key', () => {
  expect(readKeyFile(path)).toBeUndefined();
  writeKeyFile(path, first);
  expect(readKeyFile(path)).toEqual(first);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);
});

test('the previous key is overwritten in place, not only unlinked', () => {
  writeKeyFile(path, first);
  // Another name for the same place on the disk.
  linkSync(path, `${path}.seen`);
  expect(readFileSync(`${path}.seen`, 'latin1')).toContain(first.secret.toString('hex'));
  writeKeyFile(path, second);
  expect(readFileSync(`${path}.seen`, 'latin1')).toMatch(/^0+$/);
  linkSync(path, `${path}.also`);
  removeKeyFile(path);
  expect(readFileSync(`${path}.also`, 'latin1')).toMatch(/^0+$/);
});

describe.each([
  ['at once', false],
  ['in the middle of a write', true],
])('a process that dies %s', (_, isTorn) => {
  test('at any step leaves a complete key, the new or the previous one, and the next step finishes and leaves no older key', () => {
    let steps = 0;
    for (let after = 0, isOver = false; !isOver; after++) {
      path = join(home, `${tests} ${isTorn} ${after}`, 'answers');
      writeKeyFile(path, first);
      isOver = !dies(after, isTorn, () => writeKeyFile(path, second));
      steps = after;
      const found = readKeyFile(path);
      expect(isOver ? [second] : [first, second]).toContainEqual(found);
      // As AnswerKeys does at startup: unfinished steps are written again.
      if (isKeyFileUnfinished(path) || found?.epoch === 1) writeKeyFile(path, second);
      expect(readKeyFile(path)).toEqual(second);
      expect([has(first), isKeyFileUnfinished(path)]).toEqual([false, false]);
    }
    expect(steps).toBeGreaterThan(8);
  });

  test('again and again, while writing and while recovering, always leaves a key', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(14), fc.constantFrom('write', 'finish')), { maxLength: 8 }),
        (deaths) => {
          path = join(home, `${++tests}`, 'answers');
          writeKeyFile(path, first);
          let epoch = 1;
          for (const [after, what] of deaths) {
            const wanted = keyAt(first, epoch + 1) as EpochKey;
            dies(after, isTorn, () => (what === 'write' ? writeKeyFile(path, wanted) : finishKeyFile(path)));
            const found = readKeyFile(path);
            expect(found).toEqual(keyAt(first, found?.epoch ?? 0));
            expect(found!.epoch).toBeGreaterThanOrEqual(epoch);
            epoch = found!.epoch;
          }
          writeKeyFile(path, keyAt(first, 40) as EpochKey);
          for (let old = 1; old < 40; old++) expect(has(keyAt(first, old) as EpochKey)).toBe(false);
        },
      ),
      cases(30),
    );
  });

  test('while a key is removed can be recovered from, and then no file has a key', () => {
    for (let after = 0, isOver = false; !isOver; after++) {
      path = join(home, `${tests} removed ${isTorn} ${after}`, 'answers');
      writeKeyFile(path, first);
      isOver = !dies(after, isTorn, () => removeKeyFile(path));
      removeKeyFile(path);
      expect([readKeyFile(path), has(first), onDisk()]).toEqual([undefined, false, '']);
    }
  });
});

describe('after an interrupted step', () => {
  const states: [string, string | undefined, string | undefined, EpochKey | undefined][] = [
    ['the previous key and part of the new one', keyText(first), keyText(second).slice(0, 90), first],
    ['the previous key and an empty file', keyText(first), '', first],
    ['both keys', keyText(first), keyText(second), second],
    [
      'part of the previous key, and the new one',
      `${'0'.repeat(99)}${keyText(first).slice(99)}`,
      keyText(second),
      second,
    ],
    ['zeros and the new one', '0'.repeat(200), keyText(second), second],
    ['only the new one, without its name', undefined, keyText(second), second],
    ['an older one that was never removed', keyText(second), keyText(first), second],
    ['nothing whole', '0'.repeat(200), keyText(second).slice(0, 90), undefined],
  ];

  test.each(states)(
    'with %s, the next reader finds the right key, and the next step leaves one key',
    (_, now, next, found) => {
      writeKeyFile(path, third);
      if (now === undefined) rmSync(path);
      else writeFileSync(path, now);
      if (next !== undefined) writeFileSync(`${path}.next`, next);
      expect(readKeyFile(path)).toEqual(found);
      writeKeyFile(path, third);
      expect(readKeyFile(path)).toEqual(third);
      expect([has(first), has(second), readdirSync(join(path, '..'))]).toEqual([false, false, ['answers']]);
    },
  );
});
