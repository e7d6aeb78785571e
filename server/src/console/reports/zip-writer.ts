// Writes a ZIP archive chunk by chunk, with files that are already compressed, such as PDFs: they are stored as they are (APPNOTE 6.3).
import { crc32 } from 'node:zlib';

export type ArchivedFile = { name: string; bytes: Uint8Array };

/**
 * The time of all files: 1 January 1980, the earliest time that the format allows. So the same files always give the same archive.
 */
const [time, day] = [0, 0x21];
/** The flag for file names in UTF-8. */
const utf8Names = 0x0800;
const version = 20;
/** The format counts files in 16 bits and bytes in 32 bits. Larger archives would need ZIP64. */
const [mostFiles, mostBytes] = [0xffff, 0xffff_ffff];

/**
 * Yields the bytes of an archive with these files, each as soon as the file is available. Throws if there are too many for the
 * format.
 */
export async function* zipOf(entries: AsyncIterable<ArchivedFile>): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, bytes } of entries) {
    const encoded = Buffer.from(name, 'utf8');
    const facts = factsOf(encoded, bytes);
    const local = Buffer.concat([numbers([4, 0x0403_4b50]), facts, encoded]);
    directory.push(
      Buffer.concat([
        numbers([4, 0x0201_4b50], [2, version]),
        facts,
        // No comment, one disk, no attributes.
        numbers([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]),
        encoded,
      ]),
    );
    offset += local.length + bytes.length;
    if (directory.length > mostFiles || offset > mostBytes)
      throw new Error('The archive is too large for ZIP.');
    yield local;
    yield bytes;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  yield* directory;
  const count = directory.length;
  yield numbers([4, 0x0605_4b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, offset], [2, 0]);
}

/** Returns what both headers of a file contain: version, flags, stored, time, checksum, sizes and the lengths of its name and extras. */
const factsOf = (name: Buffer, bytes: Uint8Array) =>
  numbers(
    [2, version],
    [2, utf8Names],
    [2, 0],
    [2, time],
    [2, day],
    [4, crc32(bytes)],
    [4, bytes.length],
    [4, bytes.length],
    [2, name.length],
    [2, 0],
  );

/** Returns numbers of 2 or 4 bytes each, little-endian. */
function numbers(...fields: [size: 2 | 4, value: number][]): Buffer {
  const buffer = Buffer.alloc(fields.reduce((sum, [size]) => sum + size, 0));
  let at = 0;
  for (const [size, value] of fields) {
    buffer.writeUIntLE(value, at, size);
    at += size;
  }
  return buffer;
}
