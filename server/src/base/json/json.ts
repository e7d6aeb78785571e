// A JSON parser for input from outside. It refuses what JSON.parse accepts silently (duplicate keys, text that the database can't
// store, unlimited nesting) and reports where. For input that it accepts, it returns what JSON.parse returns, but without its fault (escaped-keys.ts).
import { maxJsonDepth, maxJsonKeys, maxJsonValues } from '@soundings/contract/limits.ts';
import type { Detail, DetailType } from '@soundings/contract/problem.ts';
import { withEscapedKeys } from './escaped-keys.ts';

export type JsonObject = { [key: string]: JsonValue };
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject;

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Parses a body as strict JSON (RFC 8259) in UTF-8, with or without a byte order mark. Returns the value or the first fault in the
 * text: `invalid utf-8` (with the byte), `invalid json` (with line and column, counted from 1, and what was expected), `duplicate
 * key`, `invalid text` (U+0000 or a lone surrogate), `too deep` or `too many values`. The path of a fault is the JSON pointer (RFC
 * 6901) of the value or key; '' means the whole body.
 *
 * The text is read twice: first to check it, without building anything, then by JSON.parse, so that the result can't differ. This takes about
 * twice the time of JSON.parse alone. If a key contains escapes, `withEscapedKeys` reads the text instead, which takes three to six times as
 * long as the check. The strings are copies, so keeping one doesn't keep the whole body in memory.
 */
export function parseJson(bytes: Uint8Array): { value: JsonValue } | { fault: Fault } {
  try {
    return parseText(decode(bytes));
  } catch (error) {
    if (error instanceof Refusal) return { fault: error.detail };
    throw error;
  }
}

/** Like `parseJson`, for a text that is already decoded. */
export function parseText(text: string): { value: JsonValue } | { fault: Fault } {
  try {
    const { hasEscapedKey } = check(text);
    return { value: (hasEscapedKey ? withEscapedKeys(text) : JSON.parse(text)) as JsonValue };
  } catch (error) {
    if (error instanceof Refusal) return { fault: error.detail };
    throw error;
  }
}

type Fault = Detail & { type: DetailType };

class Refusal extends Error {
  readonly detail: Fault;

  constructor(type: DetailType, message: string, path: string | undefined) {
    super(message);
    this.detail = path === undefined ? { type, message } : { type, message, path };
  }
}

// --- UTF-8

/** Creating one for each text would take longer than decoding a short text. */
const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  const [a, b] = bytes;
  const marked = (a === 0xfe && b === 0xff) || (a === 0xff && b === 0xfe);
  if (marked || (bytes.length > 1 && (a === 0 || b === 0))) throw notUtf8('it looks like UTF-16 or UTF-32');
  try {
    return utf8.decode(bytes);
  } catch {
    const at = invalidFrom(bytes);
    const byte = bytes[at]?.toString(16).toUpperCase().padStart(2, '0');
    throw notUtf8(`byte ${at} (counted from 0) is ${byte}, which is not valid there`);
  }
}

function notUtf8(why: string): Refusal {
  return new Refusal('invalid utf-8', `The text is not valid UTF-8: ${why}. Send it in UTF-8.`, '');
}

// Returns the offset of the first byte that is not part of a valid sequence (Unicode 3.9, table 3-7). TextDecoder doesn't report
// this offset.
function invalidFrom(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const first = bytes[at] ?? 0;
    const length =
      first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length === 0) return at;
    // After E0, ED, F0 and F4 the second byte has a smaller range, which excludes overlong forms, surrogates and code points above U+10FFFF.
    const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    for (let i = 1; i < length; i++) {
      const next = bytes[at + i] ?? 0;
      if (next < (i === 1 ? low : 0x80) || next > (i === 1 ? high : 0xbf)) return at;
    }
    at += length;
  }
  return at;
}

// --- The check

// The state of the check. Each function takes the offset where it starts and returns the offset after what it has read.
type Scan = {
  readonly text: string;
  /** The number of open arrays and objects. */
  depth: number;
  /** For each open array or object, from 1: the offset of the current key, or -1 - index for an array (always below 0). */
  readonly places: Int32Array;
  /** Whether the last string contains escapes. */
  escaped: boolean;
  /** Whether any key so far contains escapes. JSON.parse must not read the text then. */
  hasEscapedKey: boolean;
  /** The number of values so far. */
  values: number;
};

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const MINUS = 0x2d;
const PLUS = 0x2b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** Used for one text at a time, because checking is synchronous. */
const places = new Int32Array(maxJsonDepth + 1);

function check(text: string): Scan {
  const scan: Scan = { text, depth: 0, places, escaped: false, hasEscapedKey: false, values: 0 };
  const end = skipSpace(text, checkValue(scan, skipSpace(text, 0)));
  if (end < text.length) throw notExpected(scan, end, 'the end of the text', 0);
  return scan;
}

function checkValue(scan: Scan, at: number): number {
  if (++scan.values > maxJsonValues) {
    // 64 MB of `{},` would be 22 million values and take 10 seconds and 1.5 GB.
    throw new Refusal(
      'too many values',
      `The body has more than ${maxJsonValues} values. Split it into smaller requests.`,
      '',
    );
  }
  switch (scan.text.charCodeAt(at)) {
    case QUOTE:
      return checkString(scan, at, scan.depth);
    case OPEN_BRACE:
      return checkObject(scan, at);
    case OPEN_BRACKET:
      return checkArray(scan, at);
    case 0x74:
      return checkWord(scan, at, 'true');
    case 0x66:
      return checkWord(scan, at, 'false');
    case 0x6e:
      return checkWord(scan, at, 'null');
    default:
      return checkNumber(scan, at);
  }
}

// Up to this number of keys, comparing them is faster than using a set: 1.9 times the time of JSON.parse instead of 2.3.
const fewKeys = 16;

function checkObject(scan: Scan, start: number): number {
  const { text } = scan;
  const depth = enter(scan, start);
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === CLOSE_BRACE) {
    scan.depth = depth - 1;
    return at + 1;
  }
  const keys: string[] = [];
  let many: Set<string> | undefined;
  for (;;) {
    if (many?.size === maxJsonKeys) throw tooManyKeys(scan, start);
    if (text.charCodeAt(at) !== QUOTE) {
      throw notExpected(
        scan,
        at,
        keys.length === 0 ? 'a key in double quotes, or "}"' : 'a key in double quotes',
        depth - 1,
      );
    }
    scan.escaped = false;
    const end = checkString(scan, at, depth - 1);
    scan.places[depth] = at;
    if (scan.escaped) scan.hasEscapedKey = true;
    const key = scan.escaped ? (JSON.parse(text.slice(at, end)) as string) : text.slice(at + 1, end - 1);
    if (many === undefined ? keys.includes(key) : many.has(key)) throw duplicateKey(scan, at, end);
    if (many !== undefined) many.add(key);
    else if (keys.push(key) === fewKeys) many = new Set(keys);
    at = skipSpace(text, end);
    if (text.charCodeAt(at) !== COLON) throw notExpected(scan, at, '":"', depth);
    at = skipSpace(text, checkValue(scan, skipSpace(text, at + 1)));
    const next = text.charCodeAt(at);
    if (next === CLOSE_BRACE) break;
    if (next !== COMMA) throw notExpected(scan, at, '"," or "}"', depth - 1);
    at = skipSpace(text, at + 1);
  }
  scan.depth = depth - 1;
  return at + 1;
}

function checkArray(scan: Scan, start: number): number {
  const { text } = scan;
  const depth = enter(scan, start);
  let at = skipSpace(text, start + 1);
  if (text.charCodeAt(at) === CLOSE_BRACKET) {
    scan.depth = depth - 1;
    return at + 1;
  }
  for (let index = 0; ; index++) {
    scan.places[depth] = -1 - index;
    at = skipSpace(text, checkValue(scan, at));
    const next = text.charCodeAt(at);
    if (next === CLOSE_BRACKET) break;
    if (next !== COMMA) throw notExpected(scan, at, '"," or "]"', depth - 1);
    at = skipSpace(text, at + 1);
  }
  scan.depth = depth - 1;
  return at + 1;
}

function enter(scan: Scan, at: number): number {
  if (scan.depth === maxJsonDepth) {
    const message = `Arrays and objects are nested deeper than ${maxJsonDepth} (${lineAndColumn(scan.text, at)}).`;
    throw new Refusal('too deep', message, pointer(scan, scan.depth));
  }
  scan.depth += 1;
  return scan.depth;
}

// The raw text was decoded from UTF-8, so it has no lone surrogates. Only escapes can create one.
function checkString(scan: Scan, start: number, levels: number): number {
  const { text } = scan;
  const length = text.length;
  let at = start + 1;
  while (at < length) {
    const c = text.charCodeAt(at);
    if (c === QUOTE) return at + 1;
    if (c === BACKSLASH) at = checkEscape(scan, at, levels);
    else if (c >= SPACE) at += 1;
    else throw rawControl(scan, at, levels);
  }
  throw notExpected(scan, at, 'the closing quote of a string', levels);
}

function checkEscape(scan: Scan, at: number, levels: number): number {
  const { text } = scan;
  scan.escaped = true;
  const c = text[at + 1];
  if (c !== 'u') {
    if (c !== undefined && '"\\/bfnrt'.includes(c)) return at + 2;
    throw notExpected(scan, at + 1, 'one of " \\ / b f n r t u after a backslash', levels);
  }
  const unit = hexUnit(scan, at, levels);
  if (unit === 0) throw invalidText(scan, at, 'U+0000', levels);
  if (unit < 0xd800 || unit > 0xdfff) return at + 6;
  if (unit < 0xdc00 && text.startsWith('\\u', at + 6)) {
    const second = hexUnit(scan, at + 6, levels);
    if (second >= 0xdc00 && second <= 0xdfff) return at + 12;
  }
  throw invalidText(scan, at, `the lone surrogate U+${unit.toString(16).toUpperCase()}`, levels);
}

// Returns the code unit of the \u escape that starts at the offset.
function hexUnit(scan: Scan, at: number, levels: number): number {
  let unit = 0;
  for (let i = at + 2; i < at + 6; i++) {
    const c = scan.text.charCodeAt(i);
    const letter = c | 0x20;
    const digit = c >= ZERO && c <= NINE ? c - ZERO : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
    if (digit < 0) throw notExpected(scan, i, 'four hexadecimal digits after \\u', levels);
    unit = unit * 16 + digit;
  }
  return unit;
}

function checkNumber(scan: Scan, start: number): number {
  const { text } = scan;
  let at = text.charCodeAt(start) === MINUS ? start + 1 : start;
  if (text.charCodeAt(at) === ZERO) at += 1;
  else at = checkDigits(scan, at, at === start ? 'a value' : 'a digit');
  if (text.charCodeAt(at) === POINT) at = checkDigits(scan, at + 1, 'a digit');
  let mayOverflow = at - start > 308;
  if ((text.charCodeAt(at) | 0x20) === 0x65) {
    const sign = text.charCodeAt(at + 1);
    at = checkDigits(scan, sign === PLUS || sign === MINUS ? at + 2 : at + 1, 'a digit');
    mayOverflow = true;
  }
  if (mayOverflow && !Number.isFinite(Number(text.slice(start, at)))) {
    const message = `The number at ${lineAndColumn(text, start)} is out of range. Its absolute value can be at most about 1.8e308.`;
    throw new Refusal('invalid json', message, pointer(scan, scan.depth));
  }
  return at;
}

function checkDigits(scan: Scan, start: number, expected: string): number {
  let at = start;
  let c = scan.text.charCodeAt(at);
  while (c >= ZERO && c <= NINE) c = scan.text.charCodeAt((at += 1));
  if (at === start) throw notExpected(scan, at, expected, scan.depth);
  return at;
}

function checkWord(scan: Scan, at: number, word: string): number {
  if (scan.text.startsWith(word, at)) return at + word.length;
  throw notExpected(scan, at, 'a value', scan.depth);
}

function skipSpace(text: string, start: number): number {
  let at = start;
  let c = text.charCodeAt(at);
  while (c === SPACE || c === LF || c === CR || c === TAB) c = text.charCodeAt((at += 1));
  return at;
}

// --- Refusals. `levels`: how many of the open arrays and objects the pointer includes.

function notExpected(scan: Scan, at: number, expected: string, levels: number): Refusal {
  const code = scan.text.codePointAt(at);
  const found = code === undefined ? 'the end of the text' : named(code);
  const message = `Invalid JSON at ${lineAndColumn(scan.text, at)}: expected ${expected}, found ${found}.`;
  return new Refusal('invalid json', message, pointer(scan, levels));
}

function rawControl(scan: Scan, at: number, levels: number): Refusal {
  const code = scan.text.charCodeAt(at);
  if (code === 0) return invalidText(scan, at, 'U+0000', levels);
  return notExpected(scan, at, 'an escape in place of a control character', levels);
}

function invalidText(scan: Scan, at: number, what: string, levels: number): Refusal {
  const message = `A string contains ${what} at ${lineAndColumn(scan.text, at)}, which cannot be stored. Remove it.`;
  return new Refusal('invalid text', message, pointer(scan, levels));
}

function duplicateKey(scan: Scan, at: number, end: number): Refusal {
  const key = scan.text.slice(at + 1, Math.min(end - 1, at + 101)).toWellFormed();
  const message = `Duplicate key "${key}" at ${lineAndColumn(scan.text, at)}. Use each key only once.`;
  return new Refusal('duplicate key', message, pointer(scan, scan.depth));
}

// An object with two million keys took 9 seconds to read, and 9 more for each later access.
function tooManyKeys(scan: Scan, start: number): Refusal {
  const message = `The object at ${lineAndColumn(scan.text, start)} has more than ${maxJsonKeys} keys.`;
  return new Refusal('too many values', message, pointer(scan, scan.depth - 1));
}

function named(code: number): string {
  const visible = code === SPACE || /[\p{L}\p{N}\p{P}\p{S}]/u.test(String.fromCodePoint(code));
  if (visible) return code === QUOTE ? `'"'` : `"${String.fromCodePoint(code)}"`;
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

// Longer paths are left out: they are unreadable and would only make the response larger.
const maxPointerLength = 1_000;

// Returns the JSON pointer of the current position in the outermost `levels` arrays and objects.
function pointer(scan: Scan, levels: number): string | undefined {
  let path = '';
  for (let level = 1; level <= levels; level++) {
    const place = scan.places[level] ?? 0;
    const step = place < 0 ? String(-1 - place) : keyAt(scan, place);
    path += `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  }
  return path.length > maxPointerLength ? undefined : path;
}

function keyAt(scan: Scan, at: number): string {
  return JSON.parse(scan.text.slice(at, checkString(scan, at, 0))) as string;
}

function lineAndColumn(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let i = 0; i < at; i++) {
    const c = text.charCodeAt(i);
    if (c !== LF && c !== CR) continue;
    if (c === CR || text.charCodeAt(i - 1) !== CR) line += 1;
    start = i + 1;
  }
  let column = 1;
  for (const _ of text.slice(start, at)) column += 1;
  return `line ${line}, column ${column}`;
}
