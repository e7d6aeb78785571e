import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { maxJsonDepth } from '@soundings/contract/limits.ts';
import type { Detail } from '@soundings/contract/problem.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { sharedData } from '../../testing/shared.ts';
import { readJson } from './escaped-keys.ts';
import { parseJson, type JsonValue } from './json.ts';
import { anyCharacter, cases } from '../../testing/house/cases.ts';

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function valueOf(text: string): JsonValue {
  const result = parseJson(bytesOf(text));
  if ('fault' in result) throw new Error(result.fault.message);
  return result.value;
}

function faultOf(body: string | Uint8Array): Detail {
  const result = parseJson(typeof body === 'string' ? bytesOf(body) : body);
  if ('value' in result) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  return result.fault;
}

/**
 * Returns what JSON.parse should return for the bytes; undefined if they are not UTF-8 or not JSON. It can confuse keys with escapes (decision 75),
 * so readJson reads these.
 */
function native(bytes: Uint8Array): { text: string; value: unknown } | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return { text, value: readJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * Returns the first of our own rules that is violated by a text that JSON.parse accepts. It reads token by token, slowly and
 * without recursion.
 */
function ruleBroken(text: string): string | undefined {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g) ?? [];
  const open: (Set<string> | undefined)[] = [];
  for (const [i, token] of tokens.entries()) {
    if (token === '{' || token === '[') open.push(token === '{' ? new Set() : undefined);
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"')) {
      const s = JSON.parse(token) as string;
      if (s.includes('\0') || !s.isWellFormed()) return 'invalid text';
      if (tokens[i + 1] === ':' && open.at(-1)?.has(s)) return 'duplicate key';
      if (tokens[i + 1] === ':') open.at(-1)?.add(s);
    } else if (/\d/.test(token) && !Number.isFinite(Number(token))) return 'invalid json';
    if (open.length > maxJsonDepth) return 'too deep';
  }
  return undefined;
}

/** Generates valid and invalid texts: random fragments, with and without brackets, and values with a part removed. */
function mangled(): fc.Arbitrary<string> {
  const signs = [...'{}[],:"\\ \n\r\t\f\0\u00a0\ufeff\u001f\u0010', '//', "'"];
  const scalars = '0 1 - + . e E 00 1e9 1e999 -1E+400 0.5 true false null tru NaN'.split(' ');
  const parts = '"a" "a":1 "a":1, "\\u0061":2 ,"a":{} "b":[ {"a": [[ ]] "" "":0 "é😀"'.split(' ');
  const escapes =
    '\\u \\u0000 \\u00 \\u001 \\ud83d \\ude00 \\ud83d\\ude00 \\uD800\\u0041 \\n \\/ \\x \\"'.split(' ');
  const long = ['9'.repeat(309), '['.repeat(31), '['.repeat(33), ']'.repeat(31), ']'.repeat(33)];
  const fragment = fc.constantFrom(...signs, ...scalars, ...parts, ...escapes, ...long);
  const fragments = fc.array(fragment, { maxLength: 12 }).map((list) => list.join(''));
  const open = fc.constantFrom('[', '{', '"', '{"a":"', '[{"a":1,');
  const inside = fc
    .tuple(open, fragments, fc.constantFrom(']', '}', '"', '"}', '}]'))
    .map((list) => list.join(''));
  const cut = fc.tuple(fc.jsonValue(), fc.nat(), fc.nat(3), fragments).map(([value, at, gone, put]) => {
    const text = JSON.stringify(value);
    const place = at % (text.length + 1);
    return text.slice(0, place).toWellFormed() + put + text.slice(place + gone).toWellFormed();
  });
  const nested = fc
    .tuple(fc.integer({ min: 30, max: 35 }), fc.constantFrom('1', '', '{}', '{"a":1}', '[],[]'))
    .map(([depth, value]) => '['.repeat(depth) + value + ']'.repeat(depth));
  const key = fc.constantFrom(
    '"a"',
    '"b"',
    '"c"',
    '"\\u0061"',
    '""',
    '"\\ud83d\\ude00"',
    '"\\ude00"',
    '"\\u0000"',
  );
  const value = fc.constantFrom('1', '{}', '"a"', '{"a":1}', '["\\ud83d"]', '[1e999]', '-1e308');
  const entry = fc.tuple(key, value).map((list) => list.join(':'));
  const object = fc.array(entry, { maxLength: 4 }).map((list) => `{${list.join()}}`);
  return fc.oneof(cut, fragments, inside, nested, object);
}

/** Returns whether the parser does what JSON.parse and our own rules require for the bytes. */
function agrees(bytes: Uint8Array): boolean {
  const result = parseJson(bytes);
  const expected = native(bytes);
  if (expected === undefined) return 'fault' in result;
  const broken = ruleBroken(expected.text);
  if (broken !== undefined) return 'fault' in result && result.fault.type === broken;
  return 'value' in result && isDeepStrictEqual(result.value, expected.value);
}

describe('an accepted text', () => {
  test('has the value that JSON.parse returns, for any JSON value', () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ stringUnit: anyCharacter }),
        fc.constantFrom('', ' ', '\t'),
        (value, indent) => {
          const text = JSON.stringify(value, null, indent);
          fc.pre(!text.includes('\\u0000'));
          const read = valueOf(text);
          expect(isDeepStrictEqual(read, readJson(text))).toBe(true);
          expect(JSON.stringify(read)).toBe(JSON.stringify(value));
        },
      ),
      cases(250),
    );
  });

  test('is accepted by JSON.parse and follows our own rules, however the text was mangled', () => {
    const count = 2_500;
    const kinds = new Map<string | undefined, number>();
    fc.assert(
      fc.property(mangled(), (text) => {
        const expected = native(bytesOf(text));
        const kind = expected === undefined ? 'not json' : ruleBroken(expected.text);
        kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
        expect(agrees(bytesOf(text))).toBe(true);
      }),
      cases(count),
    );
    // Every outcome occurred often enough for the property to be meaningful.
    expect(kinds.size).toBe(6);
    expect(Math.min(...kinds.values())).toBeGreaterThan(cases(count).numRuns / 400);
  });

  test('may begin with a byte order mark and have surrounding white space', () => {
    expect(valueOf('\ufeff {"a":1}\r\n')).toEqual({ a: 1 });
    expect(faultOf('\ufeff\ufeff1')).toMatchObject({
      type: 'invalid json',
      message: expect.stringContaining('U+FEFF'),
    });
  });

  test('may have keys such as __proto__ and constructor, which become plain properties and change no prototype', () => {
    const value = valueOf('{"__proto__":{"admin":true},"constructor":{"prototype":1},"toString":null}');
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor', 'toString']);
    expect(value).not.toHaveProperty('admin');
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });

  test(`may have up to ${maxJsonDepth} levels, and the same key in different objects`, () => {
    expect(faultOf('['.repeat(33) + ']'.repeat(33)).type).toBe('too deep');
    expect(
      isDeepStrictEqual(
        valueOf('['.repeat(32) + ']'.repeat(32)),
        JSON.parse('['.repeat(32) + ']'.repeat(32)),
      ),
    ).toBe(true);
    expect(valueOf('[[[]],[[]],{"a":{"a":{}},"b":{"a":1}},[],{}]')).toEqual([
      [[]],
      [[]],
      { a: { a: {} }, b: { a: 1 } },
      [],
      {},
    ]);
  });
});

describe('the error of a refused text', () => {
  const worked: [body: string, type: string, path: string | undefined, words: string[]][] = [
    ['', 'invalid json', '', ['line 1, column 1', 'expected a value', 'found the end of the text']],
    ['{"a":1,}', 'invalid json', '', ['line 1, column 8', 'expected a key in double quotes', 'found "}"']],
    ['{\n  "a" 1}', 'invalid json', '/a', ['line 2, column 7', 'expected ":"', 'found "1"']],
    ['{"a":[1,\r\n2,,3]}', 'invalid json', '/a/2', ['line 2, column 3', 'expected a value', 'found ","']],
    ['{"a":[1\r2]}', 'invalid json', '/a', ['line 2, column 1', 'expected "," or "]"']],
    ['{"a":{"b":1 "c":2}}', 'invalid json', '/a', ['line 1, column 13', 'expected "," or "}"', `found '"'`]],
    ['{"é😀":"é😀" x}', 'invalid json', '', ['line 1, column 12', 'found "x"']],
    [
      '{a:1}',
      'invalid json',
      '',
      ['line 1, column 2', 'expected a key in double quotes, or "}"', 'found "a"'],
    ],
    ['[tru]', 'invalid json', '/0', ['line 1, column 2', 'expected a value', 'found "t"']],
    ['[1] []', 'invalid json', '', ['line 1, column 5', 'expected the end of the text']],
    ['[01]', 'invalid json', '', ['line 1, column 3', 'expected "," or "]"']],
    ['[-]', 'invalid json', '/0', ['line 1, column 3', 'expected a digit']],
    ['[1.]', 'invalid json', '/0', ['line 1, column 4', 'expected a digit']],
    ['[1e+]', 'invalid json', '/0', ['line 1, column 5', 'expected a digit']],
    [
      '["a',
      'invalid json',
      '/0',
      ['line 1, column 4', 'expected the closing quote of a string', 'found the end of the text'],
    ],
    [
      '["a\nb"]',
      'invalid json',
      '/0',
      ['line 1, column 4', 'an escape in place of a control character', 'found U+000A'],
    ],
    ['["\\x"]', 'invalid json', '/0', ['line 1, column 4', 'one of " \\ / b f n r t u', 'found "x"']],
    ['["\\u12g4"]', 'invalid json', '/0', ['line 1, column 7', 'four hexadecimal digits', 'found "g"']],
    ['{"n":[0, -1e309]}', 'invalid json', '/n/1', ['line 1, column 10', 'out of range']],
    ['{"a":1,\n"b":2,\n "a":3}', 'duplicate key', '/a', ['"a"', 'line 3, column 2']],
    ['{"x":{"~a/b":1,"\\u007ea\\/b":2}}', 'duplicate key', '/x/~0a~1b', ['line 1, column 16']],
    ['{"x":[0,{"":1,"":2}]}', 'duplicate key', '/x/1/', ['line 1, column 15']],
    ['["\\u0000"]', 'invalid text', '/0', ['U+0000', 'line 1, column 3']],
    ['["a\0"]', 'invalid text', '/0', ['U+0000', 'line 1, column 4']],
    ['{"a":{"b\\u0000":1}}', 'invalid text', '/a', ['U+0000', 'line 1, column 9']],
    ['{"a":"\\ud83dx"}', 'invalid text', '/a', ['lone surrogate U+D83D', 'line 1, column 7']],
    ['{"a":"\\uD83D\\uD83D\\uDE00"}', 'invalid text', '/a', ['lone surrogate U+D83D', 'line 1, column 7']],
    ['["\\ude00\\ude00"]', 'invalid text', '/0', ['lone surrogate U+DE00', 'line 1, column 3']],
    ['["\\ud83d\\ue000"]', 'invalid text', '/0', ['lone surrogate U+D83D', 'line 1, column 3']],
    ['["\\u12:4"]', 'invalid json', '/0', ['line 1, column 7', 'four hexadecimal digits', 'found ":"']],
    ['{"a":"\\ude00\\ud83d"}', 'invalid text', '/a', ['lone surrogate U+DE00', 'line 1, column 7']],
    [`{"a":${'['.repeat(40)}`, 'too deep', `/a${'/0'.repeat(31)}`, ['deeper than 32', 'line 1, column 37']],
  ];

  test.for(worked)('has line, column and pointer: %j', ([body, type, path, words]) => {
    const fault = faultOf(body);
    expect(fault).toMatchObject({ type, path });
    for (const word of words) expect(fault.message).toContain(word);
  });

  test('is the first one in the text', () => {
    expect(faultOf('{"a":1,"a":2,"b":"\\u0000",').type).toBe('duplicate key');
    expect(faultOf('{"b":"\\u0000","a":1,"a":2').type).toBe('invalid text');
  });

  test('is a duplicate key, even among many keys, far apart or escaped', () => {
    const many = Array.from({ length: 100 }, (_, i) => `"k${i}":${i}`);
    expect(Object.keys(valueOf(`{${many.join()}}`) as object)).toHaveLength(100);
    for (const again of [0, 14, 15, 16, 17, 99]) {
      expect(faultOf(`{${many.join()},"\\u006b${again}":1}`)).toMatchObject({
        type: 'duplicate key',
        path: `/k${again}`,
      });
      expect(faultOf(`{${many.slice(0, again + 1).join()},"k${again}":1}`)).toMatchObject({
        type: 'duplicate key',
        path: `/k${again}`,
      });
    }
  });

  test('stays short: a long key is cut in the message, a long path is omitted', () => {
    const key = `a${'😀'.repeat(40_000)}`;
    const fault = faultOf(`{"${key}":1,"${key}":2}`);
    expect(fault).not.toHaveProperty('path');
    expect(fault.message.length).toBeLessThan(300);
    expect(fault.message.isWellFormed()).toBe(true);
  });

  test.each([
    ['a stray byte', [0x22, 0x61, 0xff, 0x22], 'byte 2 (counted from 0) is FF'],
    ['a truncated sequence', [0x22, 0xe2, 0x82], 'byte 1 (counted from 0) is E2'],
    ['an overlong encoding', [0x22, 0xc3, 0xa9, 0xe0, 0x80, 0xaf, 0x22], 'byte 3 (counted from 0) is E0'],
    ['an encoded surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22], 'byte 1 (counted from 0) is ED'],
    ['UTF-16 with a byte order mark', [0xff, 0xfe, 0x5b, 0x00, 0x5d, 0x00], 'UTF-16'],
    ['UTF-16, big-endian, with a byte order mark', [0xfe, 0xff, 0x00, 0x5b, 0x00, 0x5d], 'UTF-16'],
    ['UTF-16 without a byte order mark', [0x5b, 0x00, 0x5d, 0x00], 'UTF-16'],
    ['UTF-16, big-endian, without a byte order mark', [0x00, 0x5b, 0x00, 0x5d], 'UTF-16'],
  ])('names the byte that is not UTF-8: %s', (_, body, message) => {
    expect(faultOf(Uint8Array.from(body))).toMatchObject({
      type: 'invalid utf-8',
      path: '',
      message: expect.stringContaining(message),
    });
  });

  test('is returned, never thrown, for any bytes, and names the first invalid byte', () => {
    const boundaries = [
      0x22, 0x61, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc1, 0xc2, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf1, 0xf4,
      0xf5,
    ];
    const likely = fc.array(fc.constantFrom(...boundaries)).map((list) => Uint8Array.from(list));
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), likely), (bytes) => {
        const message = 'fault' in parseJson(bytes) ? faultOf(bytes).message : '';
        const at = Number(/byte (\d+) \(counted/.exec(message)?.[1] ?? bytes.length);
        const prefixes = Array.from({ length: bytes.length + 1 }, (_, end) => bytes.subarray(0, end));
        expect(agrees(bytes)).toBe(true);
        expect(decodes(bytes.subarray(0, at)) || message.includes('UTF-16')).toBe(true);
        expect(prefixes.slice(at + 1).some(decodes)).toBe(false);
      }),
      cases(1_250),
    );
  });
});

function decodes(bytes: Uint8Array): boolean {
  try {
    return typeof new TextDecoder('utf-8', { fatal: true }).decode(bytes) === 'string';
  } catch {
    return false;
  }
}

/** A body of as many MB as can be sent takes seconds to build. The smaller one is large enough to notice quadratic time. */
const million = cases(250_000).numRuns;

describe('a hostile body', () => {
  test.each([
    ['a million keys', () => `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join()}}`],
    ['millions of escapes in one string', () => `"${'\\n'.repeat(4 * million)}"`],
    [
      'a million escaped keys',
      () => `{${Array.from({ length: 1_000_000 }, (_, i) => `"\\u006b${i}":0`).join()}}`,
    ],
    ['millions of opening brackets', () => '['.repeat(7 * million)],
    ['millions of line ends before the error', () => `${'\n'.repeat(7 * million)}x`],
  ])('is parsed in seconds, not minutes: %s', (_, body) => {
    const bytes = bytesOf(body());
    const start = performance.now();
    parseJson(bytes);
    expect(performance.now() - start).toBeLessThan(20_000);
  });
});

const suite = sharedData('lists/json-parsing');
const absent = suite === undefined ? ' (skipped: ../shared/data/lists/json-parsing is absent)' : '';

function texts(prefix: string): [name: string, bytes: Uint8Array][] {
  const names = readdirSync(suite ?? '').filter((name) => name.startsWith(prefix));
  expect(names.length).toBeGreaterThan(30);
  return names.map((name) => [name, readFileSync(join(suite ?? '', name))]);
}

describe('the JSON parsing test suite', () => {
  test.skipIf(absent)(
    `every text that must parse gives the value of JSON.parse, or violates one of our rules${absent}`,
    () => {
      const all = texts('y_');
      const refused = all.flatMap(([, bytes]) => ruleBroken(native(bytes)?.text ?? '') ?? []);
      expect(all.filter(([, bytes]) => native(bytes) === undefined)).toEqual([]);
      expect(all.filter(([, bytes]) => !agrees(bytes)).map(([name]) => name)).toEqual([]);
      expect(new Set(refused)).toEqual(new Set(['duplicate key', 'invalid text']));
    },
  );

  test.skipIf(absent)(`every text that must not parse is refused${absent}`, () => {
    const accepted = texts('n_').filter(([, bytes]) => 'value' in parseJson(bytes));
    expect(accepted.map(([name]) => name)).toEqual([]);
  });

  test.skipIf(absent)(
    `every text that may parse is refused or gives the value of JSON.parse${absent}`,
    () => {
      const wrong = texts('i_').filter(([, bytes]) => !agrees(bytes));
      expect(wrong.map(([name]) => name)).toEqual([]);
    },
  );
});

test('an object may have at most ten thousand keys, at any depth', () => {
  const object = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":${i}`).join()}}`;
  expect(parseJson(Buffer.from(object(10_000)))).toHaveProperty('value.k9999', 9999);
  expect(parseJson(Buffer.from(`{"a":[1,${object(10_001)}]}`))).toEqual({
    fault: { type: 'too many values', message: expect.stringContaining('10000 keys'), path: '/a/1' },
  });
});

test('a body with more than five million values is refused before it is built', () => {
  const body = Buffer.from(`[${'{},'.repeat(5_000_000)}{}]`);
  expect(parseJson(body)).toEqual({
    fault: { type: 'too many values', message: expect.stringContaining('5000000'), path: '' },
  });
});
