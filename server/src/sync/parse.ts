// Reads the body of an organization request: decompresses it, parses the JSON and checks its shape.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { Fault } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import { readOrganization, type SentOrganization } from './check.ts';
import type { Findings } from './findings.ts';

const gunzip = promisify(gunzipWithCallback);

/** The body of a request as it was sent. */
export type SentBody = { bytes: Uint8Array; gzip: boolean };

/**
 * Returns the request in a body, and adds its faults to `findings`. Returns undefined if the body can't be read. Throws a Fault
 * (too_large) if it is too large once decompressed.
 */
export async function readBody(
  { bytes, gzip }: SentBody,
  findings: Findings,
): Promise<SentOrganization | undefined> {
  const json = gzip ? await decompress(bytes, findings) : bytes;
  const parsed = json && parseJson(json);
  if (parsed && 'value' in parsed) return readOrganization(parsed.value, findings);
  if (parsed) findings.fault(parsed.fault);
  return undefined;
}

async function decompress(bytes: Uint8Array, findings: Findings): Promise<Uint8Array | undefined> {
  try {
    return await gunzip(bytes, { maxOutputLength: maxOrganizationBodyBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new Fault(
        'too_large',
        'too large',
        'The decompressed body is larger than 64 MB. Send a smaller request.',
      );
    }
    const message =
      'The body could not be decompressed as gzip. Send gzip data, or remove the Content-Encoding header.';
    findings.fault({ type: 'invalid gzip', message, path: '' });
    return undefined;
  }
}
