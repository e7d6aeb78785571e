// The process in which a file is read: gets its bytes as stdin and its kind as an argument, and
// answers with lines of JSON (`Line`). sheet.ts starts and limits it.
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import type { FileKind } from './names.ts';
import { readHere } from './reader.ts';
import { faultOf } from './rows.ts';
import type { Line } from './sheet.ts';

const [kind] = process.argv.slice(2) as [FileKind];

// Who stops the service may send the signal to all of its processes: what is being read is still read to its end.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});

const lines = await answerTo(await buffer(process.stdin));
await pipeline(Readable.from(together(lines)), process.stdout);

async function answerTo(bytes: Buffer): Promise<Iterable<Line>> {
  try {
    const sheets = await readHere(bytes, kind);
    return sheets.values().flatMap(({ name, rows }): Line[] => [{ sheet: name }, ...rows]);
  } catch (error) {
    const { message, details, cause } = faultOf(error);
    return [{ fault: { message, details, ...(cause !== undefined && { cause: wordsOf(cause) }) } }];
  }
}

/** Where something was thrown, for the log. */
function wordsOf(cause: unknown): string {
  return ((cause instanceof Error && cause.stack) || String(cause)).slice(0, 2000);
}

/** The lines as text, in pieces of some length. */
function* together(all: Iterable<Line>): Generator<string> {
  let piece = '';
  for (const line of all) {
    piece += `${JSON.stringify(line)}\n`;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}
