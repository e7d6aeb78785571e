// What is sent by mistake or with intent to harm, through HTTP: never a defect of ours, never applied by accident.
import type { Report } from '@soundings/contract/organization.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { apply, noLimits, person, rowsOf, unit } from '../testing/organizations.ts';
import { sharedData } from '../testing/shared.ts';
import { type Answer, openWorld, type World } from '../testing/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const problemCheck = Compile(Problem);
const settings = { validateOnly: false };
const lists = sharedData('lists');
const skipped = lists === undefined ? ' (skipped: the shared data are absent)' : '';

// --- Bodies: a valid push that removes and changes, spoilt in one to three ways. Everything follows from the seed.

type Random = { below(n: number): number; of<T>(list: readonly T[]): T };

/** Numbers that follow from a seed (mulberry32). */
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

const present = {
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

/** Each array or object of a value, with the keys it has. */
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

/** A random entry of the value is put, replaced, renamed or taken away. */
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
  // a key that is unknown, or known to JavaScript
  (value, r) => {
    const inside = r.of(containers(value));
    const added = r.of<Json>([settings, { settings }, true, false, null, 'x', []]);
    if (Array.isArray(inside)) inside.push(structuredClone(added));
    else define(inside, r.of(keys), structuredClone(added));
  },
  // something is missing
  (value, r) => {
    const inside = r.of(containers(value));
    const key = r.of(Object.keys(inside));
    if (Array.isArray(inside)) inside.splice(Number(key ?? 0), 1);
    else if (key !== undefined) delete inside[key];
  },
  // something comes twice
  (value, r) => {
    const arrays = containers(value).filter((one) => Array.isArray(one));
    const inside = arrays.length > 0 ? r.of(arrays) : undefined;
    if (inside && inside.length > 0) inside.push(structuredClone(r.of(inside)));
  },
  // validateOnly in the wrong type
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

/** As JSON.parse does it: also a key named __proto__ is an entry like any other. */
function define(inside: object, key: string, value: Json): void {
  Object.defineProperty(inside, key, { value, enumerable: true, configurable: true, writable: true });
}

const textMutations: ((text: string, r: Random) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text, r) => text.slice(0, r.below(text.length)),
  (text, r) => text.slice(r.below(text.length)),
  // a key given twice
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
  // numbers beyond all bounds, and words that are no JSON
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
  // text that no database keeps
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
    const packed = gzipSync(bytes);
    byteMutations[0]?.(packed, r);
    return { bytes: packed, headers: { 'content-encoding': 'gzip' } };
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

function hostileBody(seed: number): Sent {
  const r = random(seed);
  const value = structuredClone(deleting(r.below(2) === 0)) as Json;
  for (let i = r.below(4); i > 0; i--) r.of(treeMutations)(value, r);
  const text = r.of(textMutations)(JSON.stringify(value), r);
  const bytes = new TextEncoder().encode(text);
  if (r.below(5) === 0) for (let i = r.below(4); i >= 0; i--) r.of(byteMutations)(bytes, r);
  return r.below(6) === 0 ? r.of(wrappings)(bytes, r) : { bytes, headers: {} };
}

/** Whether the body, as JSON.parse reads it, says validateOnly: false to the letter. */
function saysFalse({ bytes, headers }: Sent): boolean {
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

const count = Number(process.env['SPOILT_PUSHES'] ?? 300);

describe(`${count} spoilt pushes`, () => {
  const atOnce = 16;

  test(
    'none is answered by 5xx, and nothing is applied that does not say validateOnly false to the letter',
    async () => {
      const statuses = new Map<number, number>();
      let next = 0;
      let appliedOnes = 0;
      const wrong: string[] = [];
      async function sender() {
        const account = await world.account();
        await inTransaction(world.pool, (tx) =>
          defineAttribute(tx, account.id, { name: 'gender', allowedValues: ['Male', 'Female'] }),
        );
        await apply(account, present);
        let before = await rowsOf(world.pool, account.id);
        while (next < count) {
          const seed = next++;
          const sent = hostileBody(seed);
          const { status, body } = await account.push(sent.bytes, sent.headers);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          const says = saysFalse(sent);
          const answered =
            status === 200
              ? body.applied === says
              : [400, 413, 415].includes(status) && problemCheck.Check(body);
          if (!answered) wrong.push(`seed ${seed}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
          const after = await rowsOf(world.pool, account.id);
          if (status === 200 && says) appliedOnes++;
          if (after.join('\n') === before.join('\n')) continue;
          if (status !== 200 || !says) wrong.push(`seed ${seed}: ${status}, and the state is another`);
          await apply(account, present);
          before = await rowsOf(world.pool, account.id);
        }
      }
      await Promise.all(Array.from({ length: atOnce }, sender));
      expect(wrong).toEqual([]);
      // The bodies are worth something only if they are not all refused at the door.
      expect(statuses.get(200)).toBeGreaterThan(count / 20);
      expect(statuses.get(400)).toBeGreaterThan(count / 4);
      expect(appliedOnes).toBeGreaterThan(count / 100);
    },
    60_000 + count * 50,
  );
});

/** Pushes each body, 16 at a time, by turns from as many accounts, and returns the answers in the same order. */
async function answersTo(bodies: unknown[]): Promise<Answer<Report & Problem>[]> {
  const accounts = await Promise.all(Array.from({ length: 16 }, () => world.account()));
  const answers: Answer<Report & Problem>[] = [];
  let next = 0;
  await Promise.all(
    accounts.map(async (account) => {
      while (next < bodies.length) {
        const i = next++;
        answers[i] = await account.push(bodies[i]);
      }
    }),
  );
  return answers;
}

const isRefusal = ({ status, body }: Answer<Report & Problem>) =>
  status === 400 && problemCheck.Check(body) && body.details.length > 0;
const isAnswer = (answer: Answer<Report & Problem>) => answer.status === 200 || isRefusal(answer);

describe('JSON texts that parsers are tested with', () => {
  const names = lists === undefined ? [] : readdirSync(`${lists}/json-parsing`);
  const text = (name: string) => new Uint8Array(readFileSync(`${lists}/json-parsing/${name}`));
  const has = (letter: string) => names.filter((name) => name.startsWith(`${letter}_`));

  test.skipIf(!lists)(
    `what is not JSON (n_*) is 400 with the error body and a detail${skipped}`,
    async () => {
      expect(has('n').length).toBeGreaterThan(150);
      const answers = await answersTo(has('n').map(text));
      expect(has('n').filter((_, i) => !isRefusal(answers[i]!))).toEqual([]);
    },
  );

  test.skipIf(!lists)(
    `what is JSON, or may be taken for it (y_*, i_*), is 200 or 400, also as the value of a field${skipped}`,
    async () => {
      const around = [
        ['', ''],
        ['{"settings":', '}'],
        ['{"data":{"users":[{"externalId":"1","firstName":"A","lastName":', '}]}}'],
        ['{"data":{"groups":[{"externalId":"1","name":"A","extra":', '}]}}'],
      ] as const;
      const bodies = [...has('y'), ...has('i')].flatMap((name) =>
        around.map(([before, after]) => Buffer.concat([Buffer.from(before), text(name), Buffer.from(after)])),
      );
      expect(bodies.length).toBeGreaterThan(400);
      const answers = await answersTo(bodies);
      expect(bodies.filter((_, i) => !isAnswer(answers[i]!)).map(String)).toEqual([]);
    },
  );
});

describe('naughty strings', () => {
  const strings =
    lists === undefined
      ? []
      : [...new Set(JSON.parse(readFileSync(`${lists}/blns.json`, 'utf8')) as string[])];

  test.skipIf(!lists)(
    `as the names of groups and people they come out as they were sent, or are refused${skipped}`,
    async () => {
      const named = (s: string, i: number) => ({
        group: unit(`g${i}`, { name: s, description: s }),
        user: person(`u${i}`, { firstName: s, lastName: s }),
      });
      const answers = await answersTo(
        strings.map((s) => ({ data: { groups: [named(s, 0).group], users: [named(s, 0).user] } })),
      );
      expect(strings.filter((_, i) => !isAnswer(answers[i]!))).toEqual([]);
      const accepted = strings.filter((_, i) => answers[i]?.status === 200);
      expect(accepted.length).toBeGreaterThan(400);

      const account = await world.account();
      const all = accepted.map(named);
      const data = { groups: all.map(({ group }) => group), users: all.map(({ user }) => user) };
      await apply(account, data, noLimits);
      const groups = await account.groups();
      expect(groups.map(({ name }) => name)).toEqual(accepted);
      expect(groups.map(({ description }) => description)).toEqual(accepted);
      const people = await world.pool`
        select first_name, last_name from users where account_id = ${account.id} and managed order by user_id`;
      expect(people.map((row) => row['first_name'])).toEqual(accepted);
      expect(people.map((row) => row['last_name'])).toEqual(accepted);
    },
  );

  test.skipIf(!lists)(
    `as externalIds they come out as they were sent, or are refused with a fault that names the place${skipped}`,
    async () => {
      const group = (s: string) => unit(s, { name: 'x' });
      const user = (s: string) => person(s, { accessInfo: { memberOf: [s] } });
      const answers = await answersTo(
        strings.map((s) => ({ data: { groups: [group(s)], users: [user(s)] } })),
      );
      const outcome = ({ status, body }: Answer<Report & Problem>) =>
        status === 200 ? 'accepted' : `${status} ${body.details[0]?.path}`;
      expect(new Set(answers.map(outcome))).toEqual(new Set(['accepted', '400 /data/groups/0/externalId']));
      const accepted = strings.filter((_, i) => answers[i]?.status === 200);
      expect(accepted.length).toBeGreaterThan(300);

      const account = await world.account();
      const data = {
        groups: accepted.map((s, i) => ({
          ...group(s),
          ...(i > 0 && i < 50 && { parent: accepted[i - 1] }),
        })),
        users: accepted.map(user),
      };
      await apply(account, data, noLimits);
      expect((await account.groups()).map(({ externalId }) => externalId)).toEqual(accepted);
      const members = await world.pool`
        select u.external_id as "user", g.external_id as "group"
        from   memberships m
        join   users u using (account_id, user_id)
        join   groups g using (account_id, group_id)
        where  m.account_id = ${account.id}
        order  by u.user_id`;
      expect(members.map((row) => row['user'])).toEqual(accepted);
      expect(members.map((row) => row['group'])).toEqual(accepted);
      const removed = await apply(account, { groups: [], users: [] }, noLimits);
      expect(removed.summary.users.deleted).toBe(accepted.length);
    },
  );

  test.skipIf(!lists)(`anywhere else they are 200 or 400${skipped}`, async () => {
    const isEverywhere = count >= 10_000;
    const bodies = strings.flatMap((s, i) => {
      const asKey = Object.fromEntries([[s, s]]);
      const odd = {
        email: s,
        phone: s,
        timezone: s,
        language: s,
        accessInfo: { role: s, memberOf: [s] },
        externalProperties: asKey,
      };
      return [
        { data: { groups: [unit('g', { ...asKey, parent: s })], users: [person('u', odd)] } },
        // Each at one of these places, by turns, unless more is asked for.
        ...Object.entries(odd)
          .filter((_, field) => isEverywhere || field === i % 6)
          .map(([key, value]) => ({ data: { users: [person('u', { [key]: value })] } })),
        { settings: asKey },
        asKey,
      ];
    });
    const answers = await answersTo(bodies);
    expect(bodies.filter((_, i) => !isAnswer(answers[i]!))).toEqual([]);
  });
});

describe('lists of values, each in one request', () => {
  const column = (name: string, index: number) =>
    readFileSync(`${lists}/${name}`, 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((row) => row.split(',')[index] as string);

  /** Sends each value as the field of a user, and expects them all to be kept as they are. */
  async function keeps(field: 'phone' | 'timezone' | 'language' | 'email', values: string[]): Promise<void> {
    const account = await world.account();
    const users = values.map((value, i) => person(String(i), { [field]: value }));
    expect((await apply(account, { users }, noLimits)).summary.users.created).toBe(values.length);
    const kept = await world.pool`
      select ${world.pool(field)} as value from users where account_id = ${account.id} and managed order by user_id`;
    expect(kept.map((row) => row['value'])).toEqual(values);
  }

  test.skipIf(!lists)(`every name of the tz database is accepted, links included${skipped}`, async () => {
    const zones = column('tz-names.csv', 0);
    expect(zones.length).toBeGreaterThan(590);
    await keeps('timezone', zones);
  });

  test.skipIf(!lists)(
    `every code of ISO 639-1 is accepted, and no code of three letters${skipped}`,
    async () => {
      const languages = column('iso639-1.csv', 0);
      expect(languages.length).toBeGreaterThan(180);
      await keeps('language', languages);
      const account = await world.account();
      const users = column('iso639-1.csv', 1).map((language, i) => person(String(i), { language }));
      const { body } = await account.push({ data: { users } });
      expect(body.details.map(({ path }) => path)).toEqual(users.map((_, i) => `/data/users/${i}/language`));
    },
  );

  test.skipIf(!lists)(`example phone numbers of all countries are accepted${skipped}`, async () => {
    const phones = column('phones-e164-examples.csv', 1);
    expect(phones.length).toBeGreaterThan(200);
    await keeps('phone', phones);
  });

  test.skipIf(!lists)(
    `e-mail addresses: those without blemish are accepted, those that are none are refused, each with its place${skipped}`,
    async () => {
      type Case = { address: string; category: string };
      const cases = (JSON.parse(readFileSync(`${lists}/isemail-tests.json`, 'utf8')) as Case[])
        .map(({ address, category }) => ({
          // The list writes control characters as their pictures.
          address: address.replace(/[\u2400-\u241f]/g, (c) => String.fromCharCode(c.charCodeAt(0) - 0x2400)),
          category,
        }))
        .filter(({ address }) => !address.includes('\0'));
      const of = (wanted: string) => [
        ...new Set(cases.filter(({ category }) => category === wanted).map(({ address }) => address)),
      ];
      expect([of('ISEMAIL_VALID_CATEGORY').length, of('ISEMAIL_ERR').length]).toEqual([
        expect.toSatisfy((n: number) => n > 5),
        expect.toSatisfy((n: number) => n > 50),
      ]);
      await keeps('email', of('ISEMAIL_VALID_CATEGORY'));
      const account = await world.account();
      const users = of('ISEMAIL_ERR').map((email, i) => person(String(i), { email }));
      const { status, body } = await account.push({
        settings: { ...settings, ...noLimits },
        data: { users },
      });
      expect(status).toBe(400);
      expect(body.details.map(({ type, path }) => [type, path])).toEqual(
        users.map((_, i) => ['invalid email', `/data/users/${i}/email`]),
      );
    },
  );
});

describe('size', () => {
  test('100,000 users are refused by the limit, with their count, and the service goes on answering', async () => {
    const account = await world.account();
    const users = Array.from({ length: 100_000 }, (_, i) => person(`u${i}`, { email: `u${i}@example.org` }));
    const before = await rowsOf(world.pool, account.id);
    const pushed = account.push({ settings: { ...noLimits, ...settings }, data: { users } });
    const other = await world.account();
    expect(await other.groups()).toEqual([]);
    const { status, body } = await pushed;
    expect(status).toBe(400);
    expect(body.details).toMatchObject([
      { type: 'limit exceeded', setting: 'maxUsersCreated', limit: 20_000, count: 100_000 },
    ]);
    expect(await rowsOf(world.pool, account.id)).toEqual(before);
    await apply(account, { users: users.slice(0, 10) });
  });

  const long = 'x'.repeat(1024 * 1024);
  test.each<[string, object]>([
    ['a key at the top', { [long]: 1 }],
    ['a setting', { settings: { [long]: 1 } }],
    ['a key of data', { data: { [long]: 1 } }],
    ['a key of a group', { data: { groups: [unit('a', { [long]: 1 })] } }],
    ['a key of a user', { data: { users: [person('1', { [long]: 1 })] } }],
    ['a key of accessInfo', { data: { users: [person('1', { accessInfo: { [long]: 1 } })] } }],
    ['an attribute', { data: { users: [person('1', { externalProperties: { [long]: 'x' } })] } }],
    [
      'an attribute of the wrong type',
      { data: { users: [person('1', { externalProperties: { [long]: 1 } })] } },
    ],
    ['the value of an attribute', { data: { users: [person('1', { externalProperties: { a: long } })] } }],
    ['an externalId', { data: { groups: [unit(long, { name: 'x' })] } }],
    ['an externalId twice', { data: { groups: [unit(long, { name: 'x' }), unit(long, { name: 'x' })] } }],
    ['an externalId of a user without name', { data: { users: [{ externalId: long }] } }],
    ['a parent', { data: { groups: [unit('a', { parent: long })] } }],
    ['a group that is named', { data: { users: [person('1', { accessInfo: { memberOf: [long] } })] } }],
    ['a role', { data: { users: [person('1', { accessInfo: { role: long } })] } }],
    ['an address', { data: { users: [person('1', { email: long })] } }],
    ['a number', { data: { users: [person('1', { phone: long })] } }],
    ['a time zone', { data: { users: [person('1', { timezone: long })] } }],
    ['a language', { data: { users: [person('1', { language: long })] } }],
  ])('a text of a megabyte is not sent back in the answer: %s', async (_, body) => {
    const account = await world.account();
    const answer: Answer<Report & Problem> = await account.push(body);
    expect([200, 400]).toContain(answer.status);
    expect(JSON.stringify(answer.body).length).toBeLessThan(16 * 1024);
  });

  test('a text of a megabyte is not sent back in the answer: groups beneath themselves', async () => {
    const account = await world.account();
    const groups = Array.from({ length: 20 }, (_, i) => {
      const externalId = `${i}${'x'.repeat(50_000)}`;
      return { externalId, name: 'x', parent: externalId };
    });
    const { status, body } = await account.push({ data: { groups } });
    expect(status).toBe(400);
    expect(body.details.map(({ type }) => type)).toContain('cycle');
    expect(JSON.stringify(body).length).toBeLessThan(64 * 1024);
  });

  test('a million wrong entries hold up the pushes of another account for seconds at most', async () => {
    const [hostile, other] = [await world.account(), await world.account()];
    const spoilt = hostile.push(`{"data":{"users":[${'{},'.repeat(1_000_000)}{}]}}`);
    const start = performance.now();
    expect((await other.push({ data: { users: [] } })).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(5_000);
    const { status, body } = await spoilt;
    expect(status).toBe(400);
    expect(body.details).toHaveLength(1001);
    expect(body.details.at(-1)?.type).toBe('more');
  });

  test.each<[string, (i: number) => unknown]>([
    ['unknown groups', (i) => `nowhere ${i}`],
    ['values of a wrong type', (i) => i],
  ])('a long externalId is not sent back with each of a thousand faults: %s', async (_, wrong) => {
    const account = await world.account();
    const memberOf = Array.from({ length: 1000 }, (_one, i) => wrong(i));
    const user = person('x'.repeat(2 * 1024 * 1024), { accessInfo: { memberOf } });
    const { status, body } = await account.push({ data: { users: [user] } });
    expect(status).toBe(400);
    expect(body.details.length).toBeGreaterThan(0);
    expect(JSON.stringify(body).length).toBeLessThan(1024 * 1024);
  });
});
