// Reads a text file of any size as numbered lines, one batch at a time.
import type { Detail } from '@soundings/contract/problem.ts';
import { open } from 'node:fs/promises';
import { Fault } from '../base/errors.ts';

/** A batch of lines without line breaks. `first`: the number of the first line, counted from 1. */
export type Lines = { first: number; lines: string[] };

const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/** The maximum length of a line. A round of a million people has about 40 MB. */
const maxLineBytes = 64 * 1024 * 1024;

/** Returns a Fault for a line, with its number. */
export const faultAt = (number: number, message: string) =>
  invalidHistory(`Nothing was imported. Line ${number}: ${message}`, {
    details: [{ type: 'invalid history', message, row: number }],
  });

const invalidHistory = (message: string, more: { details?: Detail[]; cause?: unknown } = {}) =>
  new Fault('invalid', 'invalid history', message, more);

/** Yields the lines of a UTF-8 file, with or without a byte order mark. Throws a Fault if the file can't be read or is not UTF-8. */
export async function* linesOf(path: string): AsyncGenerator<Lines> {
  const file = await openFile(path);
  try {
    let rest: Buffer[] = [];
    let restBytes = 0;
    let first = 1;
    const chunks: AsyncIterable<Buffer> = file.createReadStream({
      highWaterMark: chunkBytes,
      autoClose: false,
    });
    for await (const chunk of chunks) {
      const end = chunk.lastIndexOf(newline);
      if (end >= 0) {
        const lines = split(Buffer.concat([...rest, chunk.subarray(0, end)]), first);
        yield { first, lines };
        first += lines.length;
        [rest, restBytes] = [[], 0];
      }
      rest.push(chunk.subarray(end + 1));
      restBytes += chunk.length - end - 1;
      if (restBytes > maxLineBytes) {
        throw faultAt(first, `The line is longer than ${maxLineBytes / 1024 / 1024} MB.`);
      }
    }
    if (restBytes > 0) yield { first, lines: split(Buffer.concat(rest), first) };
  } finally {
    await file.close();
  }
}

async function openFile(path: string) {
  try {
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const reasons: Record<string, string> = {
      ENOENT: 'File not found',
      ENOTDIR: 'File not found',
      EACCES: 'No permission to read the file',
    };
    const reason = reasons[code] ?? `The file cannot be read (${code})`;
    throw invalidHistory(`${reason}: ${path}.`, { cause: error });
  }
  throw invalidHistory(
    `${path} is not a regular file. The import reads it more than once, so save the data to a file first.`,
  );
}

function split(bytes: Uint8Array, first: number): string[] {
  const lines = decode(bytes, first).split('\n');
  if (first === 1 && lines[0]?.startsWith('\uFEFF')) lines[0] = lines[0].slice(1);
  return lines;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array, first: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    let line = first;
    for (let start = 0; start <= bytes.length; line++) {
      const found = bytes.indexOf(newline, start);
      const end = found < 0 ? bytes.length : found;
      if (!isUtf8(bytes.subarray(start, end))) break;
      start = end + 1;
    }
    throw faultAt(line, 'The line is not valid UTF-8. Save the file as UTF-8.');
  }
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
