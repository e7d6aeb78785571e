// Checks of single texts: what an externalId, an e-mail address, a phone number, a time zone and a language may
// look like. Each answers for any string whatever, and none needs more than what every browser has.
import { maxEmailLength, maxExternalIdLength } from './limits.ts';

/**
 * 1 to 255 characters (code points), no white space at either end (as String.prototype.trim has it), no control
 * characters (Unicode Cc). Source: decisions.md, "Everywhere" 7.
 */
export function isExternalId(s: string): boolean {
  if (s === '' || s.length > 2 * maxExternalIdLength) return false;
  if (s.length > maxExternalIdLength && [...s].length > maxExternalIdLength) return false;
  return s.trim() === s && !/\p{Cc}/u.test(s);
}

// Beyond ASCII: letters, marks and decimal digits alone. RFC 6531 §3.3 would let a local part hold anything at all,
// invisible characters and emoji included; addresses that cannot be told apart by eye serve nobody.
const beyondAscii = String.raw`\p{L}\p{M}\p{Nd}`;
const atom = String.raw`[\w!#$%&'*+/=?^\x60{|}~${beyondAscii}-]+`;
const quotedString = String.raw`"(?:[ !#-\[\]-~${beyondAscii}]|\\[ -~])*"`;
const label = String.raw`[\p{L}\p{Nd}](?:[${beyondAscii}-]*[${beyondAscii}])?`;
const address = new RegExp(
  String.raw`^(${atom}(?:\.${atom})*|${quotedString})@(${label}(?:\.${label})*)$`,
  'u',
);

// What nearly all addresses look like: told at a tenth of the time.
const plainAddress =
  /^(?=[^@]{1,64}@)[\w+-]+(?:\.[\w+-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i;

/**
 * An address that SMTP can deliver to by a domain name: a dot-string or quoted-string of at most 64 octets, and
 * labels of letters, digits and inner hyphens of at most 63, at most 254 octets together. One label is enough.
 * No comments, no folding white space, no address literals, no obsolete forms.
 * Source: RFC 5321 §4.1.2, §2.3.5, §4.5.3.1; RFC 6531 §3.3 for what is not ASCII; RFC 5891 §4.4 for its length.
 */
export function isEmail(s: string): boolean {
  if (s.length > maxEmailLength) return false;
  if (plainAddress.test(s)) return true;
  const [, local, domain] = address.exec(s) ?? [];
  if (local === undefined || domain === undefined || octets(local) > 64) return false;
  const looked = asciiDomain(domain);
  if (looked === undefined || looked.split('.').some((part) => part.length > 63)) return false;
  return octets(s) <= maxEmailLength && octets(local) + 1 + looked.length <= maxEmailLength;
}

// The domain as it is looked up (xn--…), or undefined when it cannot be. The last label keeps a domain that ends
// in digits from being taken for an IPv4 address.
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

/** The form in which addresses are compared: letter case aside. Source: decisions.md, B 11; RFC 5198 §3 for NFC. */
export function emailKey(s: string): string {
  return s.normalize('NFC').toLowerCase();
}

/**
 * The number with everything dropped that people write for the eye: spaces of any kind, hyphens and dashes (the
 * minus sign among them) and brackets, and the trunk zero. Undefined when the rest is not + and 7 to 15 digits, the first
 * not 0. Source: ITU-T E.164 §6; decisions.md, B 11.
 */
export function normalisePhone(s: string): string | undefined {
  if (e164.test(s)) return s;
  const number = hasTrunkZero(s) ? s.replace(trunkZero, '$1') : s;
  const rest = number.replace(separators, '');
  return e164.test(rest) ? rest : undefined;
}

/**
 * Whether a number has a zero in brackets that is dialled only within its country, as in `+46 (0)70`: dialled after the
 * country prefix it leads nowhere (ITU-T E.123 §7). Some countries have numbers that begin with 0; there it is part of them.
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
// ITU-T E.164.D: which first digits are a whole prefix, and which are followed by others.
const countryPrefix =
  /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-689]|3[578]|42|5[09]|6[7-9]|8[0578]|9[679])\d)$/;
// Italy, Vatican City and San Marino, Congo, Gabon, Ivory Coast.
const keepsZero = new Set(['+39', '+379', '+378', '+242', '+241', '+225']);
const e164 = /^\+[1-9][0-9]{6,14}$/;

// All names of the tz database that have no slash. Others that Intl takes (CST, IST, AET …) are old abbreviations of
// its own, which PostgreSQL reads differently.
const zonesWithoutSlash = new Set(
  (
    'CET CST6CDT Cuba EET EST EST5EDT Egypt Eire Factory GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST ' +
    'Hongkong Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC ' +
    'PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC Universal W-SU WET Zulu'
  ).split(' '),
);

const zonesKnown = new Map<string, boolean>();
const zonesKnownAtMost = 1_000;

/**
 * Any name that the tz database knows, links included, but no offset such as +01:00. Letter case is exact for zones
 * and for names without a slash; for the other links it is as Intl takes it.
 * Source: decisions.md, B 11; https://data.iana.org/time-zones/. `Factory` is accepted though Intl does not know it:
 * the database has it, at UTC; who reckons with it has to say UTC to Intl.
 */
export function isTimeZone(s: string): boolean {
  if (!s.includes('/')) return zonesWithoutSlash.has(s);
  if (s.length > 64) return false;
  const known = zonesKnown.get(s);
  if (known !== undefined) return known;
  if (zonesKnown.size >= zonesKnownAtMost) zonesKnown.clear();
  const answer = knownToIntl(s);
  // A copy: the text itself may be a slice of a whole file, which it would keep in memory.
  zonesKnown.set([...s].join(''), answer);
  return answer;
}

let zonesByLowerCase: Map<string, string> | undefined;

function knownToIntl(s: string): boolean {
  // Left the tz database in 2020b, kept by Intl.
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

/** A language by its two letters, in lower case. Source: ISO 639-1. */
export function isLanguage(s: string): boolean {
  return languages.has(s);
}
