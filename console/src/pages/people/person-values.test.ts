// The form of a person: what it shows, and that only changes are sent.
import type { Person } from '@soundings/contract/console/people.ts';
import { expect, test } from 'vitest';
import { attributeField, changesOf, newPersonOf, personValuesOf } from './person-values.ts';

const membership = (id: number, managed: boolean) => ({ id, name: `g${id}`, managed });
const person = {
  id: 7,
  externalId: 'u7',
  managed: true,
  firstName: 'Anna',
  lastName: 'Berg',
  email: 'anna@example.org',
  phone: null,
  active: true,
  role: 'User',
  language: null,
  timezone: null,
  attributes: { gender: 'female' },
  memberships: {
    memberOf: [membership(1, true), membership(2, false)],
    adminOf: [],
    inheritedAdminOf: [],
    interestOf: [membership(3, true)],
  },
} as unknown as Person;
const attributes = ['gender', 'a/b~c', 'constructor'];

test('an unchanged form sends no changes', () => {
  expect(changesOf(personValuesOf(person, attributes), person, attributes)).toEqual({});
});

test('groups that the HR system sends are not in the form, and are kept when other groups change', () => {
  const values = personValuesOf(person, attributes);
  expect(values['memberships/memberOf']).toEqual([2]);
  expect(values['memberships/interestOf']).toEqual([3]);
  const changed = { ...values, 'memberships/memberOf': [2, 9] };
  expect(changesOf(changed, person, attributes)).toEqual({ memberships: { memberOf: [1, 2, 9] } });
});

test('cleared fields and attributes are sent as null; unchanged ones are not sent', () => {
  const values = {
    ...personValuesOf(person, attributes),
    email: ' ',
    lastName: 'Borg',
    [attributeField('gender')]: '',
  };
  expect(changesOf(values, person, attributes)).toEqual({
    email: null,
    lastName: 'Borg',
    attributes: { gender: null },
  });
});

test('attributes can have any name', () => {
  const values = personValuesOf(person, attributes);
  expect(values[attributeField('constructor')]).toBe('');
  expect(attributeField('a/b~c')).toBe('attributes/a~1b~0c');
  const named = { ...values, [attributeField('a/b~c')]: 'x' };
  expect(changesOf(named, person, attributes)).toEqual({ attributes: { 'a/b~c': 'x' } });
});

test('a new person is sent with every field, and without invented values', () => {
  expect(newPersonOf({ ...personValuesOf(undefined, ['gender']), firstName: 'Eva' }, ['gender'])).toEqual({
    firstName: 'Eva',
    lastName: '',
    email: null,
    phone: null,
    role: 'User',
    language: null,
    timezone: null,
    active: true,
    externalId: null,
    memberships: { memberOf: [], adminOf: [], inheritedAdminOf: [], interestOf: [] },
    attributes: { gender: null },
  });
});
