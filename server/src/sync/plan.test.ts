// The fingerprint of a sent user differs whenever the user would be stored differently.
import type { User } from '@soundings/contract/organization.ts';
import { membershipKinds } from '@soundings/contract/people/memberships.ts';
import { expect, test } from 'vitest';
import { fingerprintOf } from './repeated/fingerprints.ts';
import { cases } from '../testing/house/cases.ts';
import fc from 'fast-check';

const groups = ['a', 'b', 'c', 'new'];
const idOf = (name: string) => (name === 'new' ? null : groups.indexOf(name) + 1);

const text = fc.constantFrom('', 'a', 'b', 'a,b', '0', '-', '=a', 'null', 'memberOf1');
const orNull = fc.option(text, { nil: null });
const sentUser = fc.record(
  {
    externalId: fc.constant('u'),
    firstName: text,
    lastName: text,
    email: orNull,
    phone: orNull,
    active: fc.boolean(),
    timezone: text,
    language: text,
    accessInfo: fc.record(
      {
        ...Object.fromEntries(
          membershipKinds.map((kind) => [kind, fc.uniqueArray(fc.constantFrom(...groups), { maxLength: 3 })]),
        ),
        role: fc.constantFrom('User', 'Manager'),
      },
      { requiredKeys: [] },
    ),
    externalProperties: fc.dictionary(text, orNull, { maxKeys: 2 }),
  },
  { requiredKeys: ['externalId', 'firstName', 'lastName'] },
) as unknown as fc.Arbitrary<User>;

/** Returns the data of a user that can change the stored state: groups as sets, attributes by name, and with defaults. */
function meaningOf(user: User, force: boolean): string {
  const { externalId: _, active = true, language, accessInfo, externalProperties, ...rest } = user;
  return JSON.stringify([
    Object.entries(rest).toSorted(),
    active,
    force ? (language ?? null) : null,
    membershipKinds.map((kind) => accessInfo?.[kind]?.toSorted() ?? null),
    accessInfo?.role ?? null,
    Object.entries(externalProperties ?? {}).toSorted(),
  ]);
}

test('users have the same fingerprint exactly if they mean the same', () => {
  fc.assert(
    fc.property(sentUser, sentUser, fc.boolean(), (one, other, force) => {
      const same = meaningOf(one, force) === meaningOf(other, force);
      const hasEmptyAccess = (user: User) =>
        user.accessInfo !== undefined && Object.keys(user.accessInfo).length === 0;
      // An empty accessInfo changes nothing, but may have another fingerprint, which only costs a comparison.
      if (same && (hasEmptyAccess(one) || hasEmptyAccess(other))) return;
      expect(fingerprintOf(one, force, idOf) === fingerprintOf(other, force, idOf)).toBe(same);
    }),
    cases(1_250),
  );
});

test('one different field is enough for another fingerprint', () => {
  fc.assert(
    fc.property(sentUser, sentUser, fc.boolean(), (user, other, force) => {
      for (const field of Object.keys(other) as (keyof User)[]) {
        const changed = { ...user, [field]: other[field] } as User;
        if (meaningOf(user, force) === meaningOf(changed, force)) continue;
        expect(fingerprintOf(changed, force, idOf)).not.toBe(fingerprintOf(user, force, idOf));
      }
    }),
    cases(1_250),
  );
});
