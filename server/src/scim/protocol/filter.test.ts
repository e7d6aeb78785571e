// Filters: the examples of RFC 7644 §3.4.2.2, their meaning on the example user of RFC 7643 §8.2, and what must be refused.
import type { JsonObject } from '../../base/json/json.ts';
import fc from 'fast-check';
import { describe, expect, test, onTestFinished, vi } from 'vitest';
import { Fault } from '../../base/errors.ts';
import { candidatesOf } from './candidates.ts';
import { matcherOf } from './evaluate.ts';
import { readFilter } from './filter.ts';

const bjensen: JsonObject = {
  schemas: [
    'urn:ietf:params:scim:schemas:core:2.0:User',
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
  ],
  id: '2819c223-7f76-453a-919d-413861904646',
  externalId: 'bjensen',
  userName: 'bjensen@example.com',
  name: { formatted: 'Ms. Barbara J Jensen, III', familyName: 'Jensen', givenName: 'Barbara' },
  title: 'Tour Guide',
  userType: 'Employee',
  active: true,
  emails: [
    { value: 'bjensen@example.com', type: 'work', primary: true },
    { value: 'babs@jensen.org', type: 'home' },
  ],
  ims: [{ value: 'someaimhandle', type: 'xmpp' }],
  'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': {
    department: 'Tour Operations',
    manager: { value: '26118915' },
  },
  meta: { resourceType: 'User', created: '2010-01-23T04:56:22Z', lastModified: '2011-05-13T04:42:34Z' },
};
const isMatch = (filter: string) => matcherOf(readFilter('User', filter))(bjensen);

function faultOf(filter: string): string {
  try {
    readFilter('User', filter);
    return 'accepted';
  } catch (error) {
    return error instanceof Fault ? error.code : String(error);
  }
}

describe('a filter', () => {
  test.each([
    // RFC 7644 §3.4.2.2, figure 2
    ['userName eq "bjensen@example.com"', true],
    [`name.familyName co "O'Malley"`, false],
    ['userName sw "J"', false],
    ['urn:ietf:params:scim:schemas:core:2.0:User:userName sw "B"', true],
    ['title pr', true],
    ['meta.lastModified gt "2011-05-13T04:42:34Z"', false],
    ['meta.lastModified ge "2011-05-13T04:42:34Z"', true],
    ['meta.lastModified lt "2011-05-13T04:42:34Z"', false],
    ['meta.lastModified le "2011-05-13T04:42:34Z"', true],
    ['title pr and userType eq "Employee"', true],
    ['title pr or userType eq "Intern"', true],
    ['schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"', true],
    ['userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")', true],
    ['userType ne "Employee" and not (emails co "example.com" or emails.value co "example.org")', false],
    ['userType eq "Employee" and (emails.type eq "work")', true],
    ['userType eq "Employee" and emails[type eq "work" and value co "@example.com"]', true],
    [
      'emails[type eq "work" and value co "@example.com"] or ims[type eq "xmpp" and value co "@foo.com"]',
      true,
    ],
    // other cases
    ['emails[type eq "home" and value co "@example.com"]', false],
    ['USERNAME EQ "BJENSEN@EXAMPLE.COM"', true],
    ['externalId eq "BJENSEN"', false],
    ['externalId eq "bjensen"', true],
    ['userName ew ".com"', true],
    ['userName ne "bjensen@example.com"', false],
    ['emails.value ne "babs@jensen.org"', false],
    ['nickName pr', false],
    ['nickName eq null', true],
    ['title ne null', true],
    ['active eq true', true],
    ['active eq "True"', true],
    ['active ne true', false],
    ['not (active eq true)', false],
    ['userName gt "a" and userName lt "c"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department eq "tour operations"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager.value eq "26118915"', true],
    ['urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:manager eq "26118915"', true],
    ['meta.created gt 2009-10-10T14:38:21.8617979-07:00', true],
    ['name.FamilyName eq Jensen', true],
    ['userName eq "a" or userName eq "b" and userName eq "bjensen@example.com"', false], // and binds closer
    ['(userName eq "bjensen@example.com" or userName eq "b") and title pr', true],
    ['title eq "Tour \\u0047uide"', true],
  ])('%s: %s', (filter, wanted) => {
    expect(isMatch(filter)).toBe(wanted);
  });

  test.each([
    '',
    ' ',
    'userName',
    'userName eq',
    'eq "a"',
    'userName like "a"',
    'userName eq "a" and',
    'userName eq "a',
    '(userName eq "a"',
    'userName eq "a")',
    'emails[type eq "work"',
    'emails[type eq "work"]]',
    'nothing eq "a"',
    'emails.nothing pr',
    'name[givenName eq "a"',
    'userName[value eq "a"]',
    'emails[type[value eq "a"]]',
    'active gt true',
    'active co "t"',
    'active eq 5',
    'title gt null',
    'meta.lastModified gt "yesterday"',
    'userName eq "\\x"',
    'userName eq "\\u0000"',
    'not userName eq "a"',
    'userName pr "a"',
    '[',
    '"',
    'userName eq "a" userName eq "b"',
    'a.b.c eq "d"',
    '__proto__ pr',
    'constructor eq "a"',
    'password eq "a"',
  ])('is refused: %s', (filter) => {
    expect(faultOf(filter)).toBe('invalid filter');
  });

  test('is refused if it is too long, too deep or has too many comparisons', () => {
    expect(faultOf(`userName eq "${'a'.repeat(4_000)}"`)).toBe('invalid filter');
    expect(faultOf(`${'('.repeat(21)}title pr${')'.repeat(21)}`)).toBe('invalid filter');
    expect(faultOf(`${'('.repeat(20)}title pr${')'.repeat(20)}`)).toBe('accepted');
    expect(faultOf(Array.from({ length: 101 }, () => 'title pr').join(' or '))).toBe('invalid filter');
    expect(faultOf(Array.from({ length: 100 }, () => 'title pr').join(' or '))).toBe('accepted');
  });

  test('of any text is read or refused, and never fails otherwise', () => {
    const words = [
      'userName',
      'emails',
      'eq',
      'and',
      'or',
      'not',
      'pr',
      '(',
      ')',
      '[',
      ']',
      '"a"',
      'true',
      'null',
      '"',
      '.',
      '\\',
      'meta.created',
    ];
    const text = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...words), { maxLength: 12 }).map((all) => all.join(' ')),
    );
    const isExpected = fc.property(text, (filter) =>
      ['accepted', 'invalid filter'].includes(faultOf(filter)),
    );
    expect(() => fc.assert(isExpected)).not.toThrow();
  });
});

describe('the candidates of a filter', () => {
  const of = (filter: string) => candidatesOf(readFilter('User', filter));

  test.each([
    ['userName eq "B@x"', { userName: ['b@x'], isExact: true }],
    ['id eq "a" or id eq "b"', { id: ['a', 'b'], isExact: true }],
    ['externalId eq "A" and active eq true', { externalId: ['A'], active: true, isExact: true }],
    ['userName eq "a" and title pr', { userName: ['a'], isExact: false }],
    ['userName eq "a" or title pr', { isExact: false }],
    ['not (userName eq "a")', { isExact: false }],
    ['emails[type eq "work" and value eq "A@x"]', { email: ['a@x'], isExact: false }],
    ['emails.value eq "a@x"', { email: ['a@x'], isExact: false }],
    ['userName eq "a" and userName eq "b"', { userName: ['a'], isExact: false }],
    ['userName sw "a"', { isExact: false }],
    [
      'meta.lastModified ge "2026-01-01T00:00:00.0000001Z"',
      { changedFrom: Date.UTC(2026, 0, 1) + 1, isExact: true },
    ],
    ['meta.lastModified gt "2026-01-01T00:00:00Z"', { changedFrom: Date.UTC(2026, 0, 1) + 1, isExact: true }],
    ['meta.lastModified lt "2026-01-01T00:00:00Z"', { changedTo: Date.UTC(2026, 0, 1) - 1, isExact: true }],
  ])('%s', (filter, wanted) => {
    expect(of(filter)).toEqual(wanted);
  });

  test('of groups include their members', () => {
    expect(candidatesOf(readFilter('Group', 'id eq "g" and members eq "u"'))).toEqual({
      id: ['g'],
      member: ['u'],
      isExact: true,
    });
    expect(candidatesOf(readFilter('Group', 'members[value eq "u"]'))).toEqual({
      member: ['u'],
      isExact: true,
    });
  });
});

test('what a filter is compared with is folded once, and stored keys are used as they are', () => {
  const isFound = matcherOf(readFilter('User', 'userName co "ÅSA" and not (displayName sw "x")'));
  const folding = vi.spyOn(String.prototype, 'normalize');
  onTestFinished(() => folding.mockRestore());
  const keys = { userName: 'åsa@example.com', displayName: 'åsa' };
  const found = Array.from({ length: 100 }, () => isFound({ userName: 'never read' }, keys));
  expect([found.every(Boolean), folding.mock.calls.length]).toEqual([true, 0]);
  expect(isFound({ userName: 'ÅSA@example.com', displayName: 'X' })).toBe(false);
});
