// A file that is not exactly what was written is never accepted: cut off, changed, put together from parts, or made to harm the
// reader. Each gets an error that says where.
import { createHash } from 'node:crypto';
import { open, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { Fault } from '../base/errors.ts';
import { cases } from '../testing/house/cases.ts';
import { backUp, folder, useInstallation, world } from './backup.fixture.ts';
import { type BlockKind, openBlocks, readBlocks } from './blocks.ts';
import { readBackup } from './read-backup.ts';

useInstallation();

let whole: Buffer;
beforeAll(async () => {
  whole = await readFile((await backUp(world.pool)).path);
});

let files = 0;
/** Returns the error of a file with these bytes, which must be a Fault about damage; undefined if it is accepted. */
async function faultOf(bytes: Uint8Array): Promise<string | undefined> {
  const path = join(folder, `damaged-${++files}`);
  await writeFile(path, bytes);
  const error = await readBackup(path).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return undefined;
  if (!(error instanceof Fault) || error.code !== 'damaged backup') throw error;
  expect(error.message).toMatch(
    /^\/.*damaged-\d+ can't be used\. .* \((table [\w.]+|beginning|end), at byte [\d,]+\)\./,
  );
  return error.message;
}

/** Writes blocks with correct checksums. */
async function written(blocks: [BlockKind, string | Buffer][]): Promise<Buffer> {
  const parts: Buffer[] = [];
  const writer = openBlocks(async (bytes) => void parts.push(bytes));
  for (const [kind, text] of blocks) await writer.add(kind, Buffer.from(text));
  await writer.end();
  return Buffer.concat(parts);
}

describe('a backup is refused', () => {
  test('if it is cut off at any byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
        expect(await faultOf(whole.subarray(0, length))).toBeDefined();
      }),
      { ...cases(60), examples: [[0], [1], [27], [28], [whole.length - 1]] },
    );
  });

  test('if a bit is changed, or bytes are added, removed or repeated', async () => {
    const at = fc.nat(whole.length - 1);
    const bit = fc.record({ at, bit: fc.nat(7) });
    await fc.assert(
      fc.asyncProperty(bit, async (one) => {
        const bytes = Buffer.from(whole);
        bytes[one.at]! ^= 1 << one.bit;
        expect(await faultOf(bytes)).toBeDefined();
      }),
      cases(60),
    );
    await fc.assert(
      fc.asyncProperty(at, at, fc.uint8Array({ maxLength: 50 }), async (one, other, added) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const replaced = Buffer.concat([whole.subarray(0, from), added, whole.subarray(to)]);
        const repeated = Buffer.concat([whole.subarray(0, to), whole.subarray(from)]);
        for (const bytes of [replaced, repeated].filter((changed) => !changed.equals(whole))) {
          expect(await faultOf(bytes)).toBeDefined();
        }
      }),
      cases(20),
    );
  });

  test('if blocks of two backups are mixed', async () => {
    const other = await readFile((await backUp(world.pool)).path);
    expect(await faultOf(other)).toBeUndefined();
    const half = Math.floor(Math.min(whole.length, other.length) / 2);
    expect(await faultOf(Buffer.concat([whole.subarray(0, half), other.subarray(half)]))).toBeDefined();
  });

  test('if its blocks have correct checksums but other contents: any JSON, any order', async () => {
    const head = { program: '1', schema: { version: 52, name: 'x' }, createdAt: '2026-11-26T12:00:00.000Z' };
    const table = { of: 'soundings', name: 'users', columns: ['a'] };
    const more = { keys: { answers: null, secrets: null }, openWeeks: 0, tables: [table] };
    const sha256 = createHash('sha256').update('1\n').digest('hex');
    const [start, rows, end, last]: [BlockKind, string][] = [
      ['head', JSON.stringify({ ...head, ...more })],
      ['data', '1\n'],
      ['table', JSON.stringify({ rows: 1, bytes: 2, sha256 })],
      ['end', JSON.stringify({ sequences: [] })],
    ];
    expect(await faultOf(await written([start!, rows!, end!, last!]))).toBeUndefined();
    expect(await faultOf(await written([start!, end!, last!]))).toContain(
      'The checksum of the table is wrong',
    );
    expect(await faultOf(await written([start!, rows!, rows!, end!, last!]))).toBeDefined();
    expect(await faultOf(await written([start!, rows!, end!]))).toContain('ends too early');
    expect(await faultOf(await written([start!, rows!, end!, last!, last!]))).toContain('Something follows');
    const twice = JSON.stringify({ ...head, ...more, tables: [table, table] });
    expect(await faultOf(await written([['head', twice], rows!, end!, rows!, end!, last!]))).toContain(
      'not what belongs here',
    );
    const sequences = [{ of: 'soundings', name: 's', last: '1; drop', isCalled: true }];
    expect(
      await faultOf(await written([start!, rows!, end!, ['end', JSON.stringify({ sequences })]])),
    ).toContain('not what belongs here');
    const kind = fc.constantFrom<BlockKind>('head', 'data', 'table', 'key', 'end');
    const json = fc.oneof(fc.json(), fc.constantFrom(start![1], end![1], last![1]));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(kind, json), { maxLength: 5 }), async (blocks) => {
        expect(await faultOf(await written([start!, ...blocks]))).toBeDefined();
        expect(await faultOf(await written(blocks))).toBeDefined();
      }),
      cases(60),
    );
    const value = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...Object.keys({ ...head, ...more })), value, async (field, wrong) => {
        const changed: [BlockKind, string] = ['head', JSON.stringify({ ...head, ...more, [field]: wrong })];
        await faultOf(await written([changed, rows!, end!, last!])); // a Fault, or another valid value
      }),
      cases(60),
    );
  });
});

test('a block that would expand to gigabytes is not decompressed further than it says', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(200 * 1024 * 1024));
  const head = Buffer.alloc(41);
  head.writeUInt32BE(100, 1);
  head.writeUInt32BE(bomb.length, 5);
  const first = Buffer.from('Soundings backup, format 1\n');
  const before = createHash('sha256').update(first).digest();
  createHash('sha256').update(before).update(head.subarray(0, 9)).update(bomb).digest().copy(head, 9);
  const memory = process.memoryUsage().rss;
  expect(await faultOf(Buffer.concat([first, head, bomb]))).toContain('can’t be decompressed');
  expect(process.memoryUsage().rss - memory).toBeLessThan(100e6);
  // Impossible lengths are refused before anything is read or allocated.
  head.writeUInt32BE(0xffff_ffff, 5);
  expect(await faultOf(Buffer.concat([first, head]))).toContain('impossible length');
});

test('a reader keeps a few blocks in memory, and a writer waits until they are written', async () => {
  let [unwritten, most] = [0, 0];
  const parts: Buffer[] = [];
  const writer = openBlocks(async (bytes) => {
    await new Promise((resolve) => setImmediate(resolve));
    unwritten--;
    parts.push(bytes);
  });
  for (let i = 0; i < 50; i++) {
    most = Math.max(most, ++unwritten);
    await writer.add('data', Buffer.alloc(1000, i));
  }
  await writer.end();
  expect(most).toBeLessThan(10);
  const path = join(folder, 'blocks');
  await writeFile(path, Buffer.concat(parts));
  const file = await open(path);
  const reader = readBlocks(file);
  const values: number[] = [];
  for await (const { bytes } of reader.blocks) values.push(bytes[0]!);
  expect(values).toEqual(Array.from({ length: 50 }, (_, i) => i));
  await file.close();
});

test('the first write may fail before a block is added', async () => {
  const writer = openBlocks(() => Promise.reject(new Error('the disk is full')));
  await new Promise((resolve) => setImmediate(resolve)); // an unhandled rejection would end the process here
  await expect(writer.end()).rejects.toThrow('the disk is full');
});
