// The index of a part says the same about its people as their JSON.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halvesOf } from '../../base/crypto/digest.ts';
import { cases } from '../../testing/house/cases.ts';
import { fingerprintOf } from '../repeated/fingerprints.ts';
import { knownUsers } from './known-users.ts';
import { externalIdDigest, indexedJson, peopleOfIndex } from './people-index.ts';

const names = ['a', 'Åsa, "b"', 'c\\', '🙂', 'new'];
const idOf = (name: string) => (name === 'new' ? null : names.indexOf(name) + 100_000);
const text = fc.constantFrom('', 'a', 'Zoë', '"', '\\u0000', '🙂', '},{', ',');
const person = fc.record(
  {
    externalId: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 5 }),
    firstName: text,
    lastName: text,
    email: fc.option(text, { nil: null }),
    active: fc.boolean(),
    language: text,
    accessInfo: fc.record(
      Object.fromEntries(
        membershipKinds.map((kind) => [kind, fc.uniqueArray(fc.constantFrom(...names), { maxLength: 4 })]),
      ),
      { requiredKeys: [] },
    ),
    externalProperties: fc.dictionary(text, fc.option(text, { nil: null }), { maxKeys: 2 }),
  },
  { requiredKeys: ['externalId', 'firstName', 'lastName'] },
) as unknown as fc.Arbitrary<User>;
const groups = fc.option(fc.array(fc.record({ externalId: text, name: text }), { maxLength: 3 }), {
  nil: undefined,
});

test('fingerprints, addresses and places are those of the people', () => {
  fc.assert(
    fc.property(fc.array(person, { maxLength: 8 }), groups, (users, listed) => {
      const data = listed ? { users, groups: listed } : { users };
      const { json, index } = indexedJson(data);
      expect(JSON.parse(json)).toEqual(JSON.parse(JSON.stringify(data)));
      const people = peopleOfIndex(index() as Buffer, idOf)!;
      expect(people.count).toBe(users.length);
      for (const user of users) {
        const { externalId, fingerprint, isEmailSent, from, to } = people.next();
        expect(externalId).toEqual(externalIdDigest(user.externalId));
        expect(fingerprint).toEqual(halvesOf(fingerprintOf(user, false, idOf)));
        expect(isEmailSent).toBe(user.email !== undefined);
        expect(JSON.parse(json.slice(from, to))).toEqual(JSON.parse(JSON.stringify(user)));
      }
    }),
    cases(300),
  );
});

test('a part without users has no index, and an index of another version is not read', () => {
  const ofGroups = indexedJson({ groups: [] });
  expect([ofGroups.json, ofGroups.index()]).toEqual(['{"groups":[]}', null]);
  const index = indexedJson({ users: [] }).index() as Buffer;
  index[0] = 2;
  expect(peopleOfIndex(index, idOf)).toBeUndefined();
});

describe('known users', () => {
  const fingerprint = (i: number) => fingerprintOf(userOf(i), false, idOf);
  const userOf = (i: number): User => ({ externalId: `u${i}`, firstName: `F${i % 7}`, lastName: 'L' });

  test('are found by externalId and fingerprint, however many there are', async () => {
    async function* batches() {
      for (let from = 0; from < 3_000; from += 500)
        yield Array.from({ length: 500 }, (_, k) => ({
          id: from + k + 1,
          externalId: `u${from + k}`,
          fingerprint: fingerprint(from + k),
        }));
    }
    const known = await knownUsers(batches(), 1);
    const find = (externalId: string, print: string) =>
      known.unchanged({ externalId: externalIdDigest(externalId), fingerprint: halvesOf(print) });
    for (let i = 0; i < 3_000; i++) expect(find(`u${i}`, fingerprint(i))).toBe(i + 1);
    expect(find('u0', fingerprint(1))).toBeUndefined();
    expect(find('u3000', fingerprint(3_000))).toBeUndefined();
  });
});
