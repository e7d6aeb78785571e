// Reads the body of an organization request: decompresses it, parses the JSON and checks its shape.
import { maxOrganizationBodyBytes } from '@soundings/contract/limits.ts';
import { promisify } from 'node:util';
import { gunzip as gunzipWithCallback } from 'node:zlib';
import { Fault } from '../base/errors.ts';
import { type JsonValue, parseJson } from '../base/json.ts';
import { readOrganization, type SentOrganization } from './check.ts';
import type { Findings } from './findings.ts';

const gunzip = promisify(gunzipWithCallback);

/** The body of a request as it was sent. */
export type SentBody = { bytes: Uint8Array; gzip: boolean };

/**
 * Returns the request in a body, and adds its faults to `findings`. Returns undefined if the body can't be read. Throws a Fault
 * (too_large) if it is too large once decompressed.
 */
export async function readBody(body: SentBody, findings: Findings): Promise<SentOrganization | undefined> {
  const read = await readJson(body, maxOrganizationBodyBytes, findings);
  return read && readOrganization(read.value, findings);
}

/** Like `readBody`, for any JSON. `most`: the largest size of the JSON in bytes. */
export async function readJson(
  { bytes, gzip }: SentBody,
  most: number,
  findings: Findings,
): Promise<{ value: JsonValue; size: number } | undefined> {
  const json = gzip ? await decompress(bytes, most, findings) : bytes;
  const parsed = json && parseJson(json);
  if (parsed && 'value' in parsed) return { value: parsed.value, size: json.byteLength };
  if (parsed) findings.fault(parsed.fault);
  return undefined;
}

async function decompress(
  bytes: Uint8Array,
  most: number,
  findings: Findings,
): Promise<Uint8Array | undefined> {
  try {
    return await gunzip(bytes, { maxOutputLength: most });
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
