// Texts from outside, and suggestions of similar names.
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
])('%s is similar to %s', (given, name) => {
  expect(didYouMean(given, names)).toBe(` Did you mean "${name}"?`);
});

test.each(['colour', '', 'x', 'department', '__proto__', 'x'.repeat(1000)])(
  '%s is similar to none of them',
  (given) => {
    expect(didYouMean(given, names)).toBe('');
  },
);

test('a name is similar to itself, and one character more or less in a long name makes no difference', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.nat(),
      fc.constantFrom('', 'x', 'Q'),
      (name, place, character) => {
        const at = place % name.length;
        const spoilt = name.slice(0, at) + character + name.slice(at + 1);
        expect(didYouMean(name, names)).toContain(`"${name}"`);
        expect(didYouMean(spoilt, names)).toContain(`"${name}"`);
      },
    ),
  );
});
