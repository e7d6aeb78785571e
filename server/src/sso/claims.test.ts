// Which claims of a provider count.
import { describe, expect, test } from 'vitest';
import { claimsIn, isInDomains, personIn, roleOf } from './claims.ts';
import { consolePathOf } from './flows.ts';

const entra = 'https://login.microsoftonline.com/9f4c1b7e-2f5a-4d0b-8a56-3b1f0c9d7e21/v2.0';
const google = 'https://accounts.google.com';
const from = {
  issuer: 'https://login.example.com',
  domains: [] as string[],
  trustsDomains: false,
  roleClaim: null,
};
const isVerified = (claims: object, provider: object = {}) =>
  personIn({ sub: 'x', email: 'a@example.org', ...claims }, { ...from, ...provider }).isVerified;

// JSON.parse can confuse them (decision 75).
test('the names of claims are read as they are, whatever other tokens have', () => {
  const token = (claims: string) => `e30.${Buffer.from(claims).toString('base64url')}.sig`;
  const name = 'https:\\/\\/acme.example\\/role'; // as PHP writes it
  const other = name.slice(0, 'https://acme.example/role'.length).replaceAll('\\', '\\\\');
  const confusing = JSON.parse(`{"iss":"a","${other}":"x"}`) as object;
  expect(claimsIn(token(`{"iss":"b","${name}":"Admin"}`))).toEqual({
    iss: 'b',
    'https://acme.example/role': 'Admin',
  });
  expect(Object.keys(confusing)[1]).not.toBe('https://acme.example/role');
});

describe('an address is verified', () => {
  const trusting = { domains: ['example.org'], trustsDomains: true };
  test.each<[string, object, object, boolean]>([
    ['if the provider says so', { email_verified: true }, {}, true],
    ['if the provider says so as a text', { email_verified: 'true' }, {}, true],
    ['not if it says nothing', {}, {}, false],
    ['not for anything else', { email_verified: 1 }, {}, false],
    ['not if the claim is an object', { email_verified: {} }, {}, false],
    ['if Entra confirms the domain', { xms_edov: true }, { issuer: entra }, true],
    ['if Entra confirms the domain as a text', { xms_edov: '1' }, { issuer: entra }, true],
    [
      'not if Entra denies it, even in a trusted domain',
      { xms_edov: false },
      { issuer: entra, ...trusting },
      false,
    ],
    ['not by the claim of Entra from another issuer', { xms_edov: true }, {}, false],
    [
      'not by an issuer that only looks like Entra',
      { xms_edov: true },
      { issuer: 'https://login.microsoftonline.com.evil.example/' },
      false,
    ],
    ['at Gmail if Google says so', { email: 'a@gmail.com', email_verified: true }, { issuer: google }, true],
    ['if Google hosts the domain', { hd: 'example.org', email_verified: true }, { issuer: google }, true],
    [
      'not if Google doesn’t host the domain',
      { email_verified: true },
      { issuer: google, ...trusting },
      false,
    ],
    [
      'not if Google hosts another one',
      { hd: 'example.com', email_verified: true },
      { issuer: google },
      false,
    ],
    ['not if Google denies it', { hd: 'example.org', email_verified: false }, { issuer: google }, false],
    ['in a trusted domain', {}, trusting, true],
    ['not in a subdomain of it', { email: 'a@x.example.org' }, trusting, false],
    ['not if the provider denies it, even in a trusted domain', { email_verified: false }, trusting, false],
  ])('%s', (_, claims, provider, expected) => {
    expect(isVerified(claims, provider)).toBe(expected);
  });
});

test('domains are compared whole, without regard to case', () => {
  expect(isInDomains('A@Example.ORG', ['example.org'])).toBe(true);
  expect(isInDomains('a@notexample.org', ['example.org'])).toBe(false);
  expect(isInDomains('a@example.org.evil.example', ['example.org'])).toBe(false);
});

test('what has another form is left out instead of stored', () => {
  const person = personIn(
    {
      sub: 'x',
      email: ['a@example.org'],
      given_name: 7,
      family_name: 'Ek\u0000',
      sid: {},
      auth_time: '1',
      amr: [1, 'pwd'],
    },
    from,
  );
  expect(person).toMatchObject({
    email: undefined,
    firstName: '',
    lastName: '',
    session: null,
    signedInAt: null,
  });
  expect(person.methods).toEqual(['pwd']);
});

test('the highest role of all values counts, none makes a User, and without a claim the role stays', () => {
  const mapped = [
    { value: 'lead', role: 'Manager' as const },
    { value: 'boss', role: 'Administrator' as const },
  ];
  const rolesOf = (claims: object, roleClaim: string) =>
    roleOf(personIn({ sub: 'x', ...claims }, { ...from, roleClaim }).roleValues, mapped);
  expect(rolesOf({ roles: ['lead', 'boss'] }, 'roles')).toBe('Administrator');
  expect(rolesOf({ roles: 'lead' }, 'roles')).toBe('Manager');
  expect(rolesOf({ roles: [] }, 'roles')).toBe('User');
  expect(rolesOf({}, 'roles')).toBeNull();
  expect(rolesOf({ realm_access: { roles: ['boss'] } }, 'realm_access.roles')).toBe('Administrator');
  expect(rolesOf({ 'https://example.com/roles': ['lead'] }, 'https://example.com/roles')).toBe('Manager');
  expect(rolesOf({}, '__proto__.constructor')).toBeNull();
});

test.each([
  ['/people?filter=x#top', '/people?filter=x#top'],
  ['//evil.example', '/'],
  ['/\\evil.example', '/'],
  ['/..//evil.example', '/'],
  ['https://evil.example/', '/'],
  ['javascript:alert(1)', '/'],
  ['', '/'],
])('%j leads to %j', (to, expected) => {
  expect(consolePathOf(to)).toBe(expected);
});
