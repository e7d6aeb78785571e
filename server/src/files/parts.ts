// What is written of an upload, in parts: filled in memory, and written to the database as soon as they are full, two
// while the next is filled. Clients that send ahead do not keep to the order, so two may be filled at a time.
import type { AccountId, Pool } from '../db/db.ts';
import { insertRows, mostRows, rowBytes, selectRows, upsertRows } from './store.sql.ts';

/** Of which size the parts of a file are, in bytes. */
export const partBytes = mostRows * rowBytes;
/** How many are in memory at most: two that are filled and one that is written, or the other way round. */
export const partsInMemory = 3;
/** How many of them are filled at most. */
const mostFilled = 2;

export type Parts = {
  /** How far it is written, in bytes. */
  readonly size: number;
  /** Where the first bytes are missing; at `size` where none are. */
  readonly gap: number;
  /** In how many pieces it is, with gaps between them. */
  readonly pieces: number;
  /** Bytes that are in memory alone. */
  readonly unwritten: number;
  /** Writes bytes at an offset. Fulfilled when more may come. */
  put(offset: number, bytes: Buffer): Promise<void>;
  /** The first part, as far as there is one. */
  head(): Promise<Buffer | undefined>;
  /** Fulfilled when all is in the database. */
  flush(): Promise<void>;
  /** Has less in memory, where there is any. */
  shrink(): Promise<void>;
  /** Fulfilled when nothing is being written, whatever became of it. */
  settled(): Promise<void>;
};

/** `length`: how far the buffer is used. */
type Part = { position: number; buffer: Buffer; length: number; isChanged: boolean };

/** The parts of an upload of which `written` bytes are in the database. */
export function openParts(pool: Pool, accountId: AccountId, fileId: number, written: number): Parts {
  let pieces = withPiece([], 0, written);
  /** Those that are being filled, the one that was begun first first. */
  const filling: Part[] = [];
  const writer = openWriter(pool, accountId, fileId, Math.ceil(written / partBytes));

  /** The part at a position. */
  async function turnTo(position: number): Promise<Part> {
    const found = filling.find((part) => part.position === position);
    if (found) return found;
    if (filling.length === mostFilled) write(filling[0] as Part);
    await writer.untilWriting(partsInMemory - filling.length - 1);
    const buffer = await writer.read(position);
    const part = { position, buffer, length: buffer.length, isChanged: false };
    filling.push(part);
    return part;
  }

  /** Begins to write a part, which is not filled any more. */
  function write(part: Part): void {
    filling.splice(filling.indexOf(part), 1);
    if (part.isChanged) writer.write(part);
  }

  return {
    get size() {
      return pieces.at(-1)?.end ?? 0;
    },
    get gap() {
      return pieces[0]?.start === 0 ? pieces[0].end : 0;
    },
    get pieces() {
      return pieces.length;
    },
    get unwritten() {
      return filling.reduce((sum, { buffer }) => sum + buffer.length, writer.bytes);
    },
    async put(offset, bytes) {
      for (let done = 0; done < bytes.length;) {
        const at = offset + done;
        const within = at % partBytes;
        const length = Math.min(bytes.length - done, partBytes - within);
        // oxlint-disable no-await-in-loop -- one part after another
        const part = await turnTo(Math.floor(at / partBytes));
        fill(part, within, bytes.subarray(done, done + length));
        done += length;
        const wasWhole = isWhole(pieces, part.position);
        pieces = withPiece(pieces, at, at + length);
        if (!wasWhole && isWhole(pieces, part.position)) write(part);
        // oxlint-enable no-await-in-loop
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
      // That it has failed is told to whoever writes next; then nothing of it is of use.
      await writer.untilWriting(Math.max(writer.count - 1, 0)).catch(() => filling.splice(0));
    },
    settled: () => writer.untilWriting(0).catch(() => {}),
  };
}

const isWhole = (pieces: Piece[], position: number): boolean =>
  pieces.some(({ start, end }) => start <= position * partBytes && end >= (position + 1) * partBytes);

/**
 * Buffers of parts that are written, to be used again. New ones would bring the next collection of all garbage nearer: four
 * for a file of 10 MB, which took as long as everything else.
 */
const spare: Buffer[] = [];
const mostSpare = 16;

/** A buffer without anything in it, with room for so many bytes. Most files are smaller than a part by far. */
function roomyBuffer(length: number): Buffer {
  if (length <= partBytes / 4) return Buffer.alloc(Math.max(length, 4096));
  return spare.pop()?.fill(0) ?? Buffer.alloc(partBytes);
}

/** Copies bytes into a part, whose buffer grows as far as it is used. */
function fill(part: Part, within: number, bytes: Buffer): void {
  const length = within + bytes.length;
  if (length > part.buffer.length) {
    // After the first one a part becomes full, as a rule.
    const roomy = roomyBuffer(part.position > 0 ? partBytes : Math.max(length, 2 * part.buffer.length));
    part.buffer.copy(roomy);
    part.buffer = roomy;
  }
  bytes.copy(part.buffer, within);
  part.length = Math.max(part.length, length);
  part.isChanged = true;
}

type Piece = { start: number; end: number };

/** Pieces in their order, none of which meet, with one more. */
function withPiece(pieces: Piece[], start: number, end: number): Piece[] {
  if (start === end) return pieces;
  const before = pieces.filter((piece) => piece.end < start);
  const after = pieces.filter((piece) => piece.start > end);
  const meeting = pieces.slice(before.length, pieces.length - after.length);
  const joined = {
    start: Math.min(start, ...meeting.map((piece) => piece.start)),
    end: Math.max(end, ...meeting.map((piece) => piece.end)),
  };
  return [...before, joined, ...after];
}

/**
 * So many parts are written at a time, of all uploads: as many as two cores can, and few enough to leave connections to
 * everybody else.
 */
const mostWriting = 4;
const turns: (() => void)[] = [];
let writingNow = 0;

async function inTurn(work: () => Promise<void>): Promise<void> {
  if (writingNow === mostWriting) await new Promise<void>((resolve) => turns.push(resolve));
  else writingNow++;
  try {
    await work();
  } finally {
    const next = turns.shift();
    if (next) next();
    else writingNow--;
  }
}

/** Writes parts, several at a time. The first `count` are in the database. Once a part has failed, all have. */
function openWriter(pool: Pool, accountId: AccountId, fileId: number, count: number) {
  const written = new Set(Array.from({ length: count }, (_, position) => position));
  const writing = new Map<Part, Promise<void>>();
  let failure: { error: unknown } | undefined;

  /** A small part is written in one go; a large one in more, but as it is. */
  async function writePart({ position, buffer, length }: Part, isNew: boolean): Promise<void> {
    const bytes = buffer.subarray(0, length);
    const row = position * mostRows;
    if (!isNew || length < partBytes / 4) return upsertRows(pool, accountId, fileId, row, bytes);
    await insertRows(pool, accountId, fileId, row, bytes);
    if (buffer.length === partBytes && spare.length < mostSpare) spare.push(buffer);
  }

  /** Fulfilled when at most so many are still being written; rejected when one has failed. */
  async function untilWriting(most: number): Promise<void> {
    // oxlint-disable-next-line no-await-in-loop -- until it is so
    while (writing.size > most) await Promise.race(writing.values());
    if (failure) throw failure.error;
  }

  return {
    /** What is in the database of a part; nothing when it is not there. */
    async read(position: number): Promise<Buffer> {
      if (!written.has(position)) return Buffer.alloc(0);
      await untilWriting(0);
      return selectRows(pool, accountId, fileId, position * mostRows, mostRows);
    },
    /** How many are being written. */
    get count() {
      return writing.size;
    },
    /** What they have in memory. */
    get bytes() {
      return [...writing.keys()].reduce((sum, { buffer }) => sum + buffer.length, 0);
    },
    untilWriting,
    write(part: Part): void {
      const isNew = !written.has(part.position);
      written.add(part.position);
      const ended = inTurn(() => writePart(part, isNew))
        .catch((error: unknown) => (failure ??= { error }))
        .then(() => void writing.delete(part));
      writing.set(part, ended);
    },
  };
}
