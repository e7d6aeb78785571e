// Converts phone numbers as people write them within their country to E.164.
import { type CountryCode, type PhoneNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A number in E.164. `isUnsure`: it could also be a number of another country whose + is missing. */
export type WholeNumber = { number: string; isUnsure: boolean };

/**
 * Returns a number of the given country (a code such as SE) in E.164: 070-123 45 67 becomes +46701234567. The leading zero, which
 * spreadsheet cells drop, may be missing. So may the + of an international number: 4791234567 in a Swedish file becomes
 * +4791234567, because no Swedish number looks like it. A number that could belong to the country or to another one is treated as
 * domestic, because a message to an unused number does less harm than a message to a stranger abroad. Returns undefined if the
 * length of the number is not possible.
 */
export function withCountryPrefix(number: string, country: string): WholeNumber | undefined {
  const local = parsePhoneNumberFromString(number, country as CountryCode);
  const prefixed = withPlus(number);
  if (prefixed && isBetter(prefixed, local)) return { number: prefixed.number, isUnsure: false };
  if (!local?.isPossible()) return undefined;
  return { number: local.number, isUnsure: isOther(prefixed, local) && !isMobile(local) };
}

/**
 * Returns the number that results from adding a + in front of a text, if that number is valid. Numbers with a leading 0 and short
 * numbers are domestic.
 */
function withPlus(number: string): PhoneNumber | undefined {
  const digits = number.replaceAll(/\D/g, '');
  const whole = /^[1-9]\d{9,14}$/.test(digits) ? parsePhoneNumberFromString(`+${digits}`) : undefined;
  return whole?.isValid() ? whole : undefined;
}

/**
 * Returns whether a number is more likely international than local. German landline numbers can have almost any length, so
 * 4915123456789 could be a landline in Leer instead of a mobile phone.
 */
const isBetter = (prefixed: PhoneNumber, local: PhoneNumber | undefined): boolean =>
  !local?.isValid() || (!isOther(prefixed, local) && isMobile(prefixed) && !isMobile(local));

const isOther = (one: PhoneNumber | undefined, { countryCallingCode }: PhoneNumber): boolean =>
  one !== undefined && one.countryCallingCode !== countryCallingCode;

const isMobile = (number: PhoneNumber): boolean => /MOBILE/.test(number.getType() ?? '');
