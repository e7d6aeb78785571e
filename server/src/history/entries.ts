// Reads the lines of a history file as entries, each with its line number, which every fault names.
import { parseText } from '../base/json/json.ts';
import { faultAt, linesOf } from './file.ts';
import { type HistoryLine, LineFault, readLine } from './lines.ts';

/** Yields the lines of the given kinds with their numbers. Skips other lines without parsing them where possible. */
export async function* entriesOf<K extends HistoryLine['kind']>(
  path: string,
  kinds: readonly K[],
): AsyncGenerator<{ number: number; line: Extract<HistoryLine, { kind: K }> }[]> {
  const others = ['answer', 'round'].filter((kind) => !(kinds as readonly string[]).includes(kind));
  const prefixes = others.map((kind) => `{"${kind}":`);
  for await (const { first, lines } of linesOf(path)) {
    const entries: { number: number; line: Extract<HistoryLine, { kind: K }> }[] = [];
    for (const [i, text] of lines.entries()) {
      if (prefixes.some((prefix) => text.startsWith(prefix)) || text.trim() === '') continue;
      const line = atLine(first + i, () => read(text));
      if ((kinds as readonly string[]).includes(line.kind)) {
        entries.push({ number: first + i, line: line as Extract<HistoryLine, { kind: K }> });
      }
    }
    yield entries;
  }
}

function read(text: string): HistoryLine {
  const parsed = parseText(text.endsWith('\r') ? text.slice(0, -1) : text);
  // The parser sees a single line and calls it line 1.
  if ('fault' in parsed) throw new LineFault(parsed.fault.message.replace('line 1, column', 'column'));
  return readLine(parsed.value);
}

/** Runs `work` for a line and adds the line number to a LineFault. */
export function atLine<T>(number: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof LineFault ? faultAt(number, error.message) : error;
  }
}
