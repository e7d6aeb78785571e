// A text file as numbered lines, a batch at a time: it may be of any size.
import { open } from 'node:fs/promises';
import { Fault } from '../base/errors.ts';

/** Lines without their ends; `first` is the number of the first of them, counted from 1. */
export type Lines = { first: number; lines: string[] };

const chunkBytes = 1024 * 1024;
const newline = 0x0a;

/** Reads a UTF-8 file, with or without a byte order mark, by lines. Throws a Fault for what is none. */
export async function* linesOf(path: string): AsyncGenerator<Lines> {
  const file = await openFile(path);
  try {
    let rest = Buffer.alloc(0);
    let first = 1;
    for await (const chunk of file.createReadStream({ highWaterMark: chunkBytes, autoClose: false })) {
      const bytes: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk as Buffer]) : (chunk as Buffer);
      const end = bytes.lastIndexOf(newline) + 1;
      rest = Buffer.from(bytes.subarray(end));
      if (end === 0) continue;
      const lines = split(bytes.subarray(0, end - 1), first);
      yield { first, lines };
      first += lines.length;
    }
    if (rest.length > 0) yield { first, lines: split(rest, first) };
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
    const reason = { ENOENT: 'There is no such file', EACCES: 'It may not be read' }[code ?? ''];
    if (reason === undefined) throw error;
    throw new Fault('invalid', 'invalid history', `${reason}: ${path}.`, { cause: error });
  }
  throw new Fault(
    'invalid',
    'invalid history',
    `${path} is no file. It is read more than once: save it first.`,
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
  } catch (error) {
    let line = first;
    for (let start = 0; start <= bytes.length; line++) {
      const found = bytes.indexOf(newline, start);
      const end = found < 0 ? bytes.length : found;
      if (!isUtf8(bytes.subarray(start, end))) break;
      start = end + 1;
    }
    throw new Fault('invalid', 'invalid history', `Line ${line} is not UTF-8.`, { cause: error });
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
