// Packing: which content encoding a client accepts, and packing in it, at levels that cost little for what they save.
import type { Transform } from 'node:stream';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip' | 'identity';

/**
 * The encoding of an answer by Accept-Encoding (RFC 9110 §12.5.3): the one with the highest weight, and of equal ones
 * that which packs best. A client that accepts none of ours, not even `identity`, gets that.
 */
export function acceptedEncoding(header: string | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const q = parameters.find((text) => text.startsWith('q='))?.slice(2) ?? '1';
    // A weight that is none is not taken for consent.
    weights.set(name === 'x-gzip' ? 'gzip' : name, /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(q) ? Number(q) : 0);
  }
  const unnamed = weights.get('*');
  let best: Encoding = 'identity';
  // Not named, `identity` is accepted, but anything that is named comes before it.
  let most = weights.get('identity') ?? unnamed ?? 0;
  for (const encoding of ['gzip', 'br'] as const) {
    const weight = weights.get(encoding) ?? unnamed ?? 0;
    if (weight > 0 && weight >= most) [best, most] = [encoding, weight];
  }
  return best;
}

// Brotli 4 packs JSON tighter than gzip 6 in half its time. The window of 1 MB bounds what a stream holds.
const brotli = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: 4,
    [constants.BROTLI_PARAM_LGWIN]: 20,
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
  },
};
const [packBrotli, packGzip] = [promisify(brotliCompress), promisify(gzip)];

/** Packs bytes, on a thread of Node's own. */
export async function pack(encoding: Encoding, bytes: Buffer): Promise<Buffer> {
  if (encoding === 'br') return packBrotli(bytes, brotli);
  return encoding === 'gzip' ? packGzip(bytes) : bytes;
}

/** What packs a stream; undefined: nothing needs to. */
export function packer(encoding: Encoding): Transform | undefined {
  if (encoding === 'br') return createBrotliCompress(brotli);
  return encoding === 'gzip' ? createGzip() : undefined;
}
