// What stands in a cell, as the value that it is meant to be: numbers that are ids, yes and no, phone numbers, roles and
// languages as people write them (docs/files.md). Pure. Whether a value is allowed is checked by the sync.
import { isLanguage } from '@soundings/contract/formats.ts';
import type { OrganizationRole } from '@soundings/contract/words.ts';
import type { Cell } from './sheet.ts';

/** What is written in a cell to clear a value: an empty one leaves it as it is. No name looks like it. */
export const emptyWord = '(empty)';

export const isEmptyWord = (text: string): boolean =>
  text.length === emptyWord.length && text.toLowerCase() === emptyWord;

/**
 * The text of a cell, without white space around it; '' for none. A number is written out, without an exponent. The
 * ="00123" by which programs keep zeros in a CSV file is 00123.
 */
export function textOf(cell: Cell | undefined): string {
  if (typeof cell === 'string') {
    const text = cell.trim();
    return storable(text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1).trim() : text);
  }
  if (typeof cell === 'number') return written(cell);
  return cell === null || cell === undefined ? '' : String(cell);
}

/** Whether a text can be kept by the database: neither U+0000 nor half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const storable = (text: string) => (isStorable(text) ? text : text.replaceAll('\0', '\uFFFD').toWellFormed());

function written(number: number): string {
  if (Number.isInteger(number)) return BigInt(number).toString();
  const text = String(number);
  return text.includes('e') ? number.toFixed(20).replace(/\.?0+$/, '') : text;
}

const errorValues =
  /^#(?:N\/A|NV|SAKNAS!|REF!|BEZUG!|REFERENS!|VALUE!|WERT!|VÄRDEFEL!|DIV\/0!|DIVISION\/0!|NAME\?|NAMN\?|NULL!|NUM!|ZAHL!|OGILTIGT!|SPILL!|CALC!)$/;

/** Whether a text is what Excel shows, in English, German or Swedish, in place of what a formula could not find. */
export const isErrorValue = (text: string): boolean => text.startsWith('#') && errorValues.test(text);

/** A number of more digits than a spreadsheet program keeps: the last ones are wrong. */
export const isBeyondDigits = (number: number): boolean => Math.abs(number) >= 1e15;

/** A number as spreadsheet programs write long ones to a CSV file: 4,67012E+10. */
export const isShortened = (text: string): boolean => /^\d(?:[.,]\d+)?E\+\d+$/i.test(text);

/** A text as it is repeated in a report: a thousand faults may carry one each. */
export const shown = (text: string): string =>
  text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;

/** Groups of one cell: separated by semicolons, bars or line breaks. */
export function partsOf(text: string): string[] {
  if (text === '') return [];
  if (!/[;|\r\n]/.test(text)) return [text];
  return text
    .split(/[;|\r\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const yesWords = new Set('true yes y ja j sant wahr x 1 ✓ ✔'.split(' '));
const noWords = new Set('false no n nej nein falskt falsch 0'.split(' '));

/** Yes or no, in English, Swedish or German; undefined: neither. */
export function yesOrNo(text: string): boolean | undefined {
  const word = text.toLowerCase();
  return yesWords.has(word) ? true : noWords.has(word) ? false : undefined;
}

const activeWords = new Set('active enabled employed aktiv anställd angestellt beschäftigt'.split(' '));
const inactiveWords = new Set(
  'inactive disabled terminated left inaktiv avslutad slutat ausgeschieden gekündigt'.split(' '),
);

/** Whether somebody is active: yes or no, or a word of a column such as Status; undefined: none that is known. */
export function activeOf(text: string): boolean | undefined {
  const word = text.normalize('NFC').toLowerCase();
  return activeWords.has(word) ? true : inactiveWords.has(word) ? false : yesOrNo(word);
}

const roleWords: Record<OrganizationRole, string> = {
  Administrator: 'administrator admin administratör',
  Manager: 'manager chef vorgesetzter vorgesetzte führungskraft leiter leiterin',
  User: 'user employee användare medarbetare anställd benutzer nutzer mitarbeiter mitarbeiterin',
};
const rolesByWord = new Map(
  Object.entries(roleWords).flatMap(([role, words]) => words.split(' ').map((word) => [word, role])),
);

/** The role of a word in any letter case; the text itself where it is none. */
export const roleOf = (text: string): string => rolesByWord.get(text.normalize('NFC').toLowerCase()) ?? text;

/** The code of a language that is given by a code, a locale such as sv-SE, or its name; else the text itself. */
export function languageOf(text: string): string {
  const code = /^([a-z]{2,3})(?:[-_].*)?$/i.exec(text)?.[1]?.toLowerCase();
  if (code !== undefined && isLanguage(code)) return code;
  if (code?.length === 3) {
    const short = new Intl.Locale(code).language; // swe is sv
    if (isLanguage(short)) return short;
  }
  languagesByName ??= namesOfLanguages();
  const name = text
    .replace(/\s*\(.*$/, '')
    .normalize('NFC')
    .toLowerCase();
  return languagesByName.get(name) ?? text;
}

let languagesByName: Map<string, string> | undefined;

/** Every language by its names in English, Swedish, German and itself, in lower case. */
function namesOfLanguages(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((a) => letters.map((b) => a + b)).filter((code) => isLanguage(code));
  const names = new Map<string, string>();
  const readers = ['en', 'sv', 'de'].map((one) => namesIn(one));
  for (const code of codes) {
    for (const reader of [...readers, namesIn(code)]) {
      const name = reader.of(code)?.normalize('NFC').toLowerCase();
      if (name !== undefined && !names.has(name)) names.set(name, code);
    }
  }
  return names;
}

const namesIn = (language: string) => new Intl.DisplayNames([language], { type: 'language' });

/**
 * Whether a number without its + begins with a country prefix, as far as can be told: it has 11 to 15 digits, or is a
 * Danish or Norwegian one of 10. Without a prefix, and without the zero that the cell has lost, nearly all numbers have
 * at most 10 digits. Those that begin with 1 are never taken for prefixed: German mobile numbers have 11 digits then.
 */
export const hasCountryPrefix = (digits: string): boolean => /^(?:[2-9]\d{10,14}|4[57]\d{8})$/.test(digits);

/**
 * A phone number with a country prefix as the sync takes it: 0046… is +46…, the (0) of +46 (0)70 is dropped, and so are
 * dots and slashes. A number that is not text gets its + where `isPrefixed` says so. Any other stays as it is.
 */
export function phoneOf(cell: Cell | undefined, isPrefixed: boolean): string {
  const text = textOf(cell);
  if (typeof cell === 'number') return isPrefixed && hasCountryPrefix(text) ? `+${text}` : text;
  const plain = text.replace(/^'/, '').replace(/^(\(?)00 ?(?=[1-9])/, '$1+');
  return /^\(?\+/.test(plain) ? plain.replace('(0)', '').replace(/[./]/g, '') : text;
}
