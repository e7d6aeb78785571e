// Reads a JSON file of lists that is too large to be in memory: what is around the entries of its lists, and the entries one after another.
import { createReadStream } from 'node:fs';
import { Fault } from '../../base/errors.ts';
import { type JsonValue, parseJson } from '../../base/json/json.ts';

type List = 'users' | 'groups';

/** A fragment of such a file: text outside of the lists, or the text of an entry. */
export type JsonFragment = { around: string } | { list: List; entry: Buffer };

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Yields the fragments of a JSON text. The lists are `users` and `groups` of the outermost object, or of its `data`. The text can be anything: if it isn't JSON,
 * neither is what is around the lists, or one of the entries.
 */
export async function* jsonFragments(chunks: AsyncIterable<Buffer>): AsyncGenerator<JsonFragment, void> {
  const scanner = new Scanner();
  for await (const chunk of chunks) yield* scanner.read(chunk);
  yield* scanner.end();
}

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

class Scanner {
  /** The fragment so far, in all chunks. */
  #kept: Buffer[] = [];
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  /** The list around, and whether nothing but spaces was in it so far. */
  #list: { name: List; depth: number } | undefined;
  #isEmpty = true;
  /** Outside of lists: the last string, and the keys of the objects around. */
  #text: number[] = [];
  readonly #keys: string[] = [];

  *read(chunk: Buffer): Generator<JsonFragment> {
    let from = 0;
    const keep = (to: number) => {
      if (to > from) this.#kept.push(chunk.subarray(from, to));
      from = to;
    };
    for (let i = 0; i < chunk.length; i++) {
      const byte = chunk[i] as number;
      if (this.#isString) {
        this.#inString(byte);
        continue;
      }
      const name = this.#list?.name;
      const end = this.#structure(byte);
      if (end === 'list begins') {
        keep(i + 1);
        yield this.#around();
      } else if (end && name) {
        keep(i);
        if (end === 'entry ends' || !this.#isEmpty) yield { list: name, entry: this.#take() };
        else this.#take();
        if (end === 'entry ends') [from, this.#isEmpty] = [i + 1, false];
        else this.#list = undefined;
      }
    }
    keep(chunk.length);
  }

  *end(): Generator<JsonFragment> {
    if (this.#list) yield { list: this.#list.name, entry: this.#take() };
    else yield this.#around();
  }

  #inString(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === backslash) this.#isEscaped = true;
    else if (byte === quote) this.#isString = false;
    if (this.#isString && !this.#list) this.#text.push(byte);
  }

  /** Reads a byte outside of strings. Returns what it begins or ends. */
  #structure(byte: number): 'list begins' | 'list ends' | 'entry ends' | undefined {
    const isInList = this.#list?.depth === this.#depth;
    if (isInList && byte === comma) return 'entry ends';
    if (isInList && !isSpace(byte) && byte !== closeList && byte !== closeObject) this.#isEmpty = false;
    if (byte === closeList || byte === closeObject) {
      this.#depth = Math.max(0, this.#depth - 1); // a text that isn't JSON can have more ends than beginnings
      return isInList ? 'list ends' : undefined;
    }
    if (byte === quote) [this.#isString, this.#text] = [true, []];
    if (byte === colon && !this.#list && this.#depth > 0)
      this.#keys[this.#depth - 1] = Buffer.from(this.#text).toString();
    return byte === openList || byte === openObject ? this.#open(byte) : undefined;
  }

  #open(byte: number): 'list begins' | undefined {
    this.#depth++;
    if (this.#list) return undefined;
    this.#keys.length = Math.min(this.#keys.length, this.#depth - 1);
    const [first = '', second = ''] = this.#keys;
    const name = this.#depth === 2 ? first : this.#depth === 3 && first === 'data' ? second : '';
    if (byte !== openList || (name !== 'users' && name !== 'groups')) return undefined;
    this.#list = { name, depth: this.#depth };
    this.#isEmpty = true;
    return 'list begins';
  }

  #take(): Buffer {
    const taken = Buffer.concat(this.#kept);
    this.#kept = [];
    return taken;
  }

  #around = (): JsonFragment => ({ around: this.#take().toString('latin1') });
}

const fragmentsIn = (path: string) => jsonFragments(createReadStream(path, { highWaterMark: 1024 * 1024 }));

/** Returns the value of a file with empty lists. Throws a Fault if it is invalid outside of the entries. */
export async function readAround(path: string): Promise<JsonValue> {
  const texts: string[] = [];
  for await (const fragment of fragmentsIn(path)) if ('around' in fragment) texts.push(fragment.around);
  return valueOf(Buffer.from(texts.join(''), 'latin1'));
}

/** Yields the entries of a list of a file. `place`: where the list is. Throws a Fault that names the place of an entry that isn't JSON. */
export async function* entriesIn(path: string, list: List, place: string): AsyncGenerator<JsonValue, void> {
  let count = 0;
  for await (const fragment of fragmentsIn(path))
    if ('list' in fragment && fragment.list === list) yield valueOf(fragment.entry, `${place}${count++}`);
}

/** `place`: of the value in its file. */
function valueOf(bytes: Buffer, place?: string): JsonValue {
  const parsed = parseJson(bytes);
  if ('value' in parsed) return parsed.value;
  const { type, message } = parsed.fault;
  throw new Fault('invalid', type, place === undefined ? message : `${place}: ${message}`);
}
