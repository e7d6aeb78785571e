// Mutated organization requests, for hostile.test.ts.
import { gunzipSync, gzipSync } from 'node:zlib';
import { person, unit } from '../testing/organizations.ts';

export const settings = { validateOnly: false };

// --- Bodies: a valid push that removes and changes, mutated in one to three ways. The seed determines everything.

type Random = { below(n: number): number; of<T>(list: readonly T[]): T };

/** Returns random numbers from a seed (mulberry32). */
function random(seed: number): Random {
  let state = seed;
  const below = (n: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
  return { below, of: (list) => list[below(list.length)] as (typeof list)[number] };
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Sent = { bytes: Uint8Array; headers: Record<string, string> };

export const present = {
  groups: [unit('a', { description: 'A' }), unit('b', { parent: 'a' }), unit('c', { parent: 'b' })],
  users: [
    person('1', { email: 'one@example.org', accessInfo: { memberOf: ['a', 'b'], role: 'Manager' } }),
    person('2', { externalProperties: { gender: 'Female' }, phone: '+46701234567' }),
    person('3', { accessInfo: { adminOf: ['c'] } }),
  ],
};

const deleting = (validateOnly: boolean) => ({
  settings: { validateOnly, forceSetLanguage: false, maxUsersDeleted: 10, maxGroupsDeleted: 10 },
  data: {
    groups: [unit('a', { description: null, parent: null }), unit('c', { parent: 'a' })],
    users: [
      person('1', {
        lastName: 'Östlund',
        email: 'uno@example.org',
        active: false,
        timezone: 'Europe/Oslo',
        language: 'nb',
        accessInfo: { memberOf: ['c'], role: 'User' },
        externalProperties: { gender: 'Male' },
      }),
    ],
  },
});

/** Returns every array and object in a value. */
function containers(value: Json): Exclude<Json, null | boolean | number | string>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(containers)];
}

const junk: Json[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  1.5,
  20_001,
  '',
  'false',
  'true',
  '0',
  [],
  {},
  [false],
  { validateOnly: false },
  'x'.repeat(5_000),
  '\u0000',
  '\ud800',
  '\udc00x',
  '\ufeff',
  '__proto__',
  "'; drop table users; --",
];
const keys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'validateOnly',
  'settings',
  'data',
  '',
  'x/y~z',
  '\u0000',
  '0',
];

/** Each of these adds, replaces, renames or removes a random entry of the value. */
const treeMutations: ((value: Json, r: Random) => void)[] = [
  // another type
  (value, r) => place(value, r, () => structuredClone(r.of(junk))),
  (value, r) => place(value, r, () => structuredClone(r.of(junk))),
  // arrays as objects, objects as arrays
  (value, r) =>
    place(value, r, (old) =>
      Array.isArray(old) ? { ...old } : typeof old === 'object' && old !== null ? Object.values(old) : [old],
    ),
  // nested deeper
  (value, r) => {
    const depth = r.of([1, 2, 31, 40, 1000]);
    place(value, r, (old) => {
      let nested = old;
      for (let i = 0; i < depth; i++) nested = i % 2 === 0 ? [nested] : { validateOnly: nested };
      return nested;
    });
  },
  // the letter case of a key
  (value, r) =>
    rename(value, r, (key) =>
      r.of([key.toUpperCase(), key.toLowerCase(), key[0]?.toUpperCase() + key.slice(1)]),
    ),
  // an unknown key, or one with a meaning in JavaScript
  (value, r) => {
    const inside = r.of(containers(value));
    const added = r.of<Json>([settings, { settings }, true, false, null, 'x', []]);
    if (Array.isArray(inside)) inside.push(structuredClone(added));
    else define(inside, r.of(keys), structuredClone(added));
  },
  // a missing entry
  (value, r) => {
    const inside = r.of(containers(value));
    const key = r.of(Object.keys(inside));
    if (Array.isArray(inside)) inside.splice(Number(key ?? 0), 1);
    else if (key !== undefined) delete inside[key];
  },
  // a duplicate entry
  (value, r) => {
    const arrays = containers(value).filter((one) => Array.isArray(one));
    const inside = arrays.length > 0 ? r.of(arrays) : undefined;
    if (inside && inside.length > 0) inside.push(structuredClone(r.of(inside)));
  },
  // validateOnly of the wrong type
  (value) => {
    const inside = (value as { settings?: { validateOnly?: Json } } | null)?.settings;
    if (inside && typeof inside === 'object') inside.validateOnly = 'false';
  },
  (value, r) => {
    const inside = (value as { settings?: { validateOnly?: Json } } | null)?.settings;
    const wrong: Json[] = ['false', 'False', 'no', '', 0, -0, 1, null, [], {}, [false], { false: false }];
    if (inside && typeof inside === 'object') inside.validateOnly = r.of(wrong);
  },
];

function place(value: Json, r: Random, change: (old: Json) => Json): void {
  const inside = r.of(containers(value)) as Record<string, Json> | undefined;
  const key = inside && r.of(Object.keys(inside));
  if (inside && key !== undefined) define(inside, key, change(inside[key] as Json));
}

function rename(value: Json, r: Random, change: (key: string) => string): void {
  const objects = containers(value).filter((one) => !Array.isArray(one)) as Record<string, Json>[];
  const inside = objects.length > 0 ? r.of(objects) : undefined;
  const key = inside && r.of(Object.keys(inside));
  if (!inside || key === undefined) return;
  const old = inside[key] as Json;
  delete inside[key];
  define(inside, change(key), old);
}

/** Adds an entry as JSON.parse does, so that __proto__ is an ordinary key. */
function define(inside: object, key: string, value: Json): void {
  Object.defineProperty(inside, key, { value, enumerable: true, configurable: true, writable: true });
}

const textMutations: ((text: string, r: Random) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text, r) => text.slice(0, r.below(text.length)),
  (text, r) => text.slice(r.below(text.length)),
  // a duplicate key
  (text, r) =>
    insert(
      text,
      r,
      '{',
      r.of([
        '"validateOnly":false,',
        '"validateOnly":true,',
        '"settings":{"validateOnly":false},',
        '"externalId":"1",',
      ]),
    ),
  (text, r) =>
    insert(
      text,
      r,
      '}',
      r.of([
        ',"validateOnly":false',
        ',"v\\u0061lidateOnly":false',
        ',"settings":{"validateOnly":false}',
        ',',
      ]),
    ),
  // numbers out of range, and words that are not JSON
  (text, r) =>
    text.replace(
      /true|false|10/,
      r.of([
        '1e400',
        '-1e309',
        '123456789012345678901234567890',
        '1e-400',
        '0x10',
        'NaN',
        'Infinity',
        'undefined',
        '010',
        '+1',
        '.5',
        '1.',
        'False',
        "'false'",
      ]),
    ),
  // text that no database can store
  (text, r) =>
    insert(
      text,
      r,
      '"',
      r.of(['\\u0000', '\\ud800', '\\udfff', '\u0000', '\\u00', '\\x41', '\t', '\u2028', '\\', '"']),
    ),
  (text, r) =>
    text.replaceAll(r.of(['"', ':', ',', '{', ']']), (found) =>
      r.below(8) === 0 ? r.of(["'", ';', '', ',,', '[']) : found,
    ),
  (text, r) => r.of(['\ufeff', ' \n\t', '//', '/**/', '\u00a0', ")]}',\n"]) + text,
  (text, r) =>
    text + r.of([' ', '\u0000', text, '{}', ',', ']', '#', '\n{"settings":{"validateOnly":false}}']),
];

function insert(text: string, r: Random, after: string, what: string): string {
  const places = [...text].flatMap((c, i) => (c === after ? [i] : []));
  if (places.length === 0) return text + what;
  const at = r.of(places) + (after === '}' ? 0 : 1);
  return text.slice(0, at) + what + text.slice(at);
}

const byteMutations: ((bytes: Uint8Array, r: Random) => void)[] = [
  (bytes, r) => void (bytes[r.below(bytes.length || 1)]! ^= 1 << r.below(8)),
  (bytes, r) => void (bytes[r.below(bytes.length || 1)] = r.below(256)),
  (bytes, r) =>
    void bytes.fill(r.of([0, 32, 34, 0x80, 0xff]), r.below(bytes.length + 1), r.below(bytes.length + 1)),
  (bytes, r) =>
    void bytes.copyWithin(r.below(bytes.length + 1), r.below(bytes.length + 1), r.below(bytes.length + 1)),
];

const wrappings: ((bytes: Uint8Array, r: Random) => Sent)[] = [
  (bytes) => ({ bytes: gzipSync(bytes), headers: { 'content-encoding': 'gzip' } }),
  (bytes) => ({ bytes: gzipSync(gzipSync(bytes)), headers: { 'content-encoding': 'gzip' } }),
  (bytes) => ({ bytes: gzipSync(bytes), headers: {} }),
  (bytes, r) => ({
    bytes,
    headers: {
      'content-encoding': r.of([
        'gzip',
        'GZIP',
        'x-gzip',
        'br',
        'deflate',
        'identity',
        'gzip, gzip',
        'nonsense',
      ]),
    },
  }),
  (bytes, r) => {
    const compressed = gzipSync(bytes);
    byteMutations[0]?.(compressed, r);
    return { bytes: compressed, headers: { 'content-encoding': 'gzip' } };
  },
  (bytes, r) => ({
    bytes: gzipSync(bytes).subarray(0, r.below(60)),
    headers: { 'content-encoding': 'gzip' },
  }),
  (bytes, r) => ({
    bytes,
    headers: {
      'content-type': r.of([
        'text/plain',
        'application/json; charset=utf-16',
        'application/json; charset="utf-8"',
        'application/x-www-form-urlencoded',
        'application/json5',
        'nonsense',
      ]),
    },
  }),
  (bytes, r) => ({
    bytes: new Uint8Array(Buffer.from(Buffer.from(bytes).toString(), r.of(['utf16le', 'latin1'] as const))),
    headers: {},
  }),
];

export function hostileBody(seed: number): Sent {
  const r = random(seed);
  const value = structuredClone(deleting(r.below(2) === 0)) as Json;
  for (let i = r.below(4); i > 0; i--) r.of(treeMutations)(value, r);
  const text = r.of(textMutations)(JSON.stringify(value), r);
  const bytes = new TextEncoder().encode(text);
  if (r.below(5) === 0) for (let i = r.below(4); i >= 0; i--) r.of(byteMutations)(bytes, r);
  return r.below(6) === 0 ? r.of(wrappings)(bytes, r) : { bytes, headers: {} };
}

/** Returns whether the body, as JSON.parse reads it, contains exactly validateOnly: false. */
export function saysFalse({ bytes, headers }: Sent): boolean {
  const encoding = headers['content-encoding']?.toLowerCase();
  try {
    const plain = encoding === 'gzip' ? gunzipSync(bytes) : bytes;
    const parsed = JSON.parse(new TextDecoder().decode(plain)) as {
      settings?: { validateOnly?: unknown };
    } | null;
    return parsed?.settings?.validateOnly === false;
  } catch {
    return false;
  }
}
