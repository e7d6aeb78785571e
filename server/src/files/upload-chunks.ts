// Buffers an upload in chunks. Each chunk is filled in memory, and written to the database when it is full: up to two are written
// while the next is filled. Clients that send ahead may send bytes out of order, so two chunks can be filled at a time.
import type { AccountId, Pool } from '../db/db.ts';
import { insertRows, maxRows, rowBytes, selectRows, upsertRows } from './store.sql.ts';

/** The size of a chunk in bytes. */
export const chunkBytes = maxRows * rowBytes;
/** The maximum number of chunks in memory: two being filled and one being written, or the reverse. */
export const chunksInMemory = 3;
/** The maximum number of chunks being filled. */
const maxFilling = 2;

export type Chunks = {
  /** The end of the last byte range, in bytes. */
  readonly size: number;
  /** The offset of the first missing byte. Equals `size` if none is missing. */
  readonly gap: number;
  /** The number of separate byte ranges. */
  readonly ranges: number;
  /** The bytes that are only in memory. */
  readonly unwritten: number;
  /** Writes bytes at an offset. Resolves when the client may send more. */
  put(offset: number, bytes: Buffer): Promise<void>;
  /** Returns the first chunk, as far as it exists. */
  head(): Promise<Buffer | undefined>;
  /** Writes everything to the database. */
  flush(): Promise<void>;
  /** Writes a chunk to the database to free memory. */
  shrink(): Promise<void>;
  /** Resolves when no write is running. Never rejects. */
  settled(): Promise<void>;
};

/** `length` is the used length of the buffer. */
type Chunk = { position: number; buffer: Buffer; length: number; isChanged: boolean };

/** Opens the chunks of an upload that has `written` bytes in the database. */
export function openChunks(pool: Pool, accountId: AccountId, fileId: number, written: number): Chunks {
  let ranges = withRange([], 0, written);
  /** The chunks being filled, oldest first. */
  const filling: Chunk[] = [];
  const writer = openWriter(pool, accountId, fileId, Math.ceil(written / chunkBytes));

  /** Returns the chunk at a position, ready to be filled. */
  async function chunkAt(position: number): Promise<Chunk> {
    const found = filling.find((chunk) => chunk.position === position);
    if (found) return found;
    if (filling.length === maxFilling) write(filling[0] as Chunk);
    await writer.untilWriting(chunksInMemory - filling.length - 1);
    const buffer = await writer.read(position);
    const chunk = { position, buffer, length: buffer.length, isChanged: false };
    filling.push(chunk);
    return chunk;
  }

  /** Starts writing a chunk, which is no longer filled. */
  function write(chunk: Chunk): void {
    filling.splice(filling.indexOf(chunk), 1);
    if (chunk.isChanged) writer.write(chunk);
  }

  return {
    get size() {
      return ranges.at(-1)?.end ?? 0;
    },
    get gap() {
      return ranges[0]?.start === 0 ? ranges[0].end : 0;
    },
    get ranges() {
      return ranges.length;
    },
    get unwritten() {
      return filling.reduce((sum, { buffer }) => sum + buffer.length, writer.bytes);
    },
    async put(offset, bytes) {
      for (let done = 0; done < bytes.length;) {
        const at = offset + done;
        const within = at % chunkBytes;
        const length = Math.min(bytes.length - done, chunkBytes - within);
        const chunk = await chunkAt(Math.floor(at / chunkBytes));
        fill(chunk, within, bytes.subarray(done, done + length));
        done += length;
        const wasFull = isFull(ranges, chunk.position);
        ranges = withRange(ranges, at, at + length);
        if (!wasFull && isFull(ranges, chunk.position)) write(chunk);
      }
    },
    async head() {
      const first = filling.find(({ position }) => position === 0);
      return first ? Buffer.from(first.buffer.subarray(0, first.length)) : writer.read(0);
    },
    async flush() {
      while (filling[0]) write(filling[0]);
      await writer.untilWriting(0);
    },
    async shrink() {
      if (writer.count === 0 && filling[0]) write(filling[0]);
      // After a failure the chunks are useless. The next write reports the error.
      await writer.untilWriting(Math.max(writer.count - 1, 0)).catch(() => filling.splice(0));
    },
    settled: () => writer.untilWriting(0).catch(() => {}),
  };
}

const isFull = (ranges: Range[], position: number): boolean =>
  ranges.some(({ start, end }) => start <= position * chunkBytes && end >= (position + 1) * chunkBytes);

/**
 * Buffers of written chunks, to be reused. Allocating new buffers causes more full garbage collections: four for a file of
 * 10 MB, which took as long as everything else.
 */
const spare: Buffer[] = [];
const maxSpare = 16;

/** Returns an empty buffer with room for `length` bytes. Most files are much smaller than a chunk. */
function emptyBuffer(length: number): Buffer {
  if (length <= chunkBytes / 4) return Buffer.alloc(Math.max(length, 4096));
  return spare.pop()?.fill(0) ?? Buffer.alloc(chunkBytes);
}

/** Copies bytes into a chunk, and grows its buffer if needed. */
function fill(chunk: Chunk, within: number, bytes: Buffer): void {
  const length = within + bytes.length;
  if (length > chunk.buffer.length) {
    // Chunks after the first one usually become full.
    const larger = emptyBuffer(chunk.position > 0 ? chunkBytes : Math.max(length, 2 * chunk.buffer.length));
    chunk.buffer.copy(larger);
    chunk.buffer = larger;
  }
  bytes.copy(chunk.buffer, within);
  chunk.length = Math.max(chunk.length, length);
  chunk.isChanged = true;
}

type Range = { start: number; end: number };

/** Adds a range to a sorted list of separate ranges, and joins ranges that touch. */
function withRange(ranges: Range[], start: number, end: number): Range[] {
  if (start === end) return ranges;
  const before = ranges.filter((range) => range.end < start);
  const after = ranges.filter((range) => range.start > end);
  const touching = ranges.slice(before.length, ranges.length - after.length);
  const joined = {
    start: Math.min(start, ...touching.map((range) => range.start)),
    end: Math.max(end, ...touching.map((range) => range.end)),
  };
  return [...before, joined, ...after];
}

/** The maximum number of chunks, of all uploads, written at a time: enough for two cores, and few enough to leave connections for others. */
const maxWriting = 4;
const turns: (() => void)[] = [];
let writingNow = 0;

async function inTurn(work: () => Promise<void>): Promise<void> {
  if (writingNow === maxWriting) await new Promise<void>((resolve) => turns.push(resolve));
  else writingNow++;
  try {
    await work();
  } finally {
    const next = turns.shift();
    if (next) next();
    else writingNow--;
  }
}

/** Opens a writer of chunks, several at a time. The first `count` are in the database. After a failed chunk, every call fails. */
function openWriter(pool: Pool, accountId: AccountId, fileId: number, count: number) {
  const written = new Set(Array.from({ length: count }, (_, position) => position));
  const writing = new Map<Chunk, Promise<void>>();
  let failure: { error: unknown } | undefined;

  /** Writes small or existing chunks with one statement, and large new ones with COPY. */
  async function writeChunk({ position, buffer, length }: Chunk, isNew: boolean): Promise<void> {
    const bytes = buffer.subarray(0, length);
    const row = position * maxRows;
    if (!isNew || length < chunkBytes / 4) return upsertRows(pool, accountId, fileId, row, bytes);
    await insertRows(pool, accountId, fileId, row, bytes);
    if (buffer.length === chunkBytes && spare.length < maxSpare) spare.push(buffer);
  }

  /** Resolves when at most `max` chunks are still being written. Rejects if one has failed. */
  async function untilWriting(max: number): Promise<void> {
    while (writing.size > max) await Promise.race(writing.values());
    if (failure) throw failure.error;
  }

  return {
    /** Returns the bytes of a chunk in the database, or none if it is not there. */
    async read(position: number): Promise<Buffer> {
      if (!written.has(position)) return Buffer.alloc(0);
      await untilWriting(0);
      return selectRows(pool, accountId, fileId, position * maxRows, maxRows);
    },
    /** The number of chunks being written. */
    get count() {
      return writing.size;
    },
    /** The memory of these chunks in bytes. */
    get bytes() {
      return [...writing.keys()].reduce((sum, { buffer }) => sum + buffer.length, 0);
    },
    untilWriting,
    write(chunk: Chunk): void {
      const isNew = !written.has(chunk.position);
      written.add(chunk.position);
      const ended = inTurn(() => writeChunk(chunk, isNew))
        .catch((error: unknown) => (failure ??= { error }))
        .then(() => void writing.delete(chunk));
      writing.set(chunk, ended);
    },
  };
}
