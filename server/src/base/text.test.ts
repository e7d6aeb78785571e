// Texts that others sent, and names like them.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { didYouMean } from './text.ts';

const names = ['externalId', 'firstName', 'lastName', 'email', 'phone', 'timezone', 'validateOnly'];

test.each([
  ['validateonly', 'validateOnly'],
  ['validate_only', 'validateOnly'],
  ['e-mail', 'email'],
  ['FirstName', 'firstName'],
  ['fristName', 'firstName'],
  ['time zone', 'timezone'],
  ['extenalID', 'externalId'],
])('%s is like %s', (given, name) => {
  expect(didYouMean(given, names)).toBe(` Did you mean "${name}"?`);
});

test.each(['colour', '', 'x', 'department', '__proto__', 'x'.repeat(1000)])(
  '%s is like none of them',
  (given) => {
    expect(didYouMean(given, names)).toBe('');
  },
);

test('a name is always like itself, and one letter more or less makes no difference to a long one', () => {
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.nat(), fc.constantFrom('', 'x', 'Q'), (name, place, letter) => {
      const at = place % name.length;
      const spoilt = name.slice(0, at) + letter + name.slice(at + 1);
      expect(didYouMean(name, names)).toContain(`"${name}"`);
      expect(didYouMean(spoilt, names)).toContain(`"${name}"`);
    }),
  );
});
