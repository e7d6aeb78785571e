import { formatTexts } from '@soundings/contract/formats.ts';
import { detailTypes } from '@soundings/contract/problem.ts';
import { expect, test } from 'vitest';
import {
  choiceFault,
  emailFault,
  externalIdFault,
  fieldNameAt,
  languageFault,
  lengthFault,
  nameFault,
  phoneFault,
  timeZoneFault,
} from './field-faults.ts';

test('each invalid value gets the message for the type of the fault, preceded by the value', () => {
  const faults = [externalIdFault(' a'), emailFault('a'), phoneFault('070'), timeZoneFault('Mars/North')];
  expect([...faults, languageFault('xx')]).toEqual([
    {
      type: 'invalid externalId',
      message:
        '" a" is not a valid externalId. Use 1 to 255 characters without leading or trailing spaces or control characters.',
    },
    {
      type: 'invalid email',
      message: '"a" is not a valid email address (for example, anna@example.com).',
    },
    {
      type: 'invalid phone',
      message: '"070" is not a valid phone number with a country code (E.164, for example +46701234567).',
    },
    {
      type: 'invalid timezone',
      message: '"Mars/North" is not a valid time zone (for example, Europe/Stockholm).',
    },
    {
      type: 'invalid language',
      message: '"xx" is not a valid language code (ISO 639-1, for example en).',
    },
  ]);
  expect(detailTypes).toMatchObject(formatTexts.en);
});

test('valid values get no error', () => {
  const names = [nameFault('name', 'A'), lengthFault('name', '', 1), choiceFault('role', 'a', ['a'])];
  const others = [externalIdFault('a'), emailFault('a@b.se'), phoneFault('+46 70 123 45 67')];
  expect([...names, ...others, timeZoneFault('Europe/Oslo'), languageFault('nb')]).toEqual(
    Array.from({ length: 8 }),
  );
});

test('a blank name counts as missing, and lengths count characters, not code units', () => {
  expect(nameFault('firstName', ' ')).toEqual({
    type: 'missing field',
    message: '"firstName" is required.',
  });
  expect(lengthFault('name', '🙂'.repeat(3), 3)).toBeUndefined();
  const tooLong = { type: 'too long', message: '"name" is too long. The maximum is 3 characters.' };
  expect(lengthFault('name', '🙂'.repeat(4), 3)).toEqual(tooLong);
  expect(lengthFault('name', 'abcdefg', 3)).toEqual(tooLong);
});

test('for a choice, the message lists the allowed values', () => {
  expect(choiceFault('role', 'user', ['Manager', 'User'])).toEqual({
    type: 'out of range',
    message: '"role" must be one of Manager, User (case-sensitive).',
  });
});

test('the field is the last part of the JSON pointer', () => {
  expect(['/name', '/data/users/0/email', 'name'].map(fieldNameAt)).toEqual(['name', 'email', 'name']);
});
