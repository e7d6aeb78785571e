// Local phone numbers get the prefix of their country, however they are written.
import { countries } from '@soundings/contract/countries.ts';
import { normalisePhone } from '@soundings/contract/formats.ts';
import { getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedData } from '../../testing/shared.ts';
import { withCountryPrefix } from './phones.ts';

/** The number as written, the default country, and the result, followed by ? if it could also be a number of another country. */
test.each([
  ['070-123 45 67', 'SE', '+46701234567'],
  ['701234567', 'SE', '+46701234567'],
  ['46701234567', 'SE', '+46701234567'],
  ['(08) 123 45 67', 'SE', '+4681234567'],
  ['4791234567', 'SE', '+4791234567'],
  ['47 912 34 567', 'SE', '+4791234567'],
  ['4520123456', 'SE', '+4520123456'],
  ['358401234567', 'SE', '+358401234567'],
  ['4915112345678', 'SE', '+4915112345678'],
  ['447911123456', 'SE', '+447911123456'],
  ['14155552671', 'SE', '+14155552671'],
  ['912 34 567', 'NO', '+4791234567'],
  ['4791234567', 'NO', '+4791234567'],
  ['46701234567', 'NO', '+46701234567'],
  ['4520123456', 'NO', '+4520123456'],
  ['12 34 56 78', 'DK', '+4512345678'],
  ['20 12 34 56', 'DK', '+4520123456'],
  ['4520123456', 'DK', '+4520123456'],
  ['46701234567', 'DK', '+46701234567'],
  ['4791234567', 'DK', '+4791234567'],
  ['040 1234567', 'FI', '+358401234567'],
  ['401234567', 'FI', '+358401234567'],
  ['358401234567', 'FI', '+358401234567'],
  ['46701234567', 'FI', '+46701234567'],
  ['0151 23456789', 'DE', '+4915123456789'],
  ['15123456789', 'DE', '+4915123456789'],
  ['4915123456789', 'DE', '+4915123456789'],
  ['030 12345678', 'DE', '+493012345678'],
  ['0467 0123456', 'DE', '+494670123456'],
  ['14155552671', 'DE', '+14155552671'],
  // German landline numbers have many lengths. This could be a number in Bredstedt whose leading zero is missing.
  ['46701234567', 'DE', '+4946701234567?'],
  ['358401234567', 'DE', '+49358401234567?'],
  ['4930123456', 'AT', '+4930123456'],
  ['020 7183 8750', 'GB', '+442071838750'],
  ['7911 123456', 'GB', '+447911123456'],
  ['447911123456', 'GB', '+447911123456'],
  ['46701234567', 'GB', '+46701234567'],
  ['4915112345678', 'GB', '+4915112345678'],
  ['(415) 555-2671', 'US', '+14155552671'],
  ['1 415 555 2671', 'US', '+14155552671'],
  ['46701234567', 'US', '+46701234567'],
  ['4915112345678', 'US', '+4915112345678'],
  ['338 1234567', 'IT', '+393381234567'],
  ['8 912 345-67-89', 'RU', '+79123456789'],
  ['123', 'SE', undefined],
  ['1', 'SE', undefined],
])('%s in %s is %s', (number, country, whole) => {
  const found = withCountryPrefix(number, country);
  expect(found && `${found.number}${found.isUnsure ? '?' : ''}`).toBe(whole);
});

test('the countries to choose from are those with phone numbers', () => {
  expect([...countries].toSorted()).toEqual(getCountries().toSorted());
});

const list = sharedData('lists/phones-e164-examples.csv');
test.skipIf(!list)(
  'the local form of the example number of each country is converted to the whole number (../shared/data/lists)',
  () => {
    const wrong = readFileSync(list as string, 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.split(',') as [string, string])
      .filter(([country, number]) => {
        const national = parsePhoneNumberFromString(number)?.formatNational() ?? '';
        const whole = withCountryPrefix(national, country)?.number ?? '';
        return whole !== number || normalisePhone(whole) !== number;
      });
    expect(wrong).toEqual([]);
  },
);
