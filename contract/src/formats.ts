// Validates single texts: externalIds, email addresses, phone numbers, time zones and languages. Every check accepts any
// string and runs in every browser.
import { maxEmailLength, maxExternalIdLength } from './limits.ts';
import en from './text/en/formats.json' with { type: 'json' };
import sv from './text/sv/formats.json' with { type: 'json' };

/**
 * Whether a text has 1 to 255 characters (code points), no white space at either end (as String.prototype.trim defines it)
 * and no control characters (Unicode Cc). Source: docs/integrators/gaps.md, "Everywhere".
 */
export function isExternalId(s: string): boolean {
  if (s === '' || s.length > 2 * maxExternalIdLength) return false;
  if (s.length > maxExternalIdLength && [...s].length > maxExternalIdLength) return false;
  return s.trim() === s && !/\p{Cc}/u.test(s);
}

// Beyond ASCII, only letters, marks and decimal digits are allowed. RFC 6531 §3.3 would allow anything in a local part, even
// invisible characters and emoji, but addresses that look the same must not differ.
const beyondAscii = String.raw`\p{L}\p{M}\p{Nd}`;
const atom = String.raw`[\w!#$%&'*+/=?^\x60{|}~${beyondAscii}-]+`;
const quotedString = String.raw`"(?:[ !#-\[\]-~${beyondAscii}]|\\[ -~])*"`;
const label = String.raw`[\p{L}\p{Nd}](?:[${beyondAscii}-]*[${beyondAscii}])?`;
const address = new RegExp(
  String.raw`^(${atom}(?:\.${atom})*|${quotedString})@(${label}(?:\.${label})*)$`,
  'u',
);

// Matches nearly all valid addresses, in a tenth of the time of the full check.
const plainAddress =
  /^(?=[^@]{1,64}@)[\w+-]+(?:\.[\w+-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/**
 * Whether SMTP can deliver to the address by its domain name. The local part is a dot-string or quoted-string of at most 64
 * octets. The domain has one or more labels of letters, digits and inner hyphens of at most 63 octets. The whole has at most
 * 254 octets. Comments, folding white space, address literals and obsolete forms are rejected.
 * Source: RFC 5321 §4.1.2, §2.3.5, §4.5.3.1; RFC 6531 §3.3 for non-ASCII text; RFC 5891 §4.4 for its length.
 */
export function isEmail(s: string): boolean {
  if (s.length > maxEmailLength) return false;
  if (plainAddress.test(s)) return true;
  const [, local, domain] = address.exec(s) ?? [];
  if (local === undefined || domain === undefined || octets(local) > 64) return false;
  const ascii = asciiDomain(domain);
  if (ascii === undefined || ascii.split('.').some((part) => part.length > 63)) return false;
  return octets(s) <= maxEmailLength && octets(local) + 1 + ascii.length <= maxEmailLength;
}

// Returns the domain in the form used for DNS (xn--…), or undefined if it is invalid. The added last label keeps a domain that
// ends in digits from being read as an IPv4 address.
function asciiDomain(domain: string): string | undefined {
  if (isAscii(domain)) return domain;
  try {
    return new URL(`http://${domain}.invalid`).hostname.slice(0, -'.invalid'.length);
  } catch {
    return undefined;
  }
}

function isAscii(s: string): boolean {
  return !/[^\0-\x7f]/.test(s);
}

function octets(s: string): number {
  return isAscii(s) ? s.length : new TextEncoder().encode(s).length;
}

/** Returns the form used to compare addresses, in lower case. Source: decision B11; RFC 5198 §3 for NFC. */
export function emailKey(s: string): string {
  return s.normalize('NFC').toLowerCase();
}

/**
 * Returns the number without the trunk zero, brackets, spaces of any kind, hyphens or dashes (including the minus sign), or
 * undefined if the rest is not + and 7 to 15 digits beginning with 1 to 9. Source: ITU-T E.164 §6; decision B11.
 */
export function normalisePhone(s: string): string | undefined {
  if (e164.test(s)) return s;
  const number = hasTrunkZero(s) ? s.replace(trunkZero, '$1') : s;
  const rest = number.replace(separators, '');
  return e164.test(rest) ? rest : undefined;
}

/**
 * Whether a number contains a zero in brackets that is dialled only within its country, as in `+46 (0)70`. After the country code
 * it must not be dialled (ITU-T E.123 §7). In some countries numbers begin with 0, and that zero is part of the number.
 */
export function hasTrunkZero(s: string): boolean {
  const prefix = trunkZero.exec(s)?.[1]?.replace(separators, '') ?? '';
  return countryPrefix.test(prefix) && !keepsZero.has(prefix);
}

const separator = String.raw`[\p{Zs}\p{Pd}\u2212()[\]\uff08\uff09]`;
const separators = new RegExp(separator, 'gu');
const trunkZero = new RegExp(
  String.raw`^(${separator}*\+${separator}*[1-9](?:${separator}*[0-9]){0,2}${separator}*[([\uff08]\p{Zs}*)0`,
  'u',
);
// The country codes of ITU-T E.164.D.
const countryPrefix =
  /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[0578]|9[679])\d)$/;
// Italy, Vatican City and San Marino, Congo, Gabon, Ivory Coast.
const keepsZero = new Set(['+39', '+379', '+378', '+242', '+241', '+225']);
const e164 = /^\+[1-9][0-9]{6,14}$/;

// All names in the tz database without a slash. Intl accepts others (CST, IST, AET …), but those are old abbreviations that
// PostgreSQL reads differently.
const zonesWithoutSlash = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST ' +
    'Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC ' +
    'PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);

const zonesKnown = new Map<string, boolean>();
const maxZonesKnown = 1_000;

/**
 * Whether a text is a name in the tz database, including links, but not an offset such as +01:00. Zones and names without a slash
 * must match in upper and lower case; for other links the rules of Intl apply. `Factory` is accepted although Intl does not know
 * it. Its time is UTC in the tz database, so callers must pass UTC to Intl instead. Source: decision B11;
 * https://data.iana.org/time-zones/.
 */
export function isTimeZone(s: string): boolean {
  if (!s.includes('/')) return zonesWithoutSlash.has(s);
  if (s.length > 64) return false;
  const known = zonesKnown.get(s);
  if (known !== undefined) return known;
  if (zonesKnown.size >= maxZonesKnown) zonesKnown.clear();
  const isKnown = knownToIntl(s);
  // A copy, because the text may be a slice that would keep a whole file in memory.
  zonesKnown.set([...s].join(''), isKnown);
  return isKnown;
}

let zonesByLowerCase: Map<string, string> | undefined;

function knownToIntl(s: string): boolean {
  // Removed from the tz database in 2020b, but still accepted by Intl.
  if (/^SystemV\/|^US\/Pacific-New$/i.test(s)) return false;
  zonesByLowerCase ??= new Map(Intl.supportedValuesOf('timeZone').map((name) => [name.toLowerCase(), name]));
  const exact = zonesByLowerCase.get(s.toLowerCase());
  if (exact !== undefined) return exact === s;
  try {
    Intl.DateTimeFormat('en', { timeZone: s });
    return true;
  } catch {
    return false;
  }
}

const languages = new Set(
  (
    'aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de ' +
    'dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ' +
    'ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu ' +
    'lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu ' +
    'rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ' +
    'ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu'
  ).split(' '),
);

/** Whether a text is a language code of two lower-case letters. Source: ISO 639-1. */
export function isLanguage(s: string): boolean {
  return languages.has(s);
}

/**
 * The sentences that describe a value that fails one of these checks, by the type of the error. Interfaces, files and the console
 * use these sentences. They exist in the languages of the console. They are plain texts without arguments.
 */
export const formatTexts = { en, sv } satisfies Record<string, typeof en>;
export type FormatType = keyof typeof en;
