// How objects of a JSON list become rows, and that the file of a list reads exactly as the list is.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonValue } from '../base/json/json.ts';
import { readCsv } from '../sheets/csv.ts';
import { cases } from '../testing/house/cases.ts';
import { columnsOfRows, csvFileOf, flatRowOf } from './flat-rows.ts';

type Item = { [key: string]: JsonValue };
const row = (object: Item) => Object.fromEntries(flatRowOf(object));

test.each<[string, Item, Record<string, string>]>([
  ['values of all types', { a: 'x', b: 1.5, c: true, d: null }, { a: 'x', b: '1.5', c: 'true', d: '' }],
  [
    'nested objects',
    { manager: { id: 7, address: { city: 'Åbo' } } },
    { 'manager.id': '7', 'manager.address.city': 'Åbo' },
  ],
  ['lists of values', { phones: ['1', '2'], none: [] }, { phones: '1; 2', none: '' }],
  [
    'lists of objects',
    {
      teams: [
        { id: 1, name: 'A' },
        { id: 2, name: 'B' },
      ],
    },
    { 'teams.id': '1; 2', 'teams.name': 'A; B' },
  ],
  ['labelled values', { email: { label: 'Email', value: 'a@b.se', type: 'standard' } }, { email: 'a@b.se' }],
  ['a numbered attribute with a label', { dynamic_5: { label: 'Shift', value: null } }, { Shift: '' }],
  [
    'numbered attributes whose labels are names of others',
    {
      status: { label: 'Status', value: 'active' },
      dynamic_5: { label: 'Status', value: 'on leave' },
      dynamic_6: { label: 'Shift', value: 1 },
      dynamic_7: { label: 'Shift', value: 2 },
    },
    { status: 'active', dynamic_5: 'on leave', dynamic_6: '1', dynamic_7: '2' },
  ],
  ['an object with only a value', { x: { value: 1 } }, { 'x.value': '1' }],
  [
    'attributes in a frame',
    { id: 1, type: 'Employee', attributes: { name: 'A', team: { type: 'Team', attributes: { name: 'T' } } } },
    { id: '1', name: 'A', 'team.name': 'T' },
  ],
  ['attributes without a type', { attributes: { a: 1 } }, { 'attributes.a': '1' }],
  [
    'what describes the response',
    { '@odata.type': 'x', 'manager@odata.context': 'y', _links: { self: 'z' }, id: 1 },
    { id: '1' },
  ],
])('%s', (_, object, expected) => {
  expect(row(object)).toEqual(expected);
});

test('columns keep their order from one list to the next, and a missing field keeps its column', () => {
  const [first, second] = [flatRowOf({ a: 1, b: 2 }), flatRowOf({ c: 3, b: null })];
  expect(columnsOfRows([first], [])).toEqual(['a', 'b']);
  expect(columnsOfRows([second], ['a', 'b'])).toEqual(['a', 'b', 'c']);
});

test('columns that must not grow are only the known ones, as soon as there are any', () => {
  const rows = [flatRowOf({ a: 1, new: 2 })];
  expect(columnsOfRows(rows, ['a', 'b'], false)).toEqual(['a', 'b']);
  expect(columnsOfRows(rows, [], false)).toEqual(['a', 'new']);
});

test('an object that is null in some rows has no column of its own', () => {
  const rows = [flatRowOf({ id: 1, manager: null }), flatRowOf({ id: 2, manager: { id: 1 } })];
  expect(columnsOfRows(rows, [])).toEqual(['id', 'manager.id']);
  expect(columnsOfRows([rows[0]!], [])).toEqual(['id', 'manager']);
});

test('whatever the texts are, the file has the same cells', () => {
  const text = fc
    .oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('=1+1', 'sep=;', 'a\r\nb', '"', ' x ', ',', ';;;', "'1"),
    )
    .map((one) => one.replaceAll('\0', ''));
  const table = fc.record({
    columns: fc.uniqueArray(
      text.filter((one) => one !== ''),
      { minLength: 1, maxLength: 5 },
    ),
    rows: fc.array(fc.array(text, { minLength: 5, maxLength: 5 }), { minLength: 1, maxLength: 5 }),
  });
  const property = fc.property(table, ({ columns, rows }) => {
    const flat = rows.map((cells) => new Map(columns.map((name, i) => [name, cells[i]!])));
    const sheet = readCsv(csvFileOf(columns, flat));
    const expected = rows.map((cells) => columns.map((_, i) => cells[i]!));
    const read = sheet.rows.map((cells) => columns.map((_, i) => cells[i] ?? ''));
    while (expected.length > 0 && expected.at(-1)!.join('') === '') expected.pop();
    while (read.length > 1 && read.at(-1)!.join('') === '') read.pop();
    expect(read).toEqual([columns, ...expected]);
  });
  fc.assert(property, cases(400));
});
