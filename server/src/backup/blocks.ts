// The file format of backups (decisions/0038): a first line, then blocks. Each block is compressed on its own, is at most 1 MB long,
// and has a digest of itself and of all blocks before it. So a reader needs little memory whatever the file contains, checks each
// block before it decompresses it, and can say where a file is damaged.
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

const firstLine = Buffer.from('Soundings backup, format 1\n');

const kinds = ['head', 'data', 'table', 'key', 'end'] as const;
/** What is in a block: rows of a table (`data`), or JSON. */
export type BlockKind = (typeof kinds)[number];
export type Block = { kind: BlockKind; bytes: Buffer };

/** The size of a block of rows, in bytes before compression. No block is larger. */
export const blockSize = 1024 * 1024;
/** The longest compressed block. Data that can't be compressed gets slightly longer. */
const longest = blockSize + blockSize / 64;
/** kind (1 byte), length (4), compressed length (4), digest (32) */
const [headLength, digestAt] = [41, 9];
/** How many blocks are compressed or decompressed at the same time. */
const ahead = 4;

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];
const params = {
  compressing: { [constants.ZSTD_c_compressionLevel]: 1 },
  // Otherwise a frame could demand 128 MB for a few bytes.
  decompressing: { [constants.ZSTD_d_windowLogMax]: 21 },
};

const digestOf = (before: Buffer, head: Buffer, stored: Buffer) =>
  createHash('sha256').update(before).update(head.subarray(0, digestAt)).update(stored).digest();

const firstDigest = createHash('sha256').update(firstLine).digest();

export type BlockWriter = {
  /** Adds a block. Resolves when another one can be added. `bytes` must not change any more. */
  add(kind: BlockKind, bytes: Buffer): Promise<void>;
  /** Resolves when all blocks are written, with the digest of the last one, which is the checksum of the file, and its length. */
  end(): Promise<{ checksum: string; bytes: number }>;
};

/** Writes blocks with `write`, which resolves when it can take more. */
export function openBlocks(write: (bytes: Buffer) => Promise<void>): BlockWriter {
  let [digest, length] = [firstDigest, firstLine.length];
  let last = write(firstLine);
  last.catch(() => {}); // awaited by the first block, or by end()
  const waiting: Promise<void>[] = [];

  async function writeAfter(
    before: Promise<void>,
    block: Block,
    compressing: Promise<Buffer>,
  ): Promise<void> {
    const [stored] = await Promise.all([compressing, before]);
    const head = Buffer.alloc(headLength);
    head.writeUInt8(kinds.indexOf(block.kind), 0);
    head.writeUInt32BE(block.bytes.length, 1);
    head.writeUInt32BE(stored.length, 5);
    digest = digestOf(digest, head, stored);
    digest.copy(head, digestAt);
    length += headLength + stored.length;
    await write(Buffer.concat([head, stored]));
  }

  return {
    async add(kind, bytes) {
      if (bytes.length > blockSize) throw new Error(`A block of ${bytes.length} bytes is too long.`);
      last = writeAfter(
        last,
        { kind, bytes },
        compress(bytes, { params: params.compressing, chunkSize: longest }),
      );
      last.catch(() => {}); // awaited below, or by end()
      waiting.push(last);
      if (waiting.length > ahead) await waiting.shift();
    },
    async end() {
      await last;
      return { checksum: digest.toString('hex'), bytes: length };
    },
  };
}

/** Why a file is not a whole backup: what is wrong, and at which byte. */
export class Damage extends Error {
  readonly at: number;

  constructor(message: string, at: number) {
    super(message);
    this.at = at;
  }
}

export type BlockReader = {
  /** The blocks in order, each checked. Throws Damage where the file is not what was written. */
  blocks: AsyncGenerator<Block, void>;
  /** The digest of the last block that was read. */
  checksum: () => string;
  /** How many bytes have been read. */
  position: () => number;
};

/** Reads the blocks of a file. */
export function readBlocks(file: FileHandle): BlockReader {
  const source = readerOf(file);
  let digest = firstDigest;

  async function next(): Promise<{ block: Promise<Block> } | undefined> {
    const at = source.position();
    const head = await source.take(headLength);
    if (head.length === 0) return undefined;
    const [kind, length, storedLength] = [kinds[head[0] as number], lengthAt(head, 1), lengthAt(head, 5)];
    if (head.length < headLength) throw new Damage('The file ends in the middle of a block', at);
    if (kind === undefined || length > blockSize || storedLength > longest)
      throw new Damage('A block has an impossible length or kind', at);
    const stored = await source.take(storedLength);
    if (stored.length < storedLength) throw new Damage('The file ends in the middle of a block', at);
    digest = digestOf(digest, head, stored);
    if (!digest.equals(head.subarray(digestAt))) throw new Damage('The checksum of a block is wrong', at);
    const block = decompressed(stored, length, at).then((bytes) => ({ kind, bytes }));
    block.catch(() => {}); // awaited below
    return { block };
  }

  async function* blocks(): AsyncGenerator<Block, void> {
    if (!(await source.take(firstLine.length)).equals(firstLine))
      throw new Damage('This is not a backup of Soundings, or its format is newer', 0);
    const waiting: Promise<Block>[] = [];
    for (let one = await next(); one; one = await next()) {
      waiting.push(one.block);
      if (waiting.length >= ahead) yield (await waiting.shift()) as Block;
    }
    // The order of blocks is the order of the file.
    for (const block of waiting) yield await block;
  }

  return { blocks: blocks(), checksum: () => digest.toString('hex'), position: source.position };
}

const lengthAt = (head: Buffer, at: number) => (head.length < at + 4 ? 0 : head.readUInt32BE(at));

async function decompressed(stored: Buffer, length: number, at: number): Promise<Buffer> {
  const options = {
    maxOutputLength: Math.max(length, 1),
    // As one chunk, because Node returns to this thread after each.
    chunkSize: Math.max(length, constants.Z_MIN_CHUNK),
    params: params.decompressing,
  };
  const bytes = await decompress(stored, options).catch(() => undefined);
  if (bytes?.length !== length) throw new Damage('A block can’t be decompressed', at);
  return bytes;
}

/** Reads a file from its start, in steps of 1 MB. `take` returns fewer bytes than asked for only at the end. */
function readerOf(file: FileHandle) {
  let [buffer, position] = [Buffer.alloc(0), 0];
  async function take(length: number): Promise<Buffer> {
    while (buffer.length < length) {
      const { bytesRead, buffer: more } = await file.read({ buffer: Buffer.allocUnsafe(blockSize) });
      if (bytesRead === 0) break;
      buffer = Buffer.concat([buffer, more.subarray(0, bytesRead)]);
    }
    const taken = buffer.subarray(0, length);
    buffer = buffer.subarray(taken.length);
    position += taken.length;
    return taken;
  }
  return { take, position: () => position };
}
