// Zstandard for data that this program reads again soon: with the fastest level, on another thread, and in large chunks. With its usual chunks of
// 16 KB, Node returns to the calling thread after each.
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';

const [compress, decompress] = [promisify(zstdCompress), promisify(zstdDecompress)];
const chunkSize = 1024 * 1024;
const fastest = { [constants.ZSTD_c_compressionLevel]: 1 };

export const compressFast = (bytes: Uint8Array): Promise<Buffer> =>
  compress(bytes, { chunkSize, params: fastest });

/** Throws if the bytes are not what `compressFast` has returned. Their size is not limited, so only for bytes that this program has written. */
export const decompressFast = (bytes: Uint8Array): Promise<Buffer> => decompress(bytes, { chunkSize });
