// Phone numbers of a country get its prefix, whatever they are written like.
import { countries } from '@soundings/contract/countries.ts';
import { normalisePhone } from '@soundings/contract/formats.ts';
import { getCountries, parsePhoneNumberFromString } from 'libphonenumber-js/min';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sharedData } from '../testing/shared.ts';
import { withCountryPrefix } from './phones.ts';

test.each([
  ['070-123 45 67', 'SE', '+46701234567'],
  ['701234567', 'SE', '+46701234567'],
  ['46701234567', 'SE', '+46701234567'],
  ['(08) 123 45 67', 'SE', '+4681234567'],
  ['0151 23456789', 'DE', '+4915123456789'],
  ['15123456789', 'DE', '+4915123456789'],
  ['12 34 56 78', 'DK', '+4512345678'],
  ['338 1234567', 'IT', '+393381234567'],
  ['(415) 555-2671', 'US', '+14155552671'],
  ['8 912 345-67-89', 'RU', '+79123456789'],
  ['123', 'SE', undefined],
  ['1', 'SE', undefined],
])('%s of %s is %s', (number, country, whole) => {
  expect(withCountryPrefix(number, country)).toBe(whole);
});

test('the countries to choose from are those with numbers', () => {
  expect([...countries].toSorted()).toEqual(getCountries().toSorted());
});

const list = sharedData('lists/phones-e164-examples.csv');
test.skipIf(!list)(
  'an example of each country, as it is written there, comes out whole (../shared/data/lists)',
  () => {
    const wrong = readFileSync(list as string, 'utf8')
      .trim()
      .split(/\r?\n/)
      .slice(1)
      .map((line) => line.split(',') as [string, string])
      .filter(([country, number]) => {
        const national = parsePhoneNumberFromString(number)?.formatNational() ?? '';
        const whole = withCountryPrefix(national, country);
        return whole !== number || normalisePhone(whole) !== number;
      });
    expect(wrong).toEqual([]);
  },
);
