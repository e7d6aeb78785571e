// Reads JSON whose keys contain escapes without JSON.parse. V8 from 12.8 on (https://github.com/nodejs/node/issues/63785) can return another key
// than the text has: once any object of the process has had the key `caf\`, the text "caf\u00e9" is read as `caf\`, too, if the keys before are the
// same. So a person in one account could be stored with a wrong attribute because of what another account has sent. Pure.

/**
 * Returns what JSON describes that this program or PostgreSQL has written, or whose text has been checked before. Throws if it is no valid JSON.
 * Use this instead of JSON.parse wherever names come from outside, such as those of attributes.
 */
export function readJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return mayHaveEscapedKey(text) ? withEscapedKeys(text) : value;
}

/** Finds a string after `{` or `,` that contains an escape. That can also be one in an array, which is read well in either way. */
const escapedKey = /[{,]\s*"[^"\\]*\\/;

const mayHaveEscapedKey = (text: string) => text.includes('\\') && escapedKey.test(text);

/** Returns what JSON.parse should return for a text, which must be valid JSON and not nested deeper than `maxJsonDepth`. */
export const withEscapedKeys = (text: string): unknown => new Reader(text).value();

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(): unknown {
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
    for (this.#at++; this.#next() !== '}'; this.#skip(',')) {
      const key = this.#string();
      this.#skip(':');
      const value = this.value();
      // Setting it would change the prototype.
      if (key === '__proto__')
        Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
      else object[key] = value;
    }
    this.#at++;
    return object;
  }

  #array(): unknown[] {
    const list: unknown[] = [];
    for (this.#at++; this.#next() !== ']'; this.#skip(',')) list.push(this.value());
    this.#at++;
    return list;
  }

  /** JSON.parse reads a string that is no key as it is. */
  #string(): string {
    const start = this.#at;
    for (this.#at++; this.#text[this.#at] !== '"'; this.#at++) if (this.#text[this.#at] === '\\') this.#at++;
    this.#at++;
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  #word(): unknown {
    wordEnd.lastIndex = this.#at;
    const end = wordEnd.exec(this.#text)?.index ?? this.#text.length;
    const word = this.#text.slice(this.#at, end);
    this.#at = end;
    return JSON.parse(word);
  }

  /** Skips a character if it comes next. */
  #skip(character: ',' | ':'): void {
    if (this.#next() === character) this.#at++;
    this.#next();
  }

  /** Skips white space, and returns the character after it. */
  #next(): string | undefined {
    let next = this.#text[this.#at];
    while (next === ' ' || next === '\n' || next === '\r' || next === '\t') next = this.#text[++this.#at];
    return next;
  }
}

const wordEnd = /[\s,\]}]/g;
