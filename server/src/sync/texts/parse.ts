// Reads the body of an organization request: decompresses it.
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { Fault } from '../../base/errors.ts';
import type { Findings } from '../findings.ts';

const gunzip = promisify(gunzipWithCallback);
/** In larger chunks than usual, because Node returns to this thread after each. */
const chunkSize = 1024 * 1024;

/** The body of a request as it was sent. */
export type SentBody = { bytes: Uint8Array; gzip: boolean };

/**
 * Returns the JSON of a body as it was sent, decompressed. Adds a fault and returns undefined if it can't be decompressed. `most`: its largest
 * size in bytes.
 */
export const jsonOf = async (
  { bytes, gzip }: SentBody,
  most: number,
  findings: Findings,
): Promise<Uint8Array | undefined> => (gzip ? decompress(bytes, most, findings) : bytes);

async function decompress(
  bytes: Uint8Array,
  most: number,
  findings: Findings,
): Promise<Uint8Array | undefined> {
  try {
    return await gunzip(bytes, { maxOutputLength: most, chunkSize });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw tooLargeFault(
        `The decompressed body is larger than ${most / 1024 / 1024} MB. Send a smaller request.`,
      );
    }
    const message =
      'The body could not be decompressed as gzip. Send gzip data, or remove the Content-Encoding header.';
    findings.fault({ type: 'invalid gzip', message, path: '' });
    return undefined;
  }
}

/** Returns the Fault for lists that are too large. */
export const tooLargeFault = (message: string): Fault => new Fault('too_large', 'too large', message);
