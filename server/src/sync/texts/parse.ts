// Reads the body of an organization request: decompresses it.
import { createGunzip } from 'node:zlib';
import { Fault } from '../../base/errors.ts';
import { tooManyLarge } from '../../http/bodies.ts';
import type { Findings } from '../findings.ts';

/** In larger chunks than usual, because Node returns to this thread after each. */
const chunkSize = 1024 * 1024;

/**
 * The body of a request as it was sent. `grow` is called for each chunk that is decompressed, with the size of all so far. It returns
 * whether there is memory for them.
 */
export type SentBody = { bytes: Uint8Array; gzip: boolean; grow?: (bytes: number) => Promise<boolean> };

/**
 * Returns the JSON of a body as it was sent, decompressed. Adds a fault and returns undefined if it can't be decompressed. Throws a Fault:
 * too_large if it has more than `most` bytes, or unavailable if there is no memory for it.
 */
export const jsonOf = async (
  body: SentBody,
  most: number,
  findings: Findings,
): Promise<Uint8Array | undefined> => (body.gzip ? decompress(body, most, findings) : body.bytes);

async function decompress(
  { bytes, grow }: SentBody,
  most: number,
  findings: Findings,
): Promise<Uint8Array | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  const gunzip = createGunzip({ chunkSize });
  gunzip.end(bytes);
  try {
    for await (const chunk of gunzip as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most)
        throw tooLargeFault(
          `The decompressed body is larger than ${most / 1024 / 1024} MB. Send a smaller request.`,
        );
      if (grow && !(await grow(size))) throw tooManyLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    const message =
      'The body could not be decompressed as gzip. Send gzip data, or remove the Content-Encoding header.';
    findings.fault({ type: 'invalid gzip', message, path: '' });
    return undefined;
  }
  return Buffer.concat(chunks, size);
}

/** Returns the Fault for lists that are too large. */
export const tooLargeFault = (message: string): Fault => new Fault('too_large', 'too large', message);
