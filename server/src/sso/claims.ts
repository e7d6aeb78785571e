// Reads the claims that a provider makes about a person, and decides which of them count. Pure.
import { emailKey, isEmail } from '@soundings/contract/formats.ts';
import { hasRole, type Role } from '@soundings/contract/people/roles.ts';
import type { RoleValue } from '@soundings/contract/console/sign-on/single-sign-on.ts';
import { readJson } from '../base/json/escaped-keys.ts';
import type { Provider } from './providers.sql.ts';

export type Claims = Record<string, unknown>;

/** What a provider says about a person. */
export type Person = {
  subject: string;
  /** Undefined: it reports none, or not a valid one. */
  email: string | undefined;
  isVerified: boolean;
  firstName: string;
  lastName: string;
  /** The values of the role claim; null: there is no such claim. */
  roleValues: string[] | null;
  /** The identifier of the session at the provider. */
  session: string | null;
  /** When the person signed in there; null: it doesn't say. */
  signedInAt: Date | null;
  /** When a session here has to end, at the provider's request. */
  endsAt: Date | null;
  /** How the person signed in (amr, acr). */
  methods: string[];
};

/** A checked response of a provider. `idToken`: as it was signed. */
export type Checked = { person: Person; idToken: string };

/** Returns what a part of a signed token says: its header (0) or its claims (1). Throws a SyntaxError. */
export const jsonInToken = (token: string, part: 0 | 1): unknown =>
  readJson(Buffer.from(token.split('.')[part] ?? '', 'base64url').toString());

/** Returns the claims of a token that a library has verified. It has read them with JSON.parse, which can confuse their names (decision 75). */
export const claimsIn = (token: string): Claims => jsonInToken(token, 1) as Claims;

/** The longest identifiers that are stored (OpenID Connect Core §2 allows 255 characters for a subject). */
const maxIdentifier = 255;
/** The largest number of values of the role claim that are read, and shown. */
const maxValues = 500;

export function personIn(
  claims: Claims,
  provider: Pick<Provider, 'issuer' | 'domains' | 'trustsDomains' | 'roleClaim'>,
): Person {
  const email = textIn(claims['email'], 254);
  return {
    subject: String(claims['sub']),
    email: email !== undefined && isEmail(email) ? email : undefined,
    isVerified: isVerified(claims, email, provider),
    firstName: nameIn(claims['given_name']),
    lastName: nameIn(claims['family_name']),
    roleValues: provider.roleClaim === null ? null : valuesOf(claims, provider.roleClaim),
    session: textIn(claims['sid'], maxIdentifier) ?? null,
    signedInAt: timeIn(claims['auth_time']),
    endsAt: timeIn(claims['session_expiry']),
    methods: [claims['acr'], ...[claims['amr']].flat()].flatMap((one) => textIn(one, 100) ?? []).slice(0, 10),
  };
}

/** Whether an identifier that a provider sends, such as a subject, can be stored. The database has no U+0000. */
export const isIdentifier = (text: string): boolean =>
  text.length > 0 && text.length <= maxIdentifier && !text.includes('\0');

/**
 * Whether the provider vouches for the address: it says so, or it says nothing and the administrator trusts it for the domain. Entra says
 * so with a claim of its own (xms_edov), which other providers don't get to use. Google checks an address of another domain only once, so it
 * counts only if Google hosts it.
 */
function isVerified(
  claims: Claims,
  email: string | undefined,
  { issuer, domains, trustsDomains }: Pick<Provider, 'issuer' | 'domains' | 'trustsDomains'>,
): boolean {
  if (issuer === 'https://accounts.google.com' && !isHostedByGoogle(claims, email)) return false;
  const verified = claims['email_verified'];
  if (verified !== undefined) return verified === true || verified === 'true';
  const owned = claims['xms_edov'];
  if (owned !== undefined && /^https:\/\/login\.microsoftonline\.(com|us)\//.test(issuer))
    return owned === true || owned === 1 || owned === '1' || owned === 'true';
  return trustsDomains && email !== undefined && isInDomains(email, domains);
}

/** Whether an address is one of Gmail, or in the domain of the Workspace (hd). */
function isHostedByGoogle({ hd }: Claims, email: string | undefined): boolean {
  const domains = ['gmail.com', ...(typeof hd === 'string' && hd !== '' ? [hd] : [])];
  return email !== undefined && isInDomains(email, domains);
}

/** Whether an address is in one of the domains, not in a subdomain. */
export function isInDomains(email: string, domains: readonly string[]): boolean {
  const key = emailKey(email);
  return domains.some((domain) => key.endsWith(`@${domain.toLowerCase()}`));
}

/**
 * Returns the role that the values of the claim give: the highest. Null: the role stays as it is, because there is no claim. A person whose
 * values give no role is a User.
 */
export function roleOf(values: string[] | null, mapped: readonly RoleValue[]): Role | null {
  if (values === null || mapped.length === 0) return null;
  const given = mapped.filter(({ value }) => values.includes(value)).map(({ role }) => role);
  return given.reduce<Role>((highest, role) => (hasRole({ role }, highest) ? role : highest), 'User');
}

/** Returns the values of a claim, which can be one text or a list. `name` can be a path such as realm_access.roles. */
function valuesOf(claims: Claims, name: string): string[] | null {
  const found = Object.hasOwn(claims, name) ? claims[name] : at(claims, name.split('.'));
  if (found === undefined || found === null) return null;
  return [found]
    .flat()
    .slice(0, maxValues)
    .flatMap((one) => textIn(one, 200) ?? []);
}

function at(value: unknown, [first, ...rest]: string[]): unknown {
  if (first === undefined) return value;
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, first)) return undefined;
  return at((value as Claims)[first], rest);
}

/** Returns a text without surrounding spaces; undefined if it is empty, too long or not a text. */
function textIn(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string' || value.length > maxLength || value.includes('\0')) return undefined;
  return value.trim() === '' ? undefined : value.trim();
}

const nameIn = (value: unknown): string => (textIn(value, 200) ?? '').replaceAll(/\p{C}+/gu, ' ').trim();

/** Returns a time given in seconds since 1970, between 1970 and 9999. */
const timeIn = (value: unknown): Date | null =>
  typeof value === 'number' && value > 0 && value < 253_402_300_800 ? new Date(value * 1000) : null;
