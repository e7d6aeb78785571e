// Compression: chooses the content encoding that a client accepts and compresses responses, at levels with a good ratio of time to
// size.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

/**
 * Returns the encoding of a response by Accept-Encoding (RFC 9110 §12.5.3): the one with the highest weight, and among equal ones
 * the one that compresses best. A client that accepts none of ours still gets `identity`.
 */
export function acceptedEncoding(header: string | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const q = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    // An invalid weight counts as 0.
    weights.set(name === 'x-gzip' ? 'gzip' : name, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0);
  }
  const unnamed = weights.get('*');
  let best: Encoding = 'identity';
  // If `identity` is not listed, it is accepted, but listed encodings are preferred.
  let most = weights.get('identity') ?? unnamed ?? 0;
  for (const encoding of ['gzip', 'br'] as const) {
    const weight = weights.get(encoding) ?? unnamed ?? 0;
    if (weight > 0 && weight >= most) [best, most] = [encoding, weight];
  }
  return best;
}

// Brotli 4 compresses JSON better than gzip 6, in half the time. The window of 1 MB limits the memory of a stream.
const brotli = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: 20,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};
const [packBrotli, packGzip] = [promisify(brotliCompress), promisify(gzip)];

/** Compresses bytes, on Node's thread pool. */
export async function compress(encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  if (encoding === 'br') return packBrotli(bytes, brotli);
  return encoding === 'gzip' ? packGzip(bytes) : bytes;
}

/** Returns a stream that compresses, or undefined for `identity`. */
export function compressor(encoding: Encoding): Transform | undefined {
  if (encoding === 'br') return createBrotliCompress(brotli);
  return encoding === 'gzip' ? createGzip() : undefined;
}
