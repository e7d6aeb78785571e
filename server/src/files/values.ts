// What stands in a cell, as the value that it is meant to be: numbers that are ids, yes and no, phone numbers, roles and
// languages as people write them (docs/files.md). Pure. Whether a value is allowed is checked by the sync.
import { isLanguage, isTimeZone } from '@soundings/contract/formats.ts';
import type { OrganizationRole, ValueField, ValueMeaning } from '@soundings/contract/words.ts';
import type { Cell } from './sheet.ts';

/** What is written in a cell to clear a value: an empty one leaves it as it is. No name looks like it. */
export const emptyWord = '(empty)';

export const isEmptyWord = (text: string): boolean =>
  text.length === emptyWord.length && text.toLowerCase() === emptyWord;

/** Signs and words that stand in a cell where there is no value. */
const missingWords = new Set(
  (
    'n/a, n.a., null, (null), <null>, nil, undefined, nan, (blank), missing, not available, not applicable, ' +
    'saknas, uppgift saknas, k.a., k. a., keine angabe, nicht vorhanden, fehlt, mangler, puuttuu, ei tietoa'
  ).split(', '),
);

/** Words that say there is none: in a text that may be anything, they are an answer. */
const noneWords = new Set(
  (
    'none, no value, nothing, ingen, inget, inga, intet, keine, keiner, keines, kein, ei ole, ei mitään, ' +
    'aucun, aucune, ninguno, nessuno, geen'
  ).split(', '),
);

/** Whether a text can't be an id: it has neither letters nor digits, or is n/a. Words may be the names of users. */
export const isNoId = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text) || wordOf(text) === 'n/a';

/** Whether a text only says that there is no value: a dash, n/a, saknas. */
export const isMissingWord = (text: string): boolean =>
  /^[\p{Pd}\u2212._?*/ ]+$/u.test(text) || missingWords.has(wordOf(text));

/** The same, or that there is none: keine, ingen. */
export const isPlaceholder = (text: string): boolean => isMissingWord(text) || noneWords.has(wordOf(text));

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

// --- Columns of a few words: what a value means, by what the account has said of it, else by the words known here.

const activeWords = 'active enabled employed aktiv anställd angestellt beschäftigt';
const inactiveWords = 'inactive disabled terminated left inaktiv avslutad slutat ausgeschieden gekündigt';
const roleWords: Record<OrganizationRole, string> = {
  Administrator: 'administrator admin administratör',
  Manager: 'manager chef vorgesetzter vorgesetzte führungskraft leiter leiterin',
  User: 'user employee användare medarbetare anställd benutzer nutzer mitarbeiter mitarbeiterin',
};

/** How long a value may be whose meaning is said; a longer one is no word. */
export const maxValueLength = 100;

/** The form in which values are compared: without letter case and white space around it. */
export const wordOf = (text: string): string =>
  text.trim().replace(/\s+/g, ' ').normalize('NFC').toLowerCase();

type Vocabulary = ReadonlyMap<string, ValueMeaning>;

const wordsFor = (words: Partial<Record<ValueMeaning, string>>): Vocabulary =>
  new Map(
    Object.entries(words).flatMap(([means, list]) =>
      list.split(/,? /).map((word) => [word, means as ValueMeaning] as const),
    ),
  );

const knownWords: Record<ValueField, Vocabulary> = {
  active: wordsFor({ yes: activeWords, no: inactiveWords }),
  role: wordsFor(roleWords),
  isManager: new Map(),
};

/** What is not certain enough to be read so, and is only proposed: someone confirms it, or says otherwise. */
const proposedWords: Record<ValueField, Vocabulary> = {
  active: new Map([
    ...proposed(
      'yes',
      't, current, working, probation, on probation, i tjänst, arbetar, provanställd, tillsvidare',
    ),
    ...proposed(
      'yes',
      'aktiivinen, i arbeid, ansatt, i arbejde, in probezeit, probezeit, actif, activo, attivo',
    ),
    ...proposed(
      'no',
      'f, leave, on leave, leave of absence, unpaid leave, parental leave, maternity leave, absent',
    ),
    ...proposed(
      'no',
      'onboarding, not started, pre-hire, future hire, offboarding, suspended, archived, deleted',
    ),
    ...proposed('no', 'resigned, retired, former, ended, dismissed, deactivated, blocked, locked, pending'),
    ...proposed(
      'no',
      'tjänstledig, föräldraledig, ledig, sjukskriven, pensionerad, uppsagd, ej aktiv, påbörjas',
    ),
    ...proposed(
      'no',
      'in elternzeit, elternzeit, mutterschutz, beurlaubt, ruhend, freigestellt, ausgetreten, rente',
    ),
    ...proposed('no', 'sluttet, fratrådt, permisjon, orlov, opsagt, lopettanut, vapaalla'),
  ]),
  role: new Map([
    ...proposed(
      'Manager',
      'supervisor, team lead, teamlead, team leader, line manager, head, director, hr manager',
    ),
    ...proposed(
      'Manager',
      'teamchef, gruppchef, enhetschef, avdelningschef, chefen, ledare, leder, esihenkilö, esimies',
    ),
    ...proposed(
      'Manager',
      'teamleiter, teamleiterin, abteilungsleiter, abteilungsleiterin, teamleitung, leitung',
    ),
    ...proposed(
      'User',
      'member, staff, worker, contributor, individual contributor, regular, standard, none, no',
    ),
    ...proposed('User', 'konsult, praktikant, angestellter, angestellte, ansatt, medarbejder, työntekijä'),
    ...proposed('Administrator', 'administrators, super admin, superadmin, system administrator, owner'),
  ]),
  isManager: new Map([
    ...proposed('yes', 't, manager, chef, leiter, leder'),
    ...proposed('no', 'f, none, -'),
  ]),
};

function proposed(means: ValueMeaning, words: string): [string, ValueMeaning][] {
  return words.split(', ').map((word) => [word, means]);
}

/** What an account has said of values: by their fields and words, as `keyOfValue` joins them. */
export type SaidValues = ReadonlyMap<string, ValueMeaning>;
export const keyOfValue = (field: ValueField, word: string): string => `${field} ${word}`;

/** What a value means, as the account has said, else as it is known here; undefined: not known. */
export function meaningOfValue(field: ValueField, text: string, said: SaidValues): ValueMeaning | undefined {
  const word = wordOf(text);
  const known = said.get(keyOfValue(field, word)) ?? knownWords[field].get(word);
  if (known !== undefined || field === 'role') return known;
  const answer = yesOrNo(word);
  return answer === undefined ? undefined : answer ? 'yes' : 'no';
}

/** What a value that is not known probably means, if anything is probable. */
export const proposalOf = (field: ValueField, text: string): ValueMeaning | undefined =>
  proposedWords[field].get(wordOf(text));

// --- Names.

/** What stands at the beginning of a last name: Chloë de la Cruz, Ludwig van Beethoven. In small letters only. */
const particles = new Set(
  'von van de der den del della di da du la le af av zu zum zur ten ter dos das do bin ibn al el'.split(' '),
);

/**
 * The names of a full one: Berg, Anna; Anna Berg; or, where `isLastFirst`, Berg Anna. Of a single word only the first name
 * is given.
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

/** The time zone that a text names, whatever its letter case, and with spaces for underscores; undefined: none. */
export function timeZoneOf(text: string): string | undefined {
  if (isTimeZone(text)) return text;
  zonesByKey ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]));
  return zonesByKey.get(text.toLowerCase().replaceAll(' ', '_'));
}

let zonesByKey: Map<string, string> | undefined;

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

/** Whether a text is a phone number that lacks only its country prefix, as far as its signs tell. */
export const isLocalNumber = (text: string): boolean =>
  /^[\d\s()./\p{Pd}\u2212]+$/u.test(text) && (text.match(/\d/g) ?? []).length >= 3;
