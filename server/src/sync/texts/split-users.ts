// Finds the users in the JSON of a request without parsing it, and which of them were sent before with the same text. Pure.
import { maxUsersOfPush } from '@soundings/contract/limits.ts';
import { digestText } from './text-digest.ts';
import type { KnownTexts } from '../parts/people-index.ts';

/**
 * The list of users: from the byte after its `[` to its `]`, and for each user where the text begins and ends, and its position among the
 * known texts; -1 if it is not known.
 */
export type SplitUsers = { start: number; end: number; from: number[]; to: number[]; known: number[] };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Returns where the users are; undefined if that can't be seen easily, or if the JSON is invalid around them. What is between the users and
 * around the list still has to be parsed, so it does not matter if invalid JSON gets any result.
 */
export function splitUsers(bytes: Uint8Array, known?: KnownTexts): SplitUsers | undefined {
  const list = valueOfKey(bytes, valueOfKey(bytes, startOf(bytes), 'data'), 'users');
  if (bytes[list] !== OPEN_BRACKET) return undefined;
  const split: SplitUsers = { start: list + 1, end: 0, from: [], to: [], known: [] };
  const find = known && finder(bytes, known);
  let at = skipSpace(bytes, list + 1);
  if (bytes[at] === CLOSE_BRACKET) return { ...split, end: at };
  for (;;) {
    // Such a list is invalid, and must not take memory before it is refused.
    if (bytes[at] !== OPEN_BRACE || split.from.length === maxUsersOfPush) return undefined;
    const place = find?.next(at) ?? -1;
    const to = place < 0 ? skipValue(bytes, at) : at + (known as KnownTexts).lengths[place]!;
    if (to < 0) return undefined;
    split.from.push(at);
    split.to.push(to);
    split.known.push(place < 0 && find ? find.anywhere(at, to) : place);
    at = skipSpace(bytes, to);
    if (bytes[at] === CLOSE_BRACKET) return { ...split, end: at };
    if (bytes[at] !== COMMA) return undefined;
    at = skipSpace(bytes, at + 1);
  }
}

const comma = Buffer.from(',');

/** Returns the JSON with a 0 in place of each known user. */
export function withoutKnown(bytes: Uint8Array, { start, end, from, to, known }: SplitUsers): Buffer {
  const chunks: Uint8Array[] = [bytes.subarray(0, start)];
  for (let i = 0; i < from.length;) {
    let next = i;
    while (next < from.length && (known[next] as number) >= 0) next++;
    if (next > i) chunks.push(Buffer.from('0,'.repeat(next - i)));
    if (next < from.length) chunks.push(bytes.subarray(from[next], to[next]), comma);
    i = next + 1;
  }
  const last = chunks.at(-1) as Uint8Array;
  if (from.length > 0) chunks[chunks.length - 1] = last.subarray(0, -1); // the comma after the last user
  chunks.push(bytes.subarray(end));
  return Buffer.concat(chunks);
}

/** Returns functions that find known texts: the one that is expected at an offset, and the one that is from one offset to another; or -1. */
function finder(bytes: Uint8Array, known: KnownTexts) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { lengths, digests, seed } = known;
  const digest = new Uint32Array(4);
  let expected = 0;
  let places: Int32Array | undefined;
  const isAt = (place: number) =>
    digests[place * 4] === digest[0] &&
    digests[place * 4 + 1] === digest[1] &&
    digests[place * 4 + 2] === digest[2] &&
    digests[place * 4 + 3] === digest[3];
  return {
    next(from: number): number {
      const length = lengths[expected] ?? 0;
      const to = from + length;
      // Lists mostly have the same users in the same order. A length of 0: this text can't be recognized.
      if (length === 0 || to > bytes.length || bytes[to - 1] !== CLOSE_BRACE || bytes[from] !== OPEN_BRACE)
        return -1;
      digestText(view, { from, to }, seed, { digest, at: 0 });
      return isAt(expected) ? expected++ : -1;
    },
    anywhere(from: number, to: number): number {
      const table = (places ??= placesByDigest(known));
      digestText(view, { from, to }, seed, { digest, at: 0 });
      const isOther = (place: number) => lengths[place] !== to - from || !isAt(place);
      let at = (digest[0] as number) & (table.length - 1);
      while (table[at] !== 0 && isOther((table[at] as number) - 1)) at = (at + 1) & (table.length - 1);
      const place = (table[at] as number) - 1;
      // After a user who has changed, the next one of the earlier list is expected.
      expected = (place < 0 ? expected : place) + 1;
      return place;
    },
  };
}

/** Returns a hash table with open addressing: the positions of known texts, counted from 1, by the first number of their digest. 0 is empty. */
function placesByDigest({ lengths, digests }: KnownTexts): Int32Array {
  let size = 64;
  while (size < 2 * lengths.length) size *= 2;
  const places = new Int32Array(size);
  for (let place = 0; place < lengths.length; place++) {
    if (lengths[place] === 0) continue; // without a digest
    let at = (digests[place * 4] as number) & (size - 1);
    while (places[at] !== 0) at = (at + 1) & (size - 1);
    places[at] = place + 1;
  }
  return places;
}

/** Returns where the JSON begins, after a byte order mark. */
const startOf = (bytes: Uint8Array) =>
  skipSpace(bytes, bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0);

/** Returns where the value of a key of the object at an offset begins; -1 if there is none, or no object. */
function valueOfKey(bytes: Uint8Array, start: number, key: string): number {
  if (start < 0 || bytes[start] !== OPEN_BRACE) return -1;
  const name = Buffer.from(`"${key}"`);
  for (let at = skipSpace(bytes, start + 1); bytes[at] === QUOTE;) {
    const end = skipString(bytes, at);
    const isWanted = end - at === name.length && name.equals(bytes.subarray(at, end));
    at = skipSpace(bytes, end);
    if (end < 0 || bytes[at] !== COLON) return -1;
    at = skipSpace(bytes, at + 1);
    if (isWanted) return at;
    const to = skipValue(bytes, at);
    at = skipSpace(bytes, to);
    if (to < 0 || bytes[at] !== COMMA) return -1;
    at = skipSpace(bytes, at + 1);
  }
  return -1;
}

/** Returns where the value at an offset ends; -1 if it does not end, or if there is none. */
function skipValue(bytes: Uint8Array, start: number): number {
  const first = bytes[start];
  if (first === QUOTE) return skipString(bytes, start);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return skipNested(bytes, start);
  let at = start;
  for (let byte = bytes[at]; byte !== undefined; byte = bytes[++at])
    if (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte <= 0x20) break;
  return at > start ? at : -1;
}

function skipNested(bytes: Uint8Array, start: number): number {
  let depth = 0;
  for (let at = start; at < bytes.length;) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = skipString(bytes, at);
      if (at < 0) return -1;
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return -1;
}

/** Returns where the string at an offset ends; -1 if it does not end. */
function skipString(bytes: Uint8Array, start: number): number {
  for (let at = start + 1; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at++;
  }
  return -1;
}

function skipSpace(bytes: Uint8Array, start: number): number {
  let at = start;
  for (let byte = bytes[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;)
    byte = bytes[++at];
  return at;
}
