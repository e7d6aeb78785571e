// The index of a part says the same about its people as their JSON.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { halvesOf } from '../../base/crypto/digest.ts';
import { readJson } from '../../base/json/escaped-keys.ts';
import type { JsonValue } from '../../base/json/json.ts';
import { cases } from '../../testing/house/cases.ts';
import type { SentOrganization } from '../check.ts';
import { newFindings } from '../findings.ts';
import { fingerprintOf } from '../repeated/fingerprints.ts';
import { indexOfLists, readParsed } from '../texts/read-lists.ts';
import { newKnownUsers } from './known-users.ts';
import { externalIdDigest, knownTextsOf, peopleOfIndex } from './people-index.ts';

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

type Data = { users: User[]; groups?: object[] };
/** Reads lists without checking them: here, users have any texts. */
const unchecked = (value: JsonValue): SentOrganization => ({
  settings: {},
  data: (value as { data: Data }).data as SentOrganization['data'],
  places: { users: new Map(), groups: new Map() },
});
/** Returns the index of the people of a list, and their JSON as it is stored. */
function indexed(data: Data) {
  const json = Buffer.from(JSON.stringify({ data }));
  const lists = readParsed(json, unchecked, newFindings())!;
  const { index, stored } = indexOfLists(lists, { isStored: true, seed: [1, 2, 3, 4], start: 3 });
  return { index, stored: Buffer.concat([Buffer.from('{},'), ...stored.chunks]) };
}

test('fingerprints, addresses and places are those of the people', () => {
  fc.assert(
    fc.property(fc.array(person, { maxLength: 8 }), groups, (users, listed) => {
      const { index, stored } = indexed(listed ? { users, groups: listed } : { users });
      const people = peopleOfIndex(index, idOf)!;
      expect(people.count).toBe(users.length);
      for (const user of users) {
        const { externalId, fingerprint, isEmailSent, from, to } = people.next();
        expect(externalId).toEqual(externalIdDigest(user.externalId));
        expect(fingerprint).toEqual(halvesOf(fingerprintOf(user, false, idOf)));
        expect(isEmailSent).toBe(user.email !== undefined);
        expect(readJson(stored.toString('utf8', from, to))).toEqual(readJson(JSON.stringify(user)));
      }
    }),
    cases(300),
  );
});

test('an index of another version is not read', () => {
  const { index } = indexed({ users: [] });
  index[0] = 1;
  expect([peopleOfIndex(index, idOf), knownTextsOf(index)]).toEqual([undefined, undefined]);
});

describe('known users', () => {
  const fingerprint = (i: number) => fingerprintOf(userOf(i), false, idOf);
  const userOf = (i: number): User => ({ externalId: `u${i}`, firstName: `F${i % 7}`, lastName: 'L' });

  test('are found by externalId and fingerprint, however many there are', () => {
    const known = newKnownUsers(1);
    for (let i = 0; i < 3_000; i++) known.add(i + 1, externalIdDigest(`u${i}`), halvesOf(fingerprint(i)));
    const find = (externalId: string, print: string) =>
      known.unchanged({ externalId: externalIdDigest(externalId), fingerprint: halvesOf(print) });
    for (let i = 0; i < 3_000; i++) expect(find(`u${i}`, fingerprint(i))).toBe(i + 1);
    expect(find('u0', fingerprint(1))).toBeUndefined();
    expect(find('u3000', fingerprint(3_000))).toBeUndefined();
  });
});
