// Errors from the service are shown at the fields that they belong to.
import { expect, test } from 'vitest';
import { fieldAt, refusalOf } from './form-faults.ts';

const names = new Set(['name', 'settings', 'translations/sv']);

test('a path belongs to the field with the longest name that it starts with', () => {
  expect(fieldAt('/name', names)).toBe('name');
  expect(fieldAt('/translations/sv', names)).toBe('translations/sv');
  expect(fieldAt('/settings/threshold', names)).toBe('settings');
  expect(fieldAt('/questions/3/text', new Set(['questions/3', 'questions']))).toBe('questions/3');
});

test('a path that only starts with the same letters belongs to no field', () => {
  expect(fieldAt('/names', names)).toBeUndefined();
  expect(fieldAt('/translations', names)).toBeUndefined();
  expect(fieldAt('', names)).toBeUndefined();
});

const refused = (...faults: { path?: string; text: string }[]) =>
  refusalOf(faults, names, ({ text }) => text);

test('a field shows its first message', () => {
  expect(refused({ path: '/name', text: 'too long' }, { path: '/name', text: 'taken' })).toEqual({
    wrong: { name: 'too long' },
    whole: undefined,
  });
});

test('messages without a field are shown once each for the whole form', () => {
  expect(
    refused({ text: 'Conflict.' }, { path: '/other', text: 'Unknown.' }, { path: '/more', text: 'Unknown.' }),
  ).toEqual({ wrong: {}, whole: 'Conflict. Unknown.' });
});
