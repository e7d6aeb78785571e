// Checks individual values and says what is wrong with them: one check and one message for each kind of field, whether it comes from
// a request, a file, the console, the command or a history file. The caller adds where the value is. Pure.
import {
  formatTexts,
  type FormatType,
  isEmail,
  isExternalId,
  isLanguage,
  isTimeZone,
  normalisePhone,
} from '@soundings/contract/formats.ts';
import { maxNameLength } from '@soundings/contract/limits.ts';
import type { DetailType } from '@soundings/contract/problem.ts';
import { isDay } from '@soundings/contract/weeks.ts';
import { faultAtField } from './errors.ts';
import { quote } from './text.ts';

/** Why a value is refused. */
export type FieldFault = { type: DetailType; message: string };

// Each function returns undefined if the value is valid.

export const externalIdFault = (text: string): FieldFault | undefined =>
  isExternalId(text) ? undefined : notValid('invalid externalId', text);

export const emailFault = (text: string): FieldFault | undefined =>
  isEmail(text) ? undefined : notValid('invalid email', text);

export const phoneFault = (text: string): FieldFault | undefined =>
  normalisePhone(text) === undefined ? notValid('invalid phone', text) : undefined;

export const timeZoneFault = (text: string): FieldFault | undefined =>
  isTimeZone(text) ? undefined : notValid('invalid timezone', text);

export const languageFault = (text: string): FieldFault | undefined =>
  isLanguage(text) ? undefined : notValid('invalid language', text);

/** A day, YYYY-MM-DD. */
export const dayFault = (text: string): FieldFault | undefined =>
  isDay(text) ? undefined : notValid('invalid day', text);

/** A choice among fixed values, such as a role. `field`: the name of the field, as in all functions below. */
export const choiceFault = (
  field: string,
  text: string,
  allowed: readonly string[],
): FieldFault | undefined => (allowed.includes(text) ? undefined : notOneOf(field, allowed));

/** A name, or another text with a maximum length, that must not be blank. */
export const nameFault = (field: string, text: string, max = maxNameLength): FieldFault | undefined =>
  text.trim() === '' ? missing(field) : lengthFault(field, text, max);

/** A text of at most `max` characters (code points). */
export function lengthFault(field: string, text: string, max: number): FieldFault | undefined {
  // A text never has more code points than code units, and at least half as many.
  const isTooLong = text.length > max && (text.length > 2 * max || [...text].length > max);
  return isTooLong ? tooLong(field, max) : undefined;
}

/** Throws a Fault for the field at a JSON pointer if `fault` is given. */
export function refuseField(path: string, fault: FieldFault): never;
export function refuseField(path: string, fault: FieldFault | undefined): void;
export function refuseField(path: string, fault: FieldFault | undefined): void {
  if (fault) throw faultAtField('invalid', fault.type, path, fault.message);
}

// The messages of checks that a schema makes.

export const missing = (field: string): FieldFault => ({
  type: 'missing field',
  message: `${quote(field)} is required.`,
});

export const tooLong = (field: string, max: number): FieldFault => ({
  type: 'too long',
  message: `${quote(field)} is too long. The maximum is ${max} characters.`,
});

export const notOneOf = (field: string, allowed: readonly string[]): FieldFault => ({
  type: 'out of range',
  message: `${quote(field)} must be one of ${allowed.join(', ')} (case-sensitive).`,
});

/** Returns the name of the field at a JSON pointer. */
export const fieldNameAt = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** Returns what a value of a format is called, such as: a valid email address (for example, anna@example.com). */
export const formatName = (type: FormatType): string =>
  formatTexts.en[type].slice('Not '.length).replace(/\.$/, '');

/** Puts the value in front of the sentence for its type, which begins with "Not". */
const notValid = (type: FormatType, text: string): FieldFault => ({
  type,
  message: `${quote(text)} is n${formatTexts.en[type].slice(1)}`,
});
