// PATCH operations: the examples of RFC 7644 §3.5.2, and the forms in which Entra ID and Okta send them.
import type { JsonObject } from '../../base/json/json.ts';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../base/errors.ts';
import { applyPatch, readPatch } from './patch.ts';
import { enterpriseSchema } from './schemas.ts';

const user: JsonObject = {
  userName: 'bjensen',
  name: { givenName: 'Barbara', familyName: 'Jensen' },
  active: true,
  emails: [
    { type: 'work', value: 'bj@example.com', primary: true },
    { type: 'home', value: 'babs@example.org' },
  ],
  addresses: [
    { type: 'work', streetAddress: '911 Universal City Plaza', locality: 'Hollywood' },
    { type: 'home', locality: 'Anaheim' },
  ],
};
const patched = (...operations: object[]) =>
  applyPatch('User', user, readPatch('User', { Operations: operations } as unknown as JsonObject));
const faultOf = (...operations: unknown[]): string => {
  try {
    patched(...(operations as object[]));
    return 'accepted';
  } catch (error) {
    return error instanceof Fault ? error.code : String(error);
  }
};

describe('an operation of the standard', () => {
  test('adds to a list what is not in it, and sets single attributes (RFC 7644 §3.5.2.1)', () => {
    const value = { emails: [{ value: 'bj@example.org', type: 'other' }], nickName: 'Babs' };
    expect(patched({ op: 'add', value })).toEqual({
      ...user,
      nickName: 'Babs',
      emails: [...(user['emails'] as object[]), { value: 'bj@example.org', type: 'other' }],
    });
    const same = { op: 'add', path: 'emails', value: [{ type: 'home', value: 'babs@example.org' }] };
    expect(patched(same)).toEqual(user);
  });

  test('makes a new primary value the only one', () => {
    const value = [{ type: 'other', value: 'new@example.com', primary: true }];
    expect(
      (patched({ op: 'add', path: 'emails', value })['emails'] as JsonObject[]).map((one) => one['primary']),
    ).toEqual([false, undefined, true]);
  });

  test('removes a value by a filter, a part of it, a part of an attribute, or everything (RFC 7644 §3.5.2.2)', () => {
    expect(
      patched({ op: 'remove', path: 'emails[type eq "work" and value ew "example.com"]' })['emails'],
    ).toEqual([{ type: 'home', value: 'babs@example.org' }]);
    expect(patched({ op: 'remove', path: 'addresses[type eq "work"].locality' })['addresses']).toEqual([
      { type: 'work', streetAddress: '911 Universal City Plaza' },
      { type: 'home', locality: 'Anaheim' },
    ]);
    expect(patched({ op: 'remove', path: 'name.givenName' })['name']).toEqual({ familyName: 'Jensen' });
    expect(patched({ op: 'remove', path: 'emails' })).not.toHaveProperty('emails');
    expect(patched({ op: 'remove', path: 'emails[type eq "other"]' })).toEqual(user);
  });

  test('replaces lists, chosen values and their parts (RFC 7644 §3.5.2.3)', () => {
    const home = [{ type: 'home', value: 'b@home.example' }];
    expect(patched({ op: 'replace', path: 'emails', value: home })['emails']).toEqual(home);
    const work = { type: 'work', locality: 'Los Angeles' };
    expect(patched({ op: 'replace', path: 'addresses[type eq "work"]', value: work })['addresses']).toEqual([
      work,
      { type: 'home', locality: 'Anaheim' },
    ]);
    const street = {
      op: 'replace',
      path: 'addresses[type eq "work"].streetAddress',
      value: '1010 Broadway Ave',
    };
    expect(patched(street)['addresses']).toEqual([
      { type: 'work', streetAddress: '1010 Broadway Ave', locality: 'Hollywood' },
      { type: 'home', locality: 'Anaheim' },
    ]);
  });

  test('that replaces a value which no filter selects has no target', () => {
    expect(faultOf({ op: 'replace', path: 'emails[type eq "other"].value', value: 'x@example.com' })).toBe(
      'no target',
    );
    expect(faultOf({ op: 'remove' })).toBe('no target');
  });
});

describe('Microsoft Entra ID', () => {
  test('sends capitalized operations and booleans as strings', () => {
    expect(patched({ op: 'Replace', path: 'active', value: 'False' })).toEqual({ ...user, active: false });
    expect(patched({ op: 'Add', path: 'active', value: 'true' })).toEqual(user);
  });

  test('adds a part of a value that does not exist yet', () => {
    const phone = { op: 'Add', path: 'phoneNumbers[type eq "mobile"].value', value: '+46701234567' };
    expect(patched(phone)['phoneNumbers']).toEqual([{ type: 'mobile', value: '+46701234567' }]);
  });

  test('sends a value without a path, with dotted keys and URNs', () => {
    const value = {
      'name.familyName': 'Olsson',
      displayName: 'Barbara Olsson',
      [`${enterpriseSchema}:department`]: 'Sales',
      'emails[type eq "work"].value': 'barbara@example.com',
    };
    const after = patched({ op: 'Replace', value });
    expect(after).toMatchObject({
      name: { givenName: 'Barbara', familyName: 'Olsson' },
      displayName: 'Barbara Olsson',
      [enterpriseSchema]: { department: 'Sales' },
    });
    expect((after['emails'] as JsonObject[])[0]).toEqual({
      type: 'work',
      value: 'barbara@example.com',
      primary: true,
    });
  });

  test('sends the manager as a text, under a URN with a colon or a dot, and clears it', () => {
    const set = (path: string) => patched({ op: 'Add', path, value: 'm1' })[enterpriseSchema];
    expect(set(`${enterpriseSchema}:manager`)).toEqual({ manager: { value: 'm1' } });
    expect(set(`${enterpriseSchema}.manager`)).toEqual({ manager: { value: 'm1' } });
    expect(set(`${enterpriseSchema}:manager.value`)).toEqual({ manager: { value: 'm1' } });
    const both = [
      { op: 'Add', path: `${enterpriseSchema}:manager`, value: { value: 'm1', $ref: '../Users/m1' } },
      { op: 'Remove', path: `${enterpriseSchema}:manager` },
    ];
    expect(patched(...both)).not.toHaveProperty([enterpriseSchema]);
  });

  test('lists the values to remove instead of a filter', () => {
    const value = [{ value: 'babs@example.org' }];
    expect(patched({ op: 'Remove', path: 'emails', value })['emails']).toEqual([
      { type: 'work', value: 'bj@example.com', primary: true },
    ]);
  });
});

describe('Okta', () => {
  test('sends whole parts of the user without a path, with the id', () => {
    const value = { id: 'x', schemas: [], active: false, meta: {}, groups: [], password: 'secret' };
    expect(patched({ op: 'replace', value })).toEqual({ ...user, active: false });
  });

  test('sends an extension as an object', () => {
    const value = {
      [enterpriseSchema]: { department: 'Sales', manager: { value: 'm1', displayName: 'Ignored' } },
    };
    expect(patched({ op: 'replace', value })[enterpriseSchema]).toEqual({
      department: 'Sales',
      manager: { value: 'm1' },
    });
  });
});

test.each([
  ['no operations', {}, 'invalid syntax'],
  ['an unknown operation', { Operations: [{ op: 'move', path: 'title', value: 'x' }] }, 'invalid syntax'],
  ['an operation that is no object', { Operations: ['add'] }, 'invalid syntax'],
  ['an unknown attribute', { Operations: [{ op: 'add', path: 'shoeSize', value: 'x' }] }, 'invalid path'],
  ['a broken path', { Operations: [{ op: 'add', path: 'emails[type', value: 'x' }] }, 'invalid path'],
  [
    'a path with a broken filter',
    { Operations: [{ op: 'add', path: 'emails[type]', value: 'x' }] },
    'invalid filter',
  ],
  ['the id', { Operations: [{ op: 'replace', path: 'id', value: 'x' }] }, 'read-only attribute'],
  [
    'the groups of a user',
    { Operations: [{ op: 'add', path: 'groups', value: [{ value: 'x' }] }] },
    'read-only attribute',
  ],
  [
    'a value of the wrong type',
    { Operations: [{ op: 'replace', path: 'active', value: 'perhaps' }] },
    'invalid value',
  ],
  ['no value', { Operations: [{ op: 'add', path: 'title' }] }, 'invalid value'],
  ['a text without a path', { Operations: [{ op: 'add', value: 'x' }] }, 'invalid value'],
  ['no userName afterwards', { Operations: [{ op: 'remove', path: 'userName' }] }, 'missing field'],
  [
    'too many operations',
    { Operations: Array.from({ length: 1001 }, () => ({ op: 'remove', path: 'title' })) },
    'invalid syntax',
  ],
])('%s is refused', (_what, body, code) => {
  let found = 'accepted';
  try {
    applyPatch('User', user, readPatch('User', body as unknown as JsonObject));
  } catch (error) {
    found = error instanceof Fault ? error.code : String(error);
  }
  expect(found).toBe(code);
});

test('many additions to one list are refused as soon as it has too many values, not compared with each other for minutes', () => {
  const listOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => ({ value: `r${from + i}` }));
  const add = (from: number, count: number) => ({ op: 'add', path: 'roles', value: listOf(from, count) });
  expect(patched(add(0, 150), add(50, 150))['roles']).toEqual(listOf(0, 200));
  expect(faultOf(add(0, 150), add(50, 151))).toBe('invalid value');
  expect(faultOf(...Array.from({ length: 1000 }, (_, i) => add(i * 200, 200)))).toBe('invalid value');
  const empty = { op: 'add', path: 'roles[type eq "x" and value eq "y"].display', value: 'z' };
  expect(faultOf(add(0, 200), empty)).toBe('invalid value');
});

test('values and filters of lists have a limit for the whole request', () => {
  const add = (length: number) => ({ op: 'add', path: 'roles', value: [{ value: 'x'.repeat(length) }] });
  expect(faultOf(...Array.from({ length: 10 }, () => add(4_000)))).toBe('accepted');
  expect(faultOf(...Array.from({ length: 20 }, () => add(4_000)))).toBe('invalid value');
  const path = `roles[value eq "${'x'.repeat(3_000)}"].display`;
  expect(faultOf(...Array.from({ length: 10 }, () => ({ op: 'add', path, value: 'y' })))).toBe('accepted');
  expect(faultOf(...Array.from({ length: 30 }, () => ({ op: 'add', path, value: 'y' })))).toBe(
    'invalid value',
  );
});

test('the keys of values without a path count as operations', () => {
  const keys = ['title', 'TITLE', 'Title'];
  const value = Object.fromEntries(keys.map((key) => [key, 'x']));
  expect(faultOf(...Array.from({ length: 333 }, () => ({ op: 'replace', value })))).toBe('accepted');
  expect(faultOf(...Array.from({ length: 334 }, () => ({ op: 'replace', value })))).toBe('invalid syntax');
});

test('a refused operation leaves the resource as it was', () => {
  const before = structuredClone(user);
  expect(
    faultOf({ op: 'replace', path: 'title', value: 'x' }, { op: 'replace', path: 'active', value: 5 }),
  ).toBe('invalid value');
  expect(user).toEqual(before);
});

test('no path reaches a prototype', () => {
  for (const path of ['__proto__', 'constructor.name', '__proto__.polluted'])
    expect(faultOf({ op: 'add', path, value: 'x' })).toBe('invalid path');
  patched({
    op: 'add',
    value: JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}') as object,
  });
  expect(({} as { polluted?: true }).polluted).toBeUndefined();
});
