// The child process that reads a file. Gets the bytes on stdin and the file type as an argument, and writes lines of JSON
// (`Line`). sheet.ts starts it and sets its limits.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { faultOf } from './faults.ts';
import type { FileKind } from './file-names.ts';
import { readHere } from './reader.ts';
import type { SheetLine } from './sheet.ts';

const [kind] = process.argv.slice(2) as [FileKind];

// When the service is stopped, the signal may reach all of its processes. This process ignores it and finishes reading.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const lines = await linesOf(await buffer(process.stdin));
await pipeline(Readable.from(inChunks(lines)), process.stdout);

async function linesOf(bytes: Buffer): Promise<Iterable<SheetLine>> {
  try {
    const sheets = await readHere(bytes, kind);
    return sheets.values().flatMap(({ name, rows }): SheetLine[] => [{ sheet: name }, ...rows]);
  } catch (error) {
    const { message, details, cause } = faultOf(error);
    return [{ fault: { message, details, ...(cause !== undefined && { cause: stackOf(cause) }) } }];
  }
}

/** Returns the stack trace for the log. */
function stackOf(cause: unknown): string {
  return ((cause instanceof Error && cause.stack) || String(cause)).slice(0, 2000);
}

/** Returns the lines as chunks of text. */
function* inChunks(all: Iterable<SheetLine>): Generator<string> {
  let chunk = '';
  for (const line of all) {
    chunk += `${JSON.stringify(line)}\n`;
    if (chunk.length < 65_536) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
