// The address of a people list: whatever someone writes there, the service gets only filters and orders that it accepts.
import { peopleOperations } from '@soundings/contract/console/people.ts';
import { personSorts } from '@soundings/contract/console/person-sorts.ts';
import { roles } from '@soundings/contract/people/roles.ts';
import { Value } from 'typebox/value';
import { expect, test } from 'vitest';
import { type FilterKey, filtersIn } from './filters-in-address.ts';
import * as fc from 'fast-check';

const accepted = peopleOperations['GET /users.csv'].query;

test('each filter of the toolbar is read from the address', () => {
  const { filters, isFiltered } = filtersIn({
    q: 'ada',
    group: '7',
    role: 'Manager',
    source: 'manual',
    status: 'inactive',
    mail: 'rejected',
  });
  expect(filters).toEqual({
    search: 'ada',
    group: '7',
    role: 'Manager',
    managed: 'false',
    active: 'false',
    mail: 'rejected',
  });
  expect(isFiltered).toBe(true);
});

test('the status is that of the person or of their sign-in', () => {
  const filtersOf = (status: string) => filtersIn({ status }).filters;
  expect(filtersOf('active')).toEqual({ active: 'true' });
  expect(filtersOf('uninvited')).toEqual({ signIn: 'uninvited' });
});

test('an address without filters shows everyone by name', () => {
  expect(filtersIn({})).toEqual({
    search: '',
    filters: {},
    sort: 'name',
    sorting: { sort: 'name', direction: 'up' },
    isFiltered: false,
  });
});

test('a search is cut to the length that the service accepts', () => {
  expect(filtersIn({ q: 'x'.repeat(250) }).filters.search).toHaveLength(200);
});

test.each([
  ['group', '0'],
  ['group', '-3'],
  ['group', '1e3'],
  ['group', '1234567890'],
  ['role', 'manager'],
  ['source', 'file'],
  ['status', 'true'],
  ['mail', 'all'],
  ['run', '7'],
] as const)('an unknown value is ignored: %s=%s', (key, value) => {
  expect(filtersIn({ [key]: value })).toMatchObject({ filters: {}, isFiltered: false });
});

test('a minus reverses the order; an unknown order is that by name, in the direction asked for', () => {
  expect(filtersIn({ sort: '-created' })).toMatchObject({
    sort: '-created',
    sorting: { sort: 'created', direction: 'down' },
  });
  expect(filtersIn({ sort: '-shoe size' })).toMatchObject({
    sort: '-name',
    sorting: { sort: 'name', direction: 'down' },
  });
});

/** Values that the toolbar writes, and any others. */
const value = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.constantFrom(...roles, ...personSorts, ...personSorts.map((sort) => `-${sort}`)),
  fc.constantFrom(
    '1',
    '999999999',
    '9999999999',
    'managed',
    'manual',
    'active',
    'inactive',
    'none',
    'rejected',
  ),
);
const keys: FilterKey[] = ['q', 'group', 'role', 'source', 'status', 'mail', 'sort'];
const addresses = fc.dictionary(fc.constantFrom(...keys), value);

test('from any address, the service accepts the filters and the order', () => {
  fc.assert(
    fc.property(addresses, (address) => {
      const { filters, sorting, sort, isFiltered } = filtersIn(address);
      expect(Value.Check(accepted, { ...filters, ...sorting })).toBe(true);
      expect(sort).toBe(`${sorting.direction === 'down' ? '-' : ''}${sorting.sort}`);
      expect(isFiltered).toBe(Object.keys(filters).length > 0);
    }),
    { numRuns: 300 },
  );
});
