// Invalid and malicious requests over HTTP never cause a defect and are never applied by accident.
import type { Report } from '@soundings/contract/organization.ts';
import { Problem } from '@soundings/contract/problem.ts';
import { readdirSync, readFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../db/db.ts';
import { defineAttribute } from '../people/attributes.changes.ts';
import { caseCount } from '../testing/house/cases.ts';
import { apply, noLimits, person, rowsOf, unit } from '../testing/organizations.ts';
import { sharedData } from '../testing/shared.ts';
import { type JsonResponse, openWorld, type World } from '../testing/world.ts';
import { hostileBody, present, saysFalse, settings } from './hostile.fixture.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const problemCheck = Compile(Problem);
const lists = sharedData('lists');
const skipped = lists === undefined ? ' (skipped: the shared data are absent)' : '';

const count = caseCount('DAMAGED_PUSHES', 400);

describe(`${count} mutated pushes`, () => {
  const senders = 16;

  test(
    'never cause a 5xx response, and are applied only if they contain exactly validateOnly: false',
    async () => {
      const statuses = new Map<number, number>();
      let next = 0;
      let appliedCount = 0;
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
          const isExpected =
            status === 200
              ? body.applied === says
              : [400, 413, 415].includes(status) && problemCheck.Check(body);
          if (!isExpected) wrong.push(`seed ${seed}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
          const after = await rowsOf(world.pool, account.id);
          if (status === 200 && says) appliedCount++;
          if (after.join('\n') === before.join('\n')) continue;
          if (status !== 200 || !says) wrong.push(`seed ${seed}: ${status}, but the state has changed`);
          await apply(account, present);
          before = await rowsOf(world.pool, account.id);
        }
      }
      await Promise.all(Array.from({ length: senders }, sender));
      expect(wrong).toEqual([]);
      // The bodies are useful only if not all of them are refused at once.
      expect(statuses.get(200)).toBeGreaterThan(count / 20);
      expect(statuses.get(400)).toBeGreaterThan(count / 4);
      expect(appliedCount).toBeGreaterThan(count / 100);
    },
    60_000 + count * 50,
  );
});

/** Pushes the bodies, 16 at a time from 16 accounts, and returns the responses in the same order. */
async function responsesTo(bodies: unknown[]): Promise<JsonResponse<Report & Problem>[]> {
  const accounts = await Promise.all(Array.from({ length: 16 }, () => world.account()));
  const responses: JsonResponse<Report & Problem>[] = [];
  let next = 0;
  await Promise.all(
    accounts.map(async (account) => {
      while (next < bodies.length) {
        const i = next++;
        responses[i] = await account.push(bodies[i]);
      }
    }),
  );
  return responses;
}

const isRefusal = ({ status, body }: JsonResponse<Report & Problem>) =>
  status === 400 && problemCheck.Check(body) && body.details.length > 0;
const isValid = (response: JsonResponse<Report & Problem>) => response.status === 200 || isRefusal(response);

describe('texts from the JSON parsing test suite', () => {
  const names = lists === undefined ? [] : readdirSync(`${lists}/json-parsing`);
  const text = (name: string) => new Uint8Array(readFileSync(`${lists}/json-parsing/${name}`));
  const has = (letter: string) => names.filter((name) => name.startsWith(`${letter}_`));

  test.skipIf(!lists)(
    `texts that are not JSON (n_*) are 400 with the error body and a detail${skipped}`,
    async () => {
      expect(has('n').length).toBeGreaterThan(150);
      const responses = await responsesTo(has('n').map(text));
      expect(has('n').filter((_, i) => !isRefusal(responses[i]!))).toEqual([]);
    },
  );

  test.skipIf(!lists)(
    `texts that are JSON (y_*), or may be read as JSON (i_*), are 200 or 400, also as the value of a field${skipped}`,
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
      const responses = await responsesTo(bodies);
      expect(bodies.filter((_, i) => !isValid(responses[i]!)).map(String)).toEqual([]);
    },
  );
});

describe('naughty strings', () => {
  const strings =
    lists === undefined
      ? []
      : [...new Set(JSON.parse(readFileSync(`${lists}/blns.json`, 'utf8')) as string[])];

  test.skipIf(!lists)(`are stored unchanged or refused as names of groups and people${skipped}`, async () => {
    const named = (s: string, i: number) => ({
      group: unit(`g${i}`, { name: s, description: s }),
      user: person(`u${i}`, { firstName: s, lastName: s }),
    });
    const responses = await responsesTo(
      strings.map((s) => ({ data: { groups: [named(s, 0).group], users: [named(s, 0).user] } })),
    );
    expect(strings.filter((_, i) => !isValid(responses[i]!))).toEqual([]);
    const accepted = strings.filter((_, i) => responses[i]?.status === 200);
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
  });

  test.skipIf(!lists)(
    `are stored unchanged or refused with their position as externalIds${skipped}`,
    async () => {
      const group = (s: string) => unit(s, { name: 'x' });
      const user = (s: string) => person(s, { accessInfo: { memberOf: [s] } });
      const responses = await responsesTo(
        strings.map((s) => ({ data: { groups: [group(s)], users: [user(s)] } })),
      );
      const outcome = ({ status, body }: JsonResponse<Report & Problem>) =>
        status === 200 ? 'accepted' : `${status} ${body.details[0]?.path}`;
      expect(new Set(responses.map(outcome))).toEqual(new Set(['accepted', '400 /data/groups/0/externalId']));
      const accepted = strings.filter((_, i) => responses[i]?.status === 200);
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

  test.skipIf(!lists)(`are 200 or 400 in all other fields${skipped}`, async () => {
    const [isThorough, isEverywhere] = [count >= 1_000, count >= 10_000];
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
        // Each string goes into one of these fields in turn, or into all of them in very long runs.
        ...Object.entries(odd)
          .filter((_, field) => isEverywhere || field === i % 6)
          .map(([key, value]) => ({ data: { users: [person('u', { [key]: value })] } })),
        { settings: asKey },
        asKey,
        // In short runs, each string goes into one of these bodies in turn.
      ].filter((_, body) => isThorough || body === i % 4);
    });
    const responses = await responsesTo(bodies);
    expect(bodies.filter((_, i) => !isValid(responses[i]!))).toEqual([]);
  });
});

describe('lists of valid values, each sent in one request', () => {
  const column = (name: string, index: number) =>
    readFileSync(`${lists}/${name}`, 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((row) => row.split(',')[index] as string);

  /** Sends each value as a field of a user and expects that all are stored unchanged. */
  async function expectStored(
    field: 'phone' | 'timezone' | 'language' | 'email',
    values: string[],
  ): Promise<void> {
    const account = await world.account();
    const users = values.map((value, i) => person(String(i), { [field]: value }));
    expect((await apply(account, { users }, noLimits)).summary.users.created).toBe(values.length);
    const stored = await world.pool`
      select ${world.pool(field)} as value from users where account_id = ${account.id} and managed order by user_id`;
    expect(stored.map((row) => row['value'])).toEqual(values);
  }

  test.skipIf(!lists)(`accepts every name of the tz database, including links${skipped}`, async () => {
    const zones = column('tz-names.csv', 0);
    expect(zones.length).toBeGreaterThan(590);
    await expectStored('timezone', zones);
  });

  test.skipIf(!lists)(`accepts every code of ISO 639-1, but no three-letter code${skipped}`, async () => {
    const languages = column('iso639-1.csv', 0);
    expect(languages.length).toBeGreaterThan(180);
    await expectStored('language', languages);
    const account = await world.account();
    const users = column('iso639-1.csv', 1).map((language, i) => person(String(i), { language }));
    const { body } = await account.push({ data: { users } });
    expect(body.details.map(({ path }) => path)).toEqual(users.map((_, i) => `/data/users/${i}/language`));
  });

  test.skipIf(!lists)(`accepts example phone numbers of all countries${skipped}`, async () => {
    const phones = column('phones-e164-examples.csv', 1);
    expect(phones.length).toBeGreaterThan(200);
    await expectStored('phone', phones);
  });

  test.skipIf(!lists)(
    `accepts valid email addresses, and refuses invalid ones with their positions${skipped}`,
    async () => {
      type Case = { address: string; category: string };
      const cases = (JSON.parse(readFileSync(`${lists}/isemail-tests.json`, 'utf8')) as Case[])
        .map(({ address, category }) => ({
          // The list represents control characters by their symbols.
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
      await expectStored('email', of('ISEMAIL_VALID_CATEGORY'));
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
  test('refuses 100,000 users by the limit, with their count, and keeps responding to others', async () => {
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
    ['a duplicate externalId', { data: { groups: [unit(long, { name: 'x' }), unit(long, { name: 'x' })] } }],
    ['the externalId of a user without a name', { data: { users: [{ externalId: long }] } }],
    ['a parent', { data: { groups: [unit('a', { parent: long })] } }],
    ['a referenced group', { data: { users: [person('1', { accessInfo: { memberOf: [long] } })] } }],
    ['a role', { data: { users: [person('1', { accessInfo: { role: long } })] } }],
    ['an email address', { data: { users: [person('1', { email: long })] } }],
    ['a phone number', { data: { users: [person('1', { phone: long })] } }],
    ['a time zone', { data: { users: [person('1', { timezone: long })] } }],
    ['a language', { data: { users: [person('1', { language: long })] } }],
  ])('does not return a megabyte of text in the response: %s', async (_, body) => {
    const account = await world.account();
    const response: JsonResponse<Report & Problem> = await account.push(body);
    expect([200, 400]).toContain(response.status);
    expect(JSON.stringify(response.body).length).toBeLessThan(16 * 1024);
  });

  test('does not return a megabyte of text in the response: groups that are their own parents', async () => {
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

  test('a million invalid entries delay the pushes of another account by seconds at most', async () => {
    const [hostile, other] = [await world.account(), await world.account()];
    const invalid = hostile.push(`{"data":{"users":[${'{},'.repeat(1_000_000)}{}]}}`);
    const start = performance.now();
    expect((await other.push({ data: { users: [] } })).status).toBe(200);
    expect(performance.now() - start).toBeLessThan(20_000);
    const { status, body } = await invalid;
    expect(status).toBe(400);
    expect(body.details).toHaveLength(1001);
    expect(body.details.at(-1)?.type).toBe('more');
  });

  test.each<[string, (i: number) => unknown]>([
    ['unknown groups', (i) => `nowhere ${i}`],
    ['values of a wrong type', (i) => i],
  ])('does not return a long externalId with each of a thousand errors: %s', async (_, wrong) => {
    const account = await world.account();
    const memberOf = Array.from({ length: 1000 }, (_one, i) => wrong(i));
    const user = person('x'.repeat(2 * 1024 * 1024), { accessInfo: { memberOf } });
    const { status, body } = await account.push({ data: { users: [user] } });
    expect(status).toBe(400);
    expect(body.details.length).toBeGreaterThan(0);
    expect(JSON.stringify(body).length).toBeLessThan(1024 * 1024);
  });
});
