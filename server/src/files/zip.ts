// Zip archives, as far as workbooks are such: the directory is walked before anything is unpacked, and nothing unpacks to
// more than the directory says.
import { constants, crc32, inflateRawSync } from 'node:zlib';
import { damaged, locked, unreadable } from './rows.ts';

/** The most entries; a workbook of hundreds of sheets has as many. */
const maxEntries = 2_000;
/** The most bytes of all entries, unpacked. */
const maxUnpacked = 200 * 1024 * 1024;

const endMark = Buffer.from('504b0506', 'hex');
const end64Mark = 0x06064b50;
const directoryMark = 0x02014b50;
const localMark = 0x04034b50;

export type ZipEntry = {
  name: string;
  /** What the directory says: bytes, unpacked. */
  size: number;
  /** Throws a Fault where it does not unpack to just that. */
  unpack(): Buffer;
};

/**
 * The entries of an archive. Throws a Fault for one that is cut off, contradicts itself or needs a password, and where it
 * has more or larger entries than a workbook that can be read.
 */
export function readZip(zip: Buffer): ZipEntry[] {
  try {
    return entriesOf(zip);
  } catch (error) {
    if (error instanceof RangeError) throw damaged(); // something lies beyond the end
    throw error;
  }
}

function entriesOf(zip: Buffer): ZipEntry[] {
  const { count, offset } = directoryOf(zip);
  if (count > maxEntries) throw tooLarge();
  const entries: ZipEntry[] = [];
  const ranges: { from: number; to: number }[] = [{ from: offset, to: zip.length }];
  const names = new Set<string>();
  let unpacked = 0;
  for (let i = 0, at = offset; i < count; i++) {
    const { name, size, packed, local, flags, method, crc, next } = directoryEntry(zip, at);
    at = next;
    if (flags & 0x2041) throw locked();
    unpacked += size;
    if (unpacked > maxUnpacked) throw tooLarge();
    if (zip.readUInt32LE(local) !== localMark) throw damaged();
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    ranges.push({ from: local, to: from + packed });
    const key = name.toLowerCase();
    if (names.has(key)) throw damaged();
    names.add(key);
    const bytes = zip.subarray(from, from + packed);
    entries.push({ name, size, unpack: () => unpack(bytes, { method, size, crc }) });
  }
  ranges.sort((a, b) => a.from - b.from);
  if (ranges.some(({ from }, i) => i > 0 && from < ranges[i - 1]!.to)) throw damaged(); // two in one place
  return entries;
}

/** Where the directory begins, and how many entries it has. */
function directoryOf(zip: Buffer): { count: number; offset: number } {
  const end = zip.lastIndexOf(endMark);
  if (end < 0) throw damaged();
  const count = zip.readUInt16LE(end + 10);
  const offset = zip.readUInt32LE(end + 16);
  if (count < 0xffff && offset < 0xffffffff) return { count, offset };
  // Zip64: a locator before the end says where the larger numbers are.
  const end64 = number64(zip, end - 12);
  if (zip.readUInt32LE(end64) !== end64Mark) throw damaged();
  return { count: number64(zip, end64 + 32), offset: number64(zip, end64 + 48) };
}

function directoryEntry(zip: Buffer, at: number) {
  if (zip.readUInt32LE(at) !== directoryMark) throw damaged();
  const extra = at + 46 + zip.readUInt16LE(at + 28);
  const comment = extra + zip.readUInt16LE(at + 30);
  let [size, packed, local] = [24, 20, 42].map((field) => zip.readUInt32LE(at + field)) as [
    number,
    number,
    number,
  ];
  for (let field = extra; field + 4 <= comment; field += 4 + zip.readUInt16LE(field + 2)) {
    if (zip.readUInt16LE(field) !== 1) continue;
    // Zip64: the numbers that did not fit, in this order.
    let value = field + 4;
    const larger = (given: number) => (given < 0xffffffff ? given : number64(zip, (value += 8) - 8));
    [size, packed, local] = [larger(size), larger(packed), larger(local)];
  }
  return {
    name: zip.toString('utf8', at + 46, extra),
    size,
    packed,
    local,
    flags: zip.readUInt16LE(at + 8),
    method: zip.readUInt16LE(at + 10),
    crc: zip.readUInt32LE(at + 16),
    next: comment + zip.readUInt16LE(at + 32),
  };
}

function unpack(bytes: Buffer, { method, size, crc }: { method: number; size: number; crc: number }): Buffer {
  if (method !== 0 && method !== 8) throw damaged();
  const unpacked = method === 0 ? bytes : inflate(bytes, size);
  if (unpacked.length !== size || crc32(unpacked) !== crc) throw damaged();
  return unpacked;
}

function inflate(bytes: Buffer, size: number): Buffer {
  try {
    // In one piece, so that it is never in memory twice.
    return inflateRawSync(bytes, { maxOutputLength: Math.max(size, 1), chunkSize: Math.max(size, 64) });
  } catch {
    throw damaged();
  }
}

// One that is too large for a number is beyond every end anyway.
const number64 = (zip: Buffer, at: number): number => Number(zip.readBigUInt64LE(at));

const tooLarge = () =>
  unreadable(
    'The workbook unpacks to more than can be read. Keep the list alone, in a workbook of its own, or save it as CSV.',
  );

/**
 * The entries at the beginning of an archive, one after another as they lie in it, as far as can be told without its
 * directory: until one that does not say how long it is.
 */
export function* firstEntries(head: Buffer): Generator<{ name: string; unpack(): Buffer }> {
  for (let at = 0; at + 30 <= head.length && head.readUInt32LE(at) === localMark;) {
    const packed = head.readUInt32LE(at + 18);
    const extra = at + 30 + head.readUInt16LE(at + 26);
    const from = Math.min(extra + head.readUInt16LE(at + 28), head.length);
    const followsItsSize = (head.readUInt16LE(at + 6) & 8) !== 0 && packed === 0;
    const bytes = head.subarray(from, followsItsSize ? head.length : from + packed);
    const isStored = head.readUInt16LE(at + 8) === 0;
    yield {
      name: head.toString('utf8', at + 30, extra),
      unpack: () => (isStored ? bytes : inflateStart(bytes)),
    };
    if (followsItsSize) return;
    at = from + packed;
  }
}

/** As much as is there, of at most 1 MiB; nothing of what is damaged. */
function inflateStart(bytes: Buffer): Buffer {
  try {
    return inflateRawSync(bytes, { maxOutputLength: 1024 * 1024, finishFlush: constants.Z_SYNC_FLUSH });
  } catch {
    return Buffer.alloc(0);
  }
}
