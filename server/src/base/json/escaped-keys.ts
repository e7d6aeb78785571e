// Reads JSON whose keys contain escapes without JSON.parse. In some versions of V8 (https://github.com/nodejs/node/issues/63785), JSON.parse can
// return another key than the text has: while there is a text that was read with the key `caf\`, the text "caf\u00e9" is read as `caf\`, too, if the
// keys before are the same. So a person in one account could be stored with a wrong attribute because of what another account has sent. Pure.

/**
 * Returns what JSON describes. Throws a SyntaxError if it is no valid JSON. Use this instead of JSON.parse wherever keys come from outside, such as
 * the names of attributes, and the text has been checked before or is short: it may nest as deep as the stack allows.
 */
export const readJson = (text: string): unknown =>
  text.includes('\\') && escapedKey.test(text) ? withEscapedKeys(text) : JSON.parse(text);

/** Finds a string after `{` or `,` that contains an escape. That can also be one in an array, which is read well in either way. */
const escapedKey = /[{,]\s*"[^"\\]*\\/;

/**
 * Returns what JSON.parse should return for a text. The text is not given to it as a whole, so that no object gets a key from it with which other
 * keys could be confused.
 */
export const withEscapedKeys = (text: string): unknown => new Reader(text).whole();

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  whole(): unknown {
    const value = this.#value();
    if (this.#next() !== undefined) throw this.#unexpected();
    return value;
  }

  #value(): unknown {
    switch (this.#next()) {
      case '{':
        return this.#object();
      case '[':
        return this.#array();
      case '"':
        return this.#string();
      default:
        return this.#word();
    }
  }

  #object(): object {
    const object: Record<string, unknown> = {};
    this.#at++;
    for (let isFirst = true; !this.#ends('}', isFirst); isFirst = false) {
      if (this.#next() !== '"') throw this.#unexpected();
      const key = this.#string();
      this.#skip(':');
      const value = this.#value();
      // Setting it would change the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
    }
    return object;
  }

  #array(): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    for (let isFirst = true; !this.#ends(']', isFirst); isFirst = false) list.push(this.#value());
    return list;
  }

  /** JSON.parse reads a string that is no key well. */
  #string(): string {
    const start = this.#at;
    const { length } = this.#text;
    for (this.#at++; this.#at < length && this.#text[this.#at] !== '"'; this.#at++)
      if (this.#text[this.#at] === '\\') this.#at++;
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  /** Returns a number, true, false or null. */
  #word(): unknown {
    wordEnd.lastIndex = this.#at;
    const end = wordEnd.exec(this.#text)?.index ?? this.#text.length;
    const word = this.#text.slice(this.#at, end);
    this.#at = end;
    return JSON.parse(word);
  }

  /** Skips the end of an object or array, and returns true, or otherwise the comma before another entry. */
  #ends(end: '}' | ']', isFirst: boolean): boolean {
    if (this.#next() === end) {
      this.#at++;
      return true;
    }
    if (!isFirst) {
      this.#skip(',');
      // A comma is followed by an entry.
      if (this.#next() === end) throw this.#unexpected();
    }
    return false;
  }

  #skip(character: ',' | ':'): void {
    if (this.#next() !== character) throw this.#unexpected();
    this.#at++;
  }

  /** Skips white space, and returns the character after it; undefined at the end. */
  #next(): string | undefined {
    let next = this.#text[this.#at];
    while (next === ' ' || next === '\n' || next === '\r' || next === '\t') next = this.#text[++this.#at];
    return next;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(`The text is no valid JSON at position ${this.#at}.`);
  }
}

const wordEnd = /[\s,\]}]/g;
