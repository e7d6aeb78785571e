// Reads zip archives, as far as workbooks need it. Checks the directory before decompressing anything, and never decompresses
// more than the directory declares.
import { constants, crc32, inflateRawSync } from 'node:zlib';
import { damaged, locked, unreadable } from './faults.ts';

/** The maximum number of entries. A workbook with hundreds of sheets has about this many. */
const maxEntries = 2_000;
/** The maximum number of bytes of all entries together, decompressed. */
const maxDecompressed = 200 * 1024 * 1024;

/** The number of bytes at the end of an archive that locate its directory: the end record with the longest comment. */
export const zipTailBytes = 22 + 0xffff;

const endMark = Buffer.from('504b0506', 'hex');
const end64Mark = 0x06064b50;
const directoryMark = 0x02014b50;
const localMark = 0x04034b50;

export type ZipEntry = {
  name: string;
  /** The decompressed size that the directory declares, in bytes. */
  size: number;
  /** Returns the decompressed bytes. Throws a Fault if they differ from the declared size or checksum. */
  unpack(): Buffer;
};

/**
 * Returns the entries of an archive. Throws a Fault if the archive is truncated, inconsistent or password-protected, or has more
 * or larger entries than a readable workbook.
 */
export function readZip(zip: Buffer): ZipEntry[] {
  try {
    return entriesOf(zip);
  } catch (error) {
    if (error instanceof RangeError) throw damaged(); // An offset lies beyond the end.
    throw error;
  }
}

function entriesOf(zip: Buffer): ZipEntry[] {
  const { count, offset } = directoryOf(zip);
  if (count > maxEntries) throw tooLarge();
  const entries: ZipEntry[] = [];
  const ranges: { from: number; to: number }[] = [{ from: offset, to: zip.length }];
  const names = new Set<string>();
  let decompressed = 0;
  for (let i = 0, at = offset; i < count; i++) {
    const { name, size, compressed, local, flags, method, crc, next } = directoryEntry(zip, at);
    at = next;
    if (flags & 0x2041) throw locked();
    decompressed += size;
    if (decompressed > maxDecompressed) throw tooLarge();
    if (zip.readUInt32LE(local) !== localMark) throw damaged();
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    ranges.push({ from: local, to: from + compressed });
    const key = name.toLowerCase();
    if (names.has(key)) throw damaged();
    names.add(key);
    const bytes = zip.subarray(from, from + compressed);
    entries.push({ name, size, unpack: () => decompress(bytes, { method, size, crc }) });
  }
  ranges.sort((a, b) => a.from - b.from);
  if (ranges.some(({ from }, i) => i > 0 && from < ranges[i - 1]!.to)) throw damaged(); // Two entries overlap.
  return entries;
}

/** Returns where the directory begins, and how many entries it has. */
function directoryOf(zip: Buffer): { count: number; offset: number } {
  const end = zip.lastIndexOf(endMark);
  if (end < 0) throw damaged();
  const count = zip.readUInt16LE(end + 10);
  const offset = zip.readUInt32LE(end + 16);
  if (count < 0xffff && offset < 0xffffffff) return { count, offset };
  // Zip64: a locator before the end record points to the 64-bit numbers.
  const end64 = number64(zip, end - 12);
  if (zip.readUInt32LE(end64) !== end64Mark) throw damaged();
  return { count: number64(zip, end64 + 32), offset: number64(zip, end64 + 48) };
}

/**
 * Returns where the directory of an archive is and how many entries it has, from the size and the last bytes of the archive.
 * Returns undefined for Zip64. Throws a Fault if the archive is truncated.
 */
export function directoryIn(
  tail: Buffer,
  size: number,
): { from: number; to: number; count: number } | undefined {
  const end = tail.lastIndexOf(endMark);
  if (end < 0 || end + 22 > tail.length) throw damaged();
  const [count, from] = [tail.readUInt16LE(end + 10), tail.readUInt32LE(end + 16)];
  if (count === 0xffff || from === 0xffffffff) return undefined;
  const to = size - tail.length + end;
  if (from >= to) throw damaged();
  return { from, to, count };
}

/** Returns the first `count` names in a directory. Throws a Fault if the directory is damaged. */
export function namesIn(directory: Buffer, count: number): string[] {
  const names: string[] = [];
  try {
    for (let at = 0; names.length < count;) {
      const { name, next } = directoryEntry(directory, at);
      names.push(name);
      at = next;
    }
  } catch (error) {
    if (error instanceof RangeError) throw damaged();
    throw error;
  }
  return names;
}

function directoryEntry(zip: Buffer, at: number) {
  if (zip.readUInt32LE(at) !== directoryMark) throw damaged();
  const extra = at + 46 + zip.readUInt16LE(at + 28);
  const comment = extra + zip.readUInt16LE(at + 30);
  let [size, compressed, local] = [24, 20, 42].map((field) => zip.readUInt32LE(at + field)) as [
    number,
    number,
    number,
  ];
  for (let field = extra; field + 4 <= comment; field += 4 + zip.readUInt16LE(field + 2)) {
    if (zip.readUInt16LE(field) !== 1) continue;
    // Zip64: this field contains the numbers that do not fit into 32 bits, in this order.
    let value = field + 4;
    const resolved = (given: number) => (given < 0xffffffff ? given : number64(zip, (value += 8) - 8));
    [size, compressed, local] = [resolved(size), resolved(compressed), resolved(local)];
  }
  return {
    name: zip.toString('utf8', at + 46, extra),
    size,
    compressed,
    local,
    flags: zip.readUInt16LE(at + 8),
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    next: comment + zip.readUInt16LE(at + 32),
  };
}

type Declared = { method: number; size: number; crc: number };

function decompress(bytes: Buffer, { method, size, crc }: Declared): Buffer {
  if (method !== 0 && method !== 8) throw damaged();
  const decompressed = method === 0 ? bytes : inflate(bytes, size);
  if (decompressed.length !== size || crc32(decompressed) !== crc) throw damaged();
  return decompressed;
}

function inflate(bytes: Buffer, size: number): Buffer {
  try {
    // Uses a single chunk, so that the bytes are never in memory twice.
    return inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1), chunkSize: Math.max(size, 64) });
  } catch {
    throw damaged();
  }
}

// A value that loses precision as a number lies beyond the end of any archive anyway.
const number64 = (zip: Buffer, at: number): number => Number(zip.readBigUInt64LE(at));

const tooLarge = () =>
  unreadable('The workbook is too large to read. Copy the list to a new workbook, or save it as CSV.');

/**
 * Returns the entries at the beginning of an archive without reading its directory. Stops after an entry whose header does not
 * contain its length.
 */
export function* firstEntries(head: Buffer): Generator<{ name: string; unpack(): Buffer }> {
  for (let at = 0; at + 30 <= head.length && head.readUInt32LE(at) === localMark;) {
    const compressed = head.readUInt32LE(at + 18);
    const extra = at + 30 + head.readUInt16LE(at + 26);
    const from = Math.min(extra + head.readUInt16LE(at + 28), head.length);
    const isSizeUnknown = (head.readUInt16LE(at + 6) & 8) !== 0 && compressed === 0;
    const bytes = head.subarray(from, isSizeUnknown ? head.length : from + compressed);
    const isStored = head.readUInt16LE(at + 8) === 0;
    yield {
      name: head.toString('utf8', at + 30, extra),
      unpack: () => (isStored ? bytes : inflateStart(bytes)),
    };
    if (isSizeUnknown) return;
    at = from + compressed;
  }
}

/** Decompresses the available bytes, up to 1 MB. Returns no bytes if they are damaged. */
function inflateStart(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: 1024 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}
