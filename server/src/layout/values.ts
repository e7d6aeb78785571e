// Reads the values of cells as people write them: ids, yes and no, phone numbers, roles, languages (docs/integrators/files.md). Pure. The
// sync checks whether a value is allowed.
import { isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import type { ValueField, ValueMeaning } from '@soundings/contract/people/meanings.ts';
import type { OrganizationRole } from '@soundings/contract/people/roles.ts';
import { answeringLanguages } from '../languages/languages.ts';
import type { Cell } from '../sheets/sheet.ts';

/** The text that clears a value. An empty cell keeps the current value. */
export const clearMark = '(empty)';

export const isClearMark = (text: string): boolean =>
  text.length === clearMark.length && text.toLowerCase() === clearMark;

/** What people write in a cell for a missing value. */
const missingValues = new Set(
  (
    'n/a, n.a., null, (null), <null>, nil, undefined, nan, (blank), missing, not available, not applicable, ' +
    'saknas, uppgift saknas, k.a., k. a., keine angabe, nicht vorhanden, fehlt, mangler, puuttuu, ei tietoa'
  ).split(', '),
);

/** Values that mean "none". In columns with free text, these are real values. */
const noneValues = new Set(
  (
    'none, no value, nothing, ingen, inget, inga, intet, keine, keiner, keines, kein, ei ole, ei mitään, ' +
    'aucun, aucune, ninguno, nessuno, geen'
  ).split(', '),
);

/** Whether a text can't be an id: it has no letters or digits, or is "n/a". Other values may be user names. */
export const isNotId = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text) || valueKey(text) === 'n/a';

/** Whether a text marks a missing value, such as a dash, "n/a" or "saknas". */
export const isMissingValue = (text: string): boolean =>
  /^[\p{Pd}\u2212._?*/ ]+$/u.test(text) || missingValues.has(valueKey(text));

/** Whether a text marks a missing value or means "none", such as "keine" or "ingen". */
export const isPlaceholder = (text: string): boolean =>
  isMissingValue(text) || noneValues.has(valueKey(text));

/**
 * Returns the text of a cell without surrounding white space, or '' for an empty cell. Numbers are written without an exponent.
 * Some programs write ="00123" to keep zeros in a CSV file: that becomes 00123.
 */
export function textOf(cell: Cell | undefined): string {
  if (typeof cell === 'string') {
    const text = cell.trim();
    return storable(text.startsWith('="') && text.endsWith('"') ? text.slice(2, -1).trim() : text);
  }
  if (typeof cell === 'number') return withoutExponent(cell);
  return cell === null || cell === undefined ? '' : String(cell);
}

/** Whether the database can store the text: it has no U+0000 and no half of a surrogate pair. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

const storable = (text: string) => (isStorable(text) ? text : text.replaceAll('\0', '\uFFFD').toWellFormed());

function withoutExponent(number: number): string {
  if (Number.isInteger(number)) return BigInt(number).toString();
  const text = String(number);
  return text.includes('e') ? number.toFixed(20).replace(/\.?0+$/, '') : text;
}

const errorValues =
  /^#(?:N\/A|NV|SAKNAS!|REF!|BEZUG!|REFERENS!|VALUE!|WERT!|VÄRDEFEL!|DIV\/0!|DIVISION\/0!|NAME\?|NAMN\?|NULL!|NUM!|ZAHL!|OGILTIGT!|SPILL!|CALC!)$/;

/** Whether a text is an error value of an Excel formula, in English, German or Swedish. */
export const isErrorValue = (text: string): boolean => text.startsWith('#') && errorValues.test(text);

/** Whether a number has more digits than a spreadsheet program keeps, so that the last ones are wrong. */
export const isBeyondDigits = (number: number): boolean => Math.abs(number) >= 1e15;

/** Whether a text is a long number as spreadsheet programs write it to a CSV file, such as 4,67012E+10. */
export const isShortened = (text: string): boolean => /^\d(?:[.,]\d+)?E\+\d+$/i.test(text);

/** Shortens a text for a report, which may quote a thousand of them. */
export const shown = (text: string): string =>
  text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}…`;

/** Splits the groups of one cell at semicolons, bars and line breaks. */
export function partsOf(text: string): string[] {
  if (text === '') return [];
  if (!/[;|\r\n]/.test(text)) return [text];
  return text
    .split(/[;|\r\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

const yesValues = new Set('true yes y ja j sant wahr x 1 ✓ ✔'.split(' '));
const noValues = new Set('false no n nej nein falskt falsch 0'.split(' '));

/** Returns true for yes and false for no, in English, Swedish or German. Undefined for any other text. */
export function yesOrNo(text: string): boolean | undefined {
  const key = text.toLowerCase();
  return yesValues.has(key) ? true : noValues.has(key) ? false : undefined;
}

// --- Columns with fixed values: what a value means, as the account has mapped it, or else as listed here.

const activeValues = 'active enabled employed aktiv anställd angestellt beschäftigt';
const inactiveValues = 'inactive disabled terminated left inaktiv avslutad slutat ausgeschieden gekündigt';
const roleValues: Record<OrganizationRole, string> = {
  Administrator: 'administrator admin administratör',
  Manager: 'manager chef vorgesetzter vorgesetzte führungskraft leiter leiterin',
  User: 'user employee användare medarbetare anställd benutzer nutzer mitarbeiter mitarbeiterin',
};

/** The maximum length of a value that can be mapped. */
export const maxValueLength = 100;

/** Returns the form in which values are compared: in lower case, without surrounding or repeated white space. */
export const valueKey = (text: string): string =>
  text.trim().replace(/\s+/g, ' ').normalize('NFC').toLowerCase();

type Vocabulary = ReadonlyMap<string, ValueMeaning>;

const valuesFor = (lists: Partial<Record<ValueMeaning, string>>): Vocabulary =>
  new Map(
    Object.entries(lists).flatMap(([meaning, list]) =>
      list.split(/,? /).map((value) => [value, meaning as ValueMeaning] as const),
    ),
  );

const knownValues: Record<ValueField, Vocabulary> = {
  active: valuesFor({ yes: activeValues, no: inactiveValues }),
  role: valuesFor(roleValues),
  isManager: new Map(),
};

/** Meanings that are only likely. The console proposes them, and an administrator confirms or changes them. */
const proposedValues: Record<ValueField, Vocabulary> = {
  active: new Map([
    ...proposals(
      'yes',
      't, current, working, probation, on probation, i tjänst, arbetar, provanställd, tillsvidare',
    ),
    ...proposals(
      'yes',
      'aktiivinen, i arbeid, ansatt, i arbejde, in probezeit, probezeit, actif, activo, attivo',
    ),
    ...proposals(
      'no',
      'f, leave, on leave, leave of absence, unpaid leave, parental leave, maternity leave, absent',
    ),
    ...proposals(
      'no',
      'onboarding, not started, pre-hire, future hire, offboarding, suspended, archived, deleted',
    ),
    ...proposals('no', 'resigned, retired, former, ended, dismissed, deactivated, blocked, locked, pending'),
    ...proposals(
      'no',
      'tjänstledig, föräldraledig, ledig, sjukskriven, pensionerad, uppsagd, ej aktiv, påbörjas',
    ),
    ...proposals(
      'no',
      'in elternzeit, elternzeit, mutterschutz, beurlaubt, ruhend, freigestellt, ausgetreten, rente',
    ),
    ...proposals('no', 'sluttet, fratrådt, permisjon, orlov, opsagt, lopettanut, vapaalla'),
  ]),
  role: new Map([
    ...proposals(
      'Manager',
      'supervisor, team lead, teamlead, team leader, line manager, head, director, hr manager',
    ),
    ...proposals(
      'Manager',
      'teamchef, gruppchef, enhetschef, avdelningschef, chefen, ledare, leder, esihenkilö, esimies',
    ),
    ...proposals(
      'Manager',
      'teamleiter, teamleiterin, abteilungsleiter, abteilungsleiterin, teamleitung, leitung',
    ),
    ...proposals(
      'User',
      'member, staff, worker, contributor, individual contributor, regular, standard, none, no',
    ),
    ...proposals('User', 'konsult, praktikant, angestellter, angestellte, ansatt, medarbejder, työntekijä'),
    ...proposals('Administrator', 'administrators, super admin, superadmin, system administrator, owner'),
  ]),
  isManager: new Map([
    ...proposals('yes', 't, manager, chef, leiter, leder'),
    ...proposals('no', 'f, none, -'),
  ]),
};

function proposals(meaning: ValueMeaning, values: string): [string, ValueMeaning][] {
  return values.split(', ').map((value) => [value, meaning]);
}

/** The values that an account has mapped, by `mappingKey`. */
export type MappedValues = ReadonlyMap<string, ValueMeaning>;
export const mappingKey = (field: ValueField, key: string): string => `${field} ${key}`;

/** Returns what a value means: as the account has mapped it, or else as listed here. Undefined if unknown. */
export function meaningOfValue(
  field: ValueField,
  text: string,
  mapped: MappedValues,
): ValueMeaning | undefined {
  const key = valueKey(text);
  const known = mapped.get(mappingKey(field, key)) ?? knownValues[field].get(key);
  if (known !== undefined || field === 'role') return known;
  const isYes = yesOrNo(key);
  return isYes === undefined ? undefined : isYes ? 'yes' : 'no';
}

/** Returns what an unknown value probably means, if there is a guess. */
export const proposalOf = (field: ValueField, text: string): ValueMeaning | undefined =>
  proposedValues[field].get(valueKey(text));

// --- Names.

/** Words that a last name may begin with, as in Chloë de la Cruz or Ludwig van Beethoven. Lower case only. */
const particles = new Set(
  'von van de der den del della di da du la le af av zu zum zur ten ter dos das do bin ibn al el'.split(' '),
);

/**
 * Splits a full name: "Berg, Anna", "Anna Berg" or, if `isLastFirst`, "Berg Anna". A single word is a first name.
 */
export function namesOf(text: string, isLastFirst: boolean): { firstName?: string; lastName?: string } {
  const comma = text.indexOf(',');
  if (comma >= 0) {
    const [lastName, firstName] = [text.slice(0, comma).trim(), text.slice(comma + 1).trim()];
    return { ...(firstName && { firstName }), ...(lastName && { lastName }) };
  }
  const words = text.split(/\s+/).filter((word) => word !== '');
  const joined = (part: string[]) => part.join(' ');
  if (words.length < 2) return words[0] === undefined ? {} : { firstName: words[0] };
  const isParticle = (word: string) => particles.has(word);
  if (isLastFirst) {
    const end = Math.min(words.findIndex((word) => !isParticle(word)) + 1, words.length - 1) || 1;
    return { firstName: joined(words.slice(end)), lastName: joined(words.slice(0, end)) };
  }
  const start = words.findIndex((word, i) => i > 0 && i < words.length - 1 && isParticle(word));
  const at = start > 0 ? start : words.length - 1;
  return { firstName: joined(words.slice(0, at)), lastName: joined(words.slice(at)) };
}

/** Returns the code of a language given as a code, a locale such as sv-SE, or a name. Returns any other text as it is. */
export function languageOf(text: string): string {
  const code = /^([a-z]{2,3})(?:[-_].*)?$/i.exec(text)?.[1]?.toLowerCase();
  if (code !== undefined && isLanguage(code)) return code;
  if (code?.length === 3) {
    const short = new Intl.Locale(code).language; // Turns swe into sv.
    if (isLanguage(short)) return short;
  }
  languagesByName ??= namesOfLanguages();
  const name = text
    .replace(/\s*\(.*$/, '')
    .normalize('NFC')
    .toLowerCase();
  return languagesByName.get(name) ?? text;
}

/** Returns the time zone that a text names, in any letter case and with spaces or underscores. Undefined if unknown. */
export function timeZoneOf(text: string): string | undefined {
  if (isTimeZone(text)) return text;
  zonesByKey ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]));
  return zonesByKey.get(text.toLowerCase().replaceAll(' ', '_'));
}

let zonesByKey: Map<string, string> | undefined;

let languagesByName: Map<string, string> | undefined;

/** Returns the codes of all languages by their lower-case names in the languages that people answer in, and in the language itself. */
function namesOfLanguages(): Map<string, string> {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const codes = letters.flatMap((a) => letters.map((b) => a + b)).filter((code) => isLanguage(code));
  const names = new Map<string, string>();
  const readers = answeringLanguages.codes.map(namesIn);
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
 * Whether a number without + seems to begin with a country code: it has 11 to 15 digits, or 10 digits and looks Danish or
 * Norwegian. Without a country code, and without the zero that the cell has lost, nearly all numbers have at most 10 digits.
 * Numbers that begin with 1 don't count, because German mobile numbers without the zero have 11 digits.
 */
export const hasCountryPrefix = (digits: string): boolean => /^(?:[2-9]\d{10,14}|4[57]\d{8})$/.test(digits);

/**
 * Returns a phone number with a country code in the form that the sync accepts: 0046… becomes +46…, and the (0) of +46 (0)70,
 * dots and slashes are dropped. Numeric cells get a + if `isPrefixed`. Other texts stay as they are.
 */
export function phoneOf(cell: Cell | undefined, isPrefixed: boolean): string {
  const text = textOf(cell);
  if (typeof cell === 'number') return isPrefixed && hasCountryPrefix(text) ? `+${text}` : text;
  const plain = text.replace(/^'/, '').replace(/^(\(?)00 ?(?=[1-9])/, '$1+');
  return /^\(?\+/.test(plain) ? plain.replace('(0)', '').replace(/[./]/g, '') : text;
}

/** Whether a text looks like a phone number without a country code. */
export const isLocalNumber = (text: string): boolean =>
  /^[\d\s()./\p{Pd}\u2212]+$/u.test(text) && (text.match(/\d/g) ?? []).length >= 3;
