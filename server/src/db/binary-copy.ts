// COPY in its binary format, for large values of bytes. In parameters and rows, the driver writes them as hexadecimal texts, which have twice the
// size, and converting these takes longer than everything else that is done with the bytes.
import { copyBytes, copyOut, type Db, type Fragment } from './db.ts';

type Statement = Parameters<typeof copyOut>[0];

/** What a column of this type has: `integer` (not `bigint`), `bytea`, or null. */
type BinaryValue = number | Uint8Array | null;

/** What data in this format begins with, with two empty fields for extensions, and what it ends with. */
export const binaryStart = Buffer.from('PGCOPY\n\xff\r\n\0' + '\0'.repeat(8), 'latin1');
export const binaryEnd = Buffer.from([0xff, 0xff]);

/** Writes one row. `statement` is `copy … from stdin (format binary)`. */
export async function copyRow(statement: Statement, values: readonly BinaryValue[]): Promise<void> {
  await copyBytes(statement, [binaryStart, int16(values.length), ...values.flatMap(fieldOf), binaryEnd]);
}

/**
 * Returns the only value of the only row that `statement`, a `copy (select …) to stdout (format binary)`, gives. Undefined: no row.
 */
export async function copiedValue(statement: Statement): Promise<Buffer | null | undefined> {
  const chunks: Buffer[] = [];
  for await (const chunk of copyOut(statement)) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const row = bytes.subarray(binaryStart.length);
  if (row.readInt16BE(0) === -1) return undefined; // the end, instead of the number of columns
  const length = row.readInt32BE(2);
  return length === -1 ? null : row.subarray(6, 6 + length);
}

/** Returns an integer as a part of a statement. COPY can't have parameters. */
export function literal(db: Db, value: number): Fragment {
  if (!Number.isSafeInteger(value)) throw new TypeError(`${value} is not an integer`);
  return db.unsafe(String(value));
}

function fieldOf(value: BinaryValue): Uint8Array[] {
  if (value === null) return [int32(-1)];
  const bytes = typeof value === 'number' ? int32(value) : value;
  return [int32(bytes.length), bytes];
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
