// COPY in its binary format, with a real server.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTestDatabase, type TestDatabase } from '../testing/database.ts';
import { copiedValue, copyRow, literal } from './binary-copy.ts';
import { inTransaction } from './db.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());

const table =
  'create temporary table copied (number integer not null, other integer, bytes bytea) on commit drop';

test('a row is written as it is, and its bytes are read as they are', async () => {
  await inTransaction(database.pool, async (tx) => {
    await tx.unsafe(table);
    const large = randomBytes(3_000_000);
    const all = [large, Buffer.alloc(0), Buffer.from('\\x00\n\t\\N\0'), null];
    for (const [i, bytes] of all.entries())
      await copyRow(tx`copy copied (number, other, bytes) from stdin (format binary)`, [-i, null, bytes]);
    expect(await tx`select number, other, length(bytes) as length from copied order by number desc`).toEqual(
      all.map((bytes, i) => ({ number: 0 - i, other: null, length: bytes?.length ?? null })),
    );
    const read = (number: number) =>
      copiedValue(
        tx`copy (select bytes from copied where number = ${literal(tx, number)}) to stdout (format binary)`,
      );
    for (const [i, bytes] of all.entries())
      expect((await read(-i))?.equals(bytes as Buffer) ?? null).toBe(bytes && true);
    expect(await read(1)).toBeUndefined();
  });
});

test('a row that the table refuses is an error, and the connection can be used again', async () => {
  const copying = inTransaction(database.pool, async (tx) => {
    await tx.unsafe(table);
    await copyRow(tx`copy copied (number, other, bytes) from stdin (format binary)`, [null, 1, null]);
  });
  await expect(copying).rejects.toThrow('null value in column "number"');
  expect(await database.pool`select 1 as one`).toEqual([{ one: 1 }]);
});

test('only an integer can be a part of a statement', () => {
  for (const value of [1.5, Number.NaN, Infinity, 2 ** 53, '1; drop table users' as unknown as number])
    expect(() => literal(database.pool, value)).toThrow('is not an integer');
});
