// Phone numbers as people of a country write them for each other: with the prefix of the country they become E.164.
import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A number in E.164. `isUnsure`: it could also be a number of another country that lacks only its +. */
export type WholeNumber = { number: string; isUnsure: boolean };

/**
 * Returns a number of a country, by its code such as SE, in E.164: 070-123 45 67 is +46701234567. The zero at the beginning,
 * which a cell loses, may be missing, and so may the + of a number with country prefix: 4791234567 in a Swedish file is
 * +4791234567, as no Swedish number looks like it. A number that can be of the country or of another one is of the country:
 * a message to a number that is not in use reaches no one, one to a wrong person abroad does. Undefined: it has no possible
 * length.
 */
export function withCountryPrefix(number: string, country: string): WholeNumber | undefined {
  const local = parsePhoneNumberFromString(number, country as CountryCode);
  const prefixed = withPlus(number);
  if (prefixed && isBetter(prefixed, local)) return { number: prefixed.number, isUnsure: false };
  if (!local?.isPossible()) return undefined;
  return { number: local.number, isUnsure: isOther(prefixed, local) && !isMobile(local) };
}

/** The number that a text is with a + in front. What begins with 0 is dialled within its country, and short numbers are too. */
function withPlus(number: string): PhoneNumber | undefined {
  const digits = number.replaceAll(/\D/g, '');
  const whole = /^[1-9]\d{9,14}$/.test(digits) ? parsePhoneNumberFromString(`+${digits}`) : undefined;
  return whole?.isValid() ? whole : undefined;
}

/** German landline numbers have nearly any length: with them, 4915123456789 would be one in Leer and not a mobile phone. */
const isBetter = (prefixed: PhoneNumber, local: PhoneNumber | undefined): boolean =>
  !local?.isValid() || (!isOther(prefixed, local) && isMobile(prefixed) && !isMobile(local));

const isOther = (one: PhoneNumber | undefined, { countryCallingCode }: PhoneNumber): boolean =>
  one !== undefined && one.countryCallingCode !== countryCallingCode;

const isMobile = (number: PhoneNumber): boolean => /MOBILE/.test(number.getType() ?? '');
