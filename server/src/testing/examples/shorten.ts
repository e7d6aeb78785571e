// Makes recorded responses short enough to read, and replaces what differs from run to run, such as IDs of runs.
import { createHash } from 'node:crypto';

/** How many entries of a list an example shows, how many of a map by ID or week that has more than five, and how many lines of a text. */
const [maxEntries, longMap, maxKeys, maxLines] = [3, 5, 2, 5];

/** Returns a JSON value with shortened lists and maps, and what was left out of it. */
export function shortened(value: unknown): { value: unknown; left: string[] } {
  const left = new Map<string, number>();
  const short = shorten(value, '', left);
  const notes = [...left].map(([place, count]) =>
    count === 0
      ? `\`${place}\` is left out, because viewers would follow it`
      : `${place === '' ? 'the list' : `\`${place}\``} has ${count} entries`,
  );
  return { value: short, left: notes };
}

/**
 * `left`: the number of entries of each shortened list; of lists in lists, only the first one. 0: a field that is left out. Viewers of OpenAPI
 * documents follow `$ref`, which SCIM has in members of groups, even in examples.
 */
function shorten(value: unknown, place: string, left: Map<string, number>): unknown {
  if (Array.isArray(value)) {
    if (value.length > maxEntries) note(left, place, value.length);
    return value.slice(0, maxEntries).map((one) => shorten(one, place, left));
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  const isMap = entries.length > longMap && entries.every(([key]) => /^\d+$/.test(key));
  if (isMap) note(left, place, entries.length);
  const kept = (isMap ? entries.slice(0, maxKeys) : entries).filter(([key]) => key !== '$ref');
  if (kept.length < entries.length && !isMap) left.set(inPlace(place, '$ref'), 0);
  return Object.fromEntries(
    kept.map(([key, one]) => [key, shorten(one, /^\d+$/.test(key) ? place : inPlace(place, key), left)]),
  );
}

const inPlace = (place: string, key: string) => (place === '' ? key : `${place}.${key}`);

function note(left: Map<string, number>, place: string, count: number): void {
  if (!left.has(place)) left.set(place, count);
}

/** Returns the first lines of a text, and what was left out of it. */
export function shortenedText(text: string): { value: string; left: string[] } {
  const lines = text.trimEnd().split('\n');
  if (lines.length <= maxLines) return { value: text, left: [] };
  return {
    value: `${lines.slice(0, maxLines).join('\n')}\n`,
    left: [`the response has ${lines.length} lines`],
  };
}

/**
 * Returns a function that replaces what differs from run to run in a JSON text: IDs (UUIDs), times of the clock of the machine, hashes and
 * versions of resources. The same ID or hash is always replaced by the same one. Times are numbered, because whether two of them are equal
 * depends on how fast the machine is. `began`: when the run began, in ms.
 */
export function openSteadying(began: number): (text: string) => string {
  const known = new Map<string, string>();
  let count = 0;
  let times = 0;
  const steady = (found: string, make: (n: number) => string): string => {
    const before = known.get(found);
    if (before !== undefined) return before;
    const made = make(++count);
    known.set(found, made);
    return made;
  };
  const uuid = (n: number) => `019a95c2-7e00-7000-8000-${n.toString(16).padStart(12, '0')}`;
  const time = (n: number) => new Date(Date.parse('2026-11-18T12:00:00Z') + n * 1000).toISOString();
  return (text) =>
    text
      .replace(/Try again in \d+ seconds/g, 'Try again in 30 seconds')
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (found) =>
        steady(found, uuid),
      )
      .replace(/\b(?!0{64})[0-9a-f]{64}\b/g, (found) =>
        steady(found, (n) => createHash('sha256').update(`example ${n}`).digest('hex')),
      )
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (found) =>
        Date.parse(found) < began - 86_400_000 ? found : time(++times),
      );
}
