// Phone numbers as people of a country write them for each other: with the prefix of the country they become E.164.
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/min';

/**
 * Returns a number of a country, by its code such as SE, in E.164: 070-123 45 67 is +46701234567. The zero at the beginning,
 * which a cell loses, may be missing. Undefined: the country has no number of this length.
 */
export function withCountryPrefix(number: string, country: string): string | undefined {
  const parsed = parsePhoneNumberFromString(number, country as CountryCode);
  return parsed?.isPossible() ? parsed.number : undefined;
}
